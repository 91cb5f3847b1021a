//! Reads a kit's metrics from its program's output, files and resource usage.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs::{self, File};
use std::io::Read;
use std::path::{Component, Path, PathBuf};

use assay_model::{Merge, MetricKind, MetricValue, Scalar, units, wildcard_matches};
use serde_json::Value;

use super::format::{KitText, MetricRow, MetricSource};
use super::result::Results;
use super::template::{Values, render};
use crate::FinishedProgram;
use crate::driver::process_metrics;
use crate::pattern::{NAME, Pattern};
use crate::readers::{BENCHMARKS, geometric_mean};

/// Maximum size of a metrics file in bytes.
const FILE_LIMIT: u64 = 64 << 20;
/// Maximum number of values of a metric over several files, keys or names.
const FAMILY_LIMIT: usize = 5_000;

/// Returns true if a row is read at several places: files and keys by `*`, lines by `{name}`.
pub(crate) fn is_family(row: &MetricRow) -> bool {
    let has =
        |text: &Option<KitText>, mark| text.as_ref().is_some_and(|t| t.get_ref().contains(mark));
    has(&row.path, "*") || has(&row.json, "/*") || is_named(row)
}

/// Returns true if a row's pattern gives each number a name.
pub(crate) fn is_named(row: &MetricRow) -> bool {
    row.pattern.as_ref().is_some_and(|pattern| pattern.get_ref().contains(NAME))
}

/// Returns the kind of a metric.
pub(crate) fn kind(row: &MetricRow) -> MetricKind {
    match row.from {
        MetricSource::Quotient | MetricSource::Result => MetricKind::Derived,
        _ if is_family(row) => MetricKind::Derived,
        _ => MetricKind::Measured,
    }
}

/// Returns the default rule for merging a metric from that source over nodes.
pub(crate) fn merge(source: MetricSource) -> Option<Merge> {
    matches!(source, MetricSource::User | MetricSource::System).then_some(Merge::Sum)
}

/// Returns true if a metric does not depend on a clock: it is declared as counted, is a memory or
/// file size, or is a quotient of such metrics and numbers.
pub(crate) fn counted(rows: &[MetricRow], row: &MetricRow) -> bool {
    let plain = |row: &MetricRow| {
        row.counted || matches!(row.from, MetricSource::Size | MetricSource::PeakMemory)
    };
    // An operand that names no metric is a number.
    let part = |text: &Option<KitText>| {
        let name = text.as_ref().map(|text| text.get_ref());
        rows.iter().find(|r| Some(r.name.get_ref()) == name).is_none_or(plain)
    };
    plain(row) || row.from == MetricSource::Quotient && part(&row.dividend) && part(&row.divisor)
}

/// Returns the values of all metrics except those that the program reports itself, and a note for
/// each that is unavailable (its value is then `None`). Quotients are computed after the metrics
/// that they refer to; the result is in the order of the file.
pub(crate) fn read(
    rows: &[MetricRow],
    values: &Values,
    finished: &FinishedProgram<'_>,
    results: Option<&Result<Results, String>>,
) -> (Vec<MetricValue>, Vec<String>) {
    let mut metrics: Vec<MetricValue> = Vec::new();
    let (mut benchmarks, mut notes) = (Vec::new(), Vec::new());
    let of = |quotients: bool| {
        rows.iter().filter(move |r| (r.from == MetricSource::Quotient) == quotients)
    };
    for row in of(false).chain(of(true)).filter(|row| row.from != MetricSource::Protocol) {
        let name = row.name.get_ref();
        let of_row = |name: &str, value: Result<f64, String>, notes: &mut Vec<String>| {
            let value = value
                .map(|v| v * row.scale.unwrap_or(1.0))
                .and_then(|v| if v.is_finite() { Ok(v) } else { Err("it is not finite".into()) });
            if let Err(reason) = &value {
                notes.push(format!("cannot read the metric `{name}`: {reason}"));
            }
            let (unit, kind) = (row.unit.get_ref().clone(), kind(row));
            let metric = MetricValue::new(name, value.ok(), unit, row.better, kind);
            MetricValue { counted: counted(rows, row), ..metric }
        };
        if !is_family(row) {
            let value = value(row, values, finished, results, &metrics);
            metrics.push(of_row(name, value, &mut notes));
            continue;
        }
        match family(row, values, finished) {
            Err(reason) => metrics.push(of_row(name, Err(reason), &mut notes)),
            Ok(members) => {
                let each = members.into_iter().map(|(name, value)| {
                    let kind = MetricKind::Measured;
                    MetricValue { benchmark: true, kind, ..of_row(&name, value, &mut notes) }
                });
                benchmarks.extend(each);
                let mean = geometric_mean(&benchmarks, &mut notes);
                metrics.push(MetricValue { name: name.clone(), ..mean });
            }
        }
    }
    metrics.sort_by_key(|m| rows.iter().position(|row| *row.name.get_ref() == m.name));
    metrics.extend(benchmarks);
    (metrics, notes)
}

/// Values of a metric by name, or the reason why one is missing.
type Family = Vec<(String, Result<f64, String>)>;

