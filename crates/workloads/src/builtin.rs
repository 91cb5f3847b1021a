//! The built-in workloads, a row each: the one place outside its own folder that names a workload.

use crate::work::{self, Program};
use crate::{
    Workload, block_size, bulkload, cae, command, memcached, noop, orders, pointer_chase,
    round_trip, side_by_side, span, startup, tlb_sim,
};

/// A built-in workload.
pub struct Row {
    /// Makes it.
    pub new: fn() -> Box<dyn Workload>,
    /// What assay is in its own, fresh processes for it: the names in `assay __work NAME JSON`.
    pub(crate) programs: &'static [(&'static str, Program)],
    /// Its page in `docs/`.
    pub docs: &'static str,
    /// An experiment with it in `experiments/`.
    pub experiment: Option<&'static str>,
}

/// In the order in which they are listed.
pub static ROWS: &[Row] = &[
    Row {
        new: || Box::new(block_size::BlockSize),
        programs: &[
            (block_size::NAME, |json| work::reported(json, block_size::trial)),
            (block_size::WORKER, |json| block_size::worker(json).map_err(|e| e.to_string())),
        ],
        docs: "block-size.md",
        experiment: Some("block-size.toml"),
    },
    Row {
        new: || Box::new(bulkload::Bulkload),
        programs: &[
            (bulkload::NAME, |json| work::reported(json, bulkload::trial)),
            (bulkload::SERVER, |json| work::reported(json, bulkload::server)),
        ],
        docs: "bulkload.md",
        experiment: Some("bulkload-io.toml"),
    },
    Row {
        new: || Box::new(cae::Cae),
        programs: &[
            (cae::NAME, |json| work::reported(json, cae::trial)),
            (cae::WATCH, |json| work::reported(json, cae::watch)),
        ],
        docs: "cae.md",
        experiment: Some("cae-storage.toml"),
    },
    Row {
        new: || Box::new(memcached::Memcached),
        programs: &[(memcached::NAME, |json| work::reported(json, memcached::trial))],
        docs: "memcached.md",
        experiment: Some("memcached-threads.toml"),
    },
    Row {
        new: || Box::new(orders::Orders),
        programs: &[(orders::NAME, |json| work::reported(json, orders::trial))],
        docs: "orders.md",
        experiment: Some("orders-instances.toml"),
    },
    Row {
        new: || Box::new(pointer_chase::PointerChase),
        programs: &[(pointer_chase::NAME, |json| work::reported(json, pointer_chase::trial))],
        docs: "address-translation.md",
        experiment: Some("large-pages.toml"),
    },
    Row {
        new: || Box::new(round_trip::RoundTrip),
        programs: &[(round_trip::NAME, |json| work::reported(json, round_trip::trial))],
        docs: "round-trip.md",
        experiment: Some("round-trip.toml"),
    },
    Row {
        new: || Box::new(startup::Startup),
        programs: &[(startup::NAME, |json| work::reported(json, startup::trial))],
        docs: "startup.md",
        experiment: Some("startup-io.toml"),
    },
    Row {
        new: || Box::new(tlb_sim::TlbSim),
        programs: &[(tlb_sim::NAME, |json| work::reported(json, tlb_sim::trial))],
        docs: "address-translation.md",
        experiment: Some("tsb.toml"),
    },
    Row { new: || Box::new(command::Command), programs: &[], docs: "command.md", experiment: None },
    Row {
        new: || Box::new(noop::Noop),
        // It is there to be started, and that is all.
        programs: &[(noop::NAME, |_| Ok(()))],
        docs: "command.md",
        experiment: None,
    },
];

/// Programs that several workloads use.
static SHARED: &[(&str, Program)] = &[
    (side_by_side::CREW, |json| work::reported(json, side_by_side::trial)),
    (side_by_side::COPY, |json| match side_by_side::become_program(json) {
        Ok(never) => match never {},
        Err(e) => Err(e.to_string()),
    }),
    (span::RANK, |json| span::rank(json).map_err(|e| e.to_string())),
];

/// The program of that name.
pub(crate) fn program(name: &str) -> Option<Program> {
    let all = ROWS.iter().flat_map(|row| row.programs).chain(SHARED);
    all.into_iter().find(|(n, _)| *n == name).map(|(_, program)| *program)
}

/// The built-in workload of that name.
pub fn find(name: &str) -> Option<Box<dyn Workload>> {
    ROWS.iter().map(|row| (row.new)()).find(|w| w.spec().name == name)
}

/// The row of the built-in workload of that name.
pub fn row(name: &str) -> Option<&'static Row> {
    ROWS.iter().find(|row| (row.new)().spec().name == name)
}

#[cfg(test)]
mod tests {
    use std::path::{Path, PathBuf};

    use super::*;

    /// A file of the repository.
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

    /// Every Rust file below a folder.
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
        // Running a command line is a verb of its own.
        let names: Vec<String> = ROWS
            .iter()
            .map(|row| (row.new)().spec().name.clone())
            .filter(|name| name != command::NAME)
            .collect();
        let mut wrong = Vec::new();
        for file in files {
            let path = file.display().to_string();
            // Rule packs have names of their own, the audit knows words of English ("orders of magnitude"), and tests
            // may name what they run.
            if ["/rules/src/", "/audit/src/", "/fixtures/", "/tests.rs", "/tests/", "/builtin.rs"]
                .iter()
                .any(|part| path.contains(part))
            {
                continue;
            }
            let text = std::fs::read_to_string(&file).unwrap();
            let code = text.split("#[cfg(test)]").next().unwrap_or_default();
            for name in &names {
                let own = format!("/workloads/src/{}", name.replace('-', "_"));
                let quoted = [format!("\"{name}\""), format!("\\\"{name}\\\"")];
                let module = format!("assay_workloads::{}::", name.replace('-', "_"));
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
        assert!(program("xyzzy").is_none());
    }
}
