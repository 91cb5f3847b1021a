//! What is submitted again and again: a file each in the state folder, so that it survives the server. A time that
//! passed while no server ran is made up for once.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use assay_model::SCHEMA_VERSION;
use jiff::{SignedDuration, Timestamp};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::error::{Refusal, ServeError};
use crate::every::Every;
use crate::queue::{now, read_json, write_json};
use crate::submission::Submission;

/// More than this are not kept.
const MAX_SCHEDULES: usize = 200;
/// A time that is made up for later than this was missed.
const LATE: SignedDuration = SignedDuration::from_mins(5);
/// A clock that is set back by more than this was wrong before: the times since are counted anew.
const CLOCK: SignedDuration = SignedDuration::from_hours(24);

/// What was done at the last time.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Last {
    /// The time that it was done for: ISO 8601, UTC.
    pub due: String,
    /// When it was done.
    pub at: String,
    /// The job that was submitted; `null`: none, and `note` says why.
    pub job: Option<u64>,
    /// What should be known of it: a time that was missed, why nothing was submitted. May be empty.
    pub note: String,
}

/// What is submitted again and again.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Schedule {
    /// The version of the format.
    pub schema_version: u32,
    /// Its number.
    pub id: u64,
    /// When: `day at 02:00`, UTC.
    pub every: String,
    /// What.
    pub submit: Submission,
    /// When it was made.
    pub created_at: String,
    /// The next time: ISO 8601, UTC.
    pub next: String,
    /// What was done at the last time.
    pub last: Option<Last>,
}

/// What is to be done now.
#[derive(Debug, PartialEq)]
pub(crate) enum Due {
    /// Nothing before this time.
    At(Timestamp),
    /// The time `due` has come.
    Now { due: Timestamp, missed: u64, late: bool },
    /// The clock was set back by far: the next time is this one.
    Anew(Timestamp),
}

impl Schedule {
    pub(crate) fn every(&self) -> Option<Every> {
        self.every.parse().ok()
    }

    /// What is to be done at `now`.
    pub(crate) fn due(&self, now: Timestamp) -> Due {
        let Some(every) = self.every() else { return Due::At(Timestamp::MAX) };
        // A time that cannot be read is counted anew.
        let Ok(next) = self.next.parse::<Timestamp>() else { return Due::Anew(every.next(now)) };
        if now < next {
            let done = self.last.as_ref().and_then(|l| l.at.parse::<Timestamp>().ok());
            let made = self.created_at.parse::<Timestamp>().ok();
            let back = done.or(made).is_some_and(|then| then.duration_since(now) > CLOCK);
            return if back && every.next(now) < next {
                Due::Anew(every.next(now))
            } else {
                Due::At(next)
            };
        }
        let (mut due, mut missed) = (next, 0);
        loop {
            let following = every.next(due);
            if following > now {
                break;
            }
            due = following;
            missed += 1;
            // A clock that jumps by centuries does not keep the thread.
            if missed > 100_000 {
                due = now;
                break;
            }
        }
        Due::Now { due, missed, late: now.duration_since(due) > LATE }
    }
}

/// The schedules of one state folder.
#[derive(Debug)]
pub(crate) struct Schedules {
    folder: PathBuf,
    all: BTreeMap<u64, Schedule>,
    next: u64,
}

impl Schedules {
    /// Reads the schedules of `state_dir`.
    pub fn open(state_dir: &Path) -> Result<Self, ServeError> {
        let folder = state_dir.join("schedules");
        crate::queue::own_folder(&folder)?;
        let mut all = BTreeMap::new();
        let mut next = 1;
        let fail = |e| ServeError::io("read", &folder)(e);
        for entry in fs::read_dir(&folder).map_err(fail)? {
            let path = entry.map_err(fail)?.path();
            let id = path.file_stem().and_then(|n| n.to_str()).and_then(|n| n.parse::<u64>().ok());
            let Some(id) = id.filter(|_| path.extension().is_some_and(|e| e == "json")) else {
                continue;
            };
            next = next.max(id + 1);
            let schedule = read_json(&path, |s: &Schedule| s.schema_version)?;
            schedule
                .every
                .parse::<Every>()
                .map_err(|reason| ServeError::Damaged { path: path.clone(), reason })?;
            all.insert(id, schedule);
        }
        Ok(Schedules { folder, all, next })
    }

    pub fn list(&self) -> Vec<Schedule> {
        self.all.values().cloned().collect()
    }

    fn path(&self, id: u64) -> PathBuf {
        self.folder.join(format!("{id:06}.json"))
    }

    fn put(&mut self, schedule: Schedule) -> Result<(), ServeError> {
        write_json(&self.path(schedule.id), &schedule)?;
        self.all.insert(schedule.id, schedule);
        Ok(())
    }

