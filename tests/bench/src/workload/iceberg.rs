//! `iceberg.*`: loads and updates of tables through the Iceberg REST API on a branch of their own.

use std::rc::Rc;

use serde::Deserialize;

use super::read::contains;
use super::{Size, Slice, Target, Worker};
use crate::ceiling;
use crate::conn::Conn;
use crate::keys::Walk;
use crate::nessie::{self, OpError};

/// Number of Iceberg tables.
pub const TABLES: usize = 64;
const BRANCH: &str = "bench-iceberg";
const NAMESPACE: &str = "bench_iceberg";

/// Iceberg tables of one server.
pub struct Tables {
    /// Path of the tables, ending in `/tables/`.
    path: String,
    uuids: Vec<String>,
}

#[derive(Deserialize)]
struct Config {
    #[serde(default)]
    defaults: Prefix,
    #[serde(default)]
    overrides: Prefix,
}

#[derive(Default, Deserialize)]
struct Prefix {
    prefix: Option<String>,
}

#[derive(Deserialize)]
struct Loaded {
    metadata: LoadedMetadata,
}

#[derive(Deserialize)]
#[serde(rename_all = "kebab-case")]
struct LoadedMetadata {
    table_uuid: String,
}

impl Tables {
    /// The tables that a ceiling pretends to have.
    pub fn pretended() -> Self {
        Self {
            path: format!("/iceberg/v1/main/namespaces/{NAMESPACE}/tables/"),
            uuids: vec![ceiling::TABLE_UUID.to_owned(); TABLES],
        }
    }

    /// Makes a branch with a namespace and 64 tables of ten columns.
    pub async fn create(conn: &mut Conn, head: &str, warehouse: &str) -> Result<Self, OpError> {
        nessie::create_branch(conn, BRANCH, head).await?;
        let path = format!("/iceberg/{BRANCH}/v1/config?warehouse={warehouse}");
        let answer = nessie::ok(conn, "iceberg config", "GET", &path, None).await?;
        let config: Config = nessie::parse("iceberg config", answer)?;
        let root = match config.overrides.prefix.or(config.defaults.prefix) {
            // The prefix is handed out ready for the URL.
            Some(prefix) => format!("/iceberg/v1/{prefix}/namespaces"),
            None => "/iceberg/v1/namespaces".to_owned(),
        };
        let body = format!(r#"{{"namespace":["{NAMESPACE}"],"properties":{{}}}}"#);
        nessie::ok(conn, "create namespace", "POST", &root, Some(body.as_bytes())).await?;
        let path = format!("{root}/{NAMESPACE}/tables");
        let fields: Vec<String> = (1..=10)
            .map(|i| format!(r#"{{"id":{i},"name":"column_{i}","required":false,"type":"string"}}"#))
            .collect();
        let mut uuids = Vec::with_capacity(TABLES);
        for i in 0..TABLES {
            let body = format!(
                r#"{{"name":"ice{i:02}","stage-create":false,"schema":{{"type":"struct","schema-id":0,"fields":[{}]}},"properties":{{"write.format.default":"parquet"}}}}"#,
                fields.join(",")
            );
            let answer = nessie::ok(conn, "create table", "POST", &path, Some(body.as_bytes())).await?;
            let loaded: Loaded = nessie::parse("create table", answer)?;
            uuids.push(loaded.metadata.table_uuid);
        }
        Ok(Self { path: format!("{path}/"), uuids })
    }

    fn uuid(&self, table: usize) -> &str {
        self.uuids.get(table).map_or("", String::as_str)
    }
}

/// Loads any of the tables.
pub struct Loader {
    tables: Rc<Tables>,
    walk: Walk,
}

/// Updates a property of its own table.
pub struct Committer {
    tables: Rc<Tables>,
    table: usize,
    version: u64,
}

fn tables(target: &Target) -> Result<Rc<Tables>, OpError> {
    target.tables.clone().ok_or_else(|| OpError::answer("iceberg", "no tables were made"))
}

pub(super) fn prepare_load(target: &Target, size: Size) -> Result<Slice, OpError> {
    let tables = tables(target)?;
    let workers = (0..size.workers)
        .map(|i| {
            Worker::IcebergLoad(Loader {
                tables: Rc::clone(&tables),
                walk: Walk::new(TABLES, i + size.number),
            })
        })
        .collect();
    Ok(Slice { workers, grows: None, branches: Vec::new() })
}

pub(super) async fn prepare_commit(target: &Target, size: Size, admin: &mut Conn) -> Result<Slice, OpError> {
    let tables = tables(target)?;
    let before = if target.is_ceiling { 0 } else { nessie::head(admin, BRANCH).await?.commits };
    let workers = (0..size.workers)
        .map(|table| {
            let version = (size.number as u64) << 24;
            Worker::IcebergCommit(Committer { tables: Rc::clone(&tables), table, version })
        })
        .collect();
    Ok(Slice { workers, grows: Some((BRANCH.to_owned(), before)), branches: Vec::new() })
}

impl Loader {
    pub(super) async fn step(&mut self, conn: &mut Conn) -> Result<(), OpError> {
        let table = self.walk.step();
        let path = format!("{}ice{table:02}", self.tables.path);
        let body = nessie::ok(conn, "load table", "GET", &path, None).await?;
        if contains(body, self.tables.uuid(table).as_bytes()) {
            Ok(())
        } else {
            Err(OpError::answer("load table", format!("not table {table}")))
        }
    }
}

impl Committer {
    pub(super) async fn step(&mut self, conn: &mut Conn) -> Result<(), OpError> {
        self.version += 1;
        let path = format!("{}ice{:02}", self.tables.path, self.table);
        let body = format!(
            r#"{{"requirements":[{{"type":"assert-table-uuid","uuid":"{}"}}],"updates":[{{"action":"set-properties","updates":{{"bench.commit":"{}"}}}}]}}"#,
            self.tables.uuid(self.table),
            self.version
        );
        nessie::ok(conn, "update table", "POST", &path, Some(body.as_bytes())).await?;
        Ok(())
    }
}
