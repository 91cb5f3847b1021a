//! Live state of a run for its viewers: the status for a viewer that connects, and the later events
//! for one that is connected. A viewer loses no event: it reads a shared log at its own pace, and
//! if it falls behind the start of the log, it gets the complete status again.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex};

use crate::locked;
use assay_model::{EndedTrial, Heat, LiveEvent, LiveValue, Phase, RunId, RunState, TrialOutcome};
use bytes::Bytes;
use schemars::JsonSchema;
use serde::Serialize;
use tokio::sync::watch;

/// Maximum number of events kept for slow viewers.
const MAX_EVENTS: usize = 10_000;
/// Maximum size of the kept events, in bytes.
const MAX_EVENT_BYTES: usize = 64 << 20;
/// Maximum number of points kept of each series.
const MAX_POINTS: usize = 300;
/// Maximum number of series that are kept.
const MAX_SERIES: usize = 200;
/// Maximum number of log lines that are kept.
const MAX_LINES: usize = 300;
/// Maximum number of heat maps that are kept.
const MAX_HEATS: usize = 4;
/// Maximum number of phases that are kept.
const MAX_PHASES: usize = 100;

/// Current status of a run.
#[derive(Debug, Clone, Default, PartialEq, Serialize, JsonSchema)]
pub(crate) struct LiveStatus {
    /// Id of the run, once it is registered.
    pub run: Option<RunId>,
    /// Number of trials that have ended.
    pub done: usize,
    /// Number of trials in total, as far as is known.
    pub total: usize,
    /// Estimated time left in seconds, judged by the trials so far.
    pub left_s: Option<f64>,
    /// Trial that was announced last.
    pub trial: Option<AnnouncedTrial>,
    /// Share of the trial that is done, if the workload reports it.
    pub progress: Option<f64>,
    /// Results so far, by number of the treatment.
    pub treatments: BTreeMap<u32, TreatmentProgress>,
    /// Recent values of the monitors and of the workload over time.
    pub series: Vec<Series>,
    /// Heat maps by name: how often each value occurred over the time of the last trial that
    /// reported it.
    pub heats: BTreeMap<String, Heat>,
    /// Phases that began recently, oldest first.
    pub phases: VecDeque<PhaseStart>,
    /// Recent lines of the log, oldest first.
    pub log: VecDeque<LogLine>,
    /// Outcome of the run, once it has ended.
    pub finished: Option<RunEnd>,
}

/// Trial that the run has announced.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub(crate) struct AnnouncedTrial {
    pub number: u32,
    pub block: u32,
    pub treatment: u32,
    pub label: String,
    pub t_ns: u64,
}

/// Results of a treatment so far.
#[derive(Debug, Clone, Default, PartialEq, Serialize, JsonSchema)]
pub(crate) struct TreatmentProgress {
    pub label: String,
    /// Number of trials that completed.
    pub completed: u32,
    /// Number of trials that failed.
    pub failed: u32,
    /// Value of the last completed trial.
    pub last: Option<f64>,
    /// Numbers of its recent trials with their values; `null` for a trial without a value.
    pub values: VecDeque<(u32, Option<f64>)>,
    /// Geometric mean so far, as the run reported it.
    pub estimate: Option<f64>,
    pub unit: String,
}

/// Series of values over time.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub(crate) struct Series {
    pub monitor: String,
    pub subject: String,
    pub field: String,
    pub unit: String,
    /// Time in nanoseconds of `CLOCK_MONOTONIC`, and value.
    pub points: VecDeque<(u64, Option<f64>)>,
}

/// Start of a phase.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub(crate) struct PhaseStart {
    pub phase: Phase,
    pub t_ns: u64,
}

/// Line of the log.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub(crate) struct LogLine {
    pub from: String,
    pub text: String,
}

/// Outcome of a run.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub(crate) struct RunEnd {
    pub state: RunState,
    pub reason: String,
}

