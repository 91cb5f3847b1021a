//! Choice of the sizes that a trial of a sweep visits. A pure function of the range, the number of
//! sizes for which the trial has time, and the points of earlier trials.
//!
//! Every trial visits the ends, the powers of two, and as many page multiples with their neighbours
//! as fit; these carry the comparison and connect the trials. The rest of the time goes to ordinary
//! sizes. In the first trial they are spread over the range, a third of them evenly by ratio and
//! the others evenly by bytes. In later trials one third goes to the ordinary sizes with the fewest
//! visits so far, and two thirds to new sizes in the gaps where the curve between the visited sizes
//! is least certain: where it bends, its interval is wide, or the gap itself is.

use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet, BinaryHeap};

use assay_stats::rng::Rng;

use crate::builtin::block_size::model::CurveModel;

/// Page size, in bytes, of which multiples are visited.
const PAGE: u64 = 4096;

/// Limits on the sizes of a sweep.
#[derive(Debug, Clone)]
pub struct Range {
    /// Smallest size in bytes.
    pub min: u64,
    /// Largest size in bytes.
    pub max: u64,
    /// Granularity: every size is a multiple of this, 1 or the device's block size for `O_DIRECT`.
    pub grain: u64,
}

impl Range {
    /// Returns the range with its ends moved inwards to multiples of the grain, or `None` if it is
    /// empty.
    pub fn inward(min: u64, max: u64, grain: u64) -> Option<Self> {
        let range = Range { min: min.next_multiple_of(grain), max: max / grain * grain, grain };
        (range.min <= range.max).then_some(range)
    }

    fn holds(&self, size: u64) -> bool {
        (self.min..=self.max).contains(&size) && size.is_multiple_of(self.grain)
    }

    fn nearest(&self, x: f64) -> u64 {
        let steps = (x / self.grain as f64).round() as u64;
        (steps * self.grain).clamp(self.min, self.max)
    }
}

/// The sizes that a trial visits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChosenSizes {
    /// Sizes in bytes, ascending, without duplicates.
    pub sizes: Vec<u64>,
    /// Number of page multiples and neighbours that did not fit into the time.
    pub omitted: usize,
}

/// Returns the ends of the range and the powers of two in it.
fn corner_stones(range: &Range) -> BTreeSet<u64> {
    let powers = (0..63).map(|k| 1u64 << k);
    powers.chain([range.min, range.max]).filter(|s| range.holds(*s)).collect()
}

/// Returns the page multiples and their neighbours one grain below and above.
fn page_sizes(range: &Range) -> BTreeSet<u64> {
    // A larger number of multiples is thinned out, evenly by ratio.
    const MAX_VISITS: u64 = 256;
    let pages = range.max / PAGE;
    let multiples: BTreeSet<u64> = if pages <= MAX_VISITS {
        (1..=pages).collect()
    } else {
        let ratio = (pages as f64).ln() / (MAX_VISITS - 1) as f64;
        (0..MAX_VISITS).map(|i| (i as f64 * ratio).exp().round() as u64).collect()
    };
    multiples
        .into_iter()
        .flat_map(|k| [k * PAGE - range.grain, k * PAGE, k * PAGE + range.grain])
        .filter(|s| range.holds(*s))
        .collect()
}

/// Chooses about `count` sizes (never fewer than the ends and the powers of two), given the points
/// of earlier trials, each `[bytes, bytes per second]`.
pub fn choose(range: &Range, count: usize, previous: &[Vec<[f64; 2]>], seed: u64) -> ChosenSizes {
    let mut rng = Rng::new(seed);
    let mut sizes = corner_stones(range);
    let pages: Vec<u64> = page_sizes(range).difference(&sizes).copied().collect();
    // If the pages need more than half of the room, an evenly spaced subset of them is visited.
    let room = count.saturating_sub(sizes.len());
    let kept = if pages.len() * 2 <= room { pages.len() } else { pages.len().min(room / 2) };
    sizes.extend((0..kept).map(|i| pages[i * pages.len() / kept.max(1)]));
    let omitted = pages.len() - kept;
    let fill = count.saturating_sub(sizes.len());
    let visits = count_visits(previous);
    if visits.is_empty() {
        spread(range, fill, &mut sizes, &mut rng);
    } else {
        revisit(fill / 3, &visits, &mut sizes, &mut rng);
        let fill = count.saturating_sub(sizes.len());
        refine(range, fill, previous, &mut sizes, &mut rng);
    }
    ChosenSizes { sizes: sizes.into_iter().collect(), omitted }
}

