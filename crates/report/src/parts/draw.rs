//! Converts the results of an analysis into charts.

use assay_chart::curve::{self, Curve, MarkedPoint, PlotPoint, Standout, Vertical};
use assay_chart::ecdf::{self, Ecdf};
use assay_chart::intervals::{absolute, ratio};
use assay_chart::order::{self, RunOrder, TrialStatus};
use assay_chart::scaling::{self as scaling_chart, ScalingChart};
use assay_chart::{Head, PhaseSpan, ScaleKind};
use assay_model::{
    CurveSummary, Interval, MetricKind, Scalar, Scaling, ScalingModel, SystemDescription,
    TreatmentSummary, TrialOutcome, TrialRecord, Verdict, units,
};
use maud::Markup;

use crate::document::html::figure;
use crate::figures::{
    centre, count, percent, point_text, ratio_mark, ratio_text, summary_text, value_text, x_text,
};
use crate::gate::Gate;
use crate::parts::curves::chosen;
use crate::parts::scaling::{model_name, speedup_text};
use crate::short_labels::apart;
use crate::view::{RunView, deciding, shown_points};
use crate::words;

/// Draws curves in one chart; all of them share their x unit and unit.
pub fn curves(view: &RunView, id: &str, title: &str, curves: &[&CurveSummary]) -> Option<Markup> {
    let first = curves.first()?;
    let several_names = curves.iter().any(|c| c.name != first.name);
    let named = curves.iter().map(|c| {
        let label = view.label(c.treatment);
        (if several_names { format!("{}, {label}", c.name) } else { label }, *c)
    });
    let verticals = if first.x_unit == "B" { caches(&view.system) } else { Vec::new() };
    let head = Head { id: id.to_owned(), title: title.to_owned(), desc: String::new() };
    named_curves(head, &named.collect::<Vec<_>>(), verticals, view.analysis.confidence)
}

/// Draws curves in one chart under the given names, and writes the description of `head`.
pub(crate) fn named_curves(
    head: Head,
    named: &[(String, &CurveSummary)],
    verticals: Vec<Vertical>,
    confidence: f64,
) -> Option<Markup> {
    let curves: Vec<&CurveSummary> = named.iter().map(|(_, c)| *c).collect();
    let first = curves.first()?;
    let xs = || curves.iter().flat_map(|c| c.points.iter().map(|p| p.x));
    let low = xs().fold(f64::INFINITY, f64::min);
    let high = xs().fold(f64::NEG_INFINITY, f64::max);
    // Time passes evenly, so its axis is linear.
    let wide = first.x_unit != "s" && low > 0.0 && high / low >= 16.0;
    let (labels, shared) = apart(&named.iter().map(|(name, _)| name.clone()).collect::<Vec<_>>());
    let series = named.iter().zip(labels).map(|((name, c), label)| curve::CurveSeries {
        label,
        points: shown_points(c).into_iter().map(|p| point(name, c, p)).collect(),
        marked: standouts(c),
    });
    let n = curves.iter().flat_map(|c| &c.points).map(|p| p.n).max().unwrap_or(0);
    let sentences: Vec<String> = named
        .iter()
        .filter_map(|(name, c)| {
            let b = c.best.as_ref()?;
            let value = point_text(c, b, None);
            Some(format!("{name}: best {value} at {}.", x_text(b.x, &c.x_unit)))
        })
        .collect();
    Some(curve::render(&Curve {
        head: Head { desc: sentences.join(" "), ..head },
        x_name: first.x_noun().to_owned(),
        x_unit: first.x_unit.clone(),
        x_scale: if wide { ScaleKind::Log2 } else { ScaleKind::Linear },
        y_name: first.name.clone(),
        y_unit: first.unit.clone(),
        y_scale: ScaleKind::Linear,
        better: first.better,
        series: series.collect(),
        verticals,
        note: format!(
            "{} a point; {}{}{}",
            count(n as usize, "trial"),
            if curves.iter().any(|c| c.quantile.is_some()) {
                "from the merged histograms of the trials".to_owned()
            } else {
                format!("bands: {} intervals", percent(confidence))
            },
            excluded(&curves),
            if shared.is_empty() { String::new() } else { format!("; all with {shared}") }
        ),
    }))
}

