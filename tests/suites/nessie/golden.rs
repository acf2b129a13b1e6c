//! Recorded conversations, answer by answer: the files of `tests/suites/nessie_golden`.
//!
//! A step asks and says what is answered. Where the reference server answers something else, the step `differs`: it names
//! the line of the README that promises so, and what the reference server does; where it is followed against what one would
//! expect, the step is `alike`. In answers `${name}` stands for a value
//! that an earlier step has kept, `<hash>`, `<id>` and `<time>` for any of that shape, `<any>` for anything.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::PathBuf;

use serde::Deserialize;
use serde_json::{Map, Value};

use crate::harness::{EMPTY, Server};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Conversation {
    title: String,
    steps: Vec<Step>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Step {
    /// Method and target.
    ask: String,
    #[serde(default)]
    headers: BTreeMap<String, String>,
    body: Option<Value>,
    /// A body that is no JSON, in place of that.
    text: Option<String>,
    status: u16,
    /// The whole body; `null` for none. Without it the body is not looked at.
    #[serde(default, deserialize_with = "given")]
    answer: Option<Value>,
    /// Values to keep, by JSON pointer.
    #[serde(default)]
    keep: BTreeMap<String, String>,
    differs: Option<Differs>,
    /// How the line in the README begins that warns of it, where the reference server is followed against what one would
    /// expect.
    alike: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Differs {
    /// How the line in the README begins.
    line: String,
    /// What the reference server does.
    reference: String,
}

/// Keeps `null` apart from absence.
fn given<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<Option<Value>, D::Error> {
    Value::deserialize(deserializer).map(Some)
}

fn conversations() -> Vec<(String, Conversation)> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("suites/nessie_golden");
    let mut found: Vec<(String, Conversation)> = fs::read_dir(folder)
        .expect("the conversations lie there")
        .map(|entry| entry.expect("the folder can be listed").path())
        .map(|path| {
            let name = path.file_stem().expect("files have names").to_string_lossy().into_owned();
            let text = fs::read_to_string(&path).expect("a conversation can be read");
            (name.clone(), serde_json::from_str(&text).unwrap_or_else(|error| panic!("{name}: {error}")))
        })
        .collect();
    found.sort_by(|(one, _), (other, _)| one.cmp(other));
    assert!(found.len() >= 10, "conversations are missing");
    found
}

#[tokio::test]
async fn every_answer_is_the_recorded_one() {
    let mut wrong = Vec::new();
    for (name, conversation) in conversations() {
        let server = Server::start().await;
        let mut kept = BTreeMap::from([("empty".to_owned(), EMPTY.to_owned())]);
        for (number, step) in conversation.steps.into_iter().enumerate() {
            let place = format!("{name} ({}), step {}: {}", conversation.title, number + 1, step.ask);
            let (method, target) = step.ask.split_once(' ').expect("a method and a target");
            let has_body = step.body.is_some() || step.text.is_some();
            let headers: Vec<(&str, &str)> = step
                .headers
                .iter()
                .map(|(name, value)| (name.as_str(), value.as_str()))
                .chain(has_body.then_some(("content-type", "application/json")))
                .collect();
            let body =
                step.body.map(|body| filled(body, &kept).to_string()).or(step.text).unwrap_or_default();
            let answer = server.send(method, &fill(target, &kept), &headers, &body).await;
            if answer.status.as_u16() != step.status {
                wrong.push(format!(
                    "{place}\n  status {}, not {}: {}",
                    answer.status, step.status, answer.body
                ));
            }
            if let Some(expected) = step.answer {
                compare("", &filled(expected, &kept), &answer.body, &mut |problem| {
                    wrong.push(format!("{place}\n  {problem}"));
                });
            }
            for (name, pointer) in step.keep {
                match answer.body.pointer(&pointer).and_then(Value::as_str) {
                    Some(value) => _ = kept.insert(name, value.to_owned()),
                    None => wrong.push(format!("{place}\n  nothing at {pointer} of {}", answer.body)),
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Whoever compares both servers finds each difference in the README, and nothing there that no conversation shows.
#[test]
fn every_difference_is_promised_and_shown() {
    shows_each_line_below("On the Nessie API:", 10, |name, step| {
        let differs = step.differs?;
        assert!(!differs.reference.is_empty(), "{name}: say what the reference server does");
        Some(differs.line)
    });
}

#[test]
fn every_warning_is_shown() {
    shows_each_line_below("### Like Nessie, though one may expect otherwise", 3, |_, step| step.alike);
}

/// Reads the list below a line of the README. `line_of` tells how the line of it begins that a step shows.
fn shows_each_line_below(title: &str, more_than: usize, line_of: impl Fn(&str, Step) -> Option<String>) {
    let readme = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../README.md");
    let readme = fs::read_to_string(readme).expect("the README can be read");
    let lines: BTreeSet<&str> = readme
        .lines()
        .skip_while(|line| *line != title)
        .skip(2)
        .map_while(|line| line.strip_prefix("- "))
        .collect();
    assert!(lines.len() > more_than, "the list is not where it is looked for");
    let mut shown = BTreeSet::new();
    for (name, conversation) in conversations() {
        for begins in conversation.steps.into_iter().filter_map(|step| line_of(&name, step)) {
            let line = lines.iter().find(|line| line.starts_with(&begins));
            shown.insert(*line.unwrap_or_else(|| panic!("{name}: no line begins '{begins}'")));
        }
    }
    let unshown: Vec<_> = lines.difference(&shown).collect();
    assert!(unshown.is_empty(), "no conversation shows: {unshown:#?}");
}

/// Kept values put in.
fn fill(text: &str, kept: &BTreeMap<String, String>) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some((before, from)) = rest.split_once("${") {
        let (name, after) = from.split_once('}').expect("a name ends with a brace");
        out.push_str(before);
        // Where nothing is kept, an earlier step has failed and says so.
        out.push_str(kept.get(name).map_or("?", String::as_str));
        rest = after;
    }
    out + rest
}

fn filled(value: Value, kept: &BTreeMap<String, String>) -> Value {
    match value {
        Value::String(text) => Value::String(fill(&text, kept)),
        Value::Array(all) => all.into_iter().map(|one| filled(one, kept)).collect(),
        Value::Object(all) => {
            all.into_iter().map(|(name, one)| (name, filled(one, kept))).collect::<Map<_, _>>().into()
        }
        other => other,
    }
}

fn compare(at: &str, expected: &Value, found: &Value, problem: &mut dyn FnMut(String)) {
    match (expected, found) {
        (Value::String(shape), found) if shape.starts_with('<') => {
            if !has_shape(shape, found) {
                problem(format!("{at}: {found} is no {shape}"));
            }
        }
        (Value::Object(expected), Value::Object(found)) => {
            for name in expected.keys().chain(found.keys()).collect::<BTreeSet<_>>() {
                match (expected.get(name), found.get(name)) {
                    (Some(expected), Some(found)) => {
                        compare(&format!("{at}/{name}"), expected, found, problem)
                    }
                    (Some(expected), None) => problem(format!("{at}/{name}: missing, expected {expected}")),
                    (None, found) => {
                        problem(format!("{at}/{name}: not expected, found {}", found.unwrap_or(&Value::Null)))
                    }
                }
            }
        }
        (Value::Array(expected), Value::Array(found)) if expected.len() == found.len() => {
            for (place, (expected, found)) in expected.iter().zip(found).enumerate() {
                compare(&format!("{at}/{place}"), expected, found, problem);
            }
        }
        (expected, found) if expected == found => {}
        (expected, found) => problem(format!("{at}: expected {expected}, found {found}")),
    }
}

fn has_shape(shape: &str, found: &Value) -> bool {
    let Some(text) = found.as_str() else { return shape == "<any>" };
    let hexadecimal = |text: &str| text.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'));
    match shape {
        "<any>" => true,
        "<hash>" => text.len() == 64 && hexadecimal(text),
        "<id>" => text.split('-').map(str::len).eq([8, 4, 4, 4, 12]) && hexadecimal(&text.replace('-', "")),
        "<time>" => text.len() > 19 && text.ends_with('Z') && text.as_bytes()[10] == b'T',
        other => panic!("no such shape: {other}"),
    }
}
