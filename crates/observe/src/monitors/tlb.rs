//! Monitor of the cost of address translation, from the processor's counters on all CPUs. The
//! events depend on the microarchitecture; on an unknown one, or without counters, the monitor is
//! unavailable.

use assay_traces::translation::counters::{
    CountScope, Microarch, PerfGroup, Readings, difference, step,
};
use assay_traces::translation::{TranslationSide, TranslationStep};

use crate::{
    Chart, Field, FieldRole, FirstSeries, Monitor, MonitorSpec, NotAvailable, Recorder, Tree,
};

static WALKS: Chart = Chart::lines("Time in page walks");

/// Description of the monitor `tlb`.
pub static SPEC: MonitorSpec = MonitorSpec {
    name: "tlb",
    help: "Cost of address translation, from the processor's counters of all CPUs. Virtual \
           machines seldom have any. Counts of events that shared a counter are scaled up. The \
           shares are missing on processors that count page walks but not their time.",
    subjects: "the whole system (an empty subject)",
    fields: &[
        Field::new("itlb_first", "1/s", "Instruction fetches not in the first-level TLB"),
        Field::new("itlb_walks", "1/s", "Page walks for instruction fetches"),
        Field::new("itlb_time", "%", "Share of cycles with such a walk under way")
            .role(FieldRole::TimeShare)
            .lower()
            .drawn(&WALKS, "instructions"),
        Field::new("dtlb_first", "1/s", "Loads and stores not in the first-level TLB"),
        Field::new("dtlb_walks", "1/s", "Page walks for loads and stores"),
        Field::new("dtlb_time", "%", "Share of cycles with such a walk under way")
            .role(FieldRole::TimeShare)
            .lower()
            .drawn(&WALKS, "data"),
        Field::new("time", "%", "Both shares together").role(FieldRole::TimeShare).lower(),
    ],
    open: |tree| Tlb::open(tree).map(|monitor| Box::new(monitor) as Box<dyn Monitor>),
};

struct Tlb {
    group: PerfGroup,
    /// Time (nanoseconds) and counts of the last sample.
    before: Option<(u64, Readings)>,
    now: Readings,
    since: Readings,
    series: Option<FirstSeries>,
    /// Events that the kernel refused to count.
    missing: Vec<String>,
}

impl Tlb {
    fn open(tree: &Tree) -> Result<Self, NotAvailable> {
        if tree.path("") != std::path::Path::new("/") {
            return Err(NotAvailable::because(
                "counters belong to the running system, not to a folder",
            ));
        }
        let mut group = PerfGroup::open(CountScope::System)
            .map_err(|missing| NotAvailable::because(missing.to_string()))?;
        let there = group.read();
        let all = group.arch().events.keys();
        let missing = all.filter(|name| !there.contains_key(*name)).cloned().collect();
        let since = Readings::new();
        Ok(Tlb { group, before: None, now: there, since, series: None, missing })
    }
}

/// Returns the fields in their order; NaN if a value is unknown.
fn values(arch: &Microarch, since: &Readings, seconds: f64) -> [f64; 7] {
    let of = |side, at| {
        let cost = step(arch, side, at, since, seconds);
        let rate = cost.and_then(|c| c.per_second).unwrap_or(f64::NAN);
        (rate, cost.and_then(|c| c.share).map_or(f64::NAN, |s| s * 100.0))
    };
    let (i1, _) = of(TranslationSide::Instruction, TranslationStep::FirstLevel);
    let (iw, it) = of(TranslationSide::Instruction, TranslationStep::Tlb);
    let (d1, _) = of(TranslationSide::Data, TranslationStep::FirstLevel);
    let (dw, dt) = of(TranslationSide::Data, TranslationStep::Tlb);
    [i1, iw, it, d1, dw, dt, it + dt]
}

impl Monitor for Tlb {
    fn sample(&mut self, t_ns: u64, out: &mut Recorder) {
        self.group.read_into(&mut self.now);
        let Some((then, before)) = &mut self.before else {
            self.before = Some((t_ns, self.now.clone()));
            return;
        };
        difference(&self.now, before, &mut self.since);
        let seconds = (t_ns - *then) as f64 / 1e9;
        let series = *self.series.get_or_insert_with(|| out.intern(SPEC.name, "", SPEC.fields));
        out.push(t_ns, series, &values(self.group.arch(), &self.since, seconds));
        *then = t_ns;
        std::mem::swap(before, &mut self.now);
    }

    fn not_seen(&self) -> Vec<String> {
        match self.missing.as_slice() {
            [] => Vec::new(),
            some => vec![format!("this kernel does not count {}", some.join(", "))],
        }
    }
}

#[cfg(test)]
mod tests {
    use assay_traces::translation::counters::CounterReading;

    use super::*;

    #[test]
    fn fields_are_in_their_order_and_what_is_unknown_is_nan() {
        let events =
            |name: &str| Microarch::all().into_iter().find(|m| m.name.contains(name)).unwrap();
        let skylake = events("Skylake");
        let value = |name: &str| match name {
            "CPU_CLK_UNHALTED.THREAD" => 1000,
            "ITLB_MISSES.WALK_ACTIVE" => 10,
            "DTLB_LOAD_MISSES.WALK_ACTIVE" => 50,
            "DTLB_LOAD_MISSES.WALK_COMPLETED" => 4,
            _ => 0,
        };
        let reading =
            |name: &str| CounterReading { value: value(name), enabled_ns: 5, running_ns: 5 };
        let readings = skylake.events.keys().map(|k| (k.clone(), reading(k))).collect();
        let found = values(&skylake, &readings, 2.0);
        let expected = [0.0, 0.0, 1.0, 2.0, 2.0, 5.0, 6.0];
        assert!(found.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-9), "{found:?}");
        let zen = events("Zen 3");
        let readings = zen.events.keys().map(|k| (k.clone(), reading(k))).collect();
        let values = values(&zen, &readings, 2.0);
        assert!(values[5].is_nan() && values[6].is_nan() && values[4] == 0.0, "{values:?}");
    }

    #[test]
    fn without_counters_it_says_what_is_missing() {
        match Tlb::open(&Tree::new(std::path::Path::new("/"))) {
            Ok(_) => eprintln!("skipped: because this machine has counters"),
            Err(missing) => {
                assert!(!missing.reason.is_empty() && missing.reason.len() > 20, "{missing}");
            }
        }
    }
}