/// Returns the end of a sentence that counts the points which are not drawn; empty if all are.
fn excluded(curves: &[&CurveSummary]) -> String {
    let all: usize = curves.iter().map(|c| c.points.len()).sum();
    let shown: usize = curves.iter().map(|c| shown_points(c).len()).sum();
    if shown == all {
        return String::new();
    }
    format!("; {} with fewer trials hidden", count(all - shown, "point"))
}

fn point(name: &str, c: &CurveSummary, p: &assay_model::CurvePoint) -> PlotPoint {
    PlotPoint {
        x: p.x,
        y: p.value,
        low: p.interval.map_or(f64::NAN, |i| i.low),
        high: p.interval.map_or(f64::NAN, |i| i.high),
        label: format!(
            "{name}: {} at {}, {}",
            point_text(c, p, None),
            x_text(p.x, &c.x_unit),
            count(p.n as usize, "trial")
        ),
    }
}

fn standouts(c: &CurveSummary) -> Vec<MarkedPoint> {
    let mark = |p: &assay_model::CurvePoint, word: &str, standout| MarkedPoint {
        x: p.x,
        y: p.value,
        label: format!("{word} {}", x_text(p.x, &c.x_unit)),
        standout,
    };
    let best = c.best.iter().map(|p| mark(p, "best", Standout::Best));
    best.chain(c.efficient.iter().map(|p| mark(p, "efficient", Standout::Efficient))).collect()
}

/// Draws the chart of the first screen, with its caption: the curves that a choice is made by; else
/// the deciding metric over a numeric factor; else every treatment with its trials.
pub(crate) fn deciding_chart(view: &RunView, gate: &Gate) -> Option<(Markup, String)> {
    let measured =
        gate.analysis.curves.iter().filter(|c| c.kind == MetricKind::Measured && chosen(c));
    let measured: Vec<&CurveSummary> = measured.collect();
    if let Some(first) = measured.first() {
        let same: Vec<&CurveSummary> =
            measured.iter().copied().filter(|c| c.name == first.name).take(8).collect();
        let title = format!("{} over {}", first.name, first.x_noun());
        let caption = format!("{title}; the other tabs have its points and trials.");
        return Some((curves(view, "answer-curve", &title, &same)?, caption));
    }
    over_factor(view, gate).or_else(|| Some((absolutes(view, gate)?, absolutes_caption(gate))))
}

/// Returns true if the first screen has the chart of [`absolutes`].
pub(crate) fn absolutes_first(view: &RunView, gate: &Gate) -> bool {
    let curve = |c: &CurveSummary| c.kind == MetricKind::Measured && chosen(c);
    !gate.analysis.curves.iter().any(curve) && over_factor(view, gate).is_none()
}

/// Returns the caption of the chart of [`absolutes`].
pub(crate) fn absolutes_caption(gate: &Gate) -> String {
    let merged = deciding(&gate.analysis).iter().any(|s| s.percentile.is_some());
    if merged {
        "All trials' histograms together above, each trial's beneath; a dot leads to its trial."
    } else {
        "Mean with its interval above, every trial beneath; a dot leads to its trial."
    }
    .to_owned()
}

/// Levels that a factor must have to become an axis.
const LEVELS: usize = 3;
/// Largest number of lines that a reader can distinguish.
const LINES: usize = 12;

