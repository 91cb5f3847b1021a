//! Ticks of axes: their positions and labels.

use assay_model::units;

use crate::axes::scale::{Scale, ScaleKind};

/// One tick of an axis.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Tick {
    pub(crate) value: f64,
    pub(crate) label: String,
}

/// Returns a step of 1, 2 or 5 times a power of ten that divides `span` into at most `most` parts.
pub(crate) fn nice_step(span: f64, most: usize) -> f64 {
    let raw = (span / most.max(1) as f64).max(f64::MIN_POSITIVE);
    let power = 10f64.powf(raw.log10().floor());
    let factor =
        [1.0, 2.0, 5.0, 10.0].into_iter().find(|f| f * power >= raw * 0.999_999).unwrap_or(10.0);
    factor * power
}

/// Widens the domain to whole steps; an end at zero stays there.
pub(crate) fn nice_domain(low: f64, high: f64, most: usize) -> (f64, f64) {
    let span = if high > low { high - low } else { high.abs().max(1.0) };
    let step = nice_step(span, most);
    ((low / step + 1e-9).floor() * step, (high / step - 1e-9).ceil() * step)
}

/// Returns about `most` ticks of `scale`, or fewer. On a linear axis, labels have no unit (the axis
/// title contains it, scaled by `factor`); on a log axis, each label has its own. On a `Log2` axis,
/// ticks are at `edge` times powers of two.
pub(crate) fn ticks(scale: &Scale, most: usize, unit: &str, factor: f64, edge: f64) -> Vec<Tick> {
    match scale.kind() {
        ScaleKind::Linear => linear(scale.from, scale.to, most, factor),
        ScaleKind::Log2 => powers_of_two(scale.from, scale.to, unit, edge),
        ScaleKind::Log10 if scale.to / scale.from < 8.0 => linear(scale.from, scale.to, most, 1.0)
            .into_iter()
            .map(|t| Tick { label: short(t.value, unit), ..t })
            .collect(),
        ScaleKind::Log10 => decades(scale.from, scale.to, unit),
    }
}

fn linear(from: f64, to: f64, most: usize, factor: f64) -> Vec<Tick> {
    let step = nice_step((to - from) / factor, most);
    let decimals = (-step.log10().floor()).clamp(0.0, 9.0) as usize;
    let first = (from / factor / step - 1e-9).ceil();
    (0..=most * 2 + 2)
        .map(|i| (first + i as f64) * step)
        .take_while(|v| *v <= to / factor + step * 1e-6)
        .map(|v| {
            let zero = v.abs() < step * 1e-6;
            let label = if zero { "0".to_owned() } else { format!("{v:.decimals$}") };
            Tick { value: if zero { 0.0 } else { v * factor }, label }
        })
        .collect()
}

fn powers_of_two(from: f64, to: f64, unit: &str, edge: f64) -> Vec<Tick> {
    let first = ((from / edge).log2() - 1e-9).ceil() as i32;
    let last = ((to / edge).log2() + 1e-9).floor() as i32;
    (first..=last)
        .map(|e| edge * 2f64.powi(e))
        .map(|value| Tick { value, label: size(value, unit) })
        .collect()
}

fn decades(from: f64, to: f64, unit: &str) -> Vec<Tick> {
    let first = from.log10().floor() as i32;
    let last = to.log10().ceil() as i32;
    let wide = last - first > 4;
    let steps: &[f64] = if wide { &[1.0] } else { &[1.0, 2.0, 5.0] };
    (first..=last)
        .flat_map(|e| steps.iter().map(move |s| s * 10f64.powi(e)))
        .filter(|v| *v >= from * 0.999_999 && *v <= to * 1.000_001)
        .map(|value| Tick { value, label: short(value, unit) })
        .collect()
}

/// Formats a position on an x axis for a person: bytes with IEC prefixes, other units with few
/// digits.
pub(crate) fn size(value: f64, unit: &str) -> String {
    if unit == "B" && value >= 1.0 && value.fract() == 0.0 && value < 9e15 {
        return units::format_bytes(value as u64);
    }
    short(value, unit)
}

/// Formats a value with up to four significant digits and without trailing zeros: `2 ms`, `1.5`,
/// `200 MB/s`.
pub(crate) fn short(value: f64, unit: &str) -> String {
    let (factor, prefixed) = units::scale_of(value, unit);
    let text = units::significant(value / factor, 4);
    let trimmed = if text.contains('.') {
        text.trim_end_matches('0').trim_end_matches('.').to_owned()
    } else {
        text
    };
    if prefixed.is_empty() { trimmed } else { format!("{trimmed} {prefixed}") }
}

