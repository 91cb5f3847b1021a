//! Sentences made from the numbers: the result of a comparison, and the method. The terminal,
//! Markdown and the page use the same ones.

use std::time::Duration;

use assay_model::{Analysis, Comparison, Guest, KnownFloor, Method, Order, Stop, Verdict, units};

use crate::figures::{EMULATED, count, percent, ratio_in_a_sentence, ratio_mark};
use crate::view::{RunView, analysis_label};

/// Explanation of smoothness for a reader; `assay-stats` computes it.
pub const SMOOTHNESS: &str = "Smoothness is 1 less the typical distance of a point from the trend \
     of its neighbours (in logarithms of size and value, the cubic through two neighbours on each \
     side), with the noise between trials taken out: at 0.95 a typical point lies 5 % off that \
     trend.";

/// Explanation of percentiles for a reader.
pub(crate) const PERCENTILES: &str = "A percentile of a treatment is read from the histograms of \
     its trials added together, never averaged over trials, and given only with ten samples beyond \
     it; a ratio of percentiles is of each trial's own, paired as any other metric.";

/// Explains the most efficient size (or other x) to a reader; `assay-stats` chooses it.
pub fn efficient(x: &str, judged: &str) -> String {
    format!(
        "The most efficient {x} is the smallest whose value, {judged}, is within 2 % of the best."
    )
}

/// Explains the smoothness of a curve over x.
pub fn smoothness(x: &str) -> String {
    SMOOTHNESS.replace("of size and value", &format!("of {x} and value"))
}

/// Replaces control characters, most of which HTML cannot contain.
pub fn visible(text: &str) -> String {
    let shown = |c: char| if c.is_control() && c != '\n' && c != '\t' { '\u{FFFD}' } else { c };
    text.chars().map(shown).collect()
}

/// States that all numbers of a run come from a virtual machine, if they do.
pub fn guest(guest: Option<Guest>) -> Option<String> {
    let numbers = "Every number is of trials in a virtual machine";
    match guest? {
        Guest::Virtual => Some(format!("{numbers}.")),
        Guest::Emulated => Some(format!("{numbers}: {EMULATED}.")),
    }
}

/// States the profile in which a run was checked, and how the other profile differs; `None` if it
/// was not checked.
pub fn profile(analysis: &Analysis) -> Option<&'static str> {
    match analysis.checks.profile.as_str() {
        "publish" => Some(
            "Checked in the profile `publish`, in which some findings are more severe than in \
             `lab`, the profile of the terminal, and missing data is a finding.",
        ),
        "lab" => Some(
            "Checked in the profile `lab`; in `publish`, the profile of pages for others, some \
             findings are more severe, and missing data is a finding.",
        ),
        _ => None,
    }
}

/// States how many checks could not be made, in one line; `None` if all could, or if none was
/// tried.
pub fn unchecked(analysis: &Analysis) -> Option<String> {
    let all = &analysis.checks.cannot_check;
    let names: Vec<String> = all.iter().map(|c| format!("{} {}", c.id, c.name)).collect();
    let (n, names) = (count(all.len(), "check"), names.join(", "));
    let why = "could not be made, because the run does not record their evidence";
    (!all.is_empty()).then(|| format!("{n} {why}: {names}."))
}

/// States the result of a comparison in a sentence that names the metric, both treatments, the
/// ratio, its interval, n and the verdict; never a bare "faster".
pub fn verdict(analysis: &Analysis, comparison: &Comparison) -> String {
    let treatment = analysis_label(analysis, comparison.treatment);
    let baseline = analysis_label(analysis, comparison.baseline);
    let metric = &comparison.metric;
    let why = comparison.reason.trim().trim_end_matches('.');
    if comparison.verdict == Verdict::Invalid {
        let why = why.strip_prefix("withheld: ").unwrap_or(why);
        return format!("{metric} of {treatment} against {baseline} is withheld: {why}.");
    }
    if comparison.ratio.is_none() {
        return format!("{metric} of {treatment} against {baseline} has no ratio: {why}.");
    }
    let direction = analysis_direction(comparison);
    let pairs = count(comparison.n as usize, pair_word(comparison.method));
    let number = ratio_in_a_sentence(comparison);
    let lead = match comparison.verdict {
        Verdict::Inconclusive => {
            format!(
                "Inconclusive: the measured {metric} of {treatment} is {number} times that \
                of {baseline}"
            )
        }
        Verdict::Equivalent => {
            let margin = comparison.margin.map(percent).unwrap_or_default();
            let within =
                if margin.is_empty() { String::new() } else { format!(" within {margin}") };
            format!(
                "{metric} of {treatment} is equivalent{within} to that of {baseline}: \
                {number} times"
            )
        }
        _ => format!(
            "{metric} of {treatment} is {number} times that of {baseline}, which is {}",
            comparison.verdict.name()
        ),
    };
    let doubt = ratio_mark(analysis, comparison);
    format!("{lead} ({pairs}{direction}){doubt}.")
}

