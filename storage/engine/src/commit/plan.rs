//! Planning a commit on a head.

use std::{
    collections::{BTreeMap, HashMap, HashSet},
    sync::Arc,
};

use async_trait::async_trait;
use lochan_storage_model::{
    CommitId, Conflict, Content, ContentId, ContentKey, ContentType, Entry, IndexKey, ObjectKind,
};
use lochan_storage_odb::{NewObject, RefKind, RefOperation};

use super::{
    Committed, Expectation, ExpectedSystem, NamespaceCheck, Operation, Request, check_namespaces, compare,
    content_ids::{Deleted, PutKind, check_duplicates, classify},
};
use crate::{
    error::Error,
    index::{Edit, Tree},
    state::{Core, Head},
    writer::{Draft, Landed, Plan, Proposal},
};

/// Commits between the client's state and the head that are looked through before an old index is rebuilt.
const WALK_BACK_MAX: usize = 1_000;

/// A commit being planned, possibly several times.
pub(crate) struct CommitPlan {
    request: Request,
    /// Ids given to new contents; the same in every round.
    ids: HashMap<ContentKey, ContentId>,
    added: Vec<(ContentKey, ContentId)>,
    head: CommitId,
}

impl CommitPlan {
    /// Checks what can be checked without looking at any state.
    pub(crate) fn new(request: Request) -> Result<Self, Error> {
        if request.operations.is_empty() && request.system.is_empty() {
            return Err(Error::BadRequest("commitMultipleOperations.operations: must not be empty".into()));
        }
        let mut paths = HashSet::new();
        if let Some(twice) = request.system.iter().find(|put| !paths.insert(&put.path)) {
            return Err(Error::BadRequest(format!("duplicate system path: {}", twice.path)));
        }
        Ok(Self { request, ids: HashMap::new(), added: Vec::new(), head: CommitId::NO_ANCESTOR })
    }

    pub(crate) fn committed(self) -> Committed {
        Committed { head: self.head, added: self.added }
    }

    /// What the keys of the request held in the state that the client has seen, and hold at the head.
    async fn look_up(&self, core: &Core, head: &Head) -> Result<Looked, Error> {
        let mut at_head = BTreeMap::new();
        for operation in &self.request.operations {
            let key = operation.key();
            if !at_head.contains_key(key) {
                at_head.insert(key.clone(), head.tree.get(&core.nodes, &key.index_key()).await?);
            }
        }
        let expected = self.request.expected;
        if expected == head.reference.target {
            return Ok(Looked { seen: at_head.clone(), at_head });
        }
        if let Some(found) = core.trees.get(&expected) {
            let seen = self.seen_in(core, &found.tree, &at_head).await;
            return Ok(Looked { seen: self.or_rebuilt(core, seen, &at_head).await?, at_head });
        }
        if self.untouched_since(core, head.reference.target).await? {
            return Ok(Looked { seen: at_head.clone(), at_head });
        }
        let tree = core.tree(expected).await?;
        let seen = self.seen_in(core, &tree, &at_head).await;
        Ok(Looked { seen: self.or_rebuilt(core, seen, &at_head).await?, at_head })
    }

    /// Looks again where stored nodes of the index that the client has seen are lost; whoever asked for the plan heals
    /// only the head.
    async fn or_rebuilt(
        &self,
        core: &Core,
        seen: Result<BTreeMap<ContentKey, Option<Entry>>, Error>,
        keys: &BTreeMap<ContentKey, Option<Entry>>,
    ) -> Result<BTreeMap<ContentKey, Option<Entry>>, Error> {
        match seen {
            Err(Error::IndexNode(_)) => {
                self.seen_in(core, &core.rebuild(self.request.expected).await?, keys).await
            }
            seen => seen,
        }
    }

    async fn seen_in(
        &self,
        core: &Core,
        tree: &Tree,
        keys: &BTreeMap<ContentKey, Option<Entry>>,
    ) -> Result<BTreeMap<ContentKey, Option<Entry>>, Error> {
        let mut seen = BTreeMap::new();
        for key in keys.keys() {
            seen.insert(key.clone(), tree.get(&core.nodes, &key.index_key()).await?);
        }
        Ok(seen)
    }

    /// Whether none of the commits between the client's state and the head changed a key of the request.
    async fn untouched_since(&self, core: &Core, head: CommitId) -> Result<bool, Error> {
        let keys: Vec<IndexKey> = self.request.operations.iter().map(|op| op.key().index_key()).collect();
        let mut at = head;
        for _ in 0..WALK_BACK_MAX {
            if at == self.request.expected {
                return Ok(true);
            }
            if at.is_no_ancestor() {
                return Ok(false);
            }
            let commit = core.commits.load(at).await?;
            let touches = |key: &IndexKey| commit.operations.binary_search_by(|op| op.key().cmp(key)).is_ok();
            if keys.iter().any(touches) {
                return Ok(false);
            }
            at = commit.header.parent();
        }
        Ok(false)
    }

    async fn check_expected_system(&self, core: &Core, head: &Head, out: &mut Relied) -> Result<(), Error> {
        for ExpectedSystem { path, value } in &self.request.expected_system {
            let key = path.index_key();
            let found = head.tree.get(&core.nodes, &key).await?;
            let wanted =
                value.as_ref().map(|json| Entry::of(ContentId::NONE, &Content::System(json.to_vec())).0);
            if wanted != found {
                out.conflicts.push(Conflict::on_path(path));
            }
            out.entries.push((key, found));
        }
        Ok(())
    }
}

