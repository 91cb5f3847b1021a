//! A profiler in a thread of its own, beside a trial or a command: it learns when the measured part begins and
//! ends, it hands back a profile.

use std::path::Path;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::Duration;

use assay_profile::Profile;
use assay_sut::clock::thread_cpu_time;

use super::ProfileRequest;
use super::looking::Looking;
use super::profiler::start;
use crate::NotAvailable;
use crate::background::Background;

/// Between two looks at what happened to processes: a file that is deleted sooner may have no names.
const LOOK: Duration = Duration::from_millis(20);

#[derive(Debug)]
enum Tell {
    Begin,
    End,
    Snapshot(Sender<Snapshot>),
}

/// A profile so far.
#[derive(Debug)]
pub struct Snapshot {
    /// The profile.
    pub profile: Profile,
    /// CPU time spent on making it.
    pub cpu: Duration,
    /// How many files were read for its names: those that the profiles before did not need.
    pub read: usize,
}

/// A profile, by the name that callers know it by.
pub type Profiled = Result<Profile, NotAvailable>;

/// A profiler at work. Dropped, it ends.
#[derive(Debug)]
pub struct ProfileWatch(Background<Tell, Profile>);

impl ProfileWatch {
    /// Begins to look; returns when the probes are attached.
    pub fn start(root: &Path, ask: &ProfileRequest) -> Result<Self, NotAvailable> {
        let (root, ask) = (root.to_owned(), ask.clone());
        let work = move |ready: &Sender<_>, requests: &Receiver<_>| {
            let profiler = start(&root, &ask);
            let _ = ready.send(profiler.as_ref().err().cloned());
            Ok(watch(profiler?, requests))
        };
        Background::start("profiler", "profiler", work).map(ProfileWatch)
    }

    /// The measured part begins now.
    pub fn begin(&self) {
        self.0.tell(Tell::Begin);
    }

    /// The measured part ends now.
    pub fn end(&self) {
        self.0.tell(Tell::End);
    }

    /// Asks for the profile so far; it comes when it is made. The programs go on meanwhile, and so does the profile.
    pub fn snapshot(&self) -> Receiver<Snapshot> {
        let (to, from) = channel();
        self.0.tell(Tell::Snapshot(to));
        from
    }

    /// Stops and brings the profile.
    pub fn stop(self) -> Profiled {
        self.0.stop()
    }
}

fn watch(mut profiler: Box<dyn Looking>, requests: &Receiver<Tell>) -> Profile {
    loop {
        match requests.recv_timeout(LOOK) {
            Ok(Tell::Begin) => profiler.begin(),
            Ok(Tell::End) => profiler.end(),
            Ok(Tell::Snapshot(to)) => {
                let began = thread_cpu_time();
                profiler.poll();
                let before = profiler.read();
                let profile = profiler.profile();
                let read = profiler.read() - before;
                let cpu = thread_cpu_time().saturating_sub(began);
                // Whoever asked may be gone.
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

/// How programs would be profiled here, as sentences, the most important first: for `assay doctor`.
///
/// # Errors
/// They cannot.
pub fn profile_ability(root: &Path) -> Result<Vec<String>, NotAvailable> {
    let mut profiler = start(root, &ProfileRequest::default())?;
    profiler.stop();
    let profile = profiler.profile();
    let waits = if profile.off_cpu { "; waits by sched_switch" } else { "" };
    let first = format!("{}{waits}", profile.method);
    Ok(std::iter::once(first).chain(profile.notes).collect())
}
