//! Heat maps of several nodes: each map stays separate, on the collector's clock. The columns of
//! two nodes do not start at the same time, so they cannot be added.

use std::collections::BTreeMap;

use assay_model::Heat;

use crate::message::NodePart;

/// Maximum number of nodes whose maps are kept.
const SHOWN: usize = 4;

/// Collects the maps, named after map and node.
pub(crate) fn merge<'a>(
    parts: impl Iterator<Item = &'a NodePart>,
    notes: &mut Vec<String>,
) -> BTreeMap<String, Heat> {
    let mut all = BTreeMap::new();
    let mut excluded = 0;
    for (i, part) in parts.filter(|p| !p.part.record.heat_maps.is_empty()).enumerate() {
        if i >= SHOWN {
            excluded += 1;
            continue;
        }
        for (name, heat) in &part.part.record.heat_maps {
            let heat = Heat { start_ns: part.clock.here(heat.start_ns), ..heat.clone() };
            all.insert(format!("{name}, node {}", part.name), heat);
        }
    }
    if excluded > 0 {
        notes.push(format!(
            "heat maps are those of the first {SHOWN} nodes; {excluded} more recorded some"
        ));
    }
    all
}
