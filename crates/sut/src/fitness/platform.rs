//! What kind of machine is it? Clock source, threads that share a core, virtual machines.

use super::{CPU_RESOURCES, Findings, QUIET_HOST, TIMER};
use crate::Root;
use crate::describe::cpuid_hypervisor;

/// Clock sources that are read without entering the kernel and do not drift: of x86, ARM, POWER,
/// s390 and RISC-V.
const GOOD_CLOCKS: [&str; 5] = ["tsc", "arch_sys_counter", "timebase", "tod", "riscv_clocksource"];

pub(super) fn check(root: &Root, findings: &mut Findings) {
    clock_source(root, findings);
    shared_cores(root, findings);
    virtual_machine(root, findings);
}

fn clock_source(root: &Root, findings: &mut Findings) {
    match root.text("/sys/devices/system/clocksource/clocksource0/current_clocksource") {
        Ok(source) if GOOD_CLOCKS.contains(&source.as_str()) => {}
        Ok(source) => findings.warn(
            TIMER,
            format!(
                "the clock source is `{source}`: reading the time may be slow or uneven, and short \
                 samples suffer"
            ),
            "see why the kernel did not choose a better one (kernel log: `clocksource`), or take \
             longer samples",
        ),
        Err(e) => findings.cannot(TIMER, "the clock source", &e.to_string()),
    }
}

fn shared_cores(root: &Root, findings: &mut Findings) {
    match root.text("/sys/devices/system/cpu/smt/active") {
        Ok(active) if active == "1" => findings.note(
            CPU_RESOURCES,
            "simultaneous multithreading is on: two threads may share a core, and slow each other \
             down"
            .to_owned(),
            "choose one thread of each core with the control `cpus`, or switch it off, where single \
             threads are compared",
        ),
        Ok(_) => {}
        Err(e) => {
            findings.cannot(CPU_RESOURCES, "simultaneous multithreading", &e.to_string());
        }
    }
}

fn virtual_machine(root: &Root, findings: &mut Findings) {
    let hypervisor = if root.is_system() { cpuid_hypervisor().ok() } else { None };
    let flag = root.text("/proc/cpuinfo").map(|info| {
        info.lines()
            .find(|l| l.starts_with("flags"))
            .map(|l| l.split_whitespace().any(|f| f == "hypervisor"))
    });
    let name = match (hypervisor, flag) {
        (Some(name), _) if name != "none" => format!(" (its hypervisor signs `{name}`)"),
        (_, Ok(Some(true))) => String::new(),
        (Some(_), _) | (_, Ok(Some(false))) => return,
        (None, Ok(None)) => {
            return findings.cannot(
                QUIET_HOST,
                "whether this is a virtual machine",
                "`/proc/cpuinfo` has no x86 flags to see it by",
            );
        }
        (None, Err(e)) => {
            return findings.cannot(
                QUIET_HOST,
                "whether this is a virtual machine",
                &e.to_string(),
            );
        }
    };
    findings.note(
        QUIET_HOST,
        format!(
            "this is a virtual machine{name}: neighbours that cannot be seen from here share the \
             hardware"
        ),
        "watch stolen time, compare interleaved, and repeat on another day",
    );
}
