//! Formats of services that plot benchmarks: Bencher Metric Format, the list of values that
//! github-action-benchmark reads, and OpenMetrics. Each has the deciding metric of every treatment,
//! or every benchmark of a suite; withheld numbers are left out.

use assay_model::{Interval, TreatmentSummary};
use serde_json::{Map, Value, json};

use crate::formats::openmetrics::OpenMetrics;
use crate::gate::Gate;
use crate::view::RunView;

/// A number with the name under which a service shows it.
struct NamedValue<'a> {
    summary: &'a TreatmentSummary,
    name: String,
    label: String,
    value: f64,
    interval: Option<Interval>,
}

/// Returns the numbers of a run in the order of the analysis.
fn values<'a>(view: &RunView, gate: &'a Gate) -> Vec<NamedValue<'a>> {
    let a = &gate.analysis;
    let wanted = |s: &&TreatmentSummary| {
        if a.benchmarks.is_empty() {
            s.metric == a.metric
        } else {
            a.benchmarks.contains(&s.metric)
        }
    };
    let several = view.plan.treatments.len() > 1;
    let shown = a.summaries.iter().filter(wanted).filter(|s| gate.treatment(s.treatment).is_none());
    let named = shown.filter_map(|s| {
        let label = view.label(s.treatment).clone();
        let name = if a.benchmarks.is_empty() { &view.experiment.name } else { &s.metric };
        let name = if several { format!("{name} ({label})") } else { name.clone() };
        Some(NamedValue { summary: s, name, label, value: s.centre()?, interval: s.interval() })
    });
    named.collect()
}

/// Writes Bencher Metric Format. Times are the measure `latency` in nanoseconds and rates
/// `throughput`, as Bencher defines them; other metrics keep their names.
pub fn bmf(view: &RunView) -> Result<String, serde_json::Error> {
    let mut all = Map::new();
    for v in values(view, &Gate::from_view(view)) {
        let (measure, factor) = match v.summary.unit.as_str() {
            "s" => ("latency", 1e9),
            unit if unit.ends_with("/s") => ("throughput", 1.0),
            _ => (v.summary.metric.as_str(), 1.0),
        };
        let mut metric = json!({ "value": v.value * factor });
        if let Some(i) = v.interval {
            metric["lower_value"] = json!(i.low * factor);
            metric["upper_value"] = json!(i.high * factor);
        }
        all.insert(v.name, json!({ measure: metric }));
    }
    serde_json::to_string_pretty(&Value::Object(all)).map(|text| text + "\n")
}

/// Writes the list of values that github-action-benchmark reads.
pub fn list(view: &RunView) -> Result<String, serde_json::Error> {
    let gate = Gate::from_view(view);
    let entry = |v: NamedValue<'_>| {
        let mut entry = json!({ "name": v.name, "unit": v.summary.unit, "value": v.value });
        if let Some(i) = v.interval {
            entry["range"] = json!(format!("{} .. {}", i.low, i.high));
        }
        entry["extra"] = json!(format!("{} trials, run {}", v.summary.summary.n, view.summary.id));
        entry
    };
    let all: Vec<Value> = values(view, &gate).into_iter().map(entry).collect();
    serde_json::to_string_pretty(&all).map(|text| text + "\n")
}

/// A number of a named value; `None` without an interval.
type Part = fn(&NamedValue<'_>) -> Option<f64>;

/// Writes OpenMetrics: a gauge of the values, and one for each end of their intervals.
pub fn openmetrics(view: &RunView) -> String {
    let gate = Gate::from_view(view);
    let values = values(view, &gate);
    let mut out = OpenMetrics::default();
    let families: [(&str, &str, Part); 3] = [
        ("assay_value", "Geometric mean over the trials of a run", |v| Some(v.value)),
        ("assay_value_low", "Lower end of the confidence interval", |v| Some(v.interval?.low)),
        ("assay_value_high", "Upper end of the confidence interval", |v| Some(v.interval?.high)),
    ];
    for (family, help, part) in families {
        out.gauge(family, help);
        for v in &values {
            let labels = [
                ("experiment", view.experiment.name.as_str()),
                ("metric", &v.summary.metric),
                ("treatment", &v.label),
                ("unit", &v.summary.unit),
                ("host", &view.summary.host),
                ("run", view.summary.id.as_str()),
            ];
            out.sample(family, &labels, part(v));
        }
    }
    out.finish()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixtures;

    #[test]
    fn the_deciding_metric_of_each_treatment_is_written() {
        let view = fixtures::commands();
        let a = &view.analysis;
        let wanted: Vec<f64> = a
            .summaries
            .iter()
            .filter(|s| s.metric == a.metric)
            .filter_map(TreatmentSummary::centre)
            .collect();
        let bmf: Map<String, Value> = serde_json::from_str(&bmf(&view).unwrap()).unwrap();
        let ns: Vec<f64> = bmf.values().map(|b| b["latency"]["value"].as_f64().unwrap()).collect();
        let mut found: Vec<i64> = ns.iter().map(|v| v.round() as i64).collect();
        let mut expected: Vec<i64> = wanted.iter().map(|v| (v * 1e9).round() as i64).collect();
        found.sort_unstable();
        expected.sort_unstable();
        assert_eq!(found, expected);
        let list: Vec<Value> = serde_json::from_str(&list(&view).unwrap()).unwrap();
        assert_eq!(list.iter().map(|v| v["value"].as_f64().unwrap()).collect::<Vec<_>>(), wanted);
        let text = openmetrics(&view);
        assert!(text.ends_with("# EOF\n"));
        assert_eq!(text.matches("\nassay_value{").count(), wanted.len());
    }
}
