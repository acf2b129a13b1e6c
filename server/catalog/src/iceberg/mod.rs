//! Use cases of the Iceberg REST API.
