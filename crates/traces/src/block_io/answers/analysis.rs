//! Accumulates I/Os into the answer to a question, in memory that does not grow with their number.
//! A trace may be split into parts that threads analyze separately; the parts are joined in the
//! order of the trace.

use assay_model::SCHEMA_VERSION;

use crate::block_io::answers::counted::CountedIos;
use crate::block_io::answers::devices::Devices;
use crate::block_io::answers::filter::Selector;
use crate::block_io::answers::groups::{Groups, Histogram, IoGroup};
use crate::block_io::answers::heat::LatencyHeat;
use crate::block_io::answers::question::{BucketLayout, Measure, Question};
use crate::block_io::answers::report::{
    Classes, GroupReport, HistogramReport, IoReport, IoSource, LatencyStats, OpTotal,
};
use crate::block_io::answers::series::{IoSeries, RecordedFields, TickRow};
use crate::block_io::matching::completeness::Completeness;
use crate::block_io::matching::event::{Io, Op, Sink};
use crate::block_io::names::NameTable;
use crate::loglinear::{self, LogLinear};

#[derive(Debug, Clone, Default)]
pub(crate) struct OpCount {
    ios: u64,
    bytes: u64,
    latency: LogLinear,
}

/// A question together with the data that answers it so far.
#[derive(Debug, Clone)]
pub struct IoAnalysis<'a> {
    pub(crate) question: Question,
    names: &'a NameTable,
    selector: Selector,
    origin: Option<u64>,
    first_start: u64,
    last_end: u64,
    selected: u64,
    ops: [OpCount; 6],
    groups: Groups,
    devices: Devices,
    series: IoSeries,
    heat: LatencyHeat,
}

impl<'a> IoAnalysis<'a> {
    /// Starts an analysis. The ids in the I/Os are those of `names`.
    pub fn new(question: &Question, names: &'a NameTable) -> Self {
        IoAnalysis {
            question: question.clone(),
            names,
            selector: Selector::new(&question.filter),
            origin: None,
            first_start: u64::MAX,
            last_end: 0,
            selected: 0,
            ops: Default::default(),
            groups: Groups::new(question),
            devices: Devices::new(question.filter.blocks.map_or(0, |b| b.0)),
            series: IoSeries::new(question.tick_ns),
            heat: LatencyHeat::of_width(0),
        }
    }

    /// Sets the start of the first I/O of the whole trace, for a part that does not begin with it.
    pub fn set_origin(&mut self, start_ns: u64) {
        self.origin = Some(start_ns);
    }

    /// Announces that I/Os arrive counted, all those of an interval of this length at once, so that
    /// the columns of heat maps are not narrower. Call it before the first I/O.
    pub fn counted_every(&mut self, stretch_ns: u64) {
        self.heat = LatencyHeat::of_width(stretch_ns);
        self.devices.set_column_ns(stretch_ns);
    }

    /// Appends the analysis of a later part of the trace, with the same question and names.
    pub fn join_later(&mut self, later: IoAnalysis<'_>) {
        self.origin = self.origin.or(later.origin);
        self.first_start = self.first_start.min(later.first_start);
        self.last_end = self.last_end.max(later.last_end);
        self.selected += later.selected;
        for (a, b) in self.ops.iter_mut().zip(&later.ops) {
            a.ios += b.ios;
            a.bytes = a.bytes.saturating_add(b.bytes);
            a.latency.merge(&b.latency);
        }
        self.groups.merge(&later.groups);
        self.devices.join_later(later.devices);
        self.series.merge(later.series);
        self.heat.merge(later.heat);
    }

    /// Returns the answer. `wall_offset_ns` converts times of the trace to nanoseconds since 1970.
    pub fn report(
        &self,
        source: IoSource,
        mut completeness: Completeness,
        wall_offset_ns: Option<i128>,
    ) -> IoReport {
        completeness.selected = self.selected;
        completeness.pooled = self.groups.pooled();
        let recorded = source.recorded;
        let lost = completeness.lost();
        let wall_start_ns = self
            .origin
            .zip(wall_offset_ns)
            .and_then(|(o, w)| i64::try_from(i128::from(o) + w).ok());
        let sorted = self.groups.sorted(self.names);
        let (devices, devices_in_all) = self.devices.report(self.question.top, self.names);
        IoReport {
            schema_version: SCHEMA_VERSION,
            selection: self.question.filter.words(),
            origin_ns: self.origin,
            started_at: wall_start_ns.and_then(iso),
            wall_start_ns,
            span_ns: (self.selected > 0).then(|| self.last_end.saturating_sub(self.first_start)),
            ops: self.op_totals(lost),
            classes: self.class_totals(recorded),
            by: self.question.dimensions(),
            groups_in_all: sorted.len(),
            groups: sorted
                .into_iter()
                .take(self.question.top)
                .map(|(group, key)| self.group(group, key, lost))
                .collect(),
            devices,
            devices_in_all,
            series: self.series.report(self.question.tick_ns, recorded),
            latency_heat: self.heat.report(),
            source,
            completeness,
            cost: None,
        }
    }

