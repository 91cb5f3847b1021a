//! Describes whether the machine is virtual and whether assay runs in a container. The processor's
//! report and the files' content are separate facts, because they often differ.

use std::path::Path;

use assay_model::Fact;

use super::arm;
use super::facts::Facts;
use crate::{Root, Unavailable, mounts};

pub(super) fn describe(facts: &mut Facts<'_>) {
    match facts.root.text("/proc/cpuinfo") {
        Ok(info) => {
            let flags = info.lines().find(|l| l.starts_with("flags"));
            match flags {
                Some(line) => {
                    let set = line.split_whitespace().any(|f| f == "hypervisor");
                    facts.set("virt.hypervisor_flag", if set { "yes" } else { "no" });
                }
                None => facts.unknown(
                    "virt.hypervisor_flag",
                    "`/proc/cpuinfo` lists no x86 flags on this architecture",
                ),
            }
        }
        Err(e) => facts.unknown("virt.hypervisor_flag", e.to_string()),
    }
    match hypervisor(facts.root) {
        Ok(name) => facts.set("virt.hypervisor", name),
        Err(reason) => facts.unknown("virt.hypervisor", reason),
    }
    facts.file_if_there("virt.sysfs_type", "/sys/hypervisor/type");
    container(facts);
}

fn container(facts: &mut Facts<'_>) {
    let mut hints = Vec::new();
    let marks = [
        ("/.dockerenv", "docker"),
        ("/run/.containerenv", "podman"),
        ("/.singularity.d", "apptainer"),
    ];
    for (file, hint) in marks {
        if facts.root.exists(file) {
            hints.push(format!("{hint} (`{file}` is there)"));
        }
    }
    let mut unread = Vec::new();
    match facts.root.text("/proc/1/environ") {
        Ok(environ) => hints.extend(
            environ
                .split('\0')
                .filter_map(|v| v.strip_prefix("container="))
                .map(|kind| format!("{kind} (environment of process 1)")),
        ),
        Err(e) => unread.push(e.to_string()),
    }
    match facts.root.text("/proc/1/cgroup") {
        Ok(groups) => hints.extend(
            ["docker", "kubepods", "lxc", "machine.slice"]
                .iter()
                .filter(|word| groups.contains(**word))
                .map(|word| format!("{word} (control group of process 1)")),
        ),
        Err(e) => unread.push(e.to_string()),
    }
    if !hints.is_empty() {
        facts.set("virt.container", hints.join(", "));
    } else if unread.is_empty() {
        facts.set("virt.container", "none seen");
    } else {
        facts.unknown("virt.container", unread.join("; "));
    }
}

/// Words of the firmware's tables (SMBIOS) or the device tree, and the hypervisor that writes them.
const HYPERVISORS: [(&str, &str); 12] = [
    ("KVM", "KVM"),
    ("Amazon EC2", "KVM (Amazon EC2)"),
    ("Google Compute Engine", "KVM (Google Compute Engine)"),
    ("OpenStack", "KVM (OpenStack)"),
    ("linux,kvm", "KVM"),
    ("VMware", "VMware"),
    ("Microsoft Corporation Virtual Machine", "Microsoft Hyper-V"),
    ("Apple Virtualization", "Apple Virtualization"),
    ("Parallels", "Parallels"),
    ("xen,xen", "Xen"),
    ("QEMU", "QEMU, by KVM or emulated"),
    ("linux,dummy-virt", "QEMU, by KVM or emulated"),
];

/// Returns the name of the hypervisor, or `none`: on x86 its signature in CPUID, on Arm what the
/// processor, the firmware's tables and the device tree show.
pub(crate) fn hypervisor(root: &Root) -> Result<String, Unavailable> {
    let info = root.text("/proc/cpuinfo").unwrap_or_default();
    if !arm::cpus(&info).is_empty() {
        return arm_hypervisor(root, &info);
    }
    if root.is_system() {
        return cpuid_hypervisor();
    }
    Err("the processor can be asked only on the machine itself".to_owned().into())
}

