//! Observations that make metric values doubtful: the findings, and the values concerned.

use assay_model::units::format_value;
use assay_model::{FiredCheck, MetricValue, Observation};

use super::judged::JudgedCheck;
use crate::check::W;
use crate::rows;

/// Relative deviation of a probe from the storage's limit above which the limit did not determine
/// it.
const OFF: f64 = 0.2;
/// Share of CPU time used by other processes above which a metric of total CPU time is doubtful.
const OTHERS: f64 = 0.1;
/// Relative difference between the second half and the whole above which the state was not steady.
const COLD: f64 = 0.2;
/// Minimum turns per process: with fewer, both halves include first, cold turns.
const TURNS: f64 = 4.0;
/// Metric that assay itself times from outside the program.
const TIMED_BY_ASSAY: &str = "elapsed";
/// Metrics from the kernel's accounting, which do not depend on the program's clock.
const ACCOUNTED: [&str; 3] = ["user", "system", "peak_memory"];

pub(super) fn judge(seen: &Observation) -> JudgedCheck {
    Some(match seen {
        Observation::Stopped => {
            let text = "assay was stopped and went on during the trial: a program that ended meanwhile was timed \
                        until assay went on";
            let found = FiredCheck::new(text).at(W).remedy("repeat the run without stopping assay");
            (&rows::TIMER_AND_LENGTH, found)
        }
        Observation::Suspended { seconds } => {
            let text =
                format!("the machine slept for {} during the trial", format_value(*seconds, "s"));
            let found = FiredCheck::new(text)
                .at(W)
                .remedy("keep it awake while a run lasts, and repeat it");
            (&rows::ENVIRONMENT_STABLE, found)
        }
        Observation::ClockStepped { seconds } => {
            let text = format!(
                "the time of day was set {} by {} during the trial: times that the program took from it are off",
                if *seconds < 0.0 { "back" } else { "forward" },
                format_value(seconds.abs(), "s")
            );
            let found = FiredCheck::new(text)
                .at(W)
                .remedy("let the clock settle before a run, and repeat it");
            (&rows::TIMER_AND_LENGTH, found)
        }
        Observation::OthersComputed { metric, share } => {
            if *share <= OTHERS {
                return None;
            }
            let text = format!(
                "other processes used {:.0} % of the CPU time in user mode that {metric} is made of",
                100.0 * share
            );
            let remedy =
                "end the other work, or keep it off these CPUs (control cpus), and repeat it";
            (&rows::QUIET_HOST, FiredCheck::new(text).at(W).remedy(remedy))
        }
        Observation::ColdStart { metric, whole, later, turns } => {
            let text = if *turns < TURNS {
                format!("each process had {turns:.1} turns, so that {metric} is of cold caches")
            } else if (later - whole).abs() > COLD * whole.abs() {
                format!(
                    "{metric} is {} in all and {} in the second half: caches were still filling",
                    format_value(*whole, "1"),
                    format_value(*later, "1")
                )
            } else {
                return None;
            };
            (&rows::STEADY_STATE, FiredCheck::new(text).at(W).remedy("simulate more `accesses`"))
        }
        Observation::Probed { metric, measured, unit, held, seconds, cached } => {
            let (row, what) = match held {
                Some(held) if *measured > held * (1.0 + OFF) => (
                    &rows::TIMER_AND_LENGTH,
                    format!("more than the {} it is held to: a burst", format_value(*held, unit)),
                ),
                Some(held) if *measured < held * (1.0 - OFF) => (
                    &rows::LIMITER_KNOWN,
                    format!(
                        "less than the {} it is held to: what lies below it was the limit",
                        format_value(*held, unit)
                    ),
                ),
                _ if *cached => (&rows::TIMER_AND_LENGTH, "through a cache".to_owned()),
                _ => return None,
            };
            let text = format!(
                "{metric} was {} in {}, {what}",
                format_value(*measured, unit),
                format_value(*seconds, "s")
            );
            let remedy =
                "measure longer (`probe=`), or take a faster storage below an emulated disk";
            (row, FiredCheck::new(text).at(W).remedy(remedy))
        }
        _ => return None,
    })
}

/// True if an observation for which [`judge`] has a finding makes this metric value doubtful.
pub(super) fn touches(seen: &Observation, of: &MetricValue) -> bool {
    match seen {
        Observation::Stopped => of.name == TIMED_BY_ASSAY,
        Observation::Suspended { .. } => true,
        Observation::ClockStepped { .. } => {
            of.name != TIMED_BY_ASSAY && !ACCOUNTED.contains(&of.name.as_str())
        }
        Observation::GuestMachine { .. } => !of.counted,
        Observation::Probed { metric, .. }
        | Observation::OthersComputed { metric, .. }
        | Observation::ColdStart { metric, .. } => of.name == *metric,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use crate::judge_seen;

    use super::*;

    fn probed(measured: f64, held: Option<f64>, cached: bool) -> Option<String> {
        let (metric, unit) = ("storage_sequential_read".to_owned(), "B/s".to_owned());
        let seen = Observation::Probed { metric, measured, unit, held, seconds: 0.1, cached };
        judge_seen(&seen).map(|f| f.id)
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
