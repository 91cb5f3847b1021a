//! Heat maps: the number of events by time and by a second quantity (latency, address).

use maud::{Markup, html};

use crate::axes::axis::Axis;
use crate::axes::frame::{Head, outline};
use crate::axes::mark::{Focus, mark};
use crate::axes::reach::ScaleRanges;
use crate::axes::scale::{ScaleKind, extent};
use crate::axes::ticks::short;
use crate::axes::timeline::{PhaseSpan, Timeline};

#[derive(Debug, Clone, PartialEq)]
pub struct Heat {
    pub head: Head,
    /// Name of the quantity of the rows: `latency`.
    pub name: String,
    pub unit: String,
    /// Layout of the rows' axis.
    pub kind: ScaleKind,
    /// Noun for the events: `I/Os`.
    pub what: String,
    /// Start of the first column in seconds from the trial's start, and width of a column in
    /// seconds.
    pub columns_s: (f64, f64),
    /// Lower and upper edge of each row, lowest row first.
    pub rows: Vec<(f64, f64)>,
    /// Number of events, `counts[column][row]`.
    pub counts: Vec<Vec<u64>>,
    pub phases: Vec<PhaseSpan>,
}

const PLOT_HEIGHT: f64 = 200.0;
/// Levels of darkness. More could not be distinguished.
const LEVELS: usize = 6;

impl Heat {
    /// Returns the ranges that the chart's own data need.
    pub fn reach(&self) -> ScaleRanges {
        let (from, width) = self.columns_s;
        // Without columns there is no start of a first column either.
        let columns = (!self.counts.is_empty()).then_some(self.counts.len() as f64);
        let moments = columns.map(|n| [from, from + width * n]);
        let ends = self.phases.iter().flat_map(|p| [p.from_s, p.to_s]);
        ScaleRanges {
            time_s: extent(moments.into_iter().flatten().chain(ends)),
            values: self.rows.first().zip(self.rows.last()).map(|(low, high)| (low.0, high.1)),
            most: self.counts.iter().flatten().copied().max().unwrap_or(0),
        }
    }
}

/// Draws the chart with this width, on scales that also cover `reach`: the darker a cell, the more
/// events, on a logarithmic scale.
pub fn render_over(chart: &Heat, reach: ScaleRanges, width: f64) -> Markup {
    let reach = reach.join(chart.reach());
    let (low, high) = reach.values.unwrap_or((0.0, 1.0));
    let y_axis = match chart.kind {
        ScaleKind::Linear => Axis::exact((low, high), &chart.unit),
        ScaleKind::Log2 => Axis::doublings((low, high), &chart.unit),
        ScaleKind::Log10 => Axis::log(chart.kind, (low, high), &chart.unit),
    };
    let (from, each) = chart.columns_s;
    let start = |column: usize| from + each * column as f64;
    let moments = reach.time_s.into_iter().flat_map(|(from, to)| [from, to]);
    let plot = Timeline::new(width, moments, &chart.phases, y_axis, &[], PLOT_HEIGHT);
    let most = reach.most;
    let levels = cells(chart, &plot, most);
    let note = format!("fullest: {most} {} a cell; logarithmic steps", chart.what);
    let body = html! {
        (plot.ground(&chart.name, &note))
        (plot.axes())
        g.heat { @for (level, d) in levels.iter().enumerate() {
            @if !d.is_empty() { path class={ "h" (level + 1) } d=(d) {} }
        } }
        @for (i, column) in chart.counts.iter().enumerate() {
            @if let Some((x, wide)) = span(&plot, start(i), start(i + 1)) {
                @let d = outline((x, plot.inner.top), (wide, PLOT_HEIGHT));
                @let at = (x + wide / 2.0, plot.inner.top);
                @let focus = Focus::nth(i, chart.counts.len());
                (mark("hit", &d, at, &spoken(chart, column, start(i)), focus))
            }
        }
    };
    plot.svg(&chart.head, "heat", &body)
}

/// Returns position and width of a column, clipped to the plot.
fn span(plot: &Timeline<'_>, from: f64, to: f64) -> Option<(f64, f64)> {
    let (a, b) = (plot.x.clamped(from)?, plot.x.clamped(to)?);
    (b > a).then_some((a, b - a))
}

