use std::fmt::Write as _;

use rustix::thread::{UnshareFlags, unshare_unsafe};

use crate::redact::{Recorder, RedactionKey};

use super::{describe, limited_io};
use crate::Root;
use crate::fake::FakeMachine;

fn recorder() -> Recorder {
    Recorder { key: Some(RedactionKey::new(*b"a key")), also: Vec::new() }
}

/// Two sockets of two cores with two threads each, as the kernel's files describe them.
fn machine() -> FakeMachine {
    let m = FakeMachine::new();
    let mut info = String::new();
    for cpu in 0..8 {
        let _ = write!(
            info,
            "processor\t: {cpu}\nvendor_id\t: Example\nmodel name\t: Example 9000\nstepping\t: 3\n\
             microcode\t: 0x7\ncpu MHz\t\t: 2000.0\nflags\t\t: fpu avx hypervisor\n\n"
        );
        let t = format!("/sys/devices/system/cpu/cpu{cpu}");
        m.put(&format!("{t}/topology/physical_package_id"), &format!("{}\n", cpu / 4));
        m.put(&format!("{t}/topology/core_id"), &format!("{}\n", cpu / 2 % 2));
        m.put(&format!("{t}/cache/index0/level"), "1\n");
        m.put(&format!("{t}/cache/index0/type"), "Data\n");
        m.put(&format!("{t}/cache/index0/size"), "32K\n");
        m.put(&format!("{t}/cache/index0/shared_cpu_list"), &format!("{}-{}\n", cpu & 6, cpu | 1));
        m.put(&format!("{t}/cpufreq/scaling_governor"), "powersave\n");
    }
    m.put("/proc/cpuinfo", &info);
    m.put("/sys/devices/system/cpu/online", "0-7\n");
    m.put("/sys/devices/system/cpu/smt/active", "1\n");
    m.put("/sys/devices/system/cpu/smt/control", "on\n");
    m.put("/sys/devices/system/cpu/intel_pstate/no_turbo", "0\n");
    m.put("/sys/devices/system/cpu/vulnerabilities/meltdown", "Mitigation: PTI\n");
    m.put("/sys/devices/system/node/online", "0-1\n");
    m.put("/sys/devices/system/node/node0/cpulist", "0-3\n");
    m.put("/sys/devices/system/node/node0/meminfo", "Node 0 MemTotal:  1048576 kB\n");
    m.put("/proc/meminfo", "MemTotal:  2097152 kB\nSwapTotal: 0 kB\nSwapFree: 0 kB\n");
    m.put("/proc/sys/kernel/osrelease", "6.1.0-example\n");
    m.put("/proc/sys/kernel/version", "#1 SMP PREEMPT_DYNAMIC\n");
    m.put("/proc/cmdline", "root=/dev/sda1 preempt=full\n");
    m.put("/proc/sys/vm/swappiness", "60\n");
    m.put("/proc/sys/kernel/random/uuid", "changes\n");
    m.put("/proc/sys/net/ipv4/tcp_rmem", "4096\t131072\t6291456\n");
    m.put("/proc/sys/net/ipv4/conf/eth0.100/forwarding", "0\n");
    m.put("/proc/sys/net/ipv4/conf/default/forwarding", "0\n");
    m.put("/sys/kernel/mm/transparent_hugepage/enabled", "always [madvise] never\n");
    m.put("/sys/kernel/mm/hugepages/hugepages-2048kB/nr_hugepages", "64\n");
    m.put("/sys/block/sda/size", "2048\n");
    m.put("/sys/block/sda/queue/scheduler", "none [mq-deadline]\n");
    m.put("/sys/block/sda/queue/rotational", "1\n");
    m.put("/sys/block/loop0/size", "0\n");
    m.put("/sys/class/net/lo/mtu", "65536\n");
    m.put("/proc/self/mountinfo", "1 0 8:1 / / rw,noatime - ext4 /dev/sda1 rw,data=ordered\n");
    m.put("/proc/self/cgroup", "0::/a/b\n");
    m.put("/sys/fs/cgroup/cgroup.controllers", "cpu memory\n");
    m.put("/sys/fs/cgroup/a/cpu.max", "150000 100000\n");
    m.put("/sys/fs/cgroup/a/b/cpu.max", "max 100000\n");
    m.put("/sys/fs/cgroup/a/b/memory.max", "1073741824\n");
    m.put("/sys/fs/cgroup/a/io.max", "8:0 rbps=2097152 wbps=max riops=max wiops=max\n");
    m.put("/sys/fs/cgroup/a/b/io.max", "");
    m.put(
        "/sys/fs/cgroup/a/b/io.stat",
        "8:16 rbytes=7 wbytes=7 rios=1 wios=1\n8:0 rbytes=4096 wbytes=512 rios=1 wios=1 dbytes=9\n",
    );
    m.put(
        "/proc/self/limits",
        "Limit  Soft Limit  Hard Limit  Units\nMax open files            1024                 \
        4096                 files     \n",
    );
    m.put("/proc/self/status", "Uid:\t1000\t1000\t1000\t1000\nCapEff:\t0\n");
    m.put("/proc/stat", "cpu  100 0 0 890 0 0 0 10 0 0\n");
    m.put("/proc/loadavg", "0.50 0.40 0.30 1/100 7\n");
    m.put("/proc/pressure/cpu", "some avg10=1.50 avg60=0.00 avg300=0.00 total=1\n");
    m
}

