//! References: reading, listing, creating, moving and deleting them.

use lochan_storage_engine::history::LogEntry;
pub use lochan_storage_engine::refs::Distance;
use lochan_storage_model::{CommitId, RefName};
pub use lochan_storage_odb::{RefKind, Reference};

use super::{
    Hash, Page, Point,
    filter::{Kind, values},
    page::{CHUNK_ELEMENTS, Filling},
};
use crate::{
    access::{Access, Check, Principal},
    catalog::Catalog,
    error::Error,
};

/// A reference, and how it relates to the default branch if that was asked for.
#[derive(Debug, Clone)]
pub struct Described {
    /// The reference.
    pub reference: Reference,
    /// `None` when not asked for, and at the empty state.
    pub metadata: Option<Metadata>,
}

/// What is known about where a reference points (Nessie API, 4.1).
#[derive(Debug, Clone)]
pub struct Metadata {
    /// How far it is from the default branch; only for other branches.
    pub distance: Option<Distance>,
    /// The commit it points at.
    pub head: LogEntry,
    /// Commits along first parents.
    pub total: u64,
}

/// A list of references asked for: all branches by name, then all tags by name.
#[derive(Debug, Clone, Default)]
pub struct List {
    /// Whether metadata is filled in.
    pub metadata: bool,
    /// A filter expression.
    pub filter: Option<String>,
    /// Most references of a page; all without it.
    pub size: Option<usize>,
    /// Where to begin: the first reference to show.
    pub from: Option<(RefKind, RefName)>,
}

impl Catalog {
    /// A reference by name.
    pub async fn get_reference(
        &self,
        who: &Principal,
        name: &str,
        metadata: bool,
    ) -> Result<Described, Error> {
        let asked = RefName::new(name).ok();
        self.authorize(who, &Check::on(Access::ViewReference, asked.as_ref())).await?;
        let reference = self.find_reference(name).await?;
        self.describe(reference, metadata).await
    }

    /// Lists the references that the principal may view.
    pub async fn list_references(
        &self,
        who: &Principal,
        list: &List,
    ) -> Result<Page<Described, (RefKind, RefName)>, Error> {
        let filter = self.filters().compile(Kind::References, list.filter.as_deref())?;
        let mut page = Filling::new(list.size);
        let (first_kind, first_name) = match &list.from {
            Some((kind, name)) => (*kind, Some(name.clone())),
            None => (RefKind::Branch, None),
        };
        let kinds = match first_kind {
            RefKind::Branch => &[RefKind::Branch, RefKind::Tag][..],
            RefKind::Tag => &[RefKind::Tag][..],
        };
        for kind in kinds {
            let mut at = if *kind == first_kind { first_name.clone() } else { None };
            // The first name is shown itself, so it is looked up before the names behind it.
            let mut found = match &at {
                Some(name) => self.engine().find_reference(name).await?.into_iter().collect(),
                None => Vec::new(),
            };
            loop {
                found.retain(|reference| reference.kind == *kind);
                if !found.is_empty() {
                    let check = found.iter().fold(Check::default(), |check, reference| {
                        check.and(Access::ViewReference, Some(&reference.name))
                    });
                    let visible = self.visible(who, &check).await?;
                    for (reference, _) in found.drain(..).zip(visible).filter(|(_, visible)| *visible) {
                        if page.is_done() {
                            break;
                        }
                        let described = self.describe(reference, list.metadata).await?;
                        let accepted = match &filter {
                            Some(filter) => filter.accepts(&values::Described(&described))?,
                            None => true,
                        };
                        if accepted {
                            page.push(described);
                        }
                    }
                }
                if page.is_done() {
                    break;
                }
                found = self.engine().references(at.as_ref(), CHUNK_ELEMENTS).await?;
                match found.last() {
                    Some(last) => at = Some(last.name.clone()),
                    None => break,
                }
            }
        }
        let (items, next) = page.finish();
        let next = next.map(|described| (described.reference.kind, described.reference.name));
        Ok(Page { items, next })
    }

    /// Creates a reference at the commit that `source` names; the source's own kind plays no part.
    pub async fn create_reference(
        &self,
        who: &Principal,
        name: &RefName,
        kind: RefKind,
        source: &Point,
    ) -> Result<Reference, Error> {
        let check = self.check_source(Check::on(Access::CreateReference, Some(name)), source).await?;
        self.authorize(who, &check).await?;
        // The default branch can begin without a source that is there; where it exists, that is what is told.
        let begins_default = kind == RefKind::Branch
            && *name == self.settings().default_branch
            && source.parts.is_empty()
            && source.hash.as_ref().is_none_or(|hash| *hash == Hash::Id(CommitId::NO_ANCESTOR));
        let target = match self.resolve_pinned(source, "Target hash").await {
            Err(Error::ReferenceNotFound(_)) if begins_default => CommitId::NO_ANCESTOR,
            found => found?.commit,
        };
        Ok(self.engine().create_reference(name, kind, target, who.who()).await?)
    }

