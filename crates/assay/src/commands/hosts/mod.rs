//! `assay hosts`: compares each host of a run with the others, and names those out of line.

pub mod args;

use std::fmt::Write;

use anyhow::Result;
use assay_lab::HostResult;
use assay_model::units;
use serde::Serialize;

use crate::arguments::Global;
use crate::commands::open::open_archive;
use crate::exit::{Exit, usage};
use crate::screen::answer;
use crate::view;

/// The hosts of a run, for `--json`.
#[derive(Debug, Serialize)]
struct HostsReport {
    schema_version: u32,
    run: String,
    metric: String,
    hosts: Vec<HostResult>,
}

/// Shows the hosts of a run whose hosts are a factor or replicates.
pub fn hosts(global: &Global, asked: &args::Hosts) -> Result<Exit> {
    let archive = open_archive(global)?;
    let run = view::load(&archive, &archive.resolve(&asked.run)?)?;
    let hosts = assay_lab::hosts(&run.plan, &run.records);
    if hosts.is_empty() {
        return usage(format!(
            "{} has no hosts to compare: run it with `--host A,B`, and `--hosts-as factor` or \
             `--hosts-as replicates`",
            run.summary.id
        ));
    }
    let report = HostsReport {
        schema_version: 1,
        run: run.summary.id.to_string(),
        metric: run.plan.metric.clone(),
        hosts,
    };
    answer(global.json, &report, || show(&report))?;
    let odd = report.hosts.iter().any(|h| h.out_of_line == Some(true));
    Ok(if odd { Exit::Rule } else { Exit::Fine })
}

fn show(report: &HostsReport) -> String {
    let mut text = format!("{} by host, relative to the other hosts\n\n", report.metric);
    let width = report.hosts.iter().map(|h| h.host.chars().count()).max().unwrap_or(0).max(4);
    let _ = writeln!(text, "{:width$}  trials  failed  ratio  expected", "host");
    for host in &report.hosts {
        let ratio = host.ratio.map_or_else(|| "unknown".to_owned(), |r| units::significant(r, 3));
        let expected = host.expected.map_or_else(
            || "unknown".to_owned(),
            |[low, high]| {
                format!("{} to {}", units::significant(low, 3), units::significant(high, 3))
            },
        );
        let odd = if host.out_of_line == Some(true) { "  out of line" } else { "" };
        let _ = writeln!(
            text,
            "{:width$}  {:>6}  {:>6}  {ratio:>5}  {expected}{odd}",
            host.host, host.trials, host.failed
        );
    }
    let named: Vec<&str> = report
        .hosts
        .iter()
        .filter(|h| h.out_of_line == Some(true))
        .map(|h| h.host.as_str())
        .collect();
    let verdict = match (report.hosts.iter().all(|h| h.out_of_line.is_none()), named.as_slice()) {
        (true, _) => "Which host is out of line can be told of four or more.".to_owned(),
        (_, []) => {
            "No host differs from the others by more than they differ among each other.".to_owned()
        }
        (_, [one]) => format!("{one} is out of line."),
        (_, several) => format!("{} are out of line.", several.join(", ")),
    };
    let _ = writeln!(text, "\n{verdict}");
    text
}
