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
mod gungraun;
mod hyperfine;
mod iperf3;
mod jmh;
mod k6;
mod libtest;
mod live;
mod mcperf;
mod memtier;
mod oha;
mod one_line;
mod perf_stat;
mod pgbench;
mod phoronix;
mod prelude;
mod profile;
mod pytest_benchmark;
mod redis_benchmark;
mod result;
mod spec;
pub mod speccpu;
mod stress_ng;
mod sysbench;
mod vitest;
mod wrk;

pub use file::error::{ErrorLocation, Flaw, ForeignError};
pub use file::format::{
    BenchmarkFilter, ForeignFormat, FormatReader, MAX_FILE, ResultFolder, bounded as read_file,
};
pub use file::unit::base_unit;
pub use file::{ForeignFile, ForeignSet, read_foreign, read_series};
pub use live::{AUTO, BENCHMARKS, READ_AS, ReadOutput, read_output, recognized};
pub(crate) use live::{geometric_mean, stream};
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
        by_name: false,
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
        reader: FormatReader::Series(read),
        ..run(name, help, detect, |_| Ok(Vec::new()))
    }
}

/// A row of the output of a tool, by the module of its reader.
macro_rules! tool {
    ($name:literal, $reader:ident, $help:literal) => {
        tool($name, $help, $reader::detect, $reader::read)
    };
    ($name:literal, $reader:ident, $help:literal, filter) => {
        ForeignFormat { filter: Some($reader::filter), ..tool!($name, $reader, $help) }
    };
}

/// A row of a tool in [`one_line`].
macro_rules! one_line {
    ($name:literal, $format:ident, $help:literal) => {
        tool(
            $name,
            $help,
            |bytes| one_line::detect(bytes, &one_line::$format),
            |bytes| one_line::read(bytes, &one_line::$format, $name),
        )
    };
}

/// All formats that can be read.
pub const FORMATS: &[ForeignFormat] = &[
    tool!("hyperfine", hyperfine, "hyperfine --export-json FILE"),
    tool!("google-benchmark", google, "console, CSV or JSON of Google Benchmark", filter),
    tool!("fio", fio, "fio --output-format=json (or json+)"),
    tool!("jmh", jmh, "JMH with -rf json -rff FILE"),
    tool!("memtier", memtier, "memtier_benchmark --json-out-file=FILE"),
    tool!("mcperf", mcperf, "output of mcperf (twemperf)"),
    tool!("criterion", criterion, "output of `cargo bench` with criterion", filter),
    tool!("libtest", libtest, "`#[bench]`, or criterion with --output-format bencher"),
    tool!("go-bench", go_bench, "go test -bench, also with -json", filter),
    tool!("pytest-benchmark", pytest_benchmark, "pytest --benchmark-json FILE"),
    tool!("catch2", catch2, "benchmarks of Catch2, console or XML"),
    tool!("benchmark-dotnet", dotnet, "BenchmarkDotNet with --exporters json"),
    tool!("asv-run", asv_run, "output of `asv run`"),
    tool!("wrk", wrk, "output of wrk or wrk2"),
    tool!("oha", oha, "oha --output-format json"),
    tool!("k6", k6, "k6 run --summary-export FILE"),
    tool!("sysbench", sysbench, "output of `sysbench ... run`"),
    tool!("pgbench", pgbench, "output of pgbench"),
    tool!("redis-benchmark", redis_benchmark, "output of redis-benchmark, also -q or --csv"),
    tool!("iperf3", iperf3, "iperf3 -J"),
    tool!("stress-ng", stress_ng, "stress-ng --metrics"),
    tool!("perf-stat", perf_stat, "perf stat -x, or perf stat -j"),
    tool!("phoronix", phoronix, "composite.xml of the Phoronix Test Suite"),
    tool!("gungraun", gungraun, "output or JSON of gungraun (iai-callgrind), and of iai"),
    one_line!("ruby-benchmark", RUBY, "Benchmark.bm and bmbm of Ruby"),
    tool!("vitest", vitest, "vitest bench --outputJson FILE"),
    one_line!("benchmark-js", BENCHMARK_JS, "output of Benchmark.js"),
    ForeignFormat {
        by_name: true,
        ..one_line!("console-time", CONSOLE_TIME, "console.timeEnd of JavaScript")
    },
    one_line!("dart-benchmark", DART, "benchmark_harness of Dart"),
    tool(
        "bmf",
        "Bencher Metric Format (JSON)",
        benchmark_lists::detect_bmf,
        benchmark_lists::read_bmf,
    ),
    tool(
        "benchmark-list",
        "list of values (JSON) for github-action-benchmark",
        benchmark_lists::detect_list,
        benchmark_lists::read_list,
    ),
    run("spec-rsf", "raw file (.rsf) of SPEC CPU", spec::detect_rsf, spec::read_rsf),
    run("spec-csv", "CSV report of SPEC CPU", spec::detect_csv, spec::read_csv),
    run(
        "profile",
        "perf script, folded stacks, async-profiler's collapsed form, pprof, callgrind, or assay \
         profile -o",
        profile::detect,
        profile::read,
    ),
    series(
        "csv",
        "a table with a header: time, revision, and a column for each series, as Otava reads it",
        csv::detect,
        csv::read,
    ),
    series(
        "github-action-benchmark",
        "data.js of github-action-benchmark",
        github_action::detect,
        github_action::read,
    ),
    ForeignFormat {
        folder: Some(asv::FOLDER),
        ..series("asv", "folder of a machine in asv's results, or a file", asv::detect, asv::read)
    },
    series("bencher", "output of `bencher perf` (JSON)", bencher::detect, bencher::read),
    series(
        "conbench",
        "Conbench's /api/benchmark-results/ (JSON)",
        conbench::detect,
        conbench::read,
    ),
    ForeignFormat {
        folder: Some(git_perf::FOLDER),
        ..series(
            "git-perf",
            "git repository with notes of git-perf",
            git_perf::detect,
            git_perf::read,
        )
    },
];

/// Returns the format with this name.
pub fn format(name: &str) -> Option<&'static ForeignFormat> {
    FORMATS.iter().find(|f| f.name == name)
}
