//! Writes the events of a run to a file while it runs, for a server or a script that follows it:
//! one line of JSON per event, each written whole.

use std::collections::BTreeSet;
use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use assay_model::{
    EndedTrial, Event, Heat, LiveEvent, LiveValue, RunId, RunState, SampleSet, SeriesKey,
    TrialOutcome, TrialRecord,
};
use assay_system::clock::monotonic_ns;
use assay_system::process::Stream;
use assay_system::redact::without_tokens;

use crate::progress::live_profile::{self, LiveProfile};
use crate::progress::watcher::{Progress, Watcher};

/// Minimum time between two reports of ended trials. Trials that end in between are reported
/// together.
const APART: Duration = Duration::from_millis(100);
/// Maximum bytes of a program's output in one report: the newest of an interval.
const MAX_PRINTED: usize = 4096;
/// Maximum bytes of a stream that are buffered until the next report.
const MAX_HELD: usize = 64 << 10;
/// Maximum number of values of a program's own series in one interval.
const MAX_VALUES: usize = 4000;

/// Watches a run and writes its events to a file.
#[derive(Debug)]
pub struct EventWriter {
    file: File,
    path: PathBuf,
    metric: String,
    started: Option<Instant>,
    /// Treatments of the trials that were announced.
    announced: BTreeSet<u32>,
    reported: Option<Instant>,
    ended: Vec<EndedTrial>,
    values: Vec<LiveValue>,
    printed: [Vec<u8>; 2],
    failure: Option<io::Error>,
}

impl EventWriter {
    /// Opens `path` for appending events; `metric` is the deciding metric.
    ///
    /// # Errors
    /// The file cannot be opened for writing.
    pub fn open(path: &Path, metric: &str) -> io::Result<Self> {
        Ok(EventWriter {
            file: OpenOptions::new().append(true).create(true).open(path)?,
            path: path.to_owned(),
            metric: metric.to_owned(),
            started: None,
            announced: BTreeSet::new(),
            reported: None,
            ended: Vec::new(),
            values: Vec::new(),
            printed: [Vec::new(), Vec::new()],
            failure: None,
        })
    }

    /// Returns the first write error. No events are written after it.
    pub fn failure(&self) -> Option<&io::Error> {
        self.failure.as_ref()
    }

    fn write(&mut self, event: &LiveEvent) {
        if self.failure.is_some() {
            return;
        }
        // Serialization cannot fail: these types contain no map whose keys JSON cannot represent.
        let mut line = serde_json::to_vec(event).unwrap_or_default();
        line.push(b'\n');
        self.failure = self.file.write_all(&line).err();
    }

    fn log(&mut self, from: &str, text: &str) {
        // Programs' notes may contain tokens too.
        let text = without_tokens(text).into_owned();
        self.write(&LiveEvent::Log { from: from.into(), text });
    }

    fn tell_ended(&mut self) {
        if !self.ended.is_empty() {
            let trials = std::mem::take(&mut self.ended);
            self.reported = Some(Instant::now());
            self.write(&LiveEvent::Ended { trials });
        }
    }

    fn write_values(&mut self) {
        if !self.values.is_empty() {
            let values = std::mem::take(&mut self.values);
            self.write(&LiveEvent::Samples { values });
        }
    }

    /// Reports whole lines, and at the end of a program also the rest, because a token split across
    /// reports would not be recognized.
    fn tell_printed(&mut self, end: bool) {
        for (index, name) in ["stdout", "stderr"].into_iter().enumerate() {
            let held = &mut self.printed[index];
            let whole = if end { held.len() } else { lines(held) };
            let bytes: Vec<u8> = held.drain(..whole).collect();
            if !bytes.is_empty() {
                let text = String::from_utf8_lossy(&bytes);
                let text = without_tokens(text.trim_end_matches(['\n', '\r']));
                let from = text.len().saturating_sub(MAX_PRINTED);
                let last = (from..=text.len()).find(|i| text.is_char_boundary(*i)).unwrap_or(from);
                self.log(name, &text[last..]);
            }
        }
    }

