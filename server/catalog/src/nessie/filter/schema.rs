//! What filters can look at: variables and their fields (Nessie API, 11.1 to 11.5).

/// Kinds of elements that are filtered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Kind {
    /// Branches and tags.
    References,
    /// Commits of a log.
    Commits,
    /// Entries of a state.
    Entries,
    /// Keys of a diff.
    Differences,
    /// Questions about access: expressions over them are rules.
    Rules,
}

/// What is known about a value before anything is evaluated.
#[derive(Debug, Clone, Copy)]
pub(super) enum Type {
    /// Nothing.
    Any,
    /// A number.
    Number(Number),
    /// An object with exactly these fields.
    Object(&'static [Field]),
    /// A list of these.
    List(&'static Type),
}

/// Kinds of numbers, which do not mix.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Number {
    Int,
    UInt,
    Double,
}

pub(super) type Field = (&'static str, Type);

const METADATA: &[Field] = &[
    ("numCommitsAhead", Type::Number(Number::Int)),
    ("numCommitsBehind", Type::Number(Number::Int)),
    ("numTotalCommits", Type::Number(Number::Int)),
    ("commonAncestorHash", Type::Any),
    ("commitMetaOfHEAD", Type::Object(COMMIT)),
];

const COMMIT: &[Field] = &[
    ("hash", Type::Any),
    ("committer", Type::Any),
    ("author", Type::Any),
    ("authors", Type::List(&Type::Any)),
    ("signedOffBy", Type::Any),
    ("allSignedOffBy", Type::List(&Type::Any)),
    ("message", Type::Any),
    ("commitTime", Type::Any),
    ("authorTime", Type::Any),
    ("properties", Type::Any),
    ("allProperties", Type::Any),
    ("parentCommitHashes", Type::List(&Type::Any)),
];

const REFERENCE: &[Field] = &[("name", Type::Any), ("hash", Type::Any), ("metadata", Type::Object(METADATA))];

const KEY: &[Field] = &[
    ("key", Type::Any),
    ("encodedKey", Type::Any),
    ("keyElements", Type::List(&Type::Any)),
    ("namespace", Type::Any),
    ("namespaceElements", Type::List(&Type::Any)),
    ("name", Type::Any),
];

const ENTRY: &[Field] = &[
    ("contentType", Type::Any),
    ("key", Type::Any),
    ("encodedKey", Type::Any),
    ("keyElements", Type::List(&Type::Any)),
    ("namespace", Type::Any),
    ("namespaceElements", Type::List(&Type::Any)),
    ("name", Type::Any),
];

const CONTENT: &[Field] = &[("type", Type::Any), ("id", Type::Any)];

const OPERATION: Type = Type::Object(&[
    ("type", Type::Any),
    ("key", Type::Any),
    ("encodedKey", Type::Any),
    ("keyElements", Type::List(&Type::Any)),
    ("namespace", Type::Any),
    ("namespaceElements", Type::List(&Type::Any)),
    ("name", Type::Any),
    ("content", Type::Object(CONTENT)),
]);

const API: &[Field] = &[("apiName", Type::Any), ("apiVersion", Type::Any)];

impl Kind {
    /// Its variables.
    pub(super) const fn variables(self) -> &'static [Field] {
        match self {
            Self::References => &[
                ("ref", Type::Object(REFERENCE)),
                ("refType", Type::Any),
                ("commit", Type::Object(COMMIT)),
                ("refMeta", Type::Object(METADATA)),
            ],
            Self::Commits => &[("commit", Type::Object(COMMIT)), ("operations", Type::List(&OPERATION))],
            Self::Entries => &[("entry", Type::Object(ENTRY))],
            Self::Differences => &[("key", Type::Object(KEY))],
            Self::Rules => &[
                ("op", Type::Any),
                ("role", Type::Any),
                ("roles", Type::List(&Type::Any)),
                ("ref", Type::Any),
                ("path", Type::Any),
                ("contentType", Type::Any),
                ("type", Type::Any),
                ("actions", Type::List(&Type::Any)),
                ("api", Type::Object(API)),
            ],
        }
    }
}

/// Functions, macros and the names of types that expressions may call.
pub(super) const FUNCTIONS: &[&str] = &[
    "bool",
    "bytes",
    "contains",
    "double",
    "duration",
    "dyn",
    "endsWith",
    "getDate",
    "getDayOfMonth",
    "getDayOfWeek",
    "getDayOfYear",
    "getFullYear",
    "getHours",
    "getMilliseconds",
    "getMinutes",
    "getMonth",
    "getSeconds",
    "int",
    "max",
    "min",
    "size",
    "startsWith",
    "string",
    "timestamp",
    "type",
    "uint",
];

/// Names of types, which are values in rules.
pub(super) const TYPES: &[&str] = &[
    "bool",
    "bytes",
    "double",
    "int",
    "list",
    "map",
    "null_type",
    "string",
    "timestamp",
    "duration",
    "type",
    "uint",
];
