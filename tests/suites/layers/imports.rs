//! The crates of the workspace against the table.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

use serde_json::Value;

use crate::root;
use crate::table::{Table, matches};

/// A crate of the workspace: what `cargo metadata` says of it that matters here.
struct Member {
    name: String,
    /// Names of the crates that it or its build script uses.
    imports: Vec<String>,
}

/// Every crate by its folder below the root.
fn crates() -> BTreeMap<String, Member> {
    let output = Command::new(env!("CARGO"))
        .args(["metadata", "--no-deps", "--format-version", "1", "--manifest-path"])
        .arg(root().join("Cargo.toml"))
        .output()
        .expect("the cargo that built this runs");
    assert!(output.status.success(), "cargo metadata: {}", String::from_utf8_lossy(&output.stderr));
    let metadata: Value = serde_json::from_slice(&output.stdout).expect("cargo prints JSON");
    list(&metadata, "packages").iter().map(|package| (folder(package), member(package))).collect()
}

fn folder(package: &Value) -> String {
    let folder = Path::new(text(package, "manifest_path")).parent().expect("a manifest lies in a folder");
    folder.strip_prefix(root()).expect("members lie below the root").display().to_string()
}

fn member(package: &Value) -> Member {
    // What only the tests of a crate use does not reach its users, and breaks no layer.
    let reaches_users = |dependency: &&Value| dependency.get("kind").and_then(Value::as_str) != Some("dev");
    let imports = list(package, "dependencies").iter().filter(reaches_users);
    Member {
        name: text(package, "name").to_owned(),
        imports: imports.map(|dependency| text(dependency, "name").to_owned()).collect(),
    }
}

fn list<'a>(value: &'a Value, key: &str) -> &'a [Value] {
    value.get(key).and_then(Value::as_array).expect("cargo metadata has a list here")
}

fn text<'a>(value: &'a Value, key: &str) -> &'a str {
    value.get(key).and_then(Value::as_str).expect("cargo metadata has a text here")
}

fn table() -> Table {
    Table::read(&std::fs::read_to_string(root().join("ARCHITECTURE.md")).expect("ARCHITECTURE.md is there"))
}

#[test]
fn every_crate_imports_only_what_the_table_allows() {
    let (crates, table) = (crates(), table());
    let folders: BTreeMap<&str, &str> =
        crates.iter().map(|(folder, member)| (member.name.as_str(), folder.as_str())).collect();
    let mut wrong = Vec::new();
    for (from, member) in &crates {
        for to in member.imports.iter().filter_map(|name| folders.get(name.as_str())) {
            if !table.allows(from, to) {
                wrong.push(format!("{from} imports {to}"));
            }
        }
    }
    assert!(wrong.is_empty(), "not allowed by the table in ARCHITECTURE.md: {}", wrong.join("; "));
}

#[test]
fn the_table_names_every_crate_and_no_other() {
    let (crates, table) = (crates(), table());
    for folder in crates.keys() {
        assert!(table.knows(folder), "the table in ARCHITECTURE.md does not say what {folder} may import");
    }
    for name in table.names() {
        let known = crates.keys().any(|folder| matches(name, folder));
        assert!(known, "the table in ARCHITECTURE.md names {name}, which is no crate");
    }
}

#[test]
fn every_crate_is_named_for_its_folder() {
    for (folder, member) in crates() {
        let expected = format!("lochan-{}", folder.replace('/', "-"));
        assert_eq!(member.name, expected, "the crate in {folder}");
    }
}
