//! Queue on disk: a folder for each job, with its `job.json`, its experiment, the events of its run
//! and the output of `assay run`. A file is written under a temporary name, flushed and then
//! renamed, so it is never half written.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::io::Read;
use std::os::unix::fs::{DirBuilderExt, PermissionsExt};
use std::path::{Path, PathBuf};

use assay_model::SCHEMA_VERSION;
use assay_system::state_file::try_lock;
use jiff::Timestamp;
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::error::{Refusal, ServeError};
use crate::queue::job::{Job, JobState};

/// Number of ended jobs to keep. The runs of older ones stay in the archive.
const MAX_ENDED: usize = 500;
/// Maximum number of waiting jobs.
pub(crate) const MAX_WAITING: usize = 1000;
/// Maximum number of bytes read from a file.
const MAX_BYTES: u64 = 1 << 20;

/// Queue of one state folder. One process at a time can open it.
#[derive(Debug)]
pub(crate) struct Queue {
    folder: PathBuf,
    jobs: BTreeMap<u64, Job>,
    /// Jobs whose files are out of date, because they could not be written (full disk).
    unsaved: BTreeSet<u64>,
    next: u64,
    _lock: File,
}

/// New job, before the queue gives it a number and a position.
#[derive(Debug)]
pub(crate) struct NewJob {
    pub job: Job,
    /// Text of the experiment.
    pub toml: String,
    pub first: bool,
}

impl Queue {
    /// Opens and locks the queue in `state_dir`.
    ///
    /// # Errors
    /// Another process has locked it, or a file cannot be read or written.
    pub fn open(state_dir: &Path) -> Result<Self, ServeError> {
        let folder = state_dir.join("queue");
        create_private_folder(&folder)?;
        let lock = take_lock(&folder.join("lock"))?;
        let mut queue =
            Queue { folder, jobs: BTreeMap::new(), unsaved: BTreeSet::new(), next: 1, _lock: lock };
        queue.read_all()?;
        Ok(queue)
    }

    fn read_all(&mut self) -> Result<(), ServeError> {
        let fail = |e| ServeError::io("read", &self.folder)(e);
        for entry in fs::read_dir(&self.folder).map_err(fail)? {
            let entry = entry.map_err(fail)?;
            let Some(id) = entry.file_name().to_str().and_then(|n| n.parse::<u64>().ok()) else {
                continue;
            };
            // Numbers are never reused, not even those of jobs that were not written completely.
            self.next = self.next.max(id + 1);
            let path = entry.path().join("job.json");
            if !path.exists() {
                let _ = fs::remove_dir_all(entry.path());
                continue;
            }
            let job = read_job(&path)?;
            if job.id != id {
                let reason = format!("it contains job {}", job.id);
                return Err(ServeError::Damaged { path, reason });
            }
            self.jobs.insert(id, job);
        }
        Ok(())
    }

    pub fn folder_of(&self, id: u64) -> PathBuf {
        self.folder.join(format!("{id:06}"))
    }

    pub fn get(&self, id: u64) -> Option<&Job> {
        self.jobs.get(&id)
    }

    /// Returns the job that a request names, or refuses with 404.
    pub fn find(&self, id: u64) -> Result<&Job, Refusal> {
        let none = || Refusal::not_found(format!("there is no job {id} in the queue"));
        self.get(id).ok_or_else(none)
    }

    /// Returns the waiting jobs, next one first.
    pub fn waiting(&self) -> Vec<&Job> {
        let mut waiting: Vec<&Job> =
            self.jobs.values().filter(|j| j.state == JobState::Waiting).collect();
        waiting.sort_by_key(|j| (j.order, j.id));
        waiting
    }

    pub fn running(&self) -> Option<&Job> {
        self.jobs.values().find(|j| j.state == JobState::Running)
    }

    /// Returns the ended jobs, newest first.
    pub fn ended(&self) -> Vec<&Job> {
        let mut over: Vec<&Job> = self.jobs.values().filter(|j| j.state.is_over()).collect();
        over.sort_by(|a, b| (&b.ended_at, b.id).cmp(&(&a.ended_at, a.id)));
        over
    }

