//! Readers of the output of benchmark tools: a table of formats ([`FORMATS`]), each recognized by
//! its content and with a file here. They serve the trials of assay ([`trial_metrics`]) and imports
//! alike. A format has either repetitions ([`ForeignResult`]), or points over revisions
//! ([`read_series`]). Facts that a file does not state stay unknown; nothing is filled in.

mod asv;
mod asv_run;
mod bencher;
mod benchmark_lists;
mod catch2;
mod conbench;
mod criterion;
mod csv;
mod dotnet;
mod file;
mod fio;
mod git_perf;
mod github_action;
mod go_bench;
mod google;
mod google_text;
mod hyperfine;
mod iperf3;
mod jmh;
mod k6;
mod libtest;
mod live;
mod mcperf;
mod memtier;
mod oha;
mod perf_stat;
mod pgbench;
mod phoronix;
mod profile;
mod pytest_benchmark;
mod redis_benchmark;
mod result;
mod spec;
pub mod speccpu;
mod stress_ng;
mod sysbench;
mod wrk;

pub use file::error::{ErrorLocation, Flaw, ForeignError};
pub use file::format::{
    BenchmarkFilter, ForeignFormat, FormatReader, MAX_FILE, ResultFolder, bounded as read_file,
};
pub use file::unit::base_unit;
pub use file::{ForeignFile, ForeignSet, read_foreign, read_series};
pub use live::{AUTO, READ_AS, ReadOutput, read_output, recognized};
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
    ForeignFormat {
        name,
        help,
        detect,
        live: false,
        filter: None,
        reader: FormatReader::Run(read),
        folder: None,
    }
}

/// The output of a benchmark tool, which a trial can be read with.
const fn tool(
    name: &'static str,
    help: &'static str,
    detect: Detect,
    read: fn(&[u8]) -> Result<Vec<ForeignResult>, Flaw>,
) -> ForeignFormat {
    ForeignFormat { live: true, ..run(name, help, detect, read) }
}

const fn series(
    name: &'static str,
    help: &'static str,
    detect: Detect,
    read: fn(&[u8]) -> Result<ForeignSeries, Flaw>,
) -> ForeignFormat {
    ForeignFormat {
        name,
        help,
        detect,
        live: false,
        filter: None,
        reader: FormatReader::Series(read),
        folder: None,
    }
}

/// All formats that can be read.
#[rustfmt::skip]
pub const FORMATS: &[ForeignFormat] = &[
    tool("hyperfine", "hyperfine --export-json FILE", hyperfine::detect, hyperfine::read),
    ForeignFormat { filter: Some(google::filter), ..tool("google-benchmark", "the console, CSV or JSON of a Google Benchmark program", google::detect, google::read) },
    tool("fio", "fio --output-format=json (or json+) --output=FILE", fio::detect, fio::read),
    tool("jmh", "JMH with -rf json -rff FILE", jmh::detect, jmh::read),
    tool("memtier", "memtier_benchmark --json-out-file=FILE", memtier::detect, memtier::read),
    tool("mcperf", "what mcperf (twemperf) prints", mcperf::detect, mcperf::read),
    ForeignFormat { filter: Some(criterion::filter), ..tool("criterion", "what `cargo bench` prints with criterion", criterion::detect, criterion::read) },
    tool("libtest", "`#[bench]` of Rust's libtest, or criterion with --output-format bencher", libtest::detect, libtest::read),
    ForeignFormat { filter: Some(go_bench::filter), ..tool("go-bench", "go test -bench, also with -json", go_bench::detect, go_bench::read) },
    tool("pytest-benchmark", "pytest --benchmark-json FILE", pytest_benchmark::detect, pytest_benchmark::read),
    tool("catch2", "what a Catch2 program prints for its benchmarks", catch2::detect, catch2::read),
    tool("benchmark-dotnet", "BenchmarkDotNet with --exporters json", dotnet::detect, dotnet::read),
    tool("bmf", "Bencher Metric Format (JSON)", benchmark_lists::detect_bmf, benchmark_lists::read_bmf),
    tool("benchmark-list", "the list of values (JSON) that github-action-benchmark reads", benchmark_lists::detect_list, benchmark_lists::read_list),
    tool("asv-run", "what `asv run` prints", asv_run::detect, asv_run::read),
    tool("wrk", "what wrk or wrk2 prints", wrk::detect, wrk::read),
    tool("oha", "oha --output-format json", oha::detect, oha::read),
    tool("k6", "k6 run --summary-export FILE", k6::detect, k6::read),
    tool("sysbench", "what `sysbench ... run` prints", sysbench::detect, sysbench::read),
    tool("pgbench", "what pgbench prints", pgbench::detect, pgbench::read),
    tool("redis-benchmark", "what redis-benchmark prints, also with -q or --csv", redis_benchmark::detect, redis_benchmark::read),
    tool("iperf3", "iperf3 -J", iperf3::detect, iperf3::read),
    tool("stress-ng", "stress-ng --metrics", stress_ng::detect, stress_ng::read),
    tool("perf-stat", "perf stat -x, or perf stat -j", perf_stat::detect, perf_stat::read),
    tool("phoronix", "composite.xml of the Phoronix Test Suite", phoronix::detect, phoronix::read),
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
