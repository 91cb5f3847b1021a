//! Legend of a chart: one key for each series, in rows that fit the width.

use maud::{Markup, html};

use crate::axes::frame::{fit, label, line, px, text_width};
use crate::axes::mark::{line_class, shape};

/// Appearance of a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum KeyKind {
    /// A line with the series' mark on it.
    Line,
    /// Only the series' mark.
    Mark,
    Fill,
}

/// One entry of the legend.
pub(crate) struct LegendKey {
    pub(crate) label: String,
    pub(crate) class: String,
    pub(crate) series: usize,
    pub(crate) kind: KeyKind,
}

impl LegendKey {
    /// Creates the key of a numbered series.
    pub(crate) fn series(series: usize, label: &str, kind: KeyKind) -> Self {
        LegendKey { label: label.to_owned(), class: line_class(series), series, kind }
    }

    /// Creates the keys of series numbered from 0.
    pub(crate) fn numbered<'a>(labels: impl Iterator<Item = &'a str>, kind: KeyKind) -> Vec<Self> {
        labels.enumerate().map(|(i, label)| LegendKey::series(i, label, kind)).collect()
    }
}

/// Vertical centre of the first row, below the heading.
const TOP: f64 = 38.0;
const ROW: f64 = 20.0;
const SAMPLE: f64 = 26.0;
const MAX_WIDTH: f64 = 330.0;

/// Draws the legend below the heading of a chart of this width, and returns it with its height.
/// Empty, with height 0, without keys.
pub(crate) fn legend(width: f64, keys: &[LegendKey]) -> (Markup, f64) {
    if keys.is_empty() {
        return (html! {}, 0.0);
    }
    let (mut x, mut row) = (2.0, 0);
    let mut placed = Vec::new();
    for key in keys {
        let label = fit(&key.label, MAX_WIDTH);
        let wide = SAMPLE + text_width(&label) + 20.0;
        if x > 2.0 && x + wide > width {
            x = 2.0;
            row += 1;
        }
        placed.push((key, label, x, TOP + f64::from(row) * ROW));
        x += wide;
    }
    let markup = html! {
        g.legend { @for (key, name, x, y) in &placed { g.key data-series=(key.series) {
            @let width = px(SAMPLE + text_width(name));
            rect.key-box x=(px(*x)) y=(px(y - 10.0)) height="20" width=(width) {}
            (sample(key, *x, *y))
            (label("", (x + SAMPLE, y + 4.0), name))
            title { (key.label) }
        } } }
    };
    (markup, f64::from(row + 1) * ROW + 6.0)
}

fn sample(key: &LegendKey, x: f64, y: f64) -> Markup {
    let class = &key.class;
    let outline = |r: f64| shape(key.series, (x + 10.0, y), r);
    html! {
        @match key.kind {
            KeyKind::Line => {
                (line(&format!("line {class}"), (x, y), (x + 20.0, y)))
                path class={ "key-mark " (class) } d=(outline(3.5)) {}
            }
            KeyKind::Mark => path class={ "key-mark " (class) } d=(outline(4.5)) {},
            KeyKind::Fill => rect class={ "fill " (class) } x=(px(x + 4.0)) y=(px(y - 6.0))
                width="14" height="12" {},
        }
    }
}
