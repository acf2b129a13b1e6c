//! Use cases of the Nessie API.