#[test]
fn a_made_up_machine_is_described() {
    let system = describe(&machine().root(), &recorder());
    for (path, value) in [
        ("cpu.model", "Example 9000"),
        ("cpu.threads", "8"),
        ("cpu.cores", "4"),
        ("cpu.sockets", "2"),
        ("cpu.smt", "yes"),
        ("cpu.turbo", "on"),
        ("cpu.governor", "powersave"),
        ("cpu.flags", "avx fpu hypervisor"),
        ("cpu.cache.l1d.size", "32 KiB"),
        ("cpu.cache.l1d.count", "4"),
        ("cpu.steal_since_boot", "1.000 %"),
        ("virt.hypervisor_flag", "yes"),
        ("numa.nodes", "2"),
        ("numa.node0.memory", "1 GiB"),
        ("memory.total", "2 GiB"),
        ("kernel.release", "6.1.0-example"),
        ("kernel.preempt", "full (dynamic, from the command line)"),
        ("kernel.mitigation.meltdown", "Mitigation: PTI"),
        ("sysctl.vm.swappiness", "60"),
        ("sysctl.net.ipv4.tcp_rmem", "4096 131072 6291456"),
        ("sysctl.net.ipv4.conf.default.forwarding", "0"),
        ("thp.enabled", "madvise"),
        ("hugepages.2048kB.count", "64"),
        ("block.sda.size", "1 MiB"),
        ("block.sda.queue.scheduler", "mq-deadline"),
        ("net.lo.driver", "virtual (no device)"),
        ("mount./", "ext4 /dev/sda1 rw,noatime,data=ordered"),
        ("cgroup.version", "2"),
        ("cgroup.cpu_quota", "1.50 CPUs"),
        ("cgroup.memory_limit", "1 GiB"),
        ("cgroup.io_limit", "8:0 rbps=2097152 wbps=max riops=max wiops=max"),
        ("limit.open_files", "1024 (at most 4096) files"),
        ("user.root", "no"),
        ("load.avg1", "0.50"),
        ("psi.cpu.some.avg10", "1.50"),
    ] {
        assert_eq!(system.text(path), value, "{path}");
    }
    // Only bytes of the limited device count.
    assert_eq!(limited_io(&machine().root()).unwrap().1, 4608);
    assert!(!system.facts.contains_key("sysctl.kernel.random.uuid"));
    assert!(!system.facts.contains_key("sysctl.net.ipv4.conf.eth0/100.forwarding"));
    assert!(!system.facts.contains_key("block.loop0.size"));
}

/// Fields of `/proc/cpuinfo` of an RK3588, whose cores are of two kinds.
const RK3588: &str = "\
BogoMIPS\t: 48.00
Features\t: fp asimd evtstrm aes pmull sha1 sha2 crc32 atomics fphp asimdhp cpuid \
asimdrdm lrcpc dcpop asimddp
CPU implementer\t: 0x41
CPU architecture: 8
";

