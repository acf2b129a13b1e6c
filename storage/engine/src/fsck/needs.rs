//! Who needs what is damaged: the commits that name it, and the references whose history holds these.

use std::{
    collections::{BTreeMap, BTreeSet, HashMap, HashSet},
    fmt::Write as _,
};

use lochan_storage_model::{CommitId, RefName};
use lochan_storage_odb::Reference;

use super::{Report, graph::Graph};

/// Commits and references named for one finding; more are counted.
const NAMED_MAX: usize = 8;
/// Findings for which references are looked up.
const FINDINGS_MAX: usize = 1_000;

/// Adds to each finding about an object who needs it.
pub(super) fn name_them(graph: &Graph, references: &BTreeMap<RefName, Reference>, report: &mut Report) {
    if report.needed.is_empty() {
        return;
    }
    let mut children: HashMap<CommitId, Vec<CommitId>> = HashMap::new();
    for (id, header) in graph.commits() {
        for parent in &header.parents {
            children.entry(*parent).or_default().push(*id);
        }
    }
    let mut heads: HashMap<CommitId, Vec<&RefName>> = HashMap::new();
    for reference in references.values() {
        heads.entry(reference.target).or_default().push(&reference.name);
    }
    for (at, (finding, commits)) in std::mem::take(&mut report.needed).into_iter().enumerate() {
        let mut text = String::new();
        list(&mut text, "commit", commits.iter().map(ToString::to_string).collect());
        if at < FINDINGS_MAX {
            let mut reached: HashSet<CommitId> = commits.iter().copied().collect();
            let mut open = commits;
            while let Some(commit) = open.pop() {
                open.extend(
                    children.get(&commit).into_iter().flatten().filter(|child| reached.insert(**child)),
                );
            }
            let names = reached.iter().filter_map(|commit| heads.get(commit)).flatten();
            list(&mut text, "reference", names.map(ToString::to_string).collect());
        }
        if let Some(finding) = report.findings.get_mut(finding) {
            let _ = write!(finding.detail, "; needed by {text}");
        }
    }
}

fn list(text: &mut String, what: &str, names: BTreeSet<String>) {
    if names.is_empty() {
        return;
    }
    if !text.is_empty() {
        text.push_str(" and ");
    }
    let shown: Vec<_> = names.iter().take(NAMED_MAX).cloned().collect();
    let plural = if names.len() == 1 { "" } else { "s" };
    let _ = write!(text, "{what}{plural} {}", shown.join(", "));
    if names.len() > NAMED_MAX {
        let _ = write!(text, " and {} more", names.len() - NAMED_MAX);
    }
}
