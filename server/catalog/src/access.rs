//! Who may do what. Every use case asks exactly one batched question before it acts.

pub mod identity;
pub mod rule;

use async_trait::async_trait;
pub use lochan_storage_engine::writer::Admission;
use lochan_storage_engine::writer::Who;
pub use lochan_storage_model::{ContentKey, ContentType, RefName};
use lochan_storage_odb::RequestKey;

use crate::error::Error;

/// Who asks. Anonymous without authentication: the empty name.
#[derive(Debug, Clone, Default)]
pub struct Principal {
    /// Name; becomes the committer.
    pub name: String,
    /// Roles, for rules.
    pub roles: Vec<String>,
    /// By which API they ask, for rules.
    pub api: Api,
    /// Whether they still wait for the answer. A write that is not admitted yet is given up when they do not.
    pub admission: Admission,
    /// The idempotency key of their request, if it carries one.
    pub request: Option<RequestKey>,
}

impl Principal {
    /// The writer's view of the principal.
    #[must_use]
    pub fn who(&self) -> Who {
        let admission = self.admission.clone();
        Who { principal: self.name.clone(), request: self.request, run: None, admission }
    }
}

/// The API that a request came in by.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub enum Api {
    /// Our own.
    #[default]
    Lochan,
    /// Nessie v1.
    NessieV1,
    /// Nessie v2.
    NessieV2,
    /// Iceberg REST.
    Iceberg,
}

impl Api {
    /// Name and version, as rules name them.
    #[must_use]
    pub const fn words(self) -> (&'static str, i64) {
        match self {
            Self::Lochan => ("Lochan", 1),
            Self::NessieV1 => ("Nessie", 1),
            Self::NessieV2 => ("Nessie", 2),
            Self::Iceberg => ("Iceberg", 1),
        }
    }
}

/// What is asked to be done (Nessie API, 14.3, and what Iceberg and our own surface add).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Access {
    /// Learn how to talk to the server. Needs an identity and no rule: clients ask before they do anything else.
    Connect,
    /// See that a reference exists and where it points.
    ViewReference,
    /// Create a reference.
    CreateReference,
    /// Move a reference.
    AssignReference,
    /// Delete a reference.
    DeleteReference,
    /// List entries.
    ReadEntries,
    /// See a key in a list, diff or log.
    ReadContentKey,
    /// Read a content.
    ReadContent,
    /// Read the log.
    ListCommitLog,
    /// Commit to a branch.
    Commit,
    /// Create a content.
    CreateContent,
    /// Change a content.
    UpdateContent,
    /// Delete a content.
    DeleteContent,
    /// Read the configuration of the repository.
    ReadConfig,
    /// Change the configuration of the repository.
    UpdateConfig,
    /// Read the whole repository at once, whatever single parts of it may be read.
    ExportRepository,
    /// Take in commits as they were made elsewhere: with their committers and times.
    ImportRepository,
}

/// One thing that is asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Subject {
    /// What is to be done.
    pub access: Access,
    /// On which reference; `None` for a detached commit, or where no reference plays a part.
    pub reference: Option<RefName>,
    /// On which content, with its type where it is known.
    pub content: Option<(ContentKey, Option<ContentType>)>,
    /// On which type of repository configuration.
    pub config: Option<String>,
    /// In the course of which actions of an Iceberg client, such as `CATALOG_CREATE_ENTITY`.
    pub actions: Vec<&'static str>,
}

/// What stands for the reference where a commit is named by its hash alone.
pub const DETACHED: &str = "DETACHED";

/// A batched question.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Check {
    /// Everything asked for.
    pub subjects: Vec<Subject>,
    /// Warehouse concerned, if any.
    pub warehouse: Option<String>,
    /// Bytes that the request wants to write to a warehouse or the store.
    pub bytes: u64,
}

impl Check {
    /// A question about a reference.
    #[must_use]
    pub fn on(access: Access, reference: Option<&RefName>) -> Self {
        Self::default().and(access, reference)
    }

    /// Whether the references of this question may be seen at all.
    #[must_use]
    pub(crate) fn views(&self) -> Self {
        let references = self.subjects.iter().map(|subject| subject.reference.as_ref());
        references.fold(Self::default(), |check, reference| check.and(Access::ViewReference, reference))
    }

    /// Adds a question about a reference.
    #[must_use]
    pub fn and(mut self, access: Access, reference: Option<&RefName>) -> Self {
        self.subjects.push(Subject::of(access, reference));
        self
    }

    /// Adds a question about a type of repository configuration.
    #[must_use]
    pub fn and_config(mut self, access: Access, config: &str) -> Self {
        self.subjects.push(Subject { config: Some(config.to_owned()), ..Subject::of(access, None) });
        self
    }

