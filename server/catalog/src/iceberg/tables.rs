//! Committing to tables: one table, or several as one commit.

use std::{collections::HashSet, sync::Arc};

use lochan_storage_engine::state::State;
use lochan_storage_iceberg::table::{
    self, SetLocation, TableRequirement, TableUpdate, apply, ensure_uuid, is_create,
};
use lochan_storage_model::{ContentId, ContentKey, ContentType, RefName};

use super::{
    Iceberg, Snapshots, TableAnswer, actions,
    author::Author,
    documents::{Body, Document, Kind},
    lines::Turns,
    place::{Place, Target, missing, name_key, require_parent, taken},
    publish::{Draft, Publication, Published, ROUNDS_MAX},
    seen::Seen,
};
use crate::{
    access::{Access, Check},
    error::{Error, ObjectKind},
};

/// Tables of one transaction.
const TRANSACTION_TABLES_MAX: usize = 1_000;

/// Changes of one table, or its creation.
#[derive(Debug, Clone)]
pub struct TableChange {
    /// The table.
    pub target: Target,
    /// What must hold; `assert-create` alone makes it a creation.
    pub requirements: Vec<TableRequirement>,
    /// What to change, in order.
    pub updates: Vec<TableUpdate>,
}

/// A change whose names are resolved.
struct Wanted {
    key: ContentKey,
    creates: bool,
    requirements: Vec<TableRequirement>,
    updates: Vec<TableUpdate>,
}

/// What a change comes to at a state.
enum Decided {
    /// The table stays as it is.
    Same { location: String, content_id: ContentId, document: Arc<Document> },
    /// It gets a new state.
    New(Box<Draft>),
}

