//! Adds the treatments of an archived run to a table of quoted results, as lines marked as
//! measured.

use assay_checks::{Evidence, NumberEvidence, RecordedValue, judge, rows};
use assay_model::{
    Analysis, Better, Interval, MetricKind, SystemDescription, TreatmentSummary, units,
};

use super::{ColumnRole, Landscape, LandscapeCell, LandscapeError, LandscapeLine};
use crate::denominator::{Basis, Denominator, DenominatorCounts, SystemResult, better_first};
use crate::quantity::Quantity;

/// One treatment of a run, as a line of a landscape.
#[derive(Debug, Clone, PartialEq)]
pub struct MeasuredLine {
    pub run: String,
    pub workload: String,
    /// Name of the system: host and treatment.
    pub system: String,
    pub processor: Option<String>,
    pub os: Option<String>,
    pub metric: String,
    pub unit: String,
    /// Direction in which the metric improves.
    pub better: Better,
    /// Geometric mean of the trials, or the percentile of their merged histograms.
    pub value: f64,
    /// Interval of the value.
    pub interval: Option<Interval>,
    /// Amounts of the denominators in the system.
    pub counts: DenominatorCounts,
    /// Day of the run.
    pub day: String,
    /// Kind of the value: measured, or quoted for a published result that was imported as a run.
    pub kind: MetricKind,
}

/// Returns the treatments of a run in its deciding metric. `host` and `started_at` are those of the
/// run, `kind` that of the metric.
pub fn measured(
    run: &str,
    workload: &str,
    host: &str,
    started_at: &str,
    analysis: &Analysis,
    system: &SystemDescription,
    kind: MetricKind,
) -> Vec<MeasuredLine> {
    let fact = |path: &str| system.get(path).map(str::to_owned);
    let count = |path: &str| fact(path).and_then(|t| t.parse::<f64>().ok()).filter(|n| *n > 0.0);
    let deciding: Vec<&TreatmentSummary> =
        analysis.summaries.iter().filter(|s| s.metric == analysis.metric).collect();
    deciding
        .iter()
        .filter_map(|s| {
            let value = s.centre()?;
            let label = s.label.trim();
            let plain = deciding.len() == 1 || label.is_empty();
            Some(MeasuredLine {
                run: run.to_owned(),
                workload: workload.to_owned(),
                system: if plain { host.to_owned() } else { format!("{host} ({label})") },
                processor: fact("cpu.model"),
                os: fact("os.name").or_else(|| fact("kernel.release")),
                metric: s.metric.clone(),
                unit: s.unit.clone(),
                better: s.better,
                value,
                interval: s.interval(),
                counts: DenominatorCounts {
                    chips: count("cpu.sockets"),
                    cores: count("cpu.cores"),
                    threads: count("cpu.threads"),
                    ..DenominatorCounts::default()
                },
                day: started_at.chars().take(10).collect(),
                kind,
            })
        })
        .collect()
}

impl Landscape {
    /// Adds a measured run to the table: one line for each treatment, ranked with the others, and a
    /// finding that states that the table mixes both kinds.
    ///
    /// # Errors
    /// [`LandscapeError::OtherMetric`] if metric, unit or direction differ from those of the
    /// landscape.
    pub fn add_measured(&mut self, measured: &[MeasuredLine]) -> Result<(), LandscapeError> {
        for m in measured {
            let same =
                m.unit == self.unit && m.better == self.better && self.metrics.contains(&m.metric);
            if !same {
                return Err(LandscapeError::OtherMetric {
                    run: m.run.clone(),
                    metric: format!("`{}`", m.metric),
                    unit: m.unit.clone(),
                    landscape: format!("`{}`", self.name),
                    wanted: format!("`{}` in `{}`", self.metrics.join("`, `"), self.unit),
                });
            }
            let line = self.measured_line(m);
            self.lines.push(line);
            self.lines_in_all += 1;
        }
        // An imported run of quoted results stays quoted; every line states its kind.
        if let Some(m) = measured.iter().find(|m| m.kind != MetricKind::Quoted) {
            let number = |what: String, kind| NumberEvidence {
                what,
                kind: Some(kind),
                labelled: true,
                ..NumberEvidence::default()
            };
            let own = format!("{} of the workload {}", m.metric, m.workload);
            let numbers = vec![
                number(own, MetricKind::Measured),
                number(self.benchmarks.join(", "), MetricKind::Quoted),
            ];
            let evidence = Evidence { numbers: RecordedValue::Is(numbers), ..Evidence::default() };
            self.findings.extend(judge(&rows::KINDS_NOT_MIXED, &evidence));
        }
        self.rank_again();
        Ok(())
    }

