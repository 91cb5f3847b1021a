//! What differs along with a metric, in a terminal.

use assay_model::Explanation;

use super::Style;
use super::table::{Table, cell};
use super::writer::{Paint, Writer};
use crate::explained::{interval, name, points, value};
use crate::figures::ratio_text;

/// So many observations are listed; all of them are in the JSON.
const SHOWN: usize = 20;

/// The metric, what differs along with it, and what must be known about that.
pub fn explain(e: &Explanation, style: Style) -> String {
    let mut w = Writer::new(style);
    let title = format!("{}: {} against {}", e.comparison.metric, e.treatment, e.baseline);
    w.wrapped(0, &title, Paint::Strong);
    let mut pairs = vec![
        ("ratio", ratio_text(&e.comparison)),
        ("verdict", e.comparison.verdict.name().to_owned()),
    ];
    if let Some(change) = e.time_change {
        let text = format!("{} of the baseline's time for the same work", points(change));
        pairs.push(("change", text));
    }
    w.pairs(&pairs);
    w.blank();
    let clear = e.observations.iter().filter(|o| o.change.clear()).count();
    let heading = match clear {
        0 => "no observation differs clearly; those that stand out most:".to_owned(),
        1 => "1 observation differs clearly:".to_owned(),
        n => format!("{n} observations differ clearly:"),
    };
    w.wrapped(0, &heading, Paint::Strong);
    w.blank();
    let mut table = Table::default()
        .label("observation")
        .number("baseline")
        .number("treatment")
        .number("% of time")
        .number("interval");
    let many = if clear == 0 { 5 } else { clear.min(SHOWN) };
    for o in e.observations.iter().take(many) {
        let time = o.of_time.map_or_else(|| "-".to_owned(), |t| points(t.difference));
        table.row(vec![
            cell(name(o)),
            cell(value(o.baseline, &o.unit)),
            cell(value(o.treatment, &o.unit)),
            cell(time),
            cell(interval(o)),
        ]);
    }
    w.raw(&table.render(style));
    if clear > SHOWN {
        w.wrapped(2, &format!("and {} more: --json lists all", clear - SHOWN), Paint::Soft);
    }
    w.blank();
    w.wrapped(2, "interval: of the difference by block, as a share of time where there is one, else in the unit", Paint::Soft);
    if let Some(account) = &e.account {
        let parts: Vec<String> =
            account.parts.iter().map(|(name, d)| format!("{name} {}", points(*d))).collect();
        let text =
            format!("of the CPUs' time: {}; together {}", parts.join(", "), points(account.sum));
        w.wrapped(2, &text, Paint::Soft);
    }
    if e.unchanged > 0 {
        let text = format!("{} more were the same in every trial", e.unchanged);
        w.wrapped(2, &text, Paint::Soft);
    }
    for note in &e.notes {
        w.wrapped(2, note, Paint::Soft);
    }
    w.finish()
}

#[cfg(test)]
mod tests {
    use assay_model::{Account, Better, Change, Comparison, Interval, Method, Observed, Verdict};

    use super::*;

    fn observed(source: &str, unit: &str, by: f64, time: bool) -> Observed {
        let interval = |by: f64| Interval { low: by * 0.9, high: by * 1.1, level: 0.95 };
        let change = |by: f64| Change { difference: by, interval: Some(interval(by)), n: 6 };
        Observed {
            source: source.into(),
            subject: "all".into(),
            name: "user".into(),
            unit: unit.into(),
            baseline: 40.0,
            treatment: 40.0 + by,
            change: change(by),
            of_time: time.then(|| change(by / 100.0)),
            standard_errors: Some(20.0),
        }
    }

    fn made_up(observations: Vec<Observed>) -> Explanation {
        Explanation {
            baseline: "controls.pages=4KiB".into(),
            treatment: "controls.pages=madvise".into(),
            comparison: Comparison {
                metric: "elapsed".into(),
                unit: "s".into(),
                better: Better::Lower,
                baseline: 0,
                treatment: 1,
                n: 6,
                ratio: Some(0.971),
                interval: Some(Interval { low: 0.96, high: 0.98, level: 0.95 }),
                method: Method::PairedT,
                twin: None,
                twin_method: Method::SignedRank,
                detectable: None,
                margin: None,
                verdict: Verdict::Better,
                reason: String::new(),
            },
            time_change: Some(-0.029),
            account: Some(Account::of([("user", 0.4, 0.3711), ("system", 0.1, 0.1)])),
            observations,
            unchanged: 3,
            notes: vec!["a note".into()],
        }
    }

    #[test]
    fn it_fits_and_says_what_is_clear() {
        let e = made_up(vec![
            observed("cpu", "%", -2.89, true),
            observed("switches", "1/s", 120.0, false),
        ]);
        for width in [80, 60, 40] {
            let text = explain(&e, Style { width, ..Style::default() });
            assert!(text.lines().all(|l| l.chars().count() <= width), "{width}:\n{text}");
            assert!(text.contains("-2.89 %") && text.contains("-2.90 %"), "{text}");
            assert!(text.contains("2 observations differ clearly"), "{text}");
        }
        let mut dull = observed("cpu", "%", 0.1, true);
        dull.change.interval = None;
        let text = explain(&made_up(vec![dull]), Style::default());
        assert!(text.contains("no observation differs clearly"), "{text}");
    }
}