/// States the baseline of a comparison, and the number of pairs or trials behind its interval.
pub(crate) fn compared_with(analysis: &Analysis, comparison: &Comparison) -> String {
    let baseline = analysis_label(analysis, comparison.baseline);
    let pairs = count(comparison.n as usize, pair_word(comparison.method));
    format!("Against {baseline} ({pairs}{}).", analysis_direction(comparison))
}

fn analysis_direction(comparison: &Comparison) -> String {
    let words = comparison.better.words();
    if words.is_empty() { String::new() } else { format!("; {words}") }
}

fn pair_word(method: Method) -> &'static str {
    match method {
        Method::PairedT | Method::SignedRank => "pair",
        Method::Welch | Method::RankSum | Method::OneSampleT => "trial",
    }
}

/// Note about A/A floors in a comparison of runs.
pub(crate) const FLOOR_ACROSS: &str =
    "A floor is of trials interleaved in one run; runs at different times differ by more.";

/// States the known A/A floor in a sentence without its full stop.
pub fn floor(known: &KnownFloor) -> String {
    let found = &known.found;
    let differs = match known.differs.as_slice() {
        [] => String::new(),
        differs => format!("; that run differs from this one in {}", differs.join(", ")),
    };
    format!(
        "95 of 100 comparisons of identical treatments differ by less than {} on this machine (A/A \
         floor of {} comparisons in {} blocks each, run {}, {} before this run){differs}",
        percent(found.floor),
        found.comparisons,
        found.blocks_each,
        found.run,
        Duration::try_from_secs_f64(known.age_s)
            .map_or("an unknown time".to_owned(), units::format_duration)
    )
}

/// Returns the common name of a comparison method.
pub(crate) fn method_name(method: Method) -> &'static str {
    match method {
        Method::PairedT => "Student's t on the log ratios of paired blocks",
        Method::SignedRank => {
            "the exact signed-rank interval of the log ratios of paired blocks (Walsh averages)"
        }
        Method::Welch => "Welch's t on the logs of two independent samples",
        Method::RankSum => "the exact rank-sum interval of the shift of logs (Hodges-Lehmann)",
        Method::OneSampleT => "Student's t on the logs of one sample",
    }
}

/// Describes how the numbers were obtained, in one or two plain sentences for each item: design,
/// order, the trials that count, statistics, stop rule.
pub fn method(view: &RunView) -> Vec<String> {
    if let Some((tool, files)) = view.imported() {
        return imported(view, &tool, files);
    }
    let mut out = vec![design(view), order(view)];
    let warmups = view.plan.trials.iter().filter(|t| t.warmup).count();
    if warmups > 0 {
        out.push(format!(
            "{} at the start {} warm-up: run and recorded, never compared.",
            count(warmups, "trial"),
            if warmups == 1 { "is a" } else { "are" }
        ));
    }
    out.push(
        "The trial is the unit of replication: each ran in fresh processes, and samples within a \
         trial never add to n."
            .to_owned(),
    );
    out.push(statistics(view));
    out.push(stop(view));
    out.push(tally(view));
    out
}

/// Describes the method for numbers that assay did not measure.
fn imported(view: &RunView, tool: &str, files: &[assay_model::ImportedFile]) -> Vec<String> {
    let files: Vec<String> =
        files.iter().map(|f| format!("{} (SHA-256 {})", f.name, f.sha256)).collect();
    let counted = view.records.iter().filter(|r| r.counts()).count();
    vec![
        format!(
            "The trials were measured by {tool} and imported from {}; assay ran none of them.",
            files.join(", ")
        ),
        "The order of the trials is not known: they are not paired, and drift of the machine may \
         fall on the treatments unequally."
            .to_owned(),
        "The trial is the unit of replication; samples within a trial never add to n.".to_owned(),
        statistics(view),
        format!("{counted} of {} are valid.", count(view.records.len(), "imported trial")),
    ]
}

/// States how many trials were planned, were started and count.
fn tally(view: &RunView) -> String {
    let planned = view.plan.trials.len();
    let started = view.records.len();
    let counted = view.records.iter().filter(|r| r.counts()).count();
    if counted == planned {
        return format!("All {} are valid.", count(planned, "planned trial"));
    }
    format!(
        "Of {} {started} were started and {counted} are valid; the others are listed with their \
         outcome under Disclosure.",
        count(planned, "planned trial"),
    )
}

