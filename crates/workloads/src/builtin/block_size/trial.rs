//! Body of a trial: `assay __work block-size JSON`, in a separate process.

use assay_model::{MetricKind, Observation, Phase};
use rustix::fs::CWD;

use crate::Failure;
use crate::builtin::block_size::crew::{self, SliceMeasurements};
use crate::builtin::block_size::file;
use crate::builtin::block_size::params::{Cache, Direction};
use crate::builtin::block_size::points::{Results, results};
use crate::builtin::block_size::slots::slots;
use crate::builtin::block_size::trial_spec::TrialSpec;
use crate::driver::work::{Channel, Curve};

/// Runs the trial that `json` describes and reports it on `channel`.
///
/// # Errors
/// [`Failure`] if it could not be measured. Wrong bytes are not an error: they are reported as an
/// event, `valid: false`.
pub fn run(json: &str, channel: &mut Channel) -> Result<(), Failure> {
    let spec: TrialSpec = serde_json::from_str(json)?;
    let done = measure(&spec, channel);
    if spec.location.own_folder {
        for index in 0..spec.processes {
            let file = spec.file_of(index);
            // For reading, all processes share one file, which the first iteration removes.
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
    channel.phase(Phase::RampUp, None);
    let files = if spec.direction == Direction::Read { 1 } else { spec.processes };
    for index in 0..files {
        file::warm(&spec.file_of(index), spec.cache)?;
    }
    let slots = slots(spec);
    let measured = crew::measure(spec, &slots, channel)?;
    channel.phase(Phase::RampDown, Some(measured.end_ns));
    let results = results(spec, &slots, &measured);
    report(spec, &results, channel);
    channel.notes(notes(spec, &results));
    channel.evidence(Observation::Work {
        operations: measured.outcomes.iter().flatten().map(|o| o.calls).sum(),
        errors: u64::from(measured.wrong.is_some()),
        what: "calls".into(),
        // The seed of a trial sets the order in which the sizes are visited, not the bytes that are
        // moved.
        seed: None,
        mix: match spec.direction {
            Direction::Read => "reads".into(),
            Direction::Write => "writes".into(),
        },
    });
    let (valid, detail) = verdict(spec, &measured, slots.len());
    channel.valid(valid, detail);
    Ok(())
}

fn report(spec: &TrialSpec, results: &Results, channel: &mut Channel) {
    channel.points(&curve("throughput", MetricKind::Measured), results.curve());
    channel.points(&curve("dd", MetricKind::Derived), results.dd_curve());
    let best = results.best();
    let metrics = [
        ("throughput", results.throughput(spec)),
        ("peak_throughput", best.map(|b| b.1)),
        ("best_size", best.map(|b| b.0 as f64)),
        ("excluded_fraction", results.excluded_fraction),
    ];
    channel.metrics(crate::builtin::block_size::spec(), metrics);
    if spec.tells_dd() {
        channel.metrics(crate::builtin::block_size::spec(), [("dd_overhead", results.dd_overhead)]);
    }
}

fn curve(name: &'static str, kind: MetricKind) -> Curve<'static> {
    Curve { name, unit: "B/s", x_name: "size", x_unit: "B", kind: Some(kind) }
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
            "{missed} of {} sizes could not be measured in time: a longer `min_time` gives each \
             more slices, a longer `budget` more time",
            spec.sizes.len()
        ));
    }
    if spec.tells_dd() && results.dd_overhead.is_none() {
        notes.push(
            "the overhead of dd is smaller than the variation of the reads; there is no curve `dd`"
                .into(),
        );
    }
    notes
}

/// Returns true if every byte was correct, and a sentence with the reason.
fn verdict(spec: &TrialSpec, measured: &SliceMeasurements, slots: usize) -> (bool, String) {
    if let Some(wrong) = &measured.wrong {
        return (false, wrong.clone());
    }
    if measured.outcomes.iter().all(Vec::is_empty) && slots > 0 {
        return (false, "nothing was measured".into());
    }
    let calls: u64 = measured.outcomes.iter().flatten().map(|o| o.calls).sum();
    let bytes: u64 = measured.outcomes.iter().flatten().map(|o| o.bytes).sum();
    let compared = match spec.direction {
        Direction::Read => "bytes read with the bytes of the file",
        Direction::Write => "bytes written with the bytes read back",
    };
    let detail = format!(
        "{} blocks compared byte by byte ({compared}); {calls} calls moved {bytes} B, which \
         matches the kernel's file position",
        measured.checked
    );
    (true, detail)
}