/// Reads a metric at all places that its row names.
///
/// # Errors
/// Fails if no place matches, if too many do, or if two values have one name.
fn family(
    row: &MetricRow,
    values: &Values,
    finished: &FinishedProgram<'_>,
) -> Result<Family, String> {
    let mut found = Family::new();
    match row.from {
        MetricSource::Stdout => family_in(row, "", finished.stdout, &mut found)?,
        MetricSource::Stderr => family_in(row, "", finished.stderr, &mut found)?,
        _ => {
            for (name, file) in matching_files(&path(row, values)?)? {
                if row.from == MetricSource::Size {
                    found.push((name, size_of(&file)));
                } else {
                    family_in(row, &name, &bytes_of(&file)?, &mut found)?;
                }
            }
        }
    }
    if found.len() > FAMILY_LIMIT {
        return Err(format!("it has more than {FAMILY_LIMIT} values"));
    }
    let mut names: Vec<&str> = found.iter().map(|(name, _)| name.as_str()).collect();
    names.sort_unstable();
    match names.windows(2).find(|pair| pair[0] == pair[1]) {
        Some(pair) => Err(format!("two values are named `{}`", pair[0])),
        None if found.is_empty() => Err("no place matches".to_owned()),
        None => Ok(found),
    }
}

/// Adds the values in one text; `file` is the name that the file's path gives.
fn family_in(row: &MetricRow, file: &str, bytes: &[u8], found: &mut Family) -> Result<(), String> {
    let joined = |name: &str| match (file, name) {
        ("", name) => name.to_owned(),
        (file, "") => file.to_owned(),
        (file, name) => format!("{file}/{name}"),
    };
    if let Some(pointer) = &row.json {
        let keys: Vec<&str> = pointer.get_ref().split('/').skip(1).collect();
        let mut members = Vec::new();
        let json = serde_json::from_slice(bytes).map_err(|e| format!("not JSON: {e}"))?;
        json_members(&json, &keys, "", &mut members);
        let missing = || format!("there is no number at `{}`", pointer.get_ref());
        found.extend(members.into_iter().map(|(n, v)| (joined(&n), v.ok_or_else(missing))));
        return Ok(());
    }
    if !is_named(row) {
        found.push((joined(""), number(row, bytes)));
        return Ok(());
    }
    let pattern = Pattern::parse(row.pattern.as_ref().map_or("", |t| t.get_ref()));
    let pattern = pattern.map_err(|e| e.to_string())?;
    for number in pattern.all(&String::from_utf8_lossy(bytes)) {
        let number = number.map_err(|e| e.to_string())?;
        found.push((joined(number.name.unwrap_or_default()), Ok(number.value)));
    }
    Ok(())
}

/// Adds the numbers at a JSON pointer in which `*` matches any key or position. An element of an
/// array is named by its key `name`, if it has one, else by its position.
fn json_members(json: &Value, keys: &[&str], name: &str, found: &mut Vec<(String, Option<f64>)>) {
    let Some((key, rest)) = keys.split_first() else {
        found.push((name.to_owned(), json.as_f64()));
        return;
    };
    let below = |own: &str| if name.is_empty() { own.to_owned() } else { format!("{name}/{own}") };
    match json {
        Value::Object(members) if *key == "*" => {
            members.iter().for_each(|(k, v)| json_members(v, rest, &below(k), found));
        }
        Value::Array(members) if *key == "*" => {
            for (i, member) in members.iter().enumerate() {
                let own = member.get("name").and_then(Value::as_str).map(str::to_owned);
                json_members(member, rest, &below(&own.unwrap_or(i.to_string())), found);
            }
        }
        _ => match json.pointer(&format!("/{key}")) {
            Some(member) => json_members(member, rest, name, found),
            None => found.push((name.to_owned(), None)),
        },
    }
}

/// Returns the files whose path matches, in order, each with the text at the `*` of its path.
fn matching_files(pattern: &Path) -> Result<Vec<(String, PathBuf)>, String> {
    let mut found = vec![(String::new(), PathBuf::new())];
    for component in pattern.components() {
        let wildcard = match component {
            Component::Normal(text) => text.to_str().filter(|text| text.contains('*')),
            _ => None,
        };
        let Some(wildcard) = wildcard else {
            for (_, path) in &mut found {
                path.push(component);
            }
            continue;
        };
        let mut below = BTreeMap::new();
        for (name, dir) in &found {
            // A path that matched so far may be a file, which has nothing below it.
            let Ok(entries) = fs::read_dir(dir) else { continue };
            for entry in entries.flatten() {
                let own: OsString = entry.file_name();
                let Some(own) = own.to_str().filter(|own| wildcard_matches(wildcard, own)) else {
                    continue;
                };
                let (before, after) = wildcard.split_once('*').unwrap_or_default();
                let text = &own[before.len()..own.len() - after.len()];
                let name = if name.is_empty() { text.to_owned() } else { format!("{name}/{text}") };
                below.insert(dir.join(own), name);
                if below.len() > FAMILY_LIMIT {
                    return Err(format!("more than {FAMILY_LIMIT} files match"));
                }
            }
        }
        found = below.into_iter().map(|(path, name)| (name, path)).collect();
    }
    found.retain(|(_, path)| path.is_file());
    Ok(found)
}

