//! Query parameters, declared once.

use crate::parameter::{NAME_PATTERN, Parameter, Shape};

pub(crate) const REF: Parameter =
    Parameter::new("ref", "Changes of this reference only.", Shape::Pattern(NAME_PATTERN), "main");
pub(crate) const OPERATION: Parameter = Parameter::new(
    "operation",
    "Changes of these kinds only.",
    Shape::WordsRepeated(&[
        "CREATE",
        "ASSIGN",
        "DELETE",
        "COMMIT",
        "MERGE",
        "TRANSPLANT",
        "RESTORE",
        "REBASE",
        "IMPORT",
    ]),
    "COMMIT",
);
pub(crate) const PRINCIPAL: Parameter =
    Parameter::new("principal", "Changes made by this principal only.", Shape::Text, "ada");
pub(crate) const SINCE: Parameter =
    Parameter::new("since", "Changes at or after this instant.", Shape::Instant, "2026-05-01T00:00:00Z");
pub(crate) const UNTIL: Parameter =
    Parameter::new("until", "Changes at or before this instant.", Shape::Instant, "2026-06-01T00:00:00Z");
pub(crate) const MAX_RECORDS: Parameter = Parameter::new(
    "max-records",
    "Most elements of a page, at least 1; more than the server's own limit count as that many.",
    Shape::Count,
    "50",
);
pub(crate) const PAGE_TOKEN: Parameter = Parameter::new(
    "page-token",
    "Where the page begins: the `token` of the page before, with all other parameters as they were.",
    Shape::Text,
    "",
);
pub(crate) const FROM: Parameter = Parameter::new(
    "from",
    "Goes on with the part at this position instead of beginning; the header is not repeated.",
    Shape::Text,
    "",
);
pub(crate) const REF_LOG: Parameter =
    Parameter::new("ref-log", "With the changes of references.", Shape::Flag, "true");
pub(crate) const MAX_PARTS: Parameter =
    Parameter::new("max-parts", "Ends behind this many parts, at least one.", Shape::Count, "10");
pub(crate) const ID: Parameter = Parameter::new(
    "id",
    "Names the import, chosen by the caller.",
    Shape::Pattern("^[A-Za-z0-9_-]{1,64}$"),
    "from-old-server",
)
.required();
pub(crate) const PREFIX: Parameter =
    Parameter::new("prefix", "Put in front of every reference's name.", Shape::Text, "imported/");
pub(crate) const EXISTING: Parameter = Parameter::new(
    "existing",
    "What happens to references that exist: the import fails, they stay as they are, or they move.",
    Shape::Words(&["refuse", "keep", "move"]),
    "keep",
);
