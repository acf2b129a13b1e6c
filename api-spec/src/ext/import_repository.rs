//! `POST /ext/v1/import`: takes a repository in, from a stream.

use crate::endpoint::{Endpoint, EndpointInfo, Method, Surface};
use crate::ext::model::ImportState;
use crate::ext::parameters::{EXISTING, ID, PREFIX};
use crate::ext::stream::Stream;
use crate::parameter::Parameter;
use crate::syntax::query::{Pairs, QueryError, QueryParams, QueryWriter};

/// Takes in a [`stream`](crate::ext::stream) (`application/x-ndjson`, perhaps gzip), all at once or in several requests.
///
/// Each part is checked and then written in one piece, with the place reached; references appear all together when the
/// `end` line was checked, so nobody sees a half-imported repository. To resume after anything: ask where the import
/// stands ([`super::GetImport`]) and send on from part `nextPart` under the same `id`. Parts already taken are passed
/// over, so sending everything again is right too; an import that is done answers with its outcome.
///
/// Commits of a Lochan stream keep their hashes: each is recomputed and must be equal (400 `STREAM_INVALID` otherwise).
/// Commits of other sources get new ones; they keep committer, authors and times, where commit times do not increase they
/// are raised to one microsecond after the parent's, and the old hash stands in the property `import.source-hash`.
///
/// References that exist are refused (409 `REFERENCE_ALREADY_EXISTS`, named in `details.references`) unless `prefix` or
/// `existing` says otherwise; a branch at the empty state, as a new server has it, counts as absent. Needs the permission
/// to import. One request per import at a time and a few imports at once (503 with `Retry-After`).
#[derive(Debug)]
pub struct ImportRepository;

impl ImportRepository {
    /// The path.
    pub fn path() -> String {
        Self::PATH.to_owned()
    }
}

impl Endpoint for ImportRepository {
    const INFO: EndpointInfo = EndpointInfo::changes(
        Surface::Ext,
        Method::Post,
        "/ext/v1/import",
        "importRepository",
        "Takes a repository in, from a stream.",
    );
    type Query = Query;
    type Request = Stream;
    type Response = ImportState;
}

/// Query parameters. `prefix` and `existing` are fixed by the first request of an import and may be left out afterwards.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Query {
    /// `id`: names the import, chosen by the caller: 1 to 64 letters, digits, `-`, `_`.
    pub id: Option<String>,
    /// `prefix`: put in front of every reference's name: `imported/`.
    pub prefix: Option<String>,
    /// `existing`: what happens to references that exist.
    pub existing: Option<Existing>,
}

/// What an import does with a reference whose name is taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Existing {
    /// `refuse`: the import fails.
    #[default]
    Refuse,
    /// `keep`: the reference stays as it is, and that of the stream is left out.
    Keep,
    /// `move`: the reference is set to the imported commit; it must be of the same type.
    Move,
}

impl Existing {
    /// The wire word.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Refuse => "refuse",
            Self::Keep => "keep",
            Self::Move => "move",
        }
    }

    /// The policy of a wire word.
    pub fn parse(text: &str) -> Option<Self> {
        [Self::Refuse, Self::Keep, Self::Move].into_iter().find(|policy| policy.as_str() == text)
    }
}

impl QueryParams for Query {
    const PARAMETERS: &'static [Parameter] = &[EXISTING, ID, PREFIX];

    fn parse(pairs: &Pairs<'_>) -> Result<Self, QueryError> {
        let existing = pairs.get("existing").map(|text| {
            Existing::parse(text).ok_or_else(|| QueryError::Word {
                name: "existing",
                allowed: "refuse, keep, move",
                value: text.to_owned(),
            })
        });
        Ok(Self { id: pairs.text("id"), prefix: pairs.text("prefix"), existing: existing.transpose()? })
    }

    fn write(&self, out: &mut QueryWriter) {
        out.opt("id", self.id.as_ref());
        out.opt("prefix", self.prefix.as_ref());
        out.opt("existing", self.existing.map(Existing::as_str));
    }
}