impl LiveStatus {
    fn take(&mut self, event: LiveEvent) {
        match event {
            LiveEvent::Registered { run, trials, .. } => {
                self.run = Some(run);
                self.total = trials;
                self.finished = None;
            }
            LiveEvent::Trial {
                number,
                block,
                treatment,
                label,
                done,
                total,
                estimate,
                unit,
                left_s,
                t_ns,
            } => {
                (self.done, self.total, self.left_s) = (done, total, left_s);
                self.progress = None;
                let of = self.treatments.entry(treatment).or_default();
                of.label.clone_from(&label);
                if estimate.is_some() {
                    (of.estimate, of.unit) = (estimate, unit);
                }
                self.trial = Some(AnnouncedTrial { number, block, treatment, label, t_ns });
            }
            LiveEvent::Progress { progress } => self.progress = Some(progress),
            LiveEvent::Phase { phase, t_ns } => {
                push(&mut self.phases, PhaseStart { phase, t_ns }, MAX_PHASES);
            }
            LiveEvent::Samples { values } => {
                for value in values {
                    self.sample(value);
                }
            }
            LiveEvent::Heat { name, heat } => {
                if self.heats.len() < MAX_HEATS || self.heats.contains_key(&name) {
                    self.heats.insert(name, heat);
                }
            }
            LiveEvent::Ended { trials } => {
                for trial in trials {
                    self.ended(&trial);
                }
            }
            LiveEvent::Log { from, text } => {
                for line in text.lines() {
                    let line =
                        LogLine { from: from.clone(), text: line.chars().take(2000).collect() };
                    push(&mut self.log, line, MAX_LINES);
                }
            }
            LiveEvent::Finished { state, reason } => {
                self.finished = Some(RunEnd { state, reason });
                (self.left_s, self.progress) = (None, None);
            }
        }
    }

    fn sample(&mut self, v: LiveValue) {
        let known = self
            .series
            .iter()
            .position(|s| s.field == v.field && s.subject == v.subject && s.monitor == v.monitor);
        let at = match known {
            Some(at) => at,
            None if self.series.len() >= MAX_SERIES => return,
            None => {
                let (monitor, subject, field, unit) = (v.monitor, v.subject, v.field, v.unit);
                self.series.push(Series { monitor, subject, field, unit, points: VecDeque::new() });
                self.series.len() - 1
            }
        };
        push(&mut self.series[at].points, (v.t_ns, v.value), MAX_POINTS);
    }

    fn ended(&mut self, trial: &EndedTrial) {
        self.done += 1;
        let of = self.treatments.entry(trial.treatment).or_default();
        let completed = trial.outcome == TrialOutcome::Completed;
        push(&mut of.values, (trial.number, trial.value.filter(|_| completed)), MAX_POINTS);
        if completed {
            of.completed += 1;
            of.last = trial.value;
        } else {
            of.failed += 1;
            let text = format!("trial {} failed: {}", trial.number, trial.error);
            push(&mut self.log, LogLine { from: "assay".into(), text }, MAX_LINES);
        }
    }
}

fn push<T>(list: &mut VecDeque<T>, item: T, most: usize) {
    if list.len() >= most {
        list.pop_front();
    }
    list.push_back(item);
}

#[derive(Debug, Default)]
struct Log {
    status: LiveStatus,
    /// Number of the first event in `events`.
    base: u64,
    events: VecDeque<Bytes>,
    /// Size of `events`, in bytes.
    bytes: usize,
    over: bool,
}

/// Live status and events of a job's run.
#[derive(Debug)]
pub(crate) struct LiveRun {
    pub job: u64,
    log: Mutex<Log>,
    changed: watch::Sender<u64>,
}

/// Events that a viewer gets next.
pub(crate) struct Batch {
    pub frames: Vec<Bytes>,
    pub next: u64,
    pub over: bool,
}

impl LiveRun {
    pub fn new(job: u64) -> Arc<Self> {
        Arc::new(LiveRun { job, log: Mutex::default(), changed: watch::Sender::new(0) })
    }

