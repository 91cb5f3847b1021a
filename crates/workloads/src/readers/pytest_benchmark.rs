//! JSON of pytest-benchmark (`--benchmark-json FILE`). The rounds of a benchmark are repetitions
//! inside one process; its value is their mean.

use assay_model::Better::{Higher, Lower};

use crate::readers::prelude::*;

pub(super) fn detect(bytes: &[u8]) -> bool {
    json::has_keys(bytes, &["benchmarks", "machine_info"])
        || json::has_keys(bytes, &["benchmarks[].fullname", "benchmarks[].stats"])
}

pub(super) fn read(bytes: &[u8]) -> Result<Vec<ForeignResult>, Flaw> {
    let file = json::value(bytes)?;
    let root = Json::root(&file);
    let mut suite = SuiteReader::new("pytest-benchmark", "pytest-benchmark");
    describe(suite.result(), &root)?;
    for entry in root.get("benchmarks").entries()? {
        let full = entry.get("fullname").text()?;
        let name = full.map_or_else(|| entry.name("name"), Ok)?;
        let stats = entry.get("stats");
        let of = |key: &str| stats.get(key).amount();
        let (mean, min, max, ops) = (of("mean")?, of("min")?, of("max")?, of("ops")?);
        let data = stats.get("data");
        let data: Option<Vec<f64>> = data
            .items()
            .map(|v| v.value().as_f64())
            .collect::<Option<_>>()
            .filter(|d: &Vec<_>| !d.is_empty());
        let values = [
            ("time", mean, "s", Lower),
            ("time.min", min, "s", Lower),
            ("time.median", of("median")?, "s", Lower),
            ("time.max", max, "s", Lower),
            ("operations", ops, "ops/s", Higher),
        ];
        let figures = Figures {
            values: data.as_deref().unwrap_or_default(),
            mean,
            min,
            max,
            rate: ops,
            count: of("rounds")?,
            seconds: of("total")?,
            ..Figures::default()
        };
        suite.add(name, &values)?.hold(&["time", "operations"], &figures);
    }
    suite.finish("give the file of `pytest --benchmark-json FILE`")
}

fn describe(result: &mut ForeignResult, root: &Json<'_>) -> Result<(), Flaw> {
    let machine = root.get("machine_info");
    result.version = root.get("version").text()?.map(str::to_owned);
    result.host = machine.get("node").text()?.map(str::to_owned);
    result.fact("toolchain.python.version", machine.get("python_version").text_or_empty());
    result.fact("kernel.release", machine.get("release").text_or_empty());
    result.fact("cpu.model", machine.get("cpu").get("brand_raw").text_or_empty());
    let time = root.get("datetime").text()?.and_then(|t| t.parse::<jiff::Timestamp>().ok());
    result.measured_at = time.map(|t| t.to_string());
    Ok(())
}