    fn tell_all(&mut self, end: bool) {
        self.write_values();
        self.tell_printed(end);
        self.tell_ended();
    }

    fn due(at: Option<Instant>) -> bool {
        at.is_none_or(|at| at.elapsed() >= APART)
    }
}

impl Watcher for EventWriter {
    fn every(&self) -> Option<Duration> {
        Some(Duration::from_secs(1))
    }

    fn wants_all(&self) -> bool {
        true
    }

    fn say(&mut self, sentence: &str) {
        self.log("assay", sentence);
    }

    fn registered(&mut self, run: &RunId, trials: usize) {
        self.write(&LiveEvent::Registered { run: run.clone(), pid: std::process::id(), trials });
    }

    fn started(&mut self, progress: &Progress<'_>) {
        // A viewer learns the label of a treatment from its first trial.
        let is_first = self.announced.insert(progress.treatment.id);
        if !is_first && !Self::due(self.started) {
            return;
        }
        self.started = Some(Instant::now());
        self.tell_ended();
        let (estimate, unit) = progress
            .estimate
            .clone()
            .map_or((None, String::new()), |(value, unit)| (Some(value), unit));
        self.write(&LiveEvent::Trial {
            number: progress.trial.number,
            block: progress.trial.block,
            treatment: progress.treatment.id,
            label: progress.treatment.label(),
            done: progress.done,
            total: progress.total,
            estimate: estimate.filter(|v| v.is_finite()),
            unit,
            left_s: progress.left.map(|left| left.as_secs_f64()),
            t_ns: monotonic_ns(),
        });
    }

    fn tick(&mut self, progress: Option<f64>) {
        if let Some(progress) = progress {
            if Self::due(self.reported) {
                self.reported = Some(Instant::now());
                self.write(&LiveEvent::Progress { progress });
            }
        } else {
            self.tell_all(false);
        }
    }

    fn event(&mut self, event: &Event, t_ns: u64) {
        match event {
            Event::Phase { phase, t_ns: at } => {
                self.write(&LiveEvent::Phase { phase: *phase, t_ns: at.unwrap_or(t_ns) });
            }
            Event::Sample { sample, t_ns, value, unit } if self.values.len() < MAX_VALUES => {
                self.values.push(LiveValue {
                    monitor: "workload".into(),
                    subject: String::new(),
                    field: sample.clone(),
                    unit: unit.clone(),
                    t_ns: *t_ns,
                    value: value.filter(|v| v.is_finite()),
                });
            }
            Event::Heat { heat, unit, start_ns, column_ns, edges, counts } => {
                let map = Heat {
                    unit: unit.clone(),
                    start_ns: *start_ns,
                    column_ns: *column_ns,
                    edges: edges.clone(),
                    counts: counts.clone(),
                };
                if map.check().is_ok() {
                    self.write(&LiveEvent::Heat { name: heat.clone(), heat: map });
                }
            }
            Event::Note { note } => self.log("note", note),
            _ => {}
        }
    }

    fn samples(&mut self, samples: &SampleSet) {
        let values = samples.live(wanted);
        if !values.is_empty() {
            self.write(&LiveEvent::Samples { values });
        }
    }

    fn wants_profile(&mut self) -> bool {
        live_profile::is_wanted(&self.path)
    }

    fn profile(&mut self, profile: &LiveProfile) {
        // A failed write costs a viewer one profile; the run goes on.
        let _ = profile.write(&self.path);
    }

    fn printed(&mut self, stream: Stream, bytes: &[u8]) {
        let held = &mut self.printed[usize::from(stream == Stream::Stderr)];
        held.extend_from_slice(bytes);
        if held.len() > MAX_HELD {
            let old = held.len() - MAX_HELD;
            let cut =
                held[old..].iter().position(|b| is_end(*b)).map_or(held.len(), |i| old + i + 1);
            held.drain(..cut);
        }
    }

    fn ended(&mut self, record: &TrialRecord) {
        self.ended.push(EndedTrial {
            number: record.number,
            treatment: record.treatment,
            outcome: record.outcome,
            value: record.metric(&self.metric),
            lasted_s: record.resources.map(|used| used.wall_s),
            error: record.error.clone(),
        });
        let failed = !matches!(record.outcome, TrialOutcome::Completed | TrialOutcome::Interrupted);
        if failed || Self::due(self.reported) {
            self.tell_all(true);
        }
    }

