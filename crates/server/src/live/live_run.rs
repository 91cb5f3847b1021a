//! A run that goes on, as those who watch see it: where it stands (for who comes now) and what happened
//! since (for who is there). No event is lost to a viewer: each reads a shared log at its own pace, and
//! one that falls behind the log's beginning gets the whole status anew.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex};

use crate::locked;
use assay_model::{EndedTrial, Heat, LiveEvent, LiveValue, Outcome, Phase, RunId, RunState};
use bytes::Bytes;
use schemars::JsonSchema;
use serde::Serialize;
use tokio::sync::watch;

/// How many events are held for those who are behind.
const HELD: usize = 10_000;
/// How many bytes of events are held.
const HELD_BYTES: usize = 64 << 20;
/// How many points of each series are held.
const POINTS: usize = 300;
/// How many series are held.
const SERIES: usize = 200;
/// How many lines of the log are held.
const LINES: usize = 300;
/// How many heat maps are held.
const HEATS: usize = 4;
/// How many trials and phases are held.
const MARKS: usize = 100;

/// Where a run stands.
#[derive(Debug, Clone, Default, PartialEq, Serialize, JsonSchema)]
pub(crate) struct LiveStatus {
    /// The run, once it is registered.
    pub run: Option<RunId>,
    /// How many trials have ended.
    pub done: usize,
    /// How many there will be, as far as is known.
    pub total: usize,
    /// Seconds left, judged by the trials so far.
    pub left_s: Option<f64>,
    /// The trial that was announced last.
    pub trial: Option<Announced>,
    /// The share of it that is done, where the workload reports it.
    pub progress: Option<f64>,
    /// By treatment.
    pub treatments: BTreeMap<u32, Treated>,
    /// What monitors and the workload say over time.
    pub series: Vec<Series>,
    /// How often values occurred over the time of the last trial that reported it, by name.
    pub heats: BTreeMap<String, Heat>,
    /// The phases lately.
    pub phases: VecDeque<Mark>,
    /// The log lately.
    pub log: VecDeque<Line>,
    /// How the run ended.
    pub finished: Option<Finish>,
}

/// A trial that was announced.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub(crate) struct Announced {
    pub number: u32,
    pub block: u32,
    pub treatment: u32,
    pub label: String,
    pub t_ns: u64,
}

/// What is known of a treatment.
#[derive(Debug, Clone, Default, PartialEq, Serialize, JsonSchema)]
pub(crate) struct Treated {
    pub label: String,
    /// Trials that completed.
    pub completed: u32,
    /// Trials that did not.
    pub failed: u32,
    /// The value of the last trial.
    pub last: Option<f64>,
    /// The numbers of its trials lately, and their values; `null` for those that have none.
    pub values: VecDeque<(u32, Option<f64>)>,
    /// The geometric mean so far, as the run reported.
    pub estimate: Option<f64>,
    pub unit: String,
}

/// A series over time.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub(crate) struct Series {
    pub monitor: String,
    pub subject: String,
    pub field: String,
    pub unit: String,
    /// Nanoseconds of `CLOCK_MONOTONIC`, and the value.
    pub points: VecDeque<(u64, Option<f64>)>,
}

/// A phase began.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub(crate) struct Mark {
    pub phase: Phase,
    pub t_ns: u64,
}

/// A line of the log.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub(crate) struct Line {
    pub from: String,
    pub text: String,
}

