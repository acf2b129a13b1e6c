//! What the subcommands ask of a running server: over a socket in its data folder, which only its owner can use.
//!
//! One request a connection, a line of JSON each way; answers tell progress until one is the last. A client that goes
//! away ends what it asked for.

use std::{
    fs::Permissions,
    io,
    os::unix::fs::PermissionsExt as _,
    path::{Path, PathBuf},
    sync::Arc,
};

use anyhow::{Context, bail};
use lochan_storage::Sweep;
use lochan_storage_engine::backup::{self, Taken};
use lochan_storage_engine::pace::Pace;
use lochan_storage_files::{S3Config, Secret};
use lochan_storage_model::ports::SystemClock;
use serde::{Deserialize, Serialize};
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::{UnixListener, UnixStream};
use tokio::sync::{Mutex, mpsc};

use crate::{aside, vault::Place};

/// Name of the socket in the data folder.
const SOCKET: &str = "control.sock";
/// Longest line in bytes.
const LINE_BYTES_MAX: u64 = 64 * 1024;
/// Answers that wait to be sent.
const WAITING_MAX: usize = 16;

/// Something asked of a server.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Request {
    /// Take a backup.
    Backup(TakeBackup),
}

/// A backup to be taken.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct TakeBackup {
    /// Where to.
    pub to: String,
    /// Most bytes read in a second; 0 for no bound.
    pub bytes_per_second: u64,
    /// How the bucket is reached, if it is one.
    pub s3: Option<S3>,
}

/// The settings of a bucket, as they go through the socket.
#[derive(Clone, Serialize, Deserialize)]
pub struct S3 {
    endpoint: Option<String>,
    region: String,
    path_style: bool,
    access_key_id: Option<String>,
    secret_access_key: Option<String>,
}

impl std::fmt::Debug for S3 {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("S3").field("endpoint", &self.endpoint).finish_non_exhaustive()
    }
}

impl From<&S3Config> for S3 {
    fn from(config: &S3Config) -> Self {
        let secret = config.secret_access_key.as_ref().map(|secret| secret.expose().to_owned());
        Self {
            endpoint: config.endpoint.clone(),
            region: config.region.clone(),
            path_style: config.path_style,
            access_key_id: config.access_key_id.clone(),
            secret_access_key: secret,
        }
    }
}

impl From<S3> for S3Config {
    fn from(s3: S3) -> Self {
        Self {
            endpoint: s3.endpoint,
            external_endpoint: None,
            region: s3.region,
            path_style: s3.path_style,
            access_key_id: s3.access_key_id,
            secret_access_key: s3.secret_access_key.map(Secret::new),
        }
    }
}

/// What a server answers.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Answer {
    /// How far it is.
    Progress(Counts),
    /// It is done.
    Done(Counts),
    /// It failed; why.
    Failed(String),
}

/// What was copied.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counts {
    /// Objects copied in this run.
    pub objects: u64,
    /// Their bytes.
    pub bytes: u64,
    /// References at the point of the backup.
    pub references: u64,
    /// Log entries.
    pub log_entries: u64,
    /// Records.
    pub records: u64,
}

impl From<&Taken> for Counts {
    fn from(taken: &Taken) -> Self {
        let Taken { objects, bytes, references, log_entries, records } = *taken;
        Self { objects, bytes, references, log_entries, records }
    }
}

/// Takes a backup of `store`. Its copying comes behind all else that the process does.
pub async fn take(
    store: &Arc<dyn Sweep>,
    request: &TakeBackup,
    mut told: impl FnMut(Counts) + Send + 'static,
) -> anyhow::Result<Counts> {
    let place = Place::open(&request.to, request.s3.clone().map(S3Config::from))?;
    let mut pace = match request.bytes_per_second {
        0 => Pace::unbounded(),
        limit => Pace::bytes_per_second(limit),
    };
    let begun = backup::begin(store, &place, &SystemClock).await?;
    let copy = async move || begun.copy(&place, &mut pace, &mut |taken: &Taken| told(taken.into())).await;
    let taken = aside::run("lochan-backup", copy).await??;
    Ok((&taken).into())
}

/// The socket of a server, removed when it is dropped.
pub struct Control {
    listener: UnixListener,
    path: PathBuf,
}

