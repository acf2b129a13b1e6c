//! The shell and the pager on a terminal.

use std::fs::{File, OpenOptions};
use std::io::{Read, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::process::{Child, Command};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{Winsize, tcsetwinsize};

use serde_json::json;

use crate::stub::{NEVER, Stub};
use crate::world::*;

/// How long a program may take to say something, in seconds.
const WAIT_S_MAX: u64 = 60;

/// A program on a terminal of 24 lines of 80 columns.
struct Terminal {
    keyboard: File,
    screen: Receiver<Vec<u8>>,
    seen: String,
    child: Child,
}

impl Terminal {
    fn start(command: &mut Command) -> Self {
        let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
        grantpt(&master).unwrap();
        unlockpt(&master).unwrap();
        tcsetwinsize(&master, Winsize { ws_row: 24, ws_col: 80, ws_xpixel: 0, ws_ypixel: 0 }).unwrap();
        let name = ptsname(&master, Vec::new()).unwrap();
        let noctty = i32::try_from(OpenptFlags::NOCTTY.bits()).unwrap();
        let slave = OpenOptions::new()
            .read(true)
            .write(true)
            .custom_flags(noctty)
            .open(name.to_str().unwrap())
            .unwrap();
        let child = command
            .env("TERM", "xterm")
            .stdin(slave.try_clone().unwrap())
            .stdout(slave.try_clone().unwrap())
            .stderr(slave)
            .spawn()
            .unwrap();
        let keyboard = File::from(master);
        let mut reader = keyboard.try_clone().unwrap();
        let (sender, screen) = channel();
        std::thread::spawn(move || {
            let mut buffer = [0; 4096];
            while let Ok(length @ 1..) = reader.read(&mut buffer) {
                if sender.send(buffer[..length].to_vec()).is_err() {
                    return;
                }
            }
        });
        Self { keyboard, screen, seen: String::new(), child }
    }

    /// Waits until a text was shown behind all that was waited for before.
    fn wait(&mut self, text: &str) {
        let end = Instant::now() + Duration::from_secs(WAIT_S_MAX);
        loop {
            if let Some(at) = self.seen.find(text) {
                self.seen.drain(..at + text.len());
                return;
            }
            let left = end.saturating_duration_since(Instant::now());
            match self.screen.recv_timeout(left) {
                Ok(bytes) => self.seen.push_str(&String::from_utf8_lossy(&bytes)),
                Err(_) => panic!("'{text}' does not come: {:?}", self.seen),
            }
        }
    }

    fn type_in(&mut self, keys: &str) {
        self.keyboard.write_all(keys.as_bytes()).unwrap();
    }

    /// What Ctrl-C does while the terminal is not read key by key.
    fn interrupt(&self) {
        let child = rustix::process::Pid::from_child(&self.child);
        rustix::process::kill_process(child, rustix::process::Signal::INT).unwrap();
    }

    /// Waits for the end; what was shown last.
    fn end(mut self) -> (i32, String) {
        let code = self.child.wait().unwrap().code().unwrap();
        while let Ok(bytes) = self.screen.recv_timeout(Duration::from_millis(200)) {
            self.seen.push_str(&String::from_utf8_lossy(&bytes));
        }
        (code, self.seen)
    }
}

fn lochan(stub: &Stub, home: &std::path::Path) -> Command {
    let mut command = Command::new(assert_cmd::cargo::cargo_bin("lochan"));
    command.env_clear().env("HOME", home).env("LOCHAN_ENDPOINT", &stub.url).env("PAGER", "cat");
    command
}

fn stub() -> Stub {
    Stub::start(vec![
        config(),
        references(),
        ("GET /api/v2/trees/-", 200, single(branch("main", "c3"))),
        ("GET /api/v2/trees/main", 200, single(branch("main", "c3"))),
        ("GET /api/v2/trees/dev", 200, single(branch("dev", "b2"))),
        ("GET /api/v2/trees/dev/history", 200, log(vec![meta("b2", 10, "ann", "Add a table")], false)),
    ])
}

#[test]
fn lines_fit_into_the_terminal() {
    let branch_at = |name: &str| {
        serde_json::json!({ "type": "BRANCH", "name": name, "hash": hash("b2"), "metadata": {
            "numCommitsAhead": 3, "numCommitsBehind": 12,
            "commitMetaOfHEAD": meta("b2", 10, "ann", "Create the tables of the third quarter and fill them") } })
    };
    let listed = |names: &[&str]| {
        let references: Vec<_> = names.iter().map(|name| branch_at(name)).collect();
        let body = serde_json::json!({ "hasMore": false, "token": null, "references": references });
        Stub::start(vec![
            config(),
            ("GET /api/v2/trees", 200, body.to_string()),
            (
                "GET /api/v2/trees/-/history",
                200,
                log(vec![meta("b2", 10, "ann", "Create the tables and fill them")], false),
            ),
        ])
    };
    let long = format!("feature/{}", "x".repeat(60));
    for names in [
        &["dev", "main"][..],
        &["dev", &long],
        &["one-of-some", "two-of-some", "three-of-some", "four-of-some"],
    ] {
        let (stub, home) = (listed(names), tempfile::tempdir().unwrap());
        for words in [&["branch", "list", "-x", "--all"][..], &["log", "--oneline"]] {
            let (code, seen) = Terminal::start(lochan(&stub, home.path()).args(words)).end();
            assert_eq!(code, 0, "{seen}");
            for line in seen.lines() {
                let shown = anstream::adapter::strip_str(line).to_string();
                let width = shown.trim_end().chars().count();
                assert!(width <= 80 || shown.contains(&long), "{width} columns: {shown}");
            }
            assert!(seen.contains("Create"), "{seen}");
        }
    }
}

#[test]
fn the_shell_completes_runs_and_remembers() {
    let (stub, home) = (stub(), tempfile::tempdir().unwrap());
    let mut terminal = Terminal::start(lochan(&stub, home.path()).arg("sh"));
    terminal.wait("`help` lists what can be said");
    terminal.wait("lochan main> ");
    // The verb and the branch are completed.
    terminal.type_in("lo\t");
    terminal.wait("log ");
    terminal.type_in("d\t");
    terminal.wait("dev ");
    terminal.type_in("\r");
    terminal.wait("Add a table");
    terminal.wait("lochan main> ");
    terminal.type_in("USE BRANCH dev\r");
    terminal.wait("lochan dev> ");
    // Ctrl-C gives up a line, the key up brings the last statement back.
    terminal.type_in("nonsense\x03");
    terminal.wait("lochan dev> ");
    terminal.type_in("\x1b[A");
    terminal.wait("USE BRANCH dev");
    terminal.type_in("\x03");
    terminal.wait("lochan dev> ");
    // Quotes go on over lines; a failure does not end the shell.
    terminal.type_in("log 'two\r");
    terminal.type_in("lines'\r");
    terminal.wait("is no point");
    terminal.wait("lochan dev> ");
    // The middle of a statement asks for the rest, an empty line gives it up.
    terminal.type_in("SHOW LOG\r");
    terminal.wait("Add a table");
    terminal.type_in("USE BRANCH\r");
    terminal.type_in("main\r");
    terminal.wait("lochan main> ");
    terminal.type_in("USE BRANCH\r\r");
    terminal.wait("found the end");
    terminal.type_in("USE BRANCH dev\r");
    terminal.wait("lochan dev> ");
    terminal.type_in("CONNECT TO http://h USING token = x\r");
    terminal.wait("is not known here");
    terminal.wait("lochan dev> ");
    terminal.type_in("exit\r");
    let (code, _) = terminal.end();
    assert_eq!(code, 0);
    let history = std::fs::read_to_string(home.path().join(".local/state/lochan/history")).unwrap();
    assert!(history.contains("USE BRANCH dev") && !history.contains("token"), "{history}");
}

/// Ctrl-C ends the statement that runs, and the shell stands where it stood.
#[test]
fn what_is_given_up_does_not_end_the_shell() {
    let home = tempfile::tempdir().unwrap();
    let stub = Stub::start(vec![
        config(),
        references(),
        ("GET /api/v2/trees/-", 200, single(branch("main", "c3"))),
        ("GET /api/v2/trees/main", 200, single(branch("main", "c3"))),
        ("GET /api/v2/trees/dev", 200, single(branch("dev", "b2"))),
        ("GET /api/v2/trees/dev/history", NEVER, String::new()),
        ("POST /api/v2/trees", NEVER, String::new()),
    ]);
    let mut terminal = Terminal::start(lochan(&stub, home.path()).arg("sh"));
    let asked = |line: &str| {
        let begun = Instant::now();
        while !stub.requests().iter().any(|request| request.starts_with(line)) {
            assert!(begun.elapsed().as_secs() < WAIT_S_MAX, "nobody asks {line}");
            std::thread::yield_now();
        }
    };
    terminal.wait("lochan main> ");
    terminal.type_in("USE BRANCH dev\r");
    terminal.wait("lochan dev> ");
    terminal.type_in("log dev\r");
    asked("GET /api/v2/trees/dev/history");
    terminal.interrupt();
    terminal.wait("given up");
    terminal.wait("lochan dev> ");
    terminal.type_in("branch create other dev\r");
    asked("POST /api/v2/trees");
    terminal.interrupt();
    terminal.wait("it is not known whether the change was made");
    terminal.wait("lochan dev> ");
    terminal.type_in("exit\r");
    assert_eq!(terminal.end().0, 0);
}

#[test]
fn the_shell_ends_with_its_input() {
    let (stub, home) = (stub(), tempfile::tempdir().unwrap());
    let mut terminal = Terminal::start(lochan(&stub, home.path()).args(["sh", "-q", "-H"]));
    terminal.wait("lochan> ");
    terminal.type_in("\x04");
    assert_eq!(terminal.end().0, 0);
    assert!(!home.path().join(".local").exists());
}

#[test]
fn only_what_is_longer_than_the_screen_is_paged() {
    let home = tempfile::tempdir().unwrap();
    let commits = |n: u32| log((0..n).map(|minute| meta("b2", minute, "ann", "Add")).collect(), false);
    for (commits_shown, paged) in [(2, false), (20, true)] {
        let stub =
            Stub::start(vec![references(), ("GET /api/v2/trees/dev/history", 200, commits(commits_shown))]);
        let mut command = lochan(&stub, home.path());
        let terminal = Terminal::start(command.env("PAGER", "sed s/^/paged:/").args(["log", "dev"]));
        let (code, seen) = terminal.end();
        assert_eq!((code, seen.contains("paged:")), (0, paged), "{seen}");
        // On a terminal there are colours.
        assert!(seen.contains("\x1b[33m"), "{seen}");
    }
}

/// An editor that leaves this text, or the one it was given.
fn editor(home: &std::path::Path, text: &str) -> String {
    use std::os::unix::fs::PermissionsExt;
    let path = home.join("editor");
    let line = if text.is_empty() { String::new() } else { format!("printf %s '{text}' > \"$1\"\n") };
    std::fs::write(&path, format!("#!/bin/sh\n{line}")).unwrap();
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
    path.to_str().unwrap().to_owned()
}

#[test]
fn what_was_typed_in_an_editor_is_not_lost() {
    let held = json!({ "contents": [], "effectiveReference": branch("main", "c3") }).to_string();
    let table = table("9", "s3://b/t/m1.json", 7).to_string();
    for (text, code, said, kept) in [
        ("{ no content", 2, "the edited text is no content", 1),
        // Refused by the server.
        (table.as_str(), 1, "somebody else was faster", 1),
        ("", 2, "came back from the editor as they were", 0),
    ] {
        let (home, temporary) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let stub = Stub::start(vec![
            ("GET /api/v2/trees/main", 200, single(branch("main", "c3"))),
            ("POST /api/v2/trees/main", 200, held.clone()),
            ("POST /api/v2/trees/main", 409, error(409, "REFERENCE_CONFLICT", "Somebody else was faster")),
        ]);
        let mut command = lochan(&stub, home.path());
        command.env("EDITOR", editor(home.path(), text)).env("TMPDIR", temporary.path());
        let terminal = Terminal::start(command.args(["content", "commit", "-r", "main", "t"]));
        let (ended, seen) = terminal.end();
        assert!(ended == code && seen.contains(said), "{ended}: {seen}");
        let files: Vec<_> =
            std::fs::read_dir(temporary.path()).unwrap().map(|file| file.unwrap().path()).collect();
        assert_eq!(files.len(), kept, "{seen}");
        for file in files {
            assert!(seen.contains(&format!("`lochan content commit t --file {}`", file.display())), "{seen}");
            assert_eq!(std::fs::read_to_string(file).unwrap(), text);
        }
    }
}
