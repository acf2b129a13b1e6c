//! References, and the log of every change of one.

use lochan_storage_model::{
    CommitId, DecodeError, Micros, RefName,
    encoding::{Reader, Writer},
};

/// Format version of encoded reference and log rows.
const FORMAT: u8 = 1;

/// Branch or tag.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum RefKind {
    /// Can be committed to.
    Branch,
    /// Can only be assigned and deleted.
    Tag,
}

impl RefKind {
    const fn byte(self) -> u8 {
        match self {
            Self::Branch => 1,
            Self::Tag => 2,
        }
    }

    fn from_byte(byte: u8) -> Result<Self, DecodeError> {
        match byte {
            1 => Ok(Self::Branch),
            2 => Ok(Self::Tag),
            _ => Err(DecodeError::Invalid("reference kind")),
        }
    }
}

/// A branch or tag as it stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reference {
    /// Its name; branches and tags share one name space.
    pub name: RefName,
    /// Branch or tag.
    pub kind: RefKind,
    /// Where it points. Always an object that is durable, or [`CommitId::NO_ANCESTOR`].
    pub target: CommitId,
    /// Number of its latest log entry.
    pub number: u64,
}

/// What moved a reference.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum RefOperation {
    /// It came into being.
    Create,
    /// It was set to another commit.
    Assign,
    /// It went away.
    Delete,
    /// One commit was added.
    Commit,
    /// A merge commit was added.
    Merge,
    /// Commits were transplanted onto it.
    Transplant,
    /// It was put back to a state that its log remembers.
    Restore,
    /// Its commits were made again on top of another reference.
    Rebase,
    /// It was taken in from another repository.
    Import,
}

impl RefOperation {
    const ALL: [Self; 9] = [
        Self::Create,
        Self::Assign,
        Self::Delete,
        Self::Commit,
        Self::Merge,
        Self::Transplant,
        Self::Restore,
        Self::Rebase,
        Self::Import,
    ];

    const fn byte(self) -> u8 {
        match self {
            Self::Create => 1,
            Self::Assign => 2,
            Self::Delete => 3,
            Self::Commit => 4,
            Self::Merge => 5,
            Self::Transplant => 6,
            Self::Restore => 7,
            Self::Rebase => 8,
            Self::Import => 9,
        }
    }
}

/// Identity of a client's request, for idempotent repetition. Scoped by principal and route before it comes here.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct RequestKey {
    /// Hash of principal, route and the client's key.
    pub key: [u8; 32],
    /// Hash of what was asked, to tell a repetition from another request under the same key.
    pub fingerprint: [u8; 32],
}

/// One change of one reference.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RefLogEntry {
    /// The reference.
    pub name: RefName,
    /// 1, 2, 3 … per name without gaps, going on after delete and re-create.
    pub number: u64,
    /// Branch or tag (after the change; before it for a delete).
    pub kind: RefKind,
    /// Where it pointed before; `None` for a create.
    pub old: Option<CommitId>,
    /// Where it points now; `None` for a delete.
    pub new: Option<CommitId>,
    /// What was done.
    pub operation: RefOperation,
    /// Who did it; empty without authentication.
    pub principal: String,
    /// The client's request, if it carried an idempotency key.
    pub request: Option<RequestKey>,
    /// Merge run or ingest batch, if any.
    pub run: Option<String>,
    /// When.
    pub time: Micros,
}

impl RefLogEntry {
    /// Canonical bytes without name and number, which stand in the key.
    pub fn write(&self, w: &mut Writer) {
        w.u8(self.kind.byte());
        w.u8(self.operation.byte());
        for side in [self.old, self.new] {
            match side {
                None => w.u8(0),
                Some(id) => {
                    w.u8(1);
                    w.raw(id.as_bytes());
                }
            }
        }
        w.text(&self.principal);
        match &self.request {
            None => w.u8(0),
            Some(request) => {
                w.u8(1);
                w.raw(&request.key);
                w.raw(&request.fingerprint);
            }
        }
        w.optional_text(self.run.as_deref());
        w.signed(self.time);
    }

    /// Reads what [`RefLogEntry::write`] wrote.
    pub fn read(name: RefName, number: u64, r: &mut Reader<'_>) -> Result<Self, DecodeError> {
        let kind = RefKind::from_byte(r.u8("reference kind")?)?;
        let byte = r.u8("reference operation")?;
        let operation = RefOperation::ALL
            .into_iter()
            .find(|operation| operation.byte() == byte)
            .ok_or(DecodeError::Invalid("reference operation"))?;
        let mut side = || match r.u8("log target")? {
            0 => Ok(None),
            1 => r.commit_id("log target").map(Some),
            _ => Err(DecodeError::Invalid("log target")),
        };
        let (old, new) = (side()?, side()?);
        let principal = r.text("principal")?.to_owned();
        let request = match r.u8("request")? {
            0 => None,
            1 => Some(RequestKey {
                key: r.array("request key")?,
                fingerprint: r.array("request fingerprint")?,
            }),
            _ => return Err(DecodeError::Invalid("request")),
        };
        let run = r.optional_text("run")?.map(str::to_owned);
        let time = r.signed("log time")?;
        Ok(Self { name, number, kind, old, new, operation, principal, request, run, time })
    }
}

impl Reference {
    /// Canonical bytes of a reference row: format, kind, target, number. The name stands in the key.
    #[must_use]
    pub fn encode(&self) -> Vec<u8> {
        let mut w = Writer::with_capacity(48);
        w.u8(FORMAT);
        w.u8(self.kind.byte());
        w.raw(self.target.as_bytes());
        w.varint(self.number);
        w.finish()
    }

    /// Reads a reference row.
    pub fn decode(name: RefName, bytes: &[u8]) -> Result<Self, DecodeError> {
        let mut r = Reader::new(bytes);
        let found = r.u8("reference format")?;
        if found != FORMAT {
            return Err(DecodeError::Version { what: "reference", found });
        }
        let kind = RefKind::from_byte(r.u8("reference kind")?)?;
        let target = r.commit_id("reference target")?;
        let number = r.varint("reference number")?;
        r.end()?;
        Ok(Self { name, kind, target, number })
    }
}