/// Draws the deciding metric over the numeric factor with the most levels, with a line for each
/// combination of the other factors. Returns `None` if there is no such factor or too many lines.
fn over_factor(view: &RunView, gate: &Gate) -> Option<(Markup, String)> {
    let a = &gate.analysis;
    let levels = |f: &String| -> Option<Vec<f64>> {
        let all = view.plan.treatments.iter().map(|t| number(t.levels.get(f)?).map(|n| n.0));
        let mut all: Vec<f64> = all.collect::<Option<_>>()?;
        all.sort_by(f64::total_cmp);
        all.dedup();
        (all.len() >= LEVELS).then_some(all)
    };
    let numeric = view.plan.factors.iter().filter_map(|f| Some((f, levels(f)?)));
    let (factor, xs) = numeric.max_by_key(|(_, xs)| xs.len())?;
    let mut lines: Vec<(String, Vec<PlotPoint>)> = Vec::new();
    let mut unit = "1";
    for s in deciding(a).into_iter().filter(|s| gate.treatment(s.treatment).is_none()) {
        let t = view.plan.treatment(s.treatment)?;
        let (x, x_unit) = number(t.levels.get(factor)?)?;
        unit = x_unit;
        let others = t.levels.iter().filter(|(f, _)| *f != factor);
        let words: Vec<String> = others.map(|(f, v)| format!("{f}={}", v.to_text())).collect();
        let name = if words.is_empty() { a.metric.clone() } else { words.join(", ") };
        let n = count(s.summary.n as usize, "trial");
        let point = PlotPoint {
            x,
            y: centre(s).unwrap_or(f64::NAN),
            low: s.interval().map_or(f64::NAN, |i| i.low),
            high: s.interval().map_or(f64::NAN, |i| i.high),
            label: format!("{name}: {} at {}, {n}", summary_text(s), x_text(x, x_unit)),
        };
        match lines.iter_mut().find(|(known, _)| *known == name) {
            Some((_, points)) => points.push(point),
            None => lines.push((name, vec![point])),
        }
    }
    lines.iter().flat_map(|l| &l.1).find(|p| p.y.is_finite())?;
    if lines.len() > LINES {
        return None;
    }
    let desc: Vec<&str> = lines.iter().flat_map(|l| l.1.iter().map(|p| p.label.as_str())).collect();
    let (low, high) = (xs.first()?, xs.last()?);
    let wide = *low > 0.0 && high / low >= 16.0;
    let title = format!("{} over {factor}", a.metric);
    let head = Head { id: "over-factor".into(), title: title.clone(), desc: desc.join("; ") };
    let series = lines.into_iter().map(|(label, mut points)| {
        points.sort_by(|a, b| a.x.total_cmp(&b.x));
        curve::CurveSeries { label, points, marked: Vec::new() }
    });
    let chart = curve::render(&Curve {
        head,
        x_name: factor.clone(),
        x_unit: unit.to_owned(),
        x_scale: if wide { ScaleKind::Log2 } else { ScaleKind::Linear },
        y_name: a.metric.clone(),
        y_unit: a.unit.clone(),
        y_scale: ScaleKind::Linear,
        better: a.better,
        series: series.collect(),
        verticals: Vec::new(),
        note: format!("bands: {} intervals", percent(a.confidence)),
    });
    Some((chart, format!("{title}: the mean of each treatment's trials.")))
}

/// Converts a level to a number with its unit: a number, or a size such as `16 KiB`.
fn number(level: &Scalar) -> Option<(f64, &'static str)> {
    match level {
        Scalar::Int(i) => Some((*i as f64, "1")),
        Scalar::Float(f) => Some((*f, "1")).filter(|(f, _)| f.is_finite()),
        Scalar::Text(t) => Some((units::parse_bytes(t).ok()? as f64, "B")),
        Scalar::Bool(_) => None,
    }
}

/// Returns vertical lines at the sizes of the data caches, as far as the system's description has
/// them.
fn caches(system: &SystemDescription) -> Vec<Vertical> {
    [("L1d", "cpu.cache.l1d.size"), ("L2", "cpu.cache.l2.size"), ("L3", "cpu.cache.l3.size")]
        .into_iter()
        .filter_map(|(name, path)| {
            // Machines with unlike cores list several sizes; the mark is at the first one.
            let text = system.get(path)?.split(" + ").next()?;
            let bytes = units::parse_bytes(text).ok()?;
            Some(Vertical { x: bytes as f64, label: format!("{name} {text}") })
        })
        .collect()
}

/// Draws the ratio of each treatment to the baseline.
pub fn ratios(view: &RunView, gate: &Gate) -> Option<Markup> {
    let a = &gate.analysis;
    let first = a.comparisons.first()?;
    a.comparisons.iter().find(|c| c.ratio.is_some())?;
    let rows = a.comparisons.iter().map(|c| ratio::RatioRow {
        label: view.label(c.treatment),
        ratio: c.ratio.unwrap_or(f64::NAN),
        low: c.interval.map_or(f64::NAN, |i| i.low),
        high: c.interval.map_or(f64::NAN, |i| i.high),
        verdict: c.verdict.name().to_owned(),
        text: match (c.ratio, c.verdict) {
            (Some(_), _) => ratio_text(c) + ratio_mark(&gate.analysis, c),
            (None, Verdict::Invalid) => "withheld".to_owned(),
            (None, _) => "no ratio".to_owned(),
        },
    });
    let desc: Vec<String> = a.comparisons.iter().map(|c| words::verdict(a, c)).collect();
    let name = format!("{}: ratio to {}", first.metric, view.label(first.baseline));
    Some(ratio::render(&ratio::Ratios {
        head: Head { id: "ratios".into(), title: name.clone(), desc: desc.join(" ") },
        name,
        better: first.better,
        margin: first.margin,
        rows: rows.collect(),
        note: format!("{} intervals", percent(a.confidence)),
    }))
}

