//! The first sentence of a result: the best treatment, and by how much the others differ from it.
//! The terminal, pages, Markdown, lists and previews print the same sentence.

use assay_chart::axes::text::shorten;
use assay_model::{Analysis, Better, Comparison, Verdict, units};

use crate::figures::{count, percent, ratio_mark, ratio_text};
use crate::view::{RunView, analysis_label};

/// Largest number of treatments that are named after the best one.
const NAMED: usize = 4;
/// Differences, as ratios, for which a longer run is proposed: the largest one that this run cannot
/// detect.
const TARGETS: [f64; 6] = [1.05, 1.02, 1.01, 1.005, 1.002, 1.001];
/// Maximum length of a name in characters.
const LONGEST: usize = 36;
/// The metric whose ratio is phrased as time ("takes 2.6× as long").
const TIME: &str = "elapsed";

/// Returns the sentence, or `None` if no comparison with the best treatment counts.
pub fn headline(a: &Analysis) -> Option<String> {
    if let Some(suite) = crate::parts::benchmarks::sentence(a) {
        return Some(suite);
    }
    let all: Vec<&Comparison> = a.ranking.iter().filter(|c| c.ratio.is_some()).collect();
    let (clear, open): (Vec<&Comparison>, Vec<&Comparison>) =
        all.iter().partition(|c| c.verdict == Verdict::Worse);
    let best = plain(&analysis_label(a, all.first()?.baseline));
    let label = |c: &Comparison| plain(&analysis_label(a, c.treatment));
    // `-9` after `xz -0` would not be that of zstd: words are left out if all labels begin alike.
    let first_word = |label: &str| label.split(' ').next().map(str::to_owned);
    let alike = all.iter().all(|c| first_word(&label(c)) == first_word(&best));
    let name = |c: &Comparison| {
        let label = label(c);
        if alike { short(&label, &best) } else { shorten(&label, LONGEST, "…") }
    };
    let first_name = shorten(&best, LONGEST, "…");
    let mut text = match open.as_slice() {
        [] => format!("{first_name} {}", superlative(a, all.len() == 1)),
        [c] => format!("{first_name} and {} {}", name(c), undecided(a, c)),
        _ => {
            let some = listed(&open, name);
            format!("{first_name} is not clearly different from {some}")
        }
    };
    for (i, c) in clear.iter().take(NAMED).enumerate() {
        let (before, verb, unit) = match (i, a.metric == TIME) {
            (0, true) => ("; ", " takes ", "× as long "),
            (0, false) => ("; ", " has ", "× that "),
            _ => (", ", " ", "× "),
        };
        let ratio = ratio_text(c).replacen(' ', unit, 1);
        let mark = ratio_mark(a, c);
        text.extend([before, &name(c), verb, &ratio, mark]);
    }
    if clear.len() > NAMED {
        text.extend([", and ", &(clear.len() - NAMED).to_string(), " more"]);
    }
    Some(text + ".")
}

/// Proposes a longer run that would decide, if the best two treatments cannot be told apart. `a` is
/// the run's analysis without the withheld numbers.
pub fn needed(view: &RunView, a: &Analysis) -> Option<String> {
    let c = a.ranking.iter().find(|c| c.verdict == Verdict::Inconclusive)?;
    let (interval, detectable) = (c.interval?, c.detectable?);
    let apart = format!("At most {} apart", limit(interval.high.max(1.0 / interval.low)));
    let target = match c.margin {
        Some(margin) => 1.0 + margin,
        None => TARGETS.into_iter().find(|t| *t < detectable)?,
    };
    let blocks = (f64::from(c.n) * (detectable.ln() / target.ln()).powi(2)).ceil();
    let each = block_s(view)?;
    if view.imported().is_some() || blocks > 1e5 || blocks <= f64::from(c.n) {
        return Some(format!("{apart}."));
    }
    let seconds = (each * blocks).max(1.0);
    let time = if seconds < 60.0 {
        format!("{seconds:.0} s")
    } else {
        units::format_duration(std::time::Duration::from_secs_f64(seconds))
    };
    Some(format!(
        "{apart}; to see {}: {}, about {} (`assay run --again {} --blocks {blocks}`).",
        percent(target - 1.0),
        count(blocks as usize, "block"),
        time,
        view.summary.id,
    ))
}

