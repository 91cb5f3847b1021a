//! Checks the kind of machine: clock source, hardware threads that share a core, virtual machines.

use assay_model::{Observation, Subject};

use super::FitnessObservations;
use crate::Root;
use crate::describe::hypervisor;

pub(super) fn look(root: &Root, seen: &mut FitnessObservations) {
    clock_source(root, seen);
    shared_cores(root, seen);
    virtual_machine(root, seen);
}

fn clock_source(root: &Root, seen: &mut FitnessObservations) {
    match root.text("/sys/devices/system/clocksource/clocksource0/current_clocksource") {
        Ok(source) => seen.add(Observation::ClockSource { source }),
        Err(e) => seen.cannot(Subject::Timer, "the clock source", &e.to_string()),
    }
}

fn shared_cores(root: &Root, seen: &mut FitnessObservations) {
    match root.text("/sys/devices/system/cpu/smt/active") {
        Ok(active) => seen.add(Observation::SharedCores { on: active == "1" }),
        Err(e) => {
            seen.cannot(Subject::Cpus, "simultaneous multithreading", &e.to_string());
        }
    }
}

fn virtual_machine(root: &Root, seen: &mut FitnessObservations) {
    let flag = root.text("/proc/cpuinfo").map(|info| {
        info.lines()
            .find(|l| l.starts_with("flags"))
            .map(|l| l.split_whitespace().any(|f| f == "hypervisor"))
    });
    let mut cannot = |why: &str| {
        seen.cannot(Subject::OtherWork, "whether this is a virtual machine", why);
    };
    let (yes, hypervisor) = match (hypervisor(root), flag) {
        (Ok(name), _) if name != "none" => (true, name),
        (_, Ok(Some(true))) => (true, String::new()),
        (Ok(_), _) | (_, Ok(Some(false))) => (false, String::new()),
        (Err(why), Ok(None)) => return cannot(&why.reason),
        (Err(_), Err(e)) => return cannot(&e.to_string()),
    };
    seen.add(Observation::VirtualMachine { yes, hypervisor });
}
