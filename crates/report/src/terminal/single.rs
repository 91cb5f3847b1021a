//! The summary of each treatment on its own: mean, range, CPU time, memory.

use assay_chart::axes::text::sparkline;
use assay_model::TreatmentSummary;
use assay_model::units::format_value;

use super::Style;
use crate::document::{DocumentPart, Parts};
use crate::figures::{centre_name, count, percent, summary_text, value_on_scale};
use crate::view::{RunView, deciding};
use crate::words;

/// Returns the summary of each treatment.
pub(super) fn single(view: &RunView, style: Style) -> Parts {
    let mut all = Parts::default();
    for s in deciding(&view.analysis) {
        let label = if s.label == "-" { &view.experiment.name } else { &s.label };
        all.titled(format!("{} of {label}", s.metric));
        let mut facts = facts(view, s);
        let values: Vec<f64> = s.values.iter().map(|v| v.unwrap_or(f64::NAN)).collect();
        // A sparkline of two values shows nothing, and one wider than the line would be cut.
        if (3..=style.columns().saturating_sub(18)).contains(&values.len()) {
            facts.push(("in order", sparkline(&values, style.glyphs)));
        }
        let pair = |(name, value): (&str, String)| (name.to_owned(), value);
        all.push(DocumentPart::Pairs(facts.into_iter().map(pair).collect()));
    }
    all
}

fn facts(view: &RunView, s: &TreatmentSummary) -> Vec<(&'static str, String)> {
    let x = &s.summary;
    let show = |v: Option<f64>| value_on_scale(v, &s.unit, s.centre());
    let level = x.interval.map_or_else(
        || "no interval below three trials".to_owned(),
        |i| format!("{} CI", percent(i.level)),
    );
    let text = match &s.percentile {
        Some(p) => format!(
            "{}, from the histograms of {} together ({} of {} samples beyond it)",
            summary_text(s),
            count(p.trials as usize, "trial"),
            p.beyond,
            p.samples
        ),
        None => format!("{}, {level}, {}", summary_text(s), count(x.n as usize, "trial")),
    };
    let mut out = vec![(centre_name(s), text)];
    out.extend(words::guest(view.analysis.guest).map(|where_| ("where", where_)));
    out.extend(s.doubts.iter().map(|why| ("doubtful", why.clone())));
    if x.stddev.is_some() && s.percentile.is_none() {
        out.push(("mean ± σ", format!("{} ± {}", show(x.mean), show(x.stddev))));
    }
    out.push(("range", format!("{} .. {}", show(x.min), show(x.max))));
    let resources = |of: fn(&assay_model::ResourceUse) -> Option<f64>| -> Option<f64> {
        let all: Option<Vec<f64>> =
            view.counted(s.treatment).iter().map(|r| r.resources.as_ref().and_then(of)).collect();
        all.filter(|v| !v.is_empty()).map(|v| v.iter().sum::<f64>() / v.len() as f64)
    };
    let other = |name: &str| {
        let mut own = view.analysis.summaries.iter().filter(|own| own.treatment == s.treatment);
        own.find(|own| own.metric == name).and_then(|own| own.summary.mean)
    };
    let user = other("user").or_else(|| resources(|r| Some(r.user_s)));
    let system = other("system").or_else(|| resources(|r| Some(r.system_s)));
    if let (Some(u), Some(k)) = (user, system) {
        out.push(("user, system", format!("{}, {}", format_value(u, "s"), format_value(k, "s"))));
    }
    let memory =
        other("peak_memory").or_else(|| resources(|r| r.peak_memory_bytes.map(|b| b as f64)));
    let imported = view.imported().map(|_| "not in the imported file");
    let unknown = imported.unwrap_or("unknown (assay show says why)");
    let memory = memory.map_or_else(|| unknown.to_owned(), |m| format_value(m, "B"));
    out.push(("peak memory", memory));
    out
}