fn count_visits(previous: &[Vec<[f64; 2]>]) -> BTreeMap<u64, usize> {
    let mut visits = BTreeMap::new();
    for point in previous.iter().flatten() {
        *visits.entry(point[0] as u64).or_insert(0) += 1;
    }
    visits
}

/// Adds `fill` sizes over the range, a random one from each of `fill` strata.
fn spread(range: &Range, fill: usize, sizes: &mut BTreeSet<u64>, rng: &mut Rng) {
    let (low, high) = (range.min as f64, range.max as f64);
    let by_ratio = fill / 3;
    for i in 0..by_ratio {
        let at = (i as f64 + rng.uniform()) / by_ratio as f64;
        sizes.insert(range.nearest(low * (high / low).powf(at)));
    }
    let by_bytes = fill - by_ratio;
    for i in 0..by_bytes {
        let at = (i as f64 + rng.uniform()) / by_bytes as f64;
        sizes.insert(range.nearest(low + (high - low) * at));
    }
}

/// Adds up to `count` of the sizes with the fewest visits.
fn revisit(count: usize, visits: &BTreeMap<u64, usize>, sizes: &mut BTreeSet<u64>, rng: &mut Rng) {
    let mut seen: Vec<(usize, u64)> =
        visits.iter().filter(|(s, _)| !sizes.contains(s)).map(|(s, n)| (*n, *s)).collect();
    rng.shuffle(&mut seen);
    seen.sort_by_key(|(n, _)| *n);
    sizes.extend(seen.into_iter().take(count).map(|(_, s)| s));
}

/// Adds up to `count` new sizes, each from the gap with the highest uncertainty.
fn refine(
    range: &Range,
    count: usize,
    previous: &[Vec<[f64; 2]>],
    sizes: &mut BTreeSet<u64>,
    rng: &mut Rng,
) {
    let model = CurveModel::fit(previous);
    let mut gaps: BinaryHeap<Gap> = model
        .visited()
        .windows(2)
        .map(|ends| Gap {
            score: unsureness(&model, range, ends[0], ends[1]),
            ends: [ends[0], ends[1]],
        })
        .collect();
    let mut left = count;
    while let Some(Gap { score, ends: [low, high] }) = gaps.pop().filter(|_| left > 0) {
        let steps = ((high - low) / range.grain).saturating_sub(1) as usize;
        if steps == 0 {
            continue;
        }
        let new = low + range.grain * (1 + rng.below(steps) as u64);
        left -= usize::from(sizes.insert(new));
        // Half a gap has a quarter of the bend and more than half of the other uncertainty.
        gaps.extend([[low, new], [new, high]].map(|ends| Gap { score: score * 0.4, ends }));
    }
}

/// A gap between two visited sizes, ordered by uncertainty: the least certain is the greatest.
#[derive(Debug, PartialEq)]
struct Gap {
    score: f64,
    ends: [u64; 2],
}

impl Eq for Gap {}

impl Ord for Gap {
    fn cmp(&self, other: &Self) -> Ordering {
        self.score.total_cmp(&other.score).then(self.ends.cmp(&other.ends))
    }
}

