//! F11: no other work ran on the machine.

use assay_model::environment::is_emulated;
use assay_model::units::format_value;

use crate::prelude::*;

pub const QUIET_HOST: CheckRow = CheckRow {
    id: "F11",
    name: "quiet-host",
    section: CheckSection::Environment,
    severity: WARNING,
    escalation: "invalid when only some of the treatments ran on a loaded machine",
    needs: "run queue of other programs, steal and pressure before the trials",
    fires: "more than 0.05 runnable tasks of other programs per CPU, 0.5 % steal or 1 % pressure",
    why: "other work on the machine is part of the result",
    remedy: "end the other work or wait for it; on a shared machine keep it off the CPUs used \
             (controls cpus and sched) and compare interleaved",
    source: "MachineState; duet benchmarking (Bulej et al. 2020)",
    evidence: "readings of the machine before the first trial; processes left by a program",
};

pub const CHECK: Check =
    Check::new(&QUIET_HOST, evaluate).on_observations(judge_observation).judged_in_trials();

/// First words of findings about other work on the machine.
pub const BUSY: &str = "machine busy: ";
/// Maximum runnable tasks of other programs per CPU on a quiet host.
pub const MAX_QUEUE_PER_CPU: f64 = 0.05;
/// Maximum steal on a quiet host, in percent.
const MAX_STEAL_PERCENT: f64 = 0.5;
/// Maximum pressure on a quiet host: share of the last 10 s in which a task waited, in percent.
const MAX_PRESSURE_PERCENT: f64 = 1.0;
/// Share of available memory below which memory is low.
const LOW_MEMORY: f64 = 0.1;
/// Share of CPU time used by other processes above which a metric of total CPU time is doubtful.
const MAX_OTHERS_SHARE: f64 = 0.1;

fn evaluate(e: &Evidence) -> Evaluation {
    let treatments = e.measured()?;
    let mut busy: Vec<(&str, String)> = Vec::new();
    let mut lacking = Vec::new();
    for treatment in treatments {
        let host = treatment.need(treatment.host.as_ref(), "the load of the host")?;
        let readings = [
            ("tasks of others per CPU", "", host.queue_per_cpu, MAX_QUEUE_PER_CPU),
            ("stolen time", " %", host.steal_percent, MAX_STEAL_PERCENT),
            ("pressure", " %", host.pressure_percent, MAX_PRESSURE_PERCENT),
        ];
        let above: Vec<String> = readings
            .iter()
            .filter_map(|(what, unit, value, most)| {
                value.filter(|v| v > most).map(|v| format!("{what} {v:.2}{unit}"))
            })
            .collect();
        if !above.is_empty() {
            busy.push((&treatment.label, above.join(", ")));
        }
        let absent = readings.iter().filter(|(_, _, value, _)| value.is_none());
        lacking.extend(absent.map(|(what, ..)| format!("{what} beside {}", treatment.label)));
    }
    let all = busy.len() == treatments.len();
    let found = busy
        .into_iter()
        .map(|(label, what)| {
            let message = format!("{label} ran on a loaded machine: {what}");
            if all { finding(message) } else { invalid(message) }
        })
        .collect();
    found_or_missing(found, &lacking)
}

fn judge_observation(observation: &Observation) -> Option<FiredCheck> {
    let size = |bytes: u64| format_value(bytes as f64, "B");
    Some(match observation {
        Observation::RunQueue { per_cpu, looks, load_average } if *per_cpu > MAX_QUEUE_PER_CPU => {
            finding(format!(
                "{BUSY}{per_cpu:.2} runnable tasks per CPU (limit {MAX_QUEUE_PER_CPU}, {looks} \
                looks, load average {load_average})"
            ))
        }
        Observation::Steal { percent } if *percent > MAX_STEAL_PERCENT => finding(format!(
            "{BUSY}steal {percent:.1} % (limit {MAX_STEAL_PERCENT} %)"
        ))
        .remedy("measure on a machine of its own, or at another time, and compare interleaved"),
        Observation::Pressure { resource, percent } if *percent > MAX_PRESSURE_PERCENT => {
            let name = match resource.as_str() {
                "cpu" => "CPU",
                "io" => "I/O",
                other => other,
            };
            finding(format!(
                "{BUSY}{name} pressure {percent:.1} % (limit {MAX_PRESSURE_PERCENT} %, last 10 s)"
            ))
        }
        Observation::VirtualMachine { hypervisor, .. } if is_emulated(hypervisor) => note(format!(
            "this machine is emulated ({hypervisor}): its times are the emulator's, and only \
             counts are comparable"
        ))
        .remedy("measure times on a machine that is not emulated"),
        Observation::VirtualMachine { yes: true, hypervisor } => {
            let name = match hypervisor.as_str() {
                "" => String::new(),
                name => format!(" (hypervisor: {name})"),
            };
            let text = format!(
                "this is a virtual machine{name}: other guests, invisible from here, share the \
                 hardware"
            );
            note(text).remedy("watch stolen time, compare interleaved, and repeat on another day")
        }
        Observation::Leftovers { processes } if *processes > 0 => finding(format!(
            "the program left {processes} of its processes running; they were ended, and their CPU \
             time is not in its figures"
        ))
        .remedy("let the program wait for its children"),
        Observation::Memory { available, total } => {
            let share = *available as f64 / (*total).max(1) as f64;
            if share >= LOW_MEMORY {
                return None;
            }
            finding(format!(
                "{} of memory are available ({:.1} %): pages will be reclaimed and read again",
                size(*available),
                share * 100.0
            ))
            .remedy("end programs that use memory, or measure on a larger machine")
        }
        Observation::Swap { used } if *used > 0 => {
            finding(format!("{} of swap are in use: memory will be read from disk", size(*used)))
                .remedy("swapoff -a moves it back if memory is free")
        }
        Observation::OthersComputed { metric, share } if *share > MAX_OTHERS_SHARE => {
            let text = format!(
                "other processes used {:.0} % of the user CPU time from which {metric} is computed",
                100.0 * share
            );
            let remedy =
                "end the other work, or keep it off these CPUs (control cpus), and repeat it";
            warning(text).remedy(remedy)
        }
        _ => return None,
    })
}
