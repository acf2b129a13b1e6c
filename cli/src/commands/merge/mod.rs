//! Bringing changes from one line of history into a branch.

pub mod cherry_pick;
mod conflicts;
pub mod merge_into;
mod outcome;
pub mod rebase;

use lochan_api_spec::nessie::model::{MergeBehavior, MergeKeyBehavior};

use crate::args::key;
use crate::args::mode::{self, KeyMode};

/// What happens to keys that both sides changed.
#[derive(Debug, Clone, clap::Args)]
pub struct Modes {
    /// For all keys: NORMAL reports conflicts, FORCE takes the source's state, DROP keeps the target's
    #[arg(long, value_name = "MODE", default_value = "NORMAL", value_parser = mode::parse, hide_default_value = true)]
    pub mode: MergeBehavior,
    /// For one key, such as sales.orders=FORCE; may be repeated
    #[arg(long, value_name = "KEY=MODE", value_parser = mode::parse_key_mode)]
    pub key_mode: Vec<KeyMode>,
}

/// A command as typed: its words, and of the options those that were given.
fn typed<'a>(words: &[&str], options: impl IntoIterator<Item = (&'a str, Option<&'a str>)>) -> String {
    let given = options.into_iter().filter_map(|(option, value)| Some([option, value?]));
    let words = words.iter().copied().chain(given.flatten());
    words.map(key::in_shell).collect::<Vec<_>>().join(" ")
}

impl Modes {
    fn keys(&self) -> Vec<MergeKeyBehavior> {
        self.key_mode.iter().map(KeyMode::to_wire).collect()
    }
}
