//! Why a call failed, told apart by what the caller does next.

use lochan_api_spec::ext::model::{ErrorBody, ErrorCode as ExtCode};
use lochan_api_spec::nessie::model::{ErrorCode, ErrorDetails, NessieError};
use serde::Serialize;

use crate::exit::Kind;

/// A call that brought no answer to use.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The client itself cannot be made.
    #[error("cannot talk to {endpoint}: {reason}")]
    Setup {
        /// The server's root.
        endpoint: String,
        /// Why.
        reason: String,
    },
    /// The provider of tokens gave none: nothing was sent.
    #[error("{endpoint} gives no token: {reason}")]
    NoToken {
        /// Where tokens are handed out.
        endpoint: String,
        /// What it said.
        reason: String,
        /// Whether it was there to refuse it.
        refused: bool,
    },
    /// No connection came about: nothing was sent.
    #[error("no server answers at {endpoint}: {reason}")]
    Unreachable {
        /// The server's root.
        endpoint: String,
        /// What the system said.
        reason: String,
    },
    /// A read broke off.
    #[error("{request} broke off: {reason}")]
    Broken {
        /// Method and path.
        request: String,
        /// What happened.
        reason: String,
    },
    /// Something answers there, but not this API.
    #[error("{endpoint} does not speak the Nessie API v2: {reason}")]
    NotTheApi {
        /// The server's root.
        endpoint: String,
        /// Method and path.
        request: String,
        /// What gave it away.
        reason: String,
    },
    /// The server knows nothing of our own API.
    #[error("{endpoint} is no Lochan server: it does not know {request}")]
    NotLochan {
        /// The server's root.
        endpoint: String,
        /// Method and path.
        request: String,
    },
    /// A change was sent and may or may not have been made.
    #[error("it is not known whether the change was made: {reason}")]
    Unknown {
        /// Method and path.
        request: String,
        /// What happened.
        reason: String,
    },
    /// The server answered with an error. The change, if any was asked for, was not made.
    #[error(transparent)]
    Refused(Box<Refusal>),
}

/// An error code, of the API that was called.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub enum Code {
    /// The Nessie API's.
    Nessie(ErrorCode),
    /// Our own API's.
    Ext(ExtCode),
}

/// The body of a refusal.
pub struct Body {
    /// The code.
    pub code: Code,
    /// The message.
    pub message: String,
    /// Facts behind the code.
    pub details: Option<ErrorDetails>,
    /// References that stand in the way.
    pub references: Vec<String>,
}

impl Body {
    /// Reads the body of either API.
    pub fn parse(bytes: &[u8]) -> Option<Self> {
        if let Ok(body) = serde_json::from_slice::<NessieError>(bytes) {
            let code = Code::Nessie(body.error_code);
            return Some(Self {
                code,
                message: body.message,
                details: body.error_details,
                references: Vec::new(),
            });
        }
        let error = serde_json::from_slice::<ErrorBody>(bytes).ok()?.error;
        let details = error.details.unwrap_or_default();
        let conflicts = details.conflicts;
        Some(Self {
            code: Code::Ext(error.code),
            message: error.message,
            details: (!conflicts.is_empty()).then_some(ErrorDetails::ReferenceConflicts { conflicts }),
            references: details.references,
        })
    }
}

/// An error that the server answered with.
#[derive(Debug, thiserror::Error)]
#[error("{}", self.text())]
pub struct Refusal {
    /// The HTTP status.
    pub status: u16,
    /// The API's error code, if the answer was one of that API.
    pub code: Option<Code>,
    /// The server's message, perhaps empty.
    pub message: String,
    /// Facts behind the code.
    pub details: Option<ErrorDetails>,
    /// References that stand in the way.
    pub references: Vec<String>,
    /// Method and path.
    pub request: String,
    /// How long the server asked to wait, in seconds.
    pub retry_after_s: Option<u64>,
}

