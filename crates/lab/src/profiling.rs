//! The profiler beside a trial: started before the program, told of its phases, stopped after it. The
//! profile is kept with the record.

use std::cell::RefCell;
use std::ffi::OsString;
use std::path::Path;

use assay_model::{Better, Experiment, Kind, MetricValue, ObserverReport, Phase, TrialRecord};
use assay_observe::NotAvailable;
use assay_observe::profile::{MAX_RATE_HZ, ProfileRequest, ProfileWatch, RATE_HZ};
use assay_profile::{Profile, Side, State};

use crate::artifacts::File;

/// The tracer's name; `profile@999` samples at another rate.
pub(crate) const NAME: &str = "profile";
/// The file that is kept.
const FILE: &str = "profile.json";

/// The profiler of the trials of a run.
#[derive(Debug)]
pub(crate) struct Profiling {
    ask: Option<ProfileRequest>,
    watch: RefCell<Option<Result<ProfileWatch, NotAvailable>>>,
}

/// The rate that a tracer's name asks for; `None`: it is another tracer, or no rate that can be had.
pub(crate) fn rate(tracer: &str) -> Option<f64> {
    match tracer.strip_prefix(NAME)? {
        "" => Some(RATE_HZ),
        rest => {
            let hz: f64 = rest.strip_prefix('@')?.parse().ok()?;
            (1.0..=MAX_RATE_HZ).contains(&hz).then_some(hz)
        }
    }
}

impl Profiling {
    /// What the experiment asks for.
    pub fn new(experiment: &Experiment) -> Self {
        let rate = experiment.observe.tracers.iter().find_map(|t| rate(t));
        let ask = rate.map(|rate_hz| ProfileRequest { rate_hz, ..ProfileRequest::default() });
        Profiling { ask, watch: RefCell::new(None) }
    }

    /// None.
    pub fn off() -> Self {
        Profiling { ask: None, watch: RefCell::new(None) }
    }

    /// What it wants of programs' environment: Java virtual machines keep frame pointers and say at their end
    /// what is where. Of a machine that does not know an option it is left out.
    pub fn env(&self) -> Vec<(OsString, OsString)> {
        const NAME: &str = "JDK_JAVA_OPTIONS";
        const OPTIONS: &str = "-XX:+IgnoreUnrecognizedVMOptions -XX:+PreserveFramePointer \
                               -XX:+UnlockDiagnosticVMOptions -XX:+DumpPerfMapAtExit";
        if self.ask.is_none() {
            return Vec::new();
        }
        let mut value = std::env::var_os(NAME).unwrap_or_default();
        if !value.is_empty() {
            value.push(" ");
        }
        value.push(OPTIONS);
        vec![(NAME.into(), value)]
    }

    /// Starts, if it is asked for. One that cannot is in the record.
    pub fn start(&self) {
        if let Some(ask) = &self.ask {
            *self.watch.borrow_mut() = Some(ProfileWatch::start(Path::new("/"), ask));
        }
    }

    /// The program has said that a phase begins.
    pub fn phase(&self, phase: Phase) {
        if let Some(Ok(watch)) = &*self.watch.borrow() {
            match phase {
                Phase::RampUp => {}
                Phase::Steady => watch.begin(),
                Phase::RampDown => watch.end(),
            }
        }
    }

    /// Stops and puts into the record what was seen; the file to keep.
    pub fn stop(&self, record: &mut TrialRecord) -> Option<File> {
        let watch = self.watch.borrow_mut().take()?;
        let mut report =
            ObserverReport { observer: NAME.to_owned(), samples: 0, not_seen: Vec::new() };
        let kept = match watch.and_then(ProfileWatch::stop) {
            Ok(profile) => {
                report.samples = profile.count(Side::OnCpu);
                report.not_seen.clone_from(&profile.notes);
                record.metrics.extend(metrics(&profile));
                serde_json::to_vec(&profile).ok().map(|bytes| (FILE.to_owned(), bytes))
            }
            Err(error) => {
                report.not_seen = vec![error.to_string()];
                None
            }
        };
        record.observers.push(report);
        kept
    }
}

/// The time of all threads together by what they did, as metrics: so treatments are compared by them too.
fn metrics(profile: &Profile) -> Vec<MetricValue> {
    let name = |state: State| match state {
        State::OnCpu => "on_cpu",
        State::Runnable => "runnable",
        State::Io => "io",
        State::Lock => "lock",
        State::PageFault => "page_fault",
        State::Sleep => "sleep",
        State::Event => "event",
        State::Unknown => "off_cpu_unknown",
    };
    let of = |state: State| match (state, profile.cpu_ns()) {
        (State::OnCpu, Some(exact)) => exact,
        _ => profile.stacks.iter().filter(|s| s.state == state).map(|s| s.ns).sum(),
    };
    State::ALL
        .into_iter()
        .filter(|s| profile.off_cpu || *s == State::OnCpu)
        .map(|state| {
            MetricValue::new(
                format!("{NAME}.{}", name(state)),
                Some(of(state) as f64 / 1e9),
                "s",
                Better::Neither,
                Kind::Measured,
            )
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tracer_may_name_its_rate() {
        assert_eq!(rate("profile"), Some(99.0));
        assert_eq!(rate("profile@999"), Some(999.0));
        for wrong in ["io", "profile@", "profile@0", "profile@1e9", "profile@x", "profiles"] {
            assert_eq!(rate(wrong), None, "{wrong}");
        }
    }
}
