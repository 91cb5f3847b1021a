//! JSON of BenchmarkDotNet (`--exporters json`). Times are in nanoseconds. The iterations of a
//! benchmark are repetitions inside one process; its value is their mean.

use assay_model::Better::Lower;

use crate::readers::prelude::*;

pub(super) fn detect(bytes: &[u8]) -> bool {
    json::has_keys(bytes, &["Benchmarks", "HostEnvironmentInfo"])
}

pub(super) fn read(bytes: &[u8]) -> Result<Vec<ForeignResult>, Flaw> {
    let file = json::value(bytes)?;
    let root = Json::root(&file);
    let mut suite = SuiteReader::new("BenchmarkDotNet", "benchmark-dotnet");
    let host = root.get("HostEnvironmentInfo");
    suite.result().version = host.get("BenchmarkDotNetVersion").text()?.map(str::to_owned);
    suite.result().fact("os.name", host.get("OsVersion").text_or_empty());
    suite.result().fact("toolchain.dotnet.version", host.get("RuntimeVersion").text_or_empty());
    for entry in root.get("Benchmarks").entries()? {
        let full = entry.get("FullName").text()?;
        let name = full.map_or_else(|| named(&entry), |full| Ok(full.to_owned()))?;
        let stats = entry.get("Statistics");
        if stats.value().is_null() {
            suite.fail(&name, "it has no statistics, so the benchmark failed")?;
            continue;
        }
        let seconds = |key: &str| Ok::<_, Flaw>(stats.get(key).amount()?.map(|ns| ns / 1e9));
        let values: Option<Vec<f64>> = stats
            .get("OriginalValues")
            .items()
            .map(|v| v.value().as_f64().map(|ns| ns / 1e9))
            .collect();
        let figures = Figures {
            values: values.as_deref().unwrap_or_default(),
            mean: seconds("Mean")?,
            min: seconds("Min")?,
            max: seconds("Max")?,
            percentiles: seconds("Median")?.map(|v| (50.0, v)).into_iter().collect(),
            ..Figures::default()
        };
        let memory = entry.get("Memory").get("BytesAllocatedPerOperation").amount()?;
        let mut values = vec![
            ("time", figures.mean, "s", Lower),
            ("time.median", seconds("Median")?, "s", Lower),
        ];
        values.extend(memory.map(|bytes| ("allocated", Some(bytes), "B", Lower)));
        suite.add(&name, &values)?.hold(&["time"], &figures);
    }
    suite.finish("give a JSON report of BenchmarkDotNet")
}

/// Returns the name of a benchmark in reports without `FullName`.
fn named(entry: &Json<'_>) -> Result<String, Flaw> {
    let parts = [entry.get("Namespace"), entry.get("Type")].map(|p| p.text_or_empty());
    let method = entry.name("Method")?;
    let parts = parts.into_iter().filter(|p| !p.is_empty());
    let name = parts.chain([method]).collect::<Vec<_>>().join(".");
    Ok(match entry.get("Parameters").text_or_empty() {
        "" => name,
        parameters => format!("{name}({parameters})"),
    })
}