    /// Adds a line of the run's events. Returns `None` for a line that is not an event, which is
    /// ignored.
    pub fn take(&self, line: &str) -> Option<LiveEvent> {
        let event: LiveEvent = serde_json::from_str(line).ok()?;
        let mut log = locked(&self.log);
        log.status.take(event.clone());
        let number = log.base + log.events.len() as u64;
        let framed = frame(Some(number + 1), line);
        log.bytes += framed.len();
        log.events.push_back(framed);
        while log.events.len() > MAX_EVENTS || log.bytes > MAX_EVENT_BYTES {
            let Some(oldest) = log.events.pop_front() else { break };
            log.bytes -= oldest.len();
            log.base += 1;
        }
        drop(log);
        self.changed.send_modify(|n| *n += 1);
        Some(event)
    }

    /// Marks the run as ended: no further events come.
    pub fn end(&self) {
        locked(&self.log).over = true;
        self.changed.send_modify(|n| *n += 1);
    }

    pub fn status(&self) -> LiveStatus {
        locked(&self.log).status.clone()
    }

    pub fn changes(&self) -> watch::Receiver<u64> {
        self.changed.subscribe()
    }

    /// Returns the events from number `seen` on. A viewer that has seen none, or that has fallen
    /// behind, gets the status.
    pub fn after(&self, seen: Option<u64>) -> Batch {
        let log = locked(&self.log);
        let end = log.base + log.events.len() as u64;
        let frames = if let Some(seen) = seen.filter(|seen| (log.base..=end).contains(seen)) {
            log.events.iter().skip((seen - log.base) as usize).cloned().collect()
        } else {
            let json = serde_json::json!({ "event": "status", "status": log.status });
            vec![frame(Some(end), &json.to_string())]
        };
        Batch { frames, next: end, over: log.over }
    }
}

/// Formats an event of a stream. `id` is the number of the event after it, which a viewer that
/// reconnects sends as `Last-Event-ID`.
pub(crate) fn frame(id: Option<u64>, json: &str) -> Bytes {
    let id = id.map(|id| format!("id: {id}\n")).unwrap_or_default();
    Bytes::from(format!("{id}data: {json}\n\n"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn log(i: usize) -> String {
        format!(r#"{{"event":"log","from":"note","text":"{i}"}}"#)
    }

    #[test]
    fn a_viewer_gets_every_event_once_or_the_status() {
        let live = LiveRun::new(1);
        assert!(live.take("no event").is_none());
        let first = live.after(None);
        assert_eq!((first.frames.len(), first.next), (1, 0));
        for i in 0..10 {
            live.take(&log(i)).unwrap();
        }
        let next = live.after(Some(first.next));
        assert_eq!((next.frames.len(), next.next), (10, 10));
        assert!(next.frames[0].starts_with(b"id: 1\n"));
        assert_eq!(live.after(Some(10)).frames.len(), 0);
        for i in 0..MAX_EVENTS {
            live.take(&log(i)).unwrap();
        }
        let behind = live.after(Some(9));
        assert_eq!(behind.frames.len(), 1);
        assert!(String::from_utf8_lossy(&behind.frames[0]).contains("\"status\""));
        assert_eq!(live.after(Some(10)).frames.len(), MAX_EVENTS);
        // An id that this server never sent.
        assert_eq!(live.after(Some(99_999_999)).frames.len(), 1);
    }

    #[test]
    fn the_status_is_bounded() {
        let live = LiveRun::new(1);
        for i in 0..1000 {
            live.take(&log(i)).unwrap();
            let value = format!(
                r#"{{"event":"samples","values":[{{"monitor":"disk","subject":"d{i}","field":"r",
                    "unit":"1","t_ns":{i},"value":null}}]}}"#
            );
            live.take(&value).unwrap();
        }
        let status = live.status();
        assert_eq!((status.log.len(), status.series.len()), (MAX_LINES, MAX_SERIES));
    }
}
