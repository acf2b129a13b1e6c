//! `[auth]` and `[authz]`: who may come in, and what they may do.

use std::time::Duration;

use lochan_server_auth::oidc::Settings;
use lochan_server_auth::{Policy, StaticToken, Tokens};

use super::layer::Merged;
use super::{Error, Getter};

/// Algorithms accepted when none are named: what issuers sign with by default.
const ALGORITHMS_DEFAULT: [&str; 2] = ["RS256", "ES256"];
/// Difference of clocks allowed for when none is named, in seconds.
const CLOCK_SKEW_SECONDS_DEFAULT: u32 = 30;

/// Who may come in, and what they may do. At least one way in is there.
#[derive(Clone, Debug)]
pub struct Auth {
    /// Tokens that the server knows; only their hashes.
    pub tokens: Vec<StaticToken>,
    /// The issuer whose tokens are taken.
    pub oidc: Option<Settings>,
    /// Name and expression of each rule.
    pub rules: Vec<(String, String)>,
}

impl Auth {
    /// The policy that the rules are.
    pub fn policy(&self) -> Result<Policy, Error> {
        Ok(Policy::compile(self.rules.iter().map(|(name, text)| (name.as_str(), text.as_str())))?)
    }
}

/// Reads both sections. What could not work is refused here: rules are compiled, tokens compared.
pub(super) fn build(merged: &Merged) -> Result<Option<Auth>, Error> {
    let get = Getter(merged);
    let rule = |name: &str| Some((name.to_owned(), get.text(&["authz", "rules", name])?));
    let auth = Auth {
        tokens: tokens(merged)?,
        oidc: oidc(merged)?,
        rules: merged.names(&["authz", "rules"]).filter_map(rule).collect(),
    };
    auth.policy()?;
    Tokens::new(auth.tokens.clone())?;
    match (auth.tokens.is_empty() && auth.oidc.is_none(), auth.rules.is_empty()) {
        (true, true) if merged.has_section(&["auth"]) => Err(Error::NobodyIn),
        (true, true) => Ok(None),
        (true, false) => Err(Error::RulesWithoutAuth),
        (false, _) => Ok(Some(auth)),
    }
}

fn tokens(merged: &Merged) -> Result<Vec<StaticToken>, Error> {
    let get = Getter(merged);
    let one = |name: &str| {
        let at = |key| ["auth", "tokens", name, key];
        let roles = get.texts(&at("roles")).unwrap_or_default();
        match (get.credential(&at("token"))?, get.text(&at("token_sha256"))) {
            (Some(token), None) => Ok(StaticToken::new(name, &token, roles)?),
            (None, Some(hash)) => Ok(StaticToken::hashed(name, &hash, roles)?),
            (None, None) | (Some(_), Some(_)) => Err(Error::OneToken { name: name.to_owned() }),
        }
    };
    merged.names(&["auth", "tokens"]).map(one).collect()
}

fn oidc(merged: &Merged) -> Result<Option<Settings>, Error> {
    let get = Getter(merged);
    let at = |key| ["auth", "oidc", key];
    let Some(issuer) = get.text(&at("issuer")) else {
        return if merged.has_section(&["auth", "oidc"]) { Err(Error::NoIssuer) } else { Ok(None) };
    };
    let settings = Settings {
        issuer,
        audience: get.texts(&at("audience")).unwrap_or_default(),
        algorithms: get
            .texts(&at("algorithms"))
            .unwrap_or_else(|| ALGORITHMS_DEFAULT.map(str::to_owned).to_vec()),
        jwks_uri: get.text(&at("jwks_uri")),
        principal_claim: get.text(&at("principal_claim")).unwrap_or_else(|| "sub".to_owned()),
        roles_claim: get.text(&at("roles_claim")).unwrap_or_else(|| "roles".to_owned()),
        clock_skew: Duration::from_secs(
            get.number(&at("clock_skew_seconds")).unwrap_or(CLOCK_SKEW_SECONDS_DEFAULT).into(),
        ),
        allow_http: get.flag(&at("allow_http")).unwrap_or(false),
    };
    settings.check()?;
    Ok(Some(settings))
}
