//! Tools that print a line for each benchmark.

use assay_model::Better::{self, Higher, Lower};
use regex_lite::Regex;

use crate::readers::file::unit::{scaled, seconds};
use crate::readers::prelude::*;

/// The lines of a tool.
pub(super) struct LineFormat {
    tool: &'static str,
    /// Regular expression of a line: its name, its value, and the unit if it is a time.
    line: &'static str,
    /// Text of a line that the tool alone prints. Lines count only below a table's header.
    own: &'static str,
    header: bool,
    value: (&'static str, &'static str, Better),
}

pub(super) const BENCHMARK_JS: LineFormat = LineFormat {
    tool: "Benchmark.js",
    line: r"^(\S.*) x (\S+) ops/sec ±\S+% \(\d+ runs? sampled\)$",
    own: " ops/sec ±",
    header: false,
    value: ("throughput", "ops/s", Higher),
};
pub(super) const CONSOLE_TIME: LineFormat = LineFormat {
    tool: "console.time",
    line: r"^(\S.*): ([\d.,:]+)(ms|s| \((?:h:m)?m:ss\.mmm\))(?: - timer ended)?$",
    own: " - timer ended",
    header: false,
    value: ("time", "s", Lower),
};
pub(super) const DART: LineFormat = LineFormat {
    tool: "benchmark_harness",
    line: r"^(\S.*)\(RunTime\): (\S+) (us)\.$",
    own: "(RunTime): ",
    ..CONSOLE_TIME
};
/// The wall time of `Benchmark.bm` and `bmbm`, whose rehearsal is above the header.
pub(super) const RUBY: LineFormat = LineFormat {
    tool: "Ruby's benchmark",
    line: r"^(.*?):?\s+[\d.]+\s+[\d.]+\s+[\d.]+\s+\(\s*(\S+)\)$",
    own: "user     system      total        real",
    header: true,
    ..CONSOLE_TIME
};

pub(super) fn detect(bytes: &[u8], format: &LineFormat) -> bool {
    head_has(bytes, |line| line.contains(format.own)) && read(bytes, format, "").is_ok()
}

pub(super) fn read(
    bytes: &[u8],
    format: &LineFormat,
    name: &'static str,
) -> Result<Vec<ForeignResult>, Flaw> {
    let pattern = Regex::new(format.line).map_err(|e| Flaw::whole(e.to_string()))?;
    let text = json::text(bytes);
    let mut suite = SuiteReader::new(format.tool, name);
    let (mut counts, (metric, unit, better)) = (!format.header, format.value);
    for (_, line) in lines(&text) {
        if format.header {
            counts = (counts || line.trim() == format.own) && !line.starts_with("Rehearsal ---");
        }
        let Some(found) = pattern.captures(&line).filter(|_| counts) else { continue };
        // Minutes and hours stand before the seconds.
        let sum = found[2].split(':').try_fold(0.0, |sum, n| Some(sum * 60.0 + number(n)?));
        let unit_of = found.get(3).map(|u| u.as_str()).filter(|u| !u.ends_with(')'));
        let value =
            sum.zip(unit_of.map_or(Some(1.0), seconds)).map(|(v, factor)| scaled(v, factor));
        match value {
            Some(_) => drop(suite.add(&found[1], &[(metric, value, unit, better)])?),
            None => suite.fail(&found[1], &format!("`{}` is not a number", &found[2]))?,
        }
    }
    suite.finish(&format!("no line is that of a benchmark of {}", format.tool))
}