    fn op_totals(&self, lost: bool) -> Vec<OpTotal> {
        let all = Op::ALL.into_iter().zip(&self.ops).filter(|(_, c)| c.ios > 0);
        all.map(|(op, c)| OpTotal {
            op,
            ios: c.ios,
            bytes: c.bytes,
            latency: LatencyStats::from_histogram(&c.latency, lost),
        })
        .collect()
    }

    fn class_totals(&self, recorded: RecordedFields) -> Classes {
        let all = self.series.classes();
        Classes {
            aio: recorded.aio.then_some(all.aio),
            writeback: recorded.sync.then_some(all.writeback),
            readahead: recorded.readahead.then_some(all.readahead),
            nosync: recorded.sync.then_some(all.nosync),
        }
    }

    fn group(&self, group: &IoGroup, key: Vec<String>, lost: bool) -> GroupReport {
        let histograms = self.question.histograms.iter().zip(&group.histograms);
        GroupReport {
            key,
            ios: group.ios,
            bytes: group.bytes,
            latency: LatencyStats::from_histogram(&group.latency, lost),
            queue: LatencyStats::from_histogram(&group.queue, lost),
            device: LatencyStats::from_histogram(&group.device, lost),
            histograms: histograms.map(|(m, h)| self.histogram(*m, h)).collect(),
        }
    }

    fn histogram(&self, measure: Measure, histogram: &Histogram) -> HistogramReport {
        let unit = match measure {
            Measure::Size => "B",
            Measure::Address => "blocks",
            _ => self.question.unit.symbol(),
        };
        let (rows, regions) = match histogram {
            Histogram::Pow2(h) => (h.rows(), None),
            Histogram::Linear(h) => (h.rows(), None),
            Histogram::Regions(r) => (Vec::new(), Some(r.report(self.question.top))),
        };
        let steps = match self.question.shape {
            BucketLayout::Linear(steps) => Some(steps),
            _ => None,
        };
        HistogramReport { measure, unit: unit.to_owned(), steps, rows, regions }
    }
}

impl Sink for IoAnalysis<'_> {
    fn start(&mut self, io: &Io) {
        let origin = *self.origin.get_or_insert(io.start_ns);
        if io.op.moves_data() && self.selector.takes(io, origin, self.names) {
            self.devices.start(io);
        }
    }

    fn end(&mut self, io: &Io) {
        let origin = self.origin.unwrap_or(io.start_ns);
        if !self.selector.takes(io, origin, self.names) {
            return;
        }
        self.count(io);
        if io.op.moves_data() {
            self.devices.end(io);
        }
    }

    #[inline]
    fn whole(&mut self, io: &Io) {
        let origin = *self.origin.get_or_insert(io.start_ns);
        if !self.selector.takes(io, origin, self.names) {
            return;
        }
        self.count(io);
        if io.op.moves_data() {
            self.devices.whole(io);
        }
    }
}

impl IoAnalysis<'_> {
    /// Adds I/Os that were counted elsewhere and ended in the interval at `t_ns`. The counter has
    /// applied the filter already. Counts say nothing about the order of I/Os.
    pub fn add_counted(&mut self, t_ns: u64, counted: &CountedIos) {
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
            counted.latency.each(|low, n| self.heat.add(t_ns, low, n));
        }
    }

    /// Returns the tick that contains `t_ns`, or `None` if the series has no tick there.
    pub fn tick_at(&self, t_ns: u64, recorded: RecordedFields) -> Option<TickRow> {
        let series = self.series.report(self.question.tick_ns, recorded);
        series.ticks.into_iter().rev().find(|t| t.t_ns <= t_ns && t_ns < t.t_ns + series.tick_ns)
    }

    /// Sets the observed time, so that rates are relative to it and not to the time from the first
    /// I/O to the last.
    pub fn watched(&mut self, from_ns: u64, to_ns: u64) {
        self.series.watched = (from_ns, to_ns);
        self.origin = Some(from_ns);
        self.first_start = from_ns;
        self.last_end = to_ns;
    }

    /// Counts a completed I/O everywhere except in its device.
    #[inline]
    fn count(&mut self, io: &Io) {
        self.selected += 1;
        self.first_start = self.first_start.min(io.start_ns);
        self.last_end = self.last_end.max(io.end_ns().unwrap_or(io.start_ns));
        let count = &mut self.ops[io.op as usize];
        count.ios += 1;
        count.bytes = count.bytes.saturating_add(io.bytes);
        let mut bucket = 0;
        if let Some(ns) = io.latency_ns {
            bucket = loglinear::bucket(ns);
            count.latency.add_in(bucket, ns);
            if io.op.moves_data() {
                self.heat.add(io.start_ns, ns, 1);
            }
        }
        self.series.add(io);
        self.groups.add(io, bucket);
    }
}

/// Formats nanoseconds since 1970 as ISO 8601 in UTC.
fn iso(ns: i64) -> Option<String> {
    jiff::Timestamp::from_nanosecond(i128::from(ns)).ok().map(|t| format!("{t:.3}"))
}
