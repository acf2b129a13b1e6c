//! Where the shell stands: `CONNECT TO`, `USE`, and what `IF EXISTS` forgives.

use lochan_api_spec::syntax::RefSpec;
use tokio::runtime::Runtime;

use super::give_up::Waiting;
use super::statement::Allowed;
use crate::commands::{Session, kind_word};
use crate::error::Error;
use crate::host::Host;
use crate::settings::{self, ClientCredentials, Credentials, Secret, Settings, Source};

/// Finds the point and checks what it is.
pub fn stand(
    point: RefSpec,
    kind: Option<&'static str>,
    session: &Session,
    (runtime, waiting): (&Runtime, Waiting),
) -> Result<RefSpec, Error> {
    waiting.run(runtime, session, async {
        if let (Some(wanted), Some(name)) = (kind, &point.name) {
            let found = session.client.reference(name, &Default::default()).await?;
            let is = kind_word(found.kind);
            if is != wanted {
                let instead = format!("USE {} {name}", is.to_ascii_uppercase());
                return Err(Error::WrongKind { name: name.clone(), is, wanted, instead });
            }
        }
        let found = session.client.resolve(&point).await?;
        // Steps are gone once: the shell stays where it stands although the branch moves on.
        let hash = point.has_hash().then_some(found.hash);
        Ok(RefSpec { name: found.name, hash, parts: Vec::new() })
    })
}

/// A session with another server, which is not asked yet.
pub fn session(
    uri: &str,
    using: &[(String, String)],
    old: &Session,
    host: &mut Host,
) -> Result<Session, Error> {
    let settings = Settings {
        endpoint: settings::root(uri)?,
        endpoint_source: Source::Statement,
        credentials: credentials(using)?,
        credentials_source: Source::Statement,
        unusable: Vec::new(),
        default_branch: None,
        ..old.settings.clone()
    };
    Session::new(settings, host)
}

/// Who we are, as the properties of Nessie's clients say it.
pub fn credentials(using: &[(String, String)]) -> Result<Credentials, Error> {
    const PREFIX: &str = "authentication.";
    let mut rest: Vec<(&str, &str)> = using
        .iter()
        .map(|(name, value)| (name.strip_prefix("nessie.").unwrap_or(name), value.as_str()))
        .collect();
    let mut take = |name: &str| {
        let place = rest.iter().position(|(known, _)| known.strip_prefix(PREFIX) == Some(name))?;
        Some(rest.swap_remove(place).1.to_owned())
    };
    let kind = take("type").map(|kind| kind.to_ascii_uppercase());
    let token = take("token");
    let endpoint = take("oauth2.token-endpoint");
    let client_id = take("oauth2.client-id");
    let secret = take("oauth2.client-secret");
    let scope = take("oauth2.client-scopes").or_else(|| take("oauth2.scope"));
    if let Some((name, _)) = rest.first() {
        return Err(Error::Usage(format!(
            "the property '{name}' is not known here; authentication.type, .token and .oauth2.* are"
        )));
    }
    let needed = |value: Option<String>, name: &str| {
        value.ok_or_else(|| Error::Usage(format!("the property authentication.{name} is missing")))
    };
    match kind.as_deref().unwrap_or(if token.is_some() { "BEARER" } else { "NONE" }) {
        "NONE" => Ok(Credentials::None),
        "BEARER" => Ok(Credentials::Token(Secret::new(needed(token, "token")?))),
        "OAUTH2" => Ok(Credentials::Client(Box::new(ClientCredentials {
            token_endpoint: needed(endpoint, "oauth2.token-endpoint")?,
            client_id: needed(client_id, "oauth2.client-id")?,
            client_secret: Secret::new(needed(secret, "oauth2.client-secret")?),
            scope,
        }))),
        other => {
            Err(Error::Usage(format!("authentication {other} is not known; NONE, BEARER and OAUTH2 are")))
        }
    }
}

/// Whether a statement was told to take this error for success.
pub fn is_allowed(error: &Error, allowed: Allowed) -> bool {
    let Some(refusal) = error.refusal() else { return false };
    match allowed {
        Allowed::Nothing => false,
        Allowed::Existing => refusal.is_name_taken(),
        Allowed::Missing => refusal.is_reference_missing(),
    }
}
