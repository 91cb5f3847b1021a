//! F23: percentiles include the waiting that a stalled client would hide.

use super::percentile_support::{lacking_for, name_list, percentile_name};
use crate::Loop;
use crate::prelude::*;

pub const COORDINATED_OMISSION: CheckRow = CheckRow {
    id: "F23",
    name: "coordinated-omission",
    section: CheckSection::Workload,
    severity: INVALID,
    escalation: "",
    needs: "open or closed loop, what the percentile is stated as, whether slips of the schedule are charged",
    fires: "a closed loop's percentile is stated as what arrivals see, or slips are not charged to latency",
    why: "a client that waits out a stall never measures it",
    remedy: "send on a schedule and count latency from the intended start, or call it service time",
    source: "Tene, How NOT to measure latency; HdrHistogram documentation",
    evidence: "a histogram carries the loop it was measured in; importers of fio and memtier_benchmark read whether a rate was set",
};

pub const CHECK: Check = Check::new(&COORDINATED_OMISSION, evaluate);

fn evaluate(e: &Evidence) -> Evaluation {
    let mut found = Vec::new();
    let (mut lacking, mut uncharged) = (Vec::new(), Vec::new());
    for p in e.percentiles.need("how the percentiles were measured")? {
        let name = percentile_name(p);
        let hidden = p.hidden.map_or(String::new(), |n| format!("; waiting hid {n} requests"));
        match (p.load, p.as_arrivals, p.slips_charged) {
            (Some(Loop::Closed), Some(true), _) => found.push(finding(format!(
                "{name} is of a closed loop and is stated as what arrivals see{hidden}"
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
    let lacking = lacking_for("how the requests were sent behind", lacking);
    found_or_missing(found, &lacking)
}
