//! F22: the load generator was not the limit.

use assay_model::LimitedBy;

use crate::prelude::*;

pub const GENERATOR_NOT_LIMIT: CheckRow = CheckRow {
    id: "F22",
    name: "generator-not-limit",
    section: CheckSection::Workload,
    severity: INVALID,
    escalation: "",
    needs: "the load generator's CPU and network use, its pinning and configuration, per treatment",
    fires: "it used more than 80 % of its CPUs or network, shared CPUs unpinned, or differed \
        between treatments",
    why: "a saturated generator measures itself",
    remedy: "give the generator more CPUs or machines, pin it, and load all treatments alike",
    source: "client-side bias in load tests (arXiv 2410.11554)",
    evidence: "the load generator reports its threads' CPU time; the plan has its CPUs",
};

pub const CHECK: Check = Check::new(&GENERATOR_NOT_LIMIT, evaluate)
    .on_observations(judge_observation)
    .judged_in_trials();

/// Use of its CPUs or network above which a generator may be the limit.
const MAX_GENERATOR_SHARE: f64 = 0.80;
/// CPU use of a server above which it is near its limit.
const BUSY_SERVER: f64 = 0.8;

fn evaluate(e: &Evidence) -> Evaluation {
    let treatments = e.measured()?;
    let mut found = Vec::new();
    let mut lacking = Vec::new();
    let mut absent = None;
    let mut configs: Vec<&str> = Vec::new();
    for treatment in treatments {
        let label = &treatment.label;
        let g = match &treatment.generator {
            RecordedValue::Absent(why) => {
                absent = Some(why.clone());
                continue;
            }
            other => other.need(&format!("the load generator of {label}"))?,
        };
        let shares = [("CPUs", g.cpu_share), ("network", g.network_share)];
        for (what, share) in shares {
            match share {
                Some(s) if s > MAX_GENERATOR_SHARE => {
                    let percent = s * 100.0;
                    found.push(finding(format!(
                        "the load generator used {percent:.0} % of its {what} and may limit {label}"
                    )));
                }
                Some(_) => {}
                None => lacking.push(format!("the generator's use of its {what} in {label}")),
            }
        }
        match (g.same_host, g.pinned_apart) {
            // The generator's own CPU use shows if sharing made it the limit.
            (Some(true), Some(false)) => found.push(note(format!(
                "the load generator of {label} shares its CPUs with the server and is not pinned"
            ))),
            (Some(true), None) | (None, _) => {
                lacking.push(format!("the placement of the load generator of {label}"));
            }
            _ => {}
        }
        match &g.config {
            Some(config) => configs.push(config),
            None => lacking.push(format!("the generator's configuration in {label}")),
        }
    }
    if configs.windows(2).any(|c| c[0] != c[1]) && !e.declares("generator") {
        found.push(finding("the load generator was configured differently for the treatments"));
    }
    match absent {
        Some(why) if treatments.iter().all(|a| a.generator.get().is_none()) => not_applicable(why),
        _ => found_or_missing(found, &lacking),
    }
}

/// Judges whether the load generator was the limit. If the server was busy as well, both were near
/// their limit: a warning; else the throughput is the generator's.
fn judge_observation(observation: &Observation) -> Option<FiredCheck> {
    let Observation::Limit { by: LimitedBy::Generator, reasons, server_busy, .. } = observation
    else {
        return None;
    };
    let both = server_busy.is_some_and(|busy| busy > BUSY_SERVER);
    let text = format!("the load generator may be the limit: {}", reasons.join("; "));
    Some(finding_at(if both { WARNING } else { INVALID }, text).remedy(
        "give it more threads (`client.threads`) and CPUs that no other program uses \
         (`client.cpus`), and run the server on other CPUs or on another machine",
    ))
}

#[cfg(test)]
mod tests {
    use assay_model::{LimitedBy, Observation, Severity};

    use crate::judge_observation;

    #[test]
    fn a_busy_generator_is_worse_beside_an_idle_server() {
        let found = |server_busy| {
            let (by, reasons) = (LimitedBy::Generator, vec!["why".into()]);
            let (generator_busy, others_busy) = (Some(0.9), None);
            let seen = Observation::Limit { by, reasons, generator_busy, server_busy, others_busy };
            judge_observation(&seen).map(|f| (f.id, f.severity))
        };
        assert_eq!(found(Some(0.9)), Some(("F22".into(), Severity::Warning)));
        assert_eq!(found(Some(0.5)), Some(("F22".into(), Severity::Invalid)));
        assert_eq!(found(None), Some(("F22".into(), Severity::Invalid)));
    }
}
