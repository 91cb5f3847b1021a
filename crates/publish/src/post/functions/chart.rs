//! `chart`: bars of results, lines of observations in sequence, curves of a run.

use std::fmt::Write as _;

use assay_chart::Head;
use assay_chart::bars::{self, Bar, Bars};
use assay_chart::lines::{self, LineChart, LineSeries};
use assay_model::{CurveSummary, MetricKind};
use assay_quoted::denominator::{Basis, SystemResult};
use maud::html;

use super::phrase;
use super::rank::load;
use super::table::amounts;
use super::value::basis;
use crate::post::arguments::Arguments;
use crate::post::document::{PostBlock, chart as laid};
use crate::post::error::{Result, suggestion};
use crate::post::evaluator::{CallResult, Evaluator};
use assay_report::parts::draw;

/// Largest number of bars in a chart.
const BARS: usize = 24;

/// Draws a chart of the kind that the call names.
pub(super) fn chart<'a>(e: &mut Evaluator<'a>, a: &Arguments<'a>) -> Result<CallResult> {
    const KINDS: &[&str] = &["bars", "lines", "curve"];
    let made = match a.text("kind")?.unwrap_or("") {
        "bars" => bars(e, a)?,
        "lines" => lines(e, a)?,
        "curve" => curve(e, a)?,
        other => {
            let message = format!("there is no chart `{other}`");
            return Err(a.error("kind", message, suggestion(other, KINDS)));
        }
    };
    Ok(CallResult::Block(made))
}

fn id(e: &Evaluator<'_>) -> String {
    format!("chart-{}", e.blocks.len() + 1)
}

/// Returns the typed title, with marks at quantities.
fn title(e: &mut Evaluator<'_>, a: &Arguments<'_>) -> Result<Option<String>> {
    e.typed_argument(a, "title", "title of a chart")
}

/// Returns the typed names of bars and lines, with marks at quantities.
fn renamed(e: &mut Evaluator<'_>, a: &Arguments<'_>) -> Result<Vec<String>> {
    let names = a.texts("names")?.into_iter();
    Ok(names.map(|(name, span)| e.typed_text(name, "name in a chart", Some(span))).collect())
}

/// Returns a typed name with the real one in parentheses.
fn label(name: Option<&String>, own: &str) -> String {
    match name {
        Some(name) if name != own => format!("{name} ({own})"),
        _ => own.to_owned(),
    }
}

/// Returns the block in place of a chart whose results are all withheld: it states the reason.
fn nothing(title: &str, why: &str) -> PostBlock {
    let words = format!("Nothing is drawn, every result is withheld: {why}");
    laid(html! { p { (words) } }, title, words)
}

fn bars<'a>(e: &mut Evaluator<'a>, a: &Arguments<'a>) -> Result<PostBlock> {
    let basis = basis(a)?;
    let mut withheld: Vec<String> = Vec::new();
    let (entries, name): (Vec<SystemResult>, String) = if a.get("of").is_some() {
        let all = amounts(e, a)?;
        if let Some(other) = all.iter().find(|x| x.entry.value.unit != all[0].entry.value.unit) {
            let message = format!(
                "{} and {} cannot share an axis",
                all[0].entry.value.unit, other.entry.value.unit
            );
            return Err(a.error("of", message, "draw two charts"));
        }
        let name = all[0].metric.clone();
        withheld.extend(all.iter().filter_map(|x| x.withheld.clone()));
        let shown: Vec<SystemResult> =
            all.into_iter().filter(|x| x.withheld.is_none()).map(|x| x.entry).collect();
        if let (true, Some(why)) = (shown.is_empty(), withheld.first()) {
            let title = title(e, a)?;
            return Ok(nothing(title.as_ref().unwrap_or(&name), why));
        }
        (shown, name)
    } else {
        let landscape = load(e, a, "landscape", basis)?;
        // Results of different questions share no axis: those of the first question are drawn, and
        // the caption names it.
        let tables = landscape.tables();
        let (question, lines) = tables.first().map_or(("", &[][..]), |(q, l)| (*q, l.as_slice()));
        let name = if tables.len() > 1 {
            question.to_owned()
        } else {
            landscape.metrics.first().cloned().unwrap_or_default()
        };
        (lines.iter().filter_map(|l| l.entry.clone()).collect(), name)
    };
    let names = renamed(e, a)?;
    let made: Vec<Bar> = entries
        .iter()
        .enumerate()
        .filter_map(|(i, entry)| {
            let q = entry.quantity(basis)?;
            let end = |f: fn(assay_model::Interval) -> f64| {
                q.interval.filter(|i| i.low < i.high).map_or(f64::NAN, f)
            };
            Some(Bar {
                label: label(names.get(i), &entry.label),
                value: q.value,
                low: end(|i| i.low),
                high: end(|i| i.high),
                text: if q.kind == MetricKind::Measured
                    || assay_model::units::scale_of(q.value, &q.unit).1 != q.unit
                {
                    assay_report::figures::with_interval(q.value, q.interval, &q.unit)
                } else {
                    q.text()
                },
                reference: false,
                quoted: q.from_quoted(),
            })
        })
        .take(BARS)
        .collect();
    let Some(first) = entries.iter().find_map(|x| x.quantity(basis)) else {
        return Err(a.error("per", format!("no result has a value {basis}"), ""));
    };
    let kinds = kinds(&entries);
    let title = title(e, a)?.unwrap_or_else(|| {
        if basis == Basis::Total { name.clone() } else { format!("{name} {basis}") }
    });
    let words = made.iter().map(|b| {
        let has_unit = b.text.contains(' ');
        let text = if has_unit { b.text.clone() } else { phrase::with_unit(&b.text, &first.unit) };
        format!("{}: {text}", b.label)
    });
    let words = words.collect::<Vec<_>>().join("; ");
    let left = entries.iter().filter(|x| x.quantity(basis).is_none()).count();
    let mut caption = format!("{title}; {kinds}");
    if a.get("of").is_none() && title != name {
        let _ = write!(caption, "; {name}");
    }
    if left > 0 {
        let _ = write!(caption, "; {left} without a recorded value are not drawn");
    }
    if let Some(why) = withheld.first() {
        let _ = write!(caption, "; {} withheld: {why}", withheld.len());
    }
    let markup = bars::render(&Bars {
        head: Head { id: id(e), title, desc: format!("{words}.") },
        name,
        unit: first.unit,
        better: entries[0].better,
        bars: made,
        note: String::new(),
    });
    Ok(laid(markup, &caption, words))
}

