//! Where the server's address comes from, and what the file may say.

use insta::assert_snapshot;

use crate::stub::Stub;
use crate::world::{config, run_with};

fn with_file(text: &str, line: &str) -> crate::world::Ran {
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir(folder.path().join("lochan")).unwrap();
    std::fs::write(folder.path().join("lochan/config.toml"), text).unwrap();
    let home = folder.path().to_str().unwrap().to_owned();
    let mut ran = run_with(&[("XDG_CONFIG_HOME", &home)], "", line);
    ran.stderr = ran.stderr.replace(&home, "HOME");
    ran
}

#[test]
fn the_nearest_word_wins() {
    let endpoint = |ran: crate::world::Ran| ran.json()["endpoint"].as_str().unwrap().to_owned();
    assert_eq!(endpoint(run_with(&[], "", "lochan config --json")), "http://127.0.0.1:19120");
    let file = "endpoint = 'https://lake.example/nessie/api/v2/'\ntoken = 'secret'\ntimeout_s = 5";
    let ran = with_file(file, "lochan config --json");
    assert!(!ran.stdout.contains("secret"));
    assert_eq!(ran.json()["timeoutS"], 5);
    assert_eq!(endpoint(ran), "https://lake.example/nessie");
    let vars = [("LOCHAN_ENDPOINT", "http://a:1/api/v2")];
    assert_eq!(endpoint(run_with(&vars, "", "lochan config --json")), "http://a:1");
    assert_eq!(endpoint(run_with(&vars, "", "lochan config --json --endpoint http://b:2/")), "http://b:2");
}

#[test]
fn a_token_goes_with_every_call() {
    let stub = Stub::start(vec![config()]);
    let vars = [("LOCHAN_ENDPOINT", stub.url.as_str()), ("LOCHAN_TOKEN", "s3cret")];
    let ran = run_with(&vars, "", "lochan remote show");
    assert_eq!(ran.code, 0, "{}", ran.all());
    let mut headers = stub.headers();
    headers.sort();
    assert_eq!(headers, ["authorization: Bearer s3cret", "nessie-client-spec: 2"]);
    let ran =
        run_with(&[("LOCHAN_ENDPOINT", &stub.url), ("LOCHAN_TOKEN", "two\nlines")], "", "lochan remote show");
    assert_eq!(ran.code, 2, "{}", ran.all());
}

