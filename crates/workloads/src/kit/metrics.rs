//! Reads a kit's metrics from its program's output, files and resource usage.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use assay_model::{Merge, MetricKind, MetricValue, Scalar, units};

use super::format::{KitText, MetricRow, MetricSource};
use super::pattern::Pattern;
use super::result::Results;
use super::template::{Values, render};
use crate::FinishedProgram;
use crate::driver::process_metrics;

/// Maximum size of a metrics file in bytes.
const FILE_LIMIT: u64 = 64 << 20;

/// Returns the kind of a metric from that source.
pub(crate) fn kind(source: MetricSource) -> MetricKind {
    match source {
        MetricSource::Quotient | MetricSource::Result => MetricKind::Derived,
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
        let name = text.as_ref().map(toml::Spanned::get_ref);
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
    let mut notes = Vec::new();
    let of = |quotients: bool| {
        rows.iter().filter(move |r| (r.from == MetricSource::Quotient) == quotients)
    };
    for row in of(false).chain(of(true)).filter(|row| row.from != MetricSource::Protocol) {
        let name = row.name.get_ref();
        let value = value(row, values, finished, results, &metrics)
            .map(|v| v * row.scale.unwrap_or(1.0))
            .and_then(|v| if v.is_finite() { Ok(v) } else { Err("it is not finite".into()) });
        if let Err(reason) = &value {
            notes.push(format!("cannot read the metric `{name}`: {reason}"));
        }
        let (unit, kind) = (row.unit.get_ref().clone(), kind(row.from));
        let metric = MetricValue::new(name.clone(), value.ok(), unit, row.better, kind);
        metrics.push(MetricValue { counted: counted(rows, row), ..metric });
    }
    metrics.sort_by_key(|m| rows.iter().position(|row| *row.name.get_ref() == m.name));
    (metrics, notes)
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
        MetricSource::Size => {
            let path = path(row, values)?;
            path.metadata()
                .map(|m| m.len() as f64)
                .map_err(|e| format!("read {}: {e}", path.display()))
        }
        MetricSource::Quotient => {
            let operand = |text: Option<&str>| operand(text.unwrap_or_default(), values, before);
            let dividend = operand(row.dividend.as_ref().map(|t| t.get_ref().as_str()))?;
            let divisor = operand(row.divisor.as_ref().map(|t| t.get_ref().as_str()))?;
            if divisor == 0.0 { Err("the divisor is 0".into()) } else { Ok(dividend / divisor) }
        }
        MetricSource::Protocol => Err("the program reports it".into()),
        MetricSource::Result => match (results, row.item) {
            (Some(Ok(results)), Some(item)) => results.item(item),
            (Some(Err(reason)), _) => Err(reason.clone()),
            _ => Err("the kit has no [result]".into()),
        },
    }
}

fn path(row: &MetricRow, values: &Values) -> Result<std::path::PathBuf, String> {
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
        let json: serde_json::Value =
            serde_json::from_slice(bytes).map_err(|e| format!("not JSON: {e}"))?;
        return json
            .pointer(pointer.get_ref())
            .and_then(serde_json::Value::as_f64)
            .ok_or_else(|| format!("there is no number at `{}`", pointer.get_ref()));
    }
    let pattern = row.pattern.as_ref().map(|t| t.get_ref().as_str()).unwrap_or_default();
    let (text, take) = (String::from_utf8_lossy(bytes), row.take.unwrap_or_default());
    Pattern::parse(pattern).and_then(|p| p.find(&text, take)).map_err(|e| e.to_string())
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
