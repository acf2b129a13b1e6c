use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use lochan_server_catalog::access::identity::{Reason, Unknown};
use lochan_server_catalog::{Authenticator, Identity};
use ring::rand::SystemRandom;
use ring::rsa::KeyPair as RsaKeyPair;
use ring::signature::{
    ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, Ed25519KeyPair, KeyPair as _, RSA_PKCS1_SHA256,
    RsaPublicKeyComponents,
};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;

use super::keys::{AGE_MAX, FETCH_INTERVAL_MIN, STALE_MAX};
use super::*;
use crate::{Bearer, Tokens};

fn b64(bytes: impl AsRef<[u8]>) -> String {
    URL_SAFE_NO_PAD.encode(bytes)
}

/// A key pair of the issuer.
enum Pair {
    Rsa(Box<RsaKeyPair>),
    Ec(EcdsaKeyPair),
    Ed(Ed25519KeyPair),
}

impl Pair {
    /// Made for these tests alone.
    fn rsa() -> Self {
        Pair::Rsa(Box::new(RsaKeyPair::from_pkcs8(include_bytes!("testdata/rsa.pk8")).unwrap()))
    }

    fn ec() -> Self {
        let rng = SystemRandom::new();
        let pkcs8 = EcdsaKeyPair::generate_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, &rng).unwrap();
        Pair::Ec(EcdsaKeyPair::from_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, pkcs8.as_ref(), &rng).unwrap())
    }

    fn ed() -> Self {
        let pkcs8 = Ed25519KeyPair::generate_pkcs8(&SystemRandom::new()).unwrap();
        Pair::Ed(Ed25519KeyPair::from_pkcs8(pkcs8.as_ref()).unwrap())
    }

    fn sign(&self, message: &[u8]) -> Vec<u8> {
        let rng = SystemRandom::new();
        match self {
            Pair::Rsa(pair) => {
                let mut signature = vec![0; pair.public().modulus_len()];
                pair.sign(&RSA_PKCS1_SHA256, &rng, message, &mut signature).unwrap();
                signature
            }
            Pair::Ec(pair) => pair.sign(&rng, message).unwrap().as_ref().to_vec(),
            Pair::Ed(pair) => pair.sign(message).as_ref().to_vec(),
        }
    }

    fn jwk(&self, id: &str) -> Value {
        let mut jwk = match self {
            Pair::Rsa(pair) => json!({"kty": "RSA", "alg": "RS256",
                "n": b64(components(pair).n),
                "e": b64(components(pair).e)}),
            Pair::Ec(pair) => {
                let point = pair.public_key().as_ref();
                json!({"kty": "EC", "crv": "P-256", "x": b64(&point[1..33]), "y": b64(&point[33..])})
            }
            Pair::Ed(pair) => json!({"kty": "OKP", "crv": "Ed25519", "x": b64(pair.public_key().as_ref())}),
        };
        (jwk["kid"], jwk["use"]) = (id.into(), "sig".into());
        jwk
    }
}

fn components(pair: &RsaKeyPair) -> RsaPublicKeyComponents<Vec<u8>> {
    pair.public().into()
}

fn signed(pair: &Pair, header: Value, claims: &Value) -> String {
    let message = format!("{}.{}", b64(header.to_string()), b64(claims.to_string()));
    format!("{message}.{}", b64(pair.sign(message.as_bytes())))
}

/// An issuer on a port of its own: its documents can be changed, and their fetches are counted.
struct Issuer {
    url: String,
    keys: Arc<Mutex<Option<Value>>>,
    fetched: Arc<AtomicUsize>,
}

impl Issuer {
    async fn start(keys: Value) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let (keys, fetched) = (Arc::new(Mutex::new(Some(keys))), Arc::new(AtomicUsize::new(0)));
        let issuer = Issuer { url: url.clone(), keys: keys.clone(), fetched: fetched.clone() };
        tokio::spawn(async move {
            while let Ok((mut stream, _)) = listener.accept().await {
                let mut head = Vec::new();
                while !head.ends_with(b"\r\n\r\n") {
                    head.push(stream.read_u8().await.unwrap());
                }
                let body = match &*keys.lock().unwrap() {
                    None => None,
                    Some(_) if head.starts_with(b"GET /.well-known/openid-configuration ") => {
                        Some(json!({"issuer": url, "jwks_uri": format!("{url}/keys")}))
                    }
                    Some(keys) => {
                        fetched.fetch_add(1, Ordering::SeqCst);
                        Some(keys.clone())
                    }
                };
                let (status, body) =
                    body.map_or(("503 Away", String::new()), |body| ("200 OK", body.to_string()));
                let answer = format!(
                    "HTTP/1.1 {status}\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{body}",
                    body.len()
                );
                stream.write_all(answer.as_bytes()).await.unwrap();
            }
        });
        issuer
    }

    fn settings(&self) -> Settings {
        Settings {
            issuer: self.url.clone(),
            audience: vec!["lochan".into()],
            algorithms: ["RS256", "ES256", "EdDSA"].map(str::to_owned).to_vec(),
            jwks_uri: None,
            principal_claim: "sub".into(),
            roles_claim: "realm_access.roles".into(),
            clock_skew: Duration::from_secs(10),
            allow_http: false,
        }
    }

    fn bearer(&self) -> Bearer {
        Bearer::new(Tokens::default(), Some(Oidc::new(&self.settings()).unwrap()))
    }

    fn claims(&self) -> Value {
        let now = jsonwebtoken::get_current_timestamp();
        json!({"iss": self.url, "aud": ["other", "lochan"], "sub": "ann", "exp": now + 60, "nbf": now - 5,
            "realm_access": {"roles": ["writer", "reader"]}})
    }

    fn set_keys(&self, keys: Option<Value>) {
        *self.keys.lock().unwrap() = keys;
    }
}

