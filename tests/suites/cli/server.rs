//! The program `lochan-server`: what it refuses, and what it says where nobody can hear it.

use std::process::{Command, Output, Stdio};

use crate::process::program;

/// Runs the program in a folder of its own.
fn run(words: &[&str], stdout: Stdio) -> (Option<i32>, String) {
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    let mut command = Command::new(program("lochan-server"));
    command.args(words).env_clear().current_dir(folder.path()).stdin(Stdio::null()).stdout(stdout);
    let Output { status, stderr, .. } = command.output().expect("the program can be started");
    (status.code(), String::from_utf8(stderr).expect("the program writes UTF-8"))
}

#[test]
fn an_address_that_cannot_be_served_is_not_shown_as_good() {
    for address in ["nonsense", "127.0.0.1", ":19120", "localhost:http", "http://127.0.0.1:19120"] {
        let [shown, served] =
            ["config", "serve"].map(|verb| run(&[verb, "--listen", address], Stdio::piped()));
        assert!(
            shown.0 == Some(1) && shown.1.contains("'server.listen' (flag: --listen) must be"),
            "{shown:?}"
        );
        assert_eq!(shown, served, "{address}");
    }
}

/// Nothing can be written to `/dev/full`.
#[test]
#[cfg(target_os = "linux")]
fn output_that_cannot_be_written_is_a_failure() {
    for words in [&["--help"][..], &["--version"], &["serve", "-h"], &["help", "fsck"], &["config"]] {
        let full = std::fs::OpenOptions::new().write(true).open("/dev/full").expect("Linux has it");
        let (code, said) = run(words, full.into());
        assert!(
            code == Some(1) && said.contains("cannot write to standard output"),
            "{words:?}: {code:?} {said}"
        );
    }
    assert_eq!(run(&["--help"], Stdio::null()), (Some(0), String::new()));
    assert_eq!(run(&["nonsense"], Stdio::null()).0, Some(2));
}