/// A board with an RK3588: four small and four big cores in three clusters.
fn big_little() -> FakeMachine {
    let m = FakeMachine::new();
    let mut info = String::new();
    for cpu in 0..8 {
        let big = cpu > 3;
        let (variant, part) = if big { ("0x4", "0xd0b") } else { ("0x2", "0xd05") };
        let _ = write!(
            info,
            "processor\t: {cpu}\n{RK3588}CPU variant\t: {variant}\nCPU part\t: {part}\n\
             CPU revision\t: 0\n\n"
        );
        let c = format!("/sys/devices/system/cpu/cpu{cpu}");
        let (cluster, core) = if big { (cpu / 2 - 1, cpu % 2) } else { (0, cpu) };
        m.put(&format!("{c}/topology/physical_package_id"), "0\n");
        m.put(&format!("{c}/topology/cluster_id"), &format!("{cluster}\n"));
        m.put(&format!("{c}/topology/core_id"), &format!("{core}\n"));
        m.put(&format!("{c}/cpu_capacity"), if big { "1024\n" } else { "397\n" });
        let khz = if big { "2400000\n" } else { "1800000\n" };
        m.put(&format!("{c}/cpufreq/cpuinfo_max_freq"), khz);
    }
    m.put("/proc/cpuinfo", &(info + "Serial\t\t: 1fa0bc2c51185a02\n"));
    m.put("/sys/devices/system/cpu/online", "0-7\n");
    m.put("/proc/device-tree/model", "Radxa ROCK 5B\0");
    m.put("/proc/device-tree/compatible", "radxa,rock-5b\0rockchip,rk3588\0");
    m
}

#[test]
fn an_arm_board_is_described_by_names_and_clusters() {
    let m = big_little();
    let system = describe(&m.root(), &recorder());
    let small = "4 x Arm Cortex-A55 r2p0 (CPUs 0-3, capacity 397, at most 1800 MHz)";
    let big = "4 x Arm Cortex-A76 r4p0 (CPUs 4-7, capacity 1024, at most 2400 MHz)";
    let clusters = format!("{small} + {big}");
    for (path, value) in [
        ("cpu.vendor", "Arm"),
        ("cpu.model", "Arm Cortex-A55 + Arm Cortex-A76"),
        ("cpu.model_number", "0xd05 + 0xd0b"),
        ("cpu.family", "8"),
        ("cpu.stepping", "r2p0 + r4p0"),
        ("cpu.clusters", &clusters),
        ("cpu.cores", "8"),
        ("cpu.sockets", "1"),
        ("dmi.product_name", "Radxa ROCK 5B"),
    ] {
        assert_eq!(system.text(path), value, "{path}");
    }
    assert!(system.text("cpu.flags").starts_with("aes asimd"));
    assert!(system.get("virt.hypervisor").is_none() && !system.facts.contains_key("Serial"));
    m.put("/sys/devices/virtual/misc/kvm/dev", "10:232\n");
    assert_eq!(describe(&m.root(), &recorder()).text("virt.hypervisor"), "none");
}

#[test]
fn the_page_size_is_that_of_the_auxiliary_vector() {
    let m = FakeMachine::new();
    let described = |bytes: u64| {
        let words = [33, 0xffff_0000, 6, bytes, 0, 0];
        let vector: Vec<u8> = words.iter().flat_map(|w| w.to_ne_bytes()).collect();
        std::fs::create_dir_all(m.path("/proc/self")).unwrap();
        std::fs::write(m.path("/proc/self/auxv"), vector).unwrap();
        describe(&m.root(), &recorder()).text("memory.page_size").to_owned()
    };
    assert_eq!([4096, 16384, 65536].map(described), ["4 KiB", "16 KiB", "64 KiB"]);
    let own = describe(&Root::system(), &recorder());
    let page = rustix::param::page_size() as u64;
    assert_eq!(own.text("memory.page_size"), assay_model::units::format_bytes(page));
}

