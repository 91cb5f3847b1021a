//! Evidence for or against a run's numbers: the limiting side, whether the throughput settled, and
//! evictions. The catalogue of checks judges it.

use assay_loadgen::LoadReport;
use assay_loadgen::config::{Config, Mode};
use assay_loadgen::latency::limiter::{BUSY, Limit};
use assay_model::{LimitedBy, Observation, units};

use crate::builtin::key_value::answers::{Answers, wrong_words};
use crate::builtin::key_value::dialect::Dialect;
use crate::builtin::key_value::server_side::ServerCounters;

/// Returns the limit of a run, refined by the number of CPUs that the server has (`cpus`, `None` if
/// unknown): a server whose threads together fill its CPUs is the limit too, even if no single
/// thread is busy.
pub fn judged(limit: &Limit, cpus: Option<usize>) -> Limit {
    let mut limit = limit.clone();
    if let (LimitedBy::Unknown, Some(used), Some(cpus)) = (limit.limiter, limit.server, cpus) {
        let share = used.cpus / cpus.max(1) as f64;
        if share > BUSY {
            limit.limiter = LimitedBy::Server;
            limit.reasons.push(format!("which is {:.0} % of the CPUs that it has", share * 100.0));
        }
    }
    limit
}

/// Returns all evidence for or against a run's numbers; `limit` comes from [`judged`].
pub fn evidence(
    dialect: &Dialect,
    config: &Config,
    report: &LoadReport,
    seen: &ServerCounters,
    limit: &Limit,
) -> Vec<Observation> {
    let mut all = vec![limiter(limit, seen.others_busy(dialect)), settling(report)];
    all.extend(evictions(dialect, config, report, seen));
    all
}

/// Returns the counts of answered, wrong and missing operations as evidence. Refusals within the
/// share `max_errors` are not wrong.
pub fn operations(
    config: &Config,
    report: &LoadReport,
    max_missing: f64,
    max_errors: f64,
) -> Observation {
    let answered = Answers::new(report).total();
    let allowed = wrong_words(&report.errors, answered, max_errors).is_none();
    Observation::Operations {
        answered,
        wrong: if allowed { 0 } else { report.errors.wrong() },
        missing: report.errors.missing(),
        allowed: max_missing,
        within: config.op_timeout.as_secs_f64(),
    }
}

/// Returns the limiting side as evidence.
pub fn limiter(limit: &Limit, others_busy: Option<f64>) -> Observation {
    Observation::Limit {
        by: limit.limiter,
        reasons: limit.reasons.clone(),
        generator_busy: limit.generator_busy,
        server_busy: limit.server.map(|used| used.busiest),
        others_busy,
    }
}

/// Returns the shape of the throughput series as evidence.
fn settling(report: &LoadReport) -> Observation {
    let bin = report.bin.as_secs_f64();
    Observation::Settling {
        shape: report.steady.class,
        steady_from: report.steady.start.map(|bins| bins as f64 * bin),
        window: report.window_s(),
        bin,
    }
}

/// Returns the evictions as evidence, or `None` if the server does not count them or the load
/// includes them.
fn evictions(
    dialect: &Dialect,
    config: &Config,
    report: &LoadReport,
    seen: &ServerCounters,
) -> Option<Observation> {
    if config.mix.read_through {
        return None;
    }
    // Deletes make gets miss, too.
    let gone = if config.mix.delete_share > 0.0 { 0 } else { report.evicted };
    Some(Observation::Evictions {
        evicted: seen.window_count(dialect.evictions)?,
        gone,
        hit_ratio: report.hit_ratio(),
        asked: config.mix.hit_ratio,
    })
}

/// Returns notes for the record on how the load was generated; `limit` comes from [`judged`].
pub fn notes(config: &Config, report: &LoadReport, limit: &Limit) -> Vec<String> {
    let what = match limit.limiter {
        LimitedBy::Generator => "the load generator may have been the limit",
        LimitedBy::Server => "the server was the limit",
        LimitedBy::Load => "the requested load was the limit",
        LimitedBy::Unknown => "the limit is unknown",
    };
    let mut notes = vec![format!("{what}: {}", limit.reasons.join("; "))];
    match config.mode {
        Mode::Closed { .. } => notes.push(
            "response times are those of a closed loop: while the server stalls nothing is sent, \
             so they omit the time that users would have waited; an open loop (`mode = \"open\"`) \
             includes it"
                .into(),
        ),
        Mode::Open { rate, .. } => {
            let throughput = report.throughput().unwrap_or(0.0);
            if report.unanswered > 0 || throughput < 0.98 * rate {
                notes.push(format!(
                    "the rate of {} was not held: {} were answered, {} operations had no answer",
                    units::format_value(rate, "ops/s"),
                    units::format_value(throughput, "ops/s"),
                    report.unanswered
                ));
            }
            if let Some(late) = &report.late
                && late.own.value_at_quantile(0.99) > 100_000
            {
                notes.push(format!(
                    "the load generator itself sent 1 in 100 operations {} or more after they were \
                     due; their response times include this",
                    units::format_value(late.own.value_at_quantile(0.99) as f64 * 1e-9, "s")
                ));
            }
        }
    }
    if report.read_late > 0 {
        notes.push(format!(
            "{} batches of answers were shorter than expected and read some ms late",
            report.read_late
        ));
    }
    notes
}

#[cfg(test)]
mod tests {
    use assay_loadgen::server_use::ServerUse;

    use super::*;

    fn limit(limiter: LimitedBy, server: Option<f64>) -> Limit {
        Limit {
            limiter,
            reasons: vec!["why".into()],
            generator_busy: Some(0.9),
            server: server.map(|busiest| ServerUse { cpus: busiest, busiest }),
        }
    }

    #[test]
    fn a_server_that_fills_its_cpus_is_the_limit() {
        let of = |cpus, have| {
            let used = Some(ServerUse { cpus, busiest: 0.4 });
            judged(&Limit { server: used, ..limit(LimitedBy::Unknown, None) }, have).limiter
        };
        assert_eq!(of(1.9, Some(2)), LimitedBy::Server);
        assert_eq!(of(1.0, Some(2)), LimitedBy::Unknown);
        assert_eq!(of(1.9, None), LimitedBy::Unknown);
    }
}
