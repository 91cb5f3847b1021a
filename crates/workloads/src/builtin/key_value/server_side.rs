//! The server's counters at several moments of a run, and their comparison with the load
//! generator's counts.

use assay_loadgen::Config;
use assay_system::clock::process_cpu_time;

use crate::builtin::key_value::admin::{AdminConnection, Endpoint, Stats, count};
use crate::builtin::key_value::answers::Answers;
use crate::builtin::key_value::dialect::Dialect;

/// Counters of the server at four moments; `None` if it did not answer.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ServerCounters {
    /// Counters after the cache was filled and before the run.
    pub before: Option<Stats>,
    /// Counters at the start of the measurement window.
    pub from: Option<Stats>,
    /// Counters at the end of the measurement window.
    pub to: Option<Stats>,
    /// Counters after the run.
    pub after: Option<Stats>,
    /// CPU time of the machine at the start and the end of the window.
    pub host: [Option<HostCpu>; 2],
}

/// CPU time since boot, in seconds, of the machine and of this process, the load generator.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct HostCpu {
    /// Busy time of all CPUs, seconds.
    busy: f64,
    /// Total time of all CPUs, seconds.
    total: f64,
    /// CPU time of this process, seconds.
    own: f64,
}

impl HostCpu {
    /// Reads the current CPU times; `None` if `/proc/stat` has an unknown format.
    pub fn read() -> Option<Self> {
        let text = std::fs::read_to_string("/proc/stat").ok()?;
        let (busy, total) = cpu_line(&text)?;
        Some(HostCpu { busy, total, own: process_cpu_time().as_secs_f64() })
    }
}

/// Returns the busy and the total seconds from the first line of `/proc/stat`. Guest time is
/// already included in user time, so it is not added.
fn cpu_line(text: &str) -> Option<(f64, f64)> {
    let words = text.lines().next()?.strip_prefix("cpu ")?.split_whitespace();
    let ticks: Vec<f64> = words.take(8).map(|w| w.parse().ok()).collect::<Option<_>>()?;
    let total: f64 = ticks.iter().sum();
    let idle = ticks.get(3)? + ticks.get(4)?;
    let per_s = rustix::param::clock_ticks_per_second() as f64;
    Some(((total - idle) / per_s, total / per_s))
}

impl ServerCounters {
    /// Returns the increase of a counter over the measurement window.
    pub fn window_count(&self, name: &str) -> Option<u64> {
        grew(self.from.as_ref(), self.to.as_ref(), name)
    }

    /// Returns the increase of a counter over the whole run.
    pub fn run_count(&self, name: &str) -> Option<u64> {
        grew(self.before.as_ref(), self.after.as_ref(), name)
    }

    /// Returns the share of the machine's CPU time in the window that neither the generator nor the
    /// server used, or `None` if one of these is unknown.
    pub fn others_busy(&self, dialect: &Dialect) -> Option<f64> {
        let [from, to] = self.host;
        let (from, to) = (from?, to?);
        let total = to.total - from.total;
        let own = to.own - from.own + self.window_cpu_s(dialect)?;
        (total > 0.0).then(|| ((to.busy - from.busy - own) / total).clamp(0.0, 1.0))
    }

    /// Returns the server's CPU time in the measurement window, in seconds.
    pub fn window_cpu_s(&self, dialect: &Dialect) -> Option<f64> {
        let of = |stats: &Stats| -> Option<f64> {
            dialect.cpu.iter().map(|name| stats.get(*name)?.parse::<f64>().ok()).sum()
        };
        Some(of(self.to.as_ref()?)? - of(self.from.as_ref()?)?)
    }
}

fn grew(from: Option<&Stats>, to: Option<&Stats>, name: &str) -> Option<u64> {
    count(to?, name)?.checked_sub(count(from?, name)?)
}

/// Requests the server's counters; `None` if it does not answer (the load reports that). A failed
/// connection is dropped, because a late answer would be taken for the answer to a later request.
pub fn sample(dialect: &Dialect, talk: &mut Option<AdminConnection>) -> Option<Stats> {
    let stats = (dialect.stats)(talk.as_mut()?).ok();
    if stats.is_none() {
        *talk = None;
    }
    stats
}

/// Connects to the server, if there is an address.
pub fn listen(place: Option<&Endpoint>, config: &Config) -> Option<AdminConnection> {
    AdminConnection::open(place?, config).ok()
}

impl ServerCounters {
    /// Compares the answers of a whole run with the server's counters. The server may have counted
    /// up to `in_flight` operations whose answers came after the end of the series or too late.
    /// Returns a note for the record.
    ///
    /// # Errors
    /// Returns a message that names the counter that disagrees.
    pub fn agree(
        &self,
        dialect: &Dialect,
        ours: &Answers,
        in_flight: u64,
    ) -> Result<String, String> {
        let mut counts = Vec::new();
        for (name, of) in dialect.counted {
            let ours = of(ours);
            let Some(theirs) = self.run_count(name) else {
                return Ok("the server's own counts were unavailable and were not compared".into());
            };
            if theirs < ours || theirs - ours > in_flight {
                return Err(format!(
                    "the server counted {theirs} {name}, the load generator {ours}; \
                     at most {in_flight} can have been in flight at its end"
                ));
            }
            counts.push(format!("{theirs} {name}"));
        }
        Ok(format!(
            "the server's counts over the run ({}) agree with the load generator's",
            counts.join(", ")
        ))
    }

