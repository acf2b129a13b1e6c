//! Who may do what. Every use case asks exactly one batched question before it acts.

use async_trait::async_trait;
pub use lochan_storage_engine::writer::Admission;
use lochan_storage_engine::writer::Who;
use lochan_storage_model::{ContentKey, ContentType, RefName};
use lochan_storage_odb::RequestKey;

use crate::error::Error;

/// Who asks. Anonymous without authentication: the empty name.
#[derive(Debug, Clone, Default)]
pub struct Principal {
    /// Name; becomes the committer.
    pub name: String,
    /// Roles, for rules.
    pub roles: Vec<String>,
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

/// What is asked to be done (Nessie API, 14.3, and what Iceberg and our own surface add).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Access {
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
    /// Read the configuration of server and repository.
    ReadConfig,
    /// Change the configuration of the repository.
    UpdateConfig,
}

/// One thing that is asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Subject {
    /// What is to be done.
    pub access: Access,
    /// On which reference; `None` for a detached commit or none at all.
    pub reference: Option<RefName>,
    /// On which content, with its type where it is known.
    pub content: Option<(ContentKey, Option<ContentType>)>,
}

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

    /// Adds a question about a reference.
    #[must_use]
    pub fn and(mut self, access: Access, reference: Option<&RefName>) -> Self {
        self.subjects.push(Subject { access, reference: reference.cloned(), content: None });
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
        self.subjects.push(Subject { access, reference: reference.cloned(), content });
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

impl Subject {
    /// The words for a refusal (Nessie API, 14.3).
    #[must_use]
    pub fn refusal(&self, who: &Principal) -> String {
        let operation = match self.access {
            Access::ViewReference => "VIEW_REFERENCE",
            Access::CreateReference => "CREATE_REFERENCE",
            Access::AssignReference => "ASSIGN_REFERENCE_TO_HASH",
            Access::DeleteReference => "DELETE_REFERENCE",
            Access::ReadEntries => "READ_ENTRIES",
            Access::ReadContentKey => "READ_CONTENT_KEY",
            Access::ReadContent => "READ_ENTITY_VALUE",
            Access::ListCommitLog => "LIST_COMMIT_LOG",
            Access::Commit => "COMMIT_CHANGE_AGAINST_REFERENCE",
            Access::CreateContent => "CREATE_ENTITY",
            Access::UpdateContent => "UPDATE_ENTITY",
            Access::DeleteContent => "DELETE_ENTITY",
            Access::ReadConfig => "READ_REPOSITORY_CONFIG",
            Access::UpdateConfig => "UPDATE_REPOSITORY_CONFIG",
        };
        let mut text = format!("'{operation}' is not allowed for role '{}'", who.name);
        if let Some((key, _)) = &self.content {
            text += &format!(" on content '{key}'");
        } else if let Some(reference) = &self.reference {
            text += &format!(" on reference '{reference}'");
        }
        text
    }
}
