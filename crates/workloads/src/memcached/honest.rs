//! What speaks against a run's numbers: the load generator as the limit, a load that never settled, a
//! cache that threw objects out. Findings for the record, with the ids of the catalogue of checks.

use assay_memload::Report;
use assay_memload::config::{Config, Mode};
use assay_memload::limiter::{BUSY, Limit, Limiter};
use assay_model::{Event, Severity, units};
use assay_stats::warmup::Class;

use super::server_side::Seen;

/// A finding as an event.
pub fn finding(id: &str, name: &str, severity: Severity, message: String, remedy: &str) -> Event {
    Event::Finding {
        finding: id.into(),
        name: name.into(),
        severity,
        message,
        remedy: remedy.into(),
    }
}

/// What limited a run, where the server has `cpus` CPUs (`None`: not known): also a server whose many
/// threads fill its CPUs together, none of them busy by itself, is the limit.
pub fn judged(limit: &Limit, cpus: Option<usize>) -> Limit {
    let mut limit = limit.clone();
    if let (Limiter::Unknown, Some(used), Some(cpus)) = (limit.limiter, limit.server, cpus) {
        let share = used.cpus / cpus.max(1) as f64;
        if share > BUSY {
            limit.limiter = Limiter::Server;
            limit.reasons.push(format!("which is {:.0} % of the CPUs that it has", share * 100.0));
        }
    }
    limit
}

/// Everything that is found about a run; `limit` as [`judged`].
pub fn findings(config: &Config, report: &Report, seen: &Seen, limit: &Limit) -> Vec<Event> {
    [limiter(limit), settled(report), evicted(config, report, seen)].into_iter().flatten().collect()
}

/// F22: the load generator may be the limit. Where the server was busy as well, both were near their
/// limit, which warns; else the throughput is the generator's. F21: nothing is known to be the limit.
pub fn limiter(limit: &Limit) -> Option<Event> {
    let why = limit.reasons.join("; ");
    match limit.limiter {
        Limiter::Generator => {
            let both = limit.server.is_some_and(|used| used.busiest > BUSY);
            let severity = if both { Severity::Warning } else { Severity::Invalid };
            Some(finding(
                "F22",
                "generator-not-limit",
                severity,
                format!("the load generator may be the limit: {why}"),
                "give it CPUs of its own (`client.cpus`, `server.cpus`) and more threads (`client.threads`), or \
                 another machine (`server.address`)",
            ))
        }
        Limiter::Unknown => Some(finding(
            "F21",
            "limiter-known",
            Severity::Warning,
            format!("what limited the throughput is not known: {why}"),
            "try more `connections` or a larger `depth`: if the throughput grows, they were the limit",
        )),
        Limiter::Server | Limiter::Load => None,
    }
}

/// F25: the load did not settle.
fn settled(report: &Report) -> Option<Event> {
    let bins = units::format_duration(report.bin);
    let (severity, message, remedy) = match report.steady.class {
        Class::Flat => return None,
        Class::Warmup | Class::Slowdown => {
            let start = report.steady.start? as f64 * report.bin.as_secs_f64();
            let way = if report.steady.class == Class::Warmup { "rose" } else { "fell" };
            let share = start / report.window_s();
            let severity = if share > 0.1 { Severity::Warning } else { Severity::Note };
            let message = format!(
                "the throughput {way} until {} into the measurement window, then it was steady",
                units::format_value(start, "s")
            );
            (severity, message, "make `ramp_up` longer")
        }
        Class::NoSteadyState => (
            Severity::Warning,
            format!(
                "the throughput did not settle within the measurement window (looked at every {bins})"
            ),
            "make `ramp_up` and `steady` longer; see the series for what happens",
        ),
        Class::TooShort => (
            Severity::Note,
            format!(
                "the measurement window has fewer than {} stretches of {bins}: whether it was steady is not known",
                assay_stats::warmup::SHORTEST
            ),
            "make `steady` longer",
        ),
    };
    Some(finding("F25", "steady-state", severity, message, remedy))
}

