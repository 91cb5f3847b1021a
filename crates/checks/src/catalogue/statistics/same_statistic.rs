//! F41: all treatments are summarised by one statistic over equally many trials.

use crate::prelude::*;

pub const SAME_STATISTIC: CheckRow = CheckRow {
    id: "F41",
    name: "same-statistic",
    section: CheckSection::Statistics,
    severity: WARNING,
    escalation: "invalid if treatments have different statistics or numbers of trials",
    needs: "the statistic of each treatment, and its number of trials",
    fires: "a claim rests on a minimum or a best of several",
    why: "the best of ten is not comparable with the mean of three, and improves with n alone",
    remedy: "use the same statistic and the same number of trials for all treatments",
    source: "Georges et al. 2007; Chen and Revels 2016",
    evidence: "the run: one statistic for all, trials that count",
};

pub const CHECK: Check = Check::new(&SAME_STATISTIC, evaluate)
    .always_checked("all treatments of a run have one statistic");

fn evaluate(e: &Evidence) -> Evaluation {
    let treatments = e.compared()?;
    let first = *treatments[0].need(treatments[0].statistic.as_ref(), "the statistic")?;
    let mut found: Vec<FiredCheck> = Vec::new();
    let mut lacking = Vec::new();
    // The treatment with fewer trials is at fault, wherever it is in the list. A treatment without
    // any has nothing to compare, which the check of exclusions reports.
    let most = treatments.iter().filter_map(|t| t.n).max();
    let whole = treatments.iter().find(|t| t.n == most).map_or("", |t| t.label.as_str());
    for treatment in treatments {
        let other = *treatment.need(treatment.statistic.as_ref(), "the statistic")?;
        if other != first {
            found.push(invalid(format!(
                "{} is a {}, {} a {}",
                treatments[0].label,
                statistic_name(first),
                treatment.label,
                statistic_name(other)
            )));
        }
        match (most, treatment.n) {
            (Some(_), Some(0)) => {}
            // A difference of one trial is a failure, which the check of exclusions reports.
            (Some(a), Some(b)) if a - b > 1 && 10 * (a - b) > a => {
                let text = format!("{} has {b} trials, {whole} {a}", treatment.label);
                found.push(about(invalid(text), &[treatment], &e.treatments));
            }
            (Some(_), Some(_)) => {}
            _ => lacking.push(format!("the number of trials of {}", treatment.label)),
        }
    }
    if matches!(first, Statistic::Minimum | Statistic::BestOf(_)) {
        found
            .push(finding(format!("the treatments are summarised by a {}", statistic_name(first))));
    }
    found_or_missing(found, &lacking)
}

fn statistic_name(statistic: Statistic) -> String {
    match statistic {
        Statistic::Mean => "mean".to_owned(),
        Statistic::Geomean => "geometric mean".to_owned(),
        Statistic::Median => "median".to_owned(),
        Statistic::Minimum => "minimum".to_owned(),
        Statistic::BestOf(n) => format!("best of {n}"),
    }
}