/// Builds one path for each level of darkness.
fn cells(chart: &Heat, plot: &Timeline<'_>, most: u64) -> Vec<String> {
    let mut paths = vec![String::new(); LEVELS];
    let (from, width) = chart.columns_s;
    for (i, column) in chart.counts.iter().enumerate() {
        let start = from + width * i as f64;
        let Some((x, wide)) = span(plot, start, start + width) else { continue };
        for (count, row) in column.iter().zip(&chart.rows).filter(|(n, _)| **n > 0) {
            let (Some(top), Some(foot)) = (plot.y.clamped(row.1), plot.y.clamped(row.0)) else {
                continue;
            };
            let cell = outline((x, top), (wide, (foot - top).max(0.4)));
            paths[level(*count, most)].push_str(&cell);
        }
    }
    paths
}

/// Returns the level of darkness of a count; 0 is the lightest.
fn level(count: u64, most: u64) -> usize {
    let share = (count as f64).ln_1p() / (most.max(1) as f64).ln_1p();
    ((share * LEVELS as f64).ceil() as usize).clamp(1, LEVELS) - 1
}

fn spoken(chart: &Heat, column: &[u64], start: f64) -> String {
    let total: u64 = column.iter().sum();
    let fullest = column.iter().zip(&chart.rows).max_by_key(|(n, _)| **n).filter(|(n, _)| **n > 0);
    let most = fullest.map_or(String::new(), |(n, row)| {
        let unit = &chart.unit;
        format!("; most ({n}) from {} to {}", short(row.0, unit), short(row.1, unit))
    });
    format!("from {start:.1} s: {total} {}{most}", chart.what)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::axes::frame::{NARROW, WIDTH};

    #[test]
    fn a_cell_for_every_count_and_none_for_zero() {
        let chart = Heat {
            head: Head { id: "h".into(), title: "t".into(), desc: "d".into() },
            name: "latency".into(),
            unit: "s".into(),
            kind: ScaleKind::Log2,
            what: "I/Os".into(),
            columns_s: (0.0, 1.0),
            rows: vec![(1e-6, 2e-6), (2e-6, 4e-6)],
            counts: vec![vec![1, 0], vec![0, 1000], vec![0, 0]],
            phases: vec![PhaseSpan { name: "steady".into(), from_s: 0.5, to_s: 3.0 }],
        };
        let svg = render_over(&chart, ScaleRanges::default(), WIDTH).into_string();
        assert_eq!(
            svg.matches("class=\"h").count() - svg.matches("class=\"heat").count(),
            2,
            "{svg}"
        );
        assert!(svg.contains("class=\"h1\"") && svg.contains("class=\"h6\""));
        assert_eq!(svg.matches("m hit").count(), 3);
        assert!(svg.contains("from 1.0 s: 1000 I/Os; most (1000)"), "{svg}");
        assert!(!svg.contains("NaN"));
    }

    #[test]
    fn over_the_reach_of_another_it_has_the_scales_of_both() {
        let one = |count: u64, from: f64| Heat {
            head: Head { id: "h".into(), title: "t".into(), desc: "d".into() },
            name: "latency".into(),
            unit: "s".into(),
            kind: ScaleKind::Log2,
            what: "I/Os".into(),
            columns_s: (from, 1.0),
            rows: vec![(1e-6, 2e-6)],
            counts: vec![vec![count]],
            phases: Vec::new(),
        };
        let (few, many) = (one(1, 0.0), one(1000, 4.0));
        let alone = render_over(&few, ScaleRanges::default(), WIDTH).into_string();
        assert!(alone.contains("class=\"h6\"") && alone.contains("fullest: 1 I/Os"), "{alone}");
        let both = few.reach().join(many.reach());
        let (few, many) = (
            render_over(&few, both, NARROW).into_string(),
            render_over(&many, both, NARROW).into_string(),
        );
        assert!(few.contains("class=\"h1\"") && few.contains("fullest: 1000 I/Os"), "{few}");
        let axis = |svg: &str| {
            svg[svg.find("class=\"axis").unwrap()..svg.find("class=\"heat\"").unwrap()].to_owned()
        };
        assert_eq!(axis(&few), axis(&many), "one scale of time and of latency");
    }

    #[test]
    fn levels_go_from_the_fewest_to_the_most() {
        assert_eq!((level(1, 1_000_000), level(1_000_000, 1_000_000)), (0, LEVELS - 1));
        assert_eq!(level(1, 1), LEVELS - 1);
    }
}
