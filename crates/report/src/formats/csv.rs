//! Exports as CSV (RFC 4180): the long form with one row for each trial and metric, the points of
//! curves, and the summaries. Missing values are empty fields; withheld values are empty and name
//! the finding.

use assay_model::{Comparison, Load, Summary, TreatmentSummary, TrialRecord};

use crate::figures::{percentile_doubts, ratio_doubts};
use crate::gate::Gate;
use crate::percentiles::every;
use crate::view::RunView;

/// Writes one row for each trial and metric, with a column for each factor's level. A trial that
/// reported no metric has one row with an empty metric, so that no trial is left out.
pub fn trials(view: &RunView) -> String {
    let gate = Gate::from_view(view);
    let mut out = Rows::with_factors(
        view,
        "run,experiment,trial,attempt,block,treatment,warmup,outcome",
        "metric,value,unit,better,kind,withheld,started_at,guest,doubt",
    );
    let guest = guest(view);
    for record in &view.records {
        let mut lead = origin(view, record);
        lead.insert(3, record.attempt.to_string());
        lead.push(record.warmup.to_string());
        lead.push(record.outcome.words().to_owned());
        lead.extend(levels(view, record));
        let withheld = gate.trial(record).map(|w| w.finding.clone()).unwrap_or_default();
        let lead: Vec<&str> = lead.iter().map(String::as_str).collect();
        let mut put = |own: [&str; 5], doubt| {
            let rest = own.into_iter().chain([&*withheld, &record.started_at, &guest, doubt]);
            out.row(&lead.iter().copied().chain(rest).collect::<Vec<&str>>());
        };
        if record.metrics.is_empty() {
            put([""; 5], "");
        }
        for m in &record.metrics {
            let value = m.value.filter(|v| v.is_finite() && withheld.is_empty());
            let doubt = m.doubt.as_deref().unwrap_or_default();
            put([&m.name, &number(value), &m.unit, m.better.name(), m.kind.name()], doubt);
        }
    }
    out.text()
}

/// Writes one row for each point of each curve of each trial, in the order of measurement.
pub fn curves(view: &RunView) -> String {
    let gate = Gate::from_view(view);
    let mut out = Rows::with_factors(
        view,
        "run,experiment,trial,block,treatment,counts",
        "curve,kind,position,x,x_unit,value,unit,withheld,guest",
    );
    for record in &view.records {
        let withheld = gate.trial(record).map(|w| w.finding.clone()).unwrap_or_default();
        let mut lead = origin(view, record);
        lead.push(record.counts().to_string());
        lead.extend(levels(view, record));
        for curve in &record.curves {
            for (position, [x, value]) in curve.points.iter().enumerate() {
                let value = Some(*value).filter(|v| v.is_finite() && withheld.is_empty());
                let mut row = lead.clone();
                row.extend([curve.name.clone(), curve.kind.name().to_owned()]);
                row.extend([position.to_string(), number(Some(*x)), curve.x_unit.clone()]);
                row.extend([number(value), curve.unit.clone(), withheld.clone(), guest(view)]);
                out.row(&row);
            }
        }
    }
    out.text()
}

/// Source of one row of [`summaries`]: a treatment's summary and its comparison with the baseline.
struct SummaryRow<'a> {
    view: &'a RunView,
    gate: &'a Gate,
    of: &'a TreatmentSummary,
    comparison: Option<&'a Comparison>,
}

impl SummaryRow<'_> {
    /// Formats a statistic of the trials' values. It is empty for a percentile, because a mean of
    /// percentiles is the percentile of nothing; the percentile of all trials is in the column
    /// `merged`.
    fn mean(&self, of: fn(&Summary) -> Option<f64>) -> String {
        number(of(&self.of.summary).filter(|_| self.of.percentile.is_none()))
    }

    fn ratio(&self, of: fn(&Comparison) -> Option<f64>) -> String {
        number(self.comparison.and_then(of))
    }
}

type SummaryColumn = (&'static str, fn(&SummaryRow<'_>) -> String);

