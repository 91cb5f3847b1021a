//! The raw file (`.rsf`) of SPEC CPU: a line a value, `spec.cpu2017.results.505_mcf_r.base.000.ratio: 4.2`.

use std::collections::BTreeMap;

use super::decode;
use super::error::Flaw;
use super::result::ForeignResult;
use super::spec::{self, SpecRun};

/// The suites that are read, as lines begin.
const SUITES: [&str; 3] = ["spec.cpu2017.", "spec.cpu2006.", "spec.cpu2000."];

pub(super) fn detect(bytes: &[u8]) -> bool {
    let bytes = &bytes[..bytes.len().min(1 << 20)];
    decode::text(bytes).lines().any(|l| SUITES.iter().any(|s| l.starts_with(s)))
}

/// The fields of one run, with the line of each.
type Fields<'a> = BTreeMap<&'a str, (u64, &'a str)>;

pub(super) fn read(bytes: &[u8]) -> Result<Vec<ForeignResult>, Flaw> {
    let text = decode::text(bytes);
    let mut result = spec::empty();
    // By benchmark, tuning and number.
    let mut order: Vec<(&str, &str, &str)> = Vec::new();
    let mut runs: BTreeMap<(&str, &str, &str), Fields<'_>> = BTreeMap::new();
    let mut top: Fields<'_> = BTreeMap::new();
    for (i, line) in text.lines().enumerate() {
        let number = i as u64 + 1;
        let Some(suite) = SUITES.iter().find(|s| line.starts_with(**s)) else { continue };
        let rest = &line[suite.len()..];
        let Some((key, told)) = rest.split_once(": ").or(rest.split_once(':')) else {
            return Err(Flaw::line(number, "a line `spec....` has no `:` and value"));
        };
        let told = told.trim();
        match key.strip_prefix("results.") {
            None => {
                top.insert(key, (number, told));
            }
            Some(key) => {
                let mut parts = key.splitn(4, '.');
                let (Some(benchmark), Some(tune), Some(run), Some(field)) =
                    (parts.next(), parts.next(), parts.next(), parts.next())
                else {
                    continue; // facts about all runs of a benchmark
                };
                let of = (benchmark, tune, run);
                if !runs.contains_key(&of) {
                    order.push(of);
                }
                runs.entry(of).or_default().insert(field, (number, told));
            }
        }
    }
    for of in order {
        if let Some(fields) = runs.get(&of) {
            spec::add(&mut result, run(of, fields)?);
        }
    }
    if result.trials.is_empty() {
        return Err(Flaw::whole("it has no timed run of a benchmark"));
    }
    describe(&mut result, &top)?;
    Ok(vec![result])
}

fn run(of: (&str, &str, &str), fields: &Fields<'_>) -> Result<SpecRun, Flaw> {
    let number = |name: &str| number(fields, name);
    let time = match number("reported_time")? {
        Some(time) => Some(time),
        None => number("reported_sec")?
            .map(|s| Ok::<f64, Flaw>(s + number("reported_nsec")?.unwrap_or(0.0) * 1e-9))
            .transpose()?,
    };
    let mut parallel = None;
    for name in ["copies", "threads"] {
        if parallel.is_none() {
            parallel = number(name)?.map(|n| (name, n as i64));
        }
    }
    let word = |name: &str| fields.get(name).map(|(_, told)| (*told).to_owned());
    Ok(SpecRun {
        benchmark: word("benchmark").unwrap_or_else(|| of.0.replacen('_', ".", 1)),
        tune: of.1.to_owned(),
        time,
        ratio: match number("ratio")? {
            Some(ratio) => Some(ratio),
            None => number("rate")?,
        },
        parallel,
        selected: word("selected").as_deref() == Some("1"),
        status: word("valid").unwrap_or_else(|| "S".to_owned()),
    })
}

/// A number from 0; `None` where there is none, or the `--` of a run that has none.
fn number(fields: &Fields<'_>, name: &str) -> Result<Option<f64>, Flaw> {
    match fields.get(name) {
        None | Some((_, "" | "--" | "NA" | "X")) => Ok(None),
        Some((line, told)) => match told.parse::<f64>() {
            Ok(v) if v.is_finite() && v >= 0.0 => Ok(Some(v)),
            _ => Err(Flaw::line(*line, format!("`{name}` is `{told}`, and not a number from 0"))),
        },
    }
}

fn describe(result: &mut ForeignResult, top: &Fields<'_>) -> Result<(), Flaw> {
    let word = |name: &str| top.get(name).map(|(_, told)| *told);
    result.version = word("suitever").map(str::to_owned);
    for tune in ["base", "peak"] {
        if let Some(mean) = number(top, &format!("{tune}mean"))?.filter(|m| *m > 0.0) {
            let units = word(&format!("{tune}units")).unwrap_or("");
            let name = if units.is_empty() { format!("{tune} mean") } else { units.to_owned() };
            spec::overall(result, &name, mean);
        }
    }
    let told = |prefix: &str| {
        let of = |(k, (_, v)): (&&str, &(u64, &str))| ((*k).to_owned(), (*v).to_owned());
        let wanted = top.iter().filter(|(k, _)| k.starts_with(prefix));
        wanted.map(of).collect::<Vec<(String, String)>>()
    };
    // A value of several lines has keys that end in 000, 001, ...
    let mut facts: BTreeMap<String, String> = BTreeMap::new();
    for (key, value) in told("hw_").into_iter().chain(told("sw_")).chain(told("test_")) {
        let digits = key.len().saturating_sub(3);
        let numbered = key.is_char_boundary(digits)
            && key[digits..].len() == 3
            && key[digits..].bytes().all(|b| b.is_ascii_digit());
        let name = if numbered { key[..digits].to_owned() } else { key };
        let so_far = facts.entry(name).or_default();
        if !so_far.is_empty() {
            so_far.push(' ');
        }
        so_far.push_str(&value);
    }
    for (name, value) in &facts {
        spec::fact(result, name, value);
    }
    for name in ["tester", "license_num", "size", "toolset"] {
        if let Some(value) = word(name) {
            spec::fact(result, name, value);
        }
    }
    let invalid = word("invalid").is_some_and(|v| v != "0" && !v.is_empty());
    let estimate = word("reportable") == Some("0");
    spec::compliance(result, estimate, invalid);
    Ok(())
}