impl Iceberg<'_> {
    /// Commits to a table and answers with its new state.
    pub async fn commit_table(
        &self,
        author: &Author,
        place: &Place,
        change: TableChange,
    ) -> Result<TableAnswer, Error> {
        let (branch, wanted, _turns) = self.admit(author, place, vec![change]).await?;
        let mut lost = None;
        for _ in 0..ROUNDS_MAX {
            let (_, state) = self.branch_head(&branch).await?;
            let decided = self.decide(&state, place, &wanted).await?;
            let Some(decided) = decided.into_iter().next() else { break };
            match decided {
                Decided::Same { location, content_id, document } => {
                    let Some(wanted) = wanted.first() else { break };
                    let commit =
                        self.last_change(Some(&branch), &wanted.key, &location, state.commit()).await?;
                    let seen = Seen {
                        location: &location,
                        content_id,
                        reference: Some(&branch),
                        commit,
                        snapshots: Snapshots::All,
                    };
                    return self.table_answer(&seen, &document);
                }
                Decided::New(draft) => {
                    let message = draft.message();
                    match self.publish_tables(author, &branch, &state, vec![*draft], message).await? {
                        Published::Landed(committed, drafts) => {
                            let Some(draft) = drafts.first() else { break };
                            let seen = Seen {
                                location: draft.location.as_str(),
                                content_id: draft.content_id(&committed),
                                reference: Some(&branch),
                                commit: committed.head,
                                snapshots: Snapshots::All,
                            };
                            return self.table_answer(&seen, &draft.document);
                        }
                        Published::Lost(error) => lost = Some(error),
                    }
                }
            }
        }
        Err(given_up(lost))
    }

    /// Commits to several tables at once: all land in one commit, or none does.
    pub async fn commit_tables(
        &self,
        author: &Author,
        place: &Place,
        changes: Vec<TableChange>,
    ) -> Result<(), Error> {
        if changes.is_empty() {
            return Err(Error::BadRequest("a transaction must change at least one table".into()));
        }
        let (branch, wanted, _turns) = self.admit(author, place, changes).await?;
        let mut lost = None;
        for _ in 0..ROUNDS_MAX {
            let (_, state) = self.branch_head(&branch).await?;
            let drafts: Vec<Draft> = self
                .decide(&state, place, &wanted)
                .await?
                .into_iter()
                .filter_map(|decided| match decided {
                    Decided::New(draft) => Some(*draft),
                    Decided::Same { .. } => None,
                })
                .collect();
            if drafts.is_empty() {
                return Ok(());
            }
            let message = transaction_message(&drafts);
            match self.publish_tables(author, &branch, &state, drafts, message).await? {
                Published::Landed(..) => return Ok(()),
                Published::Lost(error) => lost = Some(error),
            }
        }
        Err(given_up(lost))
    }

    async fn publish_tables(
        &self,
        author: &Author,
        branch: &RefName,
        state: &State,
        drafts: Vec<Draft>,
        message: String,
    ) -> Result<Published, Error> {
        let (branch, expected) = (branch.clone(), state.commit());
        self.publish(author, Publication { branch, expected, drafts, operations: Vec::new(), message }).await
    }

    /// Reads what the changes name, asks whether they are allowed, and waits in the lines of their tables.
    async fn admit(
        &self,
        author: &Author,
        place: &Place,
        changes: Vec<TableChange>,
    ) -> Result<(RefName, Vec<Wanted>, Turns), Error> {
        if changes.len() > TRANSACTION_TABLES_MAX {
            let text = format!(
                "a transaction changes at most {TRANSACTION_TABLES_MAX} tables, not {}",
                changes.len()
            );
            return Err(Error::BadRequest(text));
        }
        let mut branches = changes.iter().map(|change| self.writing(&change.target.point));
        let branch = branches.next().unwrap_or_else(|| self.writing(&place.point))?;
        if branches.any(|other| other.is_ok_and(|other| other != branch)) {
            return Err(Error::BadRequest("all tables of a transaction must be on one branch".into()));
        }
        for change in &changes {
            self.writing(&change.target.point)?;
        }
        let warehouse = self.warehouse_of(place)?;
        let state = self.branch_of(&author.principal, &branch).await?;
        let together = (changes.len() > 1).then_some(actions::UPDATE_MULTIPLE);
        let mut check = Check::on(Access::Commit, Some(&branch)).writing(warehouse.name(), author.bytes);
        let (mut wanted, mut keys) = (Vec::with_capacity(changes.len()), HashSet::new());
        for change in changes {
            let key = name_key(&state, &change.target.name).await?;
            let creates = is_create(&change.requirements)?;
            let access = if creates { Access::CreateContent } else { Access::UpdateContent };
            let action = if creates { actions::CREATE } else { actions::UPDATE };
            check = check
                .and_key(access, Some(&branch), &key, Some(ContentType::IcebergTable))
                .during(together)
                .during([action])
                .during(change.updates.iter().map(actions::of_table_update));
            if !keys.insert(key.clone()) {
                return Err(Error::BadRequest(format!("table {key} stands twice in one transaction")));
            }
            wanted.push(Wanted { key, creates, requirements: change.requirements, updates: change.updates });
        }
        self.authorize(&author.principal, &check).await?;
        let keys: Vec<ContentKey> = keys.into_iter().collect();
        let turns = self.documents().lines.wait(&branch, &keys).await?;
        Ok((branch, wanted, turns))
    }

    /// Decides every change on one state; the first that is refused refuses all.
    async fn decide(&self, state: &State, place: &Place, wanted: &[Wanted]) -> Result<Vec<Decided>, Error> {
        let mut decided = Vec::with_capacity(wanted.len());
        for one in wanted {
            decided.push(if one.creates {
                self.decide_creation(state, place, one).await?
            } else {
                self.decide_update(state, one).await?
            });
        }
        Ok(decided)
    }

    async fn decide_update(&self, state: &State, wanted: &Wanted) -> Result<Decided, Error> {
        let key = &wanted.key;
        let absent = || missing(ObjectKind::Table, key);
        let (entry, held) = state.content(key).await?.ok_or_else(absent)?;
        if entry.content_type != ContentType::IcebergTable {
            return Err(absent());
        }
        let location = held.metadata_location().ok_or_else(absent)?;
        let document = self.document(location, Kind::Table).await?;
        let base = document.table()?;
        for requirement in &wanted.requirements {
            requirement.check(Some(base))?;
        }
        let updates = self.within_warehouses(&wanted.updates);
        let applied = apply(Some(base), Some(location), &updates, self.now_ms())?;
        if !applied.changed {
            let location = location.to_owned();
            return Ok(Decided::Same { location, content_id: entry.content_id, document: document.clone() });
        }
        let base = Some((location, document.as_ref()));
        Ok(Decided::New(Box::new(self.draft(
            key.clone(),
            Some(&entry),
            base,
            Body::Table(Box::new(applied.metadata)),
        )?)))
    }

    async fn decide_creation(&self, state: &State, place: &Place, wanted: &Wanted) -> Result<Decided, Error> {
        let key = &wanted.key;
        require_parent(state, key).await?;
        if let Some(entry) = state.entry(&key.index_key()).await? {
            return Err(match entry.content_type {
                ContentType::IcebergTable => lochan_storage_iceberg::Error::AlreadyExists(
                    "Requirement failed: table already exists".to_owned(),
                )
                .into(),
                other => taken(ObjectKind::Table, other, key),
            });
        }
        let mut updates = self.within_warehouses(&wanted.updates);
        let uuid = self.new_uuid();
        ensure_uuid(&mut updates, uuid);
        if !updates.iter().any(|update| matches!(update, TableUpdate::SetLocation(_))) {
            let (location, _) = self.new_location(state, &self.warehouse_of(place)?, key, None, uuid).await?;
            updates.push(SetLocation { location: location.as_str().to_owned() }.into());
        }
        let applied: table::Applied = apply(None, None, &updates, self.now_ms())?;
        Ok(Decided::New(Box::new(self.draft(
            key.clone(),
            None,
            None,
            Body::Table(Box::new(applied.metadata)),
        )?)))
    }
}

impl Iceberg<'_> {
    /// The updates without those that would move a table out of every warehouse: like the location of a direct create,
    /// such a wish is not followed, and the answer shows where the table lies.
    fn within_warehouses(&self, updates: &[TableUpdate]) -> Vec<TableUpdate> {
        let stays = |update: &&TableUpdate| match update {
            TableUpdate::SetLocation(set) => self.allowed_location(&set.location).is_ok(),
            _ => true,
        };
        updates.iter().filter(stays).cloned().collect()
    }
}

/// The answer when others were faster in every round.
pub(super) fn given_up(lost: Option<Error>) -> Error {
    lost.unwrap_or_else(|| Error::Conflict {
        message: "the commit was overtaken too often".into(),
        conflicts: Vec::new(),
    })
}

/// The message of a transaction (Iceberg REST contract, 3.7).
fn transaction_message(drafts: &[Draft]) -> String {
    match drafts {
        [only] => only.message(),
        many => {
            let mut message = format!("Catalog commit with {} operations\n", many.len());
            for draft in many {
                message.push_str("\n* ");
                message.push_str(&draft.message());
            }
            message
        }
    }
}
