//! Output of `go test -bench`, also with `-json`. A line of a benchmark has its name, the number of
//! iterations, and pairs of a value and its unit. `-count` repeats a benchmark inside one process.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use assay_model::Better;
use serde_json::Value;

use crate::readers::prelude::*;
use crate::readers::result::suite::SuiteValue;

pub(super) fn detect(bytes: &[u8]) -> bool {
    let line = |line: &str| benchmark(line).is_some_and(|b| b.values.is_some());
    head_has(bytes, line) || head_has(bytes, |l| output(l).is_some_and(|l| line(&l)))
}

/// A line that starts with the name of a benchmark.
struct Line<'a> {
    name: &'a str,
    /// Pairs of value and unit; `None` for a name without results.
    values: Option<Vec<(&'a str, &'a str)>>,
}

fn benchmark(line: &str) -> Option<Line<'_>> {
    let mut words = line.split_ascii_whitespace();
    let name = words.next().filter(|n| n.starts_with("Benchmark"))?;
    let rest: Vec<&str> = words.collect();
    let values = rest.split_first().and_then(|(iterations, pairs)| values(iterations, pairs));
    // Go runs no function with a lower-case letter after `Benchmark`, but other programs that write
    // its format have such names.
    let of_go = !name["Benchmark".len()..].starts_with(|c: char| c.is_lowercase());
    let measured = |v: &Vec<(&str, &str)>| v.iter().all(|(n, _)| number(n).is_some());
    (of_go || values.as_ref().is_some_and(measured)).then_some(Line { name, values })
}

/// Returns the pairs of value and unit that follow the number of iterations.
fn values<'a>(iterations: &str, pairs: &[&'a str]) -> Option<Vec<(&'a str, &'a str)>> {
    let counted = iterations.bytes().all(|b| b.is_ascii_digit()) || pairs.get(1) == Some(&"ns/op");
    let even = pairs.len().is_multiple_of(2) || pairs.contains(&"ns/op");
    (counted && even && !pairs.is_empty())
        .then(|| pairs.chunks_exact(2).map(|pair| (pair[0], pair[1])).collect())
}

/// Returns the text that a line of `go test -json` reports as output.
fn output(line: &str) -> Option<String> {
    if !line.starts_with('{') {
        return None;
    }
    let event: Value = serde_json::from_str(line).ok()?;
    Some(event.get("Output")?.as_str()?.to_owned())
}

/// Returns the plain text of the output; `-json` splits lines over several events.
fn plain(text: &str) -> Cow<'_, str> {
    let events: Vec<Option<String>> = text.lines().map(output).collect();
    if events.iter().any(Option::is_some) {
        return Cow::Owned(events.into_iter().flatten().collect());
    }
    Cow::Borrowed(text)
}

/// Splits a line that configures the benchmarks after it, such as `note: before`.
fn setting(line: &str) -> Option<(&str, &str)> {
    let (key, value) = line.split_once(": ")?;
    let odd = |c: char| c.is_whitespace() || c.is_uppercase();
    let known = key.starts_with(char::is_lowercase) && !key.contains(odd) && key != "pkg";
    known.then(|| (key, value.trim()))
}

pub(super) fn read(bytes: &[u8]) -> Result<Vec<ForeignResult>, Flaw> {
    let text = json::text(bytes);
    let text = plain(&text);
    let mut suite = SuiteReader::new("go test", "go-bench");
    let all: BTreeSet<(&str, &str)> = text.lines().filter_map(setting).collect();
    let mut settings = BTreeMap::new();
    let packages = text.lines().filter(|l| l.starts_with("pkg: ")).count();
    let mut package = String::new();
    let mut running: Option<String> = None;
    for (number, line) in lines(&text) {
        if let Some(name) = line.strip_prefix("pkg: ") {
            name.trim().clone_into(&mut package);
        } else if let Some(cpu) = line.strip_prefix("cpu: ") {
            suite.result().fact("cpu.model", cpu);
        }
        // Text that a benchmark prints configures nothing.
        if let Some((key, value)) = setting(&line).filter(|_| running.is_none())
            && all.range((key, "")..).take_while(|other| other.0 == key).nth(1).is_some()
        {
            let value = value.replace(char::is_whitespace, "_");
            settings.insert(key.to_owned(), format!("/{key}={value}"));
        }
        let named = |name: &str| {
            let package = if packages > 1 { format!("{package}.") } else { String::new() };
            let under: String = settings.values().map(String::as_str).collect();
            format!("{package}{name}{under}")
        };
        if let Some(found) = benchmark(&line) {
            match &found.values {
                Some(pairs) => add(&mut suite, &named(found.name), pairs, number)?,
                None => running = Some(named(found.name)),
            }
            continue;
        }
        let failed = line.trim_start().strip_prefix("--- FAIL: Benchmark");
        if let Some(rest) = failed {
            let name = rest.split_ascii_whitespace().next().unwrap_or_default();
            suite.fail(&named(&format!("Benchmark{name}")), "the benchmark failed")?;
        } else if line.starts_with("panic: ") {
            let name = running.take().unwrap_or_else(|| named("the benchmark that panicked"));
            suite.fail(&name, &line)?;
        } else if let (Some(name), [iterations, pairs @ ..]) =
            (running.take(), line.split_ascii_whitespace().collect::<Vec<_>>().as_slice())
        {
            // A benchmark that prints text has its result on a line of its own.
            match values(iterations, pairs) {
                Some(pairs) => add(&mut suite, &name, &pairs, number)?,
                None => running = Some(name),
            }
        }
    }
    suite.finish("a benchmark prints a line such as `BenchmarkX-2  1000  5446 ns/op`")
}

