//! The sampler: one plain thread that asks every monitor at absolute points in time.

use std::io;
use std::path::Path;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use assay_model::{ObserverReport, SampleSet};

use crate::grid::{Grid, MIN_INTERVAL};
use crate::state::State;
use assay_sut::clock;

use crate::meters::MeterSpec;
use crate::{MonitorSpec, Tree, monitors};

/// Why sampling could not start.
#[derive(Debug, thiserror::Error)]
pub enum ObserveError {
    /// A name in the list of monitors is not one.
    #[error("there is no monitor `{name}`; there are {known}, and `all`")]
    UnknownMonitor {
        /// The name.
        name: String,
        /// The names that would be right.
        known: String,
    },
    /// The interval is too short.
    #[error(
        "a sampling interval of {} ms is too short: counters have a grain of 10 ms; take 100 ms or more",
        .interval.as_secs_f64() * 1e3
    )]
    Interval {
        /// The interval asked for.
        interval: Duration,
    },
    /// A power meter that is none.
    #[error("{0}")]
    Meter(String),
    /// The thread could not be made.
    #[error("the sampling thread could not be started (is the limit of processes reached?): {0}")]
    Thread(#[source] io::Error),
}

/// Samples monitors until it is stopped or dropped.
#[derive(Debug)]
pub struct Sampler {
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
}

struct Shared {
    state: Mutex<State>,
    /// Signalled after each sample.
    sampled: Condvar,
    stop: Mutex<bool>,
    /// Signalled when `stop` becomes true.
    stopped: Condvar,
}

impl std::fmt::Debug for Shared {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Shared").finish_non_exhaustive()
    }
}

impl Shared {
    /// The state; whole also after a panic elsewhere, since a tick only adds to it.
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits until `due_ns`; false if it is to stop instead.
    fn wait_until(&self, due_ns: u64) -> bool {
        let mut stop = self.stop.lock().unwrap_or_else(PoisonError::into_inner);
        while !*stop {
            let now = clock::monotonic_ns();
            if now >= due_ns {
                return true;
            }
            let wait = self.stopped.wait_timeout(stop, Duration::from_nanos(due_ns - now));
            stop = wait.unwrap_or_else(PoisonError::into_inner).0;
        }
        false
    }

    fn run(&self, grid: Grid) {
        let mut k = 1;
        while self.wait_until(grid.due_ns(k)) {
            let mut state = self.state();
            state.tick();
            state.make_room();
            let now = clock::monotonic_ns();
            let next = grid.next(k, now);
            if next > k + 1 {
                state.missed(now, next - k - 1);
            }
            k = next;
            drop(state);
            self.sampled.notify_all();
        }
    }
}

impl Sampler {
    /// Opens the monitors of those names (`all` for all) in the tree under `root` (`/`), takes
    /// their base, and samples them every `interval` from now. A monitor that is not available is
    /// no error: [`Sampler::reports`] says why.
    ///
    /// # Errors
    /// A name that is no monitor's, an interval below [`MIN_INTERVAL`], or no thread to be had.
    pub fn start(root: &Path, names: &[String], interval: Duration) -> Result<Self, ObserveError> {
        Self::with_meters(root, names, &[], interval)
    }

    /// As [`Sampler::start`], with power meters outside the kernel; the monitor `meter` is one of the
    /// monitors then, asked for or not.
    ///
    /// # Errors
    /// As there, or a meter that is none.
    pub fn with_meters(
        root: &Path,
        names: &[String],
        meters: &[String],
        interval: Duration,
    ) -> Result<Self, ObserveError> {
        for meter in meters {
            MeterSpec::parse(meter).map_err(ObserveError::Meter)?;
        }
        let mut names = names.to_vec();
        if !meters.is_empty() {
            names.push("meter".into());
        }
        let specs = chosen(&names)?;
        if interval < MIN_INTERVAL {
            return Err(ObserveError::Interval { interval });
        }
        let mut state = State::open(&Tree::new(root).with_meters(meters), &specs, interval);
        let start_ns = state.tick();
        let shared = Arc::new(Shared {
            state: Mutex::new(state),
            sampled: Condvar::new(),
            stop: Mutex::new(false),
            stopped: Condvar::new(),
        });
        let own = Arc::clone(&shared);
        let thread = std::thread::Builder::new()
            .name("assay-sampler".to_owned())
            .stack_size(256 * 1024)
            .spawn(move || own.run(Grid::new(start_ns, interval)))
            .map_err(ObserveError::Thread)?;
        Ok(Self { shared, thread: Some(thread) })
    }

    /// Samples now, beside the schedule, and returns the time of that sample; if one was taken
    /// within the last 10 ms, nothing is sampled and that one's time is returned. A trial calls it
    /// at both ends: rows tell of the interval that *ends* at their time, so those of the trial are
    /// `window(first + 1, last)`.
    pub fn tick_now(&self) -> u64 {
        let t_ns = self.shared.state().tick();
        self.shared.sampled.notify_all();
        t_ns
    }

    /// The time of the newest sample, nanoseconds of `CLOCK_MONOTONIC`.
    pub fn newest_ns(&self) -> u64 {
        self.shared.state().newest_ns().unwrap_or_default()
    }

