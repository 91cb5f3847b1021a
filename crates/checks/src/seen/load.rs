//! Findings about a load and its generator: the limiting side, steady state, lost and missing work.

use assay_model::units::{format_duration, format_value};
use assay_model::{FiredCheck, LimitedBy, Observation, SeriesShape};

use super::judged::JudgedCheck;
use crate::check::{I, N, W};
use crate::rows;

/// CPU use of a server above which it is near its limit.
const BUSY: f64 = 0.8;
/// Share of the machine's CPU time used by other work above which it starves a load.
const STARVED: f64 = 0.25;
/// Share of the measurement window above which a warm-up gives a warning.
const MAX_WARMUP: f64 = 0.1;

pub(super) fn judge(seen: &Observation) -> JudgedCheck {
    match seen {
        Observation::Limit { by, reasons, server_busy, others_busy, .. } => {
            limit(*by, reasons, *server_busy, *others_busy)
        }
        Observation::Settling { shape, steady_from, window, bin } => {
            settling(*shape, *steady_from, *window, *bin)
        }
        Observation::Evictions { evicted, gone, hit_ratio, asked } => {
            evictions(*evicted, *gone, *hit_ratio, *asked)
        }
        Observation::Operations { answered, wrong, missing, allowed, within } => {
            unanswered(*missing, answered + wrong + missing, *allowed, *within)
        }
        _ => None,
    }
}

/// Judges whether the load generator was the limit. If the server was busy as well, both were near
/// their limit: a warning; else the throughput is the generator's.
fn limit(
    by: LimitedBy,
    reasons: &[String],
    server_busy: Option<f64>,
    others_busy: Option<f64>,
) -> JudgedCheck {
    let why = reasons.join("; ");
    match by {
        LimitedBy::Generator => {
            let both = server_busy.is_some_and(|busy| busy > BUSY);
            let found = FiredCheck::new(format!("the load generator may be the limit: {why}"))
                .at(if both { W } else { I })
                .remedy(
                    "give it CPUs of its own (`client.cpus`, `server.cpus`) and more threads \
                     (`client.threads`), or another machine (`server.address`)",
                );
            Some((&rows::GENERATOR_NOT_LIMIT, found))
        }
        LimitedBy::Unknown if others_busy.is_some_and(|share| share > STARVED) => {
            let share = others_busy.unwrap_or_default() * 100.0;
            let found = FiredCheck::new(format!(
                "other work used {share:.0} % of the machine's CPU time and may be the limit: {why}"
            ))
            .at(W)
            .remedy("end the other work, or keep it off these CPUs (`client.cpus`, `server.cpus`)");
            Some((&rows::LIMITER_KNOWN, found))
        }
        LimitedBy::Unknown => {
            let found = FiredCheck::new(format!("what limited the throughput is not known: {why}"))
                .at(W)
                .remedy(
                    "try more `connections` or a larger `depth`: if the throughput grows, they were the limit",
                );
            Some((&rows::LIMITER_KNOWN, found))
        }
        LimitedBy::Server | LimitedBy::Load => None,
    }
}

fn settling(shape: SeriesShape, steady_from: Option<f64>, window: f64, bin: f64) -> JudgedCheck {
    let bins = format_duration(std::time::Duration::from_secs_f64(bin.clamp(0.0, 1e9)));
    let (severity, message, remedy) = match shape {
        // For a window that is too short, the check over the whole run reports that it cannot
        // check.
        SeriesShape::Flat | SeriesShape::TooShort => return None,
        SeriesShape::Warmup | SeriesShape::Slowdown => {
            let start = steady_from?;
            let way = if shape == SeriesShape::Warmup { "rose" } else { "fell" };
            let severity = if start / window > MAX_WARMUP { W } else { N };
            let message = format!(
                "the throughput {way} until {} into the measurement window, then it was steady",
                format_value(start, "s")
            );
            (severity, message, "make `ramp_up` longer")
        }
        SeriesShape::NoSteadyState => (
            W,
            format!(
                "the throughput did not settle within the measurement window (checked every {bins})"
            ),
            "make `ramp_up` and `steady` longer; see the series for what happens",
        ),
    };
    Some((&rows::STEADY_STATE, FiredCheck::new(message).at(severity).remedy(remedy)))
}

