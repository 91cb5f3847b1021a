//! Determines what limited the throughput of a run.

use assay_model::LimitedBy;
use rustix::process::Pid;
use rustix::thread::sched_getaffinity;

use crate::config::{Config, Mode, Think};
use crate::latency::report::ThreadUse;
use crate::server_use::ServerUse;

/// CPU use of a generator thread above which the generator may be the limit.
pub const BUSY: f64 = 0.8;
/// CPU use of a server thread above which the server is the limit, if the generator has CPU time to
/// spare.
const SERVER_BUSY: f64 = 0.8;

/// The limit of the throughput, with reasons.
#[derive(Debug, Clone, PartialEq)]
pub struct Limit {
    /// The limiting side. `Generator`: one of its threads used more than [`BUSY`] of a CPU, or the
    /// server may run on its CPUs. `Load`: the requested schedule or think time was kept. `Server`:
    /// one of its threads used more than 80 % of a CPU, and the generator had CPU time to spare.
    /// `Unknown`: the network, the number of connections times the depth, or the server in a way
    /// that its CPU time does not show.
    pub limiter: LimitedBy,
    /// Reasons as sentences, including facts that are unknown.
    pub reasons: Vec<String>,
    /// CPU use of the generator's busiest thread, as a share of one CPU.
    pub generator_busy: Option<f64>,
    /// CPU use of the server; `None` if its process was not given or has exited.
    pub server: Option<ServerUse>,
}

/// Returns the CPUs in the affinity mask of a process (`None`: of this thread).
fn cpus_of(pid: Option<u32>) -> Option<Vec<usize>> {
    let pid = match pid {
        Some(pid) => Some(Pid::from_raw(i32::try_from(pid).ok()?)?),
        None => None,
    };
    let set = sched_getaffinity(pid).ok()?;
    Some((0..rustix::thread::CpuSet::MAX_CPU).filter(|c| set.is_set(*c)).collect())
}

/// Determines the limit. `kept_rate` is true if an open loop sent all operations that were due.
pub fn limit(
    config: &Config,
    threads: &[ThreadUse],
    server_use: Option<ServerUse>,
    kept_rate: bool,
) -> Limit {
    let generator_busy = threads.iter().filter_map(ThreadUse::busy).reduce(f64::max);
    let mut reasons = Vec::new();
    let mut generator = false;
    match generator_busy {
        Some(busy) if busy > BUSY => {
            generator = true;
            reasons.push(format!(
                "a thread of the generator used {:.0} % of its CPU (above {:.0} %)",
                busy * 100.0,
                BUSY * 100.0
            ));
        }
        None => {
            reasons.push("the generator's CPU use is unknown: the window was empty".to_owned());
        }
        Some(_) => {}
    }
    let server = config.server_pid.and_then(|pid| cpus_of(Some(pid)));
    let ours = config.cpus.clone();
    match (&ours, &server) {
        (None, Some(_)) => {
            generator = true;
            reasons.push(
                "generator and server share this machine, and the generator is not bound to CPUs"
                    .to_owned(),
            );
        }
        (Some(ours), Some(server)) if ours.iter().any(|c| server.contains(c)) => {
            generator = true;
            reasons.push("the server may run on the generator's CPUs".to_owned());
        }
        (None, None) => reasons.push("the generator's threads are not bound to CPUs".to_owned()),
        _ => {}
    }
    let asked = match config.mode {
        Mode::Open { .. } => kept_rate,
        Mode::Closed { think } => think != Think::None,
    };
    let server_busy = server_use.is_some_and(|used| used.busiest > SERVER_BUSY);
    reasons.push(match server_use {
        Some(used) => format!(
            "the server used {:.2} CPUs, its busiest thread {:.0} % of one",
            used.cpus,
            used.busiest * 100.0
        ),
        None => "the server's CPU use is unknown".to_owned(),
    });
    let limiter = if generator {
        LimitedBy::Generator
    } else if asked {
        reasons.push("the requested load was sustained".to_owned());
        LimitedBy::Load
    } else if server_busy {
        LimitedBy::Server
    } else {
        LimitedBy::Unknown
    };
    Limit { limiter, reasons, generator_busy, server: server_use }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Arrivals;

    fn server(busiest: f64) -> ServerUse {
        ServerUse { cpus: busiest, busiest }
    }

    fn used(busy: f64) -> Vec<ThreadUse> {
        vec![ThreadUse { cpu: Some(0), cpu_s: busy, wall_s: 1.0 }]
    }

    #[test]
    fn a_busy_generator_is_the_limit_whatever_the_server_does() {
        let config = Config { cpus: Some(vec![0]), ..Config::default() };
        let l = limit(&config, &used(0.9), Some(server(0.99)), true);
        assert_eq!(l.limiter, LimitedBy::Generator);
        assert!(l.reasons[0].contains("90 %"), "{:?}", l.reasons);
        assert_eq!(limit(&config, &used(0.5), Some(server(0.99)), true).limiter, LimitedBy::Server);
        assert_eq!(limit(&config, &used(0.5), None, true).limiter, LimitedBy::Unknown);
        assert_eq!(limit(&config, &[], None, true).generator_busy, None);
    }

    #[test]
    fn a_kept_schedule_is_the_limit_that_was_asked_for() {
        let mode = Mode::Open { rate: 10.0, arrivals: Arrivals::Even };
        let config = Config { cpus: Some(vec![0]), mode, ..Config::default() };
        assert_eq!(limit(&config, &used(0.1), Some(server(0.2)), true).limiter, LimitedBy::Load);
        assert_eq!(
            limit(&config, &used(0.1), Some(server(0.2)), false).limiter,
            LimitedBy::Unknown
        );
    }

    #[test]
    fn sharing_cpus_with_the_server_is_found() {
        let pid = Some(std::process::id());
        let config = Config { cpus: None, server_pid: pid, ..Config::default() };
        assert_eq!(limit(&config, &used(0.1), None, true).limiter, LimitedBy::Generator);
        let own = cpus_of(None).expect("Linux tells a thread's CPUs");
        let config = Config { cpus: Some(own), server_pid: pid, ..Config::default() };
        let l = limit(&config, &used(0.1), None, true);
        assert!(l.reasons.iter().any(|r| r.contains("generator's CPUs")), "{:?}", l.reasons);
    }
}
