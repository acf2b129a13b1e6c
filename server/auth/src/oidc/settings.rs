//! What is known of an issuer.

use std::time::Duration;

use jsonwebtoken::Algorithm;
use url::Url;

/// Signatures that can be accepted: those of a key pair, so that whoever can check a token cannot make one.
pub const ALGORITHMS: [&str; 9] =
    ["RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "EdDSA"];
/// Largest difference of clocks that can be allowed for, in seconds.
pub const CLOCK_SKEW_SECONDS_MAX: u32 = 300;

/// What is known of an issuer.
#[derive(Debug, Clone)]
pub struct Settings {
    /// Its URL, exactly as its tokens name it.
    pub issuer: String,
    /// A token must be meant for one of these.
    pub audience: Vec<String>,
    /// What a token may be signed with, of [`ALGORITHMS`].
    pub algorithms: Vec<String>,
    /// Where its keys are; else its own discovery document says so.
    pub jwks_uri: Option<String>,
    /// The claim that holds the name of the principal; dots lead into objects.
    pub principal_claim: String,
    /// The claim that holds the roles, as a list or a text with blanks; dots lead into objects.
    pub roles_claim: String,
    /// The difference of clocks that is allowed for.
    pub clock_skew: Duration,
    /// Whether keys may be fetched over plain HTTP from other hosts than this one.
    pub allow_http: bool,
}

/// Settings that are no good.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SettingsError {
    /// No audience: every token of the issuer would be good, whomever it was meant for.
    #[error("no audience is given")]
    NoAudience,
    /// No algorithm at all.
    #[error("no algorithm is given")]
    NoAlgorithm,
    /// An algorithm that is not one of [`ALGORITHMS`].
    #[error("algorithm '{0}' is not one of {all}", all = ALGORITHMS.join(", "))]
    Algorithm(String),
    /// A URL that is none.
    #[error("'{0}' is no http: or https: URL without user, query and fragment")]
    Url(String),
    /// A URL that anybody on the way could answer for.
    #[error("'{0}' is not https:, so keys could be replaced on the way; auth.oidc.allow_http allows it")]
    PlainHttp(String),
    /// A claim without a name.
    #[error("a claim must have a name")]
    NoClaim,
    /// More skew than [`CLOCK_SKEW_SECONDS_MAX`].
    #[error("more than {CLOCK_SKEW_SECONDS_MAX} s of clock skew cannot be allowed for")]
    Skew,
    /// The HTTP client could not be made.
    #[error("no HTTP client: {0}")]
    Client(String),
}

impl Settings {
    /// Refuses what would make tokens worthless, or could never work.
    pub fn check(&self) -> Result<(), SettingsError> {
        if self.audience.iter().all(String::is_empty) {
            return Err(SettingsError::NoAudience);
        }
        if self.principal_claim.is_empty() || self.roles_claim.is_empty() {
            return Err(SettingsError::NoClaim);
        }
        if self.clock_skew.as_secs() > u64::from(CLOCK_SKEW_SECONDS_MAX) {
            return Err(SettingsError::Skew);
        }
        self.algorithms().and(self.url(&self.issuer)).map(drop)?;
        self.jwks_uri.as_deref().map_or(Ok(()), |uri| self.url(uri).map(drop))
    }

    /// The algorithms that are accepted.
    pub(super) fn algorithms(&self) -> Result<Vec<Algorithm>, SettingsError> {
        if self.algorithms.is_empty() {
            return Err(SettingsError::NoAlgorithm);
        }
        let one = |name: &String| {
            let known = ALGORITHMS.contains(&name.as_str()).then(|| name.parse().ok()).flatten();
            known.ok_or_else(|| SettingsError::Algorithm(name.clone()))
        };
        self.algorithms.iter().map(one).collect()
    }

    /// A URL that may be fetched.
    pub(super) fn url(&self, text: &str) -> Result<Url, SettingsError> {
        let none = || SettingsError::Url(text.to_owned());
        let url = Url::parse(text).map_err(|_| none())?;
        let is_plain = match url.scheme() {
            "https" => false,
            "http" => true,
            _ => return Err(none()),
        };
        let is_bare = url.username().is_empty() && url.password().is_none() && url.fragment().is_none();
        if !is_bare || url.host().is_none() {
            return Err(none());
        }
        let is_here = match url.host() {
            Some(url::Host::Ipv4(ip)) => ip.is_loopback(),
            Some(url::Host::Ipv6(ip)) => ip.is_loopback(),
            Some(url::Host::Domain(name)) => name == "localhost",
            None => false,
        };
        if is_plain && !is_here && !self.allow_http {
            return Err(SettingsError::PlainHttp(text.to_owned()));
        }
        Ok(url)
    }
}
