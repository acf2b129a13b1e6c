//! The file that makes a set of files a backup.

use std::fmt::Write as _;

use bytes::Bytes;
use lochan_storage_model::Micros;
use lochan_storage_odb::Identity;

use super::{Error, MANIFEST, hex, unhex};

const FIRST_LINE: &str = "lochan backup 1";

/// What a finished backup consists of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Manifest {
    /// The store it was taken from.
    pub identity: Identity,
    /// Token of the last object that was durable then.
    pub end: Bytes,
    /// When its point was taken.
    pub taken: Micros,
    /// Packs of objects.
    pub packs: Vec<Named>,
    /// Files of rows.
    pub rows: Vec<Named>,
}

/// A file named by its hash.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Named {
    /// BLAKE3 of its bytes, as hexadecimal digits.
    pub hash: String,
    /// Number of its bytes.
    pub size: u64,
}

impl Manifest {
    pub(super) fn write(&self) -> Bytes {
        let Self { identity, end, taken, packs, rows } = self;
        let mut text = format!(
            "{FIRST_LINE}\nrepository {}\ninstance {}\nend {}\ntaken {taken}\n",
            hex(&identity.repository),
            hex(&identity.instance),
            hex(end)
        );
        for (kind, files) in [("pack", packs), ("rows", rows)] {
            for Named { hash, size } in files {
                let _ = writeln!(text, "{kind} {hash} {size}");
            }
        }
        let check = blake3::hash(text.as_bytes()).to_hex();
        let _ = writeln!(text, "check {check}");
        text.into()
    }

    pub(super) fn read(bytes: &[u8]) -> Result<Self, Error> {
        let bad = |detail: &str| Error::damaged(MANIFEST, detail);
        let text = std::str::from_utf8(bytes).map_err(|_| bad("is no text"))?;
        let (body, check) = text.rsplit_once("check ").ok_or_else(|| bad("is cut off"))?;
        if check != format!("{}\n", blake3::hash(body.as_bytes()).to_hex()) {
            return Err(bad("does not fit its check sum"));
        }
        let mut lines = body.lines();
        if lines.next() != Some(FIRST_LINE) {
            return Err(bad("is of a format that this program does not read; use a newer release"));
        }
        let mut field = |name: &str| {
            lines.next().and_then(|line| line.strip_prefix(name)).ok_or_else(|| bad("lacks a line"))
        };
        let id =
            |text: &str| unhex(text).and_then(|id| id.try_into().ok()).ok_or_else(|| bad("has a bad id"));
        let (repository, instance) = (id(field("repository ")?)?, id(field("instance ")?)?);
        let end = unhex(field("end ")?).ok_or_else(|| bad("has a bad token"))?.into();
        let taken = field("taken ")?.parse().map_err(|_| bad("has a bad time"))?;
        let (mut packs, mut rows) = (Vec::new(), Vec::new());
        for line in lines {
            let parts: Vec<&str> = line.split(' ').collect();
            let [kind, hash, size] = parts[..] else { return Err(bad("has a bad line")) };
            let size = size.parse().map_err(|_| bad("has a bad size"))?;
            if unhex(hash).is_none_or(|hash| hash.len() != 32) {
                return Err(bad("has a bad hash"));
            }
            let named = Named { hash: hash.to_owned(), size };
            match kind {
                "pack" => packs.push(named),
                "rows" => rows.push(named),
                _ => return Err(bad("has a line of an unknown kind")),
            }
        }
        Ok(Self { identity: Identity { repository, instance }, end, taken, packs, rows })
    }
}
