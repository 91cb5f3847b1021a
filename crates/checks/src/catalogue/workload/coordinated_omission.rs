//! F23: percentiles include the waiting that a stalled client would hide.

use super::percentile_support::{lacking_for, name_list, percentile_name};
use crate::prelude::*;

pub const COORDINATED_OMISSION: CheckRow = CheckRow {
    id: "F23",
    name: "coordinated-omission",
    section: CheckSection::Workload,
    severity: INVALID,
    escalation: "",
    needs: "the loop (open or closed), the latency that the percentile is stated as, and if slips \
        of the schedule are charged",
    fires: "a percentile of a closed loop is stated as the latency of independent arrivals, or \
        slips are not charged to latency",
    why: "a client that waits for a stall to end never measures it",
    remedy: "send on a schedule and count latency from the intended start, or call it service time",
    source: "Tene, How NOT to measure latency; HdrHistogram documentation",
    evidence: "a histogram carries the loop it was measured in; importers of fio and \
        memtier_benchmark read whether a rate was set",
};

pub const CHECK: Check = Check::new(&COORDINATED_OMISSION, evaluate);

fn evaluate(e: &Evidence) -> Evaluation {
    let mut found = Vec::new();
    let (mut lacking, mut uncharged) = (Vec::new(), Vec::new());
    for p in e.percentiles.need("the measurement of the percentiles")? {
        let name = percentile_name(p);
        let hidden = p.hidden.map_or(String::new(), |n| format!("; waiting hid {n} requests"));
        match (p.load, p.as_arrivals, p.slips_charged) {
            (Some(Loop::Closed), Some(true), _) => found.push(finding(format!(
                "{name} was measured in a closed loop and is stated as the latency of independent \
                arrivals{hidden}"
            ))),
            (Some(Loop::Open), _, Some(false)) => uncharged.push(format!("{name}{hidden}")),
            (Some(Loop::Closed), Some(false), _) | (Some(Loop::Open), _, Some(true)) => {}
            _ => lacking.push(name),
        }
    }
    if !uncharged.is_empty() {
        found.push(finding(format!(
            "the time that requests waited to be sent is not counted in {}",
            name_list(uncharged)
        )));
    }
    let lacking = lacking_for("the load model behind", lacking);
    found_or_missing(found, &lacking)
}
