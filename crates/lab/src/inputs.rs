//! What a trial's program reads: put on its storage, which is made cold then.

use std::path::Path;

use assay_model::Treatment;
use assay_sut::{Applied, ProcessSetup};
use assay_workloads::{TrialContext, Workload, WorkloadError};

/// Has the workload put it there.
pub(crate) fn place(
    workload: &dyn Workload,
    ctx: &TrialContext<'_>,
    setup: &ProcessSetup,
) -> Result<(), WorkloadError> {
    let dir: &Path = setup.inputs.as_deref().unwrap_or(ctx.trial_dir);
    workload.offers().inputs.map_or(Ok(()), |inputs| inputs.place(ctx, dir))
}

/// Seals the storage of a workload that has put something there. Sentences for the record, or one that
/// says what failed.
pub(crate) fn make_cold(workload: &dyn Workload, applied: &Applied) -> Result<Vec<String>, String> {
    if workload.offers().inputs.is_none() {
        return Ok(Vec::new());
    }
    applied.make_cold().map_err(|e| e.to_string())
}

/// A sentence if a treatment has a storage that can hold only inputs, and the workload puts none there.
pub(crate) fn missing(workload: &dyn Workload, treatment: &Treatment) -> Option<String> {
    let mut controls = treatment.controls.iter();
    let only = controls.find(|setting| {
        assay_sut::find(&setting.control).is_some_and(|control| control.inputs_only(setting))
    })?;
    workload.offers().inputs.is_none().then(|| {
        format!(
            "{}`{}` is read-only and made of what a workload reads, and {} puts nothing on its storage",
            treatment.prefix(),
            only.value.to_text(),
            workload.spec().name
        )
    })
}
