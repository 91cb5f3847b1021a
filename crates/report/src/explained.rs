//! Observations that differ along with a metric, in words: the same in a terminal and on a page.

use assay_model::Observed;
use assay_model::units::{format_value, significant};

/// What was observed: `cpu all user`.
pub(crate) fn name(o: &Observed) -> String {
    let parts = [o.source.as_str(), o.subject.as_str(), o.name.as_str()];
    parts.into_iter().filter(|p| !p.is_empty()).collect::<Vec<_>>().join(" ")
}

/// Its mean in one of the treatments.
pub(crate) fn value(v: f64, unit: &str) -> String {
    match unit {
        "%" => format!("{v:.2} %"),
        "s/s" => format!("{:.2} %", v * 100.0),
        _ => format_value(v, unit),
    }
}

/// A share as points of percent, signed.
pub(crate) fn points(share: f64) -> String {
    let percent = share * 100.0;
    // Nothing has no sign.
    if percent.abs() < 0.005 { "0.00 %".to_owned() } else { format!("{percent:+.2} %") }
}

/// The interval of the difference: as a share of time where there is one, else in the unit.
pub(crate) fn interval(o: &Observed) -> String {
    match (o.of_time.and_then(|t| t.interval), o.change.interval) {
        (Some(i), _) => format!("{:+.2}..{:+.2}", i.low * 100.0, i.high * 100.0),
        (None, Some(i)) => {
            let sign = |v: f64| if v < 0.0 { "-" } else { "+" };
            let side = |v: f64| format!("{}{}", sign(v), significant(v.abs(), 2));
            format!("{}..{}", side(i.low), side(i.high))
        }
        (None, None) => "-".to_owned(),
    }
}