/// How a run ended.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub(crate) struct Finish {
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
                self.trial = Some(Announced { number, block, treatment, label, t_ns });
            }
            LiveEvent::Progress { progress } => self.progress = Some(progress),
            LiveEvent::Phase { phase, t_ns } => push(&mut self.phases, Mark { phase, t_ns }, MARKS),
            LiveEvent::Samples { values } => {
                for value in values {
                    self.sample(value);
                }
            }
            LiveEvent::Heat { name, heat } => {
                if self.heats.len() < HEATS || self.heats.contains_key(&name) {
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
                    let line = Line { from: from.clone(), text: line.chars().take(2000).collect() };
                    push(&mut self.log, line, LINES);
                }
            }
            LiveEvent::Finished { state, reason } => {
                self.finished = Some(Finish { state, reason });
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
            None if self.series.len() >= SERIES => return,
            None => {
                let (monitor, subject, field, unit) = (v.monitor, v.subject, v.field, v.unit);
                self.series.push(Series { monitor, subject, field, unit, points: VecDeque::new() });
                self.series.len() - 1
            }
        };
        push(&mut self.series[at].points, (v.t_ns, v.value), POINTS);
    }

    fn ended(&mut self, trial: &EndedTrial) {
        self.done += 1;
        let of = self.treatments.entry(trial.treatment).or_default();
        let completed = trial.outcome == Outcome::Completed;
        push(&mut of.values, (trial.number, trial.value.filter(|_| completed)), POINTS);
        if completed {
            of.completed += 1;
            of.last = trial.value;
        } else {
            of.failed += 1;
            let text = format!("trial {} failed: {}", trial.number, trial.error);
            push(&mut self.log, Line { from: "assay".into(), text }, LINES);
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
    /// The number of the first event held.
    base: u64,
    events: VecDeque<Bytes>,
    /// Of all of them.
    bytes: usize,
    over: bool,
}

/// The run of a job.
#[derive(Debug)]
pub(crate) struct Live {
    pub job: u64,
    log: Mutex<Log>,
    changed: watch::Sender<u64>,
}

/// What a viewer gets next.
pub(crate) struct Batch {
    pub frames: Vec<Bytes>,
    pub next: u64,
    pub over: bool,
}

impl Live {
    pub fn new(job: u64) -> Arc<Self> {
        Arc::new(Live { job, log: Mutex::default(), changed: watch::Sender::new(0) })
    }

    /// Takes a line of the run's events; what is no event is passed over.
    pub fn take(&self, line: &str) -> Option<LiveEvent> {
        let event: LiveEvent = serde_json::from_str(line).ok()?;
        let mut log = locked(&self.log);
        log.status.take(event.clone());
        let number = log.base + log.events.len() as u64;
        let framed = frame(Some(number + 1), line);
        log.bytes += framed.len();
        log.events.push_back(framed);
        while log.events.len() > HELD || log.bytes > HELD_BYTES {
            let Some(oldest) = log.events.pop_front() else { break };
            log.bytes -= oldest.len();
            log.base += 1;
        }
        drop(log);
        self.changed.send_modify(|n| *n += 1);
        Some(event)
    }

    /// Nothing more comes.
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

    /// What a viewer who has seen the events before `seen` gets next; who has seen none, or has fallen
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

/// An event of a stream: `id` is what a viewer has seen when it has seen this.
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
        let live = Live::new(1);
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
        for i in 0..HELD {
            live.take(&log(i)).unwrap();
        }
        let behind = live.after(Some(9));
        assert_eq!(behind.frames.len(), 1);
        assert!(String::from_utf8_lossy(&behind.frames[0]).contains("\"status\""));
        assert_eq!(live.after(Some(10)).frames.len(), HELD);
        // An id that this server never gave out.
        assert_eq!(live.after(Some(99_999_999)).frames.len(), 1);
    }

    #[test]
    fn the_status_is_bounded() {
        let live = Live::new(1);
        for i in 0..1000 {
            live.take(&log(i)).unwrap();
            let value = format!(
                r#"{{"event":"samples","values":[{{"monitor":"disk","subject":"d{i}","field":"r","unit":"1","t_ns":{i},"value":null}}]}}"#
            );
            live.take(&value).unwrap();
        }
        let status = live.status();
        assert_eq!((status.log.len(), status.series.len()), (LINES, SERIES));
    }
}