    fn measured_line(&self, m: &MeasuredLine) -> LandscapeLine {
        let from = format!("run {}", m.run);
        let what = format!("{} of {}", m.metric, m.system);
        let entry = SystemResult {
            label: m.system.clone(),
            value: Quantity::given(m.value, &m.unit, m.kind, &what, &from)
                .with_interval(m.interval),
            better: m.better,
            counts: m.counts.clone(),
        };
        let words =
            |text: &str| Some(LandscapeCell { text: text.to_owned(), value: None, formula: None });
        let number = |n: Option<f64>| {
            n.map(|n| LandscapeCell { text: n.to_string(), value: Some(n), formula: None })
        };
        let mut value_given = false;
        let cells = self
            .columns
            .iter()
            .map(|column| match (column.role, column.key.as_str()) {
                (ColumnRole::Value, _) if !value_given => {
                    value_given = true;
                    let text = entry.value.text();
                    Some(LandscapeCell { text, value: Some(m.value), formula: None })
                }
                (ColumnRole::Value, _) => None,
                (ColumnRole::Derived, key) => {
                    let name = key.strip_prefix("per_")?.replace('_', "-");
                    let per = Basis::Per(name.parse::<Denominator>().ok()?);
                    let q = entry.quantity(per)?;
                    Some(LandscapeCell {
                        text: q.text(),
                        value: Some(q.value),
                        formula: Some(q.formula()),
                    })
                }
                (_, "system") => words(&m.system),
                (_, "processor") => words(m.processor.as_ref()?),
                (_, "os") => words(m.os.as_ref()?),
                (_, "source") => words(&from),
                (_, "chips") => number(m.counts.chips),
                (_, "cores") => number(m.counts.cores),
                (_, "threads") => number(m.counts.threads),
                _ => None,
            })
            .collect();
        // The line joins an existing question with the same metric; without one, it forms a
        // question of its own.
        let own = format!(": {}", m.metric);
        let asked = self.lines.iter().map(|l| &l.question).find(|q| q.ends_with(&own));
        LandscapeLine {
            question: asked.cloned().unwrap_or_else(|| format!("{}: {}", m.workload, m.metric)),
            rank: None,
            kind: m.kind,
            cells,
            entry: Some(entry),
            ids: vec![m.run.clone()],
            sources: vec![from],
            as_of: Some(m.day.clone()),
        }
    }

    fn rank_again(&mut self) {
        let Some(basis) = self.ordered_by else { return };
        let better = self.better;
        let number = |l: &LandscapeLine| l.entry.as_ref().and_then(|e| e.number(basis));
        let asked: Vec<String> = self.tables().iter().map(|(q, _)| (*q).to_owned()).collect();
        let table = |l: &LandscapeLine| asked.iter().position(|q| *q == l.question);
        self.lines.sort_by(|a, b| {
            table(a).cmp(&table(b)).then_with(|| match (number(a), number(b)) {
                (Some(a), Some(b)) => better_first(better, a, b),
                (a, b) => b.is_some().cmp(&a.is_some()),
            })
        });
        let (mut place, mut n) = (0, 0);
        let mut last = None;
        for line in &mut self.lines {
            let (at, value) = (table(line), number(line));
            n = if last.is_some_and(|(other, _)| other == at) { n + 1 } else { 1 };
            if last != Some((at, value)) {
                place = n;
            }
            last = Some((at, value));
            line.rank = value.map(|_| place);
        }
    }

    /// Formats a measured value with its interval for a footnote; `None` for quoted lines.
    pub fn interval_note(line: &LandscapeLine) -> Option<String> {
        let entry = line.entry.as_ref().filter(|_| line.kind == MetricKind::Measured)?;
        let q = &entry.value;
        let text = q.interval.map_or_else(
            || format!("{} (no interval)", units::format_value(q.value, &q.unit)),
            |i| {
                let e = units::estimate(q.value, i.low, i.high, &q.unit, q.value);
                e.text(Some(i.level))
            },
        );
        Some(format!("{}: {text}, from {}", entry.label, line.sources.join(", ")))
    }
}
