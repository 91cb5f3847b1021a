//! Series out of the archive: each run of a history holds the reference and some revisions in the same blocks;
//! a point is the ratio of a revision to the reference, by class of machine.

use std::collections::BTreeMap;

use anyhow::Result;
use assay_archive::{Archive, Filter};
use assay_history::{Link, Part, Ratio, chain};
use assay_lab::REV;
use assay_model::{RunId, Scalar};
use assay_revisions::Revision;
use serde::Serialize;

/// A point of a series.
#[derive(Debug, Clone, Serialize)]
pub struct Point {
    /// Its place in the range, from 0.
    pub place: usize,
    pub commit: String,
    pub label: String,
    pub subject: String,
    pub author_date: Option<String>,
    /// The ratio to the reference.
    pub ratio: f64,
    /// The standard error of its natural logarithm; `null` below two blocks.
    pub log_error: Option<f64>,
    /// The geometric mean of its own values.
    pub value: f64,
    /// How many blocks.
    pub blocks: usize,
    /// The reference that it was measured beside.
    pub reference: String,
    pub runs: Vec<RunId>,
}

/// The series of one class of machine.
#[derive(Debug, Clone, Serialize)]
pub struct Series {
    /// The processors and the virtualisation.
    pub machine: String,
    pub points: Vec<Point>,
}

/// What the archive has of a history.
#[derive(Debug, Default)]
pub struct Past {
    pub series: Vec<Series>,
    /// Places of the range that do not build or whose trials fail.
    pub unusable: Vec<usize>,
    pub runs: usize,
    /// References of earlier runs that were never measured beside the one of now.
    pub unlinked: Vec<String>,
    /// What was left out, as sentences.
    pub notes: Vec<String>,
}

/// Pairs of one revision beside one reference.
#[derive(Debug, Default)]
struct Pairs {
    log_ratios: Vec<f64>,
    logs: Vec<f64>,
    runs: Vec<RunId>,
}

impl Pairs {
    fn ratio(&self) -> Ratio {
        let n = self.log_ratios.len() as f64;
        let mean = self.log_ratios.iter().sum::<f64>() / n;
        let square: f64 = self.log_ratios.iter().map(|r| (r - mean).powi(2)).sum();
        Ratio { value: mean.exp(), log_error: (n >= 2.0).then(|| (square / (n - 1.0) / n).sqrt()) }
    }
}

/// By machine, reference and revision.
type Measured = BTreeMap<(String, String, String), Pairs>;

/// Reads all runs with `tag`; the points are those of `range`, as ratios to `reference` (a level).
pub fn read(archive: &Archive, tag: &str, range: &[Revision], reference: &str) -> Result<Past> {
    let mut past = Past::default();
    let mut measured: Measured = BTreeMap::new();
    let place = |level: &str| range.iter().position(|r| r.level() == level);
    let mut runs = archive.list(&Filter { tag: Some(tag.to_owned()), ..Filter::default() })?;
    runs.sort_by(|a, b| a.started_at.cmp(&b.started_at));
    for summary in runs {
        let reader = archive.run(&summary.id)?;
        let (plan, records) = (reader.plan()?, reader.records()?);
        let experiment = assay_lab::read_experiment("experiment.toml", &reader.experiment_toml()?)
            .map_err(assay_lab::LabError::from)?;
        let system = reader.system()?;
        let machine = format!("{}, {} CPUs", system.text("cpu.model"), system.text("cpu.threads"));
        let excluded = experiment.design.exclude.iter().filter_map(|p| p.get(REV));
        past.unusable.extend(excluded.filter_map(|l| place(&l.to_text())));
        let level = |id: u32| {
            plan.treatment(id)
                .and_then(|t| t.levels.get(REV))
                .map(Scalar::to_text)
                .unwrap_or_default()
        };
        let mut blocks: BTreeMap<u32, BTreeMap<String, f64>> = BTreeMap::new();
        for record in records.iter().filter(|r| r.counts()) {
            if let Some(v) = record.metric(&plan.metric).filter(|v| *v > 0.0 && v.is_finite()) {
                blocks.entry(record.block).or_default().insert(level(record.treatment), v.ln());
            }
        }
        let base = level(plan.baseline);
        for treatment in &plan.treatments {
            let own = level(treatment.id);
            let key = (machine.clone(), base.clone(), own.clone());
            let mut any = false;
            for block in blocks.values() {
                if let (Some(r), Some(v)) = (block.get(&base), block.get(&own)) {
                    let pairs = measured.entry(key.clone()).or_default();
                    pairs.log_ratios.push(v - r);
                    pairs.logs.push(*v);
                    any = true;
                }
            }
            if any {
                measured.entry(key).or_default().runs.push(summary.id.clone());
            } else if summary.state == assay_model::RunState::Completed {
                past.unusable.extend(place(&own));
            }
        }
        past.runs += 1;
    }
    let mut by_machine: BTreeMap<String, Vec<Point>> = BTreeMap::new();
    for ((machine, base, own), pairs) in &measured {
        let Some(place) = place(own) else { continue };
        let links: Vec<Link> = measured
            .iter()
            .filter(|((m, old, new), _)| m == machine && old != new)
            .map(|((_, old, new), p)| Link { old: old.clone(), new: new.clone(), ratio: p.ratio() })
            .collect();
        let parts = [
            Part { reference: reference.to_owned(), points: Vec::new() },
            Part { reference: base.clone(), points: vec![pairs.ratio()] },
        ];
        let ratio = match chain(&parts, &links) {
            Ok(all) => all[0],
            Err(e) => {
                if !past.unlinked.contains(base) {
                    past.unlinked.push(base.clone());
                }
                let note = e.to_string();
                if !past.notes.contains(&note) {
                    past.notes.push(note);
                }
                continue;
            }
        };
        let revision = &range[place];
        let point = Point {
            place,
            commit: revision.level(),
            label: revision.label.clone(),
            subject: revision.subject.clone(),
            author_date: revision.author_date.clone(),
            ratio: ratio.value,
            log_error: if own == reference { Some(0.0) } else { ratio.log_error },
            value: (pairs.logs.iter().sum::<f64>() / pairs.logs.len() as f64).exp(),
            blocks: pairs.logs.len(),
            reference: base.clone(),
            runs: pairs.runs.clone(),
        };
        let points = by_machine.entry(machine.clone()).or_default();
        // Measured beside two references: the one that is asked for counts.
        match points.iter_mut().find(|p| p.place == place) {
            Some(old) if base == reference => *old = point,
            Some(_) => {}
            None => points.push(point),
        }
    }
    for (machine, mut points) in by_machine {
        points.sort_by_key(|p| p.place);
        past.series.push(Series { machine, points });
    }
    past.series.sort_by_key(|s| std::cmp::Reverse(s.points.len()));
    past.unusable.sort_unstable();
    past.unusable.dedup();
    Ok(past)
}
