//! Contents that a person edits, as pynessie's `content commit KEY` has it.

use std::fs::OpenOptions;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

use lochan_api_spec::nessie::model::{Content, ContentKey, GetMultipleContentsRequest, Operation};
use lochan_api_spec::nessie::v2::trees::GetMultipleContents;
use lochan_api_spec::syntax::RefSpec;

use super::document;
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

/// Opens the editor on what each key holds; a text that comes back as it was, or empty, changes nothing.
pub async fn edit(
    editor: &str,
    keys: &[ContentKey],
    at: &RefSpec,
    session: &Session,
) -> Result<Vec<Operation>, Error> {
    let body = GetMultipleContentsRequest { requested_keys: keys.to_vec() };
    let path = GetMultipleContents::path(at);
    let held = session.client.send::<GetMultipleContents>(path, &Default::default(), &body).await?.contents;
    let mut operations = Vec::new();
    for key in keys {
        let before = match held.iter().find(|held| held.key == *key) {
            Some(held) => format!("{:#}\n", serde_json::to_value(&held.content)?),
            None => NEW_TABLE.to_owned(),
        };
        let after = ask(editor, &before)?;
        if after.trim().is_empty() || after == before {
            continue;
        }
        let content: Content = serde_json::from_str(&after)
            .map_err(|error| Error::Usage(format!("the edited text is no content: {error}")))?;
        operations.push(Operation::Put { key: key.clone(), content });
    }
    Ok(operations)
}

/// Hands a text to the editor and takes it back.
fn ask(editor: &str, text: &str) -> Result<String, Error> {
    let path = aside();
    let failed =
        |error: std::io::Error| Error::File { path: path.display().to_string(), reason: error.to_string() };
    let ended = write(&path, text).map_err(failed).and_then(|()| open(editor, &path));
    let after = std::fs::File::open(&path).map_err(|error| error.to_string()).and_then(document::read_text);
    // The text is read, or there is an error to tell; a file that stays behind is no third thing.
    let _ = std::fs::remove_file(&path);
    ended?;
    after.map_err(|reason| Error::File { path: path.display().to_string(), reason })
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
