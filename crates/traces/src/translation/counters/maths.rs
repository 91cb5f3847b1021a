//! Computes the table from event counts. An event that shared its counter with others ran only part
//! of the time; its count is scaled to the whole, and the table notes it. An event that never ran
//! is unknown.

use std::collections::BTreeMap;

use assay_model::units::parse_bytes;

use super::Microarch;
use super::events::StepRule;
use crate::translation::table::{
    SideRow, StepCost, TranslationRow, TranslationSide, TranslationStep, TranslationTable,
    total_share,
};

/// Counts of one event as read from the kernel.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct CounterReading {
    /// Number of events counted.
    pub value: u64,
    /// Time for which the event was enabled, in nanoseconds.
    pub enabled_ns: u64,
    /// Time for which the event was running on a counter, in nanoseconds.
    pub running_ns: u64,
}

impl CounterReading {
    /// Returns the count scaled to the time the event was enabled, or `None` if it never ran.
    pub fn scaled(self) -> Option<f64> {
        let share = self.enabled_ns as f64 / self.running_ns as f64;
        (self.running_ns > 0).then_some(self.value as f64 * share)
    }

    /// Returns the counts since `earlier`. If a counter went backwards, the result is that of an
    /// event that never ran.
    #[must_use]
    pub fn since(self, earlier: CounterReading) -> CounterReading {
        let parts = [
            self.value.checked_sub(earlier.value),
            self.enabled_ns.checked_sub(earlier.enabled_ns),
            self.running_ns.checked_sub(earlier.running_ns),
        ];
        match parts {
            [Some(value), Some(enabled_ns), Some(running_ns)] => {
                CounterReading { value, enabled_ns, running_ns }
            }
            _ => CounterReading::default(),
        }
    }
}

/// Readings by event name.
pub type Readings = BTreeMap<String, CounterReading>;

fn sum(of: &[String], readings: &Readings) -> Option<f64> {
    of.iter().map(|name| readings.get(name).copied().and_then(CounterReading::scaled)).sum()
}

fn ratio(part: Option<f64>, whole: Option<f64>) -> Option<f64> {
    part.zip(whole).filter(|(_, w)| *w > 0.0).map(|(p, w)| p / w)
}

/// Stores the differences between two readings in `into`, reusing its allocations.
pub fn difference(now: &Readings, before: &Readings, into: &mut Readings) {
    into.retain(|name, _| now.contains_key(name));
    for (name, reading) in now {
        let since = reading.since(before.get(name).copied().unwrap_or_default());
        match into.get_mut(name) {
            Some(slot) => *slot = since,
            None => {
                into.insert(name.clone(), since);
            }
        }
    }
}

/// Returns the cost of one step of one side, counted over `seconds`.
fn cost(arch: &Microarch, rule: &StepRule, readings: &Readings, seconds: f64) -> StepCost {
    let cycles = sum(std::slice::from_ref(&arch.cycles), readings);
    let misses = sum(&rule.misses, readings);
    let spent = match (&rule.at_most, rule.cycles.is_empty()) {
        (_, false) => sum(&rule.cycles, readings),
        (Some(bound), true) => sum(&bound.of, readings).map(|n| n * bound.each),
        (None, true) => None,
    };
    StepCost {
        step: rule.step,
        misses,
        per_second: ratio(misses, Some(seconds)),
        share: ratio(spent, cycles),
    }
}

/// Returns the cost of one step of one side, counted over `seconds`, or `None` if the
/// microarchitecture has no such step. Does not allocate.
pub fn step(
    arch: &Microarch,
    side: TranslationSide,
    step: TranslationStep,
    readings: &Readings,
    seconds: f64,
) -> Option<StepCost> {
    let rule = arch.steps.iter().find(|r| r.side == side && r.step == step)?;
    Some(cost(arch, rule, readings, seconds))
}

