//! I/Os whose end the kernel did not report. The kernel skips a tracepoint's program while another
//! one runs on the same CPU, as when an interrupt in the middle of a probe completes requests. The
//! probes find most of these I/Os when a request's address is reused; this module finds those that
//! are left at the end.

use std::collections::HashMap;
use std::path::Path;

use assay_traces::block_io::{ClassCounts, CountedIos, Io, Measure, Pow2};

use super::abi::{IoInFlight, RingEvent};
use super::devices::BlockDevices;

/// Returns the I/Os that have ended, of those whose end was not seen: all except the youngest of
/// each device, as many as the kernel reports in flight.
pub(super) fn ended(
    mut all: Vec<IoInFlight>,
    devices: &BlockDevices,
    root: &Path,
) -> Vec<IoInFlight> {
    all.sort_unstable_by_key(|io| std::cmp::Reverse(io.start_ns));
    let mut still: HashMap<u32, u64> = HashMap::new();
    all.retain(|io| {
        let left = still.entry(io.dev).or_insert_with(|| {
            let name = devices.number(io.dev).map(|d| d.name.replace('/', "!"));
            name.map_or(0, |name| in_flight(&root.join("sys/class/block").join(name)))
        });
        let ended = *left == 0;
        *left = left.saturating_sub(1);
        ended
    });
    all
}

/// Returns the number of requests in flight on a device; 0 if the device is gone.
fn in_flight(folder: &Path) -> u64 {
    let text = std::fs::read_to_string(folder.join("inflight")).unwrap_or_default();
    text.split_ascii_whitespace().filter_map(|word| word.parse::<u64>().ok()).sum()
}

/// Converts an I/O in flight to the event that the ring would have reported.
pub(super) fn event(io: &IoInFlight) -> RingEvent {
    RingEvent {
        start_ns: io.start_ns,
        issue_ns: 0,
        end_ns: 0,
        sector: io.sector,
        cgroup: io.cgroup,
        ino: io.ino,
        bytes: io.bytes,
        dev: io.dev,
        tgid: io.tgid,
        file_dev: io.file_dev,
        op: io.op,
        flags: io.flags,
        sure: io.sure,
        known: 1,
        pad: 0,
        comm: io.comm,
    }
}

/// Converts an I/O to the counts that the probes would have kept, without times; `names` has the
/// names of its group.
pub(super) fn counted(io: &Io, names: CountedIos) -> CountedIos {
    let mut sizes = Pow2::default();
    sizes.add(io.bytes);
    CountedIos {
        op: io.op,
        ios: 1,
        bytes: io.bytes,
        classes: if io.op.moves_data() { ClassCounts::from_io(io) } else { ClassCounts::default() },
        rows: vec![(Measure::Size, sizes)],
        regions: vec![(io.sector, 1)],
        ..names
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::monitors::fake::Fake;

    fn io(dev: u32, start_ns: u64) -> IoInFlight {
        IoInFlight {
            id: 1,
            issue_ns: 0,
            sector: 8,
            cgroup: 0,
            ino: 0,
            bytes: 4096,
            tgid: 1,
            file_dev: 0,
            flags: 0,
            sure: 0,
            left_out: 0,
            op: 0,
            dev,
            claims: 0,
            start_ns,
            comm: [0; 16],
        }
    }

    #[test]
    fn the_youngest_are_still_under_way() {
        let fake = Fake::new(&[
            ("sys/class/block/sda/dev", "8:0\n"),
            ("sys/class/block/sda/inflight", "       1        1\n"),
            ("sys/class/block/sdb/dev", "8:16\n"),
            ("sys/class/block/sdb/inflight", "0 0\n"),
        ]);
        let devices = BlockDevices::read(fake.root()).unwrap();
        let (a, b, gone) = (8 << 20, 8 << 20 | 16, 9 << 20);
        let all = vec![io(a, 1), io(a, 5), io(a, 3), io(b, 9), io(gone, 2)];
        let mut left: Vec<_> =
            ended(all, &devices, fake.root()).iter().map(|io| (io.dev, io.start_ns)).collect();
        left.sort_unstable();
        assert_eq!(left, [(a, 1), (b, 9), (gone, 2)]);
    }
}
