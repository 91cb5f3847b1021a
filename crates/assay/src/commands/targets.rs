//! Programs that an observing verb looks at, and for how long: a command, processes, a control
//! group or the whole machine.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::Result;
use assay_observe::{ProcessFilter, tasks};
use assay_system::Interrupt;

use crate::arguments::Targets;
use crate::commands::observed_command;
use crate::exit::{Exit, Usage, usage};

/// Observation that the options describe.
pub struct LiveObservation<'a> {
    of: &'a Targets,
    lasts: Option<Duration>,
}

impl<'a> LiveObservation<'a> {
    /// Checks the options of an observation.
    ///
    /// # Errors
    /// The number of seconds is not positive, or too large.
    pub fn new(of: &'a Targets) -> Result<Self> {
        let lasts = match of.seconds {
            Some(s) if s > 0.0 && s <= 1e7 => Some(Duration::from_secs_f64(s)),
            Some(_) => return usage("--seconds takes more than 0 seconds"),
            None => None,
        };
        Ok(LiveObservation { of, lasts })
    }

    /// Returns the programs to observe with a readable name for them, or `None` if the options name
    /// none.
    ///
    /// # Errors
    /// The control group does not exist or is empty.
    pub fn whose(&self) -> Result<Option<(ProcessFilter, String)>> {
        let of = self.of;
        if !of.command.is_empty() {
            let words: Vec<_> = of.command.iter().map(|a| a.to_string_lossy()).collect();
            return Ok(Some((ProcessFilter::Children, words.join(" "))));
        }
        if !of.pid.is_empty() {
            let words: Vec<String> = of.pid.iter().map(u32::to_string).collect();
            let name = format!("process {}", words.join(", "));
            return Ok(Some((ProcessFilter::Processes(of.pid.clone()), name)));
        }
        if let Some(group) = &of.cgroup {
            let name = format!("control group {}", group.display());
            return Ok(Some((ProcessFilter::Processes(of_group(group)?), name)));
        }
        Ok(of.all.then(|| (ProcessFilter::All, "everything on the machine".to_owned())))
    }

    /// Runs the command, or waits until the processes end, the time is over or an interrupt
    /// arrives.
    ///
    /// # Errors
    /// The command cannot be started.
    pub fn until_the_end(&self, interrupt: &Interrupt) -> Result<Exit> {
        if !self.of.command.is_empty() {
            return self.command(interrupt);
        }
        let began = Instant::now();
        while !interrupt.fired() && self.lasts.is_none_or(|s| began.elapsed() < s) {
            let gone = |pid: &u32| !Path::new(&format!("/proc/{pid}")).exists();
            if !self.of.pid.is_empty() && self.of.pid.iter().all(gone) {
                break;
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        // An interrupt is the normal end of an observation without a time limit.
        Ok(Exit::Fine)
    }

    fn command(&self, interrupt: &Interrupt) -> Result<Exit> {
        let began = Instant::now();
        let thread = observed_command::start(&self.of.command, interrupt);
        let mut ended = false;
        while !thread.is_finished() {
            if !ended && self.lasts.is_some_and(|s| began.elapsed() >= s) {
                interrupt.fire();
                ended = true;
            }
            std::thread::sleep(Duration::from_millis(5));
        }
        let ran = observed_command::ended(thread)?;
        Ok(match (ended, interrupt.fired(), ran.exit.success()) {
            (true, ..) | (false, false, true) => Exit::Fine,
            (false, true, _) => Exit::Interrupted,
            (false, false, false) => Exit::Workload,
        })
    }
}

/// Returns the folder of a control group, given as a path or relative to the usual folders.
pub fn group_folder(group: &Path) -> Result<PathBuf> {
    let below = group.strip_prefix("/").unwrap_or(group);
    let places = [
        group.to_owned(),
        Path::new("/sys/fs/cgroup").join(below),
        Path::new("/sys/fs/cgroup/cpu").join(below),
        Path::new("/sys/fs/cgroup/cpuacct").join(below),
        Path::new("/sys/fs/cgroup/memory").join(below),
    ];
    let there = || Usage(format!("there is no control group {}", group.display()));
    Ok(places.into_iter().find(|p| p.join("cgroup.procs").is_file()).ok_or_else(there)?)
}

/// Returns the processes of a control group and of the groups below it.
fn of_group(group: &Path) -> Result<Vec<u32>> {
    let mut pids = tasks::of_group(&group_folder(group)?);
    if pids.is_empty() {
        return usage(format!("the control group {} has no processes", group.display()));
    }
    pids.retain(|pid| Path::new(&format!("/proc/{pid}/task")).exists());
    Ok(pids)
}
