//! What filters can look at: variables and their fields (Nessie API, 11.1 to 11.5).

use super::types::Type;

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

/// What stands under a name.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Shape {
    Text,
    Number,
    Time,
    /// A list of texts.
    Texts,
    /// Texts by name.
    TextMap,
    /// Lists of texts by name.
    TextsMap,
    /// An object with exactly these fields.
    Object(&'static [Field]),
    /// A list of objects.
    Objects(&'static [Field]),
}

pub(super) type Field = (&'static str, Shape);

impl Shape {
    /// Its type.
    pub(super) fn of(self) -> Type {
        let texts = || Type::list(Type::Text);
        match self {
            Self::Text => Type::Text,
            Self::Number => Type::Int,
            Self::Time => Type::Time,
            Self::Texts => texts(),
            Self::TextMap => Type::map(Type::Text, Type::Text),
            Self::TextsMap => Type::map(Type::Text, texts()),
            Self::Object(fields) => Type::Object(fields),
            Self::Objects(fields) => Type::list(Type::Object(fields)),
        }
    }
}

const METADATA: &[Field] = &[
    ("numCommitsAhead", Shape::Number),
    ("numCommitsBehind", Shape::Number),
    ("numTotalCommits", Shape::Number),
    ("commonAncestorHash", Shape::Text),
    ("commitMetaOfHEAD", Shape::Object(COMMIT)),
];

const COMMIT: &[Field] = &[
    ("hash", Shape::Text),
    ("committer", Shape::Text),
    ("author", Shape::Text),
    ("authors", Shape::Texts),
    ("signedOffBy", Shape::Text),
    ("allSignedOffBy", Shape::Texts),
    ("message", Shape::Text),
    ("commitTime", Shape::Time),
    ("authorTime", Shape::Time),
    ("properties", Shape::TextMap),
    ("allProperties", Shape::TextsMap),
    ("parentCommitHashes", Shape::Texts),
];

const REFERENCE: &[Field] =
    &[("name", Shape::Text), ("hash", Shape::Text), ("metadata", Shape::Object(METADATA))];

/// The fields of a key, and more.
macro_rules! of_key {
    ($($more:expr),*) => {
        &[
            ("key", Shape::Text),
            ("encodedKey", Shape::Text),
            ("keyElements", Shape::Texts),
            ("namespace", Shape::Text),
            ("namespaceElements", Shape::Texts),
            ("name", Shape::Text),
            $($more),*
        ]
    };
}

const KEY: &[Field] = of_key!();

const ENTRY: &[Field] = of_key!(("contentType", Shape::Text));

const CONTENT: &[Field] = &[("type", Shape::Text), ("id", Shape::Text)];

const OPERATION: &[Field] = of_key!(("type", Shape::Text), ("content", Shape::Object(CONTENT)));

const API: &[Field] = &[("apiName", Shape::Text), ("apiVersion", Shape::Number)];

impl Kind {
    /// Its variables.
    pub(super) const fn variables(self) -> &'static [Field] {
        match self {
            Self::References => &[
                ("ref", Shape::Object(REFERENCE)),
                ("refType", Shape::Text),
                ("commit", Shape::Object(COMMIT)),
                ("refMeta", Shape::Object(METADATA)),
            ],
            Self::Commits => &[("commit", Shape::Object(COMMIT)), ("operations", Shape::Objects(OPERATION))],
            Self::Entries => &[("entry", Shape::Object(ENTRY))],
            Self::Differences => &[("key", Shape::Object(KEY))],
            Self::Rules => &[
                ("op", Shape::Text),
                ("role", Shape::Text),
                ("roles", Shape::Texts),
                ("ref", Shape::Text),
                ("path", Shape::Text),
                ("contentType", Shape::Text),
                ("type", Shape::Text),
                ("actions", Shape::Texts),
                ("api", Shape::Object(API)),
            ],
        }
    }
}