/// Replaces the pattern of `-bench` by the names of the functions.
pub(super) fn filter(line: &[String], names: &[&str]) -> Option<Vec<String>> {
    let mut functions: Vec<&str> = Vec::new();
    for name in names {
        // A package may stand before the name, sub-benchmarks and the number of CPUs after it.
        let name = &name[name.find("Benchmark")?..];
        let name = name.split('/').next().unwrap_or(name);
        let name = name.rsplit_once('-').filter(|(_, n)| number(n).is_some()).map_or(name, |n| n.0);
        if !functions.contains(&name) {
            functions.push(name);
        }
    }
    let pattern = format!("^({})$", functions.join("|"));
    let mut line = line.to_vec();
    // A compiled test program takes the same options with a prefix.
    let option = |word: &str| word == "-bench" || word == "-test.bench";
    let at = line.iter().position(|w| option(w.split('=').next().unwrap_or_default()))?;
    match line[at].clone().split_once('=') {
        Some((name, _)) => line[at] = format!("{name}={pattern}"),
        None => *line.get_mut(at + 1)? = pattern,
    }
    Some(line)
}

fn add(suite: &mut SuiteReader, name: &str, pairs: &[(&str, &str)], line: u64) -> Result<(), Flaw> {
    let mut values: Vec<(&str, Option<f64>, String, Better)> = Vec::new();
    for &(text, unit) in pairs {
        if is_missing(text) {
            values.push((unit, None, unit.to_owned(), Better::Neither));
            continue;
        }
        let Some(value) = number(text).filter(|_| number(unit).is_none()) else {
            let message = format!("`{text} {unit}` is not a number with a unit");
            return Err(Flaw::line(line, message));
        };
        let (metric, (value, unit), better) = match unit {
            "ns/op" => ("time", unit::base(value, unit), Better::Lower),
            "MB/s" => ("throughput", (value * 1e6, "B/s".to_owned()), Better::Higher),
            "B/op" | "allocs/op" => (unit, (value, unit.to_owned()), Better::Lower),
            other => (other, (value, other.to_owned()), Better::from_unit(other)),
        };
        values.push((metric, Some(value), unit, better));
    }
    if values.iter().all(|v| v.1.is_none()) {
        return suite.fail(name, "it has no result");
    }
    // The time decides, also if the program reports a metric of its own before it.
    values.sort_by_key(|v| v.0 != "time");
    let values: Vec<SuiteValue<'_>> =
        values.iter().map(|v| (v.0, v.1, v.2.as_str(), v.3)).collect();
    suite.add(name, &values)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_setting_that_differs_is_part_of_the_name() {
        let names = |text: &str| -> Vec<String> {
            let results = read(text.as_bytes()).unwrap();
            let treatments = results.iter().flat_map(|result| &result.treatments);
            treatments.map(|t| format!("{:?}", t.levels)).collect()
        };
        let line = "BenchmarkA-2  1000  5 ns/op\n";
        let before = format!("goos: linux\nnote: before\n{line}");
        let both = names(&format!("{before}note: after it\n{line}{line}ok x\n"));
        let [first, second] = &both[..] else { panic!("{both:?}") };
        assert!(first.contains("BenchmarkA-2/note=before"), "{both:?}");
        assert!(second.contains("BenchmarkA-2/note=after_it"), "{both:?}");
        assert_eq!(names(&before), names(line));
        // Text that a benchmark prints before its result is not one.
        let printed = "BenchmarkA-2\nseed: 1\n1000 5 ns/op\nBenchmarkA-2\nseed: 2\n1000 5 ns/op\n";
        assert_eq!(names(printed), names(line));
    }

    #[test]
    fn a_filter_names_the_functions_of_the_benchmarks() {
        let names = ["BenchmarkA/x=1-8", "p.BenchmarkB-8", "BenchmarkA/x=2-8"];
        for (line, filtered) in [
            (
                "go test -run ^$ -bench . ./p",
                "go test -run ^$ -bench ^(BenchmarkA|BenchmarkB)$ ./p",
            ),
            ("p.test -test.bench=.", "p.test -test.bench=^(BenchmarkA|BenchmarkB)$"),
        ] {
            let words: Vec<String> = line.split(' ').map(str::to_owned).collect();
            assert_eq!(filter(&words, &names).unwrap().join(" "), filtered);
        }
        assert_eq!(filter(&["make".to_owned()], &names), None);
    }
}
