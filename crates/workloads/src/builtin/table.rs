//! Table of the built-in workloads: the only place outside its own folder that names a workload.

use std::io::{self, Write as _};

use crate::Workload;
use crate::builtin::{
    block_size, bulkload, cae, command, memcached, memory, noop, orders, pointer_chase, redis,
    round_trip, startup, tlb_sim,
};
use crate::driver::work::{self, TrialProgram};
use crate::driver::{side_by_side, span};

/// A built-in workload and where it is documented.
pub struct BuiltinWorkload {
    /// Constructor of the workload.
    pub new: fn() -> Box<dyn Workload>,
    /// Programs that assay runs for the workload in fresh processes: the names in `assay __work
    /// NAME JSON`.
    pub(crate) programs: &'static [(&'static str, TrialProgram)],
    /// File name of its page in `docs/`.
    pub docs: &'static str,
    /// File name of an example experiment in `experiments/`.
    pub experiment: Option<&'static str>,
}

/// A trial program that reports on a channel.
macro_rules! reports {
    ($name:expr, $trial:path) => {
        ($name, |json| work::reported(json, $trial))
    };
}

/// Table rows: the type of the workload, its page, its experiment, and its programs.
macro_rules! rows {
    (@experiment) => { None };
    (@experiment $name:literal) => { Some($name) };
    ($($workload:expr, $docs:literal $(, $experiment:literal)? => [$($program:expr),*];)+) => {
        &[$(BuiltinWorkload {
            new: || Box::new($workload),
            programs: &[$($program),*],
            docs: $docs,
            experiment: rows!(@experiment $($experiment)?),
        }),+]
    };
}

/// All built-in workloads, in the order in which they are listed.
pub static ROWS: &[BuiltinWorkload] = rows! {
    block_size::BlockSize, "workloads/block-size.md", "block-size.toml" => [
        reports!(block_size::NAME, block_size::trial),
        (block_size::WORKER, block_size::worker)
    ];
    bulkload::Bulkload, "workloads/bulkload.md", "bulkload-io.toml" => [
        reports!(bulkload::NAME, bulkload::trial), reports!(bulkload::SERVER, bulkload::server)
    ];
    cae::Cae, "workloads/cae.md", "cae-storage.toml" => [
        reports!(cae::NAME, cae::trial), reports!(cae::WATCH, cae::watch)
    ];
    memcached::WORKLOAD, "workloads/memcached.md", "memcached-threads.toml" => [
        reports!(memcached::NAME, memcached::trial)
    ];
    memory::Memory, "workloads/memory.md", "memory-bandwidth.toml" => [
        reports!(memory::NAME, memory::trial)
    ];
    orders::Orders, "workloads/orders.md", "orders-instances.toml" => [
        reports!(orders::NAME, orders::trial)
    ];
    pointer_chase::PointerChase, "watch/address-translation.md", "large-pages.toml" => [
        reports!(pointer_chase::NAME, pointer_chase::trial)
    ];
    redis::WORKLOAD, "workloads/redis.md", "redis-pipelining.toml" => [
        reports!(redis::NAME, redis::trial)
    ];
    round_trip::RoundTrip, "workloads/round-trip.md", "round-trip.toml" => [
        reports!(round_trip::NAME, round_trip::trial)
    ];
    startup::Startup, "workloads/startup.md", "startup-io.toml" => [
        reports!(startup::NAME, startup::trial)
    ];
    tlb_sim::TlbSim, "watch/address-translation.md", "tsb.toml" => [
        reports!(tlb_sim::NAME, tlb_sim::trial)
    ];
    command::Command, "measure/command.md" => [];
    // The process of `noop` only starts and exits.
    noop::Noop, "measure/command.md" => [(noop::NAME, |_| Ok(()))];
};

/// Programs that several workloads use.
static SHARED: &[(&str, TrialProgram)] = &[
    reports!(side_by_side::CREW, side_by_side::trial),
    (side_by_side::COPY, |json| match side_by_side::become_program(json)? {}),
    (span::RANK, span::rank),
];

