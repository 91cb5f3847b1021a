//! Findings about a trial's program: limits, memory, changed settings and errors.

use assay_model::units::format_bytes;
use assay_model::{FiredCheck, Observation};

use super::judged::JudgedCheck;
use crate::check::{I, W};
use crate::rows;

/// Maximum share of CPU-quota periods in which throttling is harmless.
const STOPPED: f64 = 0.01;
/// Bytes of I/O below which an I/O limit is harmless.
const ENOUGH_IO: u64 = 1 << 20;
/// Bytes of memory below which missing huge pages mean nothing.
const ENOUGH_MEMORY: u64 = 8 << 20;
/// Huge-page coverage below which a request for huge pages gives a warning.
const ENOUGH_HUGE: f64 = 0.5;

pub(super) fn judge(seen: &Observation) -> JudgedCheck {
    Some(match seen {
        Observation::NotPutBack { error } => {
            let found = FiredCheck::new(format!(
                "a setting could not be restored after the trial: {error}"
            ));
            (&rows::ENVIRONMENT_STABLE, found.at(I).remedy("run `assay doctor --restore`"))
        }
        Observation::Limited { periods, stopped, stopped_s, memory } => {
            let share = *stopped as f64 / (*periods).max(1) as f64;
            let text = if share > STOPPED {
                format!(
                    "the CPU quota of a control group stopped the program in {stopped} of {periods} periods, {} in all",
                    assay_model::units::format_value(*stopped_s, "s")
                )
            } else if *memory > 0 {
                format!("the memory limit of a control group was reached {memory} times")
            } else {
                return None;
            };
            let remedy = "raise the limit, or measure `user` instead of `elapsed`";
            (&rows::CPU_RESOURCES, FiredCheck::new(text).at(W).remedy(remedy))
        }
        Observation::LimitedIo { limits, bytes } => (*bytes >= ENOUGH_IO).then(|| {
            let text = format!(
                "{} were read and written under an I/O limit of a control group: {limits}",
                format_bytes(*bytes)
            );
            (&rows::CPU_RESOURCES, FiredCheck::new(text).at(W).remedy("lift the limit (`io.max`)"))
        })?,
        Observation::Changed { paths } => (!paths.is_empty()).then(|| {
            let found =
                FiredCheck::new(format!("{} changed since the start of the run", paths.join(", ")));
            (&rows::ENVIRONMENT_STABLE, found.at(I).remedy("find what changed it and run again"))
        })?,
        Observation::LargePages { level, memory, large } => {
            let small = level == "4KiB";
            let what = if small && *large > 0 {
                format!("{} of the program's memory were in large pages", format_bytes(*large))
            } else if !small && *large == 0 && *memory >= ENOUGH_MEMORY {
                format!(
                    "none of the {} of the program's memory was in large pages",
                    format_bytes(*memory)
                )
            } else {
                return None;
            };
            let text = format!("the level `{level}` of the control `pages` did not take: {what}");
            let remedy = "see whether the program asks for large pages in a way of its own (a Java heap \
                          does), and whether the machine has memory in large pieces";
            (&rows::PAGE_SIZE, FiredCheck::new(text).at(I).remedy(remedy))
        }
        Observation::HugePagesAsked { asked, share } => (*share < ENOUGH_HUGE).then(|| {
            let text = format!(
                "`{asked}` was asked for, and {:.0} % of the memory is in huge pages",
                100.0 * share
            );
            let remedy = "reserve as many as the heaps need: the control `hugepages`";
            (&rows::PAGE_SIZE, FiredCheck::new(text).at(W).remedy(remedy))
        })?,
        Observation::Crowding { what, count, cpus } => (count > cpus).then(|| {
            let text = format!(
                "{count} {what} share {cpus} CPUs: they take turns, and none has a CPU of its own"
            );
            let remedy = format!(
                "run at most as many {what} as there are CPUs, or state it with the number"
            );
            (&rows::CPU_RESOURCES, FiredCheck::new(text).at(W).remedy(remedy))
        })?,
        Observation::Errors { program, count } => (*count > 0.0).then(|| {
            let text = format!("{program} counts {count} errors; its rates leave them out");
            let remedy = "find out what failed before its numbers are compared";
            (&rows::OUTPUT_VERIFIED, FiredCheck::new(text).at(W).remedy(remedy))
        })?,
        Observation::Disagreement { what, printed, computed } => {
            let text =
                format!("the file says {what} {printed}, and its own values give {computed}");
            let remedy = "find out whether the file was changed after it was written";
            (&rows::OUTPUT_VERIFIED, FiredCheck::new(text).at(W).remedy(remedy))
        }
        Observation::Estimate { invalid } => {
            let text = if *invalid {
                "SPEC's tools marked this result as invalid"
            } else {
                "the result is not a reportable one, and SPEC calls such numbers estimates"
            };
            let remedy = "state it next to each of its numbers (SPEC CPU, run and reporting rules)";
            (&rows::REQUIRED_DISCLOSURE, FiredCheck::new(text).at(W).remedy(remedy))
        }
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use assay_model::{Observation, Severity};

    use crate::judge_seen;

    #[test]
    fn io_under_a_limit_is_named_with_the_limit() {
        let limits = || "8:0 rbps=2097152 wbps=max riops=max wiops=max".to_owned();
        let found = |bytes| judge_seen(&Observation::LimitedIo { limits: limits(), bytes });
        let finding = found(8 << 20).unwrap();
        assert_eq!((finding.id.as_str(), finding.severity), ("F07", Severity::Warning));
        assert!(finding.message.contains("8 MiB") && finding.message.contains(&limits()));
        assert_eq!(found(4096), None);
    }
}
