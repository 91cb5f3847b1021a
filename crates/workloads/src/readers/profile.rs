//! Profiles that other programs recorded: perf script's text, folded stacks (including
//! async-profiler's collapsed form), pprof, callgrind's files, and files of `assay profile -o`. A
//! file is a trial; its functions are shown and compared like those of profiled trials.

use assay_model::{Better, MetricValue};
use assay_traces::profile::{Profile, ProfileSide};

use crate::readers::file::error::Flaw;
use crate::readers::file::unit;
use crate::readers::result::{ForeignResult, ForeignTreatment, ForeignTrial, value};

pub(crate) fn detect(bytes: &[u8]) -> bool {
    // Lines with a single function and a number could be anything, not only folded stacks.
    let stacks = |p: &Profile| p.method != "folded stacks" || bytes.contains(&b';');
    assay_traces::profile::read(bytes, "it").is_ok_and(|p| stacks(&p))
}

pub(crate) fn read(bytes: &[u8]) -> Result<Vec<ForeignResult>, Flaw> {
    let profile =
        assay_traces::profile::read(bytes, "it").map_err(|e| Flaw::whole(e.to_string()))?;
    if profile.stacks.is_empty() {
        return Err(Flaw::whole("it holds no stack".to_owned()));
    }
    let (unit, factor) = match profile.unit.as_str() {
        "ns" => ("s", 1e-9),
        other => (other, 1.0),
    };
    let metrics = [("on_cpu", "samples on CPU"), ("off_cpu", "waits, if it has any")]
        .map(|(name, help)| unit::metric(name, unit, Better::Lower, help));
    let of = |side: ProfileSide| profile.total_ns(side) as f64 * factor;
    let mut values: Vec<MetricValue> = vec![value(&metrics[0], Some(of(ProfileSide::OnCpu)))];
    if profile.off_cpu || profile.count(ProfileSide::OffCpu) > 0 {
        values.push(value(&metrics[1], Some(of(ProfileSide::OffCpu))));
    }
    let mut result = ForeignResult {
        tool: "a profiler",
        workload: "profiled",
        metrics: metrics.into(),
        notes: vec![format!(
            "Profiles by {}. The file does not say how long the program ran, or what it did.",
            profile.method
        )],
        ..ForeignResult::default()
    };
    let treatment = result.treatment(ForeignTreatment::default());
    let mut trial = ForeignTrial::new(treatment, values);
    trial.not_seen.clone_from(&profile.notes);
    let bytes = serde_json::to_vec(&profile).map_err(|e| Flaw::whole(e.to_string()))?;
    trial.kept.push((assay_traces::profile::FILE.name.to_owned(), bytes));
    result.trials.push(trial);
    Ok(vec![result])
}
