//! I/Os that were counted elsewhere (in a kernel, by a tracer that keeps histograms there) and come as
//! sums: an [`Analysis`] takes them as it takes single I/Os.

use crate::analysis::Analysis;
use crate::event::Op;
use crate::histogram::Pow2;
use crate::loglinear::LogLinear;
use crate::question::Measure;
use crate::series::{Recorded, TickRow};

/// I/Os of one device, operation and so on that ended within one stretch of time.
#[derive(Debug, Clone)]
pub struct Counted {
    /// The device.
    pub device: u32,
    /// The program; [`crate::Names::NONE`]: not recorded, or not told apart.
    pub program: u32,
    /// The process; `None`: not recorded, or not told apart.
    pub pid: Option<u32>,
    /// What they do.
    pub op: Op,
    /// The file; [`crate::Names::NONE`]: not recorded, or not told apart.
    pub file: u32,
    /// The control group; [`crate::Names::NONE`]: not recorded, or not told apart.
    pub cgroup: u32,
    /// How many.
    pub ios: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Submitted asynchronously.
    pub aio: u64,
    /// Writes without REQ_SYNC by kernel threads.
    pub writeback: u64,
    /// With REQ_RAHEAD.
    pub readahead: u64,
    /// Without REQ_SYNC.
    pub nosync: u64,
    /// From the first moment that is traced to the end.
    pub latency: LogLinear,
    /// From being queued to being issued.
    pub queue: LogLinear,
    /// From being issued to the end.
    pub device_time: LogLinear,
    /// Histograms by powers of two, times in the unit of the question.
    pub rows: Vec<(Measure, Pow2)>,
    /// By region of the device: a region's first block, and how many.
    pub regions: Vec<(u64, u64)>,
}

impl Analysis<'_> {
    /// Takes up I/Os that were counted elsewhere and ended in the stretch of time at `t_ns`. Filters
    /// were the counter's business. Of the order of I/Os nothing is known from counts.
    pub fn add_counted(&mut self, t_ns: u64, counted: &Counted) {
        if counted.ios == 0 {
            return;
        }
        self.selected += counted.ios;
        let op = &mut self.ops[counted.op as usize];
        op.ios += counted.ios;
        op.bytes = op.bytes.saturating_add(counted.bytes);
        op.latency.merge(&counted.latency);
        self.series.add_counted(t_ns, counted);
        self.groups.add_counted(counted);
        if counted.op.moves_data() {
            self.devices.add_counted(t_ns, counted);
            counted.latency.each(|low, n| self.heat.add_n(t_ns, low, n));
        }
    }

    /// The tick of the series that holds the time `t_ns`; `None`: nothing happened in it.
    pub fn tick_at(&self, t_ns: u64, recorded: Recorded) -> Option<TickRow> {
        let series = self.series.report(self.question.tick_ns, recorded);
        series.ticks.into_iter().rev().find(|t| t.t_ns <= t_ns && t_ns < t.t_ns + series.tick_ns)
    }

    /// Says that I/O was watched from `from_ns` to `to_ns`, so rates are by that time and not by that
    /// from the first I/O to the last.
    pub fn watched(&mut self, from_ns: u64, to_ns: u64) {
        self.origin = Some(from_ns);
        self.first_start = from_ns;
        self.last_end = to_ns;
    }
}
