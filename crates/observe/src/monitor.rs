//! What a monitor is: rows of data that say what it samples, and a way to sample it.

use assay_model::Better;

use crate::column::Column;
use crate::{NotAvailable, Recorder, Tree};

/// One quantity that a monitor samples, with what everybody who shows or judges it needs to know.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[must_use]
pub struct Field {
    /// Its name, unique within the monitor.
    pub name: &'static str,
    /// Its unit's symbol (`%`, `1/s`, `KiB/s`, `ms`, `B`, `W`); `1` for a count.
    pub unit: &'static str,
    /// One sentence: what it says.
    pub help: &'static str,
    /// Which direction is better, where that does not depend on the question.
    pub better: Option<Better>,
    /// What it is in sums over other fields.
    pub role: Option<Role>,
    /// The chart that draws it over time, and what its line or layer is called there.
    pub chart: Option<(&'static Chart, &'static str)>,
    /// The title under which runs are laid over one another, all subjects added up.
    pub overlay: Option<&'static str>,
    /// The metric that it is a cost of an operation by (`cpu_per_op`), where a trial has a rate of operations;
    /// fields of one metric are added up over their subjects, without those that only pass on what others do.
    pub cost: Option<&'static str>,
    /// The column of `assay stat` that shows it.
    pub column: Option<&'static Column>,
    /// The field that it is weighted by in means over fields: the number of requests of a mean time.
    pub weight: Option<&'static str>,
}

/// What a field is in sums over other fields.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// A part of the CPUs' time; the parts of a subject, [`Role::Idle`] included, add up to 100 %.
    CpuTime,
    /// The rest of the CPUs' time.
    Idle,
    /// A share of the time, in percent, that is part of no whole.
    TimeShare,
    /// Power drawn, in watts.
    Power,
}

/// A chart over time, drawn wherever samples are: in the page of a run and in the live view.
#[derive(Debug, PartialEq, Eq)]
pub struct Chart {
    /// Its title.
    pub title: &'static str,
    /// Whether its fields are layers that add up to 100 %.
    pub stacked: bool,
    /// The one subject that is drawn and sent to the live view; `None`: all.
    pub subject: Option<&'static str>,
    /// Whether each subject has a small chart of its own, all on the same scales.
    pub each: bool,
}

impl Chart {
    /// A chart of one line for each field and subject.
    pub const fn lines(title: &'static str) -> Self {
        Chart { title, stacked: false, subject: None, each: false }
    }

    /// A chart of the layers of one subject; fields of the same word are one layer.
    pub const fn stacked(title: &'static str, subject: &'static str) -> Self {
        Chart { title, stacked: true, subject: Some(subject), each: false }
    }

    /// A small chart of layers for each subject.
    pub const fn each(title: &'static str) -> Self {
        Chart { title, stacked: true, subject: None, each: true }
    }
}

impl Field {
    /// A field that says no more than its name, its unit and a sentence.
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

    /// A field of events a second.
    pub const fn rate(name: &'static str, help: &'static str) -> Self {
        Field::new(name, "1/s", help)
    }

    /// The less the better.
    pub const fn lower(mut self) -> Self {
        self.better = Some(Better::Lower);
        self
    }

    /// With its role in sums.
    pub const fn role(mut self, role: Role) -> Self {
        self.role = Some(role);
        self
    }

    /// Drawn in `chart` as `word`.
    pub const fn drawn(mut self, chart: &'static Chart, word: &'static str) -> Self {
        self.chart = Some((chart, word));
        self
    }

    /// Laid over that of other runs under `title`.
    pub const fn overlay(mut self, title: &'static str) -> Self {
        self.overlay = Some(title);
        self
    }

    /// Shown by `assay stat` in `column`.
    pub const fn column(mut self, column: &'static Column) -> Self {
        self.column = Some(column);
        self
    }

    /// Weighted by another field of the monitor in means.
    pub const fn weight(mut self, field: &'static str) -> Self {
        self.weight = Some(field);
        self
    }

    /// A cost of an operation, as this metric.
    pub const fn cost(mut self, metric: &'static str) -> Self {
        self.cost = Some(metric);
        self
    }

    /// Whether it is time: [`Role::CpuTime`], [`Role::Idle`] or [`Role::TimeShare`].
    pub const fn is_time(&self) -> bool {
        matches!(self.role, Some(Role::CpuTime | Role::Idle | Role::TimeShare))
    }
}

/// What a monitor is, as data. Help, documents and legends are made from these rows.
#[derive(Debug)]
pub struct MonitorSpec {
    /// Its name, as an experiment asks for it.
    pub name: &'static str,
    /// One sentence: what it samples, and from where.
    pub help: &'static str,
    /// What its subjects are (`all`, `cpu0`, ...), as a phrase.
    pub subjects: &'static str,
    /// What it samples of a subject.
    pub fields: &'static [Field],
    /// Opens its files. It fails when there is nothing that it could sample.
    pub open: fn(&Tree) -> Result<Box<dyn Monitor>, NotAvailable>,
}

/// Samples one part of the system. Its files are open from the start, and once it has met all its
/// subjects a sample allocates nothing.
pub trait Monitor: Send {
    /// Reads the counters and hands `out` one row a field and subject with the time `t_ns`
    /// (`CLOCK_MONOTONIC`, nanoseconds, later at each call). The first call, and the first one that
    /// meets a subject, only takes the base and hands out nothing. A value that could not be had,
    /// such as that of a counter that went backwards, is NaN.
    fn sample(&mut self, t_ns: u64, out: &mut Recorder);

    /// What it could not see so far, and why; a sentence each. Empty if it saw everything.
    fn not_seen(&self) -> Vec<String>;
}
