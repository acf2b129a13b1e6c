//! The whole model: commits, what is known of ids and roots, and each request's answer on a given head.

use std::collections::{BTreeMap, BTreeSet};
use std::hash::{DefaultHasher, Hash, Hasher};

use lochan_storage_engine::commit::Request;
use lochan_storage_engine::merge::{MergeRequest, TransplantRequest};
use lochan_storage_model::{Commit, CommitId, ContentId, ObjectId};
use lochan_storage_odb::RefKind;
use lochan_storage_odb::memory::Memory;

use super::answers::{self, Fault, first_difference};
use super::commit::{self, Refusal, Unchanged};
use super::graph::Graph;
use super::merge::{self, Answer};
use super::state::{Changes, Planned, State, WantedId};

/// Kind and target of a reference; `None` where there is none.
pub type At = Option<(RefKind, CommitId)>;

/// Everything that was ever made.
#[derive(Debug, Default)]
pub struct Repo {
    /// The commits.
    pub graph: Graph,
    ids: BTreeSet<ContentId>,
    root_of: BTreeMap<u64, ObjectId>,
    state_of: BTreeMap<ObjectId, u64>,
    time_of: BTreeMap<CommitId, i64>,
}

/// The branch's head, if the request may look at it at all.
fn head_of(graph: &Graph, at: At, expected: CommitId) -> Result<CommitId, Refusal> {
    let (kind, head) = at.ok_or(Refusal::NoReference)?;
    if kind != RefKind::Branch {
        return Err(Refusal::NotABranch);
    }
    if !graph.is_below(expected, head) {
        return Err(Refusal::NotOnBranch);
    }
    Ok(head)
}

impl Repo {
    /// What a commit does on a reference.
    pub fn commit_on(&self, at: At, request: &Request) -> Result<Planned, Refusal> {
        commit::check_alone(request)?;
        let head = head_of(&self.graph, at, request.expected)?;
        let (seen, now) = (self.graph.state(request.expected), self.graph.state(head));
        let unchanged = if head == request.expected { Unchanged::Seen } else { Unchanged::AsForDelete };
        commit::plan(request, &seen, &now, unchanged)
    }

    /// What a commit does on a reference that has moved since it was planned where the client saw it: unrelated commits
    /// must not stand in its way.
    pub fn commit_rebased_on(&self, at: At, request: &Request) -> Result<Planned, Refusal> {
        let head = head_of(&self.graph, at, request.expected)?;
        let (seen, now) = (self.graph.state(request.expected), self.graph.state(head));
        commit::plan(request, &seen, &now, Unchanged::Rebased)
    }

    /// What a merge does on a reference, and its merge base.
    pub fn merge_on(&self, at: At, request: &MergeRequest) -> (CommitId, Result<Answer, Refusal>) {
        let head = head_of(&self.graph, at, request.expected).and_then(|head| {
            if self.graph.is_known(request.from) { Ok(head) } else { Err(Refusal::NoCommit) }
        });
        let head = match head {
            Ok(head) => head,
            Err(refusal) => return (CommitId::NO_ANCESTOR, Err(refusal)),
        };
        let base = self.graph.merge_base(head, request.from);
        (base, merge::merge(&self.graph, head, request.from, base, &request.options))
    }

    /// What a merge does on a reference that has moved since it was planned: the merge base is that of the head it was
    /// planned on, one that the client saw or a later one.
    pub fn merge_rebased_on(&self, at: At, request: &MergeRequest) -> Vec<Result<Answer, Refusal>> {
        let head = match head_of(&self.graph, at, request.expected) {
            Ok(head) => head,
            Err(refusal) => return vec![Err(refusal)],
        };
        let mut bases = BTreeSet::new();
        for planned_on in self.graph.chain(head) {
            bases.insert(self.graph.merge_base(planned_on, request.from));
            if planned_on == request.expected {
                break;
            }
        }
        let over = |base| merge::merge(&self.graph, head, request.from, base, &request.options);
        bases.into_iter().map(over).collect()
    }

