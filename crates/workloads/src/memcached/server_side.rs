//! The server's own counts at the moments of a run, and whether they agree with the load generator's.

use assay_memload::report::OPERATIONS;
use assay_sut::clock::process_cpu_time;

use super::talk::{Endpoint, Stats, Talk, count, cpu_s};

/// A server's own counters at four moments; `None` where it did not answer.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Seen {
    /// Before the run, when the cache had been filled.
    pub before: Option<Stats>,
    /// At the begin of the measurement window.
    pub from: Option<Stats>,
    /// At its end.
    pub to: Option<Stats>,
    /// After the run.
    pub after: Option<Stats>,
    /// What the machine's CPUs had done at the begin and the end of the window.
    pub host: [Option<HostCpu>; 2],
}

/// CPU time since boot, seconds: of the machine, and of this process, which is the load generator.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct HostCpu {
    /// Of all CPUs, seconds that something ran.
    busy: f64,
    /// Of all CPUs, seconds in all.
    total: f64,
    /// Of this process, seconds.
    own: f64,
}

impl HostCpu {
    /// Reads it now; `None`: the kernel's file is not as known.
    pub fn read() -> Option<Self> {
        let text = std::fs::read_to_string("/proc/stat").ok()?;
        let (busy, total) = cpu_line(&text)?;
        Some(HostCpu { busy, total, own: process_cpu_time().as_secs_f64() })
    }
}

/// Seconds busy and in all of the first line of `/proc/stat`. Guests' time is in their hosts' already.
fn cpu_line(text: &str) -> Option<(f64, f64)> {
    let words = text.lines().next()?.strip_prefix("cpu ")?.split_whitespace();
    let ticks: Vec<f64> = words.take(8).map(|w| w.parse().ok()).collect::<Option<_>>()?;
    let total: f64 = ticks.iter().sum();
    let idle = ticks.get(3)? + ticks.get(4)?;
    let per_s = rustix::param::clock_ticks_per_second() as f64;
    Some(((total - idle) / per_s, total / per_s))
}

impl Seen {
    /// How much a count grew in the measurement window.
    pub fn window_count(&self, name: &str) -> Option<u64> {
        grew(self.from.as_ref(), self.to.as_ref(), name)
    }

    /// How much a count grew over the whole run.
    pub fn run_count(&self, name: &str) -> Option<u64> {
        grew(self.before.as_ref(), self.after.as_ref(), name)
    }

    /// The share of the machine's CPU time in the window that neither the generator nor the server used; `None`
    /// where one of them is not known.
    pub fn others_busy(&self) -> Option<f64> {
        let [from, to] = self.host;
        let (from, to) = (from?, to?);
        let total = to.total - from.total;
        let own = to.own - from.own + self.window_cpu_s()?;
        (total > 0.0).then(|| ((to.busy - from.busy - own) / total).clamp(0.0, 1.0))
    }

    /// CPU time of the server in the measurement window, seconds.
    pub fn window_cpu_s(&self) -> Option<f64> {
        Some(cpu_s(self.to.as_ref()?)? - cpu_s(self.from.as_ref()?)?)
    }
}

fn grew(from: Option<&Stats>, to: Option<&Stats>, name: &str) -> Option<u64> {
    count(to?, name)?.checked_sub(count(from?, name)?)
}

/// Asks for the counts; `None` when nobody answers (which the load will tell). A conversation that broke
/// is not gone on with: a late answer would be taken for that to a later question.
pub fn look(talk: &mut Option<Talk>) -> Option<Stats> {
    let stats = talk.as_mut()?.stats("").ok();
    if stats.is_none() {
        *talk = None;
    }
    stats
}

/// Opens a conversation, if there is somebody to talk to.
pub fn listen(place: Option<&Endpoint>) -> Option<Talk> {
    Talk::open(place?).ok()
}

