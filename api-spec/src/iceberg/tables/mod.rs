//! Tables.

pub mod commit_table;
pub mod create_table;
pub mod drop_table;
pub mod list_tables;
pub mod load_credentials;
pub mod load_table;
pub mod register_table;
pub mod rename_table;
pub mod report_metrics;
pub mod table_exists;

pub use commit_table::{CommitTable, CommitTableRequest, CommitTableResponse};
pub use create_table::{CreateTable, CreateTableRequest};
pub use drop_table::DropTable;
pub use list_tables::ListTables;
pub use load_credentials::{LoadCredentials, LoadCredentialsResponse};
pub use load_table::{LoadTable, LoadTableResult, StorageCredential};
pub use register_table::{RegisterTable, RegisterTableRequest};
pub use rename_table::RenameTable;
pub use report_metrics::{MetricsReport, ReportMetrics};
pub use table_exists::TableExists;
