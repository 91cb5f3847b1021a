//! Output of `asv run`: a line for each benchmark, and a table of values for one with parameters.

use assay_model::Better::{Lower, Neither};

use crate::readers::prelude::*;

/// Characters before each line of a table but the first.
const INDENT: usize = 13;

/// Returns the name and the result of `[ 35.00%] ··· benchmarks.Suite.time_x   11.1±0.01μs`.
fn row(line: &str) -> Option<(&str, &str)> {
    let (_, rest) = line.strip_prefix('[')?.split_once("%] ")?;
    let (name, result) = rest.trim_start_matches(['·', ' ']).split_once("  ")?;
    (name.contains('.') && !name.contains(' ')).then_some((name, result.trim()))
}

pub(super) fn detect(bytes: &[u8]) -> bool {
    head_has(bytes, |line| row(line).is_some())
}

/// Returns the value of `11.1±0.01μs`, of `2.42k` (bytes or a count) or of `9.07ms`.
fn value(text: &str) -> Option<(f64, String)> {
    let (mean, rest) = text.split_once('±').unwrap_or((text, ""));
    let unit = rest.trim_start_matches(|c| "0123456789.e+-".contains(c));
    if !rest.is_empty() {
        number(&rest[..rest.len() - unit.len()])?;
    }
    let text = format!("{mean}{unit}");
    let count = ["", "k", "M", "G"].iter().enumerate().find_map(|(power, prefix)| {
        Some(number(text.strip_suffix(prefix)?)? * 1000f64.powi(power as i32))
    });
    count.map(|n| (n, "1".to_owned())).or_else(|| quantity(&text))
}

/// The table of a benchmark's parameters, which asv draws with `=` and `-`.
struct ParamTable {
    /// First character of each column.
    columns: Vec<usize>,
    /// Number of columns that hold values of parameters; 0 before the line of `-` is read.
    left: usize,
    /// Values of the last parameter, one for each column to the right, if there are several
    /// parameters.
    top: Vec<String>,
    /// True until the line that names the parameters is read, if there are several.
    head: bool,
    /// Number of lines of `=` that follow.
    borders: u32,
}

/// Returns the start of each run of `mark`; empty if the line has other characters.
fn runs(line: &str, mark: char) -> Vec<usize> {
    let line = line.rsplit("··· ").next().map_or(line, |rest| rest);
    if line.trim().is_empty() || !line.chars().all(|c| c == mark || c == ' ') {
        return Vec::new();
    }
    let chars: Vec<char> = line.chars().collect();
    let starts = |i: &usize| chars[*i] == mark && (*i == 0 || chars[*i - 1] == ' ');
    let indent = chars.iter().take_while(|c| **c == ' ').count();
    (indent..chars.len()).filter(starts).map(|i| i - indent).collect()
}

impl ParamTable {
    fn new(columns: Vec<usize>) -> Self {
        ParamTable { columns, left: 0, top: Vec::new(), head: false, borders: 1 }
    }

    /// Returns the text of each cell.
    fn cells(&self, line: &str) -> Vec<String> {
        let chars: Vec<char> = line.chars().skip(INDENT).collect();
        let end = |i: usize| self.columns.get(i + 1).copied().unwrap_or(chars.len());
        let cell = |(i, start): (usize, &usize)| {
            let cell = chars.get(*start..end(i).min(chars.len())).unwrap_or_default();
            cell.iter().collect::<String>().trim().to_owned()
        };
        self.columns.iter().enumerate().map(cell).collect()
    }

    /// Reads a line. Returns the parameters and the result of each value in it.
    fn line(&mut self, line: &str) -> Vec<(String, String)> {
        if !runs(line, '=').is_empty() {
            self.borders -= 1;
            return Vec::new();
        }
        let dashes = runs(line, '-');
        if self.left == 0 && !dashes.is_empty() {
            let right = dashes.get(1).copied().unwrap_or(usize::MAX);
            self.left = self.columns.iter().filter(|c| **c < right).count();
            return Vec::new();
        }
        let cells = self.cells(line);
        if self.left == 0 {
            // With several parameters asv leaves the corner empty.
            self.head = cells.first().is_some_and(|corner| corner.starts_with("--"));
            self.borders += u32::from(self.head);
            return Vec::new();
        }
        let (left, right) = cells.split_at(self.left.min(cells.len()));
        if self.head {
            self.head = false;
            self.top = right.to_vec();
            return Vec::new();
        }
        let params = |i: usize| {
            let top = self.top.get(i).into_iter();
            left.iter().chain(top).cloned().collect::<Vec<_>>().join(", ")
        };
        right.iter().enumerate().map(|(i, cell)| (params(i), cell.clone())).collect()
    }
}

pub(super) fn read(bytes: &[u8]) -> Result<Vec<ForeignResult>, Flaw> {
    let text = json::text(bytes);
    let mut suite = SuiteReader::new("asv", "asv-run");
    let (mut environment, mut benchmark) = (String::new(), String::new());
    let mut table: Option<ParamTable> = None;
    for (at, line) in lines(&text) {
        if let Some((_, name)) = line.split_once(" Benchmarking ") {
            name.trim().clone_into(&mut environment);
        }
        if let Some(open) = &mut table {
            for (params, result) in open.line(&line) {
                add(&mut suite, &format!("{benchmark}({params})"), &result, at)?;
            }
            table = table.filter(|open| open.borders > 0);
            continue;
        }
        let borders = if line.contains("] ··· ") { runs(&line, '=') } else { Vec::new() };
        if !borders.is_empty() {
            table = Some(ParamTable::new(borders));
            continue;
        }
        let Some((name, result)) = row(&line) else { continue };
        benchmark =
            if environment.is_empty() { name.to_owned() } else { format!("{environment}: {name}") };
        // A table of the parameters follows `ok` and `1/3 failed`.
        if result != "ok" && !result.ends_with(" failed") {
            add(&mut suite, &benchmark, result, at)?;
        }
    }
    suite.finish("a benchmark prints a line such as `[ 50.00%] ··· suite.time_x  11.1±0.01μs`")
}

fn add(suite: &mut SuiteReader, name: &str, result: &str, at: u64) -> Result<(), Flaw> {
    match (result, value(result)) {
        ("failed", _) => suite.fail(name, "the benchmark failed"),
        ("n/a" | "skipped", _) => Ok(()),
        (_, Some((value, unit))) => {
            let better = if unit == "s" || unit == "B" { Lower } else { Neither };
            let metric = if unit == "s" { "time" } else { "value" };
            suite.add(name, &[(metric, Some(value), &unit, better)]).map(drop)
        }
        _ => Err(Flaw::line(at, format!("`{result}` is not a number with a unit"))),
    }
}