    /// Returns the change if the server that answered after the run is not the one that answered
    /// before it: another version, or one that was started meanwhile.
    pub fn replaced(&self, dialect: &Dialect) -> Option<String> {
        let (before, after) = (self.before.as_ref()?, self.after.as_ref()?);
        let names = [dialect.version, dialect.start];
        let changed = names.into_iter().find(|name| before.get(*name) != after.get(*name))?;
        let of = |stats: &Stats| stats.get(changed).cloned().unwrap_or("none".to_owned());
        Some(format!(
            "another server answered after the run than before it: its {changed} was {}, then {}",
            of(before),
            of(after)
        ))
    }
}

#[cfg(test)]
mod tests {
    use assay_loadgen::Operation;

    use super::*;
    use crate::builtin::memcached::WORKLOAD;

    fn answers(hits: u64, misses: u64, sets: u64) -> Answers {
        let all = [(Operation::GetHit, hits), (Operation::GetMiss, misses), (Operation::Set, sets)];
        Answers::from_counts(&all)
    }

    fn stats(hits: u64, misses: u64, sets: u64) -> Stats {
        let rows =
            [("get_hits", hits), ("get_misses", misses), ("cmd_set", sets), ("evictions", 3)];
        rows.map(|(k, v)| (k.to_owned(), v.to_string())).into()
    }

    #[test]
    fn what_others_used_is_what_is_left_of_the_machine() {
        let dialect = WORKLOAD.0;
        let stat = "cpu  100 0 100 700 100 0 0 0 0 0\ncpu0 1 2 3\n";
        let ticks = rustix::param::clock_ticks_per_second() as f64;
        assert_eq!(cpu_line(stat), Some((200.0 / ticks, 1000.0 / ticks)));
        assert_eq!(cpu_line("intr 1"), None);
        let at = |busy, total, own| Some(HostCpu { busy, total, own });
        let cpu = |s: &str| {
            let rows = [("rusage_user", s), ("rusage_system", "0.0")];
            Some(rows.map(|(k, v)| (k.to_owned(), v.to_owned())).into())
        };
        let mut seen =
            ServerCounters { from: cpu("1.0"), to: cpu("2.0"), ..ServerCounters::default() };
        assert_eq!(seen.others_busy(dialect), None);
        seen.host = [at(10.0, 100.0, 0.0), at(18.0, 110.0, 2.0)];
        // Of 10 s, 8 were busy: 2 by the generator and 1 by the server.
        assert_eq!(seen.others_busy(dialect), Some(0.5));
    }

    #[test]
    fn counts_that_differ_by_what_was_on_its_way_agree() {
        let seen = ServerCounters {
            before: Some(stats(0, 0, 50)),
            after: Some(stats(90, 5, 60)),
            ..ServerCounters::default()
        };
        assert!(seen.agree(WORKLOAD.0, &answers(90, 5, 10), 0).unwrap().contains("90 get_hits"));
        assert!(seen.agree(WORKLOAD.0, &answers(88, 5, 10), 2).is_ok());
        let error = seen.agree(WORKLOAD.0, &answers(88, 5, 10), 1).unwrap_err();
        assert!(error.contains("90 get_hits") && error.contains("88"), "{error}");
        assert!(seen.agree(WORKLOAD.0, &answers(90, 6, 10), 9).unwrap_err().contains("get_misses"));
        let silent = ServerCounters { before: Some(stats(0, 0, 0)), ..ServerCounters::default() };
        assert!(
            silent.agree(WORKLOAD.0, &answers(1, 1, 1), 0).unwrap().contains("were unavailable")
        );
    }

    #[test]
    fn a_server_that_was_replaced_is_found() {
        let of = |version: &str, pid: &str| {
            let rows = [("version", version), ("pid", pid)];
            Some(rows.map(|(k, v)| (k.to_owned(), v.to_owned())).into())
        };
        let seen = |after| {
            let before = of("1.6.18", "7");
            ServerCounters { before, after, ..ServerCounters::default() }.replaced(WORKLOAD.0)
        };
        assert_eq!((seen(of("1.6.18", "7")), seen(None)), (None, None));
        let words = seen(of("1.6.45", "9")).unwrap();
        assert!(words.contains("version was 1.6.18, then 1.6.45"), "{words}");
        assert!(seen(of("1.6.18", "9")).unwrap().contains("pid was 7, then 9"));
    }

    #[test]
    fn what_was_not_seen_is_not_zero() {
        let dialect = WORKLOAD.0;
        let seen = ServerCounters { from: Some(stats(1, 1, 1)), ..ServerCounters::default() };
        assert_eq!((seen.window_count("evictions"), seen.window_cpu_s(dialect)), (None, None));
        let seen = ServerCounters {
            from: Some(stats(1, 1, 1)),
            to: Some(stats(4, 1, 1)),
            ..ServerCounters::default()
        };
        assert_eq!((seen.window_count("get_hits"), seen.window_count("none")), (Some(3), None));
    }
}
