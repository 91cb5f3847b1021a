//! `data.js` of github-action-benchmark. Gives one series per benchmark of each group.

use crate::readers::prelude::*;

pub(crate) fn detect(bytes: &[u8]) -> bool {
    json::head(bytes).trim_start().starts_with("window.BENCHMARK_DATA")
        || json::has_keys(bytes, &["entries", "repoUrl"])
}

pub(crate) fn read(bytes: &[u8]) -> Result<ForeignSeries, Flaw> {
    let data = json::value_at(bytes, "{")?;
    let groups = Json::root(&data).get("entries");
    if !groups.value().is_object() {
        return Err(Flaw::whole("it has no `entries`"));
    }
    let mut all = ForeignSeries::default();
    for (group, entries) in groups.fields() {
        for entry in entries.items() {
            let commit = entry.get("commit");
            let point = (commit.get("timestamp").text_or_empty(), commit.get("id").text_or_empty());
            for bench in entry.get("benches").items() {
                let name = format!("{group}: {}", bench.get("name").text_or_empty());
                let value = bench.get("value").value().as_f64();
                all.put(&name, bench.get("unit").text_or_empty(), point, value);
            }
        }
    }
    Ok(all)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_is_a_series_for_each_benchmark() {
        let text = br#"window.BENCHMARK_DATA = {"entries":{"Go":[
            {"commit":{"id":"a1","timestamp":"2026-01-01T00:00:00Z"},
            "benches":[{"name":"fib","value":12.5,"unit":"ns/op"},{"name":"bad","unit":"s"}]}]}};"#;
        assert!(detect(text));
        let all = read(text).unwrap();
        assert_eq!((all.series.len(), all.excluded), (1, 1));
        assert_eq!(
            (all.series[0].name.as_str(), all.series[0].unit.as_str()),
            ("Go: fib", "ns/op")
        );
        assert_eq!(all.series[0].points[0].revision, "a1");
        assert!(read(b"nothing").is_err() && read(b"{}").is_err());
    }
}
