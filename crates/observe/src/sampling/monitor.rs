//! Definition of a monitor: rows of data that describe its fields, and a trait that samples them.

use assay_model::Better;

use crate::sampling::column::SampleColumn;
use crate::{NotAvailable, Recorder, Tree};

/// One sampled quantity, with all that is needed to show and judge it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[must_use]
pub struct Field {
    /// Name of the field, unique within the monitor.
    pub name: &'static str,
    /// Symbol of the unit (`%`, `1/s`, `KiB/s`, `ms`, `B`, `W`); `1` for a count.
    pub unit: &'static str,
    /// Description of the quantity in one sentence.
    pub help: &'static str,
    /// Direction that is better, if that does not depend on the question.
    pub better: Option<Better>,
    /// Role of the field in sums over several fields.
    pub role: Option<FieldRole>,
    /// Chart that draws the field over time, and the label of its line or layer there.
    pub chart: Option<(&'static Chart, &'static str)>,
    /// Title of the chart that overlays several runs; the values of all subjects are added up.
    pub overlay: Option<&'static str>,
    /// Metric of the cost per operation that the field contributes to (`cpu_per_op`), computed if a
    /// trial has a rate of operations. Fields of one metric are added up over their subjects,
    /// without subjects that only pass on the work of others.
    pub cost: Option<&'static str>,
    /// Column of `assay stat` that shows the field.
    pub column: Option<&'static SampleColumn>,
    /// Field that weights this one in means over fields: the number of requests for a mean time.
    pub weight: Option<&'static str>,
}

/// Role of a field in sums over several fields.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FieldRole {
    /// Part of the CPU time; the parts of a subject, [`FieldRole::Idle`] included, add up to 100 %.
    CpuTime,
    /// Idle part of the CPU time.
    Idle,
    /// Share of time, in percent, that is not part of a whole.
    TimeShare,
    /// Electrical power in watts.
    Power,
}

/// Chart over time, drawn wherever samples are shown: in the page of a run and in the live view.
#[derive(Debug, PartialEq, Eq)]
pub struct Chart {
    pub title: &'static str,
    /// True if the fields are stacked layers that add up to 100 %.
    pub stacked: bool,
    /// Only subject that is drawn and sent to the live view; `None` for all.
    pub subject: Option<&'static str>,
    /// True if each subject has a small chart of its own, all on the same scales.
    pub each: bool,
}

impl Chart {
    /// Creates a chart with one line for each field and subject.
    pub const fn lines(title: &'static str) -> Self {
        Chart { title, stacked: false, subject: None, each: false }
    }

    /// Creates a chart of stacked layers for one subject; fields with the same label form one
    /// layer.
    pub const fn stacked(title: &'static str, subject: &'static str) -> Self {
        Chart { title, stacked: true, subject: Some(subject), each: false }
    }

    /// Creates a small chart of stacked layers for each subject.
    pub const fn each(title: &'static str) -> Self {
        Chart { title, stacked: true, subject: None, each: true }
    }
}

impl Field {
    /// Creates a field with only a name, a unit and a sentence of help.
    pub const fn new(name: &'static str, unit: &'static str, help: &'static str) -> Self {
        Field {
            name,
            unit,
            help,
            better: None,
            role: None,
            chart: None,
            overlay: None,
            cost: None,
            column: None,
            weight: None,
        }
    }

    /// Creates a field of events per second.
    pub const fn rate(name: &'static str, help: &'static str) -> Self {
        Field::new(name, "1/s", help)
    }

    /// Marks lower values as better.
    pub const fn lower(mut self) -> Self {
        self.better = Some(Better::Lower);
        self
    }

    /// Sets the role in sums.
    pub const fn role(mut self, role: FieldRole) -> Self {
        self.role = Some(role);
        self
    }

    /// Draws the field in `chart` with the label `word`.
    pub const fn drawn(mut self, chart: &'static Chart, word: &'static str) -> Self {
        self.chart = Some((chart, word));
        self
    }

    /// Overlays the field with that of other runs under `title`.
    pub const fn overlay(mut self, title: &'static str) -> Self {
        self.overlay = Some(title);
        self
    }

    /// Shows the field in `column` of `assay stat`.
    pub const fn column(mut self, column: &'static SampleColumn) -> Self {
        self.column = Some(column);
        self
    }

    /// Weights the field by another field of the monitor in means.
    pub const fn weight(mut self, field: &'static str) -> Self {
        self.weight = Some(field);
        self
    }

    /// Counts the field as a cost per operation, under the metric `metric`.
    pub const fn cost(mut self, metric: &'static str) -> Self {
        self.cost = Some(metric);
        self
    }

    /// Returns true for shares of time: [`FieldRole::CpuTime`], [`FieldRole::Idle`] and
    /// [`FieldRole::TimeShare`].
    pub const fn is_time(&self) -> bool {
        matches!(self.role, Some(FieldRole::CpuTime | FieldRole::Idle | FieldRole::TimeShare))
    }
}

/// Description of a monitor as data. Help, documents and legends are generated from it.
#[derive(Debug)]
pub struct MonitorSpec {
    /// Name by which an experiment requests the monitor.
    pub name: &'static str,
    /// Description in one sentence: the sampled data and their source.
    pub help: &'static str,
    /// Phrase that describes its subjects (`all`, `cpu0`, ...).
    pub subjects: &'static str,
    /// Fields sampled for each subject.
    pub fields: &'static [Field],
    /// Opens the files of the monitor; fails if nothing can be sampled.
    pub open: fn(&Tree) -> Result<Box<dyn Monitor>, NotAvailable>,
}

/// Samples one part of the system. The files are open from the start, and after all subjects have
/// appeared once, a sample allocates nothing.
pub trait Monitor: Send {
    /// Reads the counters and adds to `out` one row per field and subject with the time `t_ns`
    /// (`CLOCK_MONOTONIC`, nanoseconds, later at each call). The first call, and the first one in
    /// which a subject appears, only takes the base reading and adds no row. An unavailable value,
    /// such as that of a counter that went backwards, is NaN.
    fn sample(&mut self, t_ns: u64, out: &mut Recorder);

    /// Returns one sentence for each thing that could not be read so far, with the reason; empty if
    /// everything was read.
    fn not_seen(&self) -> Vec<String>;
}
