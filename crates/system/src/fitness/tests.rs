use std::time::Duration;

use assay_checks::judge_observations;
use assay_model::{Finding, Severity};

use super::{Options, look};
use crate::fake::FakeMachine;
use crate::{CpuTimes, Root};

/// A machine of two CPUs without any problem.
fn fit_machine() -> FakeMachine {
    let m = FakeMachine::new();
    m.put("/proc/loadavg", "0.00 0.00 0.00 1/100 7\n");
    m.put("/proc/stat", "cpu  100 0 0 900 0 0 0 0 0 0\n");
    for resource in ["cpu", "io", "memory"] {
        m.put(&format!("/proc/pressure/{resource}"), "some avg10=0.00 avg60=0.00 total=1\n");
    }
    m.put(
        "/proc/meminfo",
        "MemTotal: 1000 kB\nMemAvailable: 900 kB\nSwapTotal: 100 kB\nSwapFree: 100 kB\n",
    );
    m.put("/proc/cpuinfo", "flags : fpu avx\n");
    m.put("/sys/devices/system/cpu/online", "0-1\n");
    m.put("/sys/devices/system/cpu/smt/active", "0\n");
    m.put("/sys/devices/system/cpu/intel_pstate/no_turbo", "1\n");
    m.put("/sys/devices/system/clocksource/clocksource0/current_clocksource", "tsc\n");
    for cpu in 0..2 {
        let c = format!("/sys/devices/system/cpu/cpu{cpu}");
        m.put(&format!("{c}/cpufreq/scaling_governor"), "performance\n");
        m.put(&format!("{c}/cpufreq/energy_performance_preference"), "performance\n");
        m.put(&format!("{c}/thermal_throttle/core_throttle_count"), "0\n");
    }
    m
}

/// Options with a CPU-time reading of 100 ticks earlier.
fn options() -> Options {
    Options {
        work_dir: None,
        since: Some(CpuTimes { total: 900, steal: 0 }),
        window: Duration::ZERO,
    }
}

fn found(machine: &FakeMachine) -> Vec<Finding> {
    judge_observations(&look(&machine.root(), &options()))
}

#[test]
fn nothing_speaks_against_a_fit_machine() {
    assert_eq!(found(&fit_machine()), []);
}

#[test]
fn each_fault_is_found_and_has_a_remedy() {
    let faults = [
        ("F11", "tasks per CPU", "/proc/loadavg", "9.00 1.00 1.00 3/100 7\n"),
        ("F11", "steal 10.0 %", "/proc/stat", "cpu  100 0 0 890 0 0 0 10 0 0\n"),
        ("F11", "CPU pressure", "/proc/pressure/cpu", "some avg10=12.00 avg60=0.00\n"),
        ("F11", "I/O pressure", "/proc/pressure/io", "some avg10=1.01 avg60=0.00\n"),
        ("F11", "memory pressure", "/proc/pressure/memory", "some avg10=2.00 avg60=0.00\n"),
        (
            "F11",
            "memory are available",
            "/proc/meminfo",
            "MemTotal: 1000 kB\nMemAvailable: 9 kB\nSwapTotal: 0 kB\nSwapFree: 0 kB\n",
        ),
        (
            "F11",
            "swap are in use",
            "/proc/meminfo",
            "MemTotal: 1000 kB\nMemAvailable: 900 kB\nSwapTotal: 9 kB\nSwapFree: 1 kB\n",
        ),
        ("F11", "virtual machine", "/proc/cpuinfo", "flags : fpu hypervisor\n"),
        (
            "F12",
            "governor is `powersave`",
            "/sys/devices/system/cpu/cpu1/cpufreq/scaling_governor",
            "powersave\n",
        ),
        ("F12", "turbo is on", "/sys/devices/system/cpu/intel_pstate/no_turbo", "0\n"),
        (
            "F12",
            "7 times since boot",
            "/sys/devices/system/cpu/cpu0/thermal_throttle/core_throttle_count",
            "7\n",
        ),
        (
            "F12",
            "energy preference is `power`",
            "/sys/devices/system/cpu/cpu0/cpufreq/energy_performance_preference",
            "power\n",
        ),
        (
            "F15",
            "`kvm-clock`",
            "/sys/devices/system/clocksource/clocksource0/current_clocksource",
            "kvm-clock\n",
        ),
        ("F07", "multithreading is on", "/sys/devices/system/cpu/smt/active", "1\n"),
    ];
    for (id, words, file, text) in faults {
        let machine = fit_machine();
        machine.put(file, text);
        let found = found(&machine);
        assert_eq!(found.len(), 1, "{file}: {found:?}");
        assert_eq!(found[0].id, id);
        assert!(found[0].message.contains(words), "{words}: {}", found[0].message);
        assert!(!found[0].remedy.is_empty(), "{words}");
    }
}

#[test]
fn what_cannot_be_read_is_reported() {
    let found = found(&FakeMachine::new());
    for what in [
        "run queue",
        "stolen time",
        "pressure on a CPU",
        "pressure on input",
        "pressure on memory",
        "governor",
        "turbo",
        "throttling",
        "memory and swap",
        "clock source",
        "multithreading",
        "virtual machine",
    ] {
        let one = found.iter().find(|f| f.message.contains(what));
        let one = one.unwrap_or_else(|| panic!("{what} is missing from {found:?}"));
        assert!(one.message.starts_with("cannot check"), "{}", one.message);
        assert_eq!(one.severity, Severity::Note);
    }
}

#[test]
fn the_work_folder_is_looked_at() {
    let machine = fit_machine();
    let none = Options { work_dir: Some(machine.path("/none")), ..options() };
    let found = judge_observations(&look(&machine.root(), &none));
    assert!(found.iter().any(|f| f.id == "F13" && f.message.starts_with("cannot check the room")));
}

#[test]
fn this_machine_can_be_checked() {
    let options = Options { window: Duration::from_millis(10), ..Options::default() };
    let found = judge_observations(&look(&Root::system(), &options));
    assert!(found.windows(2).all(|w| w[0].severity >= w[1].severity));
    assert!(found.iter().all(|f| !f.message.is_empty()));
}
