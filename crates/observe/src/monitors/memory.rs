//! Monitor of memory use, from `/proc/meminfo`, and of paging, from `/proc/vmstat`.

use crate::sampling::column::{ColumnGroup, ColumnSubject, SampleColumn};
use crate::sampling::scan::keyed;
use crate::sampling::source::{ReadMode, SampledFile};
use crate::sampling::subjects::Subjects;
use crate::sampling::trouble::Trouble;
use crate::{Chart, Field, FirstSeries, Monitor, MonitorSpec, NotAvailable, Recorder, Tree};

static USE: Chart = Chart::lines("Memory");
static SWAP: Chart = Chart::lines("Swapping");
static FAULTS: Chart = Chart::lines("Page faults that read from a device");

static SUMMARY: ColumnGroup = ColumnGroup::new("memory B", 2, ColumnSubject::Subject(""));
static FREE: SampleColumn = SampleColumn::new(&SUMMARY, 1, "free", 4, 1);
static CACHED: SampleColumn = SampleColumn::new(&SUMMARY, 2, "cach", 4, 3);
static DIRTY: SampleColumn = SampleColumn::new(&SUMMARY, 3, "dirt", 4, 3);

/// Description of the monitor `memory`.
pub static SPEC: MonitorSpec = MonitorSpec {
    name: "memory",
    help: "Use of memory at the end of the interval, from /proc/meminfo, and the rates of paging \
           and faults over it, from /proc/vmstat.",
    subjects: "the whole system (an empty subject)",
    fields: &[
        bytes("total", "Memory that the kernel manages"),
        bytes("free", "Unused memory").column(&FREE),
        bytes("available", "The kernel's estimate of memory available without swapping")
            .drawn(&USE, "available"),
        bytes("buffers", "Cached blocks of devices and file-system metadata"),
        bytes("cached", "Page cache: cached files, and shared memory").column(&CACHED),
        bytes("dirty", "Dirty pages that wait to be written").drawn(&USE, "dirty").column(&DIRTY),
        bytes("writeback", "Pages under writeback"),
        bytes("slab", "The kernel's own structures"),
        bytes("swap_used", "Swap space in use"),
        bytes("anon_huge", "Anonymous memory in transparent huge pages"),
        Field::new("pgpgin", "KiB/s", "Data read in from block devices"),
        Field::new("pgpgout", "KiB/s", "Data written out to block devices"),
        Field::rate("pswpin", "Pages read in from swap").drawn(&SWAP, "in").lower(),
        Field::rate("pswpout", "Pages written out to swap").drawn(&SWAP, "out").lower(),
        Field::rate("pgfault", "Page faults, minor and major"),
        Field::rate("pgmajfault", "Page faults that had to read from a device")
            .drawn(&FAULTS, "major")
            .lower(),
    ],
    open: |tree| Memory::open(tree).map(|monitor| Box::new(monitor) as Box<dyn Monitor>),
};

const fn bytes(name: &'static str, help: &'static str) -> Field {
    Field::new(name, "B", help)
}

/// Lines of meminfo: those of the fields first, in their order. Used swap is total minus free.
const MEMINFO: [&[u8]; 11] = [
    b"MemTotal:",
    b"MemFree:",
    b"MemAvailable:",
    b"Buffers:",
    b"Cached:",
    b"Dirty:",
    b"Writeback:",
    b"Slab:",
    b"SwapTotal:",
    b"AnonHugePages:",
    b"SwapFree:",
];
const SWAP_TOTAL: usize = 8;
const SWAP_FREE: usize = 10;
const LEVELS: usize = 10;

/// Lines of vmstat, in the order of the fields.
const VMSTAT: [&[u8]; 6] =
    [b"pgpgin", b"pgpgout", b"pswpin", b"pswpout", b"pgfault", b"pgmajfault"];

struct Memory {
    meminfo: SampledFile,
    vmstat: Option<SampledFile>,
    rates: Subjects<6>,
    /// Series of the fields; `Some` once a base was taken.
    series: Option<FirstSeries>,
    trouble: Trouble,
}

impl Memory {
    fn open(tree: &Tree) -> Result<Self, NotAvailable> {
        let meminfo = tree.open("proc/meminfo", ReadMode::Whole)?;
        let mut trouble = Trouble::default();
        let vmstat = trouble.opened("vmstat", tree.open("proc/vmstat", ReadMode::Records));
        Ok(Self { meminfo, vmstat, rates: Subjects::default(), series: None, trouble })
    }

