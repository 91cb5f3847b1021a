//! Results of other programs, taken into the archive as runs: a table of formats ([`FORMATS`]), each
//! known by its content, a reader each that gives plain data ([`ForeignResult`]), and one function
//! that makes a run of it ([`Archive::import_foreign`](crate::Archive::import_foreign)). What a file
//! does not tell stays unknown; nothing is filled in.

mod decode;
mod error;
mod facts;
mod file;
mod fio;
mod google;
mod hyperfine;
mod jmh;
mod mcperf;
mod memtier;
mod merge;
mod naming;
mod profile;
mod result;
mod run;
mod shape;
mod spec;
mod tree;
mod unit;

pub use error::{Flaw, ForeignError, Location};
pub use file::{ForeignFile, ForeignSet, MAX_FILE, read_foreign};
pub use result::{ForeignResult, ForeignTreatment, ForeignTrial};
pub use run::{ForeignOptions, ImportedRuns};

/// A format of another program's results.
#[derive(Debug)]
pub struct Format {
    /// Its name, as `--as` takes it.
    pub name: &'static str,
    /// What writes it, for a person.
    pub help: &'static str,
    /// Whether these bytes look like it. Looks at the content alone, and takes what is cut off or
    /// wrong further down for it too, so that the reader can say where it is wrong.
    pub detect: fn(&[u8]) -> bool,
    /// Reads it. A file gives one result, or several when it holds numbers that no one metric can
    /// hold together (the modes of JMH).
    pub read: fn(&[u8]) -> Result<Vec<ForeignResult>, Flaw>,
}

/// Every format that is read.
pub const FORMATS: &[Format] = &[
    Format {
        name: "hyperfine",
        help: "hyperfine --export-json FILE",
        detect: hyperfine::detect,
        read: hyperfine::read,
    },
    Format {
        name: "google-benchmark",
        help: "a Google Benchmark program with --benchmark_out=FILE --benchmark_out_format=json",
        detect: google::detect,
        read: google::read,
    },
    Format {
        name: "fio",
        help: "fio --output-format=json (or json+) --output=FILE",
        detect: fio::detect,
        read: fio::read,
    },
    Format {
        name: "jmh",
        help: "JMH with -rf json -rff FILE",
        detect: jmh::detect,
        read: jmh::read,
    },
    Format {
        name: "memtier",
        help: "memtier_benchmark --json-out-file=FILE",
        detect: memtier::detect,
        read: memtier::read,
    },
    Format {
        name: "mcperf",
        help: "what mcperf (twemperf) prints",
        detect: mcperf::detect,
        read: mcperf::read,
    },
    Format {
        name: "spec-rsf",
        help: "the raw file (.rsf) of SPEC CPU",
        detect: spec::detect_rsf,
        read: spec::read_rsf,
    },
    Format {
        name: "spec-csv",
        help: "the CSV report of SPEC CPU",
        detect: spec::detect_csv,
        read: spec::read_csv,
    },
    Format {
        name: "profile",
        help: "perf script, folded stacks, async-profiler's collapsed form, pprof, callgrind, or assay profile -o",
        detect: profile::detect,
        read: profile::read,
    },
];

/// The format of that name.
pub fn format(name: &str) -> Option<&'static Format> {
    FORMATS.iter().find(|f| f.name == name)
}
