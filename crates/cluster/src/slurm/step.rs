//! Ends a step of a job by name.

use std::time::{Duration, Instant};

use assay_model::units;

use super::call;
use crate::ClusterError;

/// Interval between two queries for the step.
const ASK: Duration = Duration::from_millis(100);

/// Kills the step of this name, if it exists, and waits until it is gone.
///
/// # Errors
/// Slurm cannot be queried, or the step does not end within `limit`.
pub fn end_step(job: &str, name: &str, limit: Duration) -> Result<(), ClusterError> {
    let began = Instant::now();
    loop {
        let ids = ids(job, name)?;
        let Some(id) = ids.first() else { return Ok(()) };
        if began.elapsed() > limit {
            let waited = units::format_duration(began.elapsed());
            return Err(ClusterError::StepRemains { id: id.clone(), waited });
        }
        // A step that has just ended rejects the signal, and is missing from the next list.
        let _ = call("scancel", &["--signal=KILL", id]);
        std::thread::sleep(ASK);
    }
}

fn ids(job: &str, name: &str) -> Result<Vec<String>, ClusterError> {
    let job = format!("--jobs={job}");
    Ok(named(&call("squeue", &["--noheader", "--steps", &job, "--format=%i|%j"])?, name))
}

/// Returns the ids of the lines `id|name` with this name.
fn named(text: &str, name: &str) -> Vec<String> {
    let line = |line: &str| {
        let (id, of) = line.trim().split_once('|')?;
        (of == name).then(|| id.to_owned())
    };
    text.lines().filter_map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_step_of_that_name_is_meant() {
        let text = "7.extern|extern\n7.0|assay\n7.3|assay-mpi-2-1\nnonsense\n";
        assert_eq!(named(text, "assay-mpi-2-1"), ["7.3"]);
        assert!(named(text, "assay-mpi-1-1").is_empty());
    }
}
