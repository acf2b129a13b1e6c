//! References.

use std::collections::BTreeMap;

use lochan_storage_model::RefName;
use lochan_storage_odb::Reference;

use super::{PAGE, Report, graph::Graph};
use crate::{error::Error, state::Core};

/// All references. Each must point at a sound commit.
pub(super) async fn check_references(
    core: &Core,
    graph: &Graph,
    report: &mut Report,
) -> Result<BTreeMap<RefName, Reference>, Error> {
    let mut references = BTreeMap::new();
    let mut after: Option<RefName> = None;
    loop {
        let page = core.store.references(after.as_ref(), PAGE).await?;
        let Some(last) = page.last() else { return Ok(references) };
        after = Some(last.name.clone());
        for reference in page {
            report.references += 1;
            if !graph.holds(reference.target) {
                let detail = format!("points at {}, which is missing or damaged", reference.target);
                report.damage(format!("reference {}", reference.name), detail);
            }
            references.insert(reference.name.clone(), reference);
        }
    }
}
