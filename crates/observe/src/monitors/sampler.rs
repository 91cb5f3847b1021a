//! The sampler: one plain thread that samples every monitor at absolute points in time.

use std::io;
use std::path::Path;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use assay_model::{ObserverReport, SampleSet};

use crate::sampling::grid::{MIN_INTERVAL, SamplingGrid};
use crate::sampling::state::SamplerState;
use assay_system::clock;

use crate::meters::{MeterSpec, MeterSpecError};
use crate::{MonitorSpec, Tree, monitors};

/// Reason why sampling could not start.
#[derive(Debug, thiserror::Error)]
pub enum ObserveError {
    /// The list of monitors has an unknown name.
    #[error("there is no monitor `{name}`; there are {known}, and `all`")]
    UnknownMonitor {
        name: String,
        /// Names of all monitors, for the message.
        known: String,
    },
    /// The interval is shorter than [`MIN_INTERVAL`].
    #[error(
        "a sampling interval of {} ms is too short (counters: 10 ms); use 100 ms or more",
        .interval.as_secs_f64() * 1e3
    )]
    Interval { interval: Duration },
    /// The specification of a power meter is invalid.
    #[error(transparent)]
    Meter(#[from] MeterSpecError),
    /// The sampling thread could not be started.
    #[error("cannot start the sampling thread (is the limit of processes reached?): {0}")]
    Thread(#[source] io::Error),
}

/// Samples monitors in a background thread until it is stopped or dropped.
#[derive(Debug)]
pub struct Sampler {
    shared: Arc<SharedState>,
    thread: Option<JoinHandle<()>>,
}

struct SharedState {
    state: Mutex<SamplerState>,
    /// Signaled after each sample.
    sampled: Condvar,
    stop: Mutex<bool>,
    /// Signaled when `stop` becomes true.
    stopped: Condvar,
}

impl std::fmt::Debug for SharedState {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Shared").finish_non_exhaustive()
    }
}

impl SharedState {
    /// Locks the state. It is consistent even after a panic elsewhere, since a tick only adds to
    /// it.
    fn state(&self) -> MutexGuard<'_, SamplerState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits until `due_ns`; returns false if the sampler must stop instead.
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

    fn run(&self, grid: SamplingGrid) {
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
    /// Opens the monitors with these names (`all` for all) in the tree under `root` (`/`), takes
    /// their base readings, and samples them every `interval` from now on. A monitor that is not
    /// available is no error: [`Sampler::reports`] gives the reason.
    ///
    /// # Errors
    /// A name is unknown, the interval is below [`MIN_INTERVAL`], or the thread cannot be started.
    pub fn start(root: &Path, names: &[String], interval: Duration) -> Result<Self, ObserveError> {
        Self::with_meters(root, names, &[], interval)
    }

    /// Starts like [`Sampler::start`], with power meters outside the kernel; the monitor `meter` is
    /// then sampled even if `names` does not contain it.
    ///
    /// # Errors
    /// Those of [`Sampler::start`], or an invalid meter specification.
    pub fn with_meters(
        root: &Path,
        names: &[String],
        meters: &[String],
        interval: Duration,
    ) -> Result<Self, ObserveError> {
        for meter in meters {
            MeterSpec::parse(meter)?;
        }
        let mut names = names.to_vec();
        if !meters.is_empty() {
            names.push("meter".into());
        }
        let specs = chosen(&names)?;
        if interval < MIN_INTERVAL {
            return Err(ObserveError::Interval { interval });
        }
        let mut state = SamplerState::open(&Tree::new(root).with_meters(meters), &specs, interval);
        let start_ns = state.tick();
        let shared = Arc::new(SharedState {
            state: Mutex::new(state),
            sampled: Condvar::new(),
            stop: Mutex::new(false),
            stopped: Condvar::new(),
        });
        let own = Arc::clone(&shared);
        let thread = std::thread::Builder::new()
            .name("assay-sampler".to_owned())
            .stack_size(256 * 1024)
            .spawn(move || own.run(SamplingGrid::new(start_ns, interval)))
            .map_err(ObserveError::Thread)?;
        Ok(Self { shared, thread: Some(thread) })
    }

    /// Samples now, outside the schedule, and returns the time of that sample. If a sample was
    /// taken within the last 10 ms, nothing is sampled and the time of that sample is returned. A
    /// trial calls this at both ends: rows cover the interval that *ends* at their time, so those
    /// of the trial are `window(first + 1, last)`.
    pub fn tick_now(&self) -> u64 {
        let t_ns = self.shared.state().tick();
        self.shared.sampled.notify_all();
        t_ns
    }

    /// Returns the time of the newest sample, nanoseconds of `CLOCK_MONOTONIC`.
    pub fn newest_ns(&self) -> u64 {
        self.shared.state().newest_ns().unwrap_or_default()
    }

    /// Waits for a sample after `t_ns` and returns its time, or `None` if `timeout` expires first.
    pub fn wait_after(&self, t_ns: u64, timeout: Duration) -> Option<u64> {
        let waiting =
            |state: &mut SamplerState| state.newest_ns().is_none_or(|newest| newest <= t_ns);
        let (state, _) = self
            .shared
            .sampled
            .wait_timeout_while(self.shared.state(), timeout, waiting)
            .unwrap_or_else(PoisonError::into_inner);
        state.newest_ns().filter(|newest| *newest > t_ns)
    }

    /// Returns a copy of the rows so far with `from_ns <= t_ns <= to_ns`. Sampling continues.
    pub fn window(&self, from_ns: u64, to_ns: u64) -> SampleSet {
        self.shared.state().window(from_ns, to_ns)
    }

    /// Reports for every requested monitor the number of samples between two times and the data
    /// that it could not read. Unavailable monitors are included with the reason.
    pub fn reports(&self, from_ns: u64, to_ns: u64) -> Vec<ObserverReport> {
        self.shared.state().reports(from_ns, to_ns)
    }

    /// Returns the number of scheduled points between two times that have no sample of their own
    /// because the thread was not scheduled in time.
    pub fn missed(&self, from_ns: u64, to_ns: u64) -> u64 {
        self.shared.state().missed_between(from_ns, to_ns)
    }

    /// Discards the rows before `t_ns`, so that a long run needs no more memory than one trial.
    pub fn discard_before(&self, t_ns: u64) {
        self.shared.state().discard_before(t_ns);
    }

    fn end(&mut self) {
        *self.shared.stop.lock().unwrap_or_else(PoisonError::into_inner) = true;
        self.shared.stopped.notify_all();
        if let Some(thread) = self.thread.take() {
            // The panic hook has already shown a panic of the thread; the rows before it are valid.
            let _ = thread.join();
        }
    }
}

impl Drop for Sampler {
    fn drop(&mut self) {
        self.end();
    }
}

/// Checks that all names are those of monitors, or `all`.
///
/// # Errors
/// [`ObserveError::UnknownMonitor`] for the first unknown name.
pub fn check_monitors(names: &[String]) -> Result<(), ObserveError> {
    chosen(names).map(drop)
}

/// Returns the monitors with these names, each once, in the order of [`monitors::every`].
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
        let mut state = SamplerState::open(
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
