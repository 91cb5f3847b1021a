//! Checks the kind of machine: clock source, hardware threads that share a core, virtual machines,
//! CPUs of a Slurm job.

use assay_model::{Observation, Subject};
use rustix::thread::sched_getaffinity;

use super::FitnessObservations;
use crate::Root;
use crate::describe::hypervisor;

pub(super) fn look(root: &Root, seen: &mut FitnessObservations) {
    clock_source(root, seen);
    shared_cores(root, seen);
    virtual_machine(root, seen);
    job_cpus(seen);
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

/// Compares the CPUs that this process may use with those of its Slurm job on this node. The host
/// that submitted a job has its variables too, but no name from slurmd.
fn job_cpus(seen: &mut FitnessObservations) {
    let var = |name| std::env::var(name).ok();
    let list = var("SLURMD_NODENAME").and(var("SLURM_JOB_CPUS_PER_NODE"));
    let node = var("SLURM_NODEID").and_then(|id| id.parse().ok()).unwrap_or(0);
    let allocated = list.and_then(|list| of_node(&list, node));
    if let (Some(allocated), Ok(own)) = (allocated, sched_getaffinity(None)) {
        seen.add(Observation::JobCpus { allocated, usable: own.count() });
    }
}

/// Returns the number of this node in a list of Slurm's such as `72(x2),36`.
fn of_node(list: &str, node: usize) -> Option<u32> {
    let mut all = list.split(',').flat_map(|part| {
        let (count, times) = part.split_once("(x").unwrap_or((part, "1"));
        std::iter::repeat_n(count.parse().ok(), times.trim_end_matches(')').parse().unwrap_or(0))
    });
    all.nth(node)?
}

#[cfg(test)]
mod tests {
    #[test]
    fn cpus_of_a_node_are_read_from_a_list_of_repeated_numbers() {
        let of = |list: &str| (0..4).map(|node| super::of_node(list, node)).collect::<Vec<_>>();
        assert_eq!(of("72(x2),36"), [Some(72), Some(72), Some(36), None]);
        assert_eq!(of("2"), [Some(2), None, None, None]);
        assert_eq!(of("x,2(x"), [None; 4]);
    }
}
