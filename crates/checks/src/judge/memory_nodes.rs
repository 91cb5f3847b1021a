//! F62: memory that is bound to NUMA nodes was on them.

use std::collections::BTreeMap;

use assay_model::environment::cpulist;

use crate::check::{Evaluation, about, found_or_missing, missing, need, not_applicable, plain};
use crate::{BoundMemory, Evidence};

/// Share of memory on other nodes above which a treatment gets a finding.
const ELSEWHERE: f64 = 0.05;

pub(crate) fn memory_nodes(e: &Evidence) -> Evaluation {
    let treatments = e.measured()?;
    let (mut found, mut lacking, mut set, mut one) = (Vec::new(), Vec::new(), 0, false);
    for treatment in treatments {
        let label = &treatment.label;
        let what = || format!("on which NUMA nodes the memory of {label} was to lie");
        let placement = need(treatment.placement.as_ref(), what())?;
        one |= placement.nodes == Some(1);
        for placed in &placement.set {
            set += 1;
            if placement.nodes.is_none() {
                return missing("how many NUMA nodes the machine has");
            }
            match worst(placed) {
                Some((trials, share)) if share > ELSEWHERE => {
                    let text = format!(
                        "in {trials} of {} trials of {label} memory lay on other NUMA nodes than {} ({}): up to {:.0} % of it",
                        placed.lay.len(),
                        nodes(placed),
                        placed.what,
                        100.0 * share
                    );
                    found.push(about(plain(text), &[treatment], treatments));
                }
                _ => {}
            }
            if let Some(why) = placed.lay.iter().find_map(|l| l.as_ref().err()) {
                lacking.push(format!("on which NUMA nodes the memory of {label} lay ({why})"));
            }
        }
    }
    match (set, one) {
        // The machine has one node, so memory cannot be on another.
        (0, true) => Ok(found),
        (0, false) => not_applicable("no treatment is set to some of the NUMA nodes"),
        _ => found_or_missing(found, &lacking),
    }
}

/// Returns the number of trials with more than [`ELSEWHERE`] of the memory on other nodes, and the
/// largest share.
fn worst(placed: &BoundMemory) -> Option<(usize, f64)> {
    let shares: Vec<f64> =
        placed.lay.iter().flatten().filter_map(|lay| elsewhere(lay, &placed.nodes)).collect();
    let most = shares.iter().copied().reduce(f64::max)?;
    Some((shares.iter().filter(|s| **s > ELSEWHERE).count(), most))
}

fn elsewhere(lay: &BTreeMap<u32, u64>, asked: &[u32]) -> Option<f64> {
    let all: u64 = lay.values().sum();
    let there: u64 = asked.iter().filter_map(|node| lay.get(node)).sum();
    (all > 0).then(|| (all - there) as f64 / all as f64)
}

fn nodes(placed: &BoundMemory) -> String {
    cpulist::format(&placed.nodes.iter().map(|n| *n as usize).collect::<Vec<_>>())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn placed(asked: &[u32], lay: &[&[(u32, u64)]]) -> BoundMemory {
        let lay = lay.iter().map(|l| Ok(l.iter().copied().collect())).collect();
        BoundMemory { what: "a control".to_owned(), nodes: asked.to_vec(), lay }
    }

    #[test]
    fn the_share_on_other_nodes() {
        assert_eq!(worst(&placed(&[0], &[&[(0, 75), (1, 25)], &[(0, 100)]])), Some((1, 0.25)));
        assert_eq!(worst(&placed(&[0, 2], &[&[(0, 50), (2, 50)]])), Some((0, 0.0)));
        assert_eq!(worst(&placed(&[1], &[&[(0, 10)]])), Some((1, 1.0)), "none of it there");
        assert_eq!(worst(&placed(&[1], &[&[]])), None, "no memory was seen");
    }
}
