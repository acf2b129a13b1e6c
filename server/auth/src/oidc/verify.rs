//! Checking one token against one key, and reading who it is of.

use jsonwebtoken::errors::ErrorKind;
use jsonwebtoken::{Algorithm, DecodingKey, Header, Validation};
use lochan_server_catalog::Identity;
use lochan_server_catalog::access::identity::{Reason, Unknown};
use serde_json::{Map, Value};

use super::settings::{Settings, SettingsError};

/// Longest name or role, in bytes.
const NAME_BYTES_MAX: usize = 256;
/// Most roles of a principal.
const ROLES_MAX: usize = 256;

type Claims = Map<String, Value>;

/// Checks tokens of one issuer.
pub(super) struct Verifier {
    issuer: String,
    algorithms: Vec<Algorithm>,
    /// All but the algorithm, which is that of the token once it is found among those accepted.
    validation: Validation,
    principal_claim: String,
    roles_claim: String,
}

impl Verifier {
    pub(super) fn new(settings: &Settings) -> Result<Self, SettingsError> {
        let algorithms = settings.algorithms()?;
        let first = algorithms.first().ok_or(SettingsError::NoAlgorithm)?;
        let mut validation = Validation::new(*first);
        validation.leeway = settings.clock_skew.as_secs();
        validation.validate_nbf = true;
        validation.set_issuer(&[&settings.issuer]);
        validation.set_audience(&settings.audience);
        validation.set_required_spec_claims(&["exp", "iss", "aud"]);
        Ok(Self {
            issuer: settings.issuer.clone(),
            algorithms,
            validation,
            principal_claim: settings.principal_claim.clone(),
            roles_claim: settings.roles_claim.clone(),
        })
    }

    /// The header of a token that may be good.
    pub(super) fn header(&self, token: &str) -> Result<Header, Unknown> {
        let refused = |reason| Err(Unknown::Refused(reason));
        let header = match jsonwebtoken::decode_header(token) {
            Ok(header) => header,
            // `none`, and what has not been heard of, is no algorithm to the reader.
            Err(_) if names_other_algorithm(token) => return refused(Reason::Algorithm),
            Err(_) => return refused(Reason::Malformed),
        };
        if !self.algorithms.contains(&header.alg) {
            return refused(Reason::Algorithm);
        }
        // Extensions that must be understood (RFC 7515, 4.1.11) are not.
        if serde_json::to_value(&header).is_ok_and(|header| header.get("crit").is_some()) {
            return refused(Reason::Malformed);
        }
        Ok(header)
    }

    /// Who a token is of, and when it ends, in seconds since 1970.
    pub(super) fn verify(
        &self,
        token: &str,
        header: &Header,
        key: &DecodingKey,
    ) -> Result<(Identity, u64), Reason> {
        let validation = Validation { algorithms: vec![header.alg], ..self.validation.clone() };
        let claims: Claims =
            jsonwebtoken::decode(token, key, &validation).map_err(|error| reason(&error))?.claims;
        // The reader takes a list of issuers too; the contract of tokens knows one.
        if claims.get("iss").and_then(Value::as_str) != Some(self.issuer.as_str()) {
            return Err(Reason::Issuer);
        }
        let name = find(&claims, &self.principal_claim).and_then(Value::as_str).ok_or(Reason::Claims)?;
        if !is_name(name) {
            return Err(Reason::Claims);
        }
        let roles = roles(find(&claims, &self.roles_claim))?;
        let ends = claims.get("exp").and_then(Value::as_f64).unwrap_or_default().max(0.0) as u64;
        Ok((Identity { name: name.to_owned(), roles }, ends.saturating_add(self.validation.leeway)))
    }
}

/// Whether a token has a header with an algorithm that the reader does not know.
fn names_other_algorithm(token: &str) -> bool {
    use base64::Engine as _;
    use base64::engine::general_purpose::URL_SAFE_NO_PAD;
    let header = token.split('.').next().and_then(|part| URL_SAFE_NO_PAD.decode(part).ok());
    let header: Option<Value> = header.and_then(|bytes| serde_json::from_slice(&bytes).ok());
    header.is_some_and(|header| {
        header.get("alg").and_then(Value::as_str).is_some_and(|name| name.parse::<Algorithm>().is_err())
    })
}

fn reason(error: &jsonwebtoken::errors::Error) -> Reason {
    match error.kind() {
        ErrorKind::InvalidSignature => Reason::Signature,
        ErrorKind::InvalidIssuer => Reason::Issuer,
        ErrorKind::InvalidAudience => Reason::Audience,
        ErrorKind::ExpiredSignature => Reason::Expired,
        ErrorKind::ImmatureSignature => Reason::NotYet,
        ErrorKind::MissingRequiredClaim(_) | ErrorKind::InvalidClaimFormat(_) => Reason::Claims,
        ErrorKind::InvalidAlgorithm | ErrorKind::UnsupportedAlgorithm => Reason::Algorithm,
        ErrorKind::InvalidKeyFormat | ErrorKind::InvalidRsaKey(_) | ErrorKind::InvalidEcdsaKey => Reason::Key,
        _ => Reason::Malformed,
    }
}

/// The claim of a name; where there is none, dots lead into objects.
fn find<'c>(claims: &'c Claims, name: &str) -> Option<&'c Value> {
    claims.get(name).or_else(|| {
        let (first, rest) = name.split_once('.')?;
        find(claims.get(first)?.as_object()?, rest)
    })
}

fn is_name(name: &str) -> bool {
    (1..=NAME_BYTES_MAX).contains(&name.len()) && !name.chars().any(char::is_control)
}

/// Roles are a list of texts, or one text with blanks between them, as scopes are.
fn roles(claim: Option<&Value>) -> Result<Vec<String>, Reason> {
    let roles: Vec<String> = match claim {
        None | Some(Value::Null) => Vec::new(),
        Some(Value::String(text)) => text.split_whitespace().map(str::to_owned).collect(),
        Some(Value::Array(list)) => {
            let texts = list.iter().map(|role| role.as_str().map(str::to_owned));
            texts.collect::<Option<_>>().ok_or(Reason::Claims)?
        }
        Some(_) => return Err(Reason::Claims),
    };
    if roles.len() > ROLES_MAX || !roles.iter().all(|role| is_name(role)) {
        return Err(Reason::Claims);
    }
    Ok(roles)
}
