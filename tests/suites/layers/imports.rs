//! The crates of the workspace against the table.

use std::collections::BTreeMap;

use cargo_metadata::{DependencyKind, MetadataCommand, Package};

use crate::root;
use crate::table::{Table, matches};

/// Every crate by its folder below the root.
fn crates() -> BTreeMap<String, Package> {
    let root = root();
    let metadata = MetadataCommand::new()
        .manifest_path(root.join("Cargo.toml"))
        .no_deps()
        .exec()
        .expect("cargo reads the workspace that it builds");
    let folder = |package: &Package| {
        let manifest = package.manifest_path.as_std_path();
        let folder = manifest.parent().expect("a manifest lies in a folder");
        folder.strip_prefix(&root).expect("members lie below the root").display().to_string()
    };
    metadata.packages.into_iter().map(|package| (folder(&package), package)).collect()
}

fn table() -> Table {
    Table::read(&std::fs::read_to_string(root().join("ARCHITECTURE.md")).expect("ARCHITECTURE.md is there"))
}

#[test]
fn every_crate_imports_only_what_the_table_allows() {
    let (crates, table) = (crates(), table());
    let folders: BTreeMap<&str, &str> =
        crates.iter().map(|(folder, package)| (package.name.as_str(), folder.as_str())).collect();
    let mut wrong = Vec::new();
    for (from, package) in &crates {
        // What only the tests of a crate use does not reach its users, and breaks no layer.
        for dependency in package.dependencies.iter().filter(|d| d.kind != DependencyKind::Development) {
            if let Some(to) = folders.get(dependency.name.as_str())
                && !table.allows(from, to)
            {
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
    for (folder, package) in crates() {
        let expected = format!("lochan-{}", folder.replace('/', "-"));
        assert_eq!(package.name.as_str(), expected, "the crate in {folder}");
    }
}
