//! F08: the treatments had the same page sizes.

use assay_model::units::format_bytes;

use super::far_apart;
use crate::prelude::*;

pub const PAGE_SIZE: CheckRow = CheckRow {
    id: "F08",
    name: "page-size",
    section: CheckSection::Environment,
    severity: WARNING,
    escalation: "invalid when the huge-page coverage differs by more than 10 percentage points",
    needs: "the THP mode, the huge-page pools, and the share of memory they backed",
    fires: "the modes or pools differ and are not declared",
    why: "large pages alone move memory-bound results by tens of per cent",
    remedy: "set the same mode in all treatments (controls thp and hugepages)",
    source: "own checklist of 2005; MachineState",
    evidence: "the control `pages` and `smaps` of the program",
};

pub const CHECK: Check = Check::new(&PAGE_SIZE, evaluate).on_observations(judge_observation);

/// Bytes of memory below which missing huge pages mean nothing.
const MIN_MEMORY_BYTES: u64 = 8 << 20;

/// Huge-page coverage below which a request for huge pages gives a warning.
const MIN_HUGE_SHARE: f64 = 0.5;

fn evaluate(e: &Evidence) -> Evaluation {
    let treatments = e.compared()?;
    let meant = ["thp", "hugepages", "pages", "page-size"].iter().any(|f| e.declares(f));
    let mut found = Vec::new();
    let mut lacking = Vec::new();
    let mut shares: Vec<(f64, &str)> = Vec::new();
    for treatment in treatments {
        let of =
            |t: &TreatmentEvidence| need(t.pages.clone(), format!("the page sizes of {}", t.label));
        let (first, pages) = (of(&treatments[0])?, of(treatment)?);
        for (what, a, b) in [("mode", &first.mode, &pages.mode), ("pool", &first.pool, &pages.pool)]
        {
            match (a, b) {
                (Some(a), Some(b)) if a != b && !meant => {
                    found.push(finding(format!("the {what} of large pages differs: {a} vs {b}")));
                }
                (Some(_), Some(_)) => {}
                _ => lacking.push(format!("the {what} of large pages of {}", treatment.label)),
            }
        }
        match pages.huge_share {
            Some(share) => shares.push((share, &treatment.label)),
            None => {
                lacking.push(format!("the memory that large pages backed in {}", treatment.label));
            }
        }
    }
    if let (Some([(low, a), (high, b)]), false) = (far_apart(&shares), meant) {
        let (low, high) = (low * 100.0, high * 100.0);
        found.push(invalid(format!("large pages backed {low:.0} % of {a} and {high:.0} % of {b}")));
    }
    found_or_missing(found, &lacking)
}

fn judge_observation(observation: &Observation) -> Option<FiredCheck> {
    match observation {
        Observation::LargePages { level, memory, large } => {
            let small = level == "4KiB" || level == "base";
            let what = if small && *large > 0 {
                format!("{} of the program's memory were in large pages", format_bytes(*large))
            } else if !small && *large == 0 && *memory >= MIN_MEMORY_BYTES {
                format!(
                    "none of the {} of the program's memory was in large pages",
                    format_bytes(*memory)
                )
            } else {
                return None;
            };
            let text = format!("the level `{level}` of the control `pages` had no effect: {what}");
            let remedy = "check if the program requests large pages itself (as a Java heap \
                          does), and if the machine has free memory in large blocks";
            Some(invalid(text).remedy(remedy))
        }
        Observation::HugePagesAsked { asked, share } if *share < MIN_HUGE_SHARE => {
            let text = format!(
                "`{asked}` requests huge pages, and {:.0} % of the memory is in them",
                100.0 * share
            );
            let remedy = "reserve as many as the heaps need: the control `hugepages`";
            Some(warning(text).remedy(remedy))
        }
        _ => None,
    }
}
