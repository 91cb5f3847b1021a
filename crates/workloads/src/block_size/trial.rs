//! The body of a trial: `assay __work block-size JSON`, in a process of its own.

use std::path::Path;

use assay_model::{Better, Event, Kind, Observation, Phase};
use rustix::fs::CWD;

use super::crew::{self, Measured};
use super::file;
use super::params::{Cache, Direction};
use super::points::{Results, results};
use super::slots::slots;
use super::trial_spec::TrialSpec;
use crate::Failure;
use crate::work::Channel;

/// Runs the trial that `json` orders and reports it on `channel`.
///
/// # Errors
/// [`Failure`]: it could not be measured. Wrong bytes are no error but an event, `valid: false`.
pub fn run(json: &str, channel: &mut Channel) -> Result<(), Failure> {
    let spec: TrialSpec = serde_json::from_str(json)?;
    let done = measure(&spec, channel);
    if spec.remove {
        for index in 0..spec.processes {
            let file = spec.file_of(index);
            // Reading has one file for all, which is gone after the first.
            if let Err(e) = rustix::fs::unlinkat(CWD, &file, rustix::fs::AtFlags::empty())
                && e != rustix::io::Errno::NOENT
                && done.is_ok()
            {
                return Err(Failure::file("remove", &file)(e));
            }
        }
    }
    done
}

fn measure(spec: &TrialSpec, channel: &mut Channel) -> Result<(), Failure> {
    channel.send(&Event::Phase { phase: Phase::RampUp, t_ns: None });
    let files = if spec.direction == Direction::Read { 1 } else { spec.processes };
    for index in 0..files {
        file::warm(&spec.file_of(index), spec.cache)?;
    }
    let slots = slots(spec);
    // The link of the kernel leads to this very program, also after its file was replaced.
    let exe = Path::new("/proc/self/exe");
    let channel = std::cell::RefCell::new(channel);
    let measured = crew::measure(
        spec,
        exe,
        &slots,
        |t| channel.borrow_mut().send(&Event::Phase { phase: Phase::Steady, t_ns: Some(t) }),
        |share| channel.borrow_mut().send(&Event::Progress { progress: share }),
    )?;
    let channel = channel.into_inner();
    channel.send(&Event::Phase { phase: Phase::RampDown, t_ns: Some(measured.end_ns) });
    let results = results(spec, &slots, &measured);
    report(spec, &results, channel);
    for note in notes(spec, &results) {
        channel.send(&Event::Note { note });
    }
    let evidence = Observation::Work {
        operations: measured.outcomes.iter().flatten().map(|o| o.calls).sum(),
        errors: u64::from(measured.wrong.is_some()),
        what: "calls".into(),
        // The seed of a trial draws the order in which sizes are visited, not the bytes that are moved.
        seed: None,
        mix: match spec.direction {
            Direction::Read => "reads".into(),
            Direction::Write => "writes".into(),
        },
    };
    channel.send(&Event::Evidence { evidence });
    channel.send(&verdict(spec, &measured, slots.len()));
    Ok(())
}

fn report(spec: &TrialSpec, results: &Results, channel: &mut Channel) {
    let curves = [
        ("throughput", results.curve(), Kind::Measured),
        ("dd", results.dd_curve(), Kind::Derived),
    ];
    for (name, points, kind) in curves {
        for [x, value] in points {
            channel.send(&Event::Point {
                curve: name.into(),
                x,
                value,
                x_name: "size".into(),
                x_unit: "B".into(),
                unit: "B/s".into(),
                kind: Some(kind),
            });
        }
    }
    let best = results.best();
    let (up, down, neither) = (Better::Higher, Better::Lower, Better::Neither);
    let mut metrics = vec![
        ("throughput", results.throughput(spec), "B/s", up, Kind::Measured),
        ("peak_throughput", best.map(|b| b.1), "B/s", up, Kind::Estimated),
        ("best_size", best.map(|b| b.0 as f64), "B", neither, Kind::Estimated),
        ("excluded_fraction", results.excluded_fraction, "1", neither, Kind::Measured),
    ];
    if spec.tells_dd() {
        metrics.push(("dd_overhead", results.dd_overhead, "s", down, Kind::Measured));
    }
    for (name, value, unit, better, kind) in metrics {
        channel.send(&Event::Metric {
            metric: name.into(),
            value,
            unit: unit.into(),
            better: Some(better),
            kind: Some(kind),
            counted: false,
        });
    }
}

fn notes(spec: &TrialSpec, results: &Results) -> Vec<String> {
    let mut notes = spec.notes.clone();
    match file::file_system(&spec.file_of(0)) {
        Ok(name) => notes.push(format!("the file was on {name}")),
        Err(e) => notes.push(format!("the file system is unknown: {e}")),
    }
    if spec.cache == Cache::Page {
        match file::resident_share(&spec.file_of(0)) {
            Some(share) if share < 0.999 => notes.push(format!(
                "at the end only {:.0} % of the file was in the page cache: \
                 the rest came from the device",
                share * 100.0
            )),
            Some(_) => {}
            None => notes.push("this file system cannot report what is in the page cache".into()),
        }
    }
    let missed = spec.sizes.len() - results.points.len();
    if missed > 0 {
        notes.push(format!(
            "{missed} of {} sizes could not be measured in time: a longer `min_time` gives each more \
             slices, a longer `budget` more time",
            spec.sizes.len()
        ));
    }
    if spec.tells_dd() && results.dd_overhead.is_none() {
        notes.push(
            "what dd adds to a read could not be separated from the variation of the reads; \
             there is no curve `dd`"
                .into(),
        );
    }
    notes
}

fn verdict(spec: &TrialSpec, measured: &Measured, slots: usize) -> Event {
    let calls: u64 = measured.outcomes.iter().flatten().map(|o| o.calls).sum();
    let bytes: u64 = measured.outcomes.iter().flatten().map(|o| o.bytes).sum();
    match &measured.wrong {
        Some(wrong) => Event::Valid { valid: false, detail: wrong.clone() },
        None if measured.outcomes.iter().all(Vec::is_empty) && slots > 0 => {
            Event::Valid { valid: false, detail: "nothing was measured".into() }
        }
        None => Event::Valid {
            valid: true,
            detail: format!(
                "{} blocks compared byte by byte ({}); {calls} calls moved {bytes} B, \
                 where the kernel reports the file was",
                measured.checked,
                match spec.direction {
                    Direction::Read => "what was read with what is in the file",
                    Direction::Write => "what was written with what was read back",
                },
            ),
        },
    }
}
