//! Query parameters of both versions, declared once: v2 writes the names in kebab case, v1 in camel case.

use crate::nessie::model::RepositoryConfig;
use crate::parameter::{HASH_OR_RELATIVE_PATTERN, HASH_PATTERN, NAME_PATTERN, Parameter, Shape};
use crate::syntax::reference::NO_ANCESTOR_HASH;

pub(crate) const FETCH: Parameter = Parameter::new(
    "fetch",
    "How much is filled in: `ALL` adds the metadata of references, or parents and operations of commits.",
    Shape::Words(&["MINIMAL", "ALL"]),
    "ALL",
);

pub(crate) const FILTER: Parameter = Parameter::new(
    "filter",
    "A CEL expression that says which elements are returned, bounded in length, depth and time. What it can refer to \
     depends on the listing: `ref`, `commit` and `operations`, `entry`, or `path`.",
    Shape::Text,
    "1 < 2",
);

const TOKEN: (&str, Shape) = (
    "Where the page begins: the `token` of the page before, with all other parameters as they were.",
    Shape::Pattern("^[0-9a-fA-F]{0,8192}$"),
);

const SIZE: &str =
    "Most elements of a page. Absent or not positive, the page has no limit but the server's own.";

/// Parameters of version 2.
pub(crate) mod v2 {
    use super::*;

    pub(crate) const MAX_RECORDS: Parameter = Parameter::new("max-records", SIZE, Shape::Int32, "50");
    pub(crate) const PAGE_TOKEN: Parameter = Parameter::new("page-token", TOKEN.0, TOKEN.1, "");
    pub(crate) const NAME: Parameter =
        Parameter::new("name", "The new reference's name.", Shape::Pattern(NAME_PATTERN), "dev").required();
    pub(crate) const TYPE: Parameter = Parameter::new(
        "type",
        "The type the reference has.",
        Shape::Words(&["BRANCH", "TAG", "branch", "tag"]),
        "BRANCH",
    );
    pub(crate) const CONFIG_TYPE: Parameter = Parameter::new(
        "type",
        "The settings asked for, by type.",
        Shape::WordsRepeated(RepositoryConfig::TYPES),
        "GARBAGE_COLLECTOR",
    );
    pub(crate) const LIMIT_HASH: Parameter = Parameter::new(
        "limit-hash",
        "The last commit to return, inclusive, as a hash with optional relative parts.",
        Shape::Pattern(HASH_OR_RELATIVE_PATTERN),
        NO_ANCESTOR_HASH,
    );
    pub(crate) const KEY: Parameter =
        Parameter::new("key", "Only these keys, in string form.", Shape::Texts, "sales.orders");
    pub(crate) const MIN_KEY: Parameter =
        Parameter::new("min-key", "The lowest key, inclusive.", Shape::Text, "sales");
    pub(crate) const MAX_KEY: Parameter = Parameter::new(
        "max-key",
        "The highest key, inclusive; not what lies below it.",
        Shape::Text,
        "sales.orders",
    );
    pub(crate) const PREFIX_KEY: Parameter =
        Parameter::new("prefix-key", "This key and every key below it.", Shape::Text, "sales");
    pub(crate) const CONTENT: Parameter =
        Parameter::new("content", "Whether contents are filled in.", Shape::Flag, "true");
    pub(crate) const FOR_WRITE: Parameter =
        Parameter::new("for-write", "Accepted and without effect.", Shape::Flag, "false");
    pub(crate) const WITH_DOC: Parameter =
        Parameter::new("with-doc", "Accepted and without effect.", Shape::Flag, "false");
    pub(crate) const SCAN_COMMITS: Parameter = Parameter::new(
        "scan-commits",
        "How many commits to check for soundness; none when absent or not positive.",
        Shape::Int32,
        "10",
    );
}

/// Parameters of version 1.
pub(crate) mod v1 {
    use super::*;

    pub(crate) const MAX_RECORDS: Parameter = Parameter::new("maxRecords", SIZE, Shape::Int32, "50");
    pub(crate) const PAGE_TOKEN: Parameter = Parameter::new("pageToken", TOKEN.0, TOKEN.1, "");
    pub(crate) const REF: Parameter = Parameter::new(
        "ref",
        "The reference's name: the default branch when absent, `DETACHED` with a hash.",
        Shape::Pattern(NAME_PATTERN),
        "main",
    );
    pub(crate) const HASH_ON_REF: Parameter = Parameter::new(
        "hashOnRef",
        "The state to read, as a hash with optional relative parts; absent is the head.",
        Shape::Pattern(HASH_OR_RELATIVE_PATTERN),
        NO_ANCESTOR_HASH,
    );
    pub(crate) const EXPECTED_HASH: Parameter = Parameter::new(
        "expectedHash",
        "The commit the reference must be at or descend from.",
        Shape::Pattern(HASH_PATTERN),
        NO_ANCESTOR_HASH,
    )
    .required();
    pub(crate) const EXPECTED_HEAD: Parameter = Parameter::new(
        "expectedHash",
        "The commit the reference must be at.",
        Shape::Pattern(HASH_PATTERN),
        NO_ANCESTOR_HASH,
    )
    .required();
    pub(crate) const SOURCE_REF_NAME: Parameter = Parameter::new(
        "sourceRefName",
        "Where the hash of the body is looked for; the default branch when absent.",
        Shape::Pattern(NAME_PATTERN),
        "main",
    );
    pub(crate) const START_HASH: Parameter = Parameter::new(
        "startHash",
        "The *oldest* commit to return.",
        Shape::Pattern(HASH_PATTERN),
        NO_ANCESTOR_HASH,
    );
    pub(crate) const END_HASH: Parameter = Parameter::new(
        "endHash",
        "The *youngest* commit to return, as a hash with optional relative parts.",
        Shape::Pattern(HASH_OR_RELATIVE_PATTERN),
        NO_ANCESTOR_HASH,
    );
    pub(crate) const NAMESPACE_DEPTH: Parameter = Parameter::new(
        "namespaceDepth",
        "Cuts keys to this many elements; off when absent or not positive.",
        Shape::Int32,
        "1",
    );
    pub(crate) const NAME: Parameter = Parameter::new(
        "name",
        "Only this namespace and those below it; all when absent.",
        Shape::Text,
        "sales",
    );
    pub(crate) const MESSAGE: Parameter =
        Parameter::new("message", "Overrides the message of a single commit.", Shape::Text, "again");
}
