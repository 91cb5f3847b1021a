//! The summary of k6: `--summary-export FILE`, or the JSON that `handleSummary` gets. Times are in
//! milliseconds.

use assay_model::Better::{Higher, Lower, Neither};

use crate::readers::prelude::*;

pub(super) fn detect(bytes: &[u8]) -> bool {
    json::has_keys(bytes, &["metrics", "root_group"])
        && (json::has_keys(bytes, &["metrics.iterations"])
            || json::has_keys(bytes, &["metrics.http_reqs"]))
}

/// Returns the name of a figure of a trend: `avg` is the mean, `p(95)` a percentile.
fn figure(key: &str) -> Option<(String, Option<f64>)> {
    let percent = key.strip_prefix("p(").and_then(|p| p.strip_suffix(')'));
    match (key, percent) {
        ("avg", _) => Some(("mean".to_owned(), None)),
        ("med", _) => Some(("p50".to_owned(), Some(50.0))),
        ("min" | "max", _) => Some((key.to_owned(), None)),
        (_, Some(percent)) => Some((format!("p{percent}"), percent.parse().ok())),
        _ => None,
    }
}

pub(super) fn read(bytes: &[u8]) -> Result<Vec<ForeignResult>, Flaw> {
    let file = json::value(bytes)?;
    let root = Json::root(&file);
    let mut suite = SuiteReader::new("k6", "k6");
    let metrics = root.get("metrics");
    let first =
        ["http_reqs", "iterations"].into_iter().find(|m| metrics.get(m).value().is_object());
    let mut names: Vec<(&str, Json<'_>)> = metrics.fields().collect();
    // The rate of requests decides.
    names.sort_by_key(|(name, _)| Some(*name) != first);
    suite.add("", &[])?;
    for (name, json) in names {
        let is_time = json.get("contains").text()?.is_none_or(|c| c == "time");
        let own = json.get("values");
        let of = if own.value().is_object() { own } else { json.clone() };
        let trend = !of.get("avg").value().is_null();
        let mut figures = Figures::default();
        let mut tried = Vec::new();
        for (key, value) in of.fields() {
            let Some(number) = value.value().as_f64() else { continue };
            if let (true, Some((figure, percent))) = (trend, figure(key)) {
                let (number, unit) = if is_time { (number / 1e3, "s") } else { (number, "1") };
                match figure.as_str() {
                    "mean" => figures.mean = Some(number),
                    "min" => figures.min = Some(number),
                    "max" => figures.max = Some(number),
                    _ => figures.percentiles.extend(percent.map(|p| (p, number))),
                }
                tried.push((format!("{name}.{figure}"), number, unit, Lower));
            } else if key == "rate" && Some(name) == first {
                tried.insert(0, ("throughput".to_owned(), number, "requests/s", Higher));
            } else if key == "rate" && !of.get("passes").value().is_null() {
                tried.push((name.to_owned(), number, "1", Neither));
            } else if matches!(key, "count" | "passes" | "fails" | "value") {
                tried.push((format!("{name}.{key}"), number, "1", Neither));
            }
        }
        for (metric, number, unit, better) in &tried {
            suite.also(0, (metric, Some(*number), unit, *better))?;
        }
        suite.result().trials[0].hold(&[name], &figures);
    }
    suite.finish("give the file of `k6 run --summary-export FILE`")
}