impl Control {
    /// Listens in `data_dir`, whose store this process holds, so that a socket left behind by a killed server is nobody's.
    pub fn open(data_dir: &Path) -> io::Result<Self> {
        let path = data_dir.join(SOCKET);
        match std::fs::remove_file(&path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
        let listener = UnixListener::bind(&path)?;
        std::fs::set_permissions(&path, Permissions::from_mode(0o600))?;
        Ok(Self { listener, path })
    }

    /// Does what is asked, one after another, until `stop`.
    pub async fn serve(self, store: Arc<dyn Sweep>, stop: impl Future<Output = ()>) {
        let one = Arc::new(Mutex::new(()));
        let mut stop = std::pin::pin!(stop);
        let mut at_work = tokio::task::JoinSet::new();
        loop {
            let accepted = tokio::select! {
                () = &mut stop => break,
                accepted = self.listener.accept() => accepted,
                Some(_) = at_work.join_next() => continue,
            };
            match accepted {
                Ok((stream, _)) => {
                    at_work.spawn(answer(stream, store.clone(), one.clone()));
                }
                Err(error) => {
                    tracing::warn!(%error, "the control socket does not accept");
                    tokio::time::sleep(std::time::Duration::from_secs(1)).await;
                }
            }
        }
        at_work.shutdown().await;
    }
}

impl Drop for Control {
    fn drop(&mut self) {
        // Best effort: the next server removes what is left.
        let _ = std::fs::remove_file(&self.path);
    }
}

async fn answer(stream: UnixStream, store: Arc<dyn Sweep>, one: Arc<Mutex<()>>) {
    let (reader, mut writer) = stream.into_split();
    let mut line = String::new();
    let read = BufReader::new(reader.take(LINE_BYTES_MAX)).read_line(&mut line).await;
    let request = read.map_err(anyhow::Error::from).and_then(|_| Ok(serde_json::from_str(&line)?));
    let (tell, mut told) = mpsc::channel(WAITING_MAX);
    let work = async move {
        let done = match request {
            Ok(Request::Backup(request)) => match one.try_lock() {
                Ok(_alone) => {
                    tracing::info!(to = request.to, "a backup begins");
                    let progress = tell.clone();
                    let done = take(&store, &request, move |counts| {
                        // Progress that nobody takes is left out.
                        let _ = progress.try_send(Answer::Progress(counts));
                    })
                    .await;
                    match &done {
                        Ok(counts) => {
                            tracing::info!(to = request.to, objects = counts.objects, "a backup is done")
                        }
                        Err(error) => tracing::error!(to = request.to, "a backup failed: {error:#}"),
                    }
                    done
                }
                Err(_) => Err(anyhow::anyhow!("another backup is being taken")),
            },
            Err(error) => Err(error.context("the request cannot be read")),
        };
        let last = done.map_or_else(|error| Answer::Failed(format!("{error:#}")), Answer::Done);
        // The client may have gone.
        let _ = tell.send(last).await;
    };
    let send = async move {
        while let Some(answer) = told.recv().await {
            let Ok(mut text) = serde_json::to_string(&answer) else { return };
            text.push('\n');
            if writer.write_all(text.as_bytes()).await.is_err() {
                return;
            }
        }
    };
    // Whichever ends first ends the other: a client that is gone wants nothing, and the last answer is sent by `send`.
    let mut work = std::pin::pin!(work);
    let mut send = std::pin::pin!(send);
    tokio::select! {
        () = &mut work => send.await,
        () = &mut send => {}
    }
}

/// Asks the server of `data_dir`; `None` if there is none.
pub async fn ask(
    data_dir: &Path,
    request: &Request,
    told: &mut dyn FnMut(Counts),
) -> anyhow::Result<Option<Counts>> {
    let stream = match UnixStream::connect(data_dir.join(SOCKET)).await {
        Ok(stream) => stream,
        Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::ConnectionRefused) => {
            return Ok(None);
        }
        Err(error) => return Err(error).context("the server cannot be reached through its control socket"),
    };
    let (reader, mut writer) = stream.into_split();
    let mut text = serde_json::to_string(request)?;
    text.push('\n');
    writer.write_all(text.as_bytes()).await.context("the server does not listen")?;
    let mut lines = BufReader::new(reader).lines();
    while let Some(line) = lines.next_line().await.context("the server ended")? {
        match serde_json::from_str(&line).context("the server answers something else")? {
            Answer::Progress(counts) => told(counts),
            Answer::Done(counts) => return Ok(Some(counts)),
            Answer::Failed(why) => bail!("{why}"),
        }
    }
    bail!("the server ended before it was done")
}
