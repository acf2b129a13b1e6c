//! What a disk holds for certain and what it may hold, after each event of a record.

use std::{
    collections::{BTreeMap, HashMap, VecDeque},
    sync::Arc,
};

use anyhow::{Context, Result};

use super::record::EventKind;

/// Number of a file or folder, never used again as inodes are.
pub(super) type Id = usize;
/// The folder that is recorded.
pub(super) const ROOT: Id = 0;

/// A change of a file's bytes.
#[derive(Debug, Clone)]
pub(super) enum Change {
    Write { offset: u64, data: Arc<[u8]> },
    Length(u64),
}

#[derive(Debug, Clone, Default)]
pub(super) struct Content {
    /// What is there for certain.
    pub(super) durable: Vec<u8>,
    /// What may be there, oldest first, with the event that made it.
    pub(super) pending: VecDeque<(usize, Change)>,
}

#[derive(Debug, Clone)]
pub(super) enum Node {
    Folder,
    File(Content),
}

/// A name in a folder.
pub(super) type Name = (Id, String);

/// A change of names.
#[derive(Debug, Clone)]
pub(super) enum Naming {
    Make(Name, Id),
    Rename(Name, Name),
    Remove(Name),
}

impl Naming {
    fn is_in(&self, folder: Id) -> bool {
        match self {
            Self::Make((at, _), _) | Self::Remove((at, _)) => *at == folder,
            Self::Rename((from, _), (to, _)) => *from == folder || *to == folder,
        }
    }
}

/// Names and what they stand for.
pub(super) type Names = BTreeMap<Name, Id>;

pub(super) fn rename(names: &mut Names, change: &Naming) {
    match change {
        Naming::Make(name, id) => {
            names.insert(name.clone(), *id);
        }
        Naming::Rename(from, to) => {
            if let Some(id) = names.remove(from) {
                names.insert(to.clone(), id);
            }
        }
        Naming::Remove(name) => {
            names.remove(name);
        }
    }
}

/// A disk on which a program has begun with an empty folder.
#[derive(Debug, Clone)]
pub struct Disk {
    /// Path of the folder in the record.
    root: String,
    pub(super) nodes: Vec<Node>,
    by_inode: HashMap<u64, Id>,
    /// Names as the program sees them.
    names: Names,
    pub(super) durable_names: Names,
    pub(super) pending_names: VecDeque<(usize, Naming)>,
    /// Begun syncs: the event, and whose.
    syncs: HashMap<(u64, u64), (usize, Id)>,
    seen: usize,
}

impl Disk {
    /// An empty folder at `root`, an absolute path as the program uses it.
    #[must_use]
    pub fn new(root: &str) -> Self {
        Self {
            root: root.to_owned(),
            nodes: vec![Node::Folder],
            by_inode: HashMap::new(),
            names: Names::new(),
            durable_names: Names::new(),
            pending_names: VecDeque::new(),
            syncs: HashMap::new(),
            seen: 0,
        }
    }

    /// Takes in the next event.
    pub fn apply(&mut self, event: &EventKind) -> Result<()> {
        let at = self.seen;
        self.seen += 1;
        match event {
            EventKind::Open { path, inode, is_made, is_emptied } => {
                if *is_made {
                    let id = self.add(Node::File(Content::default()), *inode);
                    let name = self.name(path)?;
                    self.naming(at, Naming::Make(name, id));
                } else {
                    let id = self.find(path)?;
                    self.by_inode.insert(*inode, id);
                    if *is_emptied {
                        self.change(at, id, Change::Length(0));
                    }
                }
            }
            EventKind::Write { inode, offset, data } => {
                let id = self.id(*inode)?;
                self.change(at, id, Change::Write { offset: *offset, data: data.clone() });
            }
            EventKind::Truncate { inode, size } => {
                let id = self.id(*inode)?;
                self.change(at, id, Change::Length(*size));
            }
            EventKind::Rename { from, to } => {
                let change = Naming::Rename(self.name(from)?, self.name(to)?);
                self.naming(at, change);
            }
            EventKind::Unlink { path } | EventKind::RemoveFolder { path } => {
                let change = Naming::Remove(self.name(path)?);
                self.naming(at, change);
            }
            EventKind::MakeFolder { path, inode } => {
                let id = self.add(Node::Folder, *inode);
                let name = self.name(path)?;
                self.naming(at, Naming::Make(name, id));
            }
            EventKind::SyncBegin { inode, number } => {
                let id = self.id(*inode)?;
                self.syncs.insert((*inode, *number), (at, id));
            }
            EventKind::SyncEnd { inode, number, is_ok } => {
                // A new process counts its syncs anew, so the latest begin is meant.
                let (begun, id) = self.syncs.remove(&(*inode, *number)).context("a sync that never began")?;
                if *is_ok {
                    self.synced(id, begun);
                }
            }
            EventKind::Range | EventKind::Mark(_) | EventKind::Struck => {}
        }
        Ok(())
    }

    fn add(&mut self, node: Node, inode: u64) -> Id {
        let id = self.nodes.len();
        self.nodes.push(node);
        self.by_inode.insert(inode, id);
        id
    }

    fn id(&self, inode: u64) -> Result<Id> {
        self.by_inode.get(&inode).copied().with_context(|| format!("inode {inode} was never opened"))
    }

    fn change(&mut self, at: usize, id: Id, change: Change) {
        if let Some(Node::File(content)) = self.nodes.get_mut(id) {
            content.pending.push_back((at, change));
        }
    }

    fn naming(&mut self, at: usize, change: Naming) {
        rename(&mut self.names, &change);
        self.pending_names.push_back((at, change));
    }

    fn synced(&mut self, id: Id, begun: usize) {
        match self.nodes.get_mut(id) {
            Some(Node::File(content)) => {
                while content.pending.front().is_some_and(|(at, _)| *at < begun) {
                    let Some((_, change)) = content.pending.pop_front() else { break };
                    match change {
                        Change::Write { offset, data } => write(&mut content.durable, offset, &data),
                        Change::Length(size) => content.durable.resize(size as usize, 0),
                    }
                }
            }
            Some(Node::Folder) => {
                let names = &mut self.durable_names;
                self.pending_names.retain(|(at, change)| {
                    let stays = *at >= begun || !change.is_in(id);
                    if !stays {
                        rename(names, change);
                    }
                    stays
                });
            }
            None => {}
        }
    }

    /// The folder and last part of a path.
    fn name(&self, path: &str) -> Result<Name> {
        let (folder, name) = path.rsplit_once('/').context("a path without a folder")?;
        Ok((self.find(folder)?, name.to_owned()))
    }

    fn find(&self, path: &str) -> Result<Id> {
        let inside = path.strip_prefix(&self.root).with_context(|| format!("{path} is outside"))?;
        let mut at = ROOT;
        for part in inside.split('/').filter(|part| !part.is_empty() && *part != ".") {
            let found = self.names.get(&(at, part.to_owned()));
            at = *found.with_context(|| format!("{path} was never made"))?;
        }
        Ok(at)
    }
}

pub(super) fn write(bytes: &mut Vec<u8>, offset: u64, data: &[u8]) {
    let from = offset as usize;
    if bytes.len() < from + data.len() {
        bytes.resize(from + data.len(), 0);
    }
    if let Some(room) = bytes.get_mut(from..from + data.len()) {
        room.copy_from_slice(data);
    }
}