#[test]
fn hypervisors_of_arm_machines_are_known_by_firmware_and_processor() {
    let cpu = |implementer: &str, part: &str| {
        format!("processor\t: 0\nCPU implementer\t: {implementer}\nCPU part\t: {part}\n")
    };
    let (product, vendor) = ("/sys/class/dmi/id/product_name", "/sys/class/dmi/id/sys_vendor");
    let tree = "/proc/device-tree/compatible";
    for (part, files, name) in [
        ("0xd0c", [(product, "KVM Virtual Machine"), (vendor, "QEMU")], "KVM"),
        ("0xd4f", [(product, "m8g.large"), (vendor, "Amazon EC2")], "KVM (Amazon EC2)"),
        ("0xd4f", [(product, "m8g.metal"), (vendor, "Amazon EC2")], "none"),
        ("0xd0c", [(tree, "linux,dummy-virt"), (vendor, "")], "QEMU, by KVM or emulated"),
        ("0x051", [(tree, "linux,dummy-virt"), (vendor, "")], "QEMU, emulated (TCG)"),
    ] {
        let m = FakeMachine::new();
        m.put("/proc/cpuinfo", &cpu(if part == "0x051" { "0x00" } else { "0x41" }, part));
        for (file, text) in files {
            m.put(file, text);
        }
        assert_eq!(describe(&m.root(), &recorder()).text("virt.hypervisor"), name);
    }
}

#[test]
#[allow(unsafe_code)] // see the comment at the call
fn long_lists_of_numbers_are_read_whole() {
    let file = "/proc/sys/net/ipv4/ip_local_reserved_ports";
    let ports: Vec<String> = (0..300).map(|n| (2001 + 2 * n).to_string()).collect();
    let ports = ports.join(",");
    // A thread's network namespace has tunables of its own, and ends with the thread.
    let inside = || {
        // SAFETY: only `UnshareFlags::FILES` makes descriptors invalid.
        unsafe { unshare_unsafe(UnshareFlags::NEWNET) }?;
        std::fs::write(file, &ports)?;
        let described = describe(&Root::system(), &recorder());
        let read = Root::system().text(file).unwrap();
        std::io::Result::Ok([
            read,
            described.text("sysctl.net.ipv4.ip_local_reserved_ports").to_owned(),
        ])
    };
    match std::thread::scope(|scope| scope.spawn(inside).join().unwrap()) {
        Ok(texts) => assert_eq!(texts, [ports.clone(), ports]),
        Err(e) => println!("skipped: because a network namespace needs root: {e}"),
    }
}

#[test]
fn what_is_not_there_is_unknown_with_its_reason() {
    let system = describe(&machine().root(), &recorder());
    for path in [
        "memory.dimms",
        "virt.hypervisor",
        "libc.version",
        "dmi.bios_version",
        "numa.node1.memory",
        "psi.io",
        "host.name",
        "virt.container",
        "kernel.config.sha256",
        "block.sda.model",
    ] {
        let fact = system.facts.get(path).unwrap_or_else(|| panic!("{path} is missing"));
        assert!(fact.value().is_none(), "{path}: {fact:?}");
    }
    let nothing = describe(&FakeMachine::new().root(), &recorder());
    for path in ["cpu.model", "cpu.threads", "kernel.release", "memory.total", "sysctl", "mount"] {
        assert!(nothing.facts.contains_key(path) && nothing.get(path).is_none(), "{path}");
    }
}

#[test]
fn this_machine_is_described() {
    let system = describe(&Root::system(), &recorder());
    assert!(system.get("kernel.release").is_some());
    assert!(system.get("cpu.threads").unwrap().parse::<u32>().unwrap() >= 1);
    assert!(system.get("memory.total").is_some());
    assert!(system.facts.keys().filter(|k| k.starts_with("sysctl.")).count() > 100);
    let reasons = system.facts.iter().filter(|(_, f)| f.value() == Some(""));
    for (path, _) in reasons {
        // An empty tunable is a value; any other empty fact was not read.
        assert!(path.starts_with("sysctl.") || path.starts_with("env."), "{path} is empty");
    }
}
