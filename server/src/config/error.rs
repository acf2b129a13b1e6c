//! What can be wrong with settings.

use std::io;
use std::path::PathBuf;

use super::layer::Origin;

/// Why the configuration is refused.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The file cannot be read.
    #[error("cannot read the configuration file {}", file.display())]
    Unreadable {
        /// The file.
        file: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// The file is no TOML.
    #[error("{} is not valid TOML", file.display())]
    Syntax {
        /// The file.
        file: PathBuf,
        /// Where and why.
        source: Box<toml::de::Error>,
    },
    /// No such setting.
    #[error("unknown setting '{key}' ({origin}); the nearest known one is '{nearest}'")]
    UnknownKey {
        /// As given.
        key: String,
        /// Where.
        origin: Origin,
        /// What may have been meant.
        nearest: String,
    },
    /// A value of the wrong type.
    #[error("setting '{key}' ({origin}) must be {expected}")]
    BadValue {
        /// The setting.
        key: String,
        /// Where.
        origin: Origin,
        /// What it must be.
        expected: String,
    },
    /// A value that the type allows and that cannot be used.
    #[error("setting '{key}' {reason}")]
    Unusable {
        /// The setting.
        key: String,
        /// Why, as the rest of the sentence.
        reason: &'static str,
    },
    /// A secret given both directly and through a file, by the same source.
    #[error("settings '{key}' and '{twin}' ({origin}) exclude each other")]
    Twice {
        /// One.
        key: String,
        /// The other.
        twin: String,
        /// Where.
        origin: Origin,
    },
    /// A file that should hold a secret cannot be read.
    #[error("cannot read {}, which setting '{key}' names", file.display())]
    SecretFile {
        /// The setting.
        key: String,
        /// The file.
        file: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// A token that is none.
    #[error("setting 'auth.tokens'")]
    Token(#[from] lochan_server_auth::TokenError),
    /// A name without a token, or with two.
    #[error("'auth.tokens.{name}' needs a token: one of token, token_file and token_sha256")]
    OneToken {
        /// The name.
        name: String,
    },
    /// Settings of an issuer that are no good.
    #[error("settings 'auth.oidc'")]
    Oidc(#[from] lochan_server_auth::oidc::SettingsError),
    /// Settings of an issuer without its name.
    #[error("there is a section 'auth.oidc' but no 'auth.oidc.issuer'")]
    NoIssuer,
    /// A rule that is none.
    #[error("setting 'authz.rules'")]
    Rule(#[from] lochan_server_auth::RuleError),
    /// Rules, and nobody who is asked who they are.
    #[error("there are rules in 'authz.rules' but no tokens in 'auth': nobody would be told apart")]
    RulesWithoutAuth,
    /// A section that says who may come in, and names nobody.
    #[error(
        "there is a section 'auth' that names nobody: it needs a token in 'auth.tokens.NAME' or 'auth.oidc.issuer'; \
         without the section nobody is asked who they are"
    )]
    NobodyIn,
    /// A warehouse without a location.
    #[error("warehouse '{name}' has settings but no location")]
    NoLocation {
        /// Its name.
        name: String,
    },
    /// More than one default warehouse.
    #[error("warehouses '{first}' and '{second}' are both marked as the default one")]
    TwoDefaults {
        /// One.
        first: String,
        /// Another.
        second: String,
    },
}
