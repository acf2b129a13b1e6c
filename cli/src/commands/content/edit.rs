//! Contents that a person edits, as pynessie's `content commit KEY` has it.

use std::cell::RefCell;
use std::fs::{File, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

use lochan_api_spec::nessie::model::{Content, ContentKey, Operation};
use lochan_api_spec::syntax::RefSpec;

use super::document;
use crate::args::key;
use crate::commands::Session;
use crate::error::Error;

/// What a person who makes a new table begins with.
const NEW_TABLE: &str = r#"{
  "type": "ICEBERG_TABLE",
  "metadataLocation": "",
  "snapshotId": -1,
  "schemaId": 0,
  "specId": 0,
  "sortOrderId": 0
}
"#;

/// What a person typed and is not committed yet: the key of each text, as it is typed, and the file with it. Nothing of it is
/// lost until it is committed.
#[derive(Debug, Default)]
pub struct Typed(RefCell<Vec<(String, PathBuf)>>);

impl Typed {
    /// Takes the texts away when they were committed, and tells where they are when they were not.
    pub fn settle<T>(&self, ended: Result<T, Error>) -> Result<T, Error> {
        let texts = self.0.take();
        match ended {
            Err(error) if !texts.is_empty() => Err(Error::Edited { error: Box::new(error), texts }),
            ended => {
                for (_, path) in &texts {
                    remove(path);
                }
                ended
            }
        }
    }
}

/// Opens the editor on what each key holds; a text that comes back as it was, or empty, changes nothing. Puts of those that
/// were changed.
pub async fn edit(
    editor: &str,
    keys: &[ContentKey],
    at: &RefSpec,
    session: &Session,
) -> Result<Vec<Operation>, Error> {
    let held = session.client.contents(at, keys).await?.contents;
    let mut operations = Vec::new();
    for key in keys {
        let held = held.iter().find(|held| held.key == *key).map(|held| &held.content);
        operations.extend(edit_one(editor, key, held, &session.typed)?);
    }
    Ok(operations)
}

fn edit_one(
    editor: &str,
    key: &ContentKey,
    held: Option<&Content>,
    typed: &Typed,
) -> Result<Option<Operation>, Error> {
    let before = match held {
        Some(content) => format!("{:#}\n", serde_json::to_value(content)?),
        None => NEW_TABLE.to_owned(),
    };
    let path = aside();
    let after = match ask(editor, &before, &path) {
        Ok(after) if !after.trim().is_empty() && after != before => after,
        other => {
            remove(&path);
            return other.map(|_| None);
        }
    };
    typed.0.borrow_mut().push((key::show(key), path));
    let content = serde_json::from_str(&after)
        .map_err(|error| Error::Usage(format!("the edited text is no content: {error}")))?;
    Ok(Some(Operation::Put { key: key.clone(), content }))
}

/// Hands a text to the editor in a file and takes it back.
fn ask(editor: &str, text: &str, path: &Path) -> Result<String, Error> {
    let failed = |reason: String| Error::File { path: path.display().to_string(), reason };
    write(path, text).map_err(|error| failed(error.to_string()))?;
    open(editor, path)?;
    File::open(path).map_err(|error| error.to_string()).and_then(document::read_text).map_err(failed)
}

/// Takes a file away; one that stays behind does no harm.
fn remove(path: &Path) {
    let _ = std::fs::remove_file(path);
}

fn aside() -> PathBuf {
    let now = crate::host::now();
    let name = format!("lochan-{}-{}-{}.json", std::process::id(), now.seconds(), now.nanos());
    std::env::temp_dir().join(name)
}

fn write(path: &Path, text: &str) -> std::io::Result<()> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt;
        options.mode(0o600);
    }
    options.open(path)?.write_all(text.as_bytes())
}

fn open(editor: &str, path: &Path) -> Result<(), Error> {
    let mut words = editor.split_whitespace();
    let program = words.next().unwrap_or("vi");
    let ended = Command::new(program).args(words).arg(path).status();
    match ended {
        Ok(status) if status.success() => Ok(()),
        Ok(_) => Err(Error::Usage(format!("{program} gave up; nothing was changed"))),
        Err(error) => Err(Error::Usage(format!("{program} does not start: {error}; set EDITOR"))),
    }
}
