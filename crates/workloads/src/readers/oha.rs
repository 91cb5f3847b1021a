//! JSON output of oha: `--output-format json` (`--json` before version 1.6).

use assay_model::Better::{Higher, Lower};

use crate::readers::prelude::*;

pub(super) fn detect(bytes: &[u8]) -> bool {
    json::has_keys(bytes, &["summary", "summary.requestsPerSec"])
}

const PERCENTILES: [(f64, &str, &str); 5] = [
    (50.0, "p50", "latency.p50"),
    (90.0, "p90", "latency.p90"),
    (95.0, "p95", "latency.p95"),
    (99.0, "p99", "latency.p99"),
    (99.9, "p99.9", "latency.p99.9"),
];

pub(super) fn read(bytes: &[u8]) -> Result<Vec<ForeignResult>, Flaw> {
    let file = json::value_at(bytes, "\n{")?;
    let root = Json::root(&file);
    let mut suite = SuiteReader::new("oha", "oha");
    let summary = root.get("summary");
    let of = |key: &str| summary.get(key).amount();
    let mut latency = Figures {
        mean: of("average")?,
        min: of("fastest")?,
        max: of("slowest")?,
        ..Figures::default()
    };
    let mut values = vec![
        ("throughput", of("requestsPerSec")?, "requests/s", Higher),
        ("latency.mean", latency.mean, "s", Lower),
        ("latency.min", latency.min, "s", Lower),
        ("latency.max", latency.max, "s", Lower),
        ("success", of("successRate")?, "1", Higher),
        ("transfer", of("sizePerSec")?, "B/s", Higher),
    ];
    for (percent, key, name) in PERCENTILES {
        if let Some(value) = root.get("latencyPercentiles").get(key).amount()? {
            latency.percentiles.push((percent, value));
            values.push((name, Some(value), "s", Lower));
        }
    }
    let counts = ["statusCodeDistribution", "errorDistribution"];
    let counts = counts.iter().flat_map(|key| root.get(key).fields().collect::<Vec<_>>());
    let count: f64 = counts.filter_map(|(_, n)| n.value().as_f64()).sum();
    let rate = Figures {
        rate: of("requestsPerSec")?,
        count: Some(count).filter(|n| *n > 0.0),
        seconds: of("total")?,
        ..Figures::default()
    };
    let codes = root.get("statusCodeDistribution");
    let failed = codes.fields().filter(|(code, _)| *code >= "400");
    let failed: f64 = failed.filter_map(|(_, n)| n.value().as_f64()).sum();
    values.push(("errors", Some(failed), "1", Lower));
    let trial = suite.add("", &values)?;
    if of("successRate")? == Some(0.0) {
        // The rate of oha counts requests that failed.
        trial.fail("no request succeeded");
    }
    trial.hold(&["throughput"], &rate);
    trial.hold(&["latency"], &latency);
    suite.finish("give the output of `oha --output-format json`")
}
