//! F21: the bottleneck of each treatment is known.

use assay_model::LimitedBy;
use assay_model::units::format_value;

use crate::prelude::*;

pub const LIMITER_KNOWN: CheckRow = CheckRow {
    id: "F21",
    name: "limiter-known",
    section: CheckSection::Workload,
    severity: NOTE_OR_WARNING,
    escalation: "invalid when a result exceeds a physical ceiling",
    needs: "a statement of the bottleneck of each treatment, and results with physical ceilings",
    fires: "the bottleneck is not stated",
    why: "a result without its bottleneck does not show what was measured",
    remedy: "check CPU, memory, disk and network during the run and state which is saturated",
    source: "Gregg 2018; Hoefler and Belli rule 11",
    evidence: "the load generator of a workload, else the CPU time of the trials; the probe of the \
        control `storage`",
};

pub const CHECK: Check =
    Check::new(&LIMITER_KNOWN, evaluate).on_observations(judge_observation).judged_in_trials();

/// Share of the machine's CPU time used by other work above which it starves a load.
const STARVING_SHARE: f64 = 0.25;
/// Relative deviation of a probe from the storage's limit above which the limit did not determine
/// it.
pub(crate) const PROBE_DEVIATION: f64 = 0.2;

fn evaluate(e: &Evidence) -> Evaluation {
    let mut found = Vec::new();
    for treatment in e.measured()? {
        let limiter = treatment.need(treatment.limiter.as_ref(), "the bottleneck")?;
        if limiter.statement.trim().is_empty() {
            found.push(finding(format!("the bottleneck of {} is not stated", treatment.label)));
        }
        for c in limiter.ceilings.iter().filter(|c| c.reached > c.ceiling) {
            found.push(invalid(format!(
                "{} reached {} of {}, above the ceiling of {}",
                treatment.label, c.reached, c.what, c.ceiling
            )));
        }
    }
    Ok(found)
}

fn judge_observation(observation: &Observation) -> Option<FiredCheck> {
    match observation {
        Observation::Limit { by: LimitedBy::Unknown, reasons, others_busy, .. } => {
            let others = others_busy.filter(|share| *share > STARVING_SHARE);
            let (text, remedy) = match others.map(|share| share * 100.0) {
                Some(percent) => (
                    format!("other work used {percent:.0} % of the CPU time and may be the limit"),
                    "end the other work, or keep it off these CPUs (`client.cpus`, `server.cpus`)",
                ),
                None => (
                    "the bottleneck of the throughput is unknown".to_owned(),
                    "try more `connections` or a larger `depth`: if the throughput grows, they \
                    were the bottleneck",
                ),
            };
            Some(warning(format!("{text}: {}", reasons.join("; "))).remedy(remedy))
        }
        Observation::Probed { metric, measured, unit, held: Some(held), seconds, .. }
            if *measured < held * (1.0 - PROBE_DEVIATION) =>
        {
            let how = format!(
                "less than its limit of {}: the storage below was the bottleneck",
                format_value(*held, unit)
            );
            Some(probe_finding(metric, &format_value(*measured, unit), *seconds, &how))
        }
        _ => None,
    }
}

/// Returns the finding about a probe of the storage that its limit did not determine.
pub(crate) fn probe_finding(metric: &str, value: &str, seconds: f64, how: &str) -> FiredCheck {
    let text = format!("{metric} was {value} in {}, {how}", format_value(seconds, "s"));
    warning(text).remedy("measure longer (`probe=`), or use faster storage below an emulated disk")
}

#[cfg(test)]
mod tests {
    use assay_model::{LimitedBy, Observation, Severity};

    use crate::judge_observation;

    fn limited(by: LimitedBy, others_busy: Option<f64>) -> Observation {
        let (reasons, busy) = (vec!["why".into()], Some(0.3));
        Observation::Limit { by, reasons, generator_busy: busy, server_busy: busy, others_busy }
    }

    #[test]
    fn who_is_starved_by_others_is_not_advised_to_ask_for_more() {
        let remedy = |others_busy| {
            judge_observation(&limited(LimitedBy::Unknown, others_busy)).unwrap().remedy
        };
        assert!(remedy(Some(0.6)).contains("end the other work"));
        assert!(remedy(Some(0.1)).contains("`connections`"));
        assert!(remedy(None).contains("`connections`"));
    }

    #[test]
    fn only_an_unknown_limit_is_found() {
        let found = judge_observation(&limited(LimitedBy::Unknown, None)).unwrap();
        assert_eq!((found.id.as_str(), found.severity), ("F21", Severity::Warning));
        assert_eq!(judge_observation(&limited(LimitedBy::Server, None)), None);
        assert_eq!(judge_observation(&limited(LimitedBy::Load, None)), None);
    }

    fn probed(measured: f64, held: Option<f64>, cached: bool) -> Option<String> {
        let (metric, unit) = ("storage_sequential_read".to_owned(), "B/s".to_owned());
        let seen = Observation::Probed { metric, measured, unit, held, seconds: 0.1, cached };
        judge_observation(&seen).map(|f| f.id)
    }

    #[test]
    fn a_probe_off_its_limit_is_doubtful() {
        assert_eq!(probed(288e6, Some(126e6), false).as_deref(), Some("F15"));
        assert_eq!(probed(80e6, Some(126e6), false).as_deref(), Some("F21"));
        assert_eq!(probed(130e6, Some(126e6), false), None);
        assert_eq!(probed(5e9, None, true).as_deref(), Some("F15"));
        assert_eq!(probed(5e9, None, false), None);
    }
}
