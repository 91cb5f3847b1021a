//! Monitor of block devices, from `/proc/diskstats`, with the columns and formulas of `iostat -x`.
//! The counters are described in the kernel's Documentation/admin-guide/iostats.rst.

use crate::sampling::column::{ColumnGroup, ColumnSubject, SampleColumn};
use crate::sampling::scan::{WordIter, lines};
use crate::sampling::source::{ReadMode, SampledFile};
use crate::sampling::subjects::{CounterChange, Subjects};
use crate::sampling::trouble::Trouble;
use crate::{Chart, Field, Monitor, MonitorSpec, NotAvailable, Recorder, Tree};

static THROUGHPUT: Chart = Chart::lines("Disk throughput");
static LATENCY: Chart = Chart::lines("Disk latency");
static BUSY: Chart = Chart::lines("Disk busy");

static SUMMARY: ColumnGroup = ColumnGroup {
    named: Some(("name", 7, 5)),
    ..ColumnGroup::new("busiest disk", 3, ColumnSubject::BusiestDisk)
};
static READS: SampleColumn = SampleColumn::new(&SUMMARY, 1, "r/s", 4, 0);
static WRITES: SampleColumn = SampleColumn::new(&SUMMARY, 2, "w/s", 4, 0);
static BYTES: SampleColumn = SampleColumn::new(&SUMMARY, 3, "B/s", 4, 0);
static WAIT: SampleColumn = SampleColumn::new(&SUMMARY, 4, "ms", 4, 0);
static UTIL: SampleColumn = SampleColumn::new(&SUMMARY, 5, "%ut", 3, 0);

/// Description of the monitor `disk`.
pub static SPEC: MonitorSpec = MonitorSpec {
    name: "disk",
    help: "Activity of every whole block device, from /proc/diskstats, in the columns of `iostat \
           -x`. The kB of iostat are 1024 bytes, so the names are iostat's and the units are KiB. \
           Without requests, means (await, request size, merged share) are missing, not 0.",
    subjects: "every whole device (`vda`, `nvme0n1`, `dm-0`, ...), without `ram`, `zram` and \
               `loop` devices that did nothing since boot",
    fields: &[
        Field::rate("r/s", "Read requests completed, after merging")
            .cost("disk_reads_per_op")
            .column(&READS),
        kib_rate("rkB/s", "Data read")
            .cost("disk_read_per_op")
            .drawn(&THROUGHPUT, "read")
            .overlay("Read from disks")
            .column(&BYTES),
        Field::rate("rrqm/s", "Read requests merged into others before they reached the device"),
        percent("%rrqm", "Share of read requests that were merged"),
        ms("r_await", "Mean time of a read request in queue and device")
            .drawn(&LATENCY, "read")
            .column(&WAIT)
            .weight("r/s"),
        kib("rareq-sz", "Mean size of a read request").weight("r/s"),
        Field::rate("w/s", "Write requests completed, after merging")
            .cost("disk_writes_per_op")
            .column(&WRITES),
        kib_rate("wkB/s", "Data written")
            .cost("disk_written_per_op")
            .drawn(&THROUGHPUT, "write")
            .overlay("Written to disks")
            .column(&BYTES),
        Field::rate("wrqm/s", "Write requests merged into others before they reached the device"),
        percent("%wrqm", "Share of write requests that were merged"),
        ms("w_await", "Mean time of a write request in queue and device")
            .drawn(&LATENCY, "write")
            .column(&WAIT)
            .weight("w/s"),
        kib("wareq-sz", "Mean size of a write request").weight("w/s"),
        Field::rate("d/s", "Discard requests completed, after merging (Linux 4.18 or later)"),
        kib_rate("dkB/s", "Data discarded"),
        Field::rate("drqm/s", "Discard requests merged into others before they reached the device"),
        percent("%drqm", "Share of discard requests that were merged"),
        ms("d_await", "Mean time of a discard request in queue and device").weight("d/s"),
        kib("dareq-sz", "Mean size of a discard request").weight("d/s"),
        Field::rate("f/s", "Flush requests completed (Linux 5.5 or later)"),
        ms("f_await", "Mean time of a flush request"),
        Field::new("aqu-sz", "1", "Mean number of requests in flight"),
        percent(
            "%util",
            "Share of the time in which at least one request was in flight; a device that serves \
            several at once is not saturated at 100",
        )
        .drawn(&BUSY, "busy")
        .column(&UTIL),
    ],
    open: |tree| Disk::open(tree).map(|monitor| Box::new(monitor) as Box<dyn Monitor>),
};