    /// Waits for a sample after `t_ns`, and returns its time; `None` when `timeout` passes first.
    pub fn wait_after(&self, t_ns: u64, timeout: Duration) -> Option<u64> {
        let waiting = |state: &mut State| state.newest_ns().is_none_or(|newest| newest <= t_ns);
        let (state, _) = self
            .shared
            .sampled
            .wait_timeout_while(self.shared.state(), timeout, waiting)
            .unwrap_or_else(PoisonError::into_inner);
        state.newest_ns().filter(|newest| *newest > t_ns)
    }

    /// A copy of the rows so far with `from_ns <= t_ns <= to_ns`. Sampling goes on.
    pub fn window(&self, from_ns: u64, to_ns: u64) -> SampleSet {
        self.shared.state().window(from_ns, to_ns)
    }

    /// What every monitor that was asked for did between two times, and what it could not see; also
    /// those that are not available, with the reason.
    pub fn reports(&self, from_ns: u64, to_ns: u64) -> Vec<ObserverReport> {
        self.shared.state().reports(from_ns, to_ns)
    }

    /// How many points of the schedule between two times had no sample of their own because the
    /// thread did not get to run.
    pub fn missed(&self, from_ns: u64, to_ns: u64) -> u64 {
        self.shared.state().missed_between(from_ns, to_ns)
    }

    /// Lets go of the rows before `t_ns`, so that a long run needs no more memory than one trial.
    pub fn discard_before(&self, t_ns: u64) {
        self.shared.state().discard_before(t_ns);
    }

    /// Stops, and hands over all rows that are still held.
    pub fn stop(mut self) -> SampleSet {
        self.end();
        self.shared.state().take()
    }

    fn end(&mut self) {
        *self.shared.stop.lock().unwrap_or_else(PoisonError::into_inner) = true;
        self.shared.stopped.notify_all();
        if let Some(thread) = self.thread.take() {
            // A panic of the thread was shown by the panic hook; the rows up to it stand.
            let _ = thread.join();
        }
    }
}

impl Drop for Sampler {
    fn drop(&mut self) {
        self.end();
    }
}

/// Checks that these are names of monitors, or `all`.
///
/// # Errors
/// `UnknownMonitor`.
pub fn check_monitors(names: &[String]) -> Result<(), ObserveError> {
    chosen(names).map(drop)
}

/// The monitors of those names, each once, in the order of the list of monitors.
fn chosen(names: &[String]) -> Result<Vec<&'static MonitorSpec>, ObserveError> {
    if let Some(name) = names.iter().find(|n| *n != "all" && monitors::find(n).is_none()) {
        let known: Vec<String> = monitors::every().map(|spec| format!("`{}`", spec.name)).collect();
        return Err(ObserveError::UnknownMonitor { name: name.clone(), known: known.join(", ") });
    }
    let by_all = |spec: &MonitorSpec| monitors::all().iter().any(|one| one.name == spec.name);
    let asked = |spec: &&'static MonitorSpec| {
        names.iter().any(|n| n == spec.name || n == "all" && by_all(spec))
    };
    Ok(monitors::every().filter(asked).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_checked() {
        let names = |list: &[&str]| list.iter().map(|&n| n.to_owned()).collect::<Vec<_>>();
        let chosen_names = |list: &[&str]| {
            let specs = chosen(&names(list)).unwrap();
            specs.iter().map(|spec| spec.name).collect::<Vec<_>>()
        };
        assert_eq!(chosen_names(&["disk", "cpu", "disk"]), ["cpu", "disk"]);
        assert_eq!(chosen_names(&["cpu", "all"]).len(), monitors::all().len());
        assert_eq!(chosen_names(&["all", "tasks"]).len(), monitors::every().count());
        let error = chosen(&names(&["cpu", "dick"])).unwrap_err().to_string();
        assert!(error.contains("`dick`") && error.contains("`disk`"), "{error}");
        let error = Sampler::start(Path::new("/"), &[], Duration::from_millis(50)).unwrap_err();
        assert!(error.to_string().contains("50 ms"), "{error}");
    }

    #[test]
    fn dropping_it_ends_its_thread() {
        let sampler =
            Sampler::start(Path::new("/"), &["memory".to_owned()], Duration::from_secs(3600))
                .unwrap();
        // The thread holds the shared part as long as it runs.
        let shared = Arc::downgrade(&sampler.shared);
        assert!(shared.upgrade().is_some());
        drop(sampler);
        assert!(shared.upgrade().is_none());
    }

    #[test]
    fn missed_ticks_are_reported() {
        let mut state = State::open(
            &Tree::new(Path::new("/")),
            &chosen(&["cpu".to_owned()]).unwrap(),
            MIN_INTERVAL,
        );
        state.missed(50, 3);
        state.missed(90, 2);
        assert_eq!(state.missed_between(0, 60), 3);
        let report = &state.reports(0, 100)[0];
        assert!(report.not_seen.iter().any(|s| s.starts_with("5 ticks were missed")), "{report:?}");
        state.discard_before(60);
        assert_eq!(state.missed_between(0, 100), 2);
    }
}