fn kinds(entries: &[SystemResult]) -> &'static str {
    let quoted = entries.iter().any(|x| x.value.from_quoted());
    let measured = entries.iter().any(|x| !x.value.from_quoted());
    match (quoted, measured) {
        (true, true) => "quoted numbers (hatched) with measured ones",
        (true, false) => "quoted numbers",
        _ => "measured here",
    }
}

/// Draws observations in sequence: each pattern is a line with its results in the order of their
/// file.
fn lines<'a>(e: &mut Evaluator<'a>, a: &Arguments<'a>) -> Result<PostBlock> {
    let names = renamed(e, a)?;
    let mut series = Vec::new();
    let mut words = Vec::new();
    let mut unit: Option<String> = None;
    let mut metric = String::new();
    for (i, (pattern, span)) in a.texts("of")?.into_iter().enumerate() {
        let rows = e.library.fitting(pattern);
        let Some(first) = rows.first() else {
            return Err(e.text.error(span, format!("no result's id fits `{pattern}`"), ""));
        };
        let row = e.library.result(*first);
        if unit.as_ref().is_some_and(|u| *u != row.unit) {
            let message =
                format!("{} and {} cannot share an axis", unit.unwrap_or_default(), row.unit);
            return Err(e.text.error(span, message, "draw two charts"));
        }
        unit = Some(row.unit.clone());
        metric.clone_from(&row.metric);
        let label = match names.get(i) {
            Some(_) => label(names.get(i), pattern),
            None => row.metric.clone(),
        };
        let values: Vec<f64> = rows.iter().map(|at| e.quoted(*at).entry.value.value).collect();
        let texts: Vec<String> = values.iter().map(|v| phrase::plain(*v, None)).collect();
        words.push(format!("{label}: {}", texts.join(", ")));
        series.push(LineSeries {
            label,
            points: values.into_iter().enumerate().map(|(x, y)| (x as f64, y)).collect(),
        });
    }
    let Some(unit) = unit else { return Err(a.error("of", "`chart` of lines needs `of`", "")) };
    let title = title(e, a)?.unwrap_or(metric);
    let words = words.join("; ");
    let markup = lines::render(&LineChart {
        head: Head { id: id(e), title: title.clone(), desc: format!("{words}.") },
        name: title.clone(),
        unit,
        series,
        phases: Vec::new(),
        note: String::new(),
    });
    Ok(laid(markup, &format!("{title}; quoted numbers"), words))
}

/// Draws the curves that a run measured. If it measured none, draws those that it estimated or
/// derived, and states that in the caption.
fn curve<'a>(e: &mut Evaluator<'a>, a: &Arguments<'a>) -> Result<PostBlock> {
    let Some(alias) = a.text("run")? else {
        let help = "for example `chart(\"curve\", run=\"sweep\")`";
        return Err(a.error("run", "`chart` of a curve needs a run", help));
    };
    let view = e.view(alias, a.span_of("run"))?;
    let title = title(e, a)?.unwrap_or_else(|| view.title().to_owned());
    let analysis = &e.gates[alias].analysis;
    let drawn = || analysis.curves.iter().filter(|c| !c.points.is_empty());
    let first = drawn().find(|c| c.kind == MetricKind::Measured).or_else(|| drawn().next());
    let one: Vec<&CurveSummary> =
        first.map(|first| drawn().filter(|c| c.name == first.name).collect()).unwrap_or_default();
    e.shown.entry(alias.to_owned()).or_default().extend(one.iter().map(|c| c.treatment));
    let how = first.map_or_else(String::new, |c| format!("{:?}", c.kind).to_lowercase());
    let Some(markup) = draw::curves(view, &id(e), &title, &one) else {
        if let Some(why) =
            e.gates[alias].withheld.first().filter(|_| !view.analysis.curves.is_empty())
        {
            return Ok(nothing(&title, &why.reason()));
        }
        let message = format!("run {} has no curve that may be shown", view.summary.id);
        return Err(a.error("run", message, ""));
    };
    let words = one
        .iter()
        .filter_map(|c| {
            let best = c.best.as_ref()?;
            Some(format!(
                "{}: best {} at {}",
                view.label(c.treatment),
                assay_report::figures::point_text(c, best, None),
                assay_report::figures::x_text(best.x, &c.x_unit)
            ))
        })
        .collect::<Vec<_>>()
        .join("; ");
    Ok(laid(markup, &format!("{title}; {how} in run {}", view.summary.id), words))
}
