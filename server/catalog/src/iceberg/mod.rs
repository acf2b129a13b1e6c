//! Use cases of the Iceberg REST API: namespaces, tables and views on the branches of the catalog.
//!
//! `place` says where a request acts, `documents` keeps metadata documents, `lines` makes commits to one table wait for
//! each other, `publish` writes files and makes the one commit. The rest holds a file per group of use cases. Wire
//! documents stop at the adapter; Iceberg's own documents are those of `lochan_storage_iceberg`.

mod actions;
mod answer;
mod author;
pub mod config;
mod create;
pub mod documents;
mod drop;
mod last_change;
mod lines;
mod listing;
mod load;
mod locations;
mod namespaces;
pub mod place;
mod publish;
mod register;
mod rename;
mod seen;
mod tables;
mod views;

pub use answer::{Config, TableAnswer, TableLoaded, ViewAnswer};
pub use author::{Author, CommitNote};
pub use listing::{Listed, PageRequest};
pub use load::Snapshots;
pub use lochan_storage_engine::graph::Relative;
pub use namespaces::{NamespaceAnswer, PropertiesChanged};
pub use place::{Name, Namespace, Place, Target};
pub use tables::TableChange;
pub use views::ViewChange;

use crate::catalog::Catalog;

/// The use cases of this surface over a catalog.
#[derive(Clone, Copy)]
pub struct Iceberg<'c>(&'c Catalog);

impl Catalog {
    /// Use cases of the Iceberg REST API.
    #[must_use]
    pub const fn iceberg(&self) -> Iceberg<'_> {
        Iceberg(self)
    }
}

impl std::ops::Deref for Iceberg<'_> {
    type Target = Catalog;

    fn deref(&self) -> &Catalog {
        self.0
    }
}

#[cfg(test)]
mod tests;
