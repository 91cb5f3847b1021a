//! Responses of Conbench's `GET /api/benchmark-results/` (a list, or an object with `data`). Gives
//! one series per case (name, tags, hardware), ordered by the time of the commit or else of the
//! result. The value is the mean of the repetitions; failed results have none and are left out.

use std::fmt::Write as _;

use serde_json::Value;

use crate::readers::prelude::*;
use crate::readers::result;

pub(crate) fn detect(bytes: &[u8]) -> bool {
    let keys = json::keys(bytes);
    let all =
        |list: &str| ["tags", "stats"].iter().all(|k| keys.contains(&format!("{list}[].{k}")));
    all("") || all("data")
}

pub(crate) fn read(bytes: &[u8]) -> Result<ForeignSeries, Flaw> {
    let data = json::value(bytes)?;
    let data = Json::root(&data);
    let list = if data.value().is_array() { data } else { data.get("data") };
    if !list.value().is_array() {
        let message = "it is neither a list of benchmark results nor an object with one in `data`";
        return Err(Flaw::whole(message));
    }
    let mut all = ForeignSeries::default();
    for result in list.items() {
        let mut name = result.get("tags").get("name").text_or_empty().to_owned();
        for (key, level) in result.get("tags").fields() {
            if key != "name" && !level.value().is_null() {
                let level = level.value();
                let level = level.as_str().map_or_else(|| level.to_string(), str::to_owned);
                let _ = write!(name, ", {key}={level}");
            }
        }
        let hardware = result.get("hardware").get("name").text_or_empty();
        if !hardware.is_empty() {
            let _ = write!(name, " on {hardware}");
        }
        let (commit, stats) = (result.get("commit"), result.get("stats"));
        let either = |a: Json<'_>, b: Json<'_>| -> String {
            let (a, b) = (a.text_or_empty(), b.text_or_empty());
            if a.is_empty() { b.to_owned() } else { a.to_owned() }
        };
        let time = either(commit.get("timestamp"), result.get("timestamp"));
        let revision = either(commit.get("sha"), result.get("github").get("commit"));
        all.put(&name, stats.get("unit").text_or_empty(), (&time, &revision), mean(&stats));
    }
    all.sort_by_key(|point| point.time.clone());
    Ok(all)
}

/// Returns the stated mean (a number or a text), else the mean of the repetitions; `None` if it
/// contradicts the other figures.
fn mean(stats: &Json<'_>) -> Option<f64> {
    let number =
        |v: &Value| v.as_f64().or_else(|| v.as_str()?.parse().ok()).filter(|v| v.is_finite());
    let data: Option<Vec<f64>> = stats.get("data").items().map(|v| number(v.value())).collect();
    let data = data.unwrap_or_default();
    let stated = |key: &str| number(stats.get(key).value());
    let quartiles = [(25.0, "q1"), (50.0, "median"), (75.0, "q3")];
    let figures = Figures {
        values: &data,
        mean: stated("mean"),
        min: stated("min"),
        max: stated("max"),
        percentiles: quartiles.into_iter().filter_map(|(p, key)| Some((p, stated(key)?))).collect(),
        ..Figures::default()
    };
    let agree = figures.contradictions("").is_empty();
    figures.mean.or_else(|| result::mean(&data)).filter(|_| agree)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_is_a_series_for_each_case_and_failures_are_left_out() {
        let one = |sha: &str, day: u32, stats: &str| {
            format!(
                r#"{{"tags":{{"name":"read","cpu_count":null,"file":"parquet"}},
                "hardware":{{"name":"m1"}},"stats":{stats},
                "commit":{{"sha":"{sha}","timestamp":"2026-01-0{day}T00:00:00Z"}}}}"#
            )
        };
        let list = [
            one("bbb", 2, r#"{"unit":"s","mean":"0.5"}"#),
            one("aaa", 1, r#"{"unit":"s","data":["0.25",0.75]}"#),
            one("ccc", 3, "null"),
        ];
        for json in [format!("[{}]", list.join(",")), format!("{{\"data\":[{}]}}", list.join(","))]
        {
            assert!(detect(json.as_bytes()));
            let all = read(json.as_bytes()).unwrap();
            assert_eq!((all.series.len(), all.excluded), (1, 1));
            assert_eq!(all.series[0].name, "read, file=parquet on m1");
            let points = all.series[0].points.iter().map(|p| (p.revision.as_str(), p.value));
            assert_eq!(points.collect::<Vec<_>>(), [("aaa", 0.5), ("bbb", 0.5)]);
        }
        assert!(read(b"{}").is_err());
    }
}