/// Formats the largest ratio of an interval, rounded up: `12 %`, `0.4 %`, `a factor of 4.5`.
fn limit(ratio: f64) -> String {
    // A ratio such as 1.12 is not exact in binary.
    let up = |value: f64, step: f64| (value * step - 1e-6).ceil() / step;
    match ratio {
        ..1.1 => percent(up(ratio - 1.0, 1000.0)),
        ..2.0 => percent(up(ratio - 1.0, 100.0)),
        _ => format!("a factor of {:.1}", up(ratio, 10.0)),
    }
}

/// Returns the mean duration of a block in seconds, including the time between its trials but not
/// builds.
pub fn block_s(view: &RunView) -> Option<f64> {
    let began = view.records.iter().map(|r| r.start_ns).min()?;
    let ended = view.records.iter().map(|r| r.end_ns).max()?;
    let blocks = f64::from(view.records.iter().map(|r| r.block).max()?) + 1.0;
    let each = ended.saturating_sub(began) as f64 / 1e9 / blocks;
    (each > 0.0).then_some(each)
}

/// Returns a label without the leading words that it shares with the label of the best treatment.
fn short(label: &str, best: &str) -> String {
    let (words, best): (Vec<&str>, Vec<&str>) =
        (label.split(' ').collect(), best.split(' ').collect());
    let first = words.iter().zip(&best).take_while(|(a, b)| a == b).count();
    let apart = first < words.len().min(best.len()) && !label.contains(['"', '\'', '\\', ',']);
    shorten(&words[if apart { first } else { 0 }..].join(" "), LONGEST, "…")
}

/// Returns a command's label as it was typed: without the factor's name and a trailing ellipsis.
fn plain(label: &str) -> String {
    label.strip_prefix("command=").unwrap_or(label).trim_end_matches(" …").to_owned()
}

fn listed(all: &[&Comparison], name: impl Fn(&Comparison) -> String) -> String {
    let mut names: Vec<String> = all.iter().take(NAMED).map(|c| name(c)).collect();
    if all.len() > NAMED {
        names.push(format!("{} more", all.len() - NAMED));
    }
    let last = names.pop().unwrap_or_default();
    if names.is_empty() { last } else { format!("{} and {last}", names.join(", ")) }
}

fn superlative(a: &Analysis, of_two: bool) -> String {
    let metric = &a.metric;
    match (a.metric == TIME, a.better, of_two) {
        (true, _, true) => "is faster".to_owned(),
        (true, _, false) => "is fastest".to_owned(),
        (_, Better::Higher, true) => format!("has the higher {metric}"),
        (_, Better::Higher, false) => format!("has the highest {metric}"),
        (_, _, true) => format!("has the lower {metric}"),
        (_, _, false) => format!("has the lowest {metric}"),
    }
}

