//! Output of criterion: what `cargo bench` prints. The estimate is the middle one of the three
//! numbers; the outer two are the ends of its confidence interval. The samples of a benchmark are
//! taken inside one process.

use assay_model::Better;

use crate::readers::prelude::*;

/// Column at which criterion prints `time:` and `thrpt:`.
const INDENT: usize = 24;

pub(super) fn detect(bytes: &[u8]) -> bool {
    head_has(bytes, |line| estimate(line, "time:").is_some())
}

/// Returns the text before a label and the three numbers in brackets after it.
fn estimate<'a>(line: &'a str, label: &str) -> Option<(&'a str, &'a str)> {
    // The name of a benchmark may contain the label.
    let (before, after) = line.rsplit_once(label)?;
    if line.starts_with("Benchmarking ") {
        return None;
    }
    let numbers = after.trim().strip_prefix('[')?.split_once(']')?.0;
    let aligned = before.chars().count() >= 12 && before.ends_with(' ');
    // Percentages are changes since an earlier run.
    (aligned && !numbers.contains('%')).then_some((before.trim(), numbers))
}

/// Parses `1.0 ns 1.1 ns 1.2 ns`.
fn three(text: &str) -> Option<([f64; 3], String)> {
    let words: Vec<&str> = text.split_ascii_whitespace().collect();
    if words.len() != 6 {
        return None;
    }
    let mut values = [0.0; 3];
    let mut units = [String::new(), String::new(), String::new()];
    for (i, pair) in words.chunks(2).enumerate() {
        let (value, unit) = quantity(&pair.join(" "))?;
        let power = unit
            .strip_suffix("elem/s")
            .and_then(|prefix| ["", "K", "M", "G"].iter().position(|p| *p == prefix));
        (values[i], units[i]) = match power {
            Some(power) => (value * 1000f64.powi(power as i32), "elem/s".to_owned()),
            None => (value, unit),
        };
    }
    let [unit, second, third] = units;
    (unit == second && unit == third).then_some((values, unit))
}

/// Returns an estimate between the ends of its interval.
fn three_figures([min, mean, max]: [f64; 3]) -> Figures<'static> {
    Figures { min: Some(min), mean: Some(mean), max: Some(max), ..Figures::default() }
}

pub(super) fn read(bytes: &[u8]) -> Result<Vec<ForeignResult>, Flaw> {
    let text = json::text(bytes);
    let mut suite = SuiteReader::of_programs("criterion", "criterion");
    // The name of a benchmark that has a line of its own, and the one whose results follow.
    let (mut alone, mut current) = (String::new(), None::<usize>);
    for (number, line) in lines(&text) {
        if let Some((name, numbers)) = estimate(&line, "time:") {
            let name = if name.is_empty() { alone.clone() } else { name.to_owned() };
            if name.is_empty() {
                return Err(Flaw::line(number, "it has no name of a benchmark before `time:`"));
            }
            let Some((values, unit)) = three(numbers) else {
                let message = format!("`[{numbers}]` is not three numbers with units");
                return Err(Flaw::line(number, message));
            };
            let trial = suite.add(&name, &[("time", Some(values[1]), &unit, Better::Lower)])?;
            trial.hold(&["time"], &three_figures(values));
            current = Some(suite.result().trials.len() - 1);
        } else if let (Some((_, numbers)), Some(at)) = (estimate(&line, "thrpt:"), current) {
            let Some((values, unit)) = three(numbers) else {
                let message = format!("`[{numbers}]` is not three numbers with units");
                return Err(Flaw::line(number, message));
            };
            suite.also(at, ("throughput", Some(values[1]), &unit, Better::Higher))?;
            suite.result().trials[at].hold(&["throughput"], &three_figures(values));
        } else if !line.starts_with(' ') && !line.starts_with("Benchmarking ") {
            line.trim().clone_into(&mut alone);
        } else if line.trim_start().starts_with("thread ") && line.contains(" panicked at ") {
            suite.note(line.trim().to_owned());
        }
    }
    let indent = " ".repeat(INDENT - 4);
    suite.finish(&format!(
        "a benchmark prints a line such as `fib{indent} time:   [1 ns 2 ns 3 ns]`"
    ))
}

/// Appends a regular expression of the names, which criterion takes as its filter.
pub(super) fn filter(line: &[String], names: &[&str]) -> Option<Vec<String>> {
    if !line.first()?.ends_with("cargo") {
        return None;
    }
    let mut line = line.to_vec();
    if !line.iter().any(|w| w == "--") {
        line.push("--".to_owned());
    }
    line.push(pattern(names));
    Some(line)
}

/// Returns a regular expression that matches exactly these names.
pub(super) fn pattern(names: &[&str]) -> String {
    let names: Vec<String> = names.iter().map(|n| regex_lite::escape(n)).collect();
    format!("^({})$", names.join("|"))
}
