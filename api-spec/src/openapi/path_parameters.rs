//! What the parameters in paths mean. A name that no table has is described as plain text, which a test refuses.

use crate::endpoint::{EndpointInfo, Surface};
use crate::parameter::{NAME_PATTERN, Parameter, REFERENCE_PATTERN, Shape};

const V2: &[Parameter] = &[
    Parameter::new(
        "ref",
        "A reference, optionally with a commit: `main`, `main@HASH`, `dev~2`, `@HASH`; `-` is the default branch.",
        Shape::Pattern(REFERENCE_PATTERN),
        "main",
    ),
    Parameter::new(
        "branch",
        "The branch with the hash it is expected to be at or to descend from: `main@HASH`.",
        Shape::Pattern(REFERENCE_PATTERN),
        "main",
    ),
    Parameter::new(
        "from",
        "The state on the left, as a reference.",
        Shape::Pattern(REFERENCE_PATTERN),
        "main",
    ),
    Parameter::new("to", "The state on the right, as a reference.", Shape::Pattern(REFERENCE_PATTERN), "dev"),
    Parameter::new("key", "A content key in string form: `sales.orders`.", Shape::Text, "sales.orders"),
];

const V1: &[Parameter] = &[
    Parameter::new("ref", "A reference by name.", Shape::Pattern(NAME_PATTERN), "main"),
    Parameter::new("branch", "A branch by name.", Shape::Pattern(NAME_PATTERN), "main"),
    Parameter::new("type", "Branch or tag.", Shape::Words(&["branch", "tag", "BRANCH", "TAG"]), "branch"),
    Parameter::new("from", "The state on the left: `NAME` or `NAME*HASH`.", Shape::Text, "main"),
    Parameter::new("to", "The state on the right: `NAME` or `NAME*HASH`.", Shape::Text, "dev"),
    Parameter::new("key", "A content key in string form: `sales.orders`.", Shape::Text, "sales.orders"),
];

const V1_REFERENCE_NAME: Parameter =
    Parameter::new("name", "The reference by name.", Shape::Pattern(NAME_PATTERN), "dev");
const V1_NAMESPACE_NAME: Parameter =
    Parameter::new("name", "A namespace in string form: `sales.eu`.", Shape::Text, "sales");

const ICEBERG: &[Parameter] = &[
    Parameter::new("prefix", "Reference and warehouse: `main`, `dev|lake`, `|lake`.", Shape::Text, "main"),
    Parameter::new("reference", "Reference and warehouse, as in a prefix.", Shape::Text, "main"),
    Parameter::new("namespace", "A namespace, its levels joined by U+001F.", Shape::Text, "sales"),
    Parameter::new(
        "table",
        "A table's name, optionally with a reference: `orders@dev`.",
        Shape::Text,
        "orders",
    ),
    Parameter::new(
        "view",
        "A view's name, optionally with a reference: `totals@dev`.",
        Shape::Text,
        "totals",
    ),
];

const EXT: &[Parameter] = &[
    Parameter::new("ref", "A branch or tag by name.", Shape::Pattern(NAME_PATTERN), "dev"),
    Parameter::new("id", "An import by name.", Shape::Pattern("^[A-Za-z0-9_-]{1,64}$"), "from-old-server"),
];

/// The path parameter `name` of an endpoint, if a table has it.
pub(super) fn known(info: &EndpointInfo, name: &str) -> Option<Parameter> {
    let table = match info.surface {
        Surface::NessieV1 if name == "name" && info.path.contains("/namespaces/") => {
            return Some(V1_NAMESPACE_NAME);
        }
        Surface::NessieV1 if name == "name" => return Some(V1_REFERENCE_NAME),
        Surface::NessieV1 => V1,
        Surface::NessieV2 => V2,
        Surface::Iceberg => ICEBERG,
        Surface::Ext => EXT,
    };
    table.iter().find(|known| known.name == name).copied()
}

/// The path parameter `name` of an endpoint.
pub(super) fn of(info: &EndpointInfo, name: &'static str) -> Parameter {
    known(info, name).unwrap_or(Parameter::new(name, "", Shape::Text, ""))
}
