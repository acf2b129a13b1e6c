//! Documents split into parts shared between versions.