    /// Adds a job. It is on disk when this returns.
    pub fn add(&mut self, new: NewJob) -> Result<Job, ServeError> {
        let id = self.next;
        self.next += 1;
        let orders = || self.waiting().into_iter().map(|j| j.order);
        let order = if new.first {
            orders().min().map_or(0, |minimum| minimum - 1)
        } else {
            orders().max().map_or(0, |most| most + 1)
        };
        let (schema_version, submitted_at) = (SCHEMA_VERSION, now());
        let job = Job { schema_version, id, submitted_at, order, ..new.job };
        let folder = self.folder_of(id);
        create_private_folder(&folder)?;
        let text = folder.join("experiment.toml");
        write_atomically(&text, new.toml.as_bytes())?;
        self.put(job.clone())?;
        self.prune();
        Ok(job)
    }

    pub fn all(&self) -> impl Iterator<Item = &Job> {
        self.jobs.values()
    }

    /// Records an event of a job: in memory at once, on disk if that succeeds.
    ///
    /// # Errors
    /// The file could not be written; [`Queue::flush`] tries again.
    pub fn note(&mut self, id: u64, change: impl FnOnce(&mut Job)) -> Result<(), ServeError> {
        let Some(job) = self.jobs.get_mut(&id) else { return Ok(()) };
        change(job);
        let job = job.clone();
        self.unsaved.insert(id);
        self.put(job)
    }

    /// Writes the jobs whose files could not be written before.
    ///
    /// # Errors
    /// A file still cannot be written.
    pub fn flush(&mut self) -> Result<(), ServeError> {
        while let Some(id) = self.unsaved.first().copied() {
            match self.jobs.get(&id).cloned() {
                Some(job) => self.put(job)?,
                None => {
                    self.unsaved.remove(&id);
                }
            }
        }
        Ok(())
    }

    /// Changes a job on disk, then in memory: for changes that must not take effect if they cannot
    /// be written.
    pub fn change(&mut self, id: u64, change: impl FnOnce(&mut Job)) -> Result<(), ServeError> {
        let Some(mut job) = self.jobs.get(&id).cloned() else { return Ok(()) };
        change(&mut job);
        self.put(job)
    }

    fn put(&mut self, job: Job) -> Result<(), ServeError> {
        let folder = self.folder_of(job.id);
        let path = folder.join("job.json");
        write_json(&path, &job)?;
        self.unsaved.remove(&job.id);
        self.jobs.insert(job.id, job);
        Ok(())
    }

    /// Moves a waiting job to the front, one place up, or one place down. Returns `None` if the job
    /// is not waiting.
    pub fn shift(&mut self, id: u64, to: Shift) -> Result<Option<Job>, ServeError> {
        let waiting: Vec<(u64, i64)> = self.waiting().iter().map(|j| (j.id, j.order)).collect();
        let Some(at) = waiting.iter().position(|(i, _)| *i == id) else { return Ok(None) };
        let mut ids: Vec<u64> = waiting.iter().map(|(i, _)| *i).collect();
        ids.remove(at);
        let to = match to {
            Shift::First => 0,
            Shift::Up => at.saturating_sub(1),
            Shift::Down => (at + 1).min(ids.len()),
        };
        ids.insert(to, id);
        let first = waiting.iter().map(|(_, order)| *order).min().unwrap_or(0);
        for (place, id) in ids.into_iter().enumerate() {
            let order = first + place as i64;
            if self.jobs.get(&id).is_some_and(|j| j.order != order) {
                self.change(id, |j| j.order = order)?;
            }
        }
        Ok(self.jobs.get(&id).cloned())
    }

