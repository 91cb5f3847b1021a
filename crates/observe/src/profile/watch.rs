//! A profiler in a thread of its own that runs during a trial or a command: the caller marks the
//! beginning and the end of the measurement window, and gets the profile at the end.

use std::ffi::OsString;
use std::path::Path;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::Duration;

use assay_system::clock::thread_cpu_time;
use assay_traces::profile::{FILE, Profile};

use super::looking::RunningProfiler;
use super::profiler::start;
use super::{MAX_RATE_HZ, ProfileRequest, RATE_HZ, Unwind};
use crate::NotAvailable;
use crate::sampling::background::Background;
use crate::tracer::{ProfileSnapshot, Tracer};

/// Interval between two reads of process events: a file that is deleted sooner may remain without
/// names.
const LOOK: Duration = Duration::from_millis(20);

#[derive(Debug)]
enum ProfilerCommand {
    Begin,
    End,
    Snapshot(Sender<ProfileSnapshot>),
}

/// Result of profiling: a profile, or the reason why profiling failed.
pub type ProfileResult = Result<Profile, NotAvailable>;

/// A running profiler. Dropping it ends it.
#[derive(Debug)]
pub struct ProfileWatch(Background<ProfilerCommand, Profile>);

impl Tracer for ProfileWatch {
    const NAME: &'static str = FILE.tracer;
    const FILE: &'static str = FILE.name;
    type Request = ProfileRequest;
    type Trace = Profile;

    /// Parses `profile`, `profile@999` (another rate), `profile:fp` and `profile:dwarf` (stacks
    /// only by frame pointers or only by DWARF), and `profile@999:dwarf`.
    fn request(listed: &str) -> Option<ProfileRequest> {
        let rest = listed.strip_prefix(FILE.tracer)?;
        let (rate, unwind) = match rest.split_once(':') {
            Some((rate, way)) => (rate, Unwind::ALL.into_iter().find(|u| u.name() == way)?),
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

    /// Makes Java virtual machines keep frame pointers and write their symbol map when they exit.
    /// A JVM that does not know an option ignores it.
    fn env() -> Vec<(OsString, OsString)> {
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

    fn start(root: &Path, ask: &ProfileRequest) -> Result<Self, NotAvailable> {
        let (root, ask) = (root.to_owned(), ask.clone());
        let work = move |ready: &Sender<_>, requests: &Receiver<_>| {
            let profiler = start(&root, &ask);
            let _ = ready.send(profiler.as_ref().err().cloned());
            Ok(watch(profiler?, requests))
        };
        Background::start("profiler", "profiler", work).map(ProfileWatch)
    }

    fn begin(&mut self) {
        self.0.send(ProfilerCommand::Begin);
    }

    fn end(&mut self) {
        self.0.send(ProfilerCommand::End);
    }

    /// Requests a profile of the time so far. The programs and the profiling continue meanwhile.
    fn snapshot(&self) -> Option<Receiver<ProfileSnapshot>> {
        let (to, from) = channel();
        self.0.send(ProfilerCommand::Snapshot(to));
        Some(from)
    }

    fn stop(self) -> ProfileResult {
        self.0.stop()
    }
}

fn watch(mut profiler: Box<dyn RunningProfiler>, requests: &Receiver<ProfilerCommand>) -> Profile {
    loop {
        match requests.recv_timeout(LOOK) {
            Ok(ProfilerCommand::Begin) => profiler.begin(),
            Ok(ProfilerCommand::End) => profiler.end(),
            Ok(ProfilerCommand::Snapshot(to)) => {
                let began = thread_cpu_time();
                profiler.poll();
                let before = profiler.read();
                let profile = profiler.profile();
                let read = profiler.read() - before;
                let cpu = thread_cpu_time().saturating_sub(began);
                // The requester may have gone.
                let _ = to.send(ProfileSnapshot { profile, cpu, read });
            }
            Err(RecvTimeoutError::Disconnected) => break,
            Err(RecvTimeoutError::Timeout) => {}
        }
        profiler.poll();
    }
    profiler.stop();
    profiler.profile()
}

/// Describes how programs would be profiled here, as sentences, the most important first; for
/// `assay doctor`.
///
/// # Errors
/// Programs cannot be profiled here.
pub fn profile_ability(root: &Path) -> Result<Vec<String>, NotAvailable> {
    let mut profiler = start(root, &ProfileRequest::default())?;
    profiler.stop();
    let profile = profiler.profile();
    let waits = if profile.off_cpu { "; waits by sched_switch" } else { "" };
    let first = format!("{}{waits}", profile.method);
    Ok(std::iter::once(first).chain(profile.notes).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tracer_may_name_its_rate_and_how_stacks_are_followed() {
        let of = |tracer| ProfileWatch::request(tracer).map(|r| (r.rate_hz, r.unwind));
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
