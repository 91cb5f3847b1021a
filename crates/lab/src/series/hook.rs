//! Hooks of confirmed changes: a command or a webhook of the experiment file, called once for each
//! fresh experiment that confirmed changes. No value becomes an argument or shell text.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::Path;
use std::time::Duration;

use assay_model::{Hooks, Interval, RunId};
use assay_stats::series::{ChangeState, ChangeView, HistoryView, SeriesView};
use assay_workloads::WorkloadError;
use assay_workloads::driver::step::{Inherit, ProgramStep};
use assay_workloads::split_words;
use serde::Serialize;

use super::StoredFindings;

/// Time limit of a hook.
const TIMEOUT: Duration = Duration::from_secs(60);
/// Call of a webhook. A redirection repeats the POST.
const CURL: &str = "curl --silent --show-error --fail --location --post301 --post302 --max-time 30 \
                    --output /dev/null --header Content-Type:application/json --data-binary @-";

/// Changes that one fresh experiment confirmed, as hooks receive them.
#[derive(Debug, Serialize, schemars::JsonSchema)]
pub struct ConfirmedChange<'a> {
    /// Version of the format.
    pub schema_version: u32,
    /// Name of the event: `confirmed`.
    pub event: &'static str,
    /// Id of the history.
    pub history: &'a str,
    /// Name of the experiment.
    pub experiment: &'a str,
    /// Class of machine: processors and number of CPUs.
    pub machine: &'a str,
    /// First measured commit of the new level.
    pub revision: &'a str,
    /// First line of its message.
    pub subject: &'a str,
    /// Last measured commit of the old level.
    pub before: &'a str,
    /// Run that confirmed the changes.
    pub run: &'a RunId,
    /// Changed series, the largest change for the worse first.
    pub series: Vec<ConfirmedSeries<'a>>,
}

/// A series with a confirmed change.
#[derive(Debug, Serialize, schemars::JsonSchema)]
pub struct ConfirmedSeries<'a> {
    /// Name of the metric, or of the benchmark of a suite.
    pub metric: &'a str,
    /// True if the new level is worse; `null` if the metric has no better direction.
    pub worse: Option<bool>,
    /// Ratio of the new level to the old one in the fresh experiment.
    pub ratio: f64,
    /// Interval of the ratio.
    pub interval: Interval,
    /// Commits at which the change may be (95 %).
    pub commits: &'a [String],
    /// Runs that measured the points on both sides of the change.
    pub runs: Vec<&'a RunId>,
}

/// Calls the hook for the confirmed changes that it was not yet called for, and records each call.
/// Returns a warning for each call that failed, which the next one repeats.
pub fn call_hooks(hooks: &Hooks, shown: &HistoryView, kept: &mut StoredFindings) -> Vec<String> {
    let mut groups: BTreeMap<(&str, &RunId), Vec<(&SeriesView, &ChangeView)>> = BTreeMap::new();
    for series in shown.series.iter().filter(|_| *hooks != Hooks::default()) {
        for change in series.changes.iter().filter(|c| c.change.state == ChangeState::Confirmed) {
            let known = change.known.as_ref().filter(|k| !k.hooked && k.fresh.is_some());
            if let Some(run) = known.and_then(|k| k.run.as_ref()) {
                groups.entry((series.machine.as_str(), run)).or_default().push((series, change));
            }
        }
    }
    let mut warnings = Vec::new();
    for ((machine, run), changes) in groups {
        let event = event(shown, machine, run, &changes);
        let called = call(hooks, &event).map_err(|e| e.to_string());
        let recorded = called.and_then(|()| {
            for (series, change) in &changes {
                let commits: Vec<&str> = change.commits.iter().map(String::as_str).collect();
                if let Some(mut known) = kept.known.latest(series.key(), &commits).cloned() {
                    known.hooked = true;
                    kept.known.put(known);
                }
            }
            kept.save().map_err(|e| e.to_string())
        });
        if let Err(why) = recorded {
            warnings.push(format!(
                "the hook of the change at {} failed and is called again next time: {why}",
                event.revision.get(..10).unwrap_or(event.revision)
            ));
        }
    }
    warnings
}

fn event<'a>(
    shown: &'a HistoryView,
    machine: &'a str,
    run: &'a RunId,
    changes: &[(&'a SeriesView, &'a ChangeView)],
) -> ConfirmedChange<'a> {
    let series = changes.iter().filter_map(|(series, change)| {
        let fresh = change.known.as_ref()?.fresh?;
        let sides = [change.change.at - 1, change.change.at];
        Some(ConfirmedSeries {
            metric: series.name(&shown.metric),
            worse: change.worse,
            ratio: fresh.ratio,
            interval: fresh.interval,
            commits: &change.commits,
            runs: sides.iter().flat_map(|i| &series.points[*i].runs).collect(),
        })
    });
    // All changes of a fresh experiment are at its place.
    let first = changes[0].1;
    ConfirmedChange {
        schema_version: 1,
        event: "confirmed",
        history: &shown.id,
        experiment: &shown.experiment,
        machine,
        revision: &first.commit,
        subject: &first.subject,
        before: &first.before,
        run,
        series: series.collect(),
    }
}

fn call(hooks: &Hooks, event: &ConfirmedChange<'_>) -> Result<(), WorkloadError> {
    let name = format!("assay-hook-{}-{}", std::process::id(), event.run);
    let folder = std::env::temp_dir().join(name);
    // Only its owner can read the files in it.
    let created = fs::DirBuilder::new().mode(0o700).create(&folder);
    created.map_err(WorkloadError::io("create", &folder))?;
    let result = in_folder(hooks, event, &folder);
    let _ = fs::remove_dir_all(&folder);
    result
}

fn in_folder(
    hooks: &Hooks,
    event: &ConfirmedChange<'_>,
    folder: &Path,
) -> Result<(), WorkloadError> {
    let (body, config) = (folder.join("event.json"), folder.join("curl"));
    let json = serde_json::to_vec(event).map_err(std::io::Error::other);
    json.and_then(|json| fs::write(&body, json)).map_err(WorkloadError::io("write", &body))?;
    let mut argv = split_words(hooks.confirmed.as_deref().unwrap_or(CURL)).unwrap_or_default();
    if let Some(url) = &hooks.webhook {
        // Other users can read arguments.
        let text = format!("url = \"{url}\"\n");
        fs::write(&config, text).map_err(WorkloadError::io("write", &config))?;
        argv.extend(["--config".into(), config.into_os_string()]);
    }
    let worst = event.series.first();
    let env: [(&str, String); 9] = [
        ("EVENT", event.event.to_owned()),
        ("HISTORY", event.history.to_owned()),
        ("EXPERIMENT", event.experiment.to_owned()),
        ("MACHINE", event.machine.to_owned()),
        ("METRIC", worst.map(|s| s.metric.to_owned()).unwrap_or_default()),
        ("RATIO", worst.map(|s| s.ratio.to_string()).unwrap_or_default()),
        ("REVISION", event.revision.to_owned()),
        ("RUN", event.run.to_string()),
        ("SERIES", event.series.len().to_string()),
    ];
    let env = env.map(|(name, value)| (OsString::from(format!("ASSAY_{name}")), value.into()));
    let (here, log) = (Path::new("."), folder.join("log"));
    let step = ProgramStep::new("hook", &argv, here, &log, TIMEOUT);
    ProgramStep { env: &env, inherit: Inherit::All, stdin: Some(&body), ..step }.run()
}
