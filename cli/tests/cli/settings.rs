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
    assert_snapshot!(with_file("timeout_s = 0", "lochan config").all(), @r#"
    ---- stderr
    error: HOME/lochan/config.toml: 'timeout_s' must be a number from 1 to 86400
    ---- exit 2
    "#);
    assert_snapshot!(run_with(&[("LOCHAN_ENDPOINT", "localhost:19120")], "", "lochan config").all(), @r#"
    ---- stderr
    error: the endpoint 'localhost:19120' must begin with http:// or https://
    hint: an endpoint is the server's root, such as http://127.0.0.1:19120/
    ---- exit 2
    "#);
    assert_eq!(with_file("endpoint = 'http://a'\n[", "lochan branch").code, 2);
    assert_eq!(run_with(&[("LOCHAN_TOKEN_FILE", "/nonexistent/token")], "", "lochan config").code, 2);
    assert_eq!(run_with(&[], "", "lochan config --config /nonexistent.toml").code, 2);
}
