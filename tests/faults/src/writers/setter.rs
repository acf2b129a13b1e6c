//! Replaces the repository's setting, which others replace too: a record of the store, apart from references.

use super::desk::{Desk, Gone};

pub(super) async fn run(desk: &mut Desk) -> Result<(), Gone> {
    loop {
        desk.set().await?;
    }
}
