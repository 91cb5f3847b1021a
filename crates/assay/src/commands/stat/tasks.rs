//! `assay stat --tasks`: where the time of each process or thread goes, as it happens.

use std::fmt::Write as _;
use std::io::IsTerminal as _;
use std::path::Path;
use std::time::Duration;

use anyhow::Result;
use assay_model::units::format_value;
use assay_observe::tasks::{Task, TaskSelection, Tasks, header, line};
use assay_system::{Interrupt, clock};

use crate::arguments::Global;
use crate::commands::stat::args::Stat;
use crate::commands::stat::time_of_day;
use crate::commands::{observed_command, targets};
use crate::exit::{Exit, usage};
use crate::screen::{print, print_in_place, print_json_text, say, width};

/// Shows the busiest tasks at every tick, until the requested number, an interrupt, or the end of
/// the command.
pub fn tasks(global: &Global, stat: &Stat, interval: Duration, mut left: u64) -> Result<Exit> {
    if interval < assay_observe::MIN_INTERVAL {
        return usage(format!(
            "--interval: {} ms or more",
            assay_observe::MIN_INTERVAL.as_millis()
        ));
    }
    let of = match (&stat.cgroup, stat.pid.as_slice(), stat.command.is_empty()) {
        (Some(group), ..) => TaskSelection::Group(targets::group_folder(group)?),
        (None, [], false) => TaskSelection::Children,
        (None, [], true) => TaskSelection::Machine,
        (None, pids, _) => {
            if let Some(pid) = pids.iter().find(|pid| !Path::new(&format!("/proc/{pid}")).exists())
            {
                return usage(format!("there is no process {pid}"));
            }
            TaskSelection::Processes(pids.to_vec())
        }
    };
    let interrupt = Interrupt::install()?;
    let mut tasks = Tasks::open(Path::new("/"), of, stat.threads, clock::monotonic_ns());
    for note in tasks.notes() {
        say(note);
    }
    let command =
        (!stat.command.is_empty()).then(|| observed_command::start(&stat.command, &interrupt));
    let done = || command.as_ref().is_some_and(std::thread::JoinHandle::is_finished);
    let in_place = std::io::stdout().is_terminal() && !global.json && command.is_none();
    let mut due = clock::monotonic_ns();
    let mut last = due;
    while left > 0 && !done() {
        due += interval.as_nanos() as u64;
        while clock::monotonic_ns() < due && !interrupt.fired() && !done() {
            let wait = Duration::from_nanos(due.saturating_sub(clock::monotonic_ns()));
            std::thread::sleep(wait.min(Duration::from_millis(50)));
        }
        if interrupt.fired() {
            break;
        }
        let now = clock::monotonic_ns();
        let all = tasks.sample(now);
        let shown = &all[..all.len().min(stat.busiest)];
        // The end of the command cuts the last interval.
        let (partial, seconds) = (now < due, (now - last) as f64 / 1e9);
        last = now;
        let lines = || text(shown, stat.threads, all.len(), partial.then_some(seconds));
        let json = || {
            serde_json::json!({
                "t_ns": now, "seconds": seconds, "partial": partial, "tasks": shown,
            })
        };
        match (global.json, in_place) {
            (true, _) => print_json_text(&json().to_string())?,
            (false, true) => print_in_place(&lines())?,
            (false, false) => print(&lines())?,
        }
        left -= 1;
    }
    let Some(command) = command else { return Ok(Exit::Fine) };
    let ran = observed_command::ended(command)?;
    Ok(observed_command::exit(&interrupt, &ran))
}

fn text(shown: &[Task], by_thread: bool, all: usize, cut_s: Option<f64>) -> String {
    let width = width();
    let mut text =
        cut_s.map_or_else(String::new, |s| format!("the last {}:\n", format_value(s, "s")));
    text += &header(by_thread, width, &time_of_day());
    for task in shown {
        text.push_str(&line(task, width));
    }
    if all > shown.len() {
        // Writing to a String cannot fail.
        let _ = writeln!(text, "{} more", all - shown.len());
    }
    text
}
