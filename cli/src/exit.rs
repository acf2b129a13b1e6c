//! Exit codes: a stable contract for scripts.

/// What kind of end a command came to. The numbers never change their meaning.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// The state of the catalog stands against it: a merge conflict, a moved head, a name that is taken. Nothing was changed.
    Conflict,
    /// The command line, a settings file or an input file is wrong. No server was asked to change anything.
    Usage,
    /// A reference, commit or key does not exist.
    NotFound,
    /// The server refused: a request it does not accept, a missing or insufficient token.
    Refused,
    /// The server cannot be reached, is too busy, or does not speak the API. Nothing was changed.
    Unavailable,
    /// A change was sent and no sound answer came: it may or may not have happened.
    Unknown,
    /// A fault of this program, or of what it writes its output to.
    Bug,
}

impl Kind {
    /// Every kind, in the order of its code.
    pub const ALL: [Self; 7] = [
        Self::Conflict,
        Self::Usage,
        Self::NotFound,
        Self::Refused,
        Self::Unavailable,
        Self::Unknown,
        Self::Bug,
    ];

    /// The exit code.
    pub const fn code(self) -> u8 {
        match self {
            Self::Conflict => 1,
            Self::Usage => 2,
            Self::NotFound => 3,
            Self::Refused => 4,
            Self::Unavailable => 5,
            Self::Unknown => 6,
            Self::Bug => 70,
        }
    }

    /// The word of `--json` errors.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Conflict => "conflict",
            Self::Usage => "usage",
            Self::NotFound => "not-found",
            Self::Refused => "refused",
            Self::Unavailable => "unavailable",
            Self::Unknown => "outcome-unknown",
            Self::Bug => "internal",
        }
    }

    /// One line for people.
    pub const fn meaning(self) -> &'static str {
        match self {
            Self::Conflict => "a conflict: the catalog's state stands against it, nothing was changed",
            Self::Usage => "the command line, the settings or an input file is wrong",
            Self::NotFound => "a reference, commit or key does not exist",
            Self::Refused => "the server refused the request or the token",
            Self::Unavailable => "the server cannot be reached or is too busy, nothing was changed",
            Self::Unknown => "a change was sent and no sound answer came: look before repeating it",
            Self::Bug => "a fault of this program, or its output cannot be written",
        }
    }
}

/// The table of codes, as help shows it.
pub fn table() -> String {
    let mut out = String::from("Exit codes:\n   0  done\n");
    for kind in Kind::ALL {
        out.push_str(&format!("  {:>2}  {}\n", kind.code(), kind.meaning()));
    }
    out.truncate(out.trim_end().len());
    out
}
