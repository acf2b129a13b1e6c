//! Transactions over keys, and cycles among their dependencies.
//!
//! Every write has a value that nothing else writes there, and names the value it replaced. So the versions of each key form
//! a chain, and the edges follow without guessing (after Adya; kinds as Elle names them): *ww* to who replaced a value, *wr* to
//! who read it, *rw* from who read it to who replaced it, and *time* from who had ended to who began later.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Debug;

/// A key of a branch.
pub type Object = (String, String);

/// A commit, a merge, or a read of several keys.
#[derive(Clone, Debug)]
pub struct Transaction {
    /// For people.
    pub name: String,
    /// When it began.
    pub invoked: u64,
    /// When it had ended; `None` for an unknown outcome.
    pub returned: Option<u64>,
    /// What it found.
    pub reads: Vec<(Object, i64)>,
    /// What it wrote.
    pub writes: Vec<(Object, i64)>,
}

/// Kinds of anomalies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// A value was read that a refused request would have written.
    DirtyRead,
    /// A value was read that nobody wrote.
    NobodysValue,
    /// Two transactions replaced the same value.
    LostUpdate,
    /// Writes in a circle (G0).
    WriteCycle,
    /// Writes and reads of writes in a circle (G1c).
    InformationCycle,
    /// A circle with one read of what was replaced (G-single): half of a commit seen, or a skewed read.
    ReadSkew,
    /// A circle with several such reads (G2).
    WriteSkew,
    /// A circle through time: something old was read, or what was acknowledged is out of order.
    OutOfTime,
}

/// An anomaly.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Anomaly {
    /// Its kind.
    pub kind: Kind,
    /// Who takes part.
    pub text: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Edge {
    Ww,
    Wr,
    Rw,
    Time,
}

/// Finds anomalies. `initial` are values that were there; `refused` those of requests that were refused.
pub fn check(
    transactions: &[Transaction],
    initial: &BTreeSet<(Object, i64)>,
    refused: &BTreeSet<(Object, i64)>,
) -> Vec<Anomaly> {
    let present = present(transactions);
    let mut anomalies = Vec::new();
    let mut writer: BTreeMap<&(Object, i64), usize> = BTreeMap::new();
    for place in &present {
        for write in transactions.get(*place).into_iter().flat_map(|t| &t.writes) {
            writer.insert(write, *place);
        }
    }
    let mut next: BTreeMap<&(Object, i64), usize> = BTreeMap::new();
    for (place, transaction) in chosen(transactions, &present) {
        for read in &transaction.reads {
            let found = |kind| Anomaly { kind, text: format!("{} read {read:?}", transaction.name) };
            if refused.contains(read) {
                anomalies.push(found(Kind::DirtyRead));
            } else if !writer.contains_key(read) && !initial.contains(read) {
                anomalies.push(found(Kind::NobodysValue));
            }
            let replaces = transaction.writes.iter().any(|(object, _)| *object == read.0);
            if !replaces {
                continue;
            }
            if let Some(other) = next.insert(read, place).and_then(|other| transactions.get(other)) {
                let text = format!("{} and {} replaced {read:?}", other.name, transaction.name);
                anomalies.push(Anomaly { kind: Kind::LostUpdate, text });
            }
        }
    }
    let mut edges: BTreeMap<usize, Vec<(usize, Edge)>> = BTreeMap::new();
    let mut add = |from: usize, to: usize, edge| {
        if from != to {
            edges.entry(from).or_default().push((to, edge));
        }
    };
    for (place, transaction) in chosen(transactions, &present) {
        for read in &transaction.reads {
            let replaces = transaction.writes.iter().any(|(object, _)| *object == read.0);
            if let Some(from) = writer.get(read) {
                add(*from, place, if replaces { Edge::Ww } else { Edge::Wr });
            }
            if let Some(after) = next.get(read).filter(|_| !replaces) {
                add(place, *after, Edge::Rw);
            }
        }
    }
    anomalies.extend(cycles(transactions, &present, &edges));
    anomalies
}

fn chosen<'a>(
    transactions: &'a [Transaction],
    present: &'a BTreeSet<usize>,
) -> impl Iterator<Item = (usize, &'a Transaction)> {
    transactions.iter().enumerate().filter(|(place, _)| present.contains(place))
}

/// The transactions that took effect: those that are known to, and what these have seen of the others.
fn present(transactions: &[Transaction]) -> BTreeSet<usize> {
    let mut writer: BTreeMap<&(Object, i64), Vec<usize>> = BTreeMap::new();
    for (place, transaction) in transactions.iter().enumerate() {
        for write in &transaction.writes {
            writer.entry(write).or_default().push(place);
        }
    }
    let known = transactions.iter().enumerate().filter(|(_, t)| t.returned.is_some());
    let mut open: Vec<usize> = known.map(|(place, _)| place).collect();
    let mut present: BTreeSet<usize> = open.iter().copied().collect();
    while let Some(place) = open.pop() {
        for read in transactions.get(place).into_iter().flat_map(|t| &t.reads) {
            for from in writer.get(read).into_iter().flatten() {
                if present.insert(*from) {
                    open.push(*from);
                }
            }
        }
    }
    present
}