const SUMMARY: [SummaryColumn; 21] = [
    ("metric", |r| r.of.metric.clone()),
    ("unit", |r| r.of.unit.clone()),
    ("n", |r| r.of.summary.n.to_string()),
    ("geomean", |r| r.mean(|s| s.geomean)),
    ("interval_low", |r| r.mean(|s| Some(s.interval?.low))),
    ("interval_high", |r| r.mean(|s| Some(s.interval?.high))),
    ("level", |r| r.mean(|s| Some(s.interval?.level))),
    ("mean", |r| r.mean(|s| s.mean)),
    ("median", |r| number(r.of.summary.median)),
    ("min", |r| number(r.of.summary.min)),
    ("max", |r| number(r.of.summary.max)),
    ("stddev", |r| r.mean(|s| s.stddev)),
    ("ratio", |r| r.ratio(|c| c.ratio)),
    ("ratio_low", |r| r.ratio(|c| Some(c.interval?.low))),
    ("ratio_high", |r| r.ratio(|c| Some(c.interval?.high))),
    ("verdict", |r| r.comparison.map_or("", |c| c.verdict.name()).to_owned()),
    ("withheld", |r| r.gate.treatment(r.of.treatment).map_or("", |w| &w.finding).to_owned()),
    ("merged", |r| number(r.of.percentile.as_ref().and_then(|p| p.value))),
    ("guest", |r| guest(r.view)),
    ("doubt", |r| r.of.doubts.join("; ")),
    ("ratio_doubt", |r| {
        let doubts = r.comparison.map(|c| ratio_doubts(&r.gate.analysis, c));
        doubts.unwrap_or_default().join("; ")
    }),
];

/// Writes one row for each treatment and metric: n, means, median, range, standard deviation and
/// interval. The deciding metric also has its ratio to the baseline, with interval and verdict. A
/// percentile has the value of the merged histograms and no mean.
pub fn summaries(view: &RunView) -> String {
    let gate = Gate::from_view(view);
    let columns = SUMMARY.map(|(name, _)| name).join(",");
    let mut out = Rows::with_factors(view, "run,experiment,treatment", &columns);
    for of in &gate.analysis.summaries {
        let mut comparisons = gate.analysis.comparisons.iter();
        let comparison = comparisons.find(|c| c.treatment == of.treatment && c.metric == of.metric);
        let mut row =
            vec![view.summary.id.to_string(), view.experiment.name.clone(), of.label.clone()];
        row.extend(treatment_levels(view, of.treatment));
        let summarised = SummaryRow { view, gate: &gate, of, comparison };
        row.extend(SUMMARY.map(|(_, field)| field(&summarised)));
        out.row(&row);
    }
    out.text()
}

/// Writes one row for each percentile of each treatment's merged histograms, including histograms
/// at one x of a curve.
pub fn percentiles(view: &RunView) -> String {
    let gate = Gate::from_view(view);
    let mut out = Rows::with_factors(
        view,
        "run,experiment,treatment",
        "histogram,at,metric,quantile,value,unit,samples,beyond,trials,load,withheld,guest,doubt",
    );
    for (h, p) in every(&gate.analysis) {
        let mut row =
            vec![view.summary.id.to_string(), view.experiment.name.clone(), h.label.clone()];
        row.extend(treatment_levels(view, h.treatment));
        row.extend([h.name.clone(), number(h.at), p.metric.clone().unwrap_or_default()]);
        row.extend([number(Some(p.quantile)), number(p.value), h.unit.clone()]);
        row.extend([p.samples.to_string(), p.beyond.to_string(), p.trials.to_string()]);
        row.extend([
            p.load.map_or("", |l| if l == Load::Open { "open" } else { "closed" }).to_owned(),
            p.withheld.clone(),
            guest(view),
            percentile_doubts(&gate.analysis, h, p).join("; "),
        ]);
        out.row(&row);
    }
    out.text()
}

/// Returns the kind of virtual machine that the run was measured in; empty without one.
fn guest(view: &RunView) -> String {
    view.analysis.guest.map(|g| g.name().to_owned()).unwrap_or_default()
}

fn origin(view: &RunView, record: &TrialRecord) -> Vec<String> {
    vec![
        view.summary.id.to_string(),
        view.experiment.name.clone(),
        record.number.to_string(),
        record.block.to_string(),
        view.label(record.treatment),
    ]
}

