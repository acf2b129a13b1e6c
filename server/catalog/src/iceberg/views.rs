//! Views: create, load, replace.

use lochan_storage_iceberg::view::{CreateView, ViewRequirement, ViewUpdate, apply, create};
use lochan_storage_model::ContentType;

use super::{
    Iceberg, ViewAnswer, actions,
    author::Author,
    create::require_free,
    documents::{Body, Document, Kind},
    place::{Place, Target, missing, name_key},
    publish::{Publication, Published, ROUNDS_MAX},
    tables::given_up,
};
use crate::{
    access::{Access, Check, Principal},
    error::{Error, ObjectKind},
};

/// Changes of one view.
#[derive(Debug, Clone)]
pub struct ViewChange {
    /// The view.
    pub target: Target,
    /// What must hold.
    pub requirements: Vec<ViewRequirement>,
    /// What to change, in order.
    pub updates: Vec<ViewUpdate>,
}

impl Iceberg<'_> {
    /// Loads a view.
    pub async fn load_view(&self, who: &Principal, target: &Target) -> Result<ViewAnswer, Error> {
        let found = self.find(who, target, ObjectKind::View).await?;
        let document = self.document(&found.location, Kind::View).await?;
        view_answer(&found.location, &document)
    }

    /// Creates a view.
    pub async fn create_view(
        &self,
        author: &Author,
        place: &Place,
        target: &Target,
        request: &CreateView,
    ) -> Result<ViewAnswer, Error> {
        let warehouse = self.warehouse_of(place)?;
        let (branch, key) =
            self.admit_new(author, &warehouse, target, ContentType::IcebergView, &[actions::CREATE]).await?;
        let _turns = self.documents().lines.wait(&branch, std::slice::from_ref(&key)).await?;
        let uuid = self.new_uuid();
        let mut lost = None;
        for _ in 0..ROUNDS_MAX {
            let (_, state) = self.branch_head(&branch).await?;
            require_free(&state, &key, ObjectKind::View).await?;
            let wanted = request.location.as_deref();
            let (location, _) = self.new_location(&state, &warehouse, &key, wanted, uuid).await?;
            let metadata = create(request, uuid, location.as_str(), self.now_ms())?;
            let draft = self.draft(key.clone(), None, None, Body::View(metadata))?;
            let publication = Publication::of(&branch, state.commit(), draft);
            match self.publish(author, publication).await? {
                Published::Landed(_, drafts) => {
                    let Some(draft) = drafts.first() else { break };
                    return view_answer(draft.location.as_str(), &draft.document);
                }
                Published::Lost(error) => lost = Some(error),
            }
        }
        Err(given_up(lost))
    }

    /// Commits to a view and answers with its new state.
    pub async fn commit_view(
        &self,
        author: &Author,
        place: &Place,
        change: ViewChange,
    ) -> Result<ViewAnswer, Error> {
        let branch = self.writing(&change.target.point)?;
        let warehouse = self.warehouse_of(place)?;
        let state = self.branch_of(&author.principal, &branch).await?;
        let key = name_key(&state, &change.target.name).await?;
        let check = Check::on(Access::Commit, Some(&branch))
            .and_key(Access::UpdateContent, Some(&branch), &key, Some(ContentType::IcebergView))
            .during([actions::UPDATE])
            .during(change.updates.iter().map(actions::of_view_update))
            .writing(warehouse.name(), author.bytes);
        self.authorize(&author.principal, &check).await?;
        let _turns = self.documents().lines.wait(&branch, std::slice::from_ref(&key)).await?;
        let mut lost = None;
        for _ in 0..ROUNDS_MAX {
            let (_, state) = self.branch_head(&branch).await?;
            let absent = || missing(ObjectKind::View, &key);
            let found = state.content(&key).await?;
            let found = found.filter(|(entry, _)| entry.content_type == ContentType::IcebergView);
            let (entry, held) = found.ok_or_else(absent)?;
            let location = held.metadata_location().ok_or_else(absent)?;
            let document = self.document(location, Kind::View).await?;
            let base = document.view()?;
            for requirement in &change.requirements {
                requirement.check(base)?;
            }
            let stays = |update: &&ViewUpdate| match update {
                // As for tables: a wish to lie outside of every warehouse is not followed.
                ViewUpdate::SetLocation(set) => self.allowed_location(&set.location).is_ok(),
                _ => true,
            };
            let updates: Vec<ViewUpdate> = change.updates.iter().filter(stays).cloned().collect();
            let applied = apply(base, &updates, self.now_ms())?;
            if !applied.changed {
                return view_answer(location, &document);
            }
            let base = Some((location, document.as_ref()));
            let draft = self.draft(key.clone(), Some(&entry), base, Body::View(applied.metadata))?;
            let publication = Publication::of(&branch, state.commit(), draft);
            match self.publish(author, publication).await? {
                Published::Landed(_, drafts) => {
                    let Some(draft) = drafts.first() else { break };
                    return view_answer(draft.location.as_str(), &draft.document);
                }
                Published::Lost(error) => lost = Some(error),
            }
        }
        Err(given_up(lost))
    }
}

/// The answer for a view.
pub(super) fn view_answer(location: &str, document: &Document) -> Result<ViewAnswer, Error> {
    let metadata = document.view()?.to_json().into();
    Ok(ViewAnswer { metadata_location: location.to_owned(), metadata })
}
