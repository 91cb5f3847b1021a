//! Output of `bencher perf` and of `GET /v0/projects/PROJECT/perf`. Gives one series per branch,
//! testbed, benchmark and measure, ordered by the time of the report.

use crate::readers::prelude::*;

pub(crate) fn detect(bytes: &[u8]) -> bool {
    json::has_keys(bytes, &["results[].branch", "results[].testbed", "results[].benchmark"])
}

pub(crate) fn read(bytes: &[u8]) -> Result<ForeignSeries, Flaw> {
    let data = json::value(bytes)?;
    let data = Json::root(&data);
    if !data.get("results").value().is_array() {
        return Err(Flaw::whole("it has no `results`: give what `bencher perf` prints"));
    }
    let mut all = ForeignSeries::default();
    for result in data.get("results").items() {
        // In older versions, measures had no entry of their own and one response was about one
        // metric kind.
        let own = Some(result.get("measure")).filter(|m| m.value().is_object());
        let measure = own.unwrap_or_else(|| data.get("metric_kind"));
        let named = ["branch", "testbed", "benchmark"].map(|key| result.get(key));
        let names = named.iter().chain([&measure]).map(|part| part.get("name").text_or_empty());
        let name = names.filter(|n| !n.is_empty()).collect::<Vec<_>>().join(", ");
        for metric in result.get("metrics").items() {
            let revision = metric.get("version").get("hash").text_or_empty();
            let point = (metric.get("start_time").text_or_empty(), revision);
            let stated = |key: &str| metric.get("metric").get(key).value().as_f64();
            let (mean, min, max) = (stated("value"), stated("lower_value"), stated("upper_value"));
            let figures = Figures { mean, min, max, ..Figures::default() };
            let value = mean.filter(|_| figures.contradictions("").is_empty());
            all.put(&name, measure.get("units").text_or_empty(), point, value);
        }
    }
    all.sort_by_key(|point| point.time.clone());
    Ok(all)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_is_a_series_for_each_line_of_its_plot() {
        let json = br#"{"results":[{"branch":{"name":"main"},"testbed":{"name":"ci"},
            "benchmark":{"name":"fib"},"measure":{"name":"Latency","units":"nanoseconds (ns)"},
            "metrics":[
            {"start_time":"2026-01-02T00:00:00Z",
                "version":{"number":2,"hash":"bbb"},"metric":{"value":12.0}},
            {"start_time":"2026-01-01T00:00:00Z",
                "version":{"number":1,"hash":"aaa"},"metric":{"value":11.5}},
            {"start_time":"2026-01-03T00:00:00Z",
                "version":{"number":3,"hash":null},"metric":{"value":null}}]}]}"#;
        assert!(detect(json));
        let all = read(json).unwrap();
        assert_eq!((all.series.len(), all.excluded), (1, 1));
        let first = &all.series[0];
        assert_eq!(
            (first.name.as_str(), first.unit.as_str()),
            ("main, ci, fib, Latency", "nanoseconds (ns)")
        );
        let points: Vec<_> = first.points.iter().map(|p| (p.revision.as_str(), p.value)).collect();
        assert_eq!(points, [("aaa", 11.5), ("bbb", 12.0)], "by time");
        assert!(read(b"{}").is_err() && read(b"nothing").is_err());
    }
}
