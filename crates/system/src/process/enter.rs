//! Applies a program's settings to the calling thread, so that the program inherits them, and
//! undoes this afterwards.
//!
//! On Linux, CPUs, scheduling class, nice value, memory policy and personality belong to a thread,
//! and a new process inherits those of the thread that starts it. So nothing has to be done between
//! fork and exec, and the fastest way to start a process can be used.

use std::io;
use std::marker::PhantomData;

use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};
use rustix::thread::{disable_transparent_huge_pages, transparent_huge_pages_are_disabled};

use crate::error::ControlError;
use crate::process::mempolicy::{self, SavedPolicy};
use crate::process::personality;
use crate::process::sched_class::{self, SavedClass};
use crate::process::setup::ProcessSetup;
use assay_model::environment::cpulist;

/// Guard of a calling thread that has the program's settings; the old ones return when it is
/// dropped or left. It cannot be sent to another thread.
#[must_use = "the thread goes back as soon as this is dropped"]
#[derive(Debug)]
pub struct SettingsGuard {
    undo: Vec<Undo>,
    /// Keeps the type on its thread (neither `Send` nor `Sync`).
    _here: PhantomData<*const ()>,
}

#[derive(Debug)]
enum Undo {
    Cpus(Box<CpuSet>),
    Memory(Box<SavedPolicy>),
    Personality(u32),
    HugePages(bool),
    Nice(i32),
    Class(SavedClass),
}

/// Sets CPUs, memory policy, address randomization, nice value and scheduling class of the calling
/// thread, for a program that it starts next. Environment variables are not changed.
///
/// # Errors
/// If one of them cannot be set or the kernel accepted a different value; the thread is then as
/// before.
pub fn enter(setup: &ProcessSetup) -> Result<SettingsGuard, ControlError> {
    // Dropped on an early return, which undoes the changes made so far.
    let mut entered = SettingsGuard { undo: Vec::new(), _here: PhantomData };
    if let Some(cpus) = &setup.cpus {
        let old =
            sched_getaffinity(None).map_err(|e| failed("cpus", "sched_getaffinity", e.into()))?;
        entered.undo.push(Undo::Cpus(Box::new(old)));
        set_cpus(cpus)?;
    }
    if let Some(policy) = &setup.numa {
        let old = mempolicy::current().map_err(|e| failed("numa", "get_mempolicy", e))?;
        entered.undo.push(Undo::Memory(Box::new(old)));
        mempolicy::set(policy).map_err(|e| failed("numa", "set_mempolicy", e))?;
    }
    if setup.no_aslr {
        let old = personality::current().map_err(|e| failed("aslr", "personality", e))?;
        // A container inherits it, and its profile of seccomp may not allow to set it.
        if old & personality::NO_RANDOMIZE == 0 {
            entered.undo.push(Undo::Personality(old));
            let what = "personality (the seccomp profile of a container may forbid it)";
            personality::set(old | personality::NO_RANDOMIZE)
                .map_err(|e| failed("aslr", what, e))?;
        }
    }
    if setup.no_thp {
        let old = transparent_huge_pages_are_disabled()
            .map_err(|e| failed("pages", "prctl(PR_GET_THP_DISABLE)", e.into()))?;
        entered.undo.push(Undo::HugePages(old));
        disable_transparent_huge_pages(true)
            .map_err(|e| failed("pages", "prctl(PR_SET_THP_DISABLE)", e.into()))?;
    }
    if let Some(nice) = setup.nice {
        let old = get_nice()?;
        entered.undo.push(Undo::Nice(old));
        set_nice(nice).map_err(|e| failed("nice", "setpriority", e))?;
    }
    if let Some(class) = setup.sched {
        let old = sched_class::saved().map_err(|e| failed("sched", "sched_getscheduler", e))?;
        entered.undo.push(Undo::Class(old));
        sched_class::set(class).map_err(|e| failed("sched", "sched_setscheduler", e))?;
    }
    Ok(entered)
}

/// Enters and leaves a setup on a temporary thread, which tests that it can be set and restored
/// without changing anything that matters.
pub(crate) fn try_out(setup: &ProcessSetup) -> Result<(), ControlError> {
    if *setup == (ProcessSetup { env: setup.env.clone(), ..ProcessSetup::default() }) {
        return Ok(());
    }
    let tried = std::thread::scope(|scope| {
        scope.spawn(|| enter(setup).and_then(|e| e.leave().map_err(no_way_back))).join()
    });
    tried.unwrap_or_else(|_| {
        Err(failed(
            "cpus",
            "trying it on a thread",
            io::Error::other("the thread ended in a fault"),
        ))
    })
}

fn no_way_back(error: ControlError) -> ControlError {
    match error {
        ControlError::Io { path, source, .. } => ControlError::NotHere {
            path,
            reason: format!(
                "it could be set but this user could not restore it ({source}); run as root or \
                 with CAP_SYS_NICE"
            ),
        },
        other => other,
    }
}

impl SettingsGuard {
    /// True if the thread has settings of its own now.
    pub fn changed(&self) -> bool {
        !self.undo.is_empty()
    }

    /// Restores the thread's settings.
    ///
    /// # Errors
    /// If a setting could not be restored; the others are restored.
    pub fn leave(mut self) -> Result<(), ControlError> {
        self.back()
    }

