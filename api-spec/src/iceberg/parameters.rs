//! Query parameters, declared once.

use crate::parameter::{Parameter, Shape};

pub(crate) const WAREHOUSE: Parameter = Parameter::new(
    "warehouse",
    "A warehouse by name or location; that of the URL, or the default one, when absent.",
    Shape::Text,
    "lake",
);
pub(crate) const PARENT: Parameter = Parameter::new(
    "parent",
    "The namespace whose children are listed, its levels joined by U+001F; the top level when absent.",
    Shape::Text,
    "sales",
);
pub(crate) const PAGE_TOKEN: Parameter = Parameter::new(
    "pageToken",
    "Empty asks for the first page, else the `next-page-token` of the page before. Without it everything is returned.",
    Shape::Pattern("^[0-9a-fA-F]{0,8192}$"),
    "",
);
pub(crate) const PAGE_SIZE: Parameter =
    Parameter::new("pageSize", "Most elements of a page; counts only with a token.", Shape::Int32, "100");
pub(crate) const PURGE_REQUESTED: Parameter = Parameter::new(
    "purgeRequested",
    "Accepted and without effect: other branches may refer to the files.",
    Shape::Flag,
    "false",
);
pub(crate) const SNAPSHOTS: Parameter = Parameter::new(
    "snapshots",
    "`refs` leaves out the snapshots that no reference points at.",
    Shape::Words(&["all", "refs"]),
    "refs",
);
pub(crate) const REFERENCED_BY: Parameter = Parameter::new(
    "referenced-by",
    "The views through which the table or view is read; accepted and without effect.",
    Shape::Text,
    "sales.totals",
);
pub(crate) const PLAN_ID: Parameter = Parameter::new(
    "planId",
    "The scan plan the credentials are for; accepted and without effect.",
    Shape::Text,
    "7",
);
