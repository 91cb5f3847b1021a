//! Series that services keep, as their APIs answer: Bencher and Conbench.

use std::fmt::Write as _;

use serde_json::Value;

use super::{Quoted, QuotedSeries, put};

fn text<'a>(value: &'a Value, field: &str) -> &'a str {
    value[field].as_str().unwrap_or_default()
}

/// What `bencher perf` and `GET /v0/projects/PROJECT/perf` answer: a series for each branch, testbed, benchmark and
/// measure, by the time of the report.
///
/// # Errors
/// It is no JSON, or has no `results`.
pub(super) fn bencher(json: &str) -> Result<(Vec<QuotedSeries>, usize), String> {
    let data: Value = serde_json::from_str(json).map_err(|e| e.to_string())?;
    let results =
        data["results"].as_array().ok_or("it has no `results`: give what `bencher perf` prints")?;
    let mut series = Vec::new();
    let mut excluded = 0;
    for result in results {
        // Before measures were lines of their own, one answer was about one metric kind.
        let measure =
            if result["measure"].is_object() { &result["measure"] } else { &data["metric_kind"] };
        let parts = [&result["branch"], &result["testbed"], &result["benchmark"], measure];
        let names: Vec<&str> =
            parts.into_iter().map(|v| text(v, "name")).filter(|n| !n.is_empty()).collect();
        let mut points: Vec<Quoted> = Vec::new();
        for metric in result["metrics"].as_array().into_iter().flatten() {
            let Some(value) = metric["metric"]["value"].as_f64() else {
                excluded += 1;
                continue;
            };
            points.push(Quoted {
                time: text(metric, "start_time").to_owned(),
                revision: text(&metric["version"], "hash").to_owned(),
                value,
            });
        }
        points.sort_by(|a, b| a.time.cmp(&b.time));
        for point in points {
            put(&mut series, &names.join(", "), text(measure, "units"), point);
        }
    }
    Ok((series, excluded))
}

/// What Conbench's `GET /api/benchmark-results/` answers (a list, or an object with `data`): a series for each
/// case (name, tags, hardware), by the time of the commit, else of the result. The value is the mean of the
/// repetitions; results that failed have none and are left out.
///
/// # Errors
/// It is no JSON, or no list of results.
pub(super) fn conbench(json: &str) -> Result<(Vec<QuotedSeries>, usize), String> {
    let data: Value = serde_json::from_str(json).map_err(|e| e.to_string())?;
    let list = data.as_array().or_else(|| data["data"].as_array());
    let list =
        list.ok_or("it is no list of benchmark results, nor an object with one in `data`")?;
    let mut series = Vec::new();
    let mut excluded = 0;
    let mut found: Vec<(String, String, Quoted)> = Vec::new();
    for result in list {
        let Some(value) = mean(&result["stats"]) else {
            excluded += 1;
            continue;
        };
        let mut name = text(&result["tags"], "name").to_owned();
        for (key, level) in result["tags"].as_object().into_iter().flatten() {
            if key != "name" && !level.is_null() {
                let level = level.as_str().map_or_else(|| level.to_string(), str::to_owned);
                let _ = write!(name, ", {key}={level}");
            }
        }
        let hardware = text(&result["hardware"], "name");
        if !hardware.is_empty() {
            let _ = write!(name, " on {hardware}");
        }
        let commit = &result["commit"];
        let time = Some(text(commit, "timestamp")).filter(|t| !t.is_empty());
        let time = time.unwrap_or_else(|| text(result, "timestamp")).to_owned();
        let revision = if text(commit, "sha").is_empty() {
            text(&result["github"], "commit")
        } else {
            text(commit, "sha")
        };
        let point = Quoted { time, revision: revision.to_owned(), value };
        found.push((name, text(&result["stats"], "unit").to_owned(), point));
    }
    found.sort_by(|a, b| a.2.time.cmp(&b.2.time));
    for (name, unit, point) in found {
        put(&mut series, &name, &unit, point);
    }
    Ok((series, excluded))
}

/// The mean as it stands there, as a number or as text, else that of the repetitions.
fn mean(stats: &Value) -> Option<f64> {
    let number =
        |v: &Value| v.as_f64().or_else(|| v.as_str()?.parse().ok()).filter(|v| v.is_finite());
    number(&stats["mean"]).or_else(|| {
        let data: Option<Vec<f64>> = stats["data"].as_array()?.iter().map(number).collect();
        let data = data.filter(|d| !d.is_empty())?;
        Some(data.iter().sum::<f64>() / data.len() as f64)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bencher_has_a_series_for_each_line_of_its_plot() {
        let json = r#"{"results":[{"branch":{"name":"main"},"testbed":{"name":"ci"},"benchmark":{"name":"fib"},
            "measure":{"name":"Latency","units":"nanoseconds (ns)"},"metrics":[
            {"start_time":"2026-01-02T00:00:00Z","version":{"number":2,"hash":"bbb"},"metric":{"value":12.0}},
            {"start_time":"2026-01-01T00:00:00Z","version":{"number":1,"hash":"aaa"},"metric":{"value":11.5}},
            {"start_time":"2026-01-03T00:00:00Z","version":{"number":3,"hash":null},"metric":{"value":null}}]}]}"#;
        let (series, excluded) = bencher(json).unwrap();
        assert_eq!((series.len(), excluded), (1, 1));
        assert_eq!(series[0].name, "main, ci, fib, Latency");
        assert_eq!(series[0].unit, "nanoseconds (ns)");
        let points: Vec<(&str, f64)> =
            series[0].points.iter().map(|p| (p.revision.as_str(), p.value)).collect();
        assert_eq!(points, [("aaa", 11.5), ("bbb", 12.0)], "by time");
        assert!(bencher("{}").is_err() && bencher("nothing").is_err());
    }

    #[test]
    fn conbench_has_a_series_for_each_case_and_leaves_failures_out() {
        let one = |sha: &str, day: u32, stats: &str| {
            format!(
                r#"{{"tags":{{"name":"read","cpu_count":null,"file":"parquet"}},"hardware":{{"name":"m1"}},
                "commit":{{"sha":"{sha}","timestamp":"2026-01-0{day}T00:00:00Z"}},"stats":{stats}}}"#
            )
        };
        let list = [
            one("bbb", 2, r#"{"unit":"s","mean":"0.5"}"#),
            one("aaa", 1, r#"{"unit":"s","data":["0.25",0.75]}"#),
            one("ccc", 3, "null"),
        ];
        for json in [format!("[{}]", list.join(",")), format!("{{\"data\":[{}]}}", list.join(","))]
        {
            let (series, excluded) = conbench(&json).unwrap();
            assert_eq!((series.len(), excluded), (1, 1));
            assert_eq!(series[0].name, "read, file=parquet on m1");
            let points: Vec<(&str, f64)> =
                series[0].points.iter().map(|p| (p.revision.as_str(), p.value)).collect();
            assert_eq!(points, [("aaa", 0.5), ("bbb", 0.5)]);
        }
        assert!(conbench("{}").is_err());
    }
}