fn levels(view: &RunView, record: &TrialRecord) -> Vec<String> {
    treatment_levels(view, record.treatment)
}

fn treatment_levels(view: &RunView, treatment: u32) -> Vec<String> {
    let levels = view.plan.treatment(treatment).map(|t| &t.levels);
    view.plan
        .factors
        .iter()
        .map(|f| levels.and_then(|l| l.get(f)).map(ToString::to_string).unwrap_or_default())
        .collect()
}

/// Formats a number so that it parses back to the same bits; empty if it is missing.
pub fn number(value: Option<f64>) -> String {
    value.map(|v| v.to_string()).unwrap_or_default()
}

/// Rows of CSV, with fields quoted where necessary.
pub struct Rows(csv::Writer<Vec<u8>>);

impl Default for Rows {
    fn default() -> Self {
        let rows = csv::WriterBuilder::new()
            .terminator(csv::Terminator::CRLF)
            .flexible(true)
            .from_writer(Vec::new());
        Rows(rows)
    }
}

impl Rows {
    /// Writes the titles: `before`, the factors of the plan, and `after`.
    fn with_factors(view: &RunView, before: &str, after: &str) -> Self {
        let mut rows = Rows::default();
        let factors = view.plan.factors.iter().map(String::as_str);
        rows.row(&before.split(',').chain(factors).chain(after.split(',')).collect::<Vec<_>>());
        rows
    }

    pub fn row(&mut self, fields: &[impl AsRef<[u8]>]) {
        self.0.write_record(fields).expect("memory takes every row");
    }

    pub fn text(self) -> String {
        let bytes = self.0.into_inner().expect("memory takes every row");
        String::from_utf8(bytes).expect("fields are text")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixtures;

    #[test]
    fn every_trial_and_every_level_is_there() {
        let view = fixtures::failures();
        let text = trials(&view);
        let head = text.lines().next().unwrap();
        assert!(head.contains("outcome,memory_limit,threads,metric"), "{head}");
        for r in &view.records {
            let number = format!(",{},", r.number);
            assert!(text.lines().any(|l| l.contains(&number)), "trial {} is missing", r.number);
        }
        let fields = head.split(',').count();
        assert!(text.lines().all(|l| l.split(',').count() >= fields), "ragged rows");
    }

    #[test]
    fn quotes_what_needs_quotes() {
        let mut rows = Rows::default();
        rows.row(&["a,b", "c\"d", "e\nf", "g"]);
        assert_eq!(rows.text(), "\"a,b\",\"c\"\"d\",\"e\nf\",g\r\n");
    }

    #[test]
    fn withheld_numbers_are_empty_and_say_why() {
        let text = trials(&fixtures::withheld());
        for line in text.lines().skip(1) {
            let fields: Vec<&str> = line.rsplitn(9, ',').collect();
            assert_eq!(fields[3], "F17", "{line}");
            assert_eq!(fields[7], "", "{line}");
        }
    }

    #[test]
    fn a_doubt_stands_beside_its_value_and_the_ratios_to_it() {
        let mut view = fixtures::commands();
        view.records[2].metrics[0].doubt = Some("assay was stopped".to_owned());
        let of = |name: &str| view.analysis.summaries.iter().position(|s| s.metric == name);
        let first = of(&view.analysis.metric).unwrap();
        view.analysis.summaries[first].doubts = vec!["assay was stopped".to_owned()];
        assert_eq!(trials(&view).lines().filter(|l| l.ends_with(",assay was stopped")).count(), 1);
        let text = summaries(&view);
        assert!(text.lines().next().unwrap().ends_with(",doubt,ratio_doubt"));
        assert_eq!(text.lines().filter(|l| l.contains("assay was stopped")).count(), 2, "{text}");
    }

    #[test]
    fn numbers_read_back_to_the_same_bits() {
        let view = fixtures::commands();
        let text = summaries(&view);
        let geomean = view.analysis.summaries[0].summary.geomean.unwrap();
        assert!(text.contains(&format!(",{geomean},")));
        assert!(curves(&fixtures::block_size()).lines().count() > 2000);
    }
}
