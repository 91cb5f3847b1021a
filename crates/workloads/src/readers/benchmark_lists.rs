//! Lists of named values that programs write for services: github-action-benchmark's
//! (`customSmallerIsBetter`, `customBiggerIsBetter`) and Bencher's (BMF). Neither states how often
//! a value was measured.

use assay_model::Better;
use serde_json::Value;

use crate::readers::file::unit::{multiple, scaled};
use crate::readers::prelude::*;

pub(super) fn detect_list(bytes: &[u8]) -> bool {
    json::has_keys(bytes, &["[].name", "[].unit", "[].value"])
}

/// Reads `[{"name": ..., "unit": ..., "value": ...}]`. The file does not state which direction is
/// better, so it follows from the unit.
pub(super) fn read_list(bytes: &[u8]) -> Result<Vec<ForeignResult>, Flaw> {
    let file = json::value(bytes)?;
    let mut suite = SuiteReader::new("github-action-benchmark", "benchmark-list");
    for entry in Json::root(&file).entries()? {
        let (factor, unit) = multiple(entry.name("unit")?);
        let value = entry.get("value").number()?.map(|v| scaled(v, factor));
        let values = [("value", value, unit.as_str(), Better::from_unit(&unit))];
        suite.add(entry.name("name")?, &values)?;
    }
    suite.finish("give a list of objects with `name`, `unit` and `value`")
}

pub(super) fn detect_bmf(bytes: &[u8]) -> bool {
    // The keys near the top exclude most other files without reading them whole.
    if !json::keys(bytes).iter().any(|key| key.split('.').next_back() == Some("value")) {
        return false;
    }
    let Ok(file) = json::value(bytes) else { return false };
    let Some(benchmarks) = file.as_object() else { return false };
    let measures = || benchmarks.values().filter_map(Value::as_object);
    measures().count() == benchmarks.len()
        && measures().any(|m| !m.is_empty())
        && measures().flat_map(|m| m.values()).all(|v| v.get("value").is_some_and(Value::is_number))
}

/// Reads `{"benchmark": {"measure": {"value": ..., "lower_value": ..., "upper_value": ...}}}`. The
/// bounds say nothing about the value: some tools write its deviation there.
pub(super) fn read_bmf(bytes: &[u8]) -> Result<Vec<ForeignResult>, Flaw> {
    let file = json::value(bytes)?;
    let mut suite = SuiteReader::new("Bencher", "bmf");
    for (name, measures) in Json::root(&file).object()?.fields() {
        let mut first = None;
        for (measure, json) in measures.object()?.fields() {
            // Bencher's own measures have these units; others have none in the file.
            let (factor, unit, better) = match measure {
                "latency" => (1e-9, "s", Better::Lower),
                "throughput" => (1.0, "ops/s", Better::Higher),
                _ => (1.0, "1", Better::Neither),
            };
            let value = json.get("value").number()?.map(|v| scaled(v, factor));
            match first {
                None => {
                    suite.add(name, &[(measure, value, unit, better)])?;
                    first = Some(suite.result().trials.len() - 1);
                }
                Some(trial) => suite.also(trial, (measure, value, unit, better))?,
            }
        }
    }
    suite.finish("give Bencher Metric Format: {\"benchmark\": {\"measure\": {\"value\": 1}}}")
}
