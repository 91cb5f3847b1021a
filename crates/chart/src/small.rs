//! Means with their intervals in the height of a line of text, for a table whose cells contain the
//! numbers.

use maud::{Markup, html};

use crate::axes::frame::px;
use crate::axes::mark::series_class;
use crate::axes::scale::{Scale, ScaleKind, extent};

/// A mean with its interval; a missing number is NaN.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Mean {
    pub value: f64,
    pub low: f64,
    pub high: f64,
}

const HEIGHT: f64 = 26.0;
const STEP: f64 = 14.0;

/// Draws the means from left to right on a common scale, which need not start at zero. The chart is
/// hidden from screen readers, because the numbers are in the table.
pub fn render(means: &[Mean]) -> Markup {
    let width = STEP * means.len().max(1) as f64;
    let ends = means.iter().flat_map(|m| [m.value, m.low, m.high]);
    let y = Scale::new(ScaleKind::Linear, extent(ends).unwrap_or((0.0, 1.0)), (HEIGHT - 4.0, 4.0));
    html! {
        svg.chart.mini viewBox={ "0 0 " (px(width)) " " (px(HEIGHT)) }
            width=(px(width)) height=(px(HEIGHT)) aria-hidden="true" {
            @for (i, m) in means.iter().enumerate() {
                @let x = STEP * (i as f64 + 0.5);
                g class=(series_class(i)) {
                    @if let (Some(a), Some(b)) = (y.at(m.low), y.at(m.high)) {
                        path.line d={ "M" (px(x)) " " (px(a)) "V" (px(b)) } {}
                    }
                    @if let Some(at) = y.at(m.value) { circle.m cx=(px(x)) cy=(px(at)) r="3" {} }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missing_mean_leaves_its_place_empty() {
        let mean = |value: f64| Mean { value, low: value - 1.0, high: value + 1.0 };
        let nan = Mean { value: f64::NAN, low: f64::NAN, high: f64::NAN };
        let svg = render(&[mean(1.0), nan, mean(3.0)]).into_string();
        assert_eq!(svg.matches("<circle").count(), 2);
        assert!(svg.contains("cx=\"35\"") && !svg.contains("NaN"), "{svg}");
        assert!(!render(&[]).into_string().contains("NaN"));
    }
}