fn with(claims: &Value, name: &str, value: Value) -> Value {
    let mut claims = claims.clone();
    match value {
        Value::Null => drop(claims.as_object_mut().unwrap().remove(name)),
        value => claims[name] = value,
    }
    claims
}

async fn refusal(bearer: &Bearer, token: &str) -> Reason {
    match bearer.authenticate(token).await {
        Err(Unknown::Refused(reason)) => reason,
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn tokens_of_every_kind_of_key_are_known_and_tell_name_and_roles() {
    let pairs = [("RS256", Pair::rsa()), ("ES256", Pair::ec()), ("EdDSA", Pair::ed())];
    let keys: Vec<Value> = pairs.iter().map(|(id, pair)| pair.jwk(id)).collect();
    let issuer = Issuer::start(json!({"keys": keys})).await;
    let bearer = issuer.bearer();
    let ann = Identity { name: "ann".into(), roles: vec!["writer".into(), "reader".into()] };
    for (name, pair) in &pairs {
        for header in [json!({"alg": name, "kid": name}), json!({"alg": name, "typ": "at+jwt"})] {
            let token = signed(pair, header, &issuer.claims());
            // The second time it is remembered.
            for _ in 0..2 {
                assert_eq!(*bearer.authenticate(&token).await.unwrap(), ann, "{name}");
            }
        }
    }
    assert_eq!(issuer.fetched.load(Ordering::SeqCst), 1);
}

#[tokio::test]
async fn what_is_wrong_with_a_token_is_told_and_nothing_else_is_taken() {
    let (rsa, ec) = (Pair::rsa(), Pair::ec());
    let issuer = Issuer::start(json!({"keys": [rsa.jwk("r"), ec.jwk("e")]})).await;
    let bearer = issuer.bearer();
    let (good, now) = (issuer.claims(), jsonwebtoken::get_current_timestamp());
    let header = json!({"alg": "ES256", "kid": "e"});
    for (claim, value, reason) in [
        ("iss", json!("http://127.0.0.1:1"), Reason::Issuer),
        ("iss", json!([issuer.url, "x"]), Reason::Issuer),
        ("iss", Value::Null, Reason::Claims),
        ("aud", json!("other"), Reason::Audience),
        ("aud", json!(["other"]), Reason::Audience),
        ("aud", Value::Null, Reason::Claims),
        ("exp", json!(now - 11), Reason::Expired),
        ("exp", json!("never"), Reason::Claims),
        ("exp", Value::Null, Reason::Claims),
        ("nbf", json!(now + 30), Reason::NotYet),
        ("nbf", json!("soon"), Reason::Claims),
        ("sub", Value::Null, Reason::Claims),
        ("sub", json!(7), Reason::Claims),
        ("sub", json!(""), Reason::Claims),
        ("sub", json!("a\nb"), Reason::Claims),
        ("sub", json!("x".repeat(257)), Reason::Claims),
        ("realm_access", json!({"roles": [1]}), Reason::Claims),
        ("realm_access", json!({"roles": vec!["r"; 257]}), Reason::Claims),
    ] {
        let token = signed(&ec, header.clone(), &with(&good, claim, value.clone()));
        assert_eq!(refusal(&bearer, &token).await, reason, "{claim} {value}");
    }
    // Within the skew, and without what need not be there.
    for (claim, value) in [
        ("exp", json!(now - 5)),
        ("nbf", json!(now + 5)),
        ("nbf", Value::Null),
        ("realm_access", Value::Null),
    ] {
        let token = signed(&ec, header.clone(), &with(&good, claim, value));
        assert!(bearer.authenticate(&token).await.is_ok(), "{claim}");
    }

    let token = signed(&ec, header.clone(), &good);
    let (message, signature) = token.rsplit_once('.').unwrap();
    let other = signed(&ec, header.clone(), &with(&good, "sub", json!("bob")));
    let (other, _) = other.rsplit_once('.').unwrap();
    assert_eq!(refusal(&bearer, &format!("{other}.{signature}")).await, Reason::Signature);
    assert_eq!(refusal(&bearer, &format!("{message}.")).await, Reason::Signature);
    assert_eq!(refusal(&bearer, &signed(&Pair::ec(), header.clone(), &good)).await, Reason::Signature);
    // The key of one algorithm on a token of another.
    assert_eq!(
        refusal(&bearer, &signed(&ec, json!({"alg": "RS256", "kid": "r"}), &good)).await,
        Reason::Signature
    );
    assert_eq!(refusal(&bearer, &signed(&ec, json!({"alg": "RS256", "kid": "e"}), &good)).await, Reason::Key);
    assert_eq!(refusal(&bearer, &signed(&ec, json!({"alg": "EdDSA", "kid": "e"}), &good)).await, Reason::Key);
    for none in ["none", "None", "NONE", "HS257"] {
        let message = format!("{}.{}", b64(json!({"alg": none}).to_string()), b64(good.to_string()));
        assert_eq!(refusal(&bearer, &format!("{message}.")).await, Reason::Algorithm, "{none}");
    }
    // A public key taken for a shared secret: as its document, and as its modulus.
    let Pair::Rsa(pair) = &rsa else { unreachable!() };
    let modulus = components(pair).n;
    for secret in [rsa.jwk("r").to_string().into_bytes(), modulus] {
        let message =
            format!("{}.{}", b64(json!({"alg": "HS256", "kid": "r"}).to_string()), b64(good.to_string()));
        let tag =
            ring::hmac::sign(&ring::hmac::Key::new(ring::hmac::HMAC_SHA256, &secret), message.as_bytes());
        assert_eq!(refusal(&bearer, &format!("{message}.{}", b64(tag))).await, Reason::Algorithm);
    }
    // Configured for one algorithm, the others are none.
    let only = Settings { algorithms: vec!["RS256".into()], ..issuer.settings() };
    let only = Bearer::new(Tokens::default(), Some(Oidc::new(&only).unwrap()));
    assert_eq!(refusal(&only, &token).await, Reason::Algorithm);

    for malformed in
        ["x", "a.b", "a.b.c", "...", "a.b.c.d", "e30.e30.e30", &format!("{token}.x"), &format!(".{token}")]
    {
        assert_eq!(refusal(&bearer, malformed).await, Reason::Malformed, "{malformed}");
    }
    let crit = signed(&ec, json!({"alg": "ES256", "kid": "e", "crit": ["b64"], "b64": false}), &good);
    assert_eq!(refusal(&bearer, &crit).await, Reason::Malformed);
    let huge = signed(&ec, header, &with(&good, "pad", json!("x".repeat(16 * 1024))));
    assert_eq!(refusal(&bearer, &huge).await, Reason::TooLong);
}

#[tokio::test]
async fn secrets_and_keys_for_encryption_are_no_keys() {
    let ec = Pair::ec();
    let mut enc = ec.jwk("e");
    enc["use"] = "enc".into();
    let secret = json!({"kty": "oct", "k": b64("secret"), "alg": "HS256", "kid": "e", "use": "sig"});
    let issuer = Issuer::start(json!({"keys": [enc, secret, {"kty": "XYZ"}, 7, ec.jwk("other")]})).await;
    let token = signed(&ec, json!({"alg": "ES256", "kid": "e"}), &issuer.claims());
    assert_eq!(refusal(&issuer.bearer(), &token).await, Reason::Key);
}

#[tokio::test]
async fn new_keys_are_fetched_when_a_token_names_one_but_not_too_often() {
    let (first, second) = (Pair::ec(), Pair::ec());
    let issuer = Issuer::start(json!({"keys": [first.jwk("1")]})).await;
    let bearer = issuer.bearer();
    let of = |pair: &Pair, id: &str| signed(pair, json!({"alg": "ES256", "kid": id}), &issuer.claims());
    let fetches = || issuer.fetched.load(Ordering::SeqCst);
    assert!(bearer.authenticate(&of(&first, "1")).await.is_ok());
    issuer.set_keys(Some(json!({"keys": [second.jwk("2")]})));
    for n in 0..20 {
        assert_eq!(refusal(&bearer, &of(&second, &format!("unknown-{n}"))).await, Reason::Key);
    }
    assert_eq!(fetches(), 1, "strangers make nobody fetch within the interval");
    tokio::time::pause();
    tokio::time::advance(FETCH_INTERVAL_MIN).await;
    tokio::time::resume();
    let (a, b) = (of(&second, "2"), of(&second, "2"));
    let both = tokio::join!(bearer.authenticate(&a), bearer.authenticate(&b));
    assert!(both.0.is_ok() && both.1.is_ok());
    assert_eq!(fetches(), 2, "those who wait share one fetch");
    // The key that is gone takes its tokens along, remembered or not.
    assert_eq!(refusal(&bearer, &of(&first, "1")).await, Reason::Key);
}

#[tokio::test]
async fn keys_are_kept_while_the_issuer_is_away_but_not_for_ever() {
    let pair = Pair::ec();
    let keys = json!({"keys": [pair.jwk("1")]});
    let issuer = Issuer::start(keys.clone()).await;
    let bearer = issuer.bearer();
    let token = signed(&pair, json!({"alg": "ES256", "kid": "1"}), &issuer.claims());
    let undecided = |answer| matches!(answer, Err(Unknown::Undecided { retry_after }) if retry_after == FETCH_INTERVAL_MIN);
    let pass = async |time: Duration| {
        tokio::time::pause();
        tokio::time::advance(time).await;
        tokio::time::resume();
    };
    issuer.set_keys(None);
    assert!(undecided(bearer.authenticate(&token).await), "nothing is known yet");
    issuer.set_keys(Some(keys.clone()));
    assert!(undecided(bearer.authenticate(&token).await), "and is not asked for again at once");
    pass(FETCH_INTERVAL_MIN).await;
    assert!(bearer.authenticate(&token).await.is_ok());
    issuer.set_keys(None);
    for _ in 0..3 {
        pass(AGE_MAX + Duration::from_secs(1)).await;
        assert!(bearer.authenticate(&token).await.is_ok());
    }
    pass(STALE_MAX).await;
    assert!(undecided(bearer.authenticate(&token).await));
    issuer.set_keys(Some(keys));
    pass(FETCH_INTERVAL_MIN).await;
    assert!(bearer.authenticate(&token).await.is_ok());
}

#[tokio::test]
async fn a_discovery_document_of_another_issuer_is_not_followed() {
    let pair = Pair::ec();
    let issuer = Issuer::start(json!({"keys": [pair.jwk("1")]})).await;
    let claims = with(&issuer.claims(), "iss", json!(format!("{}/", issuer.url)));
    let settings = Settings { issuer: format!("{}/", issuer.url), ..issuer.settings() };
    let token = signed(&pair, json!({"alg": "ES256"}), &claims);
    let bearer = Bearer::new(Tokens::default(), Some(Oidc::new(&settings).unwrap()));
    assert!(matches!(bearer.authenticate(&token).await, Err(Unknown::Undecided { .. })));
    // With the place of the keys pinned, nothing else is asked.
    let settings = Settings { jwks_uri: Some(format!("{}/keys", issuer.url)), ..settings };
    let bearer = Bearer::new(Tokens::default(), Some(Oidc::new(&settings).unwrap()));
    assert!(bearer.authenticate(&token).await.is_ok());
}

#[test]
fn settings_that_would_make_tokens_worthless_are_refused() {
    let good = Settings {
        issuer: "https://issuer.example/realm".into(),
        audience: vec!["lochan".into()],
        algorithms: vec!["RS256".into()],
        jwks_uri: None,
        principal_claim: "sub".into(),
        roles_claim: "roles".into(),
        clock_skew: Duration::from_secs(30),
        allow_http: false,
    };
    good.check().unwrap();
    let issuer = |url: &str| Settings { issuer: url.into(), ..good.clone() };
    for (bad, error) in [
        (Settings { audience: Vec::new(), ..good.clone() }, SettingsError::NoAudience),
        (Settings { algorithms: Vec::new(), ..good.clone() }, SettingsError::NoAlgorithm),
        (
            Settings { algorithms: vec!["HS256".into()], ..good.clone() },
            SettingsError::Algorithm("HS256".into()),
        ),
        (
            Settings { algorithms: vec!["none".into()], ..good.clone() },
            SettingsError::Algorithm("none".into()),
        ),
        (Settings { clock_skew: Duration::from_secs(301), ..good.clone() }, SettingsError::Skew),
        (Settings { principal_claim: String::new(), ..good.clone() }, SettingsError::NoClaim),
        (issuer("issuer"), SettingsError::Url("issuer".into())),
        (issuer("ftp://issuer.example"), SettingsError::Url("ftp://issuer.example".into())),
        (issuer("https://a:b@issuer.example"), SettingsError::Url("https://a:b@issuer.example".into())),
        (issuer("http://issuer.example"), SettingsError::PlainHttp("http://issuer.example".into())),
    ] {
        assert_eq!(bad.check(), Err(error));
    }
    Settings { allow_http: true, ..issuer("http://issuer.example") }.check().unwrap();
    issuer("http://localhost:1").check().unwrap();
}