/// Removes ticks until no two labels touch: `extent` returns the length of a label along the axis.
pub(crate) fn thin(ticks: Vec<Tick>, scale: &Scale, extent: impl Fn(&Tick) -> f64) -> Vec<Tick> {
    if ticks.len() < 2 {
        return ticks;
    }
    for every in 1..=ticks.len() {
        // Every `every`-th tick is kept, starting so that zero, or a power of two whose exponent is
        // a multiple of `every`, is among them.
        let offset = ticks.iter().position(|t| keeps(t, every)).unwrap_or(0) % every;
        let kept: Vec<&Tick> = ticks.iter().skip(offset).step_by(every).collect();
        let fits =
            kept.windows(2).all(|pair| match (scale.at(pair[0].value), scale.at(pair[1].value)) {
                (Some(a), Some(b)) => {
                    (a - b).abs() >= f64::midpoint(extent(pair[0]), extent(pair[1])) + 6.0
                }
                _ => true,
            });
        if fits {
            return kept.into_iter().cloned().collect();
        }
    }
    ticks.into_iter().take(1).collect()
}

/// Returns true if thinning by `every` should keep this tick: zero, or a power of two whose
/// exponent is a multiple of `every`.
fn keeps(tick: &Tick, every: usize) -> bool {
    if tick.value == 0.0 {
        return true;
    }
    let exponent = tick.value.abs().log2();
    tick.value > 0.0
        && (exponent - exponent.round()).abs() < 1e-9
        && (exponent.round() as i64).rem_euclid(every as i64) == 0
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(ticks: &[Tick]) -> Vec<&str> {
        ticks.iter().map(|t| t.label.as_str()).collect()
    }

    #[test]
    fn steps_are_one_two_five() {
        assert_eq!(nice_step(10.0, 5), 2.0);
        assert_eq!(nice_step(0.9, 4), 0.5);
        assert_eq!(nice_step(70.0, 7), 10.0);
        assert_eq!(nice_domain(0.0, 5.6e9, 6), (0.0, 6e9));
    }

    #[test]
    fn a_linear_axis_is_scaled_once() {
        let s = Scale::new(ScaleKind::Linear, (0.0, 6e9), (100.0, 0.0));
        assert_eq!(labels(&ticks(&s, 6, "B/s", 1e9, 1.0)), ["0", "1", "2", "3", "4", "5", "6"]);
        let s = Scale::new(ScaleKind::Linear, (0.0, 0.001), (100.0, 0.0));
        assert_eq!(labels(&ticks(&s, 4, "s", 1e-3, 1.0)), ["0", "0.5", "1.0"]);
    }

    #[test]
    fn bytes_on_a_log2_axis_have_iec_prefixes_and_do_not_overlap() {
        let s = Scale::new(ScaleKind::Log2, (1.0, 102_400.0), (0.0, 300.0));
        let all = ticks(&s, 8, "B", 1.0, 1.0);
        assert_eq!(all.len(), 17);
        let kept = thin(all, &s, |t| t.label.chars().count() as f64 * 7.0);
        assert!(kept.len() < 17);
        assert!(labels(&kept).contains(&"4 KiB"), "{:?}", labels(&kept));
        for pair in kept.windows(2) {
            let gap = s.at(pair[1].value).unwrap() - s.at(pair[0].value).unwrap();
            assert!(gap >= 7.0 * pair[0].label.len() as f64 / 2.0);
        }
    }

    #[test]
    fn ratios_near_one_get_plain_ticks() {
        let s = Scale::new(ScaleKind::Log10, (0.94, 1.21), (0.0, 300.0));
        assert_eq!(
            labels(&ticks(&s, 6, "1", 1.0, 1.0)),
            ["0.95", "1", "1.05", "1.1", "1.15", "1.2"]
        );
        let s = Scale::new(ScaleKind::Log10, (0.1, 20.0), (0.0, 300.0));
        assert_eq!(
            labels(&ticks(&s, 6, "1", 1.0, 1.0)),
            ["0.1", "0.2", "0.5", "1", "2", "5", "10", "20"]
        );
    }
}
