//! The words behind the name in `reset main to HASH`, `reset main HASH` and `reset main --to HASH`.

use lochan_api_spec::syntax::RefSpec;

use super::point;
use crate::error::Error;

/// Where a reference is to go.
#[derive(Debug, clap::Args)]
pub struct Target {
    /// The point to move to; the word `to` may stand before it.
    #[arg(value_name = "POINT", num_args = 0..=2)]
    pub words: Vec<String>,
    /// The same as an option.
    #[arg(long = "to", value_name = "POINT", conflicts_with = "words")]
    pub to: Option<String>,
}

impl Target {
    /// The point. `verb` is for the message: `reset`.
    pub fn point(&self, verb: &str) -> Result<RefSpec, Error> {
        let words: Vec<&str> = self.words.iter().map(String::as_str).collect();
        let text = match (words.as_slice(), self.to.as_deref()) {
            ([], Some(text)) => text,
            (["to", text], None) => *text,
            ([text], None) if *text != "to" => *text,
            ([], None) | (["to"], None) => {
                return Err(Error::Usage(format!("where to? Say `lochan {verb} NAME to POINT`")));
            }
            _ => {
                let said = words.join(" ");
                return Err(Error::Usage(format!(
                    "'{said}' is no target; say `lochan {verb} NAME to POINT`"
                )));
            }
        };
        point::parse(text).map_err(|error| Error::Usage(format!("'{text}' is no point: {error}")))
    }
}

/// The words behind the source in `merge dev into main` and `merge dev --into main`.
#[derive(Debug, clap::Args)]
pub struct Into {
    /// The word `into` and the branch to change (without them: the default branch).
    #[arg(value_name = "into BRANCH", num_args = 0..=2)]
    pub words: Vec<String>,
    /// The branch to change, as an option.
    #[arg(
        long = "into",
        short = 'b',
        visible_alias = "branch",
        value_name = "BRANCH",
        conflicts_with = "words"
    )]
    pub into: Option<String>,
}

impl Into {
    /// The branch, if one was named.
    pub fn branch(&self) -> Result<Option<String>, Error> {
        let words: Vec<&str> = self.words.iter().map(String::as_str).collect();
        let text = match (words.as_slice(), self.into.as_deref()) {
            ([], None) => return Ok(None),
            ([], Some(text)) => text,
            (["into", text], None) => *text,
            (["into"], None) => {
                return Err(Error::Usage(
                    "into which branch? Say `lochan merge SOURCE into BRANCH`".to_owned(),
                ));
            }
            _ => {
                let said = words.join(" ");
                return Err(Error::Usage(format!(
                    "'{said}' does not follow; say `lochan merge SOURCE into BRANCH`"
                )));
            }
        };
        branch_name(text).map(Some)
    }
}

/// The name of a branch to change, `-` included.
pub fn branch_name(text: &str) -> Result<String, Error> {
    point::parse_name(text).map_err(|error| Error::Usage(format!("'{text}' is no branch: {error}")))
}
