//! Tests that no content of the files makes a monitor panic or a value infinite.

use std::path::Path;

use assay_observe::{Recorder, Tree};
use proptest::prelude::*;

/// Every file that a monitor reads, with a text like the kernel's.
const FILES: &[(&str, &str)] = &[
    (
        "proc/stat",
        "cpu  22855 0 4292 241041 481 0 43 18 0 0\ncpu0 11097 0 1877 121341 61 0 6 7 0 0\n\
         intr 270295 0 0 1\nctxt 455010\nbtime 1795238124\nprocesses 14223\nprocs_running 2\n\
         procs_blocked 0\nsoftirq 181294 0 24482\n",
    ),
    ("proc/loadavg", "0.03 0.15 0.15 2/92 14224\n"),
    (
        "proc/diskstats",
        " 7 0 loop0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0\n 254 0 vda 54230 9131 5505714 19669 \
         13863 21861 2996488 6632 0 6956 26734 4744 12 467584 365 1895 67\n",
    ),
    (
        "proc/meminfo",
        "MemTotal: 1000 kB\nMemFree: 400 kB\nMemAvailable: 700 kB\nSwapTotal: 9 kB\n\
        SwapFree: 9 kB\n",
    ),
    ("proc/vmstat", "pgpgin 100\npgpgout 7\npswpin 0\npgfault 9\n"),
    ("proc/pressure/cpu", "some avg10=0.20 avg60=0.65 avg300=0.61 total=12780676\n"),
    ("proc/pressure/io", "some avg10=1 total=4\nfull avg10=1.03 avg60=0.22 total=3870785\n"),
    (
        "proc/net/dev",
        "Inter-| Receive\n face |bytes\n    lo: 3193 29 0 0 0 0 0 0 3193 29 0 0 0 0 0 0\n",
    ),
    ("proc/net/snmp", "Tcp: RtoMin RetransSegs\nTcp: 200 4\n"),
    ("sys/class/powercap/intel-rapl:0/name", "package-0\n"),
    ("sys/class/powercap/intel-rapl:0/energy_uj", "1000000\n"),
    ("sys/class/powercap/intel-rapl:0/max_energy_range_uj", "262143328850\n"),
    ("sys/class/hwmon/hwmon0/power1_input", "42500000\n"),
    ("sys/class/thermal/thermal_zone0/temp", "-45500\n"),
    ("sys/devices/system/cpu/cpu0/cpufreq/scaling_cur_freq", "2400000\n"),
    ("sys/class/drm/card0/device/gpu_busy_percent", "37\n"),
    ("sys/class/drm/card0/device/mem_info_vram_used", "1073741824\n"),
    ("sys/class/drm/card0/device/pp_dpm_sclk", "0: 500Mhz \n1: 1350Mhz *\n"),
    ("sys/class/drm/card0/device/hwmon/hwmon4/power1_average", "81000000\n"),
];

fn write(root: &Path, file: &str, bytes: &[u8]) {
    let path = root.join(file);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, bytes).unwrap();
}

/// Opens all monitors on `before`, and samples them on `before`, `after` and `before` again.
fn sample(before: &[(&str, Vec<u8>)], after: &[(&str, Vec<u8>)]) -> Recorder {
    let dir = tempfile::tempdir().unwrap();
    let fill = |files: &[(&str, Vec<u8>)]| {
        for (file, bytes) in files {
            write(dir.path(), file, bytes);
        }
    };
    fill(before);
    let tree = Tree::new(dir.path());
    let opened = assay_observe::all().map(|spec| (spec.open)(&tree));
    let mut out = Recorder::default();
    let mut monitors: Vec<_> = opened.into_iter().flatten().collect();
    for (second, files) in [before, after, before].into_iter().enumerate() {
        fill(files);
        for monitor in &mut monitors {
            monitor.sample((second as u64 + 1) * 1_000_000_000, &mut out);
            for sentence in monitor.not_seen() {
                assert!(!sentence.is_empty());
            }
        }
    }
    out
}

fn files(change: impl Fn(usize, &[u8]) -> Vec<u8>) -> Vec<(&'static str, Vec<u8>)> {
    let one =
        |(i, (file, text)): (usize, &(&'static str, &str))| (*file, change(i, text.as_bytes()));
    FILES.iter().enumerate().map(one).collect()
}

#[test]
fn these_texts_are_understood() {
    let kernel = files(|_, text| text.to_vec());
    let out = sample(&kernel, &kernel);
    // These two do not read the kernel's files: meters are named by the user, counters are opened.
    let others = ["meter", "tlb"];
    for spec in assay_observe::all().into_iter().filter(|s| !others.contains(&s.name)) {
        let seen = out.samples().series.iter().any(|s| s.monitor == spec.name);
        assert!(seen, "{} saw nothing, so that the tests below would test nothing", spec.name);
    }
    assert!(out.samples().rows.iter().any(|row| row.value == 0.0), "rates of no change");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    #[test]
    fn any_bytes(
        before in proptest::collection::vec(
            proptest::collection::vec(any::<u8>(), 0..200), FILES.len()),
        after in proptest::collection::vec(
            proptest::collection::vec(any::<u8>(), 0..200), FILES.len()),
    ) {
        let out = sample(&files(|i, _| before[i].clone()), &files(|i, _| after[i].clone()));
        prop_assert!(out.samples().rows.iter().all(|row| !row.value.is_infinite()));
    }

    #[test]
    fn kernel_text_with_a_few_bytes_changed(
        changes in proptest::collection::vec((any::<u16>(), proptest::sample::select(
            b"0123456789 \n:.-=x\xff/".to_vec()
        )), 1..60),
        keep in any::<u16>(),
    ) {
        let spoilt = files(|i, text| {
            let mut text = text.to_vec();
            for (k, (at, byte)) in changes.iter().enumerate() {
                if (k + i) % 3 == 0 {
                    let at = usize::from(*at) % text.len();
                    text[at] = *byte;
                }
            }
            if i == usize::from(keep) % FILES.len() {
                text.truncate(usize::from(keep) % text.len());
            }
            text
        });
        let kernel = files(|_, text| text.to_vec());
        let out = sample(&kernel, &spoilt);
        prop_assert!(out.samples().rows.iter().all(|row| !row.value.is_infinite()));
        sample(&spoilt, &kernel);
    }
}
