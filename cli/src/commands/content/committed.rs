//! Sending a commit, and what it came to.

use lochan_api_spec::nessie::model::{CommitMetaInput, CommitResponse, Operation, Operations};
use lochan_api_spec::nessie::v2::trees::CommitMultipleOperations;
use lochan_api_spec::syntax::RefSpec;
use serde_json::Value;

use crate::args::key;
use crate::commands::commit::entry::operation_line;
use crate::commands::{Done, Session};
use crate::error::Error;
use crate::output::Report;
use crate::output::page::Page;

/// How many keys a message that nobody wrote may name.
const KEYS_NAMED_MAX: usize = 5;

// Onto what a commit is made, and what it says. No doc comment: clap would show it as the command's own help.
#[allow(missing_docs, reason = "see above")]
#[derive(Debug, clap::Args)]
pub struct Onto {
    /// The branch (without it: the default branch)
    #[arg(short = 'r', long = "ref", value_name = "BRANCH")]
    pub branch: Option<String>,
    /// What the commit does, in words
    #[arg(short, long)]
    pub message: Option<String>,
    /// Who made the change; may be repeated
    #[arg(long, value_name = "NAME")]
    pub author: Vec<String>,
    /// Decide against this commit of the branch, its head or an older one (without it: the head read just before)
    #[arg(short = 'c', long, value_name = "HASH", alias = "condition")]
    pub expected: Option<String>,
}

impl Onto {
    /// The branch to change.
    pub async fn target(&self, session: &Session) -> Result<Target, Error> {
        target(self.branch.as_deref(), self.expected.as_deref(), session).await
    }
}

/// The branch to change.
pub struct Target {
    /// The branch with the commit that the change is decided against.
    pub state: RefSpec,
    /// Its head, which the change moves on from.
    pub head: String,
}

/// The branch to change, and the commit of it that is expected.
pub async fn target(
    branch: Option<&str>,
    expected: Option<&str>,
    session: &Session,
) -> Result<Target, Error> {
    let name = session.branch(branch)?;
    let head = session.client.resolve(&RefSpec::named(name.clone())).await?;
    let hash = session.expected(expected, &head).await?;
    Ok(Target { state: RefSpec::at(head.name.unwrap_or(name), hash), head: head.hash })
}

/// `Put a.b, delete c`
pub fn default_message(operations: &[Operation]) -> String {
    let words = |operation: &Operation| match operation {
        Operation::Put { key, .. } => format!("put {}", key::show(key)),
        Operation::Delete { key } => format!("delete {}", key::show(key)),
        Operation::Unchanged { key } => format!("keep {}", key::show(key)),
    };
    let mut message = operations.iter().take(KEYS_NAMED_MAX).map(words).collect::<Vec<_>>().join(", ");
    if operations.len() > KEYS_NAMED_MAX {
        message.push_str(&format!(" and {} more", operations.len() - KEYS_NAMED_MAX));
    }
    if let Some(first) = message.get_mut(..1) {
        first.make_ascii_uppercase();
    }
    message
}

/// Sends the commit.
pub async fn send(
    target: Target,
    commit_meta: CommitMetaInput,
    operations: Vec<Operation>,
    session: &Session,
) -> Result<Done, Error> {
    let body = Operations { commit_meta, operations };
    let path = CommitMultipleOperations::path(&target.state);
    let response = session.client.send::<CommitMultipleOperations>(path, &(), &body).await?;
    Ok(Committed { response, head: target.head, operations: body.operations }.into())
}

struct Committed {
    response: CommitResponse,
    head: String,
    operations: Vec<Operation>,
}

impl Report for Committed {
    fn json(&self) -> Result<Value, serde_json::Error> {
        serde_json::to_value(&self.response)
    }

    fn human(&self, page: &mut Page) {
        let branch = page.name(self.response.target_branch.name.as_deref().unwrap_or_default());
        let old = page.head(Some(&self.head));
        let new = page.head(self.response.target_branch.hash.as_deref());
        page.line(&format!("Committed to {branch}: {old} → {new}"));
        for operation in &self.operations {
            let line = operation_line(page, operation);
            page.line(&format!("  {line}"));
        }
    }
}