/// One cycle of each kind there is, found in ever larger sets of edges.
fn cycles(
    transactions: &[Transaction],
    present: &BTreeSet<usize>,
    edges: &BTreeMap<usize, Vec<(usize, Edge)>>,
) -> Vec<Anomaly> {
    let mut found = Vec::new();
    let name = |place: usize| transactions.get(place).map_or("", |t| t.name.as_str());
    for (most, kind) in
        [(Edge::Ww, Kind::WriteCycle), (Edge::Wr, Kind::InformationCycle), (Edge::Rw, Kind::ReadSkew)]
    {
        let mut graph: BTreeMap<usize, Vec<(usize, Edge)>> = BTreeMap::new();
        for (from, to) in edges {
            graph.insert(*from, to.iter().copied().filter(|(_, edge)| *edge <= most).collect());
        }
        if let Some(cycle) = shortest_cycle(&graph) {
            let reads = cycle.iter().filter(|(_, edge)| *edge == Edge::Rw).count();
            let kind = if reads > 1 { Kind::WriteSkew } else { kind };
            let text: Vec<String> =
                cycle.iter().map(|(place, edge)| format!("{} -{edge:?}->", name(*place))).collect();
            found.push(Anomaly { kind, text: text.join(" ") });
            return found;
        }
    }
    // Time goes over nodes of its own, one for each end of a transaction: as many edges as transactions.
    let mut graph = edges.clone();
    let first_node = transactions.len();
    let mut ends: Vec<(u64, usize)> =
        chosen(transactions, present).filter_map(|(place, t)| Some((t.returned?, place))).collect();
    ends.sort_unstable();
    for (number, (_, place)) in ends.iter().enumerate() {
        graph.entry(*place).or_default().push((first_node + number, Edge::Time));
        if number + 1 < ends.len() {
            graph.entry(first_node + number).or_default().push((first_node + number + 1, Edge::Time));
        }
    }
    for (place, transaction) in chosen(transactions, present) {
        let ended = ends.partition_point(|(end, _)| *end < transaction.invoked);
        if let Some(last) = ended.checked_sub(1) {
            graph.entry(first_node + last).or_default().push((place, Edge::Time));
        }
    }
    if let Some(cycle) = shortest_cycle(&graph) {
        let members = cycle.iter().filter(|(place, _)| *place < first_node);
        let text: Vec<String> =
            members.map(|(place, edge)| format!("{} -{edge:?}->", name(*place))).collect();
        found.push(Anomaly { kind: Kind::OutOfTime, text: text.join(" ") });
    }
    found
}

type Graph = BTreeMap<usize, Vec<(usize, Edge)>>;

/// A shortest cycle through some node that lies on one: its nodes, each with the edge that leaves it.
fn shortest_cycle(graph: &Graph) -> Option<Vec<(usize, Edge)>> {
    let knot = knot(graph);
    let start = *knot.first()?;
    let mut came: BTreeMap<usize, (usize, Edge)> = BTreeMap::new();
    let mut open = std::collections::VecDeque::from([start]);
    while let Some(at) = open.pop_front() {
        for (to, edge) in graph.get(&at).into_iter().flatten() {
            if !knot.contains(to) || came.contains_key(to) {
                continue;
            }
            came.insert(*to, (at, *edge));
            if *to == start {
                let mut cycle = Vec::new();
                let mut node = start;
                while let Some((from, edge)) = came.get(&node) {
                    cycle.push((*from, *edge));
                    node = *from;
                    if node == start {
                        break;
                    }
                }
                cycle.reverse();
                return Some(cycle);
            }
            open.push_back(*to);
        }
    }
    None
}

/// Nodes that all reach one another, if there are any: what is left when ends are taken away from both sides, narrowed to
/// one knot.
fn knot(graph: &Graph) -> BTreeSet<usize> {
    let mut backwards: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    let mut into: BTreeMap<usize, usize> = BTreeMap::new();
    for (from, to) in graph {
        into.entry(*from).or_default();
        for (node, _) in to {
            *into.entry(*node).or_default() += 1;
            backwards.entry(*node).or_default().push(*from);
        }
    }
    // Whoever nothing leads to lies on no cycle.
    let mut open: Vec<usize> = into.iter().filter(|(_, count)| **count == 0).map(|(node, _)| *node).collect();
    let mut left: BTreeSet<usize> = into.keys().copied().collect();
    while let Some(node) = open.pop() {
        left.remove(&node);
        for (to, _) in graph.get(&node).into_iter().flatten() {
            if let Some(count) = into.get_mut(to) {
                *count -= 1;
                if *count == 0 {
                    open.push(*to);
                }
            }
        }
    }
    // What is left is reached from a cycle: walking back within it ends on one.
    let Some(start) = left.first().copied() else { return BTreeSet::new() };
    let mut walked = BTreeSet::new();
    let mut at = start;
    while walked.insert(at) {
        match backwards.get(&at).into_iter().flatten().find(|from| left.contains(from)) {
            Some(from) => at = *from,
            None => return BTreeSet::new(),
        }
    }
    let reach = |forward: bool| {
        let mut seen = BTreeSet::from([at]);
        let mut open = vec![at];
        while let Some(node) = open.pop() {
            let next: Vec<usize> = if forward {
                graph.get(&node).into_iter().flatten().map(|(to, _)| *to).collect()
            } else {
                backwards.get(&node).cloned().unwrap_or_default()
            };
            open.extend(next.into_iter().filter(|next| seen.insert(*next)));
        }
        seen
    };
    reach(true).intersection(&reach(false)).copied().collect()
}
