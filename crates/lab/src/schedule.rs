//! Lays out trials in blocks. Each block holds one trial of every treatment, in an order of its own,
//! so that drift falls on all treatments alike; grouped by a factor, each of its levels has blocks of its
//! own, one level after the other.

use assay_model::{Design, Order, PlannedTrial, Treatment};
use assay_stats::rng::Rng;

/// The trials of `blocks` counted blocks (of each group) after the warm-up ones. The same seed gives the
/// same order, and more blocks leave the order of the first ones as it is.
pub fn trials(
    design: &Design,
    treatments: &[Treatment],
    seed: u64,
    blocks: u32,
) -> Vec<PlannedTrial> {
    let mut random = Rng::new(seed);
    let mut planned = Vec::new();
    let each = design.warmup_blocks + blocks;
    for (group, treatments) in (0u32..).zip(groups(design.group_by.as_deref(), treatments)) {
        for block in 0..each {
            let mut order = treatments.clone();
            match design.order {
                Order::Random => random.shuffle(&mut order),
                Order::Abba if block % 2 == 1 => order.reverse(),
                Order::Abba | Order::Sequential | Order::Unknown => {}
            }
            for treatment in order {
                planned.push(PlannedTrial {
                    number: planned.len() as u32 + 1,
                    block: group * each + block,
                    treatment,
                    warmup: block < design.warmup_blocks,
                });
            }
        }
    }
    planned
}

/// The ids of treatments by their level of this factor, in the order of the levels.
fn groups(factor: Option<&str>, treatments: &[Treatment]) -> Vec<Vec<u32>> {
    let mut found: Vec<(Option<String>, Vec<u32>)> = Vec::new();
    for treatment in treatments {
        let level = factor.and_then(|f| treatment.levels.get(f)).map(assay_model::Scalar::to_text);
        match found.iter_mut().find(|(l, _)| *l == level) {
            Some((_, ids)) => ids.push(treatment.id),
            None => found.push((level, vec![treatment.id])),
        }
    }
    found.into_iter().map(|(_, ids)| ids).collect()
}