    /// Returns the levels in bytes, in the order of the fields.
    fn levels(&mut self) -> Option<[f64; LEVELS]> {
        let found = keyed(self.meminfo.text("meminfo", &mut self.trouble)?, &MEMINFO);
        let mut kib = [f64::NAN; LEVELS];
        for (i, slot) in kib.iter_mut().enumerate() {
            let level = if i == SWAP_TOTAL {
                found[SWAP_TOTAL].zip(found[SWAP_FREE]).and_then(|(t, f)| t.checked_sub(f))
            } else {
                found[i]
            };
            match level {
                Some(level) => *slot = level as f64 * 1024.0,
                None => self.trouble.note(SPEC.fields[i].name, || {
                    let line = String::from_utf8_lossy(MEMINFO[i]);
                    format!("/proc/meminfo of this kernel has no `{line}` that can be read")
                }),
            }
        }
        Some(kib)
    }

    /// Returns the rates since the last tick, in the order of the fields.
    fn rates(&mut self, t_ns: u64) -> Option<[f64; 6]> {
        let vmstat = self.vmstat.as_mut()?;
        let found = keyed(vmstat.text("vmstat", &mut self.trouble)?, &VMSTAT);
        self.rates.begin(t_ns);
        let change = self.rates.turn(b"", found, |_| true)?;
        Some(std::array::from_fn(|i| change.rate(i)))
    }
}

impl Monitor for Memory {
    fn sample(&mut self, t_ns: u64, out: &mut Recorder) {
        let rates = self.rates(t_ns).unwrap_or([f64::NAN; 6]);
        let Some(levels) = self.levels() else { return };
        let Some(series) = self.series else {
            self.series = Some(out.intern(SPEC.name, "", SPEC.fields));
            return;
        };
        let mut values = [f64::NAN; LEVELS + 6];
        values[..LEVELS].copy_from_slice(&levels);
        values[LEVELS..].copy_from_slice(&rates);
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

    const MEMINFO_TEXT: &str = "MemTotal:       1000 kB\nMemFree:         400 kB\n\
        MemAvailable:    700 kB\nBuffers:          10 kB\nCached:          200 kB\n\
        SwapCached:        1 kB\nSwapTotal:        64 kB\nSwapFree:         60 kB\n\
        Dirty:             8 kB\nWriteback:         0 kB\nSlab:             30 kB\n";

    #[test]
    fn levels_and_rates() {
        let fake = Fake::new(&[
            ("proc/meminfo", MEMINFO_TEXT),
            ("proc/vmstat", "nr_free_pages 1\npgpgin 100\npgpgout 0\npswpin 0\npgfault 9\n"),
        ]);
        let mut watch = fake.open(&SPEC).unwrap();
        assert!(watch.after(1).is_empty());
        fake.write("proc/vmstat", "pgpgin 300\npgpgout 0\npswpin 0\npgfault 8\n");
        let rows = watch.after(2);
        assert_eq!(rows.len(), SPEC.fields.len());
        assert_eq!(value(&rows, "", "total"), 1_024_000.0);
        assert_eq!(value(&rows, "", "swap_used"), 4096.0);
        assert_eq!(value(&rows, "", "writeback"), 0.0);
        assert_eq!(value(&rows, "", "pgpgin"), 100.0);
        assert_eq!(value(&rows, "", "pswpin"), 0.0);
        assert!(value(&rows, "", "pgfault").is_nan(), "went backwards");
        assert!(value(&rows, "", "pswpout").is_nan(), "not there");
        assert!(value(&rows, "", "anon_huge").is_nan(), "not there");
        assert_eq!(
            watch.monitor.not_seen(),
            ["/proc/meminfo of this kernel has no `AnonHugePages:` that can be read"]
        );
    }

    #[test]
    fn without_vmstat_the_levels_stay() {
        let fake = Fake::new(&[("proc/meminfo", MEMINFO_TEXT)]);
        let mut watch = fake.open(&SPEC).unwrap();
        watch.after(1);
        let rows = watch.after(1);
        assert_eq!(value(&rows, "", "free"), 409_600.0);
        assert!(value(&rows, "", "pgfault").is_nan());
        assert!(watch.monitor.not_seen()[0].contains("vmstat does not exist"));
    }
}
