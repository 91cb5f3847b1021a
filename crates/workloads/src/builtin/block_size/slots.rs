//! The slices of a trial in their order. Every pass visits each size once, in a random order of its
//! own, so that neither drift of the machine nor the preceding size can be mistaken for an effect
//! of the size. The slices that measure the overhead of dd are mixed in.

use assay_stats::rng::Rng;

use crate::builtin::block_size::trial_spec::TrialSpec;

/// Slices per pass that measure the overhead of dd: three sizes, each with and without the write.
pub const CALIBRATION_SLICES: u64 = 6;

/// Purpose of a slice.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SliceRole {
    /// Measures the size with this index.
    Visit(usize),
    /// Reads only, for comparison with the [`SliceRole::Copy`] of the same number and pass.
    Plain(usize),
    /// Reads and writes to `/dev/null`, as dd does.
    Copy(usize),
}

/// A planned slice of the trial.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SliceSlot {
    /// Size of the buffer in bytes.
    pub size: u64,
    /// Number of the pass, from 0.
    pub pass: u32,
    pub role: SliceRole,
}

/// Returns the sizes at which the overhead of dd is measured: small ones, where it is large
/// relative to the copying.
fn calibration_sizes(spec: &TrialSpec) -> Vec<u64> {
    if !spec.tells_dd() {
        return Vec::new();
    }
    let minimum = spec.sizes.first().copied().unwrap_or(1).max(512);
    let small: Vec<u64> = [512, 1024, 2048, 4096, 8192, 16384, 65536]
        .into_iter()
        .filter(|s| (minimum..=spec.largest()).contains(s))
        .take(3)
        .collect();
    if small.is_empty() { spec.sizes.first().copied().into_iter().collect() } else { small }
}

/// Returns the slices of a trial in order.
pub fn slots(spec: &TrialSpec) -> Vec<SliceSlot> {
    let mut rng = Rng::new(spec.seed);
    let calibration = calibration_sizes(spec);
    let mut all = Vec::new();
    for pass in 0..spec.timing.passes {
        // The two slices of a calibration pair stay together; their order alternates between
        // passes.
        let mut groups: Vec<Vec<SliceSlot>> = Vec::new();
        for (i, &size) in spec.sizes.iter().enumerate() {
            groups.push(vec![SliceSlot { size, pass, role: SliceRole::Visit(i) }]);
        }
        for (i, &size) in calibration.iter().enumerate() {
            let mut pair = vec![
                SliceSlot { size, pass, role: SliceRole::Plain(i) },
                SliceSlot { size, pass, role: SliceRole::Copy(i) },
            ];
            if (pass as usize + i).is_multiple_of(2) {
                pair.reverse();
            }
            groups.push(pair);
        }
        rng.shuffle(&mut groups);
        all.extend(groups.into_iter().flatten());
    }
    all
}

#[cfg(test)]
pub(super) mod tests {
    use std::collections::BTreeSet;

    use std::path::Path;

    use super::*;
    use crate::builtin::block_size::file::FileLocation;
    use crate::builtin::block_size::params::tests::map;
    use crate::builtin::block_size::params::{Cache, Direction, SweepParams};
    use crate::builtin::block_size::trial_spec::Timing;

    /// Returns a spec with these sizes.
    pub fn spec(sizes: &[u64], processes: u32) -> TrialSpec {
        TrialSpec {
            location: FileLocation::from_params(
                &SweepParams::from_map(&map(&[])).unwrap(),
                Path::new("/"),
            )
            .unwrap(),
            file_size: 1 << 20,
            direction: Direction::Read,
            cache: Cache::Page,
            processes,
            cpus: vec![],
            sizes: sizes.to_vec(),
            timing: Timing { slice_ns: 1_000_000, gap_ns: 60_000, passes: 3, shared: false },
            seed: 9,
            notes: vec![],
        }
    }

    #[test]
    fn every_pass_visits_every_size_once_in_its_own_order() {
        let sizes: Vec<u64> = (1..=50).collect();
        let slots = slots(&spec(&sizes, 2));
        assert_eq!(slots.len(), 150);
        let orders: BTreeSet<Vec<u64>> =
            slots.chunks(50).map(|pass| pass.iter().map(|s| s.size).collect()).collect();
        assert_eq!(orders.len(), 3);
        for pass in orders {
            assert_eq!(pass.into_iter().collect::<BTreeSet<_>>().len(), 50);
        }
    }

    #[test]
    fn calibrating_pairs_are_neighbours() {
        let slots = slots(&spec(&[1, 512, 4096, 65536], 1));
        assert_eq!(slots.len(), 3 * (4 + 6));
        for (i, slot) in slots.iter().enumerate() {
            if let SliceRole::Copy(k) = slot.role {
                let near = [i.checked_sub(1), Some(i + 1)].into_iter().flatten();
                assert!(near.filter_map(|j| slots.get(j)).any(|s| s.role == SliceRole::Plain(k)
                    && s.pass == slot.pass
                    && s.size == slot.size));
            }
        }
    }

    #[test]
    fn no_calibration_where_dd_could_not_be() {
        assert!(slots(&spec(&[512], 2)).iter().all(|s| matches!(s.role, SliceRole::Visit(_))));
        assert_eq!(slots(&spec(&[7], 1)).len(), 3 * 3);
    }
}