impl Error {
    /// The kind, which decides the exit code.
    pub fn kind(&self) -> Kind {
        match self {
            Self::Setup { .. } => Kind::Usage,
            Self::NoToken { refused: true, .. } | Self::NotLochan { .. } => Kind::Refused,
            Self::NoToken { .. }
            | Self::Unreachable { .. }
            | Self::Broken { .. }
            | Self::NotTheApi { .. } => Kind::Unavailable,
            Self::Unknown { .. } => Kind::Unknown,
            Self::Refused(refusal) => refusal.kind(),
        }
    }

    /// The server's answer, if it is one.
    pub fn refusal(&self) -> Option<&Refusal> {
        match self {
            Self::Refused(refusal) => Some(refusal),
            _ => None,
        }
    }

    /// Method and path of the call, once one was made.
    pub fn request(&self) -> Option<&str> {
        match self {
            Self::Setup { .. } | Self::NoToken { .. } | Self::Unreachable { .. } => None,
            Self::Broken { request, .. }
            | Self::NotLochan { request, .. }
            | Self::NotTheApi { request, .. }
            | Self::Unknown { request, .. } => Some(request),
            Self::Refused(refusal) => Some(&refusal.request),
        }
    }

    /// True when a reference or commit is missing.
    pub fn is_reference_missing(&self) -> bool {
        self.refusal().is_some_and(|refusal| refusal.is_reference_missing())
    }

    /// True when we may not do it.
    pub fn is_forbidden(&self) -> bool {
        self.refusal().is_some_and(|refusal| refusal.status == 403)
    }

    /// True when a content is missing.
    pub fn is_content_missing(&self) -> bool {
        self.refusal().is_some_and(|refusal| refusal.code == Some(Code::Nessie(ErrorCode::ContentNotFound)))
    }
}

impl Refusal {
    /// True when a reference or commit is missing.
    pub fn is_reference_missing(&self) -> bool {
        let missing = [Code::Nessie(ErrorCode::ReferenceNotFound), Code::Ext(ExtCode::ReferenceNotFound)];
        self.code.is_some_and(|code| missing.contains(&code))
    }

    /// True when the name is taken.
    pub fn is_name_taken(&self) -> bool {
        let taken =
            [Code::Nessie(ErrorCode::ReferenceAlreadyExists), Code::Ext(ExtCode::ReferenceAlreadyExists)];
        self.code.is_some_and(|code| taken.contains(&code))
    }

    fn kind(&self) -> Kind {
        match self.status {
            409 => Kind::Conflict,
            404 => Kind::NotFound,
            429 | 500..600 => Kind::Unavailable,
            _ => Kind::Refused,
        }
    }

    fn text(&self) -> String {
        // The server's sentences begin upper case and end with a stop; ours stand behind `error: `.
        let message = self.message.trim().trim_end_matches('.');
        match (message.is_empty(), self.status) {
            (false, _) => lower_first(message),
            (true, 401) => "the server wants a token, or a valid one (401)".to_owned(),
            (true, 403) => "the server does not allow it (403)".to_owned(),
            (true, 413) => "the request is larger than the server takes (413)".to_owned(),
            (true, 429) => "the server is too busy (429)".to_owned(),
            (true, 503) => "the server is out of service for now (503)".to_owned(),
            (true, status) => format!("the server answered with {status}"),
        }
    }
}

/// Lowers the first letter unless the word goes on in capitals.
fn lower_first(text: &str) -> String {
    let mut chars = text.chars();
    let (first, second) = (chars.next(), chars.next());
    match first {
        Some(first) if !second.is_some_and(char::is_uppercase) => {
            let mut out: String = first.to_lowercase().collect();
            out.push_str(text.get(first.len_utf8()..).unwrap_or_default());
            out
        }
        _ => text.to_owned(),
    }
}

/// The innermost cause, which says it best: `Connection refused (os error 111)`.
pub fn chain(error: &dyn std::error::Error) -> String {
    let mut last = error;
    while let Some(source) = last.source() {
        last = source;
    }
    lower_first(&last.to_string())
}