/// Draws the mean, the interval and the trials of each treatment.
pub(crate) fn absolutes(view: &RunView, gate: &Gate) -> Option<Markup> {
    let a = &gate.analysis;
    let summaries: Vec<_> =
        deciding(a).into_iter().filter(|s| gate.treatment(s.treatment).is_none()).collect();
    summaries.iter().find(|s| centre(s).is_some())?;
    let href = |number| format!("#trial-{number}");
    let rows = summaries
        .iter()
        .map(|s| absolute_row(view, s, view.label(s.treatment), summary_text(s), &href));
    let desc: Vec<String> = summaries
        .iter()
        .map(|s| format!("{}: {}.", view.label(s.treatment), summary_text(s)))
        .collect();
    Some(absolute::render(&absolute::Absolute {
        head: Head {
            id: "absolute".into(),
            title: format!("{} of each treatment", a.metric),
            desc: desc.join(" "),
        },
        name: a.metric.clone(),
        unit: a.unit.clone(),
        better: a.better,
        rows: rows.collect(),
        note: if summaries.iter().any(|s| s.percentile.is_some()) {
            "● of the trials' merged histograms, small: each trial's own".to_owned()
        } else {
            format!("● mean, bar: {} interval, small: trials", percent(a.confidence))
        },
    }))
}

/// Returns the row of a treatment: mean, interval and trials; `href` returns the link to a trial.
pub(crate) fn absolute_row(
    view: &RunView,
    s: &TreatmentSummary,
    label: String,
    text: String,
    href: &dyn Fn(u32) -> String,
) -> absolute::TreatmentRow {
    let end = |f: fn(Interval) -> f64| s.interval().map_or(f64::NAN, f);
    let dots = view.counted(s.treatment).into_iter().filter_map(|r| {
        let value = r.metric(&s.metric)?;
        let label = format!("trial {}: {}", r.number, value_text(Some(value), &s.unit));
        Some(absolute::Dot { value, label, href: href(r.number) })
    });
    absolute::TreatmentRow {
        label,
        value: centre(s).unwrap_or(f64::NAN),
        low: end(|i| i.low),
        high: end(|i| i.high),
        text,
        dots: dots.collect(),
    }
}

/// Draws the empirical distribution of each treatment's trials: the share at or below each value.
pub fn distribution(view: &RunView, gate: &Gate) -> Option<Markup> {
    /// With fewer trials the distribution of a treatment shows no more than the run order.
    const MIN_TRIALS: usize = 6;
    let a = &gate.analysis;
    let series: Vec<ecdf::EcdfSeries> = view
        .treatments()
        .into_iter()
        .map(|t| ecdf::EcdfSeries {
            label: view.label(t),
            values: view
                .counted(t)
                .into_iter()
                .filter(|r| gate.trial(r).is_none())
                .filter_map(|r| r.metric(&a.metric))
                .collect(),
        })
        .filter(|s| s.values.len() >= MIN_TRIALS)
        .collect();
    let most = series.iter().map(|s| s.values.len()).max()?;
    let chart = ecdf::render(&Ecdf {
        head: Head {
            id: "ecdf".into(),
            title: format!("Distribution of {}", a.metric),
            desc:
                "The share of trials at or below each value: a flat stretch is a gap between two \
                   modes, a long end a tail."
                    .into(),
        },
        name: a.metric.clone(),
        unit: a.unit.clone(),
        better: a.better,
        series,
        note: format!("up to {} a treatment; those that count", count(most, "trial")),
    });
    let caption = "Two modes, tails and outliers show here, which a mean hides.";
    Some(figure(&chart, caption))
}