/// Returns the row of an interval of length `seconds` that ended at `at_s`.
pub fn row(arch: &Microarch, readings: &Readings, seconds: f64, at_s: f64) -> TranslationRow {
    let side = |side: TranslationSide| {
        let rules = arch.steps.iter().filter(|r| r.side == side);
        let steps = rules.map(|rule| cost(arch, rule, readings, seconds)).collect();
        SideRow { side, accesses: None, steps }
    };
    let (instruction, data) = (side(TranslationSide::Instruction), side(TranslationSide::Data));
    let share = walks_share(&instruction, &data);
    TranslationRow { at_s, seconds, page: None, instruction, data, share }
}

/// Returns the share of time spent in page walks, which is counted. The cost of first-level misses
/// is only an upper bound and is excluded.
fn walks_share(instruction: &SideRow, data: &SideRow) -> Option<f64> {
    let walks = |s: &SideRow| SideRow {
        steps: s.steps.iter().filter(|c| c.step == TranslationStep::Tlb).copied().collect(),
        ..s.clone()
    };
    total_share(&walks(instruction), &walks(data))
}

/// Returns the table for intervals (end in seconds, length in seconds, readings) and their total.
pub fn table(
    arch: &Microarch,
    intervals: &[(f64, f64, Readings)],
    all: &Readings,
    of: String,
) -> TranslationTable {
    let seconds: f64 = intervals.iter().map(|i| i.1).sum();
    let end = intervals.last().map_or(0.0, |i| i.0);
    let total = row(arch, all, seconds, end);
    let by_page = arch.pages.iter().filter_map(|rule| {
        let misses = sum(&rule.misses, all);
        let mut line = total.clone();
        line.page = Some(parse_bytes(&rule.size).ok()?);
        line.share = None;
        for side in [&mut line.instruction, &mut line.data] {
            let here = side.side == rule.side;
            for cost in &mut side.steps {
                let known = here && cost.step == TranslationStep::Tlb;
                cost.share = None;
                cost.misses = misses.filter(|_| known);
                cost.per_second = ratio(cost.misses, Some(seconds));
            }
        }
        Some(line)
    });
    let mut notes = vec![format!("events of {}: {}", arch.name, arch.source)];
    let shared: Vec<f64> = all
        .values()
        .filter(|r| r.running_ns < r.enabled_ns)
        .map(|r| r.running_ns as f64 / r.enabled_ns as f64)
        .collect();
    if let Some(minimum) = shared.iter().copied().reduce(f64::min) {
        notes.push(format!(
            "{} of {} events shared counters and ran {:.0} % of the time or more: they are scaled \
             to the whole",
            shared.len(),
            all.len(),
            (minimum * 100.0).floor()
        ));
    }
    let missing: Vec<&str> =
        arch.events.keys().filter(|n| !all.contains_key(*n)).map(String::as_str).collect();
    if !missing.is_empty() {
        notes.push(format!("this kernel does not count {}", missing.join(", ")));
    }
    if arch.steps.iter().any(|s| s.at_most.is_some()) {
        notes.push("the share of a first-level miss is an upper bound and not in the total".into());
    }
    TranslationTable {
        kind: "measured".into(),
        of,
        rows: intervals.iter().map(|(at, s, r)| row(arch, r, *s, *at)).collect(),
        by_page: by_page.collect(),
        total,
        notes,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Counts as the kernel returns them: value, enabled, running (one line per event).
    const COUNTS: &str = "CPU_CLK_UNHALTED.THREAD 3000000000 1000000000 1000000000
DTLB_LOAD_MISSES.STLB_HIT 1000000 1000000000 500000000
DTLB_LOAD_MISSES.WALK_ACTIVE 90000000 1000000000 500000000
DTLB_LOAD_MISSES.WALK_COMPLETED 2000000 1000000000 500000000
DTLB_LOAD_MISSES.WALK_COMPLETED_4K 1900000 1000000000 500000000
DTLB_LOAD_MISSES.WALK_COMPLETED_2M_4M 100000 1000000000 500000000
DTLB_LOAD_MISSES.WALK_COMPLETED_1G 0 1000000000 0
DTLB_STORE_MISSES.STLB_HIT 500000 1000000000 1000000000
DTLB_STORE_MISSES.WALK_ACTIVE 30000000 1000000000 1000000000
DTLB_STORE_MISSES.WALK_COMPLETED 1000000 1000000000 1000000000
ITLB_MISSES.STLB_HIT 10000 1000000000 1000000000
ITLB_MISSES.WALK_ACTIVE 6000000 1000000000 1000000000
ITLB_MISSES.WALK_COMPLETED 20000 1000000000 1000000000";

    fn recorded() -> Readings {
        let line = |l: &str| {
            let mut parts = l.split(' ');
            let name = parts.next()?.to_owned();
            let mut number = || parts.next()?.parse().ok();
            let reading =
                CounterReading { value: number()?, enabled_ns: number()?, running_ns: number()? };
            Some((name, reading))
        };
        COUNTS.lines().filter_map(line).collect()
    }

    fn skylake() -> Microarch {
        Microarch::all().into_iter().find(|m| m.name.contains("Skylake")).unwrap()
    }

    #[test]
    fn counts_become_shares_of_time() {
        let readings = recorded();
        let table = table(&skylake(), &[(2.0, 2.0, readings.clone())], &readings, "x".into());
        let data = &table.total.data;
        let walk = data.step(TranslationStep::Tlb).unwrap();
        // (2 x 2 M + 1 M) in 2 s, and (2 x 90 M + 30 M) of 3 G cycles.
        assert_eq!(walk.per_second, Some(2_500_000.0));
        assert!((walk.share.unwrap() - 0.07).abs() < 1e-12);
        let first = data.step(TranslationStep::FirstLevel).unwrap();
        assert_eq!(first.misses, Some(2e6 + 4e6 + 0.5e6 + 1e6));
        assert!((first.share.unwrap() - 2e6 * 9.0 / 3e9).abs() < 1e-12);
        let code = &table.total.instruction;
        assert!((code.step(TranslationStep::Tlb).unwrap().share.unwrap() - 0.002).abs() < 1e-12);
        assert_eq!(code.step(TranslationStep::FirstLevel).unwrap().share, None);
        assert!((table.total.share.unwrap() - 0.072).abs() < 1e-12);
        let page = |size: u64| {
            let row = table.by_page.iter().find(|r| r.page == Some(size)).unwrap();
            row.data.step(TranslationStep::Tlb).unwrap().misses
        };
        assert_eq!(page(4096), Some(3_800_000.0));
        assert_eq!(page(2 << 20), Some(200_000.0));
        assert_eq!(page(1 << 30), None, "an event that never ran is unknown, not 0");
        assert!(
            table.notes.iter().any(|n| n.contains("6 of 13 events shared counters")),
            "{:?}",
            table.notes
        );
    }

    #[test]
    fn what_is_not_counted_is_unknown() {
        let zen = Microarch::all().into_iter().find(|m| m.name.contains("Zen 3")).unwrap();
        let one = CounterReading { value: 10, enabled_ns: 1, running_ns: 1 };
        let readings: Readings = zen.events.keys().map(|k| (k.clone(), one)).collect();
        let line = row(&zen, &readings, 1.0, 1.0);
        assert_eq!(line.data.step(TranslationStep::Tlb).unwrap().misses, Some(10.0));
        assert_eq!(line.data.step(TranslationStep::Tlb).unwrap().share, None);
        assert_eq!(line.share, None);
        let mut fewer = recorded();
        fewer.remove("CPU_CLK_UNHALTED.THREAD");
        let line = row(&skylake(), &fewer, 1.0, 1.0);
        assert_eq!(line.share, None);
        let back = CounterReading { value: 1, ..CounterReading::default() }.since(one);
        assert_eq!(back.scaled(), None);
    }
}
