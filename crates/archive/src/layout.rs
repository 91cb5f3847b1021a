//! The names inside an archive, and which relative paths may ever be written from outside data.

use std::path::{Path, PathBuf};

pub(crate) const RUNS: &str = "runs";
pub(crate) const STAGING: &str = "tmp";
/// What the name of a run in `tmp/` ends in while it is removed.
pub(crate) const REMOVED: &str = ".removed";
/// Deleted runs that can be restored.
pub(crate) const TRASH: &str = "trash";
/// What people added to runs.
pub(crate) const NOTES: &str = "notes";
/// The heads of the ledgers.
pub(crate) const HEADS: &str = "heads";
/// The id of the run that was written last.
pub(crate) const NEWEST: &str = "newest";
/// The key of hashes that stand for values; only its owner may read it.
pub(crate) const KEY: &str = "redact.key";
pub(crate) const INDEX: &str = "index.sqlite";

pub(crate) const IDENTITY: &str = "run.json";
pub(crate) const EXPERIMENT: &str = "experiment.toml";
pub(crate) const PLAN: &str = "plan.json";
pub(crate) const SYSTEM: &str = "system.json";
pub(crate) const METRICS: &str = "metrics.json";
/// The files that may be replaced while a run is written.
pub(crate) const REPLACED: [&str; 2] = [PLAN, METRICS];
pub(crate) const LEDGER: &str = "ledger.jsonl";
pub(crate) const RECORDS: &str = "records.jsonl";
pub(crate) const TRIALS: &str = "trials";
/// Files of other programs that the run was imported from.
pub(crate) const IMPORTED: &str = "imported";
pub(crate) const LOCK: &str = "lock";
/// Where a trial's folder is put together before it is renamed into `trials/`.
pub(crate) const TRIAL_STAGING: &str = "trials.tmp";

pub(crate) const STDOUT: &str = "stdout.log";
pub(crate) const STDERR: &str = "stderr.log";
pub(crate) const SAMPLES: &str = "samples.parquet";
/// What the tracer of block I/O answers of a trial.
pub const IO: &str = "io.json";
/// Where the time of a trial's program went.
pub(crate) const PROFILE: &str = "profile.json";
/// The instructions of a trial's programs by function, counted by Valgrind.
pub const INSTRUCTIONS: &str = "instructions.json";
/// What a trial's programs asked of the kernel.
pub const SYSCALLS: &str = "syscalls.json";
/// Every I/O of a trial by itself.
pub const IO_EVENTS: &str = "io.parquet";

/// The folder of an attempt at a trial, relative to the run: `trials/0001`, `trials/0001.2`.
pub(crate) fn trial_folder(number: u32, attempt: u32) -> PathBuf {
    Path::new(TRIALS).join(if attempt <= 1 {
        format!("{number:04}")
    } else {
        format!("{number:04}.{attempt}")
    })
}

/// The name of a replacement of a file until it is renamed.
pub(crate) fn staged(name: &str) -> String {
    format!("{name}.tmp")
}

/// Whether `path`, taken from outside data, names a file inside a run: at most four plain names of
/// ASCII letters, digits, `.`, `_` and `-`, none starting with a dot, and not one of the names that
/// a live run uses for itself.
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

/// Whether a file of that name may be kept with a trial beside the archive's own.
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
