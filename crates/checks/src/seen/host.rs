//! Findings about the machine before a trial: other work, clock rate, free memory and disk, clock
//! source.

use assay_model::units::format_value;
use assay_model::{FiredCheck, Observation};

use super::judged::{JudgedCheck, of};
use crate::check::{N, W};
use crate::rows;

/// First words of findings about other work on the machine.
pub const BUSY: &str = "machine busy: ";
/// Maximum runnable tasks of other programs per CPU on a quiet host.
pub(crate) const MAX_QUEUE_PER_CPU: f64 = 0.05;
/// Maximum steal on a quiet host, in percent.
pub(crate) const MAX_STEAL_PERCENT: f64 = 0.5;
/// Maximum pressure on a quiet host: share of the last 10 s in which a task waited, in percent.
pub(crate) const MAX_PRESSURE_PERCENT: f64 = 1.0;
/// Share of available memory below which memory is low.
const LOW_MEMORY: f64 = 0.1;
/// Free bytes of a file system below which room is low. `LOW_DISK` is the same as a share.
const LOW_DISK_BYTES: f64 = 1e9;
const LOW_DISK: f64 = 0.05;
/// Clock sources that are read without entering the kernel and do not drift: x86, ARM, POWER, s390
/// and RISC-V.
const GOOD_CLOCKS: [&str; 5] = ["tsc", "arch_sys_counter", "timebase", "tod", "riscv_clocksource"];

pub(super) fn judge(seen: &Observation) -> JudgedCheck {
    other_work(seen).or_else(|| clock_rate(seen)).or_else(|| room(seen)).or_else(|| platform(seen))
}

fn other_work(seen: &Observation) -> JudgedCheck {
    let found = match seen {
        Observation::RunQueue { per_cpu, looks, load_average } => {
            (*per_cpu > MAX_QUEUE_PER_CPU).then(|| {
                FiredCheck::new(format!(
                    "{BUSY}{per_cpu:.2} runnable tasks per CPU (limit {MAX_QUEUE_PER_CPU}, {looks} looks, load average {load_average})"
                ))
            })?
        }
        Observation::Steal { percent } => (*percent > MAX_STEAL_PERCENT).then(|| {
            FiredCheck::new(format!("{BUSY}steal {percent:.1} % (limit {MAX_STEAL_PERCENT} %)"))
            .remedy("measure on a machine of its own, or at another time, and compare interleaved")
        })?,
        Observation::Pressure { resource, percent } => (*percent > MAX_PRESSURE_PERCENT).then(|| {
            let name = match resource.as_str() {
                "cpu" => "CPU",
                "io" => "I/O",
                other => other,
            };
            FiredCheck::new(format!(
                "{BUSY}{name} pressure {percent:.1} % (limit {MAX_PRESSURE_PERCENT} %, last 10 s)"
            ))
        })?,
        Observation::VirtualMachine { yes: true, hypervisor } => {
            let name = match hypervisor.as_str() {
                "" => String::new(),
                name => format!(" (hypervisor: {name})"),
            };
            FiredCheck::new(format!(
                "this is a virtual machine{name}: neighbours that cannot be seen from here share the \
                 hardware"
            ))
            .at(N)
            .remedy("watch stolen time, compare interleaved, and repeat on another day")
        }
        Observation::Leftovers { processes } => (*processes > 0).then(|| {
            FiredCheck::new(format!(
                "the program left {processes} of its processes running; they were ended, and their CPU \
                 time is not in its figures"
            ))
            .remedy("let the program wait for its children")
        })?,
        _ => return None,
    };
    Some((&rows::QUIET_HOST, found))
}

