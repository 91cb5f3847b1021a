//! A profiler in a thread of its own that runs during a trial or a command: the caller marks the
//! beginning and the end of the measurement window, and gets the profile at the end.

use std::path::Path;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::Duration;

use assay_system::clock::thread_cpu_time;
use assay_traces::profile::Profile;

use super::ProfileRequest;
use super::looking::RunningProfiler;
use super::profiler::start;
use crate::NotAvailable;
use crate::sampling::background::Background;

/// Interval between two reads of process events: a file that is deleted sooner may remain without
/// names.
const LOOK: Duration = Duration::from_millis(20);

#[derive(Debug)]
enum ProfilerCommand {
    Begin,
    End,
    Snapshot(Sender<Snapshot>),
}

/// A profile of the time so far.
#[derive(Debug)]
pub struct Snapshot {
    pub profile: Profile,
    /// CPU time spent on building the profile.
    pub cpu: Duration,
    /// Number of files read for names, beyond those that earlier profiles needed.
    pub read: usize,
}

/// Result of profiling: a profile, or the reason why profiling failed.
pub type ProfileResult = Result<Profile, NotAvailable>;

/// A running profiler. Dropping it ends it.
#[derive(Debug)]
pub struct ProfileWatch(Background<ProfilerCommand, Profile>);

impl ProfileWatch {
    /// Starts profiling; returns when the probes are attached.
    pub fn start(root: &Path, ask: &ProfileRequest) -> Result<Self, NotAvailable> {
        let (root, ask) = (root.to_owned(), ask.clone());
        let work = move |ready: &Sender<_>, requests: &Receiver<_>| {
            let profiler = start(&root, &ask);
            let _ = ready.send(profiler.as_ref().err().cloned());
            Ok(watch(profiler?, requests))
        };
        Background::start("profiler", "profiler", work).map(ProfileWatch)
    }

    /// Begins the measurement window now.
    pub fn begin(&self) {
        self.0.tell(ProfilerCommand::Begin);
    }

    /// Ends the measurement window now.
    pub fn end(&self) {
        self.0.tell(ProfilerCommand::End);
    }

    /// Requests a profile of the time so far, which arrives when it is built. The programs and the
    /// profiling continue meanwhile.
    pub fn snapshot(&self) -> Receiver<Snapshot> {
        let (to, from) = channel();
        self.0.tell(ProfilerCommand::Snapshot(to));
        from
    }

    /// Stops profiling and returns the profile.
    pub fn stop(self) -> ProfileResult {
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
                let _ = to.send(Snapshot { profile, cpu, read });
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
