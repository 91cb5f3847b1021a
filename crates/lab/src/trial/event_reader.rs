//! Reads the events that a workload program writes to file descriptor 3 during a trial, within
//! limits.

use std::collections::{BTreeMap, HashMap};
use std::time::Duration;

use assay_model::units::seconds_of;
use assay_model::{
    Better, Curve, Event, Heat, MetricSpec, MetricValue, Observation, Phase, PhaseMark, SampleRow,
    SampleSet, SeriesKey, TrialHistogram, TrialRecord, WorkloadSpec,
};
use assay_stats::curves::warmup::steady_state;
use assay_stats::means::geometric;
use assay_system::process::{Sink, Stream};

use crate::progress::watcher::TrialNews;

/// Limit on notes of a trial; further ones would add no information.
const MAX_NOTES: usize = 200;
/// Limit on curve points of a trial, to contain a runaway program. (The block-size sweep at every
/// size at once has 102,400 points.)
const MAX_POINTS: usize = 2_000_000;
/// Limit on samples of a trial, to contain a runaway program.
const MAX_SAMPLES: usize = 2_000_000;
/// Monitor name of the samples that the program itself reports.
const WORKLOAD: &str = "workload";
/// Limit on metrics, curves, histograms, series or findings of a trial, to contain a runaway
/// program.
const MAX_NAMES: usize = 10_000;

/// Limit on heat maps of a trial; nobody would look at more.
const MAX_HEAT_MAPS: usize = 20;

/// Collects the events of one trial.
pub(crate) struct EventReader<'a> {
    phases: Vec<PhaseMark>,
    metrics: Vec<MetricValue>,
    curves: Vec<Curve>,
    histograms: BTreeMap<String, TrialHistogram>,
    heat_maps: BTreeMap<String, Heat>,
    notes: Vec<String>,
    evidence: Vec<Observation>,
    samples: &'a mut SampleSet,
    /// Result of the first check that failed, else of the last that passed.
    valid: Option<(bool, String)>,
    points: usize,
    ignored: u64,
    bad_lines: u64,
    every: Option<Duration>,
    wants_output: bool,
    on_news: &'a mut dyn FnMut(TrialNews<'_>),
    on_phase: Option<&'a dyn Fn(Phase)>,
}