/// Runs the program `name` with the argument `json` and returns the exit code: 0 if it completed
/// (an event reports whether its results are correct), 1 if it failed, 2 if there is no such
/// program. Events go to the file in `ASSAY_METRICS`, else to file descriptor 3 if that is open for
/// writing, else to standard output. A failure is reported on standard error.
pub fn serve(name: &str, json: &str) -> i32 {
    let all = ROWS.iter().flat_map(|row| row.programs).chain(SHARED);
    let Some((_, program)) = all.into_iter().find(|(n, _)| *n == name) else {
        complain(&format!("there is no built-in workload `{name}` to run"));
        return 2;
    };
    match program(json) {
        Ok(()) => 0,
        Err(failure) => {
            complain(&failure.to_string());
            1
        }
    }
}

fn complain(message: &str) {
    // If standard error is closed too, the exit code must suffice.
    let _ = writeln!(io::stderr(), "{message}");
}

/// Returns the built-in workload with this name.
pub fn find(name: &str) -> Option<Box<dyn Workload>> {
    ROWS.iter().map(|row| (row.new)()).find(|w| w.spec().name == name)
}

/// Returns the table row of the built-in workload with this name.
pub fn row(name: &str) -> Option<&'static BuiltinWorkload> {
    ROWS.iter().find(|row| (row.new)().spec().name == name)
}

#[cfg(test)]
mod tests {
    use std::path::{Path, PathBuf};

    use super::*;

    /// Reads a file of the repository.
    fn text(path: &str) -> String {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        std::fs::read_to_string(root.join(path)).unwrap_or_else(|e| panic!("{path}: {e}"))
    }

    #[test]
    fn every_row_has_its_page_and_its_experiment() {
        for row in ROWS {
            let workload = (row.new)();
            let name = &workload.spec().name;
            assert!(text(&format!("docs/{}", row.docs)).contains(name.as_str()), "{name}");
            if let Some(experiment) = row.experiment {
                let line = format!("workload = \"{name}\"");
                assert!(text(&format!("experiments/{experiment}")).contains(&line), "{name}");
            }
        }
    }

    #[test]
    fn defaults_are_right_by_their_own_types() {
        for row in ROWS {
            for param in &(row.new)().spec().params {
                param.default.as_ref().map_or(Ok(()), |default| param.check(default)).unwrap();
            }
        }
    }

    /// Collects every Rust file below a folder.
    fn sources(dir: &Path, found: &mut Vec<PathBuf>) {
        for entry in std::fs::read_dir(dir).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                sources(&path, found);
            } else if path.extension().is_some_and(|e| e == "rs") {
                found.push(path);
            }
        }
    }

    #[test]
    fn no_workload_is_named_outside_its_folder_and_its_row() {
        let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
        let mut files = Vec::new();
        for entry in std::fs::read_dir(crates).unwrap() {
            let src = entry.unwrap().path().join("src");
            if src.is_dir() {
                sources(&src, &mut files);
            }
        }
        assert!(files.len() > 500, "only {} files", files.len());
        // Running a command line is a verb of its own, and a control is also called `memory`.
        let names: Vec<String> = ROWS
            .iter()
            .map(|row| (row.new)().spec().name.clone())
            .filter(|name| name != command::NAME && name != memory::NAME)
            .collect();
        let mut wrong = Vec::new();
        for file in files {
            let path = file.display().to_string();
            // Rule packs have names of their own, and tests may name the workloads that they run.
            if ["/quoted/src/", "/fixtures/", "/tests.rs", "/tests/", "/builtin/table.rs"]
                .iter()
                .any(|part| path.contains(part))
            {
                continue;
            }
            let text = std::fs::read_to_string(&file).unwrap();
            let code = text.split("#[cfg(test)]").next().unwrap_or_default();
            for name in &names {
                let own = format!("/workloads/src/builtin/{}", name.replace('-', "_"));
                let quoted = [format!("\"{name}\""), format!("\\\"{name}\\\"")];
                let module = format!("assay_workloads::builtin::{}::", name.replace('-', "_"));
                let named = quoted.iter().any(|q| code.contains(q)) || code.contains(&module);
                if named && !path.contains(&own) {
                    wrong.push(format!("{path}: {name}"));
                }
            }
        }
        assert!(wrong.is_empty(), "{wrong:#?}");
    }

    #[test]
    fn a_program_has_one_name() {
        let all = || ROWS.iter().flat_map(|row| row.programs).chain(SHARED).map(|(name, _)| *name);
        for name in all() {
            assert_eq!(all().filter(|n| *n == name).count(), 1, "{name}");
        }
        assert_eq!(serve("xyzzy", "{}"), 2);
    }
}
