//! The scaling table.

use assay_model::{Scaling, ScalingModel};

use super::Style;
use super::table::{Table, cell};
use super::writer::{Paint, Writer};
use crate::figures::percent;
use assay_model::units::{format_ratio, format_value, significant};

/// Each count with its value, speedup (with interval where the design carries one) and efficiency;
/// then the fits, or why there are none.
pub fn scaling(scaling: &Scaling, style: Style) -> String {
    let mut w = Writer::new(style);
    w.heading(&format!("{} over {}", scaling.metric, scaling.factor));
    let mut table = Table::default()
        .number(&scaling.factor)
        .number(&scaling.metric)
        .number("speedup")
        .number("efficiency");
    for p in &scaling.points {
        let speedup = p
            .interval
            .map_or_else(|| significant(p.speedup, 4), |i| format_ratio(p.speedup, i.low, i.high));
        table.row(vec![
            cell(format!("{}", p.count)),
            cell(format_value(p.value, &scaling.unit)),
            cell(speedup),
            cell(percent((p.efficiency * 1000.0).round() / 1000.0)),
        ]);
    }
    w.raw(&table.render(style));
    for m in &scaling.models {
        w.wrapped(2, &model_sentence(m), Paint::Plain);
    }
    if !scaling.note.is_empty() {
        w.wrapped(2, &scaling.note, Paint::Soft);
    }
    w.finish()
}

/// A fitted model in words.
pub(crate) fn model_sentence(m: &ScalingModel) -> String {
    let name = model_name(m);
    let agreeing = if m.kappa > 0.0 {
        format!(", coherency {}", significant(m.kappa, 3))
    } else {
        String::new()
    };
    format!("{name}: {} does not scale (contention){agreeing}", percent(m.sigma))
}

/// A model's name as people know it.
pub(crate) fn model_name(m: &ScalingModel) -> String {
    match m.model.as_str() {
        "amdahl" => "Amdahl's law".to_owned(),
        "usl" => "Universal Scalability Law".to_owned(),
        other => other.to_owned(),
    }
}
