//! Checks what a trial's program needs, and places its inputs on the trial's storage, which is then
//! made cold.

use std::collections::BTreeMap;
use std::path::Path;

use assay_model::{Scalar, Setting, Treatment};
use assay_system::{AppliedSettings, ControlError, DEFAULT_LEVEL, ProcessSetup};
use assay_workloads::{TrialContext, Workload, WorkloadError};

/// Checks a treatment's parameters with its workload. The programs of a treatment in a container
/// are in its image, so that they need not be on this machine.
pub(crate) fn check(
    workload: &dyn Workload,
    treatment: &Treatment,
    params: &BTreeMap<String, Scalar>,
) -> Result<(), WorkloadError> {
    use WorkloadError::{Missing, NotExecutable};
    match workload.check(params) {
        Err(Missing { .. } | NotExecutable { .. }) if image(treatment).is_some() => Ok(()),
        checked => checked,
    }
}

/// Returns the setting of a treatment that runs its program in a container.
pub(crate) fn image(treatment: &Treatment) -> Option<&Setting> {
    let mut controls = treatment.controls.iter();
    controls.find(|s| s.control == "image" && s.value.to_text() != DEFAULT_LEVEL)
}

/// Has the workload write its inputs to the storage, or to the trial's folder if there is none.
pub(crate) fn place(
    workload: &dyn Workload,
    ctx: &TrialContext<'_>,
    setup: &ProcessSetup,
) -> Result<(), WorkloadError> {
    let dir: &Path = setup.inputs.as_deref().unwrap_or(ctx.trial_dir);
    workload.offers().inputs.map_or(Ok(()), |inputs| inputs.place(ctx, dir))
}

/// Seals the storage if the workload places inputs on it. Returns sentences for the record.
pub(crate) fn make_cold(
    workload: &dyn Workload,
    applied: &AppliedSettings,
) -> Result<Vec<String>, ControlError> {
    if workload.offers().inputs.is_none() {
        return Ok(Vec::new());
    }
    applied.make_cold()
}

/// Returns a sentence if a treatment uses a storage that can hold only inputs but the workload has
/// none.
pub(crate) fn missing(workload: &dyn Workload, treatment: &Treatment) -> Option<String> {
    let mut controls = treatment.controls.iter();
    let only = controls.find(|setting| {
        assay_system::find(&setting.control).is_some_and(|control| control.inputs_only(setting))
    })?;
    workload.offers().inputs.is_none().then(|| {
        format!(
            "{}`{}` is read-only storage for the inputs of a workload, and {} has none",
            treatment.prefix(),
            only.value.to_text(),
            workload.spec().name
        )
    })
}
