//! The workload `noop`: a fresh process of assay that exits at once. Its time is the overhead of
//! the harness: no shorter program can be distinguished from it.

use assay_model::{Exit, ValidationResult, WorkloadSpec};

use crate::declare::spec;
use crate::driver::process_metrics;
use crate::{CollectedResults, FinishedProgram, Launch, TrialContext, Workload, WorkloadError};

/// Name of the workload and of its trial program.
pub const NAME: &str = "noop";

/// Starts `assay __work noop {}`, which does nothing. Metrics: `elapsed` (primary), `user`,
/// `system`, `peak_memory`.
#[derive(Debug)]
pub struct Noop;

spec! {
    /// a fresh process of assay that does nothing: its time is the overhead of the harness, the
    /// shortest time that it can measure
    NAME, Vec::new();
    ..process_metrics::specs();
}

impl Workload for Noop {
    fn spec(&self) -> &WorkloadSpec {
        spec()
    }

    fn launch(&self, ctx: &TrialContext<'_>) -> Result<Launch, WorkloadError> {
        let argv = vec![ctx.exe.into(), "__work".into(), NAME.into(), "{}".into()];
        Ok(Launch { argv, ..Launch::default() })
    }

    fn collect(
        &self,
        _ctx: &TrialContext<'_>,
        finished: &FinishedProgram<'_>,
    ) -> Result<CollectedResults, WorkloadError> {
        let validation = match finished.exit {
            Exit::Code(0) => ValidationResult::ExitCodeOnly,
            Exit::Code(code) => ValidationResult::Failed { detail: format!("exit code {code}") },
            Exit::Signal(s) => ValidationResult::Failed { detail: format!("ended by signal {s}") },
        };
        let metrics = process_metrics::values(finished.resources);
        Ok(CollectedResults { metrics, validation, ..CollectedResults::default() })
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::path::Path;

    use assay_model::ResourceUse;

    use super::*;

    #[test]
    fn it_is_assay_itself_and_reports_what_it_took() {
        let ctx = TrialContext {
            number: 1,
            block: 0,
            treatment: 0,
            params: &BTreeMap::new(),
            cpus: &[0],
            trial_dir: Path::new("/"),
            run_dir: Path::new("/"),
            cache_dir: Path::new("/"),
            exe: Path::new("/opt/bin/assay"),
            previous: &[],
        };
        let noop = Noop;
        let launch = noop.launch(&ctx).unwrap();
        assert_eq!(launch.argv, ["/opt/bin/assay", "__work", "noop", "{}"]);
        let resources = ResourceUse { wall_s: 0.002, ..ResourceUse::default() };
        let mut finished = FinishedProgram {
            exit: Exit::Code(0),
            resources: &resources,
            stdout: b"",
            stderr: b"",
            stdout_whole: true,
            empty_s: None,
        };
        let collected = noop.collect(&ctx, &finished).unwrap();
        assert_eq!(collected.metrics[0].name, noop.spec().metrics[0].name);
        assert_eq!(collected.metrics[0].value, Some(0.002));
        assert_eq!(collected.metrics[3].value, None, "a peak that was not had is missing");
        finished.exit = Exit::Signal(9);
        let failed = noop.collect(&ctx, &finished).unwrap().validation;
        assert!(matches!(failed, ValidationResult::Failed { .. }));
    }
}