struct Looked {
    seen: BTreeMap<ContentKey, Option<Entry>>,
    at_head: BTreeMap<ContentKey, Option<Entry>>,
}

#[derive(Default)]
struct Relied {
    entries: Vec<(IndexKey, Option<Entry>)>,
    conflicts: Vec<Conflict>,
}

#[async_trait]
impl Plan for CommitPlan {
    async fn plan(&mut self, core: &Arc<Core>, head: &Head) -> Result<Option<Proposal>, Error> {
        let branch = &head.reference.name;
        if head.reference.kind != RefKind::Branch {
            return Err(Error::NotABranch(branch.clone()));
        }
        let on = head.reference.target;
        if !core.commits.is_ancestor(self.request.expected, on).await? {
            return Err(Error::NotOnBranch { commit: self.request.expected, branch: branch.clone() });
        }
        check_duplicates(&self.request.operations)?;
        let looked = self.look_up(core, head).await?;
        let held = |key: &ContentKey| looked.seen.get(key).and_then(Option::as_ref);
        let mut deleted = Deleted::of(&self.request.operations, &looked.seen);

        let mut namespaces = NamespaceCheck::default();
        let mut edits: BTreeMap<IndexKey, Option<Entry>> = BTreeMap::new();
        let mut objects = self.request.objects.clone();
        let mut expectations: Vec<(&ContentKey, Expectation)> = Vec::new();
        let mut types = Ok(());
        self.added.clear();
        for operation in &self.request.operations {
            match operation {
                Operation::Put { key, content, id } => {
                    let kind = classify(key, id, held(key), &mut deleted)?;
                    types = types.and(kind.check_type(key, content));
                    if kind.is_new() {
                        namespaces.new.insert(key.clone(), content.content_type());
                    }
                    let id = match kind {
                        PutKind::New | PutKind::ReAdd => {
                            let id = *self.ids.entry(key.clone()).or_insert_with(|| core.rng.content_id());
                            self.added.push((key.clone(), id));
                            id
                        }
                        PutKind::Rename(id, _) | PutKind::Update(id, _) => id,
                    };
                    match kind {
                        PutKind::New | PutKind::Rename(..) => expectations.push((key, Expectation::Absent)),
                        PutKind::Update(..) => {
                            expectations.push((key, Expectation::of_existing(held(key).cloned())));
                        }
                        // Checked through its delete.
                        PutKind::ReAdd => {}
                    }
                    let (entry, object) = Entry::of(id, content);
                    objects.extend(object.map(|(id, bytes)| NewObject {
                        kind: ObjectKind::Value,
                        id,
                        bytes: bytes.into(),
                    }));
                    edits.insert(key.index_key(), Some(entry));
                }
                Operation::Delete(key) => {
                    // What the client has not seen under the key does not go with it.
                    if let Some(entry) = held(key) {
                        namespaces.deleted.insert(key.clone());
                        if entry.content_type == ContentType::Namespace {
                            namespaces.deleted_namespaces.push(key.clone());
                        }
                    }
                    expectations.push((key, Expectation::of_existing(held(key).cloned())));
                    edits.entry(key.index_key()).or_insert(None);
                }
                Operation::Unchanged(key) => {
                    if self.request.expected != on {
                        expectations.push((key, Expectation::of_existing(held(key).cloned())));
                    }
                }
            }
        }
        let (conflicts, read) = check_namespaces(core, &head.tree, &namespaces).await?;
        if !conflicts.is_empty() {
            return Err(Error::Conflicts(conflicts));
        }
        let mut relied = Relied { entries: read.entries, conflicts: Vec::new() };
        for (key, expected) in expectations {
            let at_head = looked.at_head.get(key).and_then(Option::as_ref);
            relied.conflicts.extend(compare(key, &expected, at_head));
        }
        self.check_expected_system(core, head, &mut relied).await?;
        if !relied.conflicts.is_empty() {
            return Err(Error::Conflicts(relied.conflicts));
        }
        types?;
        relied.entries.extend(looked.at_head.into_iter().map(|(key, entry)| (key.index_key(), entry)));

        for put in &self.request.system {
            let entry =
                put.value.as_ref().map(|json| Entry::of(ContentId::NONE, &Content::System(json.to_vec())));
            let (entry, object) = match entry {
                Some((entry, object)) => (Some(entry), object),
                None => (None, None),
            };
            objects.extend(object.map(|(id, bytes)| NewObject {
                kind: ObjectKind::Value,
                id,
                bytes: bytes.into(),
            }));
            edits.insert(put.path.index_key(), entry);
        }
        let draft = Draft {
            edits: edits.into_iter().map(|(key, entry)| Edit { key, entry }).collect(),
            meta: self.request.meta.clone(),
            merge_parents: Vec::new(),
            attachments: self.request.attachments.clone(),
            objects,
            derived: self.request.derived.clone(),
        };
        Ok(Some(Proposal {
            planned_on: on,
            relied: relied.entries,
            relied_prefixes: read.prefixes,
            exact: false,
            requires: self.request.requires.clone(),
            records: self.request.records.clone(),
            drafts: vec![draft],
            operation: RefOperation::Commit,
            who: self.request.who.clone(),
        }))
    }

    fn landed(&mut self, landed: &Landed) {
        self.head = landed.head;
    }
}