    /// Returns the waiting job that may start at `now`. Otherwise the error is the earliest time at
    /// which a waiting job may start, or `None` if no job is waiting.
    pub fn due(&self, now: Timestamp) -> Result<u64, Option<Timestamp>> {
        let mut soonest: Option<Timestamp> = None;
        for job in self.waiting() {
            // An unreadable time must not hold a job forever.
            let at = job.not_before.as_ref().and_then(|t| t.parse::<Timestamp>().ok());
            match at.filter(|at| *at > now) {
                None => return Ok(job.id),
                Some(at) => soonest = Some(soonest.map_or(at, |s| s.min(at))),
            }
        }
        Err(soonest)
    }

    /// Deletes the oldest ended jobs if there are more than [`MAX_ENDED`].
    fn prune(&mut self) {
        let old: Vec<u64> = self.ended().iter().skip(MAX_ENDED).map(|j| j.id).collect();
        for id in old {
            self.jobs.remove(&id);
            let _ = fs::remove_dir_all(self.folder_of(id));
        }
    }
}

/// New position of a waiting job.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Shift {
    First,
    Up,
    Down,
}

/// Returns the current time: ISO 8601, UTC, in whole milliseconds.
pub(crate) fn now() -> String {
    let now = Timestamp::now();
    Timestamp::from_millisecond(now.as_millisecond()).unwrap_or(now).to_string()
}

fn take_lock(path: &Path) -> Result<File, ServeError> {
    let taken = try_lock(path, 0o600).map_err(ServeError::io("lock", path))?;
    taken.map_err(|who| ServeError::Busy { who, path: path.to_owned() })
}

fn read_job(path: &Path) -> Result<Job, ServeError> {
    let damaged = |reason| ServeError::Damaged { path: path.to_owned(), reason };
    let job: Job = read_json(path)?.ok_or_else(|| damaged("the file was removed".into()))?;
    match job.schema_version {
        version if version > SCHEMA_VERSION => {
            let reason =
                format!("its format version is {version}; this assay reads up to {SCHEMA_VERSION}");
            Err(damaged(reason))
        }
        _ => Ok(job),
    }
}

/// Reads a file that [`write_json`] wrote. Returns `None` if the file does not exist.
pub(crate) fn read_json<T: DeserializeOwned>(path: &Path) -> Result<Option<T>, ServeError> {
    let mut text = String::new();
    match File::open(path).and_then(|file| file.take(MAX_BYTES).read_to_string(&mut text)) {
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        read => read.map_err(ServeError::io("read", path))?,
    };
    let damaged =
        |e: serde_json::Error| ServeError::Damaged { path: path.to_owned(), reason: e.to_string() };
    serde_json::from_str(&text).map(Some).map_err(damaged)
}

/// Writes a value as JSON, with the guarantees of [`write_atomically`].
pub(crate) fn write_json(path: &Path, value: &impl Serialize) -> Result<(), ServeError> {
    // Cannot fail: no type of the state folder has a map with keys that are not strings.
    write_atomically(path, &serde_json::to_vec_pretty(value).unwrap_or_default())
}

/// Creates a folder that only its owner can access, because experiments, commands and the output of
/// programs are private.
fn create_private_folder(path: &Path) -> Result<(), ServeError> {
    let fail = |e| ServeError::io("create the folder", path)(e);
    fs::DirBuilder::new().recursive(true).mode(0o700).create(path).map_err(fail)?;
    // Earlier versions gave others access.
    fs::set_permissions(path, fs::Permissions::from_mode(0o700)).map_err(fail)
}