impl<'a> EventReader<'a> {
    /// Creates a reader. `on_news` is called at the interval `every` even without news;
    /// `wants_output` decides if it also receives the program's output. Samples that the program
    /// reports go into `samples`.
    pub fn new(
        every: Option<Duration>,
        wants_output: bool,
        on_news: &'a mut dyn FnMut(TrialNews<'_>),
        samples: &'a mut SampleSet,
    ) -> Self {
        EventReader {
            phases: Vec::new(),
            metrics: Vec::new(),
            curves: Vec::new(),
            histograms: BTreeMap::new(),
            heat_maps: BTreeMap::new(),
            notes: Vec::new(),
            evidence: Vec::new(),
            samples,
            valid: None,
            points: 0,
            ignored: 0,
            bad_lines: 0,
            every,
            wants_output,
            on_news,
            on_phase: None,
        }
    }

    /// Sets a function that is called when the program reports the start of a phase.
    pub fn with_phases(mut self, on_phase: &'a dyn Fn(Phase)) -> Self {
        self.on_phase = Some(on_phase);
        self
    }

    fn take(&mut self, event: Event, t_ns: u64) {
        (self.on_news)(TrialNews::Event(&event, t_ns));
        match event {
            Event::Phase { phase, t_ns: at } => {
                if let Some(on_phase) = self.on_phase {
                    on_phase(phase);
                }
                self.phases.push(PhaseMark { phase, t_ns: at.unwrap_or(t_ns) });
            }
            Event::Metric { metric, value, unit, better, kind, counted } => {
                if self.metrics.len() >= MAX_NAMES {
                    self.ignored += 1;
                    return;
                }
                let better = better.unwrap_or_else(|| Better::from_unit(&unit));
                let value = value.filter(|v| v.is_finite());
                let kind = kind.unwrap_or_default();
                let metric = MetricValue::new(metric, value, unit, better, kind);
                self.metrics.push(MetricValue { counted, ..metric });
            }
            Event::Point { curve, x, value, x_name, x_unit, unit, kind } => {
                let kind = kind.unwrap_or_default();
                let points = vec![[x, value]];
                self.point(Curve { name: curve, x_name, x_unit, unit, kind, points });
            }
            Event::Histogram { histogram, unit, hdr, timed_out, percentiles, at, load } => {
                if self.histograms.len() < MAX_NAMES {
                    let read = TrialHistogram { unit, hdr, timed_out, percentiles, at, load };
                    self.histograms.insert(histogram, read);
                } else {
                    self.ignored += 1;
                }
            }
            Event::Heat { heat, unit, start_ns, column_ns, edges, counts } => {
                self.heat(heat, Heat { unit, start_ns, column_ns, edges, counts });
            }
            Event::Sample { sample, t_ns, value, unit } => {
                self.sample(&sample, t_ns, value.unwrap_or(f64::NAN), &unit);
            }
            Event::Finding { finding, message, remedy, .. } => {
                if let Some(retired) = assay_checks::rows::retired(&finding) {
                    self.note(format!("the program reports `{finding}` ({retired}): {message}"));
                } else if assay_checks::find(&finding).is_none() {
                    self.note(format!(
                        "the program reports `{finding}`, which is not a check: {message}"
                    ));
                } else {
                    self.see(Observation::Reported { check: finding, message, remedy });
                }
            }
            Event::Evidence { evidence } => self.see(evidence),
            // Progress only matters while the trial runs.
            Event::Progress { .. } => {}
            Event::Note { note } => self.note(note),
            Event::Valid { valid, detail } => {
                if !matches!(self.valid, Some((false, _))) {
                    self.valid = Some((valid, detail));
                }
            }
        }
    }

    fn see(&mut self, seen: Observation) {
        if self.evidence.len() < MAX_NAMES {
            self.evidence.push(seen);
        } else {
            self.ignored += 1;
        }
    }

    /// Keeps a note for the record.
    pub fn note(&mut self, note: String) {
        if self.notes.len() < MAX_NOTES {
            self.notes.push(note);
        } else {
            self.ignored += 1;
        }
    }

    fn sample(&mut self, field: &str, t_ns: u64, value: f64, unit: &str) {
        let known = self.samples.series.iter().rposition(|s| s.field == field);
        let full = self.samples.rows.len() >= MAX_SAMPLES
            || (known.is_none() && self.samples.series.len() >= MAX_NAMES);
        if full {
            self.ignored += 1;
            return;
        }
        let series = known.unwrap_or_else(|| {
            self.samples.series.push(SeriesKey {
                monitor: WORKLOAD.into(),
                subject: String::new(),
                field: field.to_owned(),
                unit: unit.to_owned(),
            });
            self.samples.series.len() - 1
        });
        self.samples.rows.push(SampleRow { t_ns, series: series as u32, value });
    }

    fn heat(&mut self, name: String, map: Heat) {
        match map.check() {
            Ok(()) if self.heat_maps.len() < MAX_HEAT_MAPS => {
                self.heat_maps.insert(name, map);
            }
            Err(why) if self.notes.len() < MAX_NOTES => {
                self.notes.push(format!("the heat map `{name}` was not kept: {why}"));
            }
            Ok(()) | Err(_) => self.ignored += 1,
        }
    }

    /// Adds the single point of `curve` to the curve of that name.
    fn point(&mut self, curve: Curve) {
        let finite = curve.points.iter().flatten().all(|v| v.is_finite());
        if !finite || self.points >= MAX_POINTS {
            self.ignored += 1;
            return;
        }
        self.points += 1;
        // The newest curve is nearly always the one that matches.
        match self.curves.iter().rposition(|c| c.name == curve.name) {
            Some(i) => self.curves[i].points.extend(curve.points),
            None if self.curves.len() < MAX_NAMES => self.curves.push(curve),
            None => self.ignored += 1,
        }
    }

    /// Classifies the course of the deciding metric during the steady phase, from the program's own
    /// samples. `None` if there are no such samples or the program reports the classification
    /// itself.
    fn settling(&self, deciding: &MetricSpec) -> Option<Observation> {
        if self.evidence.iter().any(|o| matches!(o, Observation::Settling { .. })) {
            return None;
        }
        let at = |phase: Phase| self.phases.iter().find(|p| p.phase == phase).map(|p| p.t_ns);
        let (from, to) = (at(Phase::Steady).unwrap_or(0), at(Phase::RampDown).unwrap_or(u64::MAX));
        let mut points = self.samples.points(WORKLOAD, "", &deciding.name);
        points.retain(|(t, _)| (from..=to).contains(t));
        let (first, last) = (points.first()?.0, points.last()?.0);
        let values: Vec<f64> = points.iter().map(|(_, v)| *v).collect();
        let steady = steady_state(&values, deciding.better);
        let seconds = |t: u64| t.saturating_sub(first) as f64 * 1e-9;
        let window = seconds(last);
        Some(Observation::Settling {
            shape: steady.class,
            steady_from: steady.start.and_then(|i| points.get(i)).map(|(t, _)| seconds(*t)),
            window,
            bin: window / (points.len().max(2) - 1) as f64,
        })
    }

    /// Reduces each metric to one value in its declared unit. Repeated reports are combined in a
    /// geometric mean.
    fn settle_metrics(&mut self, spec: &WorkloadSpec) {
        let mut places: HashMap<String, usize> = HashMap::new();
        // Values of all reports (`None`: missing or in another unit), and the first report.
        let mut settled: Vec<(Vec<Option<f64>>, MetricValue)> = Vec::new();
        for mut metric in std::mem::take(&mut self.metrics) {
            if let Some(declared) = spec.metric(&metric.name).filter(|d| d.unit != metric.unit) {
                let seconds = seconds_of(&metric.unit).zip(seconds_of(&declared.unit));
                let what = if seconds.is_some() { "converted" } else { "left out" };
                self.note(format!(
                    "`{}` was reported in `{}` and is declared in `{}`; its value was {what}",
                    metric.name, metric.unit, declared.unit
                ));
                metric.value = metric.value.zip(seconds).map(|(v, (from, to))| v * from / to);
                metric.unit.clone_from(&declared.unit);
            }
            let place = *places.entry(metric.name.clone()).or_insert(settled.len());
            match settled.get_mut(place) {
                Some((all, first)) => all.push(metric.value.filter(|_| metric.unit == first.unit)),
                None => settled.push((vec![metric.value], metric)),
            }
        }
        for (values, mut metric) in settled {
            if values.len() > 1 {
                let (name, times) = (&metric.name, values.len());
                let values: Option<Vec<f64>> = values.into_iter().collect();
                metric.value = values.and_then(|v| geometric(&v));
                let is = if metric.value.is_some() {
                    "their geometric mean"
                } else {
                    "left out, for they are not all above 0 and of one unit"
                };
                self.note(format!(
                    "`{name}` was reported {times} times in the trial; its value is {is}"
                ));
            }
            self.metrics.push(metric);
        }
    }

    /// Moves the collected events into the record, including the classified course of the deciding
    /// metric. Returns the program's own verdict on its output.
    pub fn into_record(
        mut self,
        record: &mut TrialRecord,
        spec: &WorkloadSpec,
    ) -> Option<(bool, String)> {
        let settling = spec.metrics.first().and_then(|metric| self.settling(metric));
        self.settle_metrics(spec);
        self.evidence.extend(settling);
        record.phases = self.phases;
        record.metrics = self.metrics;
        record.curves = self.curves;
        record.histograms = self.histograms;
        record.heat_maps = self.heat_maps;
        record.notes.extend(self.notes);
        self.evidence.into_iter().for_each(|seen| assay_checks::record_observation(record, seen));
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

impl Sink for EventReader<'_> {
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
        (self.on_news)(TrialNews::Tick);
    }

    fn wants_output(&self) -> bool {
        self.wants_output
    }

    fn output(&mut self, stream: Stream, bytes: &[u8]) {
        (self.on_news)(TrialNews::Printed(stream, bytes));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn declares(metrics: &str) -> WorkloadSpec {
        let text = format!(r#"{{"name":"w","help":"","params":[],"metrics":[{metrics}]}}"#);
        serde_json::from_str(&text).unwrap()
    }

    #[test]
    fn a_metric_has_one_value_in_its_declared_unit_and_a_note_says_when_it_had_others() {
        let mut samples = SampleSet::default();
        let mut on_news = |_: TrialNews<'_>| {};
        let mut reader = EventReader::new(None, false, &mut on_news, &mut samples);
        for (metric, value, unit) in [
            ("once", "5", "s"),
            ("twice", "10", "ops/s"),
            ("twice", "40", "ops/s"),
            ("zero", "0", "s"),
            ("zero", "1", "s"),
            ("units", "1", "s"),
            ("units", "1", "B"),
            ("time", "20", "ms"),
            ("time", "0.02", "s"),
            ("size", "1", "B"),
        ] {
            let line = format!(r#"{{"metric":"{metric}","value":{value},"unit":"{unit}"}}"#);
            reader.line(line.as_bytes(), 1);
        }
        let spec = declares(
            r#"{"name":"time","unit":"s","better":"lower","kind":"measured","help":""},
               {"name":"size","unit":"s","better":"lower","kind":"measured","help":""}"#,
        );
        let planned =
            assay_model::PlannedTrial { number: 1, ..assay_model::PlannedTrial::default() };
        let mut record = crate::trial::execution::blank(&planned, 1);
        reader.into_record(&mut record, &spec);
        let values: Vec<_> = record.metrics.iter().map(|m| (m.name.as_str(), m.value)).collect();
        let rounded = |v: Option<f64>| v.map(|v| (v * 1e6).round() / 1e6);
        let values: Vec<_> = values.into_iter().map(|(n, v)| (n, rounded(v))).collect();
        assert_eq!(
            values,
            [
                ("once", Some(5.0)),
                ("twice", Some(20.0)),
                ("zero", None),
                ("units", None),
                ("time", Some(0.02)),
                ("size", None)
            ]
        );
        assert_eq!(record.notes.len(), 6, "{:?}", record.notes);
    }

    #[test]
    fn notes_on_many_repeated_metrics_are_bounded() {
        let mut samples = SampleSet::default();
        let mut on_news = |_: TrialNews<'_>| {};
        let mut reader = EventReader::new(None, false, &mut on_news, &mut samples);
        for i in 0..MAX_NAMES {
            let line = format!(r#"{{"metric":"m{}","value":2,"unit":"s"}}"#, i % (MAX_NAMES / 2));
            reader.line(line.as_bytes(), 1);
        }
        let planned =
            assay_model::PlannedTrial { number: 1, ..assay_model::PlannedTrial::default() };
        let mut record = crate::trial::execution::blank(&planned, 1);
        reader.into_record(&mut record, &declares(""));
        assert_eq!(record.metrics.len(), MAX_NAMES / 2);
        assert!(record.metrics.iter().all(|m| m.value.is_some_and(|v| (v - 2.0).abs() < 1e-9)));
        assert_eq!(record.notes.len(), MAX_NOTES + 1, "and how many were not kept");
    }

    #[test]
    fn findings_and_samples_of_the_program_are_kept() {
        let mut samples = SampleSet::default();
        let mut on_news = |_: TrialNews<'_>| {};
        let mut reader = EventReader::new(None, false, &mut on_news, &mut samples);
        for line in [
            r#"{"sample":"throughput","t_ns":5,"value":10,"unit":"ops/s"}"#,
            r#"{"sample":"errors","t_ns":5,"value":null,"unit":"1"}"#,
            r#"{"sample":"throughput","t_ns":6,"value":11,"unit":"ops/s"}"#,
            r#"{"heat":"t","unit":"ns","start_ns":1,"column_ns":9,"edges":[1,2],
                "counts":[[3],[4]]}"#,
            r#"{"heat":"bad","unit":"ns","start_ns":1,"column_ns":9,"edges":[2,1],"counts":[[3]]}"#,
            r#"{"finding":"F25","name":"steady-state","severity":"warning",
                "message":"it never settled"}"#,
        ] {
            reader.line(line.as_bytes(), 1);
        }
        let planned =
            assay_model::PlannedTrial { number: 1, ..assay_model::PlannedTrial::default() };
        let mut record = crate::trial::execution::blank(&planned, 1);
        assert_eq!(reader.into_record(&mut record, &declares("")), None);
        assert_eq!((record.findings[0].id.as_str(), record.notes.len()), ("F25", 1));
        assert!(record.notes[0].contains("`bad`"), "{:?}", record.notes);
        assert_eq!((record.heat_maps.len(), record.heat_maps["t"].counts.len()), (1, 2));
        assert_eq!(samples.points(WORKLOAD, "", "throughput"), [(5, 10.0), (6, 11.0)]);
        assert!(samples.points(WORKLOAD, "", "errors")[0].1.is_nan());
    }
}
