//! Meters that must be polled: the machine's management controller by IPMI (`ipmitool`) or Redfish
//! (`curl`).

use std::io::ErrorKind;
use std::process::Command;
use std::time::{Duration, Instant};

use assay_system::output_within;

use super::Post;

/// Time limit after which the program is killed.
const TIMEOUT: Duration = Duration::from_secs(5);
/// Minimum polling period: management controllers are slow and read their sensors about once a
/// second.
const MIN_PERIOD: Duration = Duration::from_secs(1);

pub(super) fn ipmi(words: &[String], period: Duration, post: &Post) {
    let own = words.first().filter(|w| w.contains('/'));
    let mut command = vec![own.map_or("ipmitool", String::as_str)];
    command.extend(words.iter().skip(usize::from(own.is_some())).map(String::as_str));
    command.extend(["dcmi", "power", "reading"]);
    poll(&command, "Debian package ipmitool", period, post, |text| {
        ipmi_watts(text).ok_or_else(|| "its answer has no `Instantaneous power reading`".to_owned())
    });
}

pub(super) fn redfish(url: &str, period: Duration, post: &Post) {
    // ~/.netrc holds the credentials, ~/.curlrc the trusted certificates.
    let command =
        ["curl", "--silent", "--show-error", "--fail", "--max-time", "5", "--netrc-optional", url];
    poll(&command, "Debian package curl", period, post, |text| {
        redfish_watts(text).map_err(|e| e.to_string())
    });
}

/// Polls the meter until stopped.
fn poll(
    command: &[&str],
    package: &str,
    period: Duration,
    post: &Post,
    read: impl Fn(&str) -> Result<f64, String>,
) {
    let period = period.max(MIN_PERIOD);
    loop {
        let began = Instant::now();
        match output(command, package, post).and_then(|text| read(&text)) {
            Ok(watts) => post.put(watts),
            Err(_) if post.stopped() => return,
            Err(what) => post.complain(|| format!("{}: {what}", command[0])),
        }
        if !post.wait(period.saturating_sub(began.elapsed())) {
            return;
        }
    }
}

/// Runs a program to its end, within the time limit, and returns its output.
fn output(command: &[&str], package: &str, post: &Post) -> Result<String, String> {
    let mut program = Command::new(command[0]);
    program.args(&command[1..]).env("LC_ALL", "C");
    let output = output_within(&mut program, TIMEOUT, || post.stopped())
        .map_err(|e| match e.kind() {
            ErrorKind::NotFound => format!("it is not installed ({package})"),
            _ => format!("it did not start: {e}"),
        })?
        .ok_or("it did not answer in time")?;
    if output.status.success() {
        return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
    }
    let error = String::from_utf8_lossy(&output.stderr);
    let last = error.trim().lines().last().unwrap_or("it printed nothing");
    Err(format!("{}: {last}", output.status))
}

/// Returns the watts in the answer to `ipmitool dcmi power reading`.
pub fn ipmi_watts(text: &str) -> Option<f64> {
    let line = text.lines().find(|l| l.trim_start().starts_with("Instantaneous power reading"))?;
    line.split_once(':')?.1.split_whitespace().next()?.parse().ok()
}

/// An answer that holds no watts.
#[derive(Debug, thiserror::Error)]
pub enum RedfishError {
    #[error("its answer is not JSON: {0}")]
    Json(#[from] serde_json::Error),
    #[error("its answer has neither PowerControl[].PowerConsumedWatts nor PowerWatts.Reading")]
    NoWatts,
}

/// Returns the watts in a Redfish resource: `Power` (the sum over
/// `PowerControl[].PowerConsumedWatts`) or `EnvironmentMetrics` (`PowerWatts.Reading`).
///
/// # Errors
/// The text is not JSON, or has neither value.
pub fn redfish_watts(text: &str) -> Result<f64, RedfishError> {
    let json: serde_json::Value = serde_json::from_str(text)?;
    let number = |v: &serde_json::Value| v.as_f64().filter(|w| w.is_finite());
    if let Some(watts) = json.pointer("/PowerWatts/Reading").and_then(number) {
        return Ok(watts);
    }
    let controls = json.get("PowerControl").and_then(serde_json::Value::as_array);
    let read: Option<Vec<f64>> = controls
        .map(|list| list.iter().filter_map(|c| number(c.get("PowerConsumedWatts")?)).collect());
    match read {
        Some(list) if !list.is_empty() => Ok(list.iter().sum()),
        _ => Err(RedfishError::NoWatts),
    }
}
