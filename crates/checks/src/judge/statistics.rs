//! F37 to F42: A/A comparison, multiplicity, stopping rule, exclusions, statistic and shape.

use super::modes::{MIN_VALUES, modes};
use crate::check::{Evaluation, about, at, found_or_missing, grave, missing, need, number, plain};
use crate::rows::W;
use crate::{Evidence, RecordedValue, Statistic, TreatmentEvidence};
use assay_model::FiredCheck;

pub(crate) fn self_comparison(e: &Evidence) -> Evaluation {
    e.compared()?;
    let made = match &e.self_comparison {
        RecordedValue::Absent(why) => {
            return Ok(vec![plain(format!("no comparison of identical code: {why}"))]);
        }
        other => other.need("a comparison of identical code on this machine")?,
    };
    let age = number(made.age_days, "the age of the comparison of identical code")?;
    let alike = *need(made.alike.as_ref(), "whether identical code was compared in the same way")?;
    let floor = number(made.floor, "by how much identical code differed")?;
    let mut found = Vec::new();
    if age > made.policy_days {
        let text = format!(
            "identical code was last compared {age:.0} days ago; the limit is {:.0}",
            made.policy_days
        );
        found.push(plain(text));
    }
    if !alike {
        found.push(plain(
            "identical code was compared on another host, by another schedule or of another workload",
        ));
    }
    for c in e.comparisons.get().into_iter().flatten() {
        let says = c.verdict.is_none_or(|v| {
            matches!(v, assay_model::Verdict::Better | assay_model::Verdict::Worse)
        });
        if let Some(ratio) = c.ratio
            && says
            && alike
            && ratio.ln().abs() <= floor.ln()
        {
            let text = format!(
                "{}: identical code differed by up to {:.1} % here, this by {:.1} %",
                c.label,
                (floor - 1.0) * 100.0,
                (ratio.ln().abs().exp() - 1.0) * 100.0
            );
            let of: Vec<&TreatmentEvidence> =
                e.treatments.iter().filter(|a| a.label == c.label).collect();
            found.push(about(grave(text), &of, &e.treatments));
        }
    }
    Ok(found)
}

pub(crate) fn many(e: &Evidence) -> Evaluation {
    let m = need(e.multiplicity.as_ref(), "how many comparisons were made")?;
    if m.tests <= 1 || m.correction.is_some() {
        return Ok(Vec::new());
    }
    let alarms = 0.05 * f64::from(m.tests);
    let text = format!(
        "{} comparisons without a correction: about {alarms:.2} false alarms expected",
        m.tests
    );
    Ok(vec![match m.headline_is_best {
        Some(true) => grave(format!("{text}, and the headline is the best of them")),
        _ => plain(text),
    }])
}

pub(crate) fn stopping(e: &Evidence) -> Evaluation {
    let s = need(e.stopping.as_ref(), "by which rule sampling stopped")?;
    if s.ended_on_significance == Some(true) && s.adjusted != Some(true) {
        let text = format!(
            "sampling stopped when the answer looked good, after {} looks without limits for them",
            s.looks
        );
        return Ok(vec![grave(text)]);
    }
    if s.by_hand {
        return Ok(vec![plain("sampling was ended by hand, with the running estimate in view")]);
    }
    if s.rule.is_none() {
        return Ok(vec![plain("no stopping rule was declared")]);
    }
    let before = *need(s.registered_before.as_ref(), "when the stop rule was registered")?;
    if !before {
        return Ok(vec![plain("the stop rule was not registered before the first trial")]);
    }
    if s.looks > 0 {
        return match s.adjusted {
            Some(true) => Ok(Vec::new()),
            Some(false) => {
                let text = format!("{} looks at the data without limits for them", s.looks);
                Ok(vec![plain(text)])
            }
            None => missing("whether the limits allow for the looks"),
        };
    }
    Ok(Vec::new())
}

