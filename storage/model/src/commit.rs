//! Commits.

use crate::{
    encoding::{DecodeError, Reader, Writer},
    id::{CommitId, ObjectId},
    kind::ObjectKind,
    meta::CommitMeta,
    operation::Operation,
    time::Micros,
};

/// Format version of encoded commits.
const FORMAT: u8 = 1;

/// Most parents of a commit.
pub const PARENTS_MAX: usize = 16;

/// The part of a commit that graph walks need. Its bytes stand in front of everything else.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Header {
    /// First parent, then merge parents. The first parent of a root commit is [`CommitId::NO_ANCESTOR`].
    pub parents: Vec<CommitId>,
    /// Number of commits along first parents down to the root, itself included. 1 for a root commit.
    pub depth: u64,
    /// One more than the highest generation of any parent. 1 for a root commit.
    pub generation: u64,
    /// An earlier first-parent ancestor, chosen so that any ancestor is O(log depth) hops away.
    pub skip: CommitId,
    /// Commit time: strictly greater than the first parent's.
    pub time: Micros,
    /// Root of the key index after this commit, computed over its entries alone.
    pub root: ObjectId,
}

impl Header {
    /// The first parent.
    #[must_use]
    pub fn parent(&self) -> CommitId {
        self.parents.first().copied().unwrap_or(CommitId::NO_ANCESTOR)
    }
}

/// A commit: header, metadata, attachments, its own operations with small values inline.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Commit {
    /// Parents, depth, time, root.
    pub header: Header,
    /// What it says about itself.
    pub meta: CommitMeta,
    /// Proofs and reports that live as long as the commit.
    pub attachments: Vec<ObjectId>,
    /// Its operations, in key order, at most one per key, both domains.
    pub operations: Vec<Operation>,
}

impl Commit {
    /// The canonical bytes.
    #[must_use]
    pub fn encode(&self) -> Vec<u8> {
        let mut w = Writer::with_capacity(512);
        w.u8(FORMAT);
        w.varint(self.header.parents.len() as u64);
        for parent in &self.header.parents {
            w.raw(parent.as_bytes());
        }
        w.varint(self.header.depth);
        w.varint(self.header.generation);
        w.raw(self.header.skip.as_bytes());
        w.signed(self.header.time);
        w.raw(self.header.root.as_bytes());
        self.meta.write(&mut w);
        w.varint(self.attachments.len() as u64);
        for attachment in &self.attachments {
            w.raw(attachment.as_bytes());
        }
        w.varint(self.operations.len() as u64);
        for operation in &self.operations {
            operation.write(&mut w);
        }
        w.finish()
    }

    /// The id of canonical bytes.
    #[must_use]
    pub fn id_of(bytes: &[u8]) -> CommitId {
        CommitId::new(ObjectId::of(ObjectKind::Commit, bytes))
    }

    /// Reads canonical bytes.
    pub fn decode(bytes: &[u8]) -> Result<Self, DecodeError> {
        let mut r = Reader::new(bytes);
        let header = read_header(&mut r)?;
        let meta = CommitMeta::read(&mut r)?;
        let attachments =
            (0..r.count("attachments")?).map(|_| r.object_id("attachment")).collect::<Result<_, _>>()?;
        let count = r.count("operations")?;
        let mut operations: Vec<Operation> = Vec::with_capacity(count);
        for _ in 0..count {
            let operation = Operation::read(&mut r)?;
            if operations.last().is_some_and(|last| last.key() >= operation.key()) {
                return Err(DecodeError::Invalid("order of operations"));
            }
            operations.push(operation);
        }
        r.end()?;
        Ok(Self { header, meta, attachments, operations })
    }

    /// Reads only the header.
    pub fn decode_header(bytes: &[u8]) -> Result<Header, DecodeError> {
        read_header(&mut Reader::new(bytes))
    }
}

fn read_header(r: &mut Reader<'_>) -> Result<Header, DecodeError> {
    let found = r.u8("commit format")?;
    if found != FORMAT {
        return Err(DecodeError::Version { what: "commit", found });
    }
    let count = r.count("parents")?;
    if count == 0 || count > PARENTS_MAX {
        return Err(DecodeError::Invalid("number of parents"));
    }
    let parents = (0..count).map(|_| r.commit_id("parent")).collect::<Result<_, _>>()?;
    Ok(Header {
        parents,
        depth: r.varint("depth")?,
        generation: r.varint("generation")?,
        skip: r.commit_id("skip pointer")?,
        time: r.signed("commit time")?,
        root: r.object_id("index root")?,
    })
}
