//! `assay io --from TRACE --stages`: how long I/Os took from stage to stage, by device.

use std::fmt::Write as _;
use std::path::Path;

use anyhow::Result;
use assay_iotrace::{DeviceStages, stages};
use assay_model::units::format_value;

use crate::cli::{Cli, Io};
use crate::exit::{Exit, Usage};
use crate::screen::{print, print_json};

/// What each stage is, below the table.
const LEGEND: &str = "Q queued, G a request made of it, M joined to a request, I inserted into the
scheduler, D issued to the driver, C completed; bio by bio, as btt counts
";

pub(super) fn show(cli: &Cli, asked: &Io, from: &Path) -> Result<Exit> {
    let mut all = stages(from).map_err(|e| Usage(e.to_string()))?;
    if !asked.device.is_empty() {
        all.retain(|d| asked.device.contains(&d.device));
    }
    if cli.json {
        print_json(&all)?;
    } else {
        let text: String = all.iter().map(device).collect();
        print(&format!("{text}{LEGEND}"))?;
    }
    Ok(if all.is_empty() { Exit::Nothing } else { Exit::Fine })
}

fn device(d: &DeviceStages) -> String {
    let mut text = format!(
        "{}: {} bios queued, {} requests issued; joined: {} at the end, {} in front\n",
        d.device, d.queued, d.issued, d.merged_back, d.merged_front
    );
    // Writing to a String cannot fail.
    let _ = writeln!(text, "{:<6} {:>10} {:>12} {:>12} {:>12}", "stage", "n", "min", "mean", "max");
    for s in &d.stages {
        let time = |ns: f64| format_value(ns * 1e-9, "s");
        let (minimum, maximum) = (time(s.min_ns as f64), time(s.max_ns as f64));
        let mean = time(s.mean_ns);
        let _ = writeln!(text, "{:<6} {:>10} {minimum:>12} {mean:>12} {maximum:>12}", s.stage, s.n);
    }
    let each = d.unplugged_mean.map(|n| format!(" ({n:.2} requests each)")).unwrap_or_default();
    let _ = writeln!(
        text,
        "plugged {} times, unplugged {} times{each}, {} of them implicitly",
        d.plugs, d.unplugs, d.implicit_unplugs
    );
    if d.given_up > 0 {
        let _ = writeln!(text, "{} bios were not followed: too many were under way", d.given_up);
    }
    text.push('\n');
    text
}
