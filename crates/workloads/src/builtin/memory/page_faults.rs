//! Time of a page fault: every thread touches fresh anonymous memory, and the kernel counts its
//! faults.

use std::path::Path;

use assay_model::Phase;
use assay_stats::summary::median;
use assay_system::clock::monotonic_ns;

use crate::Failure;
use crate::builtin::memory::metrics::spec;
use crate::builtin::memory::setup::MemoryTrial;
use crate::builtin::memory::team::Team;
use crate::builtin::pointer_chase::memory::ChainMemory;
use crate::driver::work::Channel;

/// The first touch of a memory by one thread.
struct FirstTouch {
    bytes: f64,
    faults: f64,
    ns: f64,
    wrong_pages: Option<String>,
}

/// Runs the test `page-faults`.
///
/// # Errors
/// Fails if memory is missing or the kernel does not report the faults.
pub fn run(trial: &MemoryTrial, channel: &mut Channel) -> Result<(), Failure> {
    trial.check_room()?;
    channel.phase(Phase::Steady, None);
    let rounds = trial.params.rounds;
    let team = Team::new(&trial.cpus);
    let work = |thread: usize, mut channel: Option<&mut Channel>| {
        // The buffers of the first reading cause faults of their own.
        team.ready(thread, minor_faults)?;
        let mut done = Vec::with_capacity(rounds as usize);
        for round in 0..rounds {
            let memory =
                team.ready(thread, || ChainMemory::reserve(trial.largest(), trial.pages))?;
            let (before, began) = (minor_faults()?, monotonic_ns());
            memory.touch();
            let ns = (monotonic_ns() - began) as f64;
            let (faults, bytes) = ((minor_faults()? - before) as f64, memory.bytes() as f64);
            done.push(FirstTouch { bytes, faults, ns, wrong_pages: trial.wrong_pages(&memory) });
            if let Some(channel) = &mut channel {
                channel.progress(f64::from(round + 1) / f64::from(rounds));
            }
            // No thread gives memory back while another touches its own.
            team.wait();
        }
        Ok(done)
    };
    let all: Vec<FirstTouch> = team.run(channel, work)?.into_iter().flatten().collect();
    channel.phase(Phase::RampDown, None);
    let median_of =
        |value: fn(&FirstTouch) -> f64| median(&all.iter().map(value).collect::<Vec<_>>());
    channel.metrics(
        spec(),
        [
            ("fault_time", median_of(|t| t.ns / 1e9 / t.faults)),
            ("faults", median_of(|t| t.faults)),
            ("bytes_per_fault", median_of(|t| t.bytes / t.faults)),
            ("first_touch_bandwidth", median_of(|t| t.bytes / t.ns * 1e9)),
        ],
    );
    let none = all.iter().find(|t| t.faults == 0.0);
    let none = none.map(|_| "the kernel counted no fault at a first touch".to_owned());
    let wrong: Vec<String> = all.into_iter().filter_map(|t| t.wrong_pages).chain(none).collect();
    channel.verdict(&wrong, "every page was touched, and the kernel counted the faults".into());
    Ok(())
}

/// Returns the minor faults of the calling thread, as the kernel counts them (proc(5): field 10).
fn minor_faults() -> Result<u64, Failure> {
    const FILE: &str = "/proc/thread-self/stat";
    let text = std::fs::read_to_string(FILE).map_err(Failure::file("read", Path::new(FILE)))?;
    let rest = text.rsplit_once(')').map_or("", |(_, rest)| rest);
    let count = rest.split_whitespace().nth(7).and_then(|n| n.parse().ok());
    count.ok_or_else(|| Failure::other(format!("{FILE} has no count of minor faults")))
}
