//! Monitor of the kernel's memory reclaim, from `/proc/vmstat`: direct reclaim and compaction that
//! programs waited for, pages scanned and reclaimed, and huge-page allocations that failed.

use crate::sampling::scan::keyed;
use crate::sampling::source::{ReadMode, SampledFile};
use crate::sampling::subjects::Subjects;
use crate::sampling::trouble::Trouble;
use crate::{Chart, Field, Monitor, MonitorSpec, NotAvailable, Recorder, Tree};

static PAGES: Chart = Chart::lines("Memory reclaim");
static STALLS: Chart = Chart::lines("Programs that waited for memory");

/// Description of the monitor `reclaim`.
pub static SPEC: MonitorSpec = MonitorSpec {
    name: "reclaim",
    help: "Work of the kernel to find free memory, from /proc/vmstat: in the background (kswapd), \
           in programs that had to do it themselves (direct), and for large pages (compaction).",
    subjects: "the whole system (an empty subject)",
    fields: &[
        Field::rate("scanned_background", "Pages that kswapd scanned"),
        Field::rate("scanned_direct", "Pages that programs had to scan themselves").lower(),
        Field::rate("reclaimed_background", "Pages kswapd reclaimed").drawn(&PAGES, "background"),
        Field::rate("reclaimed_direct", "Pages that programs had to reclaim themselves")
            .drawn(&PAGES, "direct")
            .lower(),
        Field::rate(
            "compaction_stalls",
            "Programs that waited while memory was moved for a large page",
        )
        .drawn(&STALLS, "for a large page")
        .lower(),
        Field::rate("thp_fallback", "Page faults that got small pages instead of a large one")
            .drawn(&STALLS, "got small pages")
            .lower(),
        Field::rate("oom_kills", "Programs killed for lack of memory").lower(),
    ],
    open: |tree| Reclaim::open(tree).map(|monitor| Box::new(monitor) as Box<dyn Monitor>),
};

/// Lines of vmstat, in the order of the fields.
const VMSTAT: [&[u8]; 7] = [
    b"pgscan_kswapd",
    b"pgscan_direct",
    b"pgsteal_kswapd",
    b"pgsteal_direct",
    b"compact_stall",
    b"thp_fault_fallback",
    b"oom_kill",
];

struct Reclaim {
    vmstat: SampledFile,
    rates: Subjects<7>,
    trouble: Trouble,
}

impl Reclaim {
    fn open(tree: &Tree) -> Result<Self, NotAvailable> {
        let vmstat = tree.open("proc/vmstat", ReadMode::Records)?;
        Ok(Self { vmstat, rates: Subjects::default(), trouble: Trouble::default() })
    }
}

impl Monitor for Reclaim {
    fn sample(&mut self, t_ns: u64, out: &mut Recorder) {
        let Some(text) = self.vmstat.text("vmstat", &mut self.trouble) else { return };
        let found = keyed(text, &VMSTAT);
        for (i, value) in found.iter().enumerate() {
            if value.is_none() {
                self.trouble.note(SPEC.fields[i].name, || {
                    let line = String::from_utf8_lossy(VMSTAT[i]);
                    format!("/proc/vmstat of this kernel has no `{line}`")
                });
            }
        }
        self.rates.begin(t_ns);
        let Some(mut change) = self.rates.turn(b"", found, |_| true) else { return };
        let values: [f64; 7] = std::array::from_fn(|i| change.rate(i));
        let series = change.series(out, SPEC.name, SPEC.fields);
        out.push(t_ns, series, &values);
    }

    fn not_seen(&self) -> Vec<String> {
        self.trouble.sentences()
    }
}

#[cfg(test)]
mod tests {
    use super::super::fake::{Fake, value};
    use super::*;

    #[test]
    fn rates_by_the_kernels_counters() {
        let fake =
            Fake::new(&[("proc/vmstat", "pgsteal_kswapd 100\npgsteal_direct 5\noom_kill 0\n")]);
        let mut watch = fake.open(&SPEC).unwrap();
        assert!(watch.after(1).is_empty());
        fake.write("proc/vmstat", "pgsteal_kswapd 300\npgsteal_direct 4\noom_kill 1\n");
        let rows = watch.after(2);
        assert_eq!(rows.len(), SPEC.fields.len());
        assert_eq!(value(&rows, "", "reclaimed_background"), 100.0);
        assert_eq!(value(&rows, "", "oom_kills"), 0.5);
        assert!(value(&rows, "", "reclaimed_direct").is_nan(), "went backwards");
        assert!(value(&rows, "", "compaction_stalls").is_nan(), "not there");
        let missing = watch.monitor.not_seen();
        assert!(missing.iter().any(|s| s.contains("`compact_stall`")), "{missing:?}");
    }
}
