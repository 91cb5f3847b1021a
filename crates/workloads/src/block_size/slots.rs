//! The slices of a trial in their order: every size once in each pass, each pass in an order of its
//! own, so that neither the drift of the machine nor the size before can pass for an effect of the
//! size. The slices that measure what dd adds are mixed in.

use assay_stats::rng::Rng;

use super::trial_spec::TrialSpec;

/// Slices in each pass that measure what dd adds to a read: three sizes, with and without.
pub const CALIBRATION_SLICES: u64 = 6;

/// What a slice is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// It measures the size of this index.
    Visit(usize),
    /// It reads, to be compared with the [`Role::Copy`] of the same number and pass.
    Plain(usize),
    /// It reads and writes to `/dev/null`, as dd does.
    Copy(usize),
}

/// One slice.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Slot {
    /// The buffer's size, bytes.
    pub size: u64,
    /// Its pass, from 0.
    pub pass: u32,
    /// What it is for.
    pub role: Role,
}

/// The sizes at which dd's own cost is measured: small ones, where it is not lost in the copying.
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

/// The slices of a trial, in order.
pub fn slots(spec: &TrialSpec) -> Vec<Slot> {
    let mut rng = Rng::new(spec.seed);
    let calibration = calibration_sizes(spec);
    let mut all = Vec::new();
    for pass in 0..spec.timing.passes {
        // A calibrating pair stays together; which of the two is first changes from pass to pass.
        let mut groups: Vec<Vec<Slot>> = Vec::new();
        for (i, &size) in spec.sizes.iter().enumerate() {
            groups.push(vec![Slot { size, pass, role: Role::Visit(i) }]);
        }
        for (i, &size) in calibration.iter().enumerate() {
            let mut pair = vec![
                Slot { size, pass, role: Role::Plain(i) },
                Slot { size, pass, role: Role::Copy(i) },
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
    use crate::block_size::file::Location;
    use crate::block_size::params::tests::map;
    use crate::block_size::params::{Cache, Direction, Params};
    use crate::block_size::trial_spec::Timing;

    /// A spec for these sizes.
    pub fn spec(sizes: &[u64], processes: u32) -> TrialSpec {
        TrialSpec {
            location: Location::of(&Params::from_map(&map(&[])).unwrap(), Path::new("/")).unwrap(),
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
            if let Role::Copy(k) = slot.role {
                let near = [i.checked_sub(1), Some(i + 1)].into_iter().flatten();
                assert!(near.filter_map(|j| slots.get(j)).any(|s| s.role == Role::Plain(k)
                    && s.pass == slot.pass
                    && s.size == slot.size));
            }
        }
    }

    #[test]
    fn no_calibration_where_dd_could_not_be() {
        assert!(slots(&spec(&[512], 2)).iter().all(|s| matches!(s.role, Role::Visit(_))));
        assert_eq!(slots(&spec(&[7], 1)).len(), 3 * 3);
    }
}
