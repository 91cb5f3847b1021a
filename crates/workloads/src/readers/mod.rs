//! Readers of the output of benchmark tools: a table of formats ([`FORMATS`]), each recognized by
//! its content and with a file here. They serve the trials of assay ([`trial_metrics`]) and imports
//! alike. A format has either repetitions ([`ForeignResult`]), or points over revisions
//! ([`read_series`]). Facts that a file does not state stay unknown; nothing is filled in.

mod asv;
mod bencher;
mod conbench;
mod csv;
mod file;
mod fio;
mod git_perf;
mod github_action;
mod google;
mod hyperfine;
mod jmh;
mod mcperf;
mod memtier;
mod profile;
mod result;
mod spec;
pub mod speccpu;

pub use file::error::{ErrorLocation, Flaw, ForeignError};
pub use file::format::{ForeignFormat, FormatReader, MAX_FILE, ResultFolder};
pub use file::{ForeignFile, ForeignSet, read_foreign, read_series};
pub use result::merge::factors;
pub use result::series::ForeignSeries;
pub use result::{ForeignResult, ForeignTreatment, ForeignTrial};

type Detect = fn(&[u8]) -> bool;

const fn run(
    name: &'static str,
    help: &'static str,
    detect: Detect,
    read: fn(&[u8]) -> Result<Vec<ForeignResult>, Flaw>,
) -> ForeignFormat {
    ForeignFormat { name, help, detect, reader: FormatReader::Run(read), folder: None }
}

const fn series(
    name: &'static str,
    help: &'static str,
    detect: Detect,
    read: fn(&[u8]) -> Result<ForeignSeries, Flaw>,
) -> ForeignFormat {
    ForeignFormat { name, help, detect, reader: FormatReader::Series(read), folder: None }
}

/// All formats that can be read.
#[rustfmt::skip]
pub const FORMATS: &[ForeignFormat] = &[
    run("hyperfine", "hyperfine --export-json FILE", hyperfine::detect, hyperfine::read),
    run("google-benchmark", "a Google Benchmark program with --benchmark_out=FILE --benchmark_out_format=json", google::detect, google::read),
    run("fio", "fio --output-format=json (or json+) --output=FILE", fio::detect, fio::read),
    run("jmh", "JMH with -rf json -rff FILE", jmh::detect, jmh::read),
    run("memtier", "memtier_benchmark --json-out-file=FILE", memtier::detect, memtier::read),
    run("mcperf", "what mcperf (twemperf) prints", mcperf::detect, mcperf::read),
    run("spec-rsf", "the raw file (.rsf) of SPEC CPU", spec::detect_rsf, spec::read_rsf),
    run("spec-csv", "the CSV report of SPEC CPU", spec::detect_csv, spec::read_csv),
    run("profile", "perf script, folded stacks, async-profiler's collapsed form, pprof, callgrind, or assay profile -o", profile::detect, profile::read),
    series("csv", "a table with a header: time, revision, and a column for each series, as Otava reads it", csv::detect, csv::read),
    series("github-action-benchmark", "data.js of github-action-benchmark", github_action::detect, github_action::read),
    ForeignFormat { folder: Some(asv::FOLDER), ..series("asv", "the folder of one machine in asv's results, or a file of it", asv::detect, asv::read) },
    series("bencher", "what `bencher perf` prints (JSON)", bencher::detect, bencher::read),
    series("conbench", "what Conbench's /api/benchmark-results/ answers (JSON)", conbench::detect, conbench::read),
    ForeignFormat { folder: Some(git_perf::FOLDER), ..series("git-perf", "a git repository with the notes of git-perf", git_perf::detect, git_perf::read) },
];

/// Returns the format with this name.
pub fn format(name: &str) -> Option<&'static ForeignFormat> {
    FORMATS.iter().find(|f| f.name == name)
}
