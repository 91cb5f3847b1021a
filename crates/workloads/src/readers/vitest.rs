//! JSON of `vitest bench --outputJson FILE`. Times are in milliseconds; the samples of a benchmark
//! are taken inside one process.

use assay_model::Better::{Higher, Lower};

use crate::readers::prelude::*;

pub(super) fn detect(bytes: &[u8]) -> bool {
    json::has_keys(bytes, &["files[].filepath", "files[].groups"])
}

pub(super) fn read(bytes: &[u8]) -> Result<Vec<ForeignResult>, Flaw> {
    let file = json::value(bytes)?;
    let mut suite = SuiteReader::new("Vitest", "vitest");
    let groups: Vec<Json<'_>> = Json::root(&file)
        .get("files")
        .items()
        .flat_map(|f| f.get("groups").items().collect::<Vec<_>>())
        .collect();
    for group in groups {
        for entry in group.get("benchmarks").entries()? {
            let name = format!("{} > {}", group.name("fullName")?, entry.name("name")?);
            let seconds = |key: &str| Ok::<_, Flaw>(entry.get(key).amount()?.map(|ms| ms / 1e3));
            let (mean, min, max) = (seconds("mean")?, seconds("min")?, seconds("max")?);
            let values = [
                ("time", mean, "s", Lower),
                ("time.median", seconds("median")?, "s", Lower),
                ("time.min", min, "s", Lower),
                ("time.max", max, "s", Lower),
                ("operations", entry.get("hz").amount()?, "ops/s", Higher),
            ];
            if mean.is_none() {
                suite.fail(&name, "it has no mean, so the benchmark failed")?;
                continue;
            }
            let figures = Figures { mean, min, max, ..Figures::default() };
            suite.add(&name, &values)?.hold(&["time"], &figures);
        }
    }
    suite.finish("give the file of `vitest bench --outputJson FILE`")
}
