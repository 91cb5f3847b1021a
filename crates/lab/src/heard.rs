//! What a workload program said on file descriptor 3 during a trial, within bounds.

use std::collections::BTreeMap;
use std::time::Duration;

use assay_model::{Better, Curve, Event, Kind, MetricValue, PhaseMark, TrialRecord};
use assay_sut::process::Sink;

/// More notes than this say nothing more.
const MOST_NOTES: usize = 200;
/// More points than this in one trial are taken for a runaway program (every size of the block-size
/// sweep at once is 102,400).
const MOST_POINTS: usize = 2_000_000;
/// More metrics, curves or histograms than this in one trial are taken for a runaway program.
const MOST_NAMES: usize = 10_000;

/// Collects the events of one trial.
pub(crate) struct Heard<'a> {
    phases: Vec<PhaseMark>,
    metrics: Vec<MetricValue>,
    curves: Vec<Curve>,
    histograms: BTreeMap<String, (String, String)>,
    notes: Vec<String>,
    /// The first check that failed, else the last that passed.
    valid: Option<(bool, String)>,
    points: usize,
    ignored: u64,
    bad_lines: u64,
    every: Option<Duration>,
    on_progress: &'a mut dyn FnMut(Option<f64>),
}

impl<'a> Heard<'a> {
    /// `every` is how often `on_progress` is called without news (with `None`).
    pub fn new(every: Option<Duration>, on_progress: &'a mut dyn FnMut(Option<f64>)) -> Self {
        Heard {
            phases: Vec::new(),
            metrics: Vec::new(),
            curves: Vec::new(),
            histograms: BTreeMap::new(),
            notes: Vec::new(),
            valid: None,
            points: 0,
            ignored: 0,
            bad_lines: 0,
            every,
            on_progress,
        }
    }

    fn take(&mut self, event: Event, t_ns: u64) {
        match event {
            Event::Phase { phase, t_ns: said } => {
                self.phases.push(PhaseMark { phase, t_ns: said.unwrap_or(t_ns) });
            }
            Event::Metric { metric, value, unit, better, kind } => {
                if self.metrics.len() >= MOST_NAMES {
                    self.ignored += 1;
                    return;
                }
                let better = better.unwrap_or_else(|| Better::from_unit(&unit));
                let value = value.filter(|v| v.is_finite());
                let kind = kind.unwrap_or_default();
                self.metrics.push(MetricValue { name: metric, value, unit, better, kind });
            }
            Event::Point { curve, x, value, x_unit, unit, kind } => {
                self.point(&curve, [x, value], x_unit, unit, kind.unwrap_or_default());
            }
            Event::Histogram { histogram, unit, hdr } => {
                if self.histograms.len() < MOST_NAMES {
                    self.histograms.insert(histogram, (unit, hdr));
                } else {
                    self.ignored += 1;
                }
            }
            Event::Progress { progress } => (self.on_progress)(Some(progress.clamp(0.0, 1.0))),
            Event::Note { note } => {
                if self.notes.len() < MOST_NOTES {
                    self.notes.push(note);
                } else {
                    self.ignored += 1;
                }
            }
            Event::Valid { valid, detail } => {
                if !matches!(self.valid, Some((false, _))) {
                    self.valid = Some((valid, detail));
                }
            }
        }
    }

    fn point(&mut self, name: &str, point: [f64; 2], x_unit: String, unit: String, kind: Kind) {
        let finite = point.iter().all(|v| v.is_finite());
        if !finite || self.points >= MOST_POINTS {
            self.ignored += 1;
            return;
        }
        self.points += 1;
        // The newest curve is nearly always the one.
        match self.curves.iter().rposition(|c| c.name == name) {
            Some(i) => self.curves[i].points.push(point),
            None if self.curves.len() < MOST_NAMES => self.curves.push(Curve {
                name: name.to_owned(),
                x_unit,
                unit,
                kind,
                points: vec![point],
            }),
            None => self.ignored += 1,
        }
    }

    /// Moves what was heard into the record. Returns what the program said of its own output.
    pub fn into_record(self, record: &mut TrialRecord) -> Option<(bool, String)> {
        record.phases = self.phases;
        record.metrics = self.metrics;
        record.curves = self.curves;
        record.histograms = self.histograms;
        record.notes.extend(self.notes);
        if self.bad_lines > 0 {
            let n = self.bad_lines;
            record
                .notes
                .push(format!("{n} lines on descriptor 3 were not events and were ignored"));
        }
        if self.ignored > 0 {
            record.notes.push(format!(
                "{} events were not kept: not finite, or more than a trial may have",
                self.ignored
            ));
        }
        self.valid
    }
}

impl Sink for Heard<'_> {
    fn line(&mut self, line: &[u8], t_ns: u64) {
        match std::str::from_utf8(line).map(Event::from_line) {
            Ok(Ok(Some(event))) => self.take(event, t_ns),
            Ok(Ok(None)) => {}
            Ok(Err(_)) | Err(_) => self.bad_lines += 1,
        }
    }

    fn every(&self) -> Option<Duration> {
        self.every
    }

    fn tick(&mut self) {
        (self.on_progress)(None);
    }
}
