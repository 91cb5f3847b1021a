//! Samples of the whole machine while the copies run: CPU times and bytes read from the devices.

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use assay_system::Root;
use assay_system::clock::monotonic_ns;

use crate::driver::clock::sleep_until;

/// Sampling interval in ns.
pub const EVERY_NS: u64 = 100_000_000;
/// Unit of the sectors in `/proc/diskstats`, in bytes.
const SECTOR: u64 = 512;

/// Counters of the machine at one moment, since boot.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct HostCounters {
    /// Time of the sample, ns of `CLOCK_MONOTONIC`.
    pub t_ns: u64,
    /// Clock ticks of the trial's CPUs in user mode.
    pub user: u64,
    /// Clock ticks of the trial's CPUs in the kernel, interrupts included.
    pub system: u64,
    /// Clock ticks of the trial's CPUs in idle or I/O wait.
    pub idle: u64,
    /// Sum of all clock ticks of the trial's CPUs.
    pub total: u64,
    /// Clock ticks of all CPUs in the kernel.
    pub host_system: u64,
    /// Bytes read from the devices; `None` if there are none or one has been removed.
    pub read: Option<u64>,
}

/// Sampler of the machine's counters.
pub struct Host {
    root: Root,
    cpus: Vec<String>,
    devices: Vec<String>,
}

impl Host {
    /// Creates a sampler for these CPUs and devices.
    pub fn new(cpus: &[usize], devices: Vec<String>) -> Self {
        Host {
            root: Root::system(),
            cpus: cpus.iter().map(|n| format!("cpu{n}")).collect(),
            devices,
        }
    }

    /// Returns the names of the devices.
    pub fn devices(&self) -> &[String] {
        &self.devices
    }

    /// Samples the counters; `None` if the kernel does not report CPU times.
    pub fn sample(&self) -> Option<HostCounters> {
        let stat = self.root.text("/proc/stat").ok()?;
        let t_ns = monotonic_ns();
        let mut look = cpu_times(&stat, &self.cpus)?;
        look.t_ns = t_ns;
        let disks = self.root.text("/proc/diskstats").unwrap_or_default();
        look.read = read_bytes(&disks, &self.devices);
        Some(look)
    }

    /// Samples every [`EVERY_NS`] from `start_ns` on until `stop` is true, and once more then.
    pub fn watch(&self, start_ns: u64, stop: &AtomicBool) -> Vec<HostCounters> {
        let mut looks = Vec::with_capacity(4096);
        let mut next = start_ns;
        loop {
            sleep_until(next);
            let over = stop.load(Ordering::Acquire);
            looks.extend(self.sample());
            if over {
                return looks;
            }
            next += EVERY_NS;
        }
    }
}

/// Returns the ticks of the named CPUs, and the ticks in the kernel of all CPUs.
fn cpu_times(stat: &str, cpus: &[String]) -> Option<HostCounters> {
    let mut look = HostCounters::default();
    let mut seen = false;
    for line in stat.lines().take_while(|l| l.starts_with("cpu")) {
        let mut words = line.split_whitespace();
        let name = words.next()?;
        // user, nice, system, idle, iowait, irq, softirq, steal; guest time is part of the first
        // two.
        let ticks: Vec<u64> = words.take(8).filter_map(|w| w.parse().ok()).collect();
        let [user, nice, system, idle, iowait, irq, softirq, ..] = ticks[..] else { return None };
        let kernel = system + irq + softirq;
        if name == "cpu" {
            look.host_system = kernel;
        } else if cpus.iter().any(|c| c == name) {
            seen = true;
            look.user += user + nice;
            look.system += kernel;
            look.idle += idle + iowait;
            look.total += ticks.iter().sum::<u64>();
        }
    }
    seen.then_some(look)
}

/// Returns the bytes read from these devices; `None` if there are none, or one is not listed.
fn read_bytes(disks: &str, devices: &[String]) -> Option<u64> {
    let of = |device: &String| {
        let line = disks.lines().find(|l| l.split_whitespace().nth(2) == Some(device))?;
        let sectors: u64 = line.split_whitespace().nth(5)?.parse().ok()?;
        Some(sectors * SECTOR)
    };
    if devices.is_empty() { None } else { devices.iter().map(of).sum() }
}

/// Returns the devices below a storage: those in `ASSAY_STORAGE_DEVICES`, else the device of the
/// folder's file system.
pub fn devices(dir: &Path) -> Vec<String> {
    match std::env::var("ASSAY_STORAGE_DEVICES") {
        Ok(names) => names.split_whitespace().map(str::to_owned).collect(),
        Err(_) => assay_system::device_below(dir).into_iter().collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_of_the_trials_cpus_and_of_all() {
        let stat = "cpu  30 3 9 60 6 3 3 0 0 0\ncpu0 10 1 3 20 2 1 1 0 0 0\n\
                    cpu1 20 2 6 40 4 2 2 5 0 0\nintr 1 2\n";
        let look = cpu_times(stat, &["cpu1".into()]).unwrap();
        assert_eq!((look.user, look.system, look.idle, look.total), (22, 10, 44, 81));
        assert_eq!(look.host_system, 15);
        assert_eq!(cpu_times(stat, &["cpu7".into()]), None);
        assert_eq!(cpu_times("cpu 1 2\n", &["cpu".into()]), None);
    }

    #[test]
    fn bytes_of_all_devices_or_none() {
        let disks =
            "   7       0 loop0 5 0 80 9 0 0 0 0 0 0 0\n   7       1 loop1 5 0 20 9 0 0 0\n";
        let names = |n: &[&str]| n.iter().map(|s| (*s).to_owned()).collect::<Vec<_>>();
        assert_eq!(read_bytes(disks, &names(&["loop0", "loop1"])), Some(51_200));
        assert_eq!(read_bytes(disks, &names(&["loop0", "loop7"])), None);
        assert_eq!(read_bytes(disks, &[]), None);
    }
}