#[test]
fn wrong_settings_are_named() {
    assert_snapshot!(with_file("endpiont = 'http://a'", "lochan config").all(), @r#"
    ---- stderr
    error: HOME/lochan/config.toml: unknown key 'endpiont', did you mean 'endpoint'?
    ---- exit 2
    "#);
    assert_snapshot!(with_file("timeout_s = 0", "lochan branch").all(), @r#"
    ---- stderr
    error: HOME/lochan/config.toml: 'timeout_s' must be a number from 1 to 86400
    ---- exit 2
    "#);
    assert_snapshot!(run_with(&[("LOCHAN_ENDPOINT", "localhost:19120")], "", "lochan branch").all(), @r#"
    ---- stderr
    error: the endpoint 'localhost:19120' must begin with http:// or https://
    hint: an endpoint is the server's root, such as http://127.0.0.1:19120/
    ---- exit 2
    "#);
    assert_eq!(with_file("endpoint = 'http://a'\n[", "lochan branch").code, 2);
    let no_file = [("LOCHAN_TOKEN_FILE", "/nonexistent/token")];
    assert_eq!(run_with(&no_file, "", "lochan branch").code, 2);
    let ran = run_with(&no_file, "", "lochan config");
    assert!(ran.code == 0 && ran.stdout.contains("cannot use /nonexistent/token"), "{}", ran.all());
    assert_eq!(run_with(&[], "", "lochan branch --config /nonexistent.toml").code, 2);
}

#[test]
fn tokens_come_from_options_and_files_and_are_never_shown() {
    let stub = Stub::start(vec![config()]);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("token");
    std::fs::write(&path, "from-file\n").unwrap();
    let vars = [("LOCHAN_ENDPOINT", stub.url.as_str()), ("LOCHAN_TOKEN", "from-environment")];
    let said: Vec<String> = [
        format!("lochan remote show --token-file {}", path.display()),
        "lochan --token from-option remote show".to_owned(),
        "lochan --auth-token old-name remote show".to_owned(),
        "lochan remote show".to_owned(),
        "lochan config --token from-option".to_owned(),
        "lochan config --json".to_owned(),
    ]
    .iter()
    .map(|line| run_with(&vars, "", line))
    .inspect(|ran| assert_eq!(ran.code, 0, "{}", ran.all()))
    .map(|ran| ran.all())
    .collect();
    let sent: Vec<String> = stub.headers().into_iter().filter(|header| header.starts_with("auth")).collect();
    let bearer = |token: &str| format!("authorization: Bearer {token}");
    assert_eq!(sent, ["from-file", "from-option", "old-name", "from-environment"].map(bearer));
    for text in said {
        assert!(!text.contains("from-") && !text.contains("old-name"), "{text}");
    }
}

#[test]
fn a_client_fetches_its_token() {
    let stub = Stub::start(vec![
        config(),
        (
            "POST /token",
            200,
            r#"{"access_token": "granted", "token_type": "Bearer", "expires_in": 300}"#.to_owned(),
        ),
    ]);
    let token_endpoint = format!("{}token", stub.url);
    let vars = [
        ("LOCHAN_ENDPOINT", stub.url.as_str()),
        ("LOCHAN_OAUTH2_TOKEN_ENDPOINT", token_endpoint.as_str()),
        ("LOCHAN_OAUTH2_CLIENT_ID", "me"),
        ("LOCHAN_OAUTH2_CLIENT_SECRET", "hush"),
        ("LOCHAN_OAUTH2_SCOPE", "catalog"),
    ];
    let ran = run_with(&vars, "remote show; remote show", "lochan sh");
    assert_eq!(ran.code, 0, "{}", ran.all());
    assert_eq!(
        stub.bodies("POST /token"),
        ["grant_type=client_credentials&scope=catalog"],
        "one token for both"
    );
    let headers = stub.headers();
    assert_eq!(
        headers.iter().filter(|header| *header == "authorization: Bearer granted").count(),
        2,
        "{headers:?}"
    );
    assert!(headers.contains(&"authorization: Basic bWU6aHVzaA==".to_owned()), "{headers:?}");
    assert!(!run_with(&vars, "", "lochan config").all().contains("hush"));

    let denying = Stub::start(vec![("POST /token", 401, r#"{"error": "invalid_client"}"#.to_owned())]);
    let token_endpoint = format!("{}token", denying.url);
    let vars: Vec<_> = vars
        .into_iter()
        .map(|(name, value)| (name, if name.ends_with("ENDPOINT") { token_endpoint.as_str() } else { value }))
        .collect();
    let ran = run_with(&vars, "", "lochan remote show");
    assert!(ran.code == 4 && ran.stderr.contains("gives no token: invalid_client"), "{}", ran.all());
    let gone = Stub::start(vec![("POST /token", 0, String::new())]);
    let ill = Stub::start(vec![("POST /token", 503, String::new())]);
    for provider in [gone, ill] {
        let token_endpoint = format!("{}token", provider.url);
        let vars: Vec<_> = vars
            .iter()
            .map(|(name, value)| {
                (*name, if name.ends_with("ENDPOINT") { token_endpoint.as_str() } else { value })
            })
            .collect();
        let ran = run_with(&vars, "", "lochan remote show");
        assert!(ran.code == 5 && ran.stderr.contains("gives no token"), "{}", ran.all());
    }
    let vars = [("LOCHAN_OAUTH2_TOKEN_ENDPOINT", "http://h/token")];
    for asking in ["lochan log", "lochan remote show"] {
        let ran = run_with(&vars, "", asking);
        assert!(ran.code == 2 && ran.stderr.contains("LOCHAN_OAUTH2_CLIENT_SECRET"), "{}", ran.all());
    }
    // Whoever looks what is missing is told.
    let ran = run_with(&vars, "", "lochan config");
    assert!(ran.code == 0 && ran.stdout.contains("LOCHAN_OAUTH2_CLIENT_SECRET"), "{}", ran.all());
    let ran = run_with(&vars, "", "lochan config --json");
    assert!(ran.code == 0 && ran.stdout.contains("\"unusable\": ["), "{}", ran.all());
}

#[test]
fn the_file_is_changed_key_by_key() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("config.toml");
    std::fs::write(&path, "# ours\nendpoint = 'http://a' # the old one\n").unwrap();
    let place = path.to_str().unwrap().to_owned();
    let change = |line: &str| {
        let words = line.split(' ').map(Into::into).collect();
        crate::world::run_words(&[("LOCHAN_CONFIG", &place)], "", words)
    };
    assert_eq!(change("lochan remote add http://b:1/api/v1").code, 0);
    assert_eq!(change("lochan remote set-head dev").code, 0);
    assert_eq!(change("lochan config --add timeout_s 7").code, 0);
    let ran = change("lochan config --set token hush");
    assert!(ran.code == 0 && !ran.all().contains("hush"), "{}", ran.all());
    let expected = "# ours\nendpoint = \"http://b:1/\" # the old one\ndefault_branch = \"dev\"\ntimeout_s = 7\n\
                    token = \"hush\"\n";
    assert_eq!(std::fs::read_to_string(&path).unwrap(), expected);
    assert_eq!(change("lochan config --get timeout_s").stdout, "7\n");
    assert_eq!(change("lochan config token").stdout, "(secret)\n");
    assert_eq!(change("lochan config --get timeout_s --type int").stdout, "7\n");
    assert_eq!(change("lochan remote set-head -d").code, 0);
    assert_eq!(change("lochan config --unset token").code, 0);
    // What belongs together may come one by one, in any order.
    for key in ["oauth2_token_endpoint", "oauth2_client_id", "oauth2_client_secret"] {
        assert_eq!(change(&format!("lochan config --set {key} http://x")).code, 0);
    }
    let ran = change("lochan config");
    assert!(ran.code == 0 && ran.stdout.contains("for http://x of http://x"), "{}", ran.all());
    for key in ["oauth2_client_secret", "oauth2_client_id", "oauth2_token_endpoint"] {
        assert_eq!(change(&format!("lochan config --unset {key}")).code, 0);
    }
    assert_eq!(change("lochan config default_branch").code, 3);
    assert_eq!(change("lochan config --set endpiont x").code, 2);
    assert_eq!(change("lochan config --set timeout_s never").code, 2);
    assert_eq!(change("lochan remote add nowhere").code, 2);
    let vars = [("LOCHAN_CONFIG", place.as_str()), ("LOCHAN_ENDPOINT", "http://c:1")];
    let ran = run_with(&vars, "", "lochan remote add http://b:1/");
    assert!(ran.stdout.contains("As long as LOCHAN_ENDPOINT is set, it wins"), "{}", ran.all());
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    }
    std::fs::write(&path, "token = 'hush'\nnot toml hush").unwrap();
    let ran = change("lochan config");
    assert!(ran.code == 2 && !ran.all().contains("hush"), "{}", ran.all());
}

#[test]
fn the_default_branch_is_meant_where_none_is_named() {
    use crate::world::*;
    let stub = Stub::start(vec![
        references(),
        ("GET /api/v2/trees/dev/history", 200, log(vec![meta("b2", 10, "ann", "Add")], false)),
    ]);
    let vars = [("LOCHAN_ENDPOINT", stub.url.as_str()), ("LOCHAN_DEFAULT_BRANCH", "dev")];
    assert!(run_with(&vars, "", "lochan log --oneline").stdout.contains("Add"));
    let vars = [("LOCHAN_DEFAULT_BRANCH", "not a branch")];
    assert_eq!(run_with(&vars, "", "lochan branch").code, 2);
    assert!(run_with(&vars, "", "lochan config").stdout.contains("Not usable:"), "it shows what is wrong");
}