/// Draws the value of every trial in the order of execution.
pub(crate) fn run_order(view: &RunView, gate: &Gate) -> Option<Markup> {
    let a = &gate.analysis;
    let treatments = view.treatments();
    let dots: Vec<order::Dot> = view
        .records
        .iter()
        .map(|r| {
            let value = r.metric(&a.metric).filter(|_| gate.trial(r).is_none());
            let status = match r.outcome {
                TrialOutcome::Completed if r.warmup => TrialStatus::WarmUp,
                TrialOutcome::Completed => TrialStatus::Counted,
                _ => TrialStatus::Failed,
            };
            let what = if r.outcome == TrialOutcome::Completed {
                value_text(value, &a.unit)
            } else {
                r.outcome.words().to_owned()
            };
            let warmup = if r.warmup { " (warm-up)" } else { "" };
            order::Dot {
                number: r.number,
                value: value.unwrap_or(f64::NAN),
                series: treatments.iter().position(|t| *t == r.treatment).unwrap_or(0),
                status,
                label: format!("trial {}, {}: {what}{warmup}", r.number, view.label(r.treatment)),
                href: format!("#trial-{}", r.number),
            }
        })
        .collect();
    dots.iter().find(|d| d.value.is_finite())?;
    let chart = order::render(&RunOrder {
        head: Head {
            id: "run-order".into(),
            title: format!("{} by trial", a.metric),
            desc:
                "Every trial in the order of execution; a slope is drift of the machine, a step a \
                   change in it."
                    .into(),
        },
        name: a.metric.clone(),
        unit: a.unit.clone(),
        better: a.better,
        series: treatments.iter().map(|t| view.label(*t)).collect(),
        dots,
        note: "hollow: warm-up · ✕ excluded".into(),
    });
    let caption = "Drift, warm-up and stray trials show here; a mark leads to its trial.";
    Some(figure(&chart, caption))
}

/// Draws speedup and efficiency over the scaling factor.
pub(crate) fn scaling(view: &RunView, s: &Scaling) -> Option<Markup> {
    if s.points.len() < 2 {
        return None;
    }
    let points = s.points.iter().map(|p| scaling_chart::SpeedupPoint {
        count: p.count,
        speedup: p.speedup,
        low: p.interval.map_or(f64::NAN, |i| i.low),
        high: p.interval.map_or(f64::NAN, |i| i.high),
        efficiency: p.efficiency,
        label: format!(
            "{} {}: speedup {}, efficiency {}",
            p.count,
            s.factor,
            speedup_text(p),
            percent((p.efficiency * 1000.0).round() / 1000.0)
        ),
    });
    let first = s.points[0].count;
    let last = s.points[s.points.len() - 1].count;
    let models = s.models.iter().map(|m| scaling_chart::Model {
        name: model_name(m),
        points: (0..=32)
            .map(|i| first + (last - first) * f64::from(i) / 32.0)
            .map(|n| (n, throughput(m, n) / throughput(m, first)))
            .collect(),
    });
    Some(scaling_chart::render(&ScalingChart {
        head: Head {
            id: "scaling-chart".into(),
            title: format!("{} over {}", s.metric, s.factor),
            desc: s
                .points
                .iter()
                .map(|p| format!("{}: speedup {}.", p.count, speedup_text(p)))
                .collect::<Vec<_>>()
                .join(" "),
        },
        factor: s.factor.clone(),
        points: points.collect(),
        models: models.collect(),
        note: format!("{} intervals", percent(view.analysis.confidence)),
    }))
}

/// Returns the throughput at `n` by the Universal Scalability Law (Gunther 2007, eq. 4.33);
/// Amdahl's law is the case kappa = 0.
fn throughput(m: &ScalingModel, n: f64) -> f64 {
    m.gamma * n / (1.0 + m.sigma * (n - 1.0) + m.kappa * n * (n - 1.0))
}

/// Returns a time in seconds since the trial began.
pub(crate) fn seconds(record: &TrialRecord, t_ns: u64) -> f64 {
    (t_ns as f64 - record.start_ns as f64) / 1e9
}

/// Returns the phases of a trial for its charts.
pub(crate) fn phases(record: &TrialRecord) -> Vec<PhaseSpan> {
    let ends = record.phases.iter().skip(1).map(|p| p.t_ns).chain([record.end_ns]);
    record
        .phases
        .iter()
        .zip(ends)
        .map(|(p, end)| PhaseSpan {
            name: p.phase.name().to_owned(),
            from_s: seconds(record, p.t_ns).max(0.0),
            to_s: seconds(record, end),
        })
        .collect()
}
