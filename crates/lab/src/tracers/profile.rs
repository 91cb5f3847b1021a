//! The CPU profiler as a tracer of a trial.

use std::ffi::OsString;
use std::path::Path;

use assay_model::{Better, Experiment, MetricKind, MetricValue};
use assay_observe::NotAvailable;
use assay_observe::profile::{MAX_RATE_HZ, ProfileRequest, ProfileWatch, RATE_HZ, Unwind};
use assay_traces::profile::{Profile, ProfileSide, ThreadState};

use crate::tracers::running_tracer::Tracer;

/// Name of the tracer; `profile@999` samples at another rate, `profile:fp` and `profile:dwarf`
/// unwind stacks only by frame pointers or only by DWARF, and `profile@999:dwarf` does both.
pub(crate) const NAME: &str = "profile";

/// Parses a tracer's name into a request; `None` if it names another tracer or has an invalid rate
/// or unwinder.
pub(crate) fn named(tracer: &str) -> Option<ProfileRequest> {
    let rest = tracer.strip_prefix(NAME)?;
    let (rate, unwind) = match rest.split_once(':') {
        Some((rate, way)) => (rate, Unwind::named(way)?),
        None => (rest, Unwind::Auto),
    };
    let rate_hz = match rate {
        "" => RATE_HZ,
        rate => rate.strip_prefix('@')?.parse().ok()?,
    };
    (1.0..=MAX_RATE_HZ).contains(&rate_hz).then(|| ProfileRequest {
        rate_hz,
        unwind,
        ..ProfileRequest::default()
    })
}

/// Returns true if the name is that of the profiler.
pub fn is_profile(tracer: &str) -> bool {
    named(tracer).is_some()
}

/// Returns the profiler request of the experiment.
pub(crate) fn request(experiment: &Experiment) -> Option<ProfileRequest> {
    experiment.observe.tracers.iter().find_map(|t| named(t))
}

/// Returns environment variables for programs under the profiler: Java virtual machines keep frame
/// pointers and write their symbol map when they exit. A JVM that does not know an option ignores
/// it.
pub(crate) fn env() -> Vec<(OsString, OsString)> {
    const NAME: &str = "JDK_JAVA_OPTIONS";
    const OPTIONS: &str = "-XX:+IgnoreUnrecognizedVMOptions -XX:+PreserveFramePointer \
                           -XX:+UnlockDiagnosticVMOptions -XX:+DumpPerfMapAtExit";
    let mut value = std::env::var_os(NAME).unwrap_or_default();
    if !value.is_empty() {
        value.push(" ");
    }
    value.push(OPTIONS);
    vec![(NAME.into(), value)]
}

impl Tracer for ProfileWatch {
    const NAME: &str = NAME;
    const FILE: &str = "profile.json";
    type Request = ProfileRequest;
    type Observations = Profile;

    fn start(root: &Path, ask: &ProfileRequest) -> Result<Self, NotAvailable> {
        ProfileWatch::start(root, ask)
    }

    fn begin(&mut self) {
        ProfileWatch::begin(self);
    }

    fn end(&mut self) {
        ProfileWatch::end(self);
    }

    fn stop(self) -> Result<Profile, NotAvailable> {
        ProfileWatch::stop(self)
    }

    fn samples(seen: &Profile) -> u64 {
        seen.count(ProfileSide::OnCpu)
    }

    fn not_seen(seen: &Profile) -> Vec<String> {
        seen.notes.clone()
    }

    /// Returns the time of all threads together, by thread state.
    fn metrics(profile: &Profile) -> Vec<MetricValue> {
        let name = |state: ThreadState| match state {
            ThreadState::OnCpu => "on_cpu",
            ThreadState::Runnable => "runnable",
            ThreadState::Io => "io",
            ThreadState::Lock => "lock",
            ThreadState::PageFault => "page_fault",
            ThreadState::Sleep => "sleep",
            ThreadState::Event => "event",
            ThreadState::Unknown => "off_cpu_unknown",
        };
        let of = |state: ThreadState| match (state, profile.cpu_ns()) {
            (ThreadState::OnCpu, Some(exact)) => exact,
            _ => profile.stacks.iter().filter(|s| s.state == state).map(|s| s.ns).sum(),
        };
        ThreadState::ALL
            .into_iter()
            .filter(|s| profile.off_cpu || *s == ThreadState::OnCpu)
            .map(|state| {
                MetricValue::new(
                    format!("{NAME}.{}", name(state)),
                    Some(of(state) as f64 / 1e9),
                    "s",
                    Better::Neither,
                    MetricKind::Measured,
                )
            })
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tracer_may_name_its_rate_and_how_stacks_are_followed() {
        let of = |tracer| named(tracer).map(|r| (r.rate_hz, r.unwind));
        assert_eq!(of("profile"), Some((99.0, Unwind::Auto)));
        assert_eq!(of("profile@999"), Some((999.0, Unwind::Auto)));
        assert_eq!(of("profile:fp"), Some((99.0, Unwind::FramePointers)));
        assert_eq!(of("profile@999:dwarf"), Some((999.0, Unwind::Dwarf)));
        for wrong in [
            "io",
            "profile@",
            "profile@0",
            "profile@1e9",
            "profile@x",
            "profiles",
            "profile:",
            "profile:x@9",
        ] {
            assert_eq!(of(wrong), None, "{wrong}");
        }
    }
}
