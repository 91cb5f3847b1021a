//! Heat maps of several nodes: each stays its node's own, on the collector's clock. Columns of two nodes
//! do not begin at the same moment, so that there is no sum of them.

use std::collections::BTreeMap;

use assay_model::Heat;

use crate::message::NodePart;

/// Of so many nodes the maps are kept.
const SHOWN: usize = 4;

/// The maps by their names and nodes.
pub(crate) fn merge<'a>(
    parts: impl Iterator<Item = &'a NodePart>,
    notes: &mut Vec<String>,
) -> BTreeMap<String, Heat> {
    let mut all = BTreeMap::new();
    let mut left_out = 0;
    for (i, part) in parts.filter(|p| !p.part.record.heats.is_empty()).enumerate() {
        if i >= SHOWN {
            left_out += 1;
            continue;
        }
        for (name, heat) in &part.part.record.heats {
            let heat = Heat { start_ns: part.clock.here(heat.start_ns), ..heat.clone() };
            all.insert(format!("{name}, node {}", part.name), heat);
        }
    }
    if left_out > 0 {
        notes.push(format!(
            "heat maps are those of the first {SHOWN} nodes; {left_out} more had some"
        ));
    }
    all
}
