//! F15: the clock is good enough for the timings, and the window is long enough.

use assay_model::units::format_value;

use crate::catalogue::workload::limiter_known::{PROBE_DEVIATION, probe_finding};
use crate::prelude::*;

pub const TIMER_AND_LENGTH: CheckRow = CheckRow {
    id: "F15",
    name: "timer-and-length",
    section: CheckSection::Environment,
    severity: WARNING,
    escalation: "invalid above 10 % of a timing, or when the window is shorter than the \
        benchmark's rules demand",
    needs: "the clock's resolution and overhead, the shortest timing, the window",
    fires: "resolution and overhead are more than 1 % of a timing",
    why: "a short timing measures the clock",
    remedy: "time many operations at once",
    source: "Hoefler and Belli; MLPerf (600 s)",
    evidence: "the resolution and cost of the clock, measured once a run, and the shortest trial",
};

pub const CHECK: Check = Check::new(&TIMER_AND_LENGTH, evaluate).on_observations(judge_observation);

/// Share of the clock in a timing that gives a finding, and the share that voids the timing.
const MAX_CLOCK_SHARE: f64 = 0.01;
const INVALID_CLOCK_SHARE: f64 = 0.10;
/// Clock sources that are read without entering the kernel and do not drift: x86, ARM, POWER, s390
/// and RISC-V.
const GOOD_CLOCKS: [&str; 5] = ["tsc", "arch_sys_counter", "timebase", "tod", "riscv_clocksource"];

fn evaluate(e: &Evidence) -> Evaluation {
    let mut found = Vec::new();
    let mut lacking = Vec::new();
    for treatment in e.measured()? {
        let label = &treatment.label;
        let timing = treatment.need(treatment.timing.as_ref(), "the timings")?;
        let (Some(sample), Some(resolution), Some(overhead)) =
            (timing.sample_s, timing.resolution_s, timing.overhead_s)
        else {
            lacking
                .push(format!("the shortest timing of {label}, or the clock's resolution or cost"));
            continue;
        };
        let share = (resolution + overhead) / sample;
        let (percent, sample) = (share * 100.0, format_value(sample, "s"));
        let text = format!("the clock is {percent:.1} % of the timings of {label} ({sample})");
        // For a timing of 0 or less the share is not finite: the clock is all that was measured.
        if !share.is_finite() || share > INVALID_CLOCK_SHARE {
            found.push(invalid(text));
        } else if share > MAX_CLOCK_SHARE {
            found.push(finding(text));
        }
        if let Some(minimum) = timing.min_window_s {
            match timing.window_s {
                Some(window) if window < minimum => found.push(invalid(format!(
                    "{label} was measured for {window:.1} s; the benchmark asks for {minimum:.1} s"
                ))),
                Some(_) => {}
                None => lacking.push(format!("the window of {label}")),
            }
        }
    }
    found_or_missing(found, &lacking)
}

fn judge_observation(observation: &Observation) -> Option<FiredCheck> {
    Some(match observation {
        Observation::ClockSource { source } if !GOOD_CLOCKS.contains(&source.as_str()) => {
            let remedy = "see in the kernel log (`clocksource`) why no better one was chosen, or \
                          time longer intervals";
            finding(format!(
                "the clock source is `{source}`: reads may be slow or uneven, which affects short \
                 timings"
            ))
            .remedy(remedy)
        }
        Observation::Stopped => {
            let text = "assay was stopped during the trial: a program that ended in between \
                        was timed until assay continued";
            warning(text).remedy("repeat the run without stopping assay")
        }
        Observation::ClockStepped { seconds } => {
            let text = format!(
                "the time of day was set {} by {} during the trial: times that the program derived \
                from it are wrong",
                if *seconds < 0.0 { "back" } else { "forward" },
                format_value(seconds.abs(), "s")
            );
            warning(text).remedy("synchronize the clock before the run, and repeat it")
        }
        Observation::Probed { metric, measured, unit, held, seconds, cached } => {
            let how = match held {
                Some(held) if *measured > held * (1.0 + PROBE_DEVIATION) => {
                    format!("more than its limit of {}: a burst", format_value(*held, unit))
                }
                Some(held) if *measured < held * (1.0 - PROBE_DEVIATION) => return None,
                _ if *cached => "through a cache".to_owned(),
                _ => return None,
            };
            probe_finding(metric, &format_value(*measured, unit), *seconds, &how)
        }
        _ => return None,
    })
}
