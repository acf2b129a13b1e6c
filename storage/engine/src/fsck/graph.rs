//! The commits found sound, and how they stand to each other.

use std::collections::{HashMap, hash_map};

use lochan_storage_model::{CommitId, ObjectId, ObjectKind, commit::Header};

use super::Report;
use crate::{cache::ById, graph::Step};

/// Where something stands that a commit names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Found {
    /// It is the empty state.
    Empty,
    /// At this number in the graph.
    At(usize),
    /// Not in the graph.
    Missing,
}

/// Commits by number. One is near those that were written at about the same time, most of the time its parents.
#[derive(Default)]
pub(super) struct Graph {
    commits: Vec<(CommitId, Header)>,
    numbers: HashMap<CommitId, usize, ById>,
}

impl Graph {
    /// Adds a commit; whether it was not there yet.
    pub(super) fn add(&mut self, id: CommitId, header: Header) -> bool {
        match self.numbers.entry(id) {
            hash_map::Entry::Occupied(_) => false,
            hash_map::Entry::Vacant(entry) => {
                entry.insert(self.commits.len());
                self.commits.push((id, header));
                true
            }
        }
    }

    /// Makes room for so many more.
    pub(super) fn reserve(&mut self, count: usize) {
        self.commits.reserve(count);
        self.numbers.reserve(count);
    }

    /// Whether it is the empty state or a commit of the graph.
    pub(super) fn holds(&self, id: CommitId) -> bool {
        id.is_no_ancestor() || self.numbers.contains_key(&id)
    }

    /// The number of a commit.
    pub(super) fn number(&self, id: CommitId) -> Option<usize> {
        self.numbers.get(&id).copied()
    }

    /// The commit of a number.
    pub(super) fn commit(&self, number: usize) -> Option<&(CommitId, Header)> {
        self.commits.get(number)
    }

    /// All commits, by number.
    pub(super) fn commits(&self) -> &[(CommitId, Header)] {
        &self.commits
    }

    fn find(&self, id: CommitId) -> Found {
        match self.number(id) {
            _ if id.is_no_ancestor() => Found::Empty,
            Some(number) => Found::At(number),
            None => Found::Missing,
        }
    }

    /// Compares what each commit says with its parents. `missing` is told of commits that are named and not here. Returns the
    /// children along first parents, since these are met on the way.
    pub(super) fn check(
        &self,
        missing: &mut impl FnMut(CommitId, (ObjectKind, ObjectId)),
        report: &mut Report,
    ) -> Children {
        let mut children = Children::of(self.commits.len());
        // Of each commit its first parent and its skip pointer, which is nearly always the parent.
        let places: Vec<(Found, Found)> = self
            .commits
            .iter()
            .map(|(_, header)| {
                let parent = self.find(header.parent());
                let skip = if header.skip == header.parent() { parent } else { self.find(header.skip) };
                (parent, skip)
            })
            .collect();
        let step = |found: Found| match found {
            Found::Empty => Some((Step::empty(), Found::Empty)),
            Found::At(number) => {
                let (_, header) = self.commits.get(number)?;
                Some((Step::of(header), places.get(number)?.1))
            }
            Found::Missing => None,
        };
        for (number, ((id, header), (parent, _))) in self.commits.iter().zip(&places).enumerate() {
            match parent {
                Found::Empty => children.add(None, number),
                Found::At(parent) => children.add(Some(*parent), number),
                Found::Missing => {}
            }
            let mut generation = Some(0);
            for (at, named) in header.parents.iter().enumerate() {
                let place = if at == 0 { *parent } else { self.find(*named) };
                match step(place) {
                    Some((step, _)) => generation = generation.map(|known| step.generation.max(known)),
                    None => {
                        generation = None;
                        missing(*id, (ObjectKind::Commit, named.object()));
                    }
                }
            }
            // Beside what is missing there is nothing to compare.
            let (Some(generation), Some((parent, skip))) = (generation, step(*parent)) else { continue };
            // What is missing further down is named where it is missing.
            let skip = step(skip).and_then(|(skip, beyond)| Some((skip, step(beyond)?.0)));
            compare(*id, header, (generation, parent), skip, report);
        }
        children
    }
}

/// Compares what a commit says with its first parent, the highest generation of all parents, and with where the skip pointer
/// of its parent leads to, and where that one's does.
fn compare(
    id: CommitId,
    header: &Header,
    (generation, parent): (u64, Step),
    skip: Option<(Step, Step)>,
    report: &mut Report,
) {
    let what = || format!("commit {id}");
    if header.generation != generation + 1 {
        report.damage(what(), format!("its generation is {} above {generation}", header.generation));
    }
    if header.depth != parent.depth + 1 {
        report.damage(what(), format!("its depth is {} above {}", header.depth, parent.depth));
    }
    if parent.time >= header.time {
        report.damage(what(), "its time is not after its parent's");
    }
    let Some((skip, beyond)) = skip else { return };
    let expected = parent.skip_above(header.parent(), skip, beyond);
    if header.skip != expected {
        report.damage(what(), format!("its skip pointer is {} instead of {expected}", header.skip));
    }
}

/// Stands for no commit.
const NONE: usize = usize::MAX;

/// Commits by their first parent.
pub(super) struct Children {
    /// Of the empty state, then of each commit.
    first: Vec<usize>,
    /// Of each commit the next one with the same parent.
    next: Vec<usize>,
}

impl Children {
    fn of(commits: usize) -> Self {
        Self { first: vec![NONE; commits + 1], next: vec![NONE; commits] }
    }

    fn add(&mut self, parent: Option<usize>, child: usize) {
        let first = self.first.get_mut(parent.map_or(0, |parent| parent + 1));
        if let (Some(first), Some(next)) = (first, self.next.get_mut(child)) {
            *next = std::mem::replace(first, child);
        }
    }

    /// The commits whose first parent has this number, or is the empty state.
    pub(super) fn of_parent(&self, parent: Option<usize>) -> impl Iterator<Item = usize> {
        let known = |child: Option<&usize>| child.copied().filter(|child| *child != NONE);
        let first = known(self.first.get(parent.map_or(0, |parent| parent + 1)));
        std::iter::successors(first, move |child| known(self.next.get(*child)))
    }
}
