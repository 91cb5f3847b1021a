//! Detects whether assay or the machine paused during a measurement, or whether the time of day was
//! set: from clock readings before and after, and a flag that SIGCONT sets. Nothing runs in
//! between.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

use assay_model::Observation;
use rustix::time::{ClockId, clock_gettime};

/// Minimum difference in seconds between two clocks; smaller ones come from adjusting a clock, and
/// no machine sleeps for less.
const MIN_S: f64 = 0.1;
/// Maximum rate at which a clock may be adjusted (the kernel slews by at most 500 ppm).
const SLEW: f64 = 1e-3;

/// Set when assay continued after it was stopped; `None` if no handler could be installed.
static CONTINUED: OnceLock<Option<Arc<AtomicBool>>> = OnceLock::new();

fn continued() -> Option<&'static Arc<AtomicBool>> {
    let install = || {
        let flag = Arc::new(AtomicBool::new(false));
        signal_hook::flag::register(signal_hook::consts::SIGCONT, Arc::clone(&flag)).ok()?;
        Some(flag)
    };
    CONTINUED.get_or_init(install).as_ref()
}

/// Readings of the clocks at one moment, in seconds.
#[derive(Debug, Clone, Copy)]
struct Clocks {
    monotonic: f64,
    boot: f64,
    real: f64,
    /// Time that the readings took.
    apart: f64,
}

impl Clocks {
    fn now() -> Self {
        let read = |clock| {
            let t = clock_gettime(clock);
            t.tv_sec as f64 + t.tv_nsec as f64 * 1e-9
        };
        let monotonic = read(ClockId::Monotonic);
        let (boot, real) = (read(ClockId::Boottime), read(ClockId::Realtime));
        Clocks { monotonic, boot, real, apart: read(ClockId::Monotonic) - monotonic }
    }

    fn parted(&self, to: &Clocks) -> Vec<Observation> {
        let took = to.monotonic - self.monotonic;
        let minimum = MIN_S + SLEW * took + self.apart + to.apart;
        let slept = (to.boot - self.boot) - took;
        // The time of day continues while the machine sleeps.
        let stepped = (to.real - self.real) - (to.boot - self.boot);
        let slept = (slept > minimum).then_some(Observation::Suspended { seconds: slept });
        let stepped =
            (stepped.abs() > minimum).then_some(Observation::ClockStepped { seconds: stepped });
        slept.into_iter().chain(stepped).collect()
    }
}

/// An interval that is watched for pauses.
#[derive(Debug)]
pub struct PauseDetector(Clocks);

impl PauseDetector {
    pub fn watch() -> Self {
        if let Some(flag) = continued() {
            flag.store(false, Ordering::Relaxed);
        }
        PauseDetector(Clocks::now())
    }

    /// Returns the pauses and clock steps since the start.
    pub fn seen(self) -> Vec<Observation> {
        let mut seen = self.0.parted(&Clocks::now());
        if continued().is_some_and(|flag| flag.load(Ordering::Relaxed)) {
            seen.push(Observation::Stopped);
        }
        seen
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clocks_that_part_tell_of_sleep_and_of_steps() {
        let at = |monotonic, boot, real| Clocks { monotonic, boot, real, apart: 0.0 };
        let from = at(10.0, 10.0, 1000.0);
        assert_eq!(from.parted(&at(12.0, 12.0, 1002.0)), []);
        let slept = from.parted(&at(12.0, 42.0, 1032.0));
        assert!(matches!(slept[..], [Observation::Suspended { seconds: 30.0 }]), "{slept:?}");
        let stepped = from.parted(&at(12.0, 12.0, 942.0));
        assert!(
            matches!(stepped[..], [Observation::ClockStepped { seconds: -60.0 }]),
            "{stepped:?}"
        );
        // A difference that slewing may explain.
        assert_eq!(from.parted(&at(1010.0, 1010.0, 2000.9)), []);
    }
}