fn design(view: &RunView) -> String {
    let treatments = view.plan.treatments.len();
    let blocks = view.plan.trials.iter().map(|t| t.block).max().map_or(0, |b| b as usize + 1);
    if treatments == 1 {
        return format!(
            "One treatment of the workload {} was repeated in {}.",
            view.plan.workload.name,
            count(view.plan.trials.len(), "trial")
        );
    }
    let factors = view.plan.factors.join(", ");
    format!(
        "The workload {} ran under {} ({factors}), arranged in {} that each hold one trial of \
         every treatment{}.",
        view.plan.workload.name,
        count(treatments, "treatment"),
        count(blocks, "block"),
        if view.experiment.design.group_by.is_some() { " of their group" } else { "" },
    )
}

fn order(view: &RunView) -> String {
    if view.plan.treatments.len() == 1 {
        return format!("The seed handed to the trials is {}.", view.plan.seed);
    }
    let order = match view.experiment.design.order {
        Order::Random => format!(
            "Within each block the order was shuffled with the seed {}, so that drift of the \
             machine falls on all treatments alike.",
            view.plan.seed
        ),
        Order::Abba => "The order alternated forth and back from block to block (ABBA), so that a \
                        linear drift of the machine cancels."
            .to_owned(),
        Order::Sequential => "Every block had the same order; drift within a block is confounded \
                              with the treatment."
            .to_owned(),
        Order::Unknown => "The order of the trials is not known.".to_owned(),
    };
    match &view.experiment.design.group_by {
        Some(factor) => format!(
            "All trials of one level of {factor} ran before those of the next: its levels are \
             compared as independent samples, and a drift of the machine between them counts as a \
             difference. {order}"
        ),
        None => order,
    }
}

fn statistics(view: &RunView) -> String {
    let a = &view.analysis;
    let level = percent(a.confidence);
    let mut sentences = vec![format!(
        "Each treatment is summarised by the geometric mean of its trials with a {level} interval \
         (Student's t on the logs; none below three trials)."
    )];
    if a.histograms.iter().any(|h| !h.percentiles.is_empty()) {
        sentences.push(PERCENTILES.to_owned());
    }
    if let Some(c) = a.comparisons.first() {
        sentences.push(format!(
            "Treatments are compared with {} by {}; its sensitivity check is {}, and where the two \
             disagree the verdict is inconclusive.",
            view.label(c.baseline),
            method_name(c.method),
            method_name(c.sensitivity_method)
        ));
        sentences.extend(c.margin.map(|m| {
            format!(
                "Differences within {} do not matter here; “equivalent” means that both one-sided \
                 tests lie inside that margin.",
                percent(m)
            )
        }));
    }
    sentences.join(" ")
}

fn stop(view: &RunView) -> String {
    let registered = view.stop_rule().map_or_else(
        || match view.experiment.design.stop {
            Stop::Fixed => "after the planned number of blocks".to_owned(),
            Stop::Clear => {
                "as soon as the answer is clear, by looks at 6, 9, 13, 19, 28 and 42 blocks with \
                 Pocock's limits"
                    .to_owned()
            }
        },
        |s| s.trim_end_matches('.').to_owned(),
    );
    format!("Stop rule, registered before the first trial: {registered}.")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixtures;

    #[test]
    fn a_verdict_names_metric_ratio_interval_and_both_sides() {
        let view = fixtures::commands();
        let a = &view.analysis;
        let text = verdict(a, &a.comparisons[0]);
        assert!(text.starts_with("elapsed of "), "{text}");
        assert!(text.contains(" times that of ") && text.contains("[95 % CI "), "{text}");
        assert!(text.contains("10 pairs; lower is better"), "{text}");
        assert!(!text.contains("faster"));
    }

    #[test]
    fn an_invalid_comparison_prints_no_number() {
        let view = fixtures::withheld();
        let gate = crate::Gate::from_view(&view);
        let text = verdict(&gate.analysis, &gate.analysis.comparisons[0]);
        assert!(text.contains("withheld: F17"), "{text}");
        assert!(!text.contains("times"), "{text}");
    }

    #[test]
    fn what_could_not_be_checked_is_one_line() {
        let mut analysis = fixtures::commands().analysis;
        assert_eq!(unchecked(&analysis), None);
        analysis.checks.cannot_check.push(assay_model::CheckNote {
            id: "F22".into(),
            name: "generator-not-limit".into(),
            why: "the load generator".into(),
        });
        assert!(unchecked(&analysis).is_some_and(|l| l.starts_with("1 check could not be made")));
    }

    #[test]
    fn the_method_says_how_the_order_was_made() {
        let text = method(&fixtures::block_size()).join(" ");
        assert!(text.contains("6 blocks") && text.contains("seed 4711"), "{text}");
        assert!(text.contains("Student's t on the log ratios of paired blocks"), "{text}");
    }
}