const fn kib_rate(name: &'static str, help: &'static str) -> Field {
    Field::new(name, "KiB/s", help)
}
const fn percent(name: &'static str, help: &'static str) -> Field {
    Field::new(name, "%", help)
}
const fn ms(name: &'static str, help: &'static str) -> Field {
    Field::new(name, "ms", help).lower()
}
const fn kib(name: &'static str, help: &'static str) -> Field {
    Field::new(name, "KiB", help)
}

// Counters of a line. Reads, writes and discards have four each: requests, merges, sectors of 512
// bytes, milliseconds.
const COUNTERS: usize = 17;
const READ: usize = 0;
const WRITE: usize = 4;
const BUSY_MS: usize = 9;
const QUEUE_MS: usize = 10;
const DISCARD: usize = 11;
const FLUSH: usize = 15;
const FLUSH_MS: usize = 16;

struct Disk {
    diskstats: SampledFile,
    /// Folder whose entries are the whole devices; `None` if it is missing, and then partitions are
    /// sampled too.
    block: Option<std::path::PathBuf>,
    devices: Subjects<COUNTERS>,
    trouble: Trouble,
}

impl Disk {
    fn open(tree: &Tree) -> Result<Self, NotAvailable> {
        let diskstats = tree.open("proc/diskstats", ReadMode::Records)?;
        let block = Some(tree.path("sys/block")).filter(|folder| folder.is_dir());
        let mut trouble = Trouble::default();
        if block.is_none() {
            trouble.note("block", || {
                "/sys/block is missing: partitions cannot be distinguished from whole devices, so \
                 they are recorded too"
                    .to_owned()
            });
        }
        Ok(Self { diskstats, block, devices: Subjects::default(), trouble })
    }
}

impl Monitor for Disk {
    fn sample(&mut self, t_ns: u64, out: &mut Recorder) {
        let Some(text) = self.diskstats.text("diskstats", &mut self.trouble) else { return };
        self.devices.begin(t_ns);
        for line in lines(text) {
            let mut words = WordIter::new(line);
            let Some(name) = words.nth(2) else { continue };
            let counters: [Option<u64>; COUNTERS] = words.numbers();
            let block = self.block.as_deref();
            // sysfs writes the `/` in a name as `!`.
            let whole = |name: &str| block.is_none_or(|b| b.join(name.replace('/', "!")).exists());
            let Some(mut change) = self.devices.turn(name, counters, whole) else { continue };
            let idle_since_boot = counters.iter().all(|c| c.unwrap_or(0) == 0);
            if idle_since_boot
                && [&b"loop"[..], b"ram", b"zram"].iter().any(|p| name.starts_with(p))
            {
                continue;
            }
            let values = columns(&change);
            let series = change.series(out, SPEC.name, SPEC.fields);
            out.push(t_ns, series, &values);
        }
    }

    fn not_seen(&self) -> Vec<String> {
        self.trouble.sentences()
    }
}

/// Returns the columns of one device, in the order of the fields.
fn columns(c: &CounterChange<'_, COUNTERS>) -> [f64; 22] {
    let [r0, r1, r2, r3, r4, r5] = operation(c, READ);
    let [w0, w1, w2, w3, w4, w5] = operation(c, WRITE);
    let [d0, d1, d2, d3, d4, d5] = operation(c, DISCARD);
    let flush = [c.rate(FLUSH), c.ratio(FLUSH_MS, FLUSH)];
    // Milliseconds in the queue, summed over requests, per second of time; and busy milliseconds.
    let queue = c.rate(QUEUE_MS) / 1000.0;
    let busy = c.rate(BUSY_MS) / 10.0;
    [
        r0, r1, r2, r3, r4, r5, w0, w1, w2, w3, w4, w5, d0, d1, d2, d3, d4, d5, flush[0], flush[1],
        queue, busy,
    ]
}