    fn back(&mut self) -> Result<(), ControlError> {
        let mut result = Ok(());
        while let Some(undo) = self.undo.pop() {
            let done = match undo {
                Undo::Cpus(old) => sched_setaffinity(None, &old)
                    .map_err(|e| failed("cpus", "restoring the CPUs", e.into())),
                Undo::Memory(old) => mempolicy::restore(&old)
                    .map_err(|e| failed("numa", "restoring the memory policy", e)),
                Undo::Personality(old) => personality::set(old)
                    .map_err(|e| failed("aslr", "restoring the personality", e)),
                Undo::HugePages(old) => disable_transparent_huge_pages(old)
                    .map_err(|e| failed("pages", "restoring transparent huge pages", e.into())),
                Undo::Nice(old) => {
                    set_nice(old).map_err(|e| failed("nice", "restoring the nice value", e))
                }
                Undo::Class(old) => sched_class::restore(old)
                    .map_err(|e| failed("sched", "restoring the scheduling class", e)),
            };
            result = result.and(done);
        }
        result
    }
}

impl Drop for SettingsGuard {
    fn drop(&mut self) {
        let _ = self.back();
    }
}

/// Sets the CPUs and reads them back, because the kernel silently leaves out CPUs that the thread's
/// control group does not have.
fn set_cpus(cpus: &[usize]) -> Result<(), ControlError> {
    let mut set = CpuSet::new();
    for cpu in cpus {
        if *cpu >= CpuSet::MAX_CPU {
            let error =
                io::Error::other(format!("CPUs from {} on are not supported", CpuSet::MAX_CPU));
            return Err(failed("cpus", "sched_setaffinity", error));
        }
        set.set(*cpu);
    }
    sched_setaffinity(None, &set).map_err(|e| failed("cpus", "sched_setaffinity", e.into()))?;
    let got = current_cpus()?;
    if got == cpus {
        return Ok(());
    }
    Err(ControlError::NotTaken {
        path: "cpus".to_owned(),
        asked: cpulist::format(cpus),
        got: cpulist::format(&got),
    })
}

/// Returns the CPUs that the calling thread may run on, in order.
///
/// # Errors
/// If the kernel does not report them.
pub fn current_cpus() -> Result<Vec<usize>, ControlError> {
    let set = sched_getaffinity(None).map_err(|e| failed("cpus", "sched_getaffinity", e.into()))?;
    Ok((0..CpuSet::MAX_CPU).filter(|c| set.is_set(*c)).collect())
}

/// Returns the nice value of the calling thread.
pub(crate) fn get_nice() -> Result<i32, ControlError> {
    rustix::process::getpriority_process(None).map_err(|e| failed("nice", "getpriority", e.into()))
}

/// Sets the nice value. For Linux, process 0 is the calling thread here and not its whole process.
fn set_nice(nice: i32) -> io::Result<()> {
    Ok(rustix::process::setpriority_process(None, nice)?)
}

fn failed(control: &str, doing: &str, source: io::Error) -> ControlError {
    ControlError::Io { path: control.to_owned(), doing: doing.to_owned(), source }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::process::setup::{NumaPolicy, Sched};

    /// Returns everything that `enter` may change on the calling thread.
    fn state() -> (Vec<usize>, i32, SavedClass, u32, Option<SavedPolicy>) {
        (
            current_cpus().unwrap(),
            get_nice().unwrap(),
            sched_class::saved().unwrap(),
            personality::current().unwrap(),
            mempolicy::current().ok(),
        )
    }

    #[test]
    fn the_thread_is_put_back_exactly() {
        let before = state();
        let setup = ProcessSetup {
            cpus: Some(vec![before.0[0]]),
            sched: Some(Sched::Batch),
            no_aslr: true,
            no_thp: true,
            numa: mempolicy::current().is_ok().then_some(NumaPolicy::Preferred(0)),
            ..ProcessSetup::default()
        };
        let entered = enter(&setup).unwrap();
        assert_eq!(current_cpus().unwrap(), [before.0[0]]);
        assert_ne!(state().2, before.2);
        assert_ne!(state().3 & personality::NO_RANDOMIZE, 0);
        assert!(transparent_huge_pages_are_disabled().unwrap());
        entered.leave().unwrap();
        assert!(!transparent_huge_pages_are_disabled().unwrap());
        assert_eq!(state(), before);
        drop(enter(&setup).unwrap());
        assert_eq!(state(), before);
    }

    #[test]
    fn a_setup_that_fails_half_way_leaves_nothing_behind() {
        let before = state();
        let setup = ProcessSetup {
            sched: Some(Sched::Batch),
            cpus: Some(vec![before.0[0]]),
            numa: Some(NumaPolicy::Bind(vec![900])),
            ..ProcessSetup::default()
        };
        assert!(enter(&setup).is_err());
        assert_eq!(state(), before);
    }

    #[test]
    fn cpus_that_are_not_there_are_an_error() {
        let setup = ProcessSetup { cpus: Some(vec![0, 1000]), ..ProcessSetup::default() };
        let error = enter(&setup).unwrap_err().to_string();
        assert!(error.contains("0,1000") || error.contains("sched_setaffinity"), "{error}");
        assert!(try_out(&setup).is_err());
        assert!(try_out(&ProcessSetup::default()).is_ok());
    }
}
