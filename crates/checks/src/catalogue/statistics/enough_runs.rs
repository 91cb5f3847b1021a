//! F28: each treatment has enough independent trials.

use assay_model::Method;

use crate::prelude::*;

pub const ENOUGH_RUNS: CheckRow = CheckRow {
    id: "F28",
    name: "enough-runs",
    section: CheckSection::Statistics,
    severity: WARNING,
    escalation: "invalid below 3 trials where treatments are compared, and when an interval was \
        made from fewer trials than its method needs",
    needs: "independent trials per treatment, the method of the interval",
    fires: "a treatment has fewer than 6 trials that count",
    why: "two trials give no interval, and five only one that assumes a distribution",
    remedy: "run at least 6 blocks",
    source: "golang/perf benchmath; mcp-gateway#615",
    evidence: "the trials that count, in the run",
};

pub const CHECK: Check = Check::new(&ENOUGH_RUNS, evaluate).always_checked("trials are counted");

fn evaluate(e: &Evidence) -> Evaluation {
    let treatments = e.measured()?;
    let counted = |t| Ok((t, *TreatmentEvidence::need(t, t.n.as_ref(), "the number of trials")?));
    let trials: Vec<(&TreatmentEvidence, u32)> =
        treatments.iter().map(counted).collect::<Result<_, _>>()?;
    let minimum = trials.iter().map(|(_, n)| *n).filter(|n| *n > 0).min().unwrap_or(0);
    let mut found = Vec::new();
    let mut reported: Vec<&str> = Vec::new();
    for c in e.comparisons.get().into_iter().flatten() {
        let needed = match c.method {
            Some(Method::SignedRank) => 6,
            Some(Method::RankSum) => 4,
            Some(_) => 3,
            None => continue,
        };
        if c.interval.is_some() && c.n.is_some_and(|n| n < needed) {
            let n = c.n.unwrap_or(0);
            let text = format!(
                "{}: {n} trials are too few for a 95 % interval of this kind, which needs {needed}",
                c.label
            );
            let treatment: Vec<&TreatmentEvidence> =
                treatments.iter().filter(|a| a.label == c.label).collect();
            found.push(about(invalid(text), &treatment, treatments));
            reported.push(&c.label);
        }
    }
    let median = treatments.iter().any(|a| a.statistic == Some(Statistic::Median));
    let shown = e.numbers.get().into_iter().flatten().any(|n| n.interval.is_some());
    if median && minimum < 6 && shown {
        found.push(invalid(format!(
            "{minimum} trials are too few for the interval of a median, which needs 6"
        )));
    }
    let compared = treatments.len() > 1 && e.comparisons.get().is_none_or(|c| !c.is_empty());
    let only = |n: u32, whose: &str| match n {
        1 => format!("only 1 trial of {whose} counts"),
        _ => format!("only {n} trials of {whose} count"),
    };
    // A treatment without any counting trial has failed, which the check of exclusions reports.
    let short: Vec<_> = trials.iter().filter(|(_, n)| (1..3).contains(n)).collect();
    if compared && short.len() < treatments.len() {
        for (treatment, n) in
            short.into_iter().filter(|(a, _)| !reported.contains(&a.label.as_str()))
        {
            let text = format!("{}, so it has no interval", only(*n, &treatment.label));
            found.push(about(invalid(text), &[treatment], treatments));
        }
    }
    if (1..6).contains(&minimum) && found.is_empty() {
        let interval = match minimum {
            1..3 => "there is no interval",
            _ => "the interval is by Student's t alone, without the check by ranks",
        };
        let text = format!("{}, so {interval}", only(minimum, "a treatment"));
        found.push(if minimum < 3 && compared { invalid(text) } else { finding(text) });
    }
    Ok(found)
}