    fn concluded(&mut self, state: RunState, reason: &str) {
        self.tell_all(true);
        self.write(&LiveEvent::Finished { state, reason: reason.to_owned() });
    }
}

fn is_end(b: u8) -> bool {
    matches!(b, b'\n' | b'\r')
}

/// Returns the number of bytes in whole lines.
fn lines(bytes: &[u8]) -> usize {
    bytes.iter().rposition(|b| is_end(*b)).map_or(0, |i| i + 1)
}

/// Returns true for a workload's own samples and for fields that a monitor's chart draws. Charts
/// that draw each subject separately are not updated live.
fn wanted(key: &SeriesKey) -> bool {
    let chart = || assay_observe::field(&key.monitor, &key.field)?.chart;
    key.monitor == "workload"
        || chart().is_some_and(|(chart, _)| {
            !chart.each && chart.subject.is_none_or(|only| key.subject == only)
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_trials_come_together_and_none_is_lost() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let mut writer = EventWriter::open(file.path(), "elapsed").unwrap();
        let planned =
            assay_model::PlannedTrial { number: 1, ..assay_model::PlannedTrial::default() };
        for number in 1..=500 {
            let mut record = crate::trial::execution::blank(&planned, 1);
            record.number = number;
            record.outcome = TrialOutcome::Completed;
            writer.ended(&record);
        }
        writer.printed(Stream::Stdout, &[b'x'; 10_000]);
        writer.concluded(RunState::Completed, "500 trials ran");
        assert!(writer.failure().is_none());
        let text = std::fs::read_to_string(file.path()).unwrap();
        let events: Vec<LiveEvent> =
            text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        let numbers: Vec<u32> = events
            .iter()
            .filter_map(|e| match e {
                LiveEvent::Ended { trials } => Some(trials.iter().map(|t| t.number)),
                _ => None,
            })
            .flatten()
            .collect();
        assert_eq!(numbers, (1..=500).collect::<Vec<_>>());
        assert!(events.iter().any(
            |e| matches!(e, LiveEvent::Log { from, text } if from == "stdout" && text.len() == 4096)
        ));
        assert!(matches!(events.last(), Some(LiveEvent::Finished { .. })));
    }

    #[test]
    fn every_treatment_is_announced_by_its_label() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let mut writer = EventWriter::open(file.path(), "elapsed").unwrap();
        for id in [0, 1, 0, 1] {
            let trial =
                assay_model::PlannedTrial { treatment: id, ..assay_model::PlannedTrial::default() };
            let treatment = assay_model::Treatment {
                id,
                levels: std::collections::BTreeMap::default(),
                names: std::collections::BTreeMap::default(),
                params: std::collections::BTreeMap::default(),
                controls: Vec::new(),
            };
            writer.started(&Progress {
                trial: &trial,
                treatment: &treatment,
                done: 0,
                total: 4,
                estimate: None,
                left: None,
            });
        }
        let text = std::fs::read_to_string(file.path()).unwrap();
        for id in [0, 1] {
            assert!(text.contains(&format!("\"treatment\":{id},\"label\"")), "{text}");
        }
    }

    #[test]
    fn a_token_that_is_printed_in_parts_is_not_reported() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let mut writer = EventWriter::open(file.path(), "elapsed").unwrap();
        writer.printed(Stream::Stdout, b"one\npassword=hun");
        writer.tick(None);
        writer.printed(Stream::Stdout, b"ter22");
        writer.printed(Stream::Stdout, &[b'\n'; 2]);
        writer.printed(Stream::Stdout, &[b'x'; MAX_PRINTED - 4]);
        writer.concluded(RunState::Completed, "500 trials ran");
        let text = std::fs::read_to_string(file.path()).unwrap();
        assert!(text.contains("one") && text.contains("xxxx"), "{text}");
        assert!(!text.contains("hun") && !text.contains("ter22"), "{text}");
    }
}