fn clock_rate(seen: &Observation) -> JudgedCheck {
    let found = match seen {
        Observation::Governor { governors } => {
            let others: Vec<&str> =
                governors.iter().map(String::as_str).filter(|g| *g != "performance").collect();
            (!others.is_empty()).then(|| {
                FiredCheck::new(format!(
                    "the frequency governor is `{}`, not `performance`",
                    others.join("`, `")
                ))
                .remedy("cpupower frequency-set -g performance")
            })?
        }
        Observation::Turbo { on: true } => FiredCheck::new(
            "turbo is on: the clock rate depends on heat and on how many cores are busy",
        )
        .at(N)
        .remedy("switch it off to compare code; leave it on to measure what users will see"),
        Observation::Throttling { before, now } if now > before => FiredCheck::new(format!(
            "the processor is being slowed down for heat: {} times just now",
            now - before
        ))
        .remedy("let it cool down; check fans and the air that comes in"),
        Observation::Throttling { now, .. } if *now > 0 => FiredCheck::new(format!(
            "the processor was slowed down for heat {now} times since boot"
        ))
        .at(N)
        .remedy("watch the clock rate during the run"),
        Observation::PowerPreference { what, value } => {
            let saves = matches!(value.as_str(), "power" | "balance_power" | "low-power" | "quiet");
            saves.then(|| {
                FiredCheck::new(format!("{what} is `{value}`: it saves power at the cost of speed"))
                    .remedy("set it to `performance`")
            })?
        }
        Observation::Battery { supply } => {
            FiredCheck::new(format!("the machine runs on its battery ({supply})"))
                .remedy("connect it to power")
        }
        _ => return None,
    };
    Some((&rows::CLOCK_AND_HEAT, found))
}

fn room(seen: &Observation) -> JudgedCheck {
    let size = |bytes: u64| format_value(bytes as f64, "B");
    Some(match seen {
        Observation::Memory { available, total } => {
            let share = *available as f64 / (*total).max(1) as f64;
            (share < LOW_MEMORY).then(|| {
                let found = FiredCheck::new(format!(
                    "{} of memory are available, {:.1} % of it: pages will be taken away and read again",
                    size(*available),
                    share * 100.0
                ));
                (&rows::QUIET_HOST, found.remedy("end what holds memory, or measure on a larger machine"))
            })?
        }
        Observation::Swap { used } => (*used > 0).then(|| {
            let found = FiredCheck::new(format!(
                "{} of swap are in use: some memory will have to be read from disk",
                size(*used)
            ));
            (
                &rows::QUIET_HOST,
                found.remedy("swapoff -a brings it back, if memory has room for it"),
            )
        })?,
        Observation::DiskRoom { folder, free, total } => {
            let low = (*free as f64) < LOW_DISK_BYTES || (*free as f64) < *total as f64 * LOW_DISK;
            low.then(|| {
                let found = FiredCheck::new(format!(
                    "the file system of `{folder}` has room for {} more: a nearly full file system is \
                     slower, and a run may fill it",
                    size(*free)
                ))
                .at(W)
                .remedy("make room, or choose another folder for the work");
                (&rows::ENVIRONMENT_STABLE, found)
            })?
        }
        _ => return None,
    })
}

fn platform(seen: &Observation) -> JudgedCheck {
    Some(match seen {
        Observation::ClockSource { source } => {
            (!GOOD_CLOCKS.contains(&source.as_str())).then(|| {
                let found = FiredCheck::new(format!(
                    "the clock source is `{source}`: reading the time may be slow or uneven, and short \
                     samples suffer"
                ));
                let remedy = "see why the kernel did not choose a better one (kernel log: `clocksource`), or \
                              take longer samples";
                (&rows::TIMER_AND_LENGTH, found.remedy(remedy))
            })?
        }
        Observation::SharedCores { on: true } => {
            let found = FiredCheck::new(
                "simultaneous multithreading is on: two threads may share a core, and slow each other down",
            );
            let remedy = "choose one thread of each core with the control `cpus`, or switch it off, where \
                          single threads are compared";
            (&rows::CPU_RESOURCES, found.at(N).remedy(remedy))
        }
        Observation::Unseen { of: subject, what, why } => {
            let found = FiredCheck::new(format!("cannot check {what}: {why}"));
            (of(*subject), found.at(N).remedy(""))
        }
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn little_room_is_low_by_size_or_by_share() {
        let low = |free: f64, total: f64| {
            let folder = "/x".to_owned();
            let seen = Observation::DiskRoom { folder, free: free as u64, total: total as u64 };
            judge(&seen).is_some()
        };
        assert!(low(5e8, 1e9));
        assert!(low(2e9, 1e12));
        assert!(!low(2e11, 1e12));
    }
}