/// Computes from the four counters at `first`: requests/s, KiB/s, merges/s, share merged, await,
/// size.
fn operation(c: &CounterChange<'_, COUNTERS>, first: usize) -> [f64; 6] {
    let [requests, merges, sectors, millis] = [first, first + 1, first + 2, first + 3];
    let made = c.delta[requests] + c.delta[merges];
    let merged = if made > 0.0 { 100.0 * c.delta[merges] / made } else { f64::NAN };
    [
        c.rate(requests),
        c.rate(sectors) / 2.0,
        c.rate(merges),
        merged,
        c.ratio(millis, requests),
        c.ratio(sectors, requests) / 2.0,
    ]
}

#[cfg(test)]
mod tests {
    use super::super::fake::{Fake, value};
    use super::*;

    const IDLE: &str = " 7 0 loop0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0\n";

    fn fake(diskstats: &str) -> Fake {
        let fake = Fake::new(&[("proc/diskstats", diskstats)]);
        for name in ["vda", "loop0", "cciss!c0d0"] {
            std::fs::create_dir_all(fake.root().join("sys/block").join(name)).unwrap();
        }
        fake
    }

    #[test]
    fn the_columns_of_iostat() {
        let part = " 254 1 vda1 9 9 9 9 9 9 9 9 9 9 9\n";
        let at = |line: &str| format!("{IDLE} 254 0 vda {line}\n{part}");
        let fake = fake(&at("100 10 800 50 200 20 1600 70 0 500 900 5 0 40 6 3 4"));
        let mut watch = fake.open(&SPEC).unwrap();
        assert!(watch.after(1).is_empty());
        // Over 2 s: 40 reads of 16 sectors in 80 ms with 10 merged, 10 writes, no discards, 4
        // flushes.
        fake.write(
            "proc/diskstats",
            &at("140 20 1440 130 210 20 1680 170 3 1500 4900 5 0 40 6 7 10"),
        );
        let rows = watch.after(2);
        assert_eq!(rows.len(), 22, "a partition and an idle loop device are left out");
        for (field, expected) in [
            ("r/s", 20.0),
            ("rkB/s", 160.0),
            ("rrqm/s", 5.0),
            ("%rrqm", 20.0),
            ("r_await", 2.0),
            ("rareq-sz", 8.0),
            ("w/s", 5.0),
            ("wkB/s", 20.0),
            ("wrqm/s", 0.0),
            ("%wrqm", 0.0),
            ("w_await", 10.0),
            ("wareq-sz", 4.0),
            ("d/s", 0.0),
            ("dkB/s", 0.0),
            ("f/s", 2.0),
            ("f_await", 1.5),
            ("aqu-sz", 2.0),
            ("%util", 50.0),
        ] {
            assert_eq!(value(&rows, "vda", field), expected, "{field}");
        }
        for field in ["%drqm", "d_await", "dareq-sz"] {
            assert!(value(&rows, "vda", field).is_nan(), "{field} of nothing is missing");
        }
    }

    #[test]
    fn a_loop_device_shows_from_its_first_request() {
        let fake = fake(IDLE);
        let mut watch = fake.open(&SPEC).unwrap();
        watch.after(1);
        assert!(watch.after(1).is_empty());
        fake.write("proc/diskstats", &IDLE.replacen("loop0 0 0 0 0", "loop0 8 0 64 4", 1));
        assert_eq!(value(&watch.after(1), "loop0", "r/s"), 8.0);
    }

    #[test]
    fn old_kernels_and_counters_that_start_again() {
        let fake = fake("8 0 cciss/c0d0 10 0 80 5 10 0 80 5 0 10 20\n");
        let mut watch = fake.open(&SPEC).unwrap();
        watch.after(1);
        fake.write("proc/diskstats", "8 0 cciss/c0d0 2 0 96 5 11 0 88 6 0 11 21\n");
        let rows = watch.after(1);
        assert!(value(&rows, "cciss/c0d0", "r/s").is_nan(), "backwards is not a rate");
        assert!(value(&rows, "cciss/c0d0", "d/s").is_nan(), "no discards in 11 columns");
        assert_eq!(value(&rows, "cciss/c0d0", "w/s"), 1.0);
    }
}
