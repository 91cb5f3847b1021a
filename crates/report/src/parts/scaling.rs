//! Scaling over a factor: the values and speedups at each count, and the fitted models.

use assay_model::units::{self, significant};
use assay_model::{Scaling, ScalingModel, ScalingPoint};

use crate::document::{Parts, Table, TableCell, TrialLinks, cell};
use crate::figures::{percent, value_on_scale};
use crate::view::RunView;

/// Returns each count with its value, speedup (with an interval if the design has one) and
/// efficiency; then the fitted models, or the reason for their absence.
pub(crate) fn scaling(view: &RunView, s: &Scaling) -> Parts {
    let mut out = Parts::default();
    out.heading("scaling", format!("Scaling over {}", s.factor));
    let mut table = Table::captioned(format!("{} over {}", s.metric, s.factor))
        .numbers([&s.factor, &s.metric, "speedup", "efficiency"])
        .trials();
    let scale = units::common_reference(s.points.iter().map(|p| p.value));
    for p in &s.points {
        let at = |t: &&assay_model::Treatment| {
            t.levels.get(&s.factor).and_then(assay_model::Scalar::as_f64) == Some(p.count)
        };
        let of: Vec<u32> = view.plan.treatments.iter().filter(at).map(|t| t.id).collect();
        let behind = TrialLinks::metric(view, &of, &s.metric);
        table.row(vec![
            cell(p.count.to_string()),
            TableCell::from(&behind, value_on_scale(Some(p.value), &s.unit, scale)),
            TableCell::from(&behind, speedup_text(p)),
            TableCell::from(&behind, percent((p.efficiency * 1000.0).round() / 1000.0)),
            TableCell::trials(&behind),
        ]);
    }
    out.table(table);
    for m in &s.models {
        out.note(format!("{}.", model_sentence(m)));
    }
    if !s.note.is_empty() {
        out.note(s.note.clone());
    }
    out
}

/// Formats a speedup with its interval.
pub(crate) fn speedup_text(p: &ScalingPoint) -> String {
    p.interval.map_or_else(
        || if p.speedup == 1.0 { "1".to_owned() } else { significant(p.speedup, 4) },
        |i| units::ratio(p.speedup, i.low, i.high).to_string(),
    )
}

fn model_sentence(m: &ScalingModel) -> String {
    let agreeing = if m.kappa > 0.0 {
        format!(", coherency {}", significant(m.kappa, 3))
    } else {
        String::new()
    };
    format!("{}: {} does not scale (contention){agreeing}", model_name(m), percent(m.sigma))
}

/// Returns the common name of a model.
pub(crate) fn model_name(m: &ScalingModel) -> String {
    match m.model.as_str() {
        "amdahl" => "Amdahl's law".to_owned(),
        "usl" => "Universal Scalability Law".to_owned(),
        other => other.to_owned(),
    }
}