pub(crate) fn exclusions(e: &Evidence) -> Evaluation {
    let x = need(e.exclusions.as_ref(), "every trial that was started")?;
    let all = x.started;
    let failed = x.excluded.iter().filter(|l| l.failed && l.reason.is_some()).count();
    let silent: Vec<String> =
        x.excluded.iter().filter(|l| l.reason.is_none()).map(|l| l.trial.to_string()).collect();
    let mut found = Vec::new();
    if failed > 0 {
        let text = format!(
            "{failed} of {all} trials failed and are not in the result; their records have the \
             reasons"
        );
        found.push(at(W, text));
    }
    if !silent.is_empty() {
        let with =
            x.ratio_with_them.map_or(String::new(), |r| format!("; with them the ratio is {r:.3}"));
        let names: Vec<&str> = silent.iter().map(String::as_str).collect();
        found.push(plain(format!(
            "{} of {all} trials were left out without a reason ({}){with}",
            silent.len(),
            super::environment::shortened(&names)
        )));
    }
    Ok(found)
}

pub(crate) fn statistic(e: &Evidence) -> Evaluation {
    let treatments = e.compared()?;
    let first = *need(
        treatments[0].statistic.as_ref(),
        format!("the statistic of {}", treatments[0].label),
    )?;
    let mut found: Vec<FiredCheck> = Vec::new();
    let mut lacking = Vec::new();
    // The treatment with fewer trials is at fault, wherever it is in the list. A treatment without
    // any has nothing to compare, which the check of exclusions reports.
    let most = treatments.iter().filter_map(|t| t.n).max();
    let whole = treatments.iter().find(|t| t.n == most).map_or("", |t| t.label.as_str());
    for treatment in treatments {
        let other =
            *need(treatment.statistic.as_ref(), format!("the statistic of {}", treatment.label))?;
        if other != first {
            found.push(grave(format!(
                "{} is a {}, {} a {}",
                treatments[0].label,
                words(first),
                treatment.label,
                words(other)
            )));
        }
        match (most, treatment.n) {
            (Some(_), Some(0)) => {}
            // A difference of one trial is a failure, which the check of exclusions reports.
            (Some(a), Some(b)) if a - b > 1 && 10 * (a - b) > a => {
                let text = format!("{} has {b} trials, {whole} {a}", treatment.label);
                found.push(about(grave(text), &[treatment], &e.treatments));
            }
            (Some(_), Some(_)) => {}
            _ => lacking.push(format!("the number of trials of {}", treatment.label)),
        }
    }
    if matches!(first, Statistic::Minimum | Statistic::BestOf(_)) {
        found.push(plain(format!("the treatments are summed up by a {}", words(first))));
    }
    found_or_missing(found, &lacking)
}

fn words(statistic: Statistic) -> String {
    match statistic {
        Statistic::Mean => "mean".to_owned(),
        Statistic::Geomean => "geometric mean".to_owned(),
        Statistic::Median => "median".to_owned(),
        Statistic::Minimum => "minimum".to_owned(),
        Statistic::BestOf(n) => format!("best of {n}"),
    }
}

pub(crate) fn shape(e: &Evidence) -> Evaluation {
    let mut found = Vec::new();
    let mut lacking = Vec::new();
    let mut looked = false;
    for treatment in e.measured()? {
        let values = need(treatment.values.as_ref(), format!("the values of {}", treatment.label))?;
        match modes(values) {
            Some(modes) if modes > 1 => found.push(plain(format!(
                "the {} trials of {} have {modes} modes: one number hides them",
                values.len(),
                treatment.label
            ))),
            Some(_) => looked = true,
            None => lacking.push(format!("{MIN_VALUES} values of {} that vary", treatment.label)),
        }
    }
    for c in e.comparisons.get().into_iter().flatten() {
        let excludes = |i: assay_model::Interval| !i.contains(1.0);
        if let (Some(default), Some(sensitivity)) = (c.interval, c.sensitivity) {
            looked = true;
            if let Some(how) = &c.disputed {
                found.push(plain(format!("{}: {how}", c.label)));
            } else if excludes(default) != excludes(sensitivity) {
                found.push(plain(format!(
                    "{}: means give {:.3} to {:.3}, ranks {:.3} to {:.3}; the shape of the values decides the verdict",
                    c.label, default.low, default.high, sensitivity.low, sensitivity.high
                )));
            }
        }
        if let (Some(mean), Some(median), Some(interval)) = (c.ratio, c.median_ratio, c.interval) {
            looked = true;
            let sides = (mean > 1.0) != (median > 1.0);
            if sides && excludes(interval) {
                let text =
                    format!("{}: the ratio of means is {mean:.3}, of medians {median:.3}", c.label);
                found.push(plain(text));
            }
        }
    }
    // One of the two tests is enough; without both the shape was not checked.
    if looked { Ok(found) } else { found_or_missing(found, &lacking) }
}
