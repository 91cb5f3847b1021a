//! State from earlier blktrace records that later ones refer to: names of processes and devices,
//! and sequence numbers. Lookups do not allocate.

use crate::block_io::names::NameTable;
use crate::block_io::source::blktrace_record::Record;

/// Programs of processes, in pages of 1024 pids that are created on demand. Linux has at most 2^22
/// pids.
#[derive(Debug, Default)]
pub(crate) struct Processes {
    pages: Vec<Option<Box<[u32; 1024]>>>,
}

/// Bit in a program id that marks a kernel thread that writes back dirty pages.
const KERNEL: u32 = 1 << 31;

impl Processes {
    #[inline]
    pub(crate) fn get(&self, pid: u32) -> (u32, bool) {
        match self.pages.get(pid as usize / 1024) {
            Some(Some(page)) => {
                let entry = page[pid as usize % 1024];
                (entry & !KERNEL, entry & KERNEL != 0)
            }
            _ => (NameTable::NONE, false),
        }
    }

    pub(crate) fn set(&mut self, pid: u32, program: u32, kernel: bool) {
        let at = pid as usize / 1024;
        if at >= 4096 {
            return;
        }
        if at >= self.pages.len() {
            self.pages.resize_with(at + 1, || None);
        }
        let page = self.pages[at].get_or_insert_with(|| Box::new([NameTable::NONE; 1024]));
        page[pid as usize % 1024] = program | if kernel { KERNEL } else { 0 };
    }
}

/// Cache of name ids by device number.
#[derive(Debug)]
pub(crate) struct DeviceNames {
    slots: [(u32, u32); 64],
}

impl Default for DeviceNames {
    fn default() -> Self {
        DeviceNames { slots: [(0, NameTable::NONE); 64] }
    }
}

impl DeviceNames {
    #[inline]
    pub(crate) fn id(&mut self, device: u32, names: &NameTable) -> u32 {
        let at = (device ^ device >> 20 ^ device >> 4) as usize % self.slots.len();
        let (number, id) = self.slots[at];
        if number == device && id != NameTable::NONE {
            return id;
        }
        self.make(at, device, names)
    }

    #[cold]
    fn make(&mut self, at: usize, device: u32, names: &NameTable) -> u32 {
        // The kernel's internal device numbers: 12 bits of major, 20 bits of minor.
        let name = format!("{},{}", device >> 20, device & 0xF_FFFF);
        let id = names.id(name.as_bytes());
        self.slots[at] = (device, id);
        id
    }
}

/// CPU and device of the record that a stream returned last. The next record is mostly of the same
/// ones.
#[derive(Debug, Default)]
pub(crate) struct StreamState {
    key: Option<u64>,
    sequence: u32,
    /// Name id of the device.
    pub(crate) device: u32,
}

/// Counts gaps in the sequence numbers that a CPU gives its records for a device. A gap is a record
/// that is missing from the trace.
#[derive(Debug)]
pub(crate) struct SequenceGaps {
    slots: Vec<(u64, u32)>,
    gaps: u64,
    seen: bool,
}

impl Default for SequenceGaps {
    fn default() -> Self {
        SequenceGaps { slots: vec![(u64::MAX, 0); 4096], gaps: 0, seen: false }
    }
}

impl SequenceGaps {
    /// Processes the sequence number of the next record of the stream whose state is `turn`.
    #[inline]
    pub(crate) fn next(
        &mut self,
        turn: &mut StreamState,
        record: &Record<'_>,
        devices: &mut DeviceNames,
        names: &NameTable,
    ) {
        let key = u64::from(record.device) << 32 | u64::from(record.cpu);
        if turn.key != Some(key) {
            self.change(turn, key, record.sequence);
            turn.device = devices.id(record.device, names);
        }
        // The stream of ftrace has no sequence numbers: all are 0.
        self.seen |= record.sequence != 0;
        let step = record.sequence.wrapping_sub(turn.sequence);
        turn.sequence = record.sequence;
        // A step of half the range or more is a step back, not a gap.
        if step > 1 && step < 1 << 31 {
            self.gaps += u64::from(step - 1);
        }
    }

    /// Saves the last sequence number of one CPU and device, and loads that of the next.
    fn change(&mut self, turn: &mut StreamState, key: u64, sequence: u32) {
        if let Some(before) = turn.key {
            let at = self.place(before);
            self.slots[at] = (before, turn.sequence);
        }
        let (known, last) = self.slots[self.place(key)];
        // There is no gap before the first record of a CPU and device.
        turn.sequence = if known == key { last } else { sequence.wrapping_sub(1) };
        turn.key = Some(key);
    }

    fn place(&self, key: u64) -> usize {
        let (device, cpu) = ((key >> 32) as u32, key as u32);
        (cpu ^ device.wrapping_mul(0x9E37_79B9) >> 16) as usize % self.slots.len()
    }

    pub(crate) fn lost(&self) -> Option<u64> {
        self.seen.then_some(self.gaps)
    }
}