    /// Adds a question about a content.
    #[must_use]
    pub fn and_key(
        mut self,
        access: Access,
        reference: Option<&RefName>,
        key: &ContentKey,
        content_type: Option<ContentType>,
    ) -> Self {
        let content = Some((key.clone(), content_type));
        self.subjects.push(Subject { content, ..Subject::of(access, reference) });
        self
    }

    /// Says in the course of which actions the last thing is asked for.
    #[must_use]
    pub fn during(mut self, actions: impl IntoIterator<Item = &'static str>) -> Self {
        if let Some(last) = self.subjects.last_mut() {
            last.actions.extend(actions);
        }
        self
    }

    /// Names the warehouse and the bytes to be written.
    #[must_use]
    pub fn writing(mut self, warehouse: &str, bytes: u64) -> Self {
        self.warehouse = Some(warehouse.to_owned());
        self.bytes += bytes;
        self
    }
}

/// Answers questions about access. One answer per subject, in order.
#[async_trait]
pub trait Authorizer: Send + Sync {
    /// Whether each subject of the question is allowed to the principal.
    async fn check(&self, who: &Principal, check: &Check) -> Result<Vec<bool>, Error>;

    /// Whether every answer is yes, whatever is asked. Then nobody need find out every key that a merge touches.
    fn is_open(&self) -> bool {
        false
    }
}

/// Says yes to everything: the authorizer of a server without authentication.
#[derive(Debug, Default, Clone, Copy)]
pub struct OpenAuthorizer;

#[async_trait]
impl Authorizer for OpenAuthorizer {
    async fn check(&self, _: &Principal, check: &Check) -> Result<Vec<bool>, Error> {
        Ok(vec![true; check.subjects.len()])
    }

    fn is_open(&self) -> bool {
        true
    }
}

impl Access {
    /// Everything that can be asked for.
    pub const ALL: &'static [Self] = &[
        Self::Connect,
        Self::ViewReference,
        Self::CreateReference,
        Self::AssignReference,
        Self::DeleteReference,
        Self::ReadEntries,
        Self::ReadContentKey,
        Self::ReadContent,
        Self::ListCommitLog,
        Self::Commit,
        Self::CreateContent,
        Self::UpdateContent,
        Self::DeleteContent,
        Self::ReadConfig,
        Self::UpdateConfig,
        Self::ExportRepository,
        Self::ImportRepository,
    ];

    /// Its word in rules and refusals (Nessie API, 14.3).
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Connect => "CONNECT",
            Self::ViewReference => "VIEW_REFERENCE",
            Self::CreateReference => "CREATE_REFERENCE",
            Self::AssignReference => "ASSIGN_REFERENCE_TO_HASH",
            Self::DeleteReference => "DELETE_REFERENCE",
            Self::ReadEntries => "READ_ENTRIES",
            Self::ReadContentKey => "READ_CONTENT_KEY",
            Self::ReadContent => "READ_ENTITY_VALUE",
            Self::ListCommitLog => "LIST_COMMIT_LOG",
            Self::Commit => "COMMIT_CHANGE_AGAINST_REFERENCE",
            Self::CreateContent => "CREATE_ENTITY",
            Self::UpdateContent => "UPDATE_ENTITY",
            Self::DeleteContent => "DELETE_ENTITY",
            Self::ReadConfig => "READ_REPOSITORY_CONFIG",
            Self::UpdateConfig => "UPDATE_REPOSITORY_CONFIG",
            Self::ExportRepository => "EXPORT_REPOSITORY",
            Self::ImportRepository => "IMPORT_REPOSITORY",
        }
    }

    /// Whether a reference plays a part, so that none stands for a detached commit.
    #[must_use]
    pub const fn concerns_reference(self) -> bool {
        !matches!(
            self,
            Self::Connect
                | Self::ReadConfig
                | Self::UpdateConfig
                | Self::ExportRepository
                | Self::ImportRepository
        )
    }
}

impl Subject {
    /// Something to be done on a reference, or nowhere in particular.
    #[must_use]
    pub fn of(access: Access, reference: Option<&RefName>) -> Self {
        let reference = reference.cloned();
        Self { access, reference, content: None, config: None, actions: Vec::new() }
    }

    /// The reference in rules and refusals: empty where none plays a part.
    #[must_use]
    pub fn reference_word(&self) -> &str {
        match &self.reference {
            Some(reference) => reference.as_str(),
            None if self.access.concerns_reference() => DETACHED,
            None => "",
        }
    }

    /// The words for a refusal (Nessie API, 14.3).
    #[must_use]
    pub fn refusal(&self, who: &Principal) -> String {
        let operation = self.access.word();
        if let Some(config) = &self.config {
            return format!("'{operation}' is not allowed for repository config type '{config}'");
        }
        let mut text = format!("'{operation}' is not allowed for role '{}'", who.name);
        match &self.content {
            Some((key, _)) => text += &format!(" on content '{key}'"),
            None if self.access.concerns_reference() => {
                text += &format!(" on reference '{}'", self.reference_word());
            }
            None => {}
        }
        text
    }
}
