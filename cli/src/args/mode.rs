//! Merge modes as people type them: `force`, `sales.orders=DROP`.

use lochan_api_spec::nessie::model::{ContentKey, MergeBehavior, MergeKeyBehavior};

use super::key;

/// The modes.
pub const NAMES: [&str; 3] = ["NORMAL", "FORCE", "DROP"];

/// Reads a mode, in any case.
pub fn parse(text: &str) -> Result<MergeBehavior, String> {
    match text.to_ascii_uppercase().as_str() {
        "NORMAL" => Ok(MergeBehavior::Normal),
        "FORCE" => Ok(MergeBehavior::Force),
        "DROP" => Ok(MergeBehavior::Drop),
        _ => Err("a mode is NORMAL (report conflicts), FORCE (the source wins) or DROP (the target stays)"
            .to_owned()),
    }
}

/// The mode of one key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeyMode {
    /// The key.
    pub key: ContentKey,
    /// Its mode.
    pub mode: MergeBehavior,
}

impl KeyMode {
    /// The wire form.
    pub fn to_wire(&self) -> MergeKeyBehavior {
        MergeKeyBehavior {
            key: self.key.clone(),
            merge_behavior: self.mode,
            expected_target_content: None,
            resolved_content: None,
        }
    }
}

/// Reads `KEY=MODE`.
pub fn parse_key_mode(text: &str) -> Result<KeyMode, String> {
    let (key, mode) =
        text.rsplit_once('=').ok_or("a key mode is written KEY=MODE, such as sales.orders=FORCE")?;
    Ok(KeyMode { key: key::parse(key)?, mode: parse(mode)? })
}
