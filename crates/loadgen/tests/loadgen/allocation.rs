//! Tests that the steady phase does not allocate per operation.

use std::time::Duration;

use crate::support::{Memcached, never, quick};
use assay_loadgen::{Protocol, preload, run};
use assay_model::Phase;
use assay_testing::in_own_process;

#[test]
fn the_steady_phase_allocates_nothing_per_operation() {
    in_own_process("allocation::the_steady_phase_allocates_nothing_per_operation", measure);
}

fn measure() {
    let Some(server) = Memcached::tcp(&[]) else { return };
    for (protocol, depth) in
        [(Protocol::Text, 1), (Protocol::Text, 64), (Protocol::Meta, 64), (Protocol::Binary, 16)]
    {
        let mut config = quick(&server.target);
        (config.protocol, config.depth) = (protocol, depth);
        config.ramp_up = Duration::from_millis(400);
        config.steady = Duration::from_secs(1);
        preload(&config, &never()).unwrap();
        let mut counts = Vec::new();
        let report =
            run(&config, &never(), |_: Phase, _| counts.push(crate::ALLOCATIONS.count())).unwrap();
        let (allocated, operations) = (counts[2] - counts[1], report.completed());
        assert_eq!(report.errors.total(), 0);
        assert!(operations > 1_000);
        // Buffers that meet their largest batch late may still grow: a few allocations, not one per
        // operation.
        assert!(
            allocated < 100,
            "{protocol:?}: {allocated} allocations in {operations} operations"
        );
    }
}