/// Compares hits, misses and sets of a whole run, `ours` by [`OPERATIONS`], with the server's counts.
/// Answers to the last `in_flight` operations may have come after the series ended, or too late; the
/// server has counted them. `Ok`: a sentence. `Err`: they disagree.
///
/// # Errors
/// A sentence that says which count disagrees.
pub fn agree(seen: &Seen, ours: [u64; OPERATIONS.len()], in_flight: u64) -> Result<String, String> {
    let mut unequal = Vec::new();
    for (name, ours) in [("get_hits", ours[0]), ("get_misses", ours[1]), ("cmd_set", ours[2])] {
        let Some(theirs) = seen.run_count(name) else {
            return Ok("the server's own counts could not be had and were not compared".into());
        };
        if theirs < ours || theirs - ours > in_flight {
            return Err(format!(
                "the server counted {theirs} {name} over the run and the load generator {ours}; at most \
                 {in_flight} could have been on their way at its end"
            ));
        }
        unequal.push(format!("{theirs} {name}"));
    }
    Ok(format!(
        "the server's counts over the run ({}) agree with the load generator's",
        unequal.join(", ")
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stats(hits: u64, misses: u64, sets: u64) -> Stats {
        let rows =
            [("get_hits", hits), ("get_misses", misses), ("cmd_set", sets), ("evictions", 3)];
        rows.map(|(k, v)| (k.to_owned(), v.to_string())).into()
    }

    #[test]
    fn what_others_used_is_what_is_left_of_the_machine() {
        let stat = "cpu  100 0 100 700 100 0 0 0 0 0\ncpu0 1 2 3\n";
        let ticks = rustix::param::clock_ticks_per_second() as f64;
        assert_eq!(cpu_line(stat), Some((200.0 / ticks, 1000.0 / ticks)));
        assert_eq!(cpu_line("intr 1"), None);
        let at = |busy, total, own| Some(HostCpu { busy, total, own });
        let cpu = |s: &str| {
            let rows = [("rusage_user", s), ("rusage_system", "0.0")];
            Some(rows.map(|(k, v)| (k.to_owned(), v.to_owned())).into())
        };
        let mut seen = Seen { from: cpu("1.0"), to: cpu("2.0"), ..Seen::default() };
        assert_eq!(seen.others_busy(), None);
        seen.host = [at(10.0, 100.0, 0.0), at(18.0, 110.0, 2.0)];
        // 8 of 10 s, of which 2 are the generator's and 1 the server's.
        assert_eq!(seen.others_busy(), Some(0.5));
    }

    #[test]
    fn counts_that_differ_by_what_was_on_its_way_agree() {
        let seen = Seen {
            before: Some(stats(0, 0, 50)),
            after: Some(stats(90, 5, 60)),
            ..Seen::default()
        };
        assert!(agree(&seen, [90, 5, 10], 0).unwrap().contains("90 get_hits"));
        assert!(agree(&seen, [88, 5, 10], 2).is_ok());
        let error = agree(&seen, [88, 5, 10], 1).unwrap_err();
        assert!(error.contains("90 get_hits") && error.contains("88"), "{error}");
        assert!(agree(&seen, [90, 6, 10], 9).unwrap_err().contains("get_misses"));
        let silent = Seen { before: Some(stats(0, 0, 0)), ..Seen::default() };
        assert!(agree(&silent, [1, 1, 1], 0).unwrap().contains("could not be had"));
    }

    #[test]
    fn what_was_not_seen_is_not_zero() {
        let seen = Seen { from: Some(stats(1, 1, 1)), ..Seen::default() };
        assert_eq!((seen.window_count("evictions"), seen.window_cpu_s()), (None, None));
        let seen = Seen { from: Some(stats(1, 1, 1)), to: Some(stats(4, 1, 1)), ..Seen::default() };
        assert_eq!((seen.window_count("get_hits"), seen.window_count("none")), (Some(3), None));
    }
}
