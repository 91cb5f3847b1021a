//! File names inside an archive, and the rule for relative paths that come from untrusted data.

use std::path::{Path, PathBuf};

pub(crate) const RUNS: &str = "runs";
pub(crate) const STAGING: &str = "tmp";
/// Suffix of a run's folder in `tmp/` while it is being removed.
pub(crate) const REMOVED: &str = ".removed";
/// Deleted runs that can be restored.
pub(crate) const TRASH: &str = "trash";
/// Notes and tags that people added to runs.
pub(crate) const NOTES: &str = "notes";
pub(crate) const HEADS: &str = "heads";
/// Holds the id of the run that was written last.
pub(crate) const NEWEST: &str = "newest";
/// Key of the hashes that replace values; only its owner may read it.
pub(crate) const KEY: &str = "redact.key";
pub(crate) const INDEX: &str = "index.sqlite";

pub(crate) const IDENTITY: &str = "run.json";
pub(crate) const EXPERIMENT: &str = "experiment.toml";
pub(crate) const PLAN: &str = "plan.json";
pub(crate) const SYSTEM: &str = "system.json";
pub(crate) const METRICS: &str = "metrics.json";
/// Files that may be replaced while a run is being written.
pub(crate) const REPLACED: [&str; 2] = [PLAN, METRICS];
pub(crate) const LEDGER: &str = "ledger.jsonl";
pub(crate) const RECORDS: &str = "records.jsonl";
pub(crate) const TRIALS: &str = "trials";
/// Files of other programs that the run was imported from.
pub(crate) const IMPORTED: &str = "imported";
pub(crate) const LOCK: &str = "lock";
/// Folder in which a trial's files are assembled before they are renamed into `trials/`.
pub(crate) const TRIAL_STAGING: &str = "trials.tmp";

pub(crate) const STDOUT: &str = "stdout.log";
pub(crate) const STDERR: &str = "stderr.log";
pub(crate) const SAMPLES: &str = "samples.parquet";
/// Report of the block I/O tracer for a trial.
pub(crate) const IO: &str = assay_traces::block_io::FILE.name;
/// Every single I/O of a trial.
pub const IO_EVENTS: &str = "io.parquet";

/// Returns the folder of an attempt, relative to the run: `trials/0001`, `trials/0001.2`.
pub(crate) fn trial_folder(number: u32, attempt: u32) -> PathBuf {
    Path::new(TRIALS).join(if attempt <= 1 {
        format!("{number:04}")
    } else {
        format!("{number:04}.{attempt}")
    })
}

/// Returns the temporary name of a file's replacement.
pub(crate) fn staged(name: &str) -> String {
    format!("{name}.tmp")
}

/// True if `path`, which comes from untrusted data, names a file inside a run: at most four plain
/// names of ASCII letters, digits, `.`, `_` and `-`, none of which starts with a dot, and not one
/// of the names that the archive reserves for a run in progress.
pub(crate) fn is_run_file(path: &str) -> bool {
    let parts: Vec<&str> = path.split('/').collect();
    let plain = |part: &&str| {
        !part.is_empty()
            && part.len() <= 100
            && !part.starts_with('.')
            && part.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'.' | b'_' | b'-'))
    };
    let own = [LOCK, TRIAL_STAGING].contains(&parts[0]) || path == TRIALS;
    parts.len() <= 4 && parts.iter().all(plain) && !own
}

/// True if a trial may keep a file with this name in addition to the archive's own files.
pub fn may_keep(name: &str) -> bool {
    !name.contains('/') && is_run_file(name) && ![STDOUT, STDERR, SAMPLES].contains(&name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_staged_is_known_by_its_ending() {
        for name in [&staged(PLAN), TRIAL_STAGING] {
            assert_eq!(Path::new(name).extension().unwrap(), "tmp");
        }
    }

    #[test]
    fn folders_of_attempts() {
        assert_eq!(trial_folder(1, 1), Path::new("trials/0001"));
        assert_eq!(trial_folder(12, 3), Path::new("trials/0012.3"));
        assert_eq!(trial_folder(12345, 1), Path::new("trials/12345"));
    }

    #[test]
    fn only_plain_names_inside_a_run() {
        for good in ["run.json", "trials/0001/stdout.log", "trials/0001.2/io.parquet"] {
            assert!(is_run_file(good), "{good}");
        }
        for bad in [
            "",
            "/etc/passwd",
            "../x",
            "trials/../../x",
            "trials",
            "trials/0001/.hidden",
            "lock",
            "trials.tmp/stdout.log",
            "a//b",
            "a\\b",
            "trials/0001/a\0b",
            "a/b/c/d/e",
        ] {
            assert!(!is_run_file(bad), "{bad}");
        }
    }
}
