//! Once a monitor has met its subjects, a sample allocates nothing.

use std::path::Path;

use assay_observe::{Recorder, Tree};
use assay_sut::clock;
use assay_testing::Counting;

#[global_allocator]
static ALLOCATIONS: Counting = Counting::NEW;

#[test]
fn a_sample_allocates_nothing() {
    let tree = Tree::new(Path::new("/"));
    let mut out = Recorder::new();
    out.reserve(100_000);
    for spec in assay_observe::all() {
        let Ok(mut monitor) = (spec.open)(&tree) else {
            println!("skipped: because {} is not available here", spec.name);
            continue;
        };
        let mut allocations = || {
            let before = ALLOCATIONS.count();
            monitor.sample(clock::monotonic_ns(), &mut out);
            ALLOCATIONS.count() - before
        };
        // A device may appear or a file grow at any moment, and the test harness has a thread of
        // its own: over many samples, nearly all must be free of allocations.
        let counts: Vec<u64> = (0..50).map(|_| allocations()).collect();
        let free = counts.iter().filter(|count| **count == 0).count();
        assert!(free >= 40, "{}: {counts:?}", spec.name);
    }
}
