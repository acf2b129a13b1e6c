//! Completion scripts in the shells that they are for.

use std::process::Command;

use crate::stub::Stub;
use crate::world::*;

/// What the bash script offers for a command line with the cursor at its end.
fn bash(line: &str, endpoint: &str) -> Vec<String> {
    let words = "COMP_WORDS=($COMP_LINE); [[ $COMP_LINE == *' ' ]] && COMP_WORDS+=('');";
    let script = format!(
        "compopt() {{ echo files; }}; source <(lochan completions bash); COMP_LINE=$1; COMP_POINT=${{#1}}; {words}
         COMP_CWORD=$((${{#COMP_WORDS[@]}} - 1)); _lochan; [[ $COMPREPLY ]] && printf '%s\\n' \"${{COMPREPLY[@]}}\"; true"
    );
    let binary = std::path::Path::new(env!("CARGO_BIN_EXE_lochan"));
    let path = format!("{}:{}", binary.parent().unwrap().display(), std::env::var("PATH").unwrap());
    let output = Command::new("bash")
        .args(["-c", &script, "bash", line])
        .env("PATH", path)
        .env("LOCHAN_ENDPOINT", endpoint)
        .env("HOME", "/nonexistent")
        .env_remove("XDG_CONFIG_HOME")
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap().lines().map(str::to_owned).collect()
}

#[test]
fn bash_offers_what_the_server_knows() {
    let stub = Stub::start(vec![config(), references()]);
    assert_eq!(bash("lochan merge dev into ", &stub.url), ["dev", "main", "v1"]);
    assert_eq!(bash("lochan merge dev --mode D", &stub.url), ["DROP"]);
    assert_eq!(bash("lochan export re", &stub.url), ["files"]);
    assert_eq!(bash("lochan --json lo", &stub.url), ["log"]);
}

#[test]
fn an_option_on_the_line_names_the_server() {
    let stub = Stub::start(vec![config(), references()]);
    let nobody = "http://127.0.0.1:1/";
    assert_eq!(bash("lochan log ", nobody), Vec::<String>::new());
    assert_eq!(bash(&format!("lochan log --endpoint {} m", stub.url), nobody), ["main"]);
    assert_eq!(bash("lochan log --token-file ", nobody), ["files"]);
}