impl PartialOrd for Gap {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// Returns the uncertainty of the curve in a gap: the deviation of its middle from the straight
/// line between its ends, plus the half-width of its interval (both relative to the time per call),
/// plus 1 % so that no gap is certain. The sum is multiplied by the square root of the gap's share
/// of the range, so that one noisy spot does not attract all the sizes.
fn unsureness(model: &CurveModel, range: &Range, low: u64, high: u64) -> f64 {
    let middle = low.midpoint(high);
    let time = |size: u64| model.predict(size).map(|p| size as f64 / p.value);
    let (Some(at_low), Some(at_middle), Some(at_high), Some(prediction)) =
        (time(low), time(middle), time(high), model.predict(middle))
    else {
        return 0.0;
    };
    let along = (middle - low) as f64 / (high - low) as f64;
    let bend = (at_middle / (at_low + (at_high - at_low) * along)).ln().abs();
    let width = (prediction.high / prediction.low).ln().abs() / 2.0;
    let by_bytes = (high - low) as f64 / (range.max - range.min).max(1) as f64;
    let by_ratio = (high as f64 / low as f64).ln() / (range.max as f64 / range.min as f64).ln();
    (bend + width + 0.01) * (by_bytes + by_ratio / 2.0).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn full() -> Range {
        Range::inward(1, 102_400, 1).unwrap()
    }

    fn curve(sizes: &[u64]) -> Vec<[f64; 2]> {
        // A step of 30 % where a cache is full.
        let time = |s: f64| (3e-7 + s * 5e-11) * if s > 40_000.0 { 1.3 } else { 1.0 };
        sizes.iter().map(|&s| s as f64).map(|s| [s, s / time(s)]).collect()
    }

    #[test]
    fn always_covers_what_it_promises() {
        let mut previous = Vec::new();
        for trial in 0..6 {
            let choice = choose(&full(), 350, &previous, trial);
            assert_eq!(choice.omitted, 0);
            assert!((300..=350).contains(&choice.sizes.len()), "{}", choice.sizes.len());
            for k in 0..=16 {
                assert!(choice.sizes.contains(&(1 << k)));
            }
            for k in 1..=25 {
                let page = k * 4096;
                assert!(choice.sizes.contains(&page) && choice.sizes.contains(&(page - 1)));
                assert!(page == 102_400 || choice.sizes.contains(&(page + 1)));
            }
            assert!(choice.sizes.is_sorted_by(|a, b| a < b));
            assert_eq!((choice.sizes[0], choice.sizes.last()), (1, Some(&102_400)));
            previous.push(curve(&choice.sizes));
        }
        let distinct = count_visits(&previous);
        assert!(distinct.len() > 900, "{}", distinct.len());
    }

    #[test]
    fn new_sizes_gather_where_the_curve_bends() {
        let coarse: Vec<u64> = (0..=100).map(|k| 1 + k * 1023).collect();
        let first = curve(&coarse);
        let choice = choose(&full(), 180, &[first], 1);
        let new: Vec<u64> = choice
            .sizes
            .into_iter()
            .filter(|s| !coarse.contains(s) && !page_sizes(&full()).contains(s))
            .filter(|s| !s.is_power_of_two())
            .collect();
        let near = new.iter().filter(|s| (36_000..44_000).contains(*s)).count();
        assert!(near * 3 > new.len(), "{near} of {}: {new:?}", new.len());
    }

    #[test]
    fn little_time_still_has_the_corner_stones() {
        let choice = choose(&full(), 0, &[], 1);
        assert_eq!(choice.sizes.len(), 18);
        assert_eq!(choice.omitted, 68);
        let some = choose(&full(), 60, &[], 1);
        assert!(some.sizes.len() <= 60 && some.omitted > 0);
    }

    #[test]
    fn past_the_cache_only_whole_blocks() {
        let range = Range::inward(1, 102_400, 512).unwrap();
        let choice = choose(&range, 300, &[], 1);
        assert!(choice.sizes.iter().all(|s| s.is_multiple_of(512)));
        assert!(choice.sizes.contains(&512) && choice.sizes.contains(&(4096 + 512)));
        let again = choose(&range, 300, &[curve(&choice.sizes)], 2);
        assert!(again.sizes.iter().all(|s| s.is_multiple_of(512) && (512..=102_400).contains(s)));
        assert!(Range::inward(1, 511, 512).is_none());
    }

    #[test]
    fn a_range_of_one_size() {
        let range = Range::inward(7, 7, 1).unwrap();
        assert_eq!(choose(&range, 50, &[], 1).sizes, [7]);
        assert_eq!(choose(&range, 50, &[curve(&[7])], 1).sizes, [7]);
    }

    proptest::proptest! {
        #[test]
        fn stays_in_any_range(
            min in 1u64..1_000_000, more in 0u64..1_000_000, count in 0usize..400, seed: u64
        ) {
            let range = Range::inward(min, min + more, 1).unwrap();
            let first = choose(&range, count, &[], seed);
            let second = choose(&range, count, &[curve(&first.sizes)], seed);
            for size in first.sizes.iter().chain(&second.sizes) {
                proptest::prop_assert!(range.holds(*size));
            }
            proptest::prop_assert!(second.sizes.len() <= count.max(corner_stones(&range).len()));
        }
    }
}
