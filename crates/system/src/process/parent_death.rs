//! `prctl(PR_SET_PDEATHSIG)`: ties a child to the thread that starts it, so that the child does not
//! survive the thread, however that ends.
#![allow(unsafe_code)] // std considers everything between fork and exec unsafe

use std::io;
use std::os::unix::process::CommandExt;
use std::process::Command;

use rustix::process::{Signal, getpid, getppid, set_parent_process_death_signal};
use rustix::thread::{CpuSet, sched_setaffinity};

/// Makes the command run on `cpus` (`None` for its parent's CPUs) and be killed when the calling
/// thread ends; that thread must also start the command. A program that changes its user loses this
/// tie.
pub fn end_with_parent(command: &mut Command, cpus: Option<&[usize]>) {
    let parent = getpid();
    let set = cpus.map(|cpus| {
        let mut set = CpuSet::new();
        cpus.iter().filter(|cpu| **cpu < CpuSet::MAX_CPU).for_each(|cpu| set.set(*cpu));
        set
    });
    let between = move || {
        set_parent_process_death_signal(Some(Signal::KILL))?;
        // The parent may have exited before the signal was requested.
        if getppid() != Some(parent) {
            return Err(io::ErrorKind::BrokenPipe.into());
        }
        match &set {
            Some(set) => Ok(sched_setaffinity(None, set)?),
            None => Ok(()),
        }
    };
    // SAFETY: between fork and exec, the closure makes three system calls on values that it owns,
    // and neither allocates nor takes a lock.
    unsafe {
        command.pre_exec(between);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_child_ends_with_the_thread_that_started_it() {
        use std::os::unix::process::ExitStatusExt;
        let mut child = std::thread::spawn(|| {
            let mut command = Command::new("sleep");
            end_with_parent(command.arg("600"), None);
            command.spawn().unwrap()
        })
        .join()
        .unwrap();
        assert_eq!(child.wait().unwrap().signal(), Some(9));
    }

    #[test]
    fn a_child_runs_where_it_was_asked_to() {
        let own = rustix::thread::sched_getaffinity(None).unwrap();
        let cpu = (0..CpuSet::MAX_CPU).rfind(|c| own.is_set(*c)).unwrap();
        let mut command = Command::new("sh");
        end_with_parent(
            command.args(["-c", "grep Cpus_allowed_list /proc/self/status"]),
            Some(&[cpu]),
        );
        let out = String::from_utf8(command.output().unwrap().stdout).unwrap();
        assert_eq!(out.split_whitespace().last().unwrap(), cpu.to_string());
        let mut command = Command::new("true");
        end_with_parent(&mut command, Some(&[CpuSet::MAX_CPU - 1]));
        assert!(command.spawn().is_err(), "a CPU that is not there is an error of the start");
    }
}
