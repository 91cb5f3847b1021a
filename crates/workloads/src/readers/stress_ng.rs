//! Metrics of stress-ng (`--metrics` or `--metrics-brief`): a row for each stressor.

use assay_model::Better::{Higher, Lower};

use crate::readers::prelude::*;

pub(super) fn detect(bytes: &[u8]) -> bool {
    head_has(bytes, |line| line.starts_with("stress-ng: ") && line.contains(" bogo ops "))
}

/// Returns the columns after `stress-ng: metrc: [1234]` or `stress-ng: info:  [1234]`.
fn row(line: &str) -> Option<Vec<&str>> {
    let rest = line.strip_prefix("stress-ng: ")?;
    let (kind, rest) = rest.split_once(": ")?;
    let columns = rest.split_once(']').map_or(rest, |(_, r)| r);
    matches!(kind, "metrc" | "info").then(|| columns.split_ascii_whitespace().collect())
}

pub(super) fn read(bytes: &[u8]) -> Result<Vec<ForeignResult>, Flaw> {
    let text = json::text(bytes);
    let mut suite = SuiteReader::new("stress-ng", "stress-ng");
    for (at, line) in lines(&text) {
        let Some(columns) = row(&line) else { continue };
        let [name, cells @ ..] = columns.as_slice() else { continue };
        // The columns: operations, real, user and system time, operations per second of real time
        // and of CPU time; `--metrics` adds two or more.
        let figures: Vec<Option<f64>> = cells.iter().take(6).map(|c| number(c)).collect();
        let known = figures.iter().flatten().count();
        if figures.len() == 6 && known >= 4 && (known < 6 || cells.len() == 7) {
            let message = format!("the row of {name} has a figure that is no number");
            return Err(Flaw::line(at, message));
        }
        let [Some(count), Some(seconds), Some(user), Some(system), Some(rate), Some(by_cpu)] =
            figures[..]
        else {
            continue;
        };
        let values = [
            ("throughput", Some(rate), "ops/s", Higher),
            ("throughput_by_cpu_time", Some(by_cpu), "ops/s", Higher),
            ("user", Some(user), "s", Lower),
            ("system", Some(system), "s", Lower),
        ];
        // Times and rates are printed to 0.01.
        let computed = |rate: f64, seconds: f64| Figures {
            rate: Some(rate),
            count: Some(count),
            seconds: Some(seconds),
            resolution: 0.01 + rate * 0.01 / seconds.max(0.01),
            ..Figures::default()
        };
        let trial = suite.add(name, &values)?;
        trial.hold(&["throughput"], &computed(rate, seconds));
        trial.hold(&["throughput_by_cpu_time"], &computed(by_cpu, user + system));
    }
    suite.finish("run stress-ng with --metrics")
}