fn evictions(evicted: u64, gone: u64, hit_ratio: Option<f64>, asked: f64) -> JudgedCheck {
    if evicted == 0 && gone == 0 {
        return None;
    }
    let hits = hit_ratio.map_or("unknown".to_owned(), |h| format!("{:.2} %", h * 100.0));
    let found = FiredCheck::new(format!(
        "the server threw {evicted} objects out for others in the measurement window, and {gone} gets asked \
         for one that was gone: the share of hits was {hits} where {:.2} % were asked for",
        asked * 100.0
    ));
    let remedy = "raise `server.memory`, or ask for fewer `keys`";
    Some((&rows::SAME_WORK, found.at(W).remedy(remedy)))
}

/// Judges operations without a response. They are work that was not done, never wrong output: up to
/// the share that the user allows they are a note, above it the load was not the requested one.
fn unanswered(missing: u64, asked: u64, allowed: f64, within: f64) -> JudgedCheck {
    let share = missing as f64 / asked.max(1) as f64;
    let limit = format!("the {} % that `max_missing` allows", allowed * 100.0);
    let (severity, side) = if share > allowed { (I, "more than") } else { (N, "no more than") };
    let found = FiredCheck::new(format!(
        "{missing} of {asked} operations ({:.2} %) had no answer within {}, or their connection was lost: {side} \
         {limit}",
        share * 100.0,
        format_value(within, "s"),
    ));
    let remedy = "find what stalled the server; `op_timeout` and `max_missing` set what is allowed";
    (missing > 0).then_some((&rows::SAME_WORK, found.at(severity).remedy(remedy)))
}

#[cfg(test)]
mod tests {
    use assay_model::Severity;

    use super::*;
    use crate::judge_seen;

    fn found(by: LimitedBy, server_busy: Option<f64>) -> Option<(String, Severity)> {
        let reasons = vec!["why".into()];
        let (generator_busy, others_busy) = (Some(0.9), None);
        let seen = Observation::Limit { by, reasons, generator_busy, server_busy, others_busy };
        judge_seen(&seen).map(|f| (f.id, f.severity))
    }

    #[test]
    fn who_is_starved_by_others_is_not_advised_to_ask_for_more() {
        let remedy = |others_busy| {
            let (by, reasons) = (LimitedBy::Unknown, vec!["why".into()]);
            let (generator_busy, server_busy) = (Some(0.3), Some(0.3));
            let seen = Observation::Limit { by, reasons, generator_busy, server_busy, others_busy };
            judge_seen(&seen).unwrap().remedy
        };
        assert!(remedy(Some(0.6)).contains("end the other work"));
        assert!(remedy(Some(0.1)).contains("`connections`"));
        assert!(remedy(None).contains("`connections`"));
    }

    #[test]
    fn missing_answers_are_judged_by_the_limit_that_is_set_and_are_no_wrong_output() {
        let judged = |missing, allowed| {
            let (answered, wrong, within) = (1000 - missing, 0, 1.0);
            let seen = Observation::Operations { answered, wrong, missing, allowed, within };
            judge_seen(&seen).map(|f| (f.id, f.severity))
        };
        assert_eq!(judged(0, 0.0), None);
        assert_eq!(judged(1, 0.001), Some(("F16".into(), Severity::Note)));
        assert_eq!(judged(2, 0.001), Some(("F16".into(), Severity::Invalid)));
    }

    #[test]
    fn a_busy_generator_is_worse_beside_an_idle_server() {
        let generator = |server| found(LimitedBy::Generator, server);
        assert_eq!(generator(Some(0.9)), Some(("F22".into(), Severity::Warning)));
        assert_eq!(generator(Some(0.5)), Some(("F22".into(), Severity::Invalid)));
        assert_eq!(generator(None), Some(("F22".into(), Severity::Invalid)));
        assert_eq!(found(LimitedBy::Unknown, None), Some(("F21".into(), Severity::Warning)));
        assert_eq!(found(LimitedBy::Server, Some(0.9)), None);
        assert_eq!(found(LimitedBy::Load, None), None);
    }
}
