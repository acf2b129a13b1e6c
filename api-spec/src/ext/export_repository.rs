//! `GET /ext/v1/export`: writes the whole repository as one stream.

use crate::endpoint::{Endpoint, EndpointInfo, Method, Surface};
use crate::ext::parameters::{FROM, MAX_PARTS, REF_LOG};
use crate::ext::stream::Stream;
use crate::parameter::Parameter;
use crate::syntax::query::{Pairs, QueryError, QueryParams, QueryWriter};

/// Writes the repository as a [`stream`](crate::ext::stream) (`application/x-ndjson`): references, every commit that they
/// reach with its operations and contents, and, on demand, the ref log.
///
/// The stream shows one moment, that of its beginning, however long it takes and whatever is written meanwhile. It may
/// end early, always behind a whole part unless the connection broke: without an `end` line it is not complete, and goes
/// on with `from`. Files of warehouses are not part of it. Needs the permission to export; at most a few exports run at
/// once (503 with `Retry-After`).
#[derive(Debug)]
pub struct ExportRepository;

impl ExportRepository {
    /// The path.
    pub fn path() -> String {
        Self::PATH.to_owned()
    }
}

impl Endpoint for ExportRepository {
    const INFO: EndpointInfo = EndpointInfo::reads(
        Surface::Ext,
        Method::Get,
        "/ext/v1/export",
        "exportRepository",
        "Writes the whole repository as one stream.",
    );
    type Query = Query;
    type Request = ();
    type Response = Stream;
}

/// Query parameters.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Query {
    /// `from`: goes on with the part at this position (`next` of a `partEnd` line, or `position` of a `part` line)
    /// instead of beginning; the header is not repeated. Everything else that the first call asked for goes on too.
    pub from: Option<String>,
    /// `ref-log`: with the changes of references. An import checks and counts them; the log of an imported reference
    /// begins with the import.
    pub ref_log: bool,
    /// `max-parts`: ends behind this many parts, at least one.
    pub max_parts: Option<i32>,
}

impl QueryParams for Query {
    const PARAMETERS: &'static [Parameter] = &[FROM, REF_LOG, MAX_PARTS];

    fn parse(pairs: &Pairs<'_>) -> Result<Self, QueryError> {
        Ok(Self {
            from: pairs.text("from"),
            ref_log: pairs.flag("ref-log"),
            max_parts: pairs.int("max-parts")?,
        })
    }

    fn write(&self, out: &mut QueryWriter) {
        out.opt("from", self.from.as_ref());
        out.flag("ref-log", self.ref_log);
        out.int("max-parts", self.max_parts);
    }
}
