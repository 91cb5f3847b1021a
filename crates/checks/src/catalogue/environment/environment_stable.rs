//! F13: the system did not change during the run.

use assay_model::units::format_value;

use crate::prelude::*;

pub const ENVIRONMENT_STABLE: CheckRow = CheckRow {
    id: "F13",
    name: "environment-stable",
    section: CheckSection::Environment,
    severity: INVALID,
    escalation: "",
    needs: "descriptions before and after, boot ids",
    fires: "a fact changed during the run, or the machine was rebooted",
    why: "the trials before and after the change ran on two systems",
    remedy: "find what changed it and run again",
    source: "own rule",
    evidence: "watched settings, read after trials (at most once a second) and after the last",
};

pub const CHECK: Check =
    Check::new(&ENVIRONMENT_STABLE, evaluate).on_observations(judge_observation).judged_in_trials();

/// Free bytes of a file system below which room is low. `LOW_DISK` is the same as a share.
const LOW_DISK_BYTES: f64 = 1e9;
const LOW_DISK: f64 = 0.05;

fn evaluate(e: &Evidence) -> Evaluation {
    let mut found: Vec<FiredCheck> = Vec::new();
    let mut lacking = Vec::new();
    for treatment in e.measured()? {
        let snapshots = treatment.need(treatment.snapshots.as_ref(), "the system")?;
        match &snapshots.after {
            FactsAfterTrials::NotTaken => {
                lacking.push(format!("the system after {}", treatment.label));
            }
            FactsAfterTrials::Same => {}
            FactsAfterTrials::Changed(paths) => {
                let list: Vec<&str> = paths.keys().map(String::as_str).collect();
                let list = shortened_list(&list);
                let changed = finding(format!("{list} changed during the run"));
                // The treatments of one run share their system.
                if !found.contains(&changed) {
                    found.push(changed);
                }
            }
        }
        if snapshots.boots.len() > 1 {
            found.push(finding(format!("the machine was rebooted during {}", treatment.label)));
        }
    }
    found_or_missing(found, &lacking)
}

fn judge_observation(observation: &Observation) -> Option<FiredCheck> {
    Some(match observation {
        Observation::NotPutBack { error } => {
            invalid(format!("a setting could not be restored after the trial: {error}"))
                .remedy("run `assay doctor --restore`")
        }
        Observation::Changed { paths } if !paths.is_empty() => {
            invalid(format!("{} changed since the start of the run", paths.join(", ")))
                .remedy("find what changed it and run again")
        }
        Observation::DiskRoom { folder, free, total }
            if (*free as f64) < LOW_DISK_BYTES || (*free as f64) < *total as f64 * LOW_DISK =>
        {
            let text = format!(
                "the file system of `{folder}` has {} free: a nearly full file system is \
                 slower, and a run may fill it",
                format_value(*free as f64, "B")
            );
            warning(text).remedy("free space, or choose another working folder")
        }
        Observation::Suspended { seconds } => {
            let text = format!(
                "the machine was suspended for {} during the trial",
                format_value(*seconds, "s")
            );
            warning(text).remedy("prevent suspension during the run, and repeat it")
        }
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn little_room_is_low_by_size_or_by_share() {
        let low = |free: f64, total: f64| {
            let folder = "/x".to_owned();
            let seen = Observation::DiskRoom { folder, free: free as u64, total: total as u64 };
            judge_observation(&seen).is_some()
        };
        assert!(low(5e8, 1e9));
        assert!(low(2e9, 1e12));
        assert!(!low(2e11, 1e12));
    }
}
