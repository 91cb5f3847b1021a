//! Checks cheaply, again and again, a few facts that could change during a run and would matter.
//!
//! Each file is read into one buffer, which costs a few microseconds; a description of the whole
//! system costs tens of milliseconds. The files are not held open, because every open file is
//! copied into each program that is started and closed there, within its measured time.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::Read;
use std::path::PathBuf;

use crate::Root;
use crate::describe::selected;
use crate::read::root::one_line;

/// Facts and their files. Frequency settings are read only for CPU 0, to keep the check cheap.
const WATCHED: [(&str, &str); 21] = [
    ("boot.id", "/proc/sys/kernel/random/boot_id"),
    ("cpu.governor", "/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor"),
    ("cpu.frequency.max_khz", "/sys/devices/system/cpu/cpu0/cpufreq/scaling_max_freq"),
    ("cpu.microcode", "/sys/devices/system/cpu/cpu0/microcode/version"),
    ("cpu.online", "/sys/devices/system/cpu/online"),
    ("cpu.smt.control", "/sys/devices/system/cpu/smt/control"),
    ("cpu.turbo.no_turbo", "/sys/devices/system/cpu/intel_pstate/no_turbo"),
    ("cpu.turbo.boost", "/sys/devices/system/cpu/cpufreq/boost"),
    ("kernel.clocksource", "/sys/devices/system/clocksource/clocksource0/current_clocksource"),
    ("thp.enabled", "/sys/kernel/mm/transparent_hugepage/enabled"),
    ("thp.defrag", "/sys/kernel/mm/transparent_hugepage/defrag"),
    ("sysctl.kernel.nmi_watchdog", "/proc/sys/kernel/nmi_watchdog"),
    ("sysctl.kernel.numa_balancing", "/proc/sys/kernel/numa_balancing"),
    ("sysctl.kernel.perf_event_paranoid", "/proc/sys/kernel/perf_event_paranoid"),
    ("sysctl.kernel.randomize_va_space", "/proc/sys/kernel/randomize_va_space"),
    ("sysctl.kernel.sched_autogroup_enabled", "/proc/sys/kernel/sched_autogroup_enabled"),
    ("sysctl.kernel.sched_rt_runtime_us", "/proc/sys/kernel/sched_rt_runtime_us"),
    ("sysctl.vm.dirty_background_ratio", "/proc/sys/vm/dirty_background_ratio"),
    ("sysctl.vm.dirty_ratio", "/proc/sys/vm/dirty_ratio"),
    ("sysctl.vm.nr_hugepages", "/proc/sys/vm/nr_hugepages"),
    ("sysctl.vm.swappiness", "/proc/sys/vm/swappiness"),
];

/// Number of bytes compared. Files of this kind hold at most a line.
const BUFFER: usize = 1024;

/// The watched facts and their last accepted values.
#[derive(Debug)]
pub struct FactWatch {
    watched: Vec<WatchedFact>,
    buffer: Vec<u8>,
}

#[derive(Debug)]
struct WatchedFact {
    path: &'static str,
    file: &'static str,
    real: PathBuf,
    base: Result<Vec<u8>, String>,
}

impl FactWatch {
    /// Reads the current values as the state to compare with.
    pub fn new(root: &Root) -> Self {
        let mut watch = FactWatch {
            watched: WATCHED
                .iter()
                .map(|&(path, file)| WatchedFact {
                    path,
                    file,
                    real: root.path(file),
                    base: Err(String::new()),
                })
                .collect(),
            buffer: vec![0; BUFFER],
        };
        watch.rebase();
        watch
    }

    /// Reads the current values as the new state to compare with. Called after controls have been
    /// set, so that assay's own changes are not reported.
    pub fn rebase(&mut self) {
        for w in &mut self.watched {
            w.base = w.read(&mut self.buffer).map(<[u8]>::to_vec);
        }
    }

    /// Returns the facts that have changed, with their current values. Includes facts that became
    /// readable or unreadable.
    pub fn changed(&mut self) -> BTreeMap<String, String> {
        let mut changed = BTreeMap::new();
        for w in &mut self.watched {
            let same = match (w.base.is_ok(), w.read(&mut self.buffer)) {
                (true, Ok(now)) => w.base.as_deref() == Ok(now),
                (was_known, now) => was_known == now.is_ok(),
            };
            if !same {
                let now = match w.read(&mut self.buffer) {
                    Ok(bytes) => clean(bytes),
                    Err(reason) => format!("unknown: {reason}"),
                };
                changed.insert(w.path.to_owned(), now);
            }
        }
        changed
    }
}

impl WatchedFact {
    fn read<'b>(&self, buffer: &'b mut [u8]) -> Result<&'b [u8], String> {
        match File::open(&self.real).and_then(|mut file| file.read(buffer)) {
            Ok(n) => Ok(&buffer[..n]),
            Err(source) => {
                Err(crate::read::root::Unreadable { path: self.file.to_owned(), source }
                    .to_string())
            }
        }
    }
}

fn clean(bytes: &[u8]) -> String {
    one_line(selected(&String::from_utf8_lossy(bytes)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fake::FakeMachine;

    #[test]
    fn sees_changes_appearances_and_disappearances() {
        let machine = FakeMachine::new();
        machine.put("/proc/sys/vm/swappiness", "60\n");
        machine.put("/sys/kernel/mm/transparent_hugepage/enabled", "always [madvise] never\n");
        let mut watch = FactWatch::new(&machine.root());
        assert!(watch.changed().is_empty());

        machine.put("/proc/sys/vm/swappiness", "10\n");
        machine.put("/sys/kernel/mm/transparent_hugepage/enabled", "always madvise [never]\n");
        machine.put("/sys/devices/system/cpu/online", "0-3\n");
        let changed = watch.changed();
        assert_eq!(changed.len(), 3, "{changed:?}");
        assert_eq!(changed["sysctl.vm.swappiness"], "10");
        assert_eq!(changed["thp.enabled"], "never");
        assert_eq!(changed["cpu.online"], "0-3");

        watch.rebase();
        assert!(watch.changed().is_empty());
    }

    #[test]
    fn this_machine_does_not_change_by_being_looked_at() {
        let mut watch = FactWatch::new(&Root::system());
        assert!(!watch.changed().contains_key("boot.id"));
    }
}
