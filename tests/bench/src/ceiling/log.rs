//! The cheapest durable log: one append and one sync for all who wait.

use std::fs::{File, OpenOptions};
use std::io::Write;
use std::path::Path;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread;

use tokio::sync::oneshot;

/// Most writers that wait at one time.
const WAITING_MAX: usize = 4096;

/// Handle to the log's thread.
#[derive(Clone)]
pub struct GroupLog {
    waiting: SyncSender<Pending>,
}

struct Pending {
    record: Vec<u8>,
    done: oneshot::Sender<bool>,
}

impl GroupLog {
    /// Creates the file and starts the thread that appends to it.
    pub fn create(path: &Path) -> std::io::Result<Self> {
        let file = OpenOptions::new().create(true).append(true).open(path)?;
        let (waiting, queue) = sync_channel(WAITING_MAX);
        thread::Builder::new().name("group-log".into()).spawn(move || run(file, queue))?;
        Ok(Self { waiting })
    }

    /// Appends one record; true once it is on disk.
    pub async fn append(&self, record: Vec<u8>) -> bool {
        let (done, outcome) = oneshot::channel();
        // A full queue means more connections than the generator ever opens: refuse rather than block a worker.
        if self.waiting.try_send(Pending { record, done }).is_err() {
            return false;
        }
        outcome.await.unwrap_or(false)
    }
}

fn run(mut file: File, queue: Receiver<Pending>) {
    let mut bytes = Vec::new();
    let mut group = Vec::new();
    while let Ok(first) = queue.recv() {
        group.push(first);
        group.extend(queue.try_iter().take(WAITING_MAX));
        bytes.clear();
        for pending in &group {
            bytes.extend_from_slice(&pending.record);
        }
        let durable = file.write_all(&bytes).and_then(|()| file.sync_data()).is_ok();
        for pending in group.drain(..) {
            // A writer whose connection is gone no longer waits.
            let _ = pending.done.send(durable);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn every_record_of_a_group_is_in_the_file() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("log");
        let log = GroupLog::create(&path).unwrap();
        let writers: Vec<_> = (0..64u8)
            .map(|i| {
                let log = log.clone();
                tokio::spawn(async move { log.append(vec![i; 10]).await })
            })
            .collect();
        for writer in writers {
            assert!(writer.await.unwrap());
        }
        let bytes = std::fs::read(path).unwrap();
        assert_eq!(bytes.len(), 640);
        for i in 0..64u8 {
            assert_eq!(bytes.iter().filter(|b| **b == i).count(), 10);
        }
    }
}