    /// Adds one; it is on disk when this returns.
    pub fn add(&mut self, every: Every, submit: Submission) -> Result<Schedule, Refusal> {
        if self.all.len() >= MAX_SCHEDULES {
            return Err(Refusal::conflict(format!(
                "there are {MAX_SCHEDULES} schedules; cancel some first"
            )));
        }
        let id = self.next;
        self.next += 1;
        let schedule = Schedule {
            schema_version: SCHEMA_VERSION,
            id,
            every: every.to_string(),
            submit,
            created_at: now(),
            next: every.next(Timestamp::now()).to_string(),
            last: None,
        };
        self.put(schedule.clone())?;
        Ok(schedule)
    }

    /// Keeps what was done and the next time; one that was cancelled meanwhile stays so. Where the disk is full it is
    /// kept here alone: it is done again after a restart, and the queue knows that it was done.
    pub fn done(&mut self, schedule: Schedule, next: Timestamp, last: Option<Last>) {
        if self.all.contains_key(&schedule.id) {
            let last = last.or_else(|| schedule.last.clone());
            let changed = Schedule { next: next.to_string(), last, ..schedule };
            if self.put(changed.clone()).is_err() {
                self.all.insert(changed.id, changed);
            }
        }
    }

    /// Takes one away. Its number is not given again while the server runs.
    pub fn remove(&mut self, id: u64) -> Result<Schedule, Refusal> {
        let none = || Refusal::not_found(format!("there is no schedule s{id}"));
        let schedule = self.all.get(&id).cloned().ok_or_else(none)?;
        let path = self.path(id);
        match fs::remove_file(&path) {
            Err(e) if e.kind() != std::io::ErrorKind::NotFound => {
                return Err(ServeError::io("remove", &path)(e).into());
            }
            _ => {}
        }
        self.all.remove(&id);
        Ok(schedule)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(text: &str) -> Timestamp {
        text.parse().unwrap()
    }

    fn schedule(every: &str, next: &str, done: &str) -> Schedule {
        Schedule {
            schema_version: SCHEMA_VERSION,
            id: 1,
            every: every.into(),
            submit: Submission::default(),
            created_at: done.into(),
            next: next.into(),
            last: None,
        }
    }

    #[test]
    fn it_is_due_when_its_time_has_come() {
        let s = schedule("day at 02:00", "2026-11-24T02:00:00Z", "2026-11-23T02:00:01Z");
        assert_eq!(s.due(at("2026-11-24T01:59:59Z")), Due::At(at("2026-11-24T02:00:00Z")));
        let now = Due::Now { due: at("2026-11-24T02:00:00Z"), missed: 0, late: false };
        assert_eq!(s.due(at("2026-11-24T02:00:00Z")), now);
    }

    #[test]
    fn times_that_were_missed_are_made_up_for_once() {
        let s = schedule("day at 02:00", "2026-11-24T02:00:00Z", "2026-11-23T02:00:01Z");
        let late = Due::Now { due: at("2026-11-27T02:00:00Z"), missed: 3, late: true };
        assert_eq!(s.due(at("2026-11-27T09:00:00Z")), late);
        // Centuries later, by a clock that is wrong.
        let far = s.due(at("2826-11-27T09:00:00Z"));
        assert!(matches!(far, Due::Now { missed, .. } if missed > 100), "{far:?}");
    }

    #[test]
    fn a_clock_that_is_set_back_a_little_does_nothing_twice_and_one_that_was_wrong_is_forgiven() {
        let s = schedule("day at 02:00", "2026-11-24T02:00:00Z", "2026-11-23T02:00:01Z");
        // An hour back: the time that was done is not done again.
        assert_eq!(s.due(at("2026-11-23T01:00:00Z")), Due::At(at("2026-11-24T02:00:00Z")));
        // It was made while the clock stood in 2035.
        let s = schedule("day at 02:00", "2035-01-02T02:00:00Z", "2035-01-01T02:00:01Z");
        assert_eq!(s.due(at("2026-11-23T16:00:00Z")), Due::Anew(at("2026-11-24T02:00:00Z")));
    }

    #[test]
    fn they_survive_the_server_and_a_damaged_one_is_named() {
        let dir = tempfile::tempdir().unwrap();
        let mut schedules = Schedules::open(dir.path()).unwrap();
        let every = "week on monday at 02:00".parse().unwrap();
        let submit = Submission {
            experiment: "x".into(),
            rev: Some("main".into()),
            ..Submission::default()
        };
        let made = schedules.add(every, submit).unwrap();
        let again = Schedules::open(dir.path()).unwrap().list();
        assert_eq!(again.len(), 1);
        assert_eq!(
            (again[0].next.clone(), again[0].submit.rev.as_deref()),
            (made.next, Some("main"))
        );
        schedules.remove(1).unwrap();
        assert!(schedules.remove(1).is_err());
        assert!(Schedules::open(dir.path()).unwrap().list().is_empty());
        fs::write(dir.path().join("schedules/000007.json"), "{}").unwrap();
        let error = Schedules::open(dir.path()).unwrap_err().to_string();
        assert!(error.contains("000007.json"), "{error}");
    }
}