fn undecided(a: &Analysis, c: &Comparison) -> String {
    let ratio = ratio_text(c).replacen(' ', "× ", 1);
    let of = if a.metric == TIME { String::new() } else { format!(" in {}", a.metric) };
    match (c.verdict, c.margin) {
        (Verdict::Equivalent, Some(margin)) => {
            format!("are equivalent{of} within {}: {ratio}", percent(margin))
        }
        _ => format!("are not clearly different{of}: {ratio}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixtures;

    fn analysis(ratios: &[(f64, f64, f64, Verdict)]) -> Analysis {
        let mut a = fixtures::commands().analysis;
        let model = a.ranking[0].clone();
        let labels = ["command=gzip -1 …", "command=gzip -6 …", "command=gzip -9 …", "command=xz"];
        let first = a.summaries[0].clone();
        a.summaries = labels
            .iter()
            .enumerate()
            .map(|(i, label)| assay_model::TreatmentSummary {
                treatment: i as u32,
                label: (*label).to_owned(),
                ..first.clone()
            })
            .collect();
        let ranked = ratios.iter().enumerate().map(|(i, (ratio, low, high, verdict))| Comparison {
            baseline: 0,
            treatment: i as u32 + 1,
            ratio: Some(*ratio),
            interval: Some(assay_model::Interval { low: *low, high: *high, level: 0.95 }),
            verdict: *verdict,
            margin: None,
            ..model.clone()
        });
        a.ranking = ranked.collect();
        a
    }

    #[test]
    fn the_best_is_named_first_and_the_others_by_what_differs() {
        let (slow, slower) = ((2.6, 2.1, 3.2, Verdict::Worse), (3.5, 2.9, 4.3, Verdict::Worse));
        let open = (1.02, 0.97, 1.07, Verdict::Inconclusive);
        let say = |ratios: &[_]| headline(&analysis(ratios)).unwrap();
        assert_eq!(say(&[slow]), "gzip -1 is faster; -6 takes 2.60× as long [2.10, 3.20].");
        assert_eq!(
            say(&[slow, slower]),
            "gzip -1 is fastest; -6 takes 2.60× as long [2.10, 3.20], -9 3.50× [2.90, 4.30]."
        );
        assert_eq!(say(&[open]), "gzip -1 and -6 are not clearly different: 1.02× [0.97, 1.07].");
        assert_eq!(
            say(&[open, slower]),
            "gzip -1 and -6 are not clearly different: 1.02× [0.97, 1.07]; -9 takes 3.50× as long \
            [2.90, 4.30]."
        );
        assert_eq!(
            say(&[open, open, slower]),
            "gzip -1 is not clearly different from gzip -6 and gzip -9; xz takes 3.50× as long \
            [2.90, 4.30]."
        );
        let mut rate = analysis(&[(0.5, 0.4, 0.6, Verdict::Worse)]);
        (rate.metric, rate.better) = ("throughput".into(), Better::Higher);
        let text = "gzip -1 has the higher throughput; -6 has 0.50× that [0.40, 0.60].";
        assert_eq!(headline(&rate).unwrap(), text);
    }

    #[test]
    fn names_are_cut_only_where_words_can_be_told_apart() {
        let mut a = analysis(&[(2.0, 1.5, 2.5, Verdict::Worse)]);
        for (best, other, says) in [
            ("true", "true --x", "true is faster; true --x takes"),
            ("a 1 f", "a 2 f", "a 1 f is faster; 2 f takes"),
            ("sh -c 'a b'", "sh -c 'a b; a b'", "sh -c 'a b' is faster; sh -c 'a b; a b' takes"),
            ("size=1", "size=2", "size=1 is faster; size=2 takes"),
        ] {
            (a.summaries[0].label, a.summaries[1].label) = (best.into(), other.into());
            assert!(headline(&a).unwrap().starts_with(says), "{:?}", headline(&a));
        }
        a.summaries[1].label = "word ".repeat(40);
        assert!(headline(&a).unwrap().chars().count() < 100);
    }

    #[test]
    fn what_would_decide_is_proposed_where_nothing_is_clear() {
        let mut view = fixtures::commands();
        view.analysis = analysis(&[(1.02, 0.92, 1.12, Verdict::Inconclusive)]);
        view.analysis.ranking[0].detectable = Some(1.2);
        view.analysis.ranking[0].n = 10;
        let text = needed(&view, &view.analysis).unwrap();
        assert!(text.starts_with("At most 12 % apart; to see 5 %: 140 blocks, about "), "{text}");
        assert!(text.contains(&format!("`assay run --again {} --blocks 140`", view.summary.id)));
        let limits = [1.0051, 1.084, 1.6107, 4.4993].map(limit);
        assert_eq!(limits, ["0.6 %", "8.4 %", "62 %", "a factor of 4.5"]);
        view.analysis.ranking[0].verdict = Verdict::Worse;
        assert_eq!(needed(&view, &view.analysis), None);
    }
}
