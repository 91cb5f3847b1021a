//! Lays out trials in blocks. Each block holds one trial of every treatment, in an order of its own,
//! so that drift falls on all treatments alike.

use assay_model::{Design, Order, PlannedTrial, Treatment};
use assay_stats::rng::Rng;

/// The trials of `blocks` counted blocks after the warm-up ones. The same seed gives the same order,
/// and more blocks leave the order of the first ones as it is.
pub fn trials(
    design: &Design,
    treatments: &[Treatment],
    seed: u64,
    blocks: u32,
) -> Vec<PlannedTrial> {
    let mut random = Rng::new(seed);
    let mut planned = Vec::new();
    for block in 0..design.warmup_blocks + blocks {
        let mut order: Vec<u32> = treatments.iter().map(|t| t.id).collect();
        match design.order {
            Order::Random => random.shuffle(&mut order),
            Order::Abba if block % 2 == 1 => order.reverse(),
            Order::Abba | Order::Sequential | Order::Unknown => {}
        }
        for treatment in order {
            planned.push(PlannedTrial {
                number: planned.len() as u32 + 1,
                block,
                treatment,
                warmup: block < design.warmup_blocks,
            });
        }
    }
    planned
}
