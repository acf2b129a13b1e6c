//! What a commit says about itself.

use std::collections::BTreeMap;

use crate::{
    encoding::{DecodeError, Reader, Writer},
    time::Instant,
};

/// Commit metadata given by clients and the server (Nessie API, 4.2), without times that belong to the commit.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct CommitMeta {
    /// Name of the authenticated principal, empty without authentication.
    pub committer: String,
    /// Authors, in order.
    pub authors: Vec<String>,
    /// Signed-off-by lines, in order.
    pub signed_off_by: Vec<String>,
    /// Message, possibly empty.
    pub message: String,
    /// When it was written, if the client said so; else the commit time counts.
    pub author_time: Option<Instant>,
    /// Properties: name to values. Names keep their case.
    pub properties: BTreeMap<String, Vec<String>>,
}

impl CommitMeta {
    pub(crate) fn write(&self, w: &mut Writer) {
        w.text(&self.committer);
        write_list(w, &self.authors);
        write_list(w, &self.signed_off_by);
        w.text(&self.message);
        match self.author_time {
            None => w.u8(0),
            Some(time) => {
                w.u8(1);
                w.signed(time.seconds);
                w.varint(u64::from(time.nanos));
            }
        }
        w.varint(self.properties.len() as u64);
        for (name, values) in &self.properties {
            w.text(name);
            write_list(w, values);
        }
    }

    pub(crate) fn read(r: &mut Reader<'_>) -> Result<Self, DecodeError> {
        let committer = r.text("committer")?.to_owned();
        let authors = read_list(r)?;
        let signed_off_by = read_list(r)?;
        let message = r.text("message")?.to_owned();
        let author_time = match r.u8("author time")? {
            0 => None,
            1 => {
                let seconds = r.signed("author time")?;
                let nanos = u32::try_from(r.varint("author time")?).ok().filter(|n| *n < 1_000_000_000);
                Some(Instant { seconds, nanos: nanos.ok_or(DecodeError::Invalid("author time"))? })
            }
            _ => return Err(DecodeError::Invalid("author time")),
        };
        let mut properties = BTreeMap::new();
        for _ in 0..r.count("properties")? {
            let name = r.text("property name")?.to_owned();
            if properties.last_key_value().is_some_and(|(last, _)| *last >= name) {
                return Err(DecodeError::Invalid("order of properties"));
            }
            properties.insert(name, read_list(r)?);
        }
        Ok(Self { committer, authors, signed_off_by, message, author_time, properties })
    }
}

fn write_list(w: &mut Writer, list: &[String]) {
    w.varint(list.len() as u64);
    for text in list {
        w.text(text);
    }
}

fn read_list(r: &mut Reader<'_>) -> Result<Vec<String>, DecodeError> {
    (0..r.count("list")?).map(|_| r.text("list element").map(str::to_owned)).collect()
}