    /// Moves a reference to the commit that `target` names, if it is where `point` expects it.
    pub async fn assign_reference(
        &self,
        who: &Principal,
        point: &Point,
        kind: Option<RefKind>,
        target: &Point,
    ) -> Result<Reference, Error> {
        let check = Check::on(Access::AssignReference, point.ref_name().as_ref());
        let check = self.check_source(check, target).await?;
        self.authorize(who, &check).await?;
        let found = match &point.name {
            Some(name) => self.find_reference(name).await?,
            None => {
                point.check()?;
                return Err(Error::BadRequest("Assignment target must be a branch or a tag.".into()));
            }
        };
        let expected = self.expected(point).await?;
        let to = self.find_source(target, "Target hash").await?;
        check_kind(&found, kind)?;
        let expected = at(&found, &expected)?;
        let to = self.existing(&to).await?;
        self.engine().assign_reference(&found.name, expected, to, who.who()).await?;
        Ok(Reference { target: to, ..found })
    }

    /// Deletes a reference, if it is where `point` expects it; answers with what it was.
    pub async fn delete_reference(
        &self,
        who: &Principal,
        point: &Point,
        kind: Option<RefKind>,
    ) -> Result<Reference, Error> {
        self.authorize(who, &Check::on(Access::DeleteReference, point.ref_name().as_ref())).await?;
        let found = match &point.name {
            Some(name) => self.find_reference(name).await?,
            None => return Err(Error::ReferenceNotFound("Named reference 'DETACHED' not found".into())),
        };
        check_kind(&found, kind)?;
        if found.name == self.settings().default_branch {
            return Err(Error::BadRequest(format!("Default branch '{}' cannot be deleted.", found.name)));
        }
        let expected = at(&found, &self.expected(point).await?)?;
        Ok(self.engine().delete_reference(&found.name, expected, who.who()).await?)
    }

    /// Asks too whether the state may be seen that a reference is to point at. Anybody knows the empty one.
    async fn check_source(&self, check: Check, source: &Point) -> Result<Check, Error> {
        let is_empty = source.hash.as_ref().is_none_or(|hash| *hash == Hash::Id(CommitId::NO_ANCESTOR));
        if source.name.is_none() && is_empty && source.parts.is_empty() {
            return Ok(check);
        }
        Ok(check.and(Access::ViewReference, self.rights_on(source, None).await?.as_ref()))
    }

    /// Where a reference is expected, relative parts applied.
    async fn expected(&self, point: &Point) -> Result<Hash, Error> {
        point.check()?;
        let start = point.start("Expected hash")?;
        if point.parts.is_empty() {
            return Ok(start.clone());
        }
        let detached = Point { name: None, ..point.clone() };
        Ok(Hash::Id(self.resolve_pinned(&detached, "Expected hash").await?.commit))
    }

    /// Fills in what is known about a reference.
    pub(crate) async fn describe(&self, reference: Reference, metadata: bool) -> Result<Described, Error> {
        if !metadata || reference.target.is_no_ancestor() {
            return Ok(Described { reference, metadata: None });
        }
        let default = &self.settings().default_branch;
        let commit = self.engine().commits().load(reference.target).await?;
        let distance = if reference.kind == RefKind::Branch && reference.name != *default {
            // A repository whose default branch is missing compares with the empty state.
            let default = self.engine().find_reference(default).await?;
            let default = default.map_or(CommitId::NO_ANCESTOR, |default| default.target);
            Some(self.engine().distance(reference.target, default).await?)
        } else {
            None
        };
        let total = commit.header.depth;
        let head = LogEntry { id: reference.target, commit };
        Ok(Described { reference, metadata: Some(Metadata { distance, head, total }) })
    }
}

/// The head of a reference, if it is the one expected.
fn at(found: &Reference, expected: &Hash) -> Result<CommitId, Error> {
    if *expected == Hash::Id(found.target) {
        return Ok(found.target);
    }
    let (name, target) = (&found.name, found.target);
    Err(Error::unexpected_hash(format!(
        "Named-reference '{name}' is not at expected hash '{expected}', but at '{target}'."
    )))
}

fn check_kind(found: &Reference, expected: Option<RefKind>) -> Result<(), Error> {
    let word = |kind| match kind {
        RefKind::Branch => "BRANCH",
        RefKind::Tag => "TAG",
    };
    match expected {
        Some(kind) if kind != found.kind => {
            let class = match found.kind {
                RefKind::Branch => "BranchName",
                RefKind::Tag => "TagName",
            };
            Err(Error::BadRequest(format!(
                "Expected reference type {} does not match existing reference {class}{{name={}}}",
                word(kind),
                found.name
            )))
        }
        _ => Ok(()),
    }
}