    /// What a transplant does on a reference.
    pub fn transplant_on(&self, at: At, request: &TransplantRequest) -> Result<Answer, Refusal> {
        if request.commits.is_empty() {
            return Err(Refusal::Bad);
        }
        let head = head_of(&self.graph, at, request.expected)?;
        merge::check_sources(&self.graph, &request.commits)?;
        merge::transplant(&self.graph, head, &request.commits, &request.options)
    }

    /// Takes in a commit that the store holds, if it is exactly what was planned on `parents`.
    pub fn land(
        &mut self,
        store: &Memory,
        id: CommitId,
        parents: &[CommitId],
        planned: &Planned,
    ) -> Result<(), Fault> {
        let commit = answers::load(store, id)?;
        let changes = answers::changes(store, &commit)?;
        self.check(&commit, parents).map_err(|e| format!("commit {id}: {e}"))?;
        self.check_changes(&changes, planned).map_err(|e| format!("commit {id}: {e}"))?;
        self.ids.extend(changes.contents.values().flatten().map(|held| held.id));
        self.time_of.insert(id, commit.header.time);
        self.graph.add(id, parents.to_vec(), changes);
        self.check_root(commit.header.root, &self.graph.state(id)).map_err(|e| format!("commit {id}: {e}"))
    }

    fn check(&self, commit: &Commit, parents: &[CommitId]) -> Result<(), Fault> {
        let header = &commit.header;
        if header.parents != parents {
            return Err(format!("its parents are {:?}, not {parents:?}", header.parents));
        }
        let first = header.parent();
        let depth = self.graph.chain(first).len() as u64;
        let generation = 1 + parents.iter().map(|parent| self.graph.generation(*parent)).max().unwrap_or(0);
        if header.depth != depth || header.generation != generation {
            return Err(format!(
                "depth and generation are {} and {}, not {depth} and {generation}",
                header.depth, header.generation
            ));
        }
        let before = self.time_of.get(&first).copied().unwrap_or(i64::MIN);
        if header.time <= before {
            return Err(format!("its time is {}, its parent's {before}", header.time));
        }
        Ok(())
    }

    fn check_changes(&self, found: &Changes, planned: &Planned) -> Result<(), Fault> {
        let mut wanted = Changes { system: planned.system.clone(), ..Changes::default() };
        for (key, put) in &planned.contents {
            let held = match put {
                None => None,
                Some(put) => {
                    let actual = found.contents.get(key).and_then(Option::as_ref).map(|held| held.id);
                    let id = match put.id {
                        WantedId::Is(id) => id,
                        WantedId::New => actual.ok_or_else(|| format!("{key} is not put"))?,
                    };
                    if put.id == WantedId::New && self.ids.contains(&id) {
                        return Err(format!("{key} is new and has the id of another content"));
                    }
                    Some(super::state::Held { id, content: put.content.clone() })
                }
            };
            wanted.contents.insert(key.clone(), held);
        }
        let contents = first_difference(&found.contents, &wanted.contents);
        contents.or_else(|| first_difference(&found.system, &wanted.system)).map_or(Ok(()), Err)
    }

    /// Same entries, same root; others, another.
    fn check_root(&mut self, root: ObjectId, state: &State) -> Result<(), Fault> {
        let state = fingerprint(state);
        if *self.root_of.entry(state).or_insert(root) != root {
            return Err("the same entries had another root before".into());
        }
        if *self.state_of.entry(root).or_insert(state) != state {
            return Err("its root stood for other entries before".into());
        }
        Ok(())
    }
}

fn fingerprint(state: &State) -> u64 {
    let mut hasher = DefaultHasher::new();
    for (key, held) in &state.contents {
        (key, held.id, held.content_type().byte(), held.content.encode()).hash(&mut hasher);
    }
    for (path, json) in &state.system {
        (path, json).hash(&mut hasher);
    }
    hasher.finish()
}