fn value(
    row: &MetricRow,
    values: &Values,
    finished: &FinishedProgram<'_>,
    results: Option<&Result<Results, String>>,
    before: &[MetricValue],
) -> Result<f64, String> {
    let process = |name: &str| {
        process_metrics::value(name, finished.resources)
            .ok_or_else(|| format!("the kernel did not report {name}"))
    };
    match row.from {
        MetricSource::Elapsed => process("elapsed"),
        MetricSource::User => process("user"),
        MetricSource::System => process("system"),
        MetricSource::PeakMemory => process("peak_memory"),
        MetricSource::Stdout => number(row, finished.stdout),
        MetricSource::Stderr => number(row, finished.stderr),
        MetricSource::File => number(row, &bytes_of(&path(row, values)?)?),
        MetricSource::Size => size_of(&path(row, values)?),
        MetricSource::Quotient => {
            let operand = |text: Option<&str>| operand(text.unwrap_or_default(), values, before);
            let dividend = operand(row.dividend.as_ref().map(|t| t.get_ref().as_str()))?;
            let divisor = operand(row.divisor.as_ref().map(|t| t.get_ref().as_str()))?;
            if divisor == 0.0 { Err("the divisor is 0".into()) } else { Ok(dividend / divisor) }
        }
        MetricSource::Protocol => Err("the program reports it".into()),
        MetricSource::Result => {
            let item = row.item.as_ref().map_or(BENCHMARKS, |item| item.get_ref());
            match results {
                Some(Ok(results)) => results.item(item, row.unit.get_ref()),
                Some(Err(reason)) => Err(reason.clone()),
                None => Err("the kit has no [result]".into()),
            }
        }
    }
}

fn size_of(path: &Path) -> Result<f64, String> {
    let size = path.metadata().map(|m| m.len() as f64);
    size.map_err(|e| format!("read {}: {e}", path.display()))
}

fn path(row: &MetricRow, values: &Values) -> Result<PathBuf, String> {
    let text = row.path.as_ref().map(|t| t.get_ref().as_str()).unwrap_or_default();
    Ok(render(text, values)?.into())
}

pub(crate) fn bytes_of(path: &Path) -> Result<Vec<u8>, String> {
    let mut bytes = Vec::new();
    File::open(path)
        .and_then(|file| file.take(FILE_LIMIT + 1).read_to_end(&mut bytes))
        .map_err(|e| format!("read {}: {e}", path.display()))?;
    if bytes.len() as u64 > FILE_LIMIT {
        let limit = units::format_bytes(FILE_LIMIT);
        return Err(format!("{} is larger than {limit}", path.display()));
    }
    Ok(bytes)
}

/// Returns the number that the row's pattern or JSON pointer selects.
fn number(row: &MetricRow, bytes: &[u8]) -> Result<f64, String> {
    if let Some(pointer) = &row.json {
        let json: Value = serde_json::from_slice(bytes).map_err(|e| format!("not JSON: {e}"))?;
        return json
            .pointer(pointer.get_ref())
            .and_then(Value::as_f64)
            .ok_or_else(|| format!("there is no number at `{}`", pointer.get_ref()));
    }
    let pattern = row.pattern.as_ref().map(|t| t.get_ref().as_str()).unwrap_or_default();
    let (text, take) = (String::from_utf8_lossy(bytes), row.take.unwrap_or_default());
    let found = Pattern::parse(pattern).and_then(|p| p.find(&text, take).map(|n| n.value));
    found.map_err(|e| e.to_string())
}

fn operand(text: &str, values: &Values, before: &[MetricValue]) -> Result<f64, String> {
    if let Some(metric) = before.iter().find(|m| m.name == text) {
        return metric.value.ok_or_else(|| format!("`{text}` is missing"));
    }
    let text = render(text, values)?;
    let text = text.to_string_lossy();
    amount(&text).ok_or_else(|| format!("`{text}` is not a number, a size or a duration"))
}

/// Parses a number, a size (to bytes) or a duration (to seconds).
pub(crate) fn amount(text: &str) -> Option<f64> {
    Scalar::from(text)
        .as_f64()
        .filter(|v| v.is_finite())
        .or_else(|| units::parse_bytes(text).ok().map(|b| b as f64))
        .or_else(|| units::parse_duration(text).ok().map(|d| d.as_secs_f64()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_are_declared_or_made_of_counts() {
        let kits = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../kits");
        let of = |kit: &str, name: &str| {
            let kit = crate::kit::Kit::load(&kits.join(kit), None).unwrap();
            let metric = crate::Workload::spec(&kit).metric(name).unwrap();
            metric.counted
        };
        // Counted: a file size, a memory size, and a quotient of file sizes.
        for name in ["compressed_size", "peak_memory", "ratio"] {
            assert!(of("zstd", name), "{name}");
        }
        // Not counted: a ratio of times, even though it has no unit.
        assert!(!of("speccpu2017", "ratio"));
    }
}
