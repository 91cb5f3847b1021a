//! F42: one number describes the values: they have one mode, and two summaries agree.

use super::modes::{MIN_VALUES, modes};
use crate::prelude::*;

pub const SHAPE_FITS_SUMMARY: CheckRow = CheckRow {
    id: "F42",
    name: "shape-fits-summary",
    section: CheckSection::Statistics,
    severity: WARNING,
    escalation: "",
    needs: "the trials' values (20 for a test of modes), intervals by two methods, mean and median",
    fires: "there is more than one mode, or two summaries of one comparison disagree",
    why: "one number hides two behaviours",
    remedy: "look at the plot of the trials: there may be two modes or a few far-out trials",
    source: "Maricq et al. 2018; Hoefler and Belli rules 6, 8",
    evidence: "the trials' values and both intervals of the run",
};

pub const CHECK: Check = Check::new(&SHAPE_FITS_SUMMARY, evaluate);

fn evaluate(e: &Evidence) -> Evaluation {
    let mut found = Vec::new();
    let mut lacking = Vec::new();
    let mut looked = false;
    for treatment in e.measured()? {
        let values = treatment.need(treatment.values.as_ref(), "the values")?;
        match modes(values) {
            Some(modes) if modes > 1 => found.push(finding(format!(
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
                found.push(finding(format!("{}: {how}", c.label)));
            } else if excludes(default) != excludes(sensitivity) {
                found.push(finding(format!(
                    "{}: means give {:.3} to {:.3}, ranks {:.3} to {:.3}; the shape of the values \
                    decides the verdict",
                    c.label, default.low, default.high, sensitivity.low, sensitivity.high
                )));
            }
        }
        if let (Some(mean), Some(median), Some(interval)) = (c.ratio, c.median_ratio, c.interval) {
            looked = true;
            if (mean > 1.0) != (median > 1.0) && excludes(interval) {
                let text = format!("the ratio of means is {mean:.3}, of medians {median:.3}");
                found.push(finding(format!("{}: {text}", c.label)));
            }
        }
    }
    // One of the two tests is enough; without both the shape was not checked.
    if looked { Ok(found) } else { found_or_missing(found, &lacking) }
}