/// Writes a file that only its owner can read, completely or not at all, even if the power fails.
pub(crate) fn write_atomically(path: &Path, bytes: &[u8]) -> Result<(), ServeError> {
    assay_system::state_file::write(path, bytes).map_err(ServeError::io("write", path))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn new(name: &str, first: bool) -> NewJob {
        let job = Job { experiment: name.into(), workload: "noop".into(), ..Job::default() };
        NewJob { job, toml: "name = \"x\"".into(), first }
    }

    fn names(queue: &Queue) -> Vec<&str> {
        queue.waiting().iter().map(|j| j.experiment.as_str()).collect()
    }

    #[test]
    fn the_order_is_kept_on_disk() {
        let dir = tempfile::tempdir().unwrap();
        let mut queue = Queue::open(dir.path()).unwrap();
        for (name, first) in [("a", false), ("b", false), ("c", true), ("d", false)] {
            queue.add(new(name, first)).unwrap();
        }
        assert_eq!(names(&queue), ["c", "a", "b", "d"]);
        queue.shift(4, Shift::First).unwrap();
        queue.shift(1, Shift::Up).unwrap();
        queue.shift(2, Shift::Down).unwrap();
        assert_eq!(names(&queue), ["d", "a", "c", "b"]);
        assert!(matches!(Queue::open(dir.path()), Err(ServeError::Busy { .. })));
        drop(queue);
        let mut queue = Queue::open(dir.path()).unwrap();
        assert_eq!(names(&queue), ["d", "a", "c", "b"]);
        assert_eq!(queue.add(new("e", false)).unwrap().id, 5);
        assert!(queue.shift(99, Shift::Up).unwrap().is_none());
    }

    #[test]
    fn nobody_else_reads_it() {
        let dir = tempfile::tempdir().unwrap();
        let folder = dir.path().join("queue");
        // The folder as an earlier version made it.
        fs::create_dir(&folder).unwrap();
        fs::set_permissions(&folder, fs::Permissions::from_mode(0o755)).unwrap();
        let mut queue = Queue::open(dir.path()).unwrap();
        queue.add(new("a", false)).unwrap();
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!(mode(&folder), 0o700);
        let job = queue.folder_of(1);
        assert_eq!(mode(&job), 0o700);
        for name in ["job.json", "experiment.toml"] {
            assert_eq!(mode(&job.join(name)), 0o600, "{name}");
        }
        assert_eq!(mode(&folder.join("lock")), 0o600);
    }

    #[test]
    fn a_job_that_may_not_start_yet_lets_others_pass() {
        let dir = tempfile::tempdir().unwrap();
        let mut queue = Queue::open(dir.path()).unwrap();
        let at: Timestamp = "2030-01-01T00:00:00Z".parse().unwrap();
        let mut later = new("later", false);
        later.job.not_before = Some(at.to_string());
        queue.add(later).unwrap();
        let before: Timestamp = "2029-01-01T00:00:00Z".parse().unwrap();
        assert_eq!(queue.due(before), Err(Some(at)));
        queue.add(new("now", false)).unwrap();
        assert_eq!((queue.due(before), queue.due(at)), (Ok(2), Ok(1)));
    }

    #[test]
    fn a_job_that_a_schedule_of_an_earlier_version_submitted_is_read() {
        let dir = tempfile::tempdir().unwrap();
        Queue::open(dir.path()).unwrap().add(new("a", false)).unwrap();
        let path = dir.path().join("queue/000001/job.json");
        let text = fs::read_to_string(&path).unwrap();
        for of in ["null", r#"{ "schedule": 1, "due": "2026-01-01T02:00:00Z" }"#] {
            let key = "  \"state\":";
            let earlier = text.replace(key, &format!("  \"scheduled\": {of},\n{key}"));
            assert_ne!(earlier, text);
            fs::write(&path, earlier).unwrap();
            let mut queue = Queue::open(dir.path()).unwrap();
            assert_eq!(names(&queue), ["a"], "{of}");
            queue.change(1, |j| j.cancel = true).unwrap();
            assert!(!fs::read_to_string(&path).unwrap().contains("scheduled"), "{of}");
        }
    }

    #[test]
    fn a_job_that_was_never_whole_is_swept_and_a_damaged_one_is_named() {
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir_all(dir.path().join("queue/000007")).unwrap();
        let mut queue = Queue::open(dir.path()).unwrap();
        assert_eq!(queue.add(new("a", false)).unwrap().id, 8);
        drop(queue);
        fs::write(dir.path().join("queue/000008/job.json"), "{").unwrap();
        let error = Queue::open(dir.path()).unwrap_err().to_string();
        assert!(error.contains("000008/job.json cannot be used"), "{error}");
    }
}
