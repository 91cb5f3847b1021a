//! Tests that a sample allocates nothing once the monitor has met its subjects.

use std::path::Path;

use assay_observe::{Recorder, Tree};
use assay_system::clock;
use assay_testing::in_own_process;

/// Files of sensors that few machines have, in the kernel's format, and of a power meter.
const SENSORS: [(&str, &str); 11] = [
    ("sys/class/powercap/intel-rapl:0/name", "package-0\n"),
    ("sys/class/powercap/intel-rapl:0/energy_uj", "1000000\n"),
    ("sys/class/powercap/intel-rapl:0/max_energy_range_uj", "262143328850\n"),
    ("sys/class/thermal/thermal_zone0/type", "x86_pkg_temp\n"),
    ("sys/class/thermal/thermal_zone0/temp", "45500\n"),
    ("sys/devices/system/cpu/cpu0/cpufreq/scaling_cur_freq", "2400000\n"),
    ("sys/class/drm/card0/device/gpu_busy_percent", "37\n"),
    ("sys/class/drm/card0/device/mem_info_vram_used", "1073741824\n"),
    ("sys/class/drm/card0/device/pp_dpm_sclk", "0: 500Mhz \n1: 1350Mhz *\n"),
    ("sys/class/drm/card0/device/hwmon/hwmon4/power1_average", "81000000\n"),
    ("meter.csv", "t,watts\n"),
];

/// Messages on processors without counters, or with unknown ones.
const NO_COUNTERS: [&str; 2] = ["shows no counters of the processor", "the processor is unknown"];

#[test]
fn a_sample_allocates_nothing() {
    in_own_process("allocation::a_sample_allocates_nothing", measure);
}

fn measure() {
    let folder = tempfile::tempdir().unwrap();
    for (path, text) in SENSORS {
        let path = folder.path().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
    let meter = format!("csv:{}", folder.path().join("meter.csv").display());
    let made = Tree::new(folder.path()).with_meters(&[meter]);
    let tree = Tree::new(Path::new("/"));
    let mut out = Recorder::default();
    out.reserve(100_000);
    for spec in assay_observe::all() {
        let mut monitor =
            match (spec.open)(&tree).or_else(|why| (spec.open)(&made).map_err(|_| why)) {
                Ok(monitor) => monitor,
                // Counters of the processor are not read from a file of the tree.
                Err(why) if NO_COUNTERS.iter().any(|words| why.reason.contains(words)) => {
                    let hardware = "hardware: counters of a processor that assay knows (PMU)";
                    println!("skipped: {}: because {hardware}: {why}", spec.name);
                    continue;
                }
                Err(why) => {
                    println!("skipped: {}: because {why}", spec.name);
                    continue;
                }
            };
        let mut allocations = || {
            let before = crate::ALLOCATIONS.count();
            monitor.sample(clock::monotonic_ns(), &mut out);
            crate::ALLOCATIONS.count() - before
        };
        // A device may appear or a file grow at any moment, and the test harness has a thread of
        // its own: over many samples, nearly all must be free of allocations.
        let counts: Vec<u64> = (0..50).map(|_| allocations()).collect();
        let free = counts.iter().filter(|count| **count == 0).count();
        assert!(free >= 40, "{}: {counts:?}", spec.name);
    }
}