fn arm_hypervisor(root: &Root, info: &str) -> Result<String, Unavailable> {
    if arm::emulated(info) {
        return Ok("QEMU, emulated (TCG)".to_owned());
    }
    let texts = [
        "/sys/class/dmi/id/sys_vendor",
        "/sys/class/dmi/id/product_name",
        "/proc/device-tree/hypervisor/compatible",
        "/proc/device-tree/compatible",
    ]
    .map(|file| root.text(file).unwrap_or_default());
    let shown = texts.join(" ");
    let bare = texts[1].split('.').nth(1) == Some("metal");
    let found = HYPERVISORS.iter().find(|(word, _)| shown.contains(word) && !bare);
    // Only a kernel that began in the hypervisor's mode (EL2) offers KVM itself.
    match found {
        Some((_, name)) => Ok((*name).to_owned()),
        None if bare || root.exists("/sys/devices/virtual/misc/kvm") => Ok("none".to_owned()),
        None => Err("neither firmware nor device tree names one, and KVM is not offered here"
            .to_owned()
            .into()),
    }
}

/// Returns what a container hides from assay or does not let it set, each with the option of podman
/// and Docker that allows it; empty outside of a container.
pub fn hidden_by_container(root: &Root) -> Vec<String> {
    let mut facts = Facts::new(root);
    container(&mut facts);
    let seen = facts.into_map().remove("virt.container");
    let seen = seen.as_ref().and_then(Fact::value).is_some_and(|seen| seen != "none seen");
    // Numbers of the first namespaces, from the kernel's include/linux/proc_ns.h.
    let own = |kind: &str, first: u32| {
        let link = root.link_name(&format!("/proc/self/ns/{kind}"));
        link.is_ok_and(|link| link != format!("{kind}:[{first}]"))
    };
    let processes = own("pid", 0xefff_fffc);
    if !seen && !processes {
        return Vec::new();
    }
    let mounts = mounts::all(root);
    let read_only = |point: &str| {
        let mount = mounts.iter().rev().find(|mount| mount.point == Path::new(point));
        mount.is_some_and(|mount| mount.options.split(',').any(|option| option == "ro"))
    };
    let device = |name: &String| root.exists(&format!("/sys/class/net/{name}/device"));
    let rows = [
        (processes, "other processes of the machine: --pid=host"),
        (own("cgroup", 0xefff_fffb), "limits of control groups above its own: --cgroupns=host"),
        (!root.names("/sys/class/net").iter().any(device), "network interfaces: --network=host"),
        (read_only("/proc/sys"), "settings below /proc/sys: --privileged"),
        (read_only("/sys"), "settings below /sys: --privileged"),
        (!root.exists("/dev/loop-control"), "block devices for storage: --privileged"),
    ];
    rows.into_iter().filter(|row| row.0).map(|row| row.1.to_owned()).collect()
}

/// Returns the hypervisor's signature from CPUID leaf 0x40000000 (`KVMKVMKVM`, `Microsoft Hv`), or
/// `none` if the processor reports no hypervisor (leaf 1, bit 31 of ECX).
#[cfg(target_arch = "x86_64")]
fn cpuid_hypervisor() -> Result<String, Unavailable> {
    use core::arch::x86_64::__cpuid;
    if __cpuid(1).ecx & (1 << 31) == 0 {
        return Ok("none".to_owned());
    }
    let leaf = __cpuid(0x4000_0000);
    let bytes: Vec<u8> =
        [leaf.ebx, leaf.ecx, leaf.edx].iter().flat_map(|r| r.to_le_bytes()).collect();
    let name: String = String::from_utf8_lossy(&bytes)
        .chars()
        .filter(|c| c.is_ascii_graphic() || *c == ' ')
        .collect();
    let name = name.trim().to_owned();
    if name.is_empty() {
        Err("a hypervisor is there but does not sign".to_owned().into())
    } else {
        Ok(name)
    }
}

/// Returns an error, because this architecture has no such instruction.
#[cfg(not(target_arch = "x86_64"))]
fn cpuid_hypervisor() -> Result<String, Unavailable> {
    Err("this architecture has no CPUID instruction to ask".to_owned().into())
}
