//! Live profile of the running trial. A viewer requests it by touching a file next to the run's
//! events, and the run produces it no more often than its cost allows.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, TryRecvError};
use std::time::{Duration, Instant, SystemTime};

use assay_observe::ProfileSnapshot;
use assay_system::clock::thread_cpu_time;
use assay_traces::profile::Profile;
use serde::{Deserialize, Serialize};

use crate::progress::watcher::Watcher;
use crate::tracers::Tracers;

/// Minimum time between two profiles.
const APART: Duration = Duration::from_secs(3);
/// A snapshot may use at most 1 / `COST` of the time of one CPU until the next one.
const COST: u32 = 100;
/// Time after which a request expires, because its viewer is gone.
const WANTED: Duration = Duration::from_secs(15);

/// Profile of the running trial up to now.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LiveProfile {
    /// Number of the trial.
    pub trial: u32,
    /// Label of its treatment.
    pub treatment: String,
    /// Number of earlier live profiles of this trial.
    pub before: u32,
    /// CPU time in seconds spent on producing the profile.
    pub cpu_s: f64,
    /// The profile from the start of the trial until now.
    pub profile: Profile,
}

impl LiveProfile {
    /// Requests a profile from the run that writes these events.
    ///
    /// # Errors
    /// The request file cannot be written.
    pub fn request(events: &Path) -> io::Result<()> {
        let file = File::options().create(true).append(true).open(wanted(events))?;
        file.set_modified(SystemTime::now())
    }

    /// Reads the newest profile; `None` if there is none yet.
    ///
    /// # Errors
    /// The file cannot be read or parsed.
    pub fn read(events: &Path) -> io::Result<Option<Self>> {
        match fs::read(file(events)) {
            Ok(bytes) => Ok(Some(serde_json::from_slice(&bytes)?)),
            Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(e) => Err(e),
        }
    }

    /// Replaces the previous profile atomically.
    pub(crate) fn write(&self, events: &Path) -> io::Result<()> {
        let path = file(events);
        let new = path.with_extension("new");
        fs::write(&new, serde_json::to_vec(self)?)?;
        fs::rename(&new, path)
    }
}

/// Returns true if a viewer requested a profile within the last [`WANTED`].
pub(crate) fn is_wanted(events: &Path) -> bool {
    let asked = fs::metadata(wanted(events)).and_then(|m| m.modified());
    asked.is_ok_and(|at| at.elapsed().is_ok_and(|ago| ago < WANTED))
}

fn wanted(events: &Path) -> PathBuf {
    events.with_extension("profile-wanted")
}

fn file(events: &Path) -> PathBuf {
    events.with_extension("profile.json")
}

/// Live profiles of one trial.
pub(crate) struct Snapshots {
    trial: u32,
    treatment: String,
    made: u32,
    coming: Option<Receiver<ProfileSnapshot>>,
    not_before: Option<Instant>,
}

impl Snapshots {
    pub fn new(trial: u32, treatment: String) -> Self {
        Snapshots { trial, treatment, made: 0, coming: None, not_before: None }
    }

    /// Delivers a finished snapshot to the watcher, and requests the next one if it is due and
    /// wanted.
    pub fn tick(&mut self, tracing: &Tracers, watcher: &mut dyn Watcher) {
        match self.coming.as_ref().map(Receiver::try_recv) {
            Some(Ok(snapshot)) => self.hand_over(snapshot, watcher),
            Some(Err(TryRecvError::Empty)) => return,
            Some(Err(TryRecvError::Disconnected)) => self.coming = None,
            None => {}
        }
        let due = self.not_before.is_none_or(|at| at <= Instant::now());
        if due && watcher.wants_profile() {
            self.coming = tracing.snapshot();
        }
    }

    fn hand_over(&mut self, snapshot: ProfileSnapshot, watcher: &mut dyn Watcher) {
        let began = thread_cpu_time();
        watcher.profile(&LiveProfile {
            trial: self.trial,
            treatment: self.treatment.clone(),
            before: self.made,
            cpu_s: snapshot.cpu.as_secs_f64(),
            profile: snapshot.profile,
        });
        let cost = snapshot.cpu + thread_cpu_time().saturating_sub(began);
        self.made += 1;
        self.coming = None;
        self.not_before = Some(Instant::now() + APART.max(cost.saturating_mul(COST)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_is_wanted_after_it_was_asked_for_and_the_newest_is_read() {
        let dir = tempfile::tempdir().unwrap();
        let events = dir.path().join("events.jsonl");
        assert!(!is_wanted(&events) && LiveProfile::read(&events).unwrap().is_none());
        LiveProfile::request(&events).unwrap();
        assert!(is_wanted(&events));
        let old = File::options().append(true).open(wanted(&events)).unwrap();
        old.set_modified(SystemTime::now() - 2 * WANTED).unwrap();
        assert!(!is_wanted(&events), "who asked has gone");
        let profile = assay_traces::profile::read(b"main;f 3\n", "x.folded").unwrap();
        for before in 0..2 {
            let treatment = "a".to_owned();
            let one =
                LiveProfile { trial: 1, treatment, before, cpu_s: 0.1, profile: profile.clone() };
            one.write(&events).unwrap();
            assert_eq!(LiveProfile::read(&events).unwrap(), Some(one));
        }
        fs::write(file(&events), "{").unwrap();
        assert!(LiveProfile::read(&events).is_err());
    }
}