/// F16: objects were thrown out, so that the run asked for less than it was to.
fn evicted(config: &Config, report: &Report, seen: &Seen) -> Option<Event> {
    let theirs = seen.window_count("evictions").unwrap_or(0);
    if theirs == 0 && report.evicted == 0 {
        return None;
    }
    let hits = report.hit_share().map_or("unknown".to_owned(), |h| format!("{:.2} %", h * 100.0));
    Some(finding(
        "F16",
        "same-work",
        Severity::Warning,
        format!(
            "the server threw {theirs} objects out for others in the measurement window, and {} gets asked for one \
             that was gone: the share of hits was {hits} where {:.2} % were asked for",
            report.evicted,
            config.mix.hit_share * 100.0
        ),
        "raise `server.memory`, or ask for fewer `keys`",
    ))
}

/// Sentences about how the load was made, for the record; `limit` as [`judged`].
pub fn notes(config: &Config, report: &Report, limit: &Limit) -> Vec<String> {
    let what = match limit.limiter {
        Limiter::Generator => "the load generator may have been the limit",
        Limiter::Server => "the server was the limit",
        Limiter::Load => "the load that was asked for was the limit",
        Limiter::Unknown => "the limit is not known",
    };
    let mut notes = vec![format!("{what}: {}", limit.reasons.join("; "))];
    match config.mode {
        Mode::Closed { .. } => notes.push(
            "response times are those of a closed loop: while the server stalls nobody asks, so they leave out what \
             users would have waited meanwhile; an open loop (`mode = \"open\"`) has it"
                .into(),
        ),
        Mode::Open { rate, .. } => {
            let throughput = report.throughput().unwrap_or(0.0);
            if report.unanswered > 0 || throughput < 0.98 * rate {
                notes.push(format!(
                    "the rate of {} was not kept: {} were answered, {} operations had no answer",
                    units::format_value(rate, "ops/s"),
                    units::format_value(throughput, "ops/s"),
                    report.unanswered
                ));
            }
            if let Some(late) = &report.late
                && late.own.value_at_quantile(0.99) > 100_000
            {
                notes.push(format!(
                    "the load generator itself sent 1 in 100 operations {} or more after they were due; that is in \
                     their response times",
                    units::format_value(late.own.value_at_quantile(0.99) as f64 * 1e-9, "s")
                ));
            }
        }
    }
    if report.read_late > 0 {
        notes.push(format!(
            "{} batches of answers were shorter than foreseen and read up to some milliseconds late",
            report.read_late
        ));
    }
    notes
}

#[cfg(test)]
mod tests {
    use assay_memload::server_use::ServerUse;

    use super::*;

    fn limit(limiter: Limiter, server: Option<f64>) -> Limit {
        Limit {
            limiter,
            reasons: vec!["why".into()],
            generator_busy: Some(0.9),
            server: server.map(|busiest| ServerUse { cpus: busiest, busiest }),
        }
    }

    #[test]
    fn a_busy_generator_is_worse_beside_an_idle_server() {
        let severity = |l: Limit| match limiter(&l) {
            Some(Event::Finding { finding, severity, .. }) => Some((finding, severity)),
            _ => None,
        };
        let generator = |server| severity(limit(Limiter::Generator, server));
        assert_eq!(generator(Some(0.9)), Some(("F22".into(), Severity::Warning)));
        assert_eq!(generator(Some(0.5)), Some(("F22".into(), Severity::Invalid)));
        assert_eq!(generator(None), Some(("F22".into(), Severity::Invalid)));
        assert_eq!(
            severity(limit(Limiter::Unknown, None)),
            Some(("F21".into(), Severity::Warning))
        );
        assert_eq!(severity(limit(Limiter::Server, Some(0.9))), None);
        assert_eq!(severity(limit(Limiter::Load, None)), None);
    }

    #[test]
    fn a_server_that_fills_its_cpus_is_the_limit() {
        let of = |cpus, have| {
            let used = Some(ServerUse { cpus, busiest: 0.4 });
            judged(&Limit { server: used, ..limit(Limiter::Unknown, None) }, have).limiter
        };
        assert_eq!(of(1.9, Some(2)), Limiter::Server);
        assert_eq!(of(1.0, Some(2)), Limiter::Unknown);
        assert_eq!(of(1.9, None), Limiter::Unknown);
    }
}
