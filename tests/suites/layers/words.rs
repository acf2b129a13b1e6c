//! The project speaks of itself alone: no paths of somebody's machine, no neighbours that a clone does not have.

use std::fs;
use std::path::Path;

use crate::root;

/// What is not part of the tree. `.git` is a file where the tree is one of several of a repository.
const SKIPPED: [&str; 5] = [".git", "target", "lochan-data", "__pycache__", ".venv"];
/// Written by tools.
const SKIPPED_FILES: [&str; 1] = ["Cargo.lock"];
/// The one place that names the neighbour folder: the optional kits, absent in most clones.
const MAY_NAME_NEIGHBOURS: &str = "integration/run.sh";

#[test]
fn no_file_speaks_of_the_machine_it_was_written_on() {
    // Put together here, so that this file does not speak of them either.
    let neighbour = ["..", "shared"].join("/");
    let homes = ["work", "root", "home"].map(|folder| format!("/{folder}/"));
    let mut wrong = Vec::new();
    visit(&root(), &mut |path, text| {
        let name = path.strip_prefix(root()).expect("files lie below the root").display().to_string();
        for (number, line) in text.lines().enumerate() {
            if line.contains(&neighbour) && name != MAY_NAME_NEIGHBOURS {
                wrong.push(format!("{name}:{}: {neighbour}", number + 1));
            }
            for home in homes.iter().filter(|home| begins_a_path(line, home)) {
                wrong.push(format!("{name}:{}: {home}", number + 1));
            }
        }
    });
    assert!(wrong.is_empty(), "paths that only one machine has:\n{}", wrong.join("\n"));
}

/// Whether `line` has `folder` as the beginning of an absolute path, and not in the middle of a longer one.
fn begins_a_path(line: &str, folder: &str) -> bool {
    line.match_indices(folder).any(|(at, _)| {
        let before = line.get(..at).and_then(|start| start.chars().next_back());
        !before.is_some_and(|c| c.is_alphanumeric() || "_-.}~)*]>{/".contains(c))
    })
}

fn visit(folder: &Path, look: &mut dyn FnMut(&Path, &str)) {
    for entry in fs::read_dir(folder).expect("the tree can be listed") {
        let path = entry.expect("the tree can be listed").path();
        let name = path.file_name().expect("entries have names").to_string_lossy().into_owned();
        if SKIPPED.contains(&name.as_str()) {
            continue;
        }
        if path.is_dir() {
            visit(&path, look);
        } else if !SKIPPED_FILES.contains(&name.as_str())
            // What is not text, or went away while we looked, has nothing to say.
            && let Ok(text) = fs::read_to_string(&path)
        {
            look(&path, &text);
        }
    }
}

#[test]
fn finds_absolute_paths_only() {
    assert!(begins_a_path("see /srv/me", "/srv/"));
    assert!(begins_a_path("\"/srv/me\"", "/srv/"));
    assert!(!begins_a_path("$dir/srv/me", "/srv/"));
    assert!(!begins_a_path("https://example.org/srv/me", "/srv/"));
}
