//! Configuration of a virtual machine, read from the settings of an experiment.

use std::collections::BTreeMap;
use std::time::Duration;

use assay_model::{Scalar, nearest, units};

/// Names of all settings.
pub const SETTINGS: [&str; 9] =
    ["kernel", "root", "cmdline", "memory", "cpus", "numa", "disks", "accelerator", "boot_timeout"];

/// Configuration of a virtual machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VmConfig {
    /// Series of a kernel that was built, or the path of a folder with one.
    pub kernel: String,
    /// Path of a root file system; empty for the one that was built.
    pub root: String,
    /// Additional parameters of the kernel's command line.
    pub cmdline: String,
    /// Size of the memory in MiB.
    pub memory_mib: u64,
    /// Number of virtual CPUs.
    pub cpus: u32,
    /// Number of NUMA nodes that share the CPUs and the memory.
    pub numa: u32,
    /// Disks that are empty at boot.
    pub disks: Vec<Disk>,
    pub accelerator: AcceleratorRequest,
    /// Maximum time until its agent connects.
    pub boot_timeout: Duration,
}

/// The accelerator that an experiment requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AcceleratorRequest {
    /// KVM if it can run a guest, else emulation.
    Auto,
    /// KVM, or an error.
    Kvm,
    /// Emulation by QEMU (TCG).
    Tcg,
}

/// A disk that is empty when the machine boots.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Disk {
    /// Interface of the disk: `virtio`, `nvme` or `scsi`.
    pub kind: String,
    /// Size of the disk in MiB.
    pub size_mib: u64,
    /// Limit of operations per second; 0 for no limit.
    pub iops: u64,
    /// Limit of bytes per second; 0 for no limit.
    pub bytes: u64,
}

/// Limits that keep a typing error from taking the host's memory or disk.
const MAX_CPUS: u32 = 255;
const MAX_DISKS: usize = 8;
const LEAST_MIB: u64 = 256;

impl VmConfig {
    /// Parses the settings of an experiment.
    ///
    /// # Errors
    /// The name of the setting, and a message with the mistake and the valid values.
    pub fn read(settings: &BTreeMap<String, Scalar>) -> Result<Self, (String, String)> {
        let wrong = |name: &str, why: String| (name.to_owned(), why);
        for name in settings.keys() {
            if !SETTINGS.contains(&name.as_str()) {
                let help = nearest(name, SETTINGS.into_iter()).map_or_else(
                    || format!("there are {}", SETTINGS.join(", ")),
                    |near| format!("did you mean `{near}`?"),
                );
                return Err(wrong(name, format!("a virtual machine has no `{name}`; {help}")));
            }
        }
        let text = |name: &str| settings.get(name).map(Scalar::to_text).unwrap_or_default();
        let count = |name: &str, most: u32| match settings.get(name) {
            None => Ok(1),
            Some(value) => value
                .as_i64()
                .and_then(|n| u32::try_from(n).ok())
                .filter(|n| (1..=most).contains(n))
                .ok_or_else(|| wrong(name, format!("`{value}` is not a number from 1 to {most}"))),
        };
        if let Some(number) = settings.get("kernel").filter(|k| !matches!(k, Scalar::Text(_))) {
            let why = format!(
                "`{number}` is a number, and as numbers 5.1 and 5.10 are equal; write it in quotes"
            );
            return Err(wrong("kernel", why));
        }
        let kernel = text("kernel");
        if kernel.is_empty() {
            let why = "a virtual machine needs a kernel: `kernel = \"6.1\"` (`assay vm build \
                6.1`), or the path of a folder";
            return Err(wrong("kernel", why.to_owned()));
        }
        let cpus = count("cpus", MAX_CPUS)?;
        let numa = count("numa", cpus)?;
        if !cpus.is_multiple_of(numa) {
            let why = format!("{cpus} CPUs cannot be shared evenly by {numa} nodes");
            return Err(wrong("numa", why));
        }
        let memory = settings.get("memory").cloned().unwrap_or_else(|| "1 GiB".into());
        let memory_mib =
            units::bytes_of(&memory).map_err(|e| wrong("memory", e.to_string()))? >> 20;
        if memory_mib < LEAST_MIB * u64::from(numa) {
            let why = format!("`{memory}` is less than {LEAST_MIB} MiB for each NUMA node");
            return Err(wrong("memory", why));
        }
        let accelerator = match text("accelerator").as_str() {
            "" | "auto" => AcceleratorRequest::Auto,
            "kvm" => AcceleratorRequest::Kvm,
            "tcg" => AcceleratorRequest::Tcg,
            other => {
                return Err(wrong("accelerator", format!("`{other}` is not auto, kvm or tcg")));
            }
        };
        let cmdline = text("cmdline");
        if cmdline.chars().any(char::is_control) {
            return Err(wrong("cmdline", "write it in one line".to_owned()));
        }
        let timeout = settings.get("boot_timeout").cloned().unwrap_or_else(|| "5 min".into());
        let boot_timeout =
            units::duration_of(&timeout).map_err(|e| wrong("boot_timeout", e.to_string()))?;
        let disks = text("disks")
            .split_whitespace()
            .map(|one| Disk::read(one).map_err(|e| wrong("disks", e)))
            .collect::<Result<Vec<_>, _>>()?;
        if disks.len() > MAX_DISKS {
            return Err(wrong("disks", format!("there are more than {MAX_DISKS}")));
        }
        Ok(VmConfig {
            kernel,
            root: text("root"),
            cmdline,
            memory_mib,
            cpus,
            numa,
            disks,
            accelerator,
            boot_timeout,
        })
    }
}

impl std::fmt::Display for Disk {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}:{}MiB", self.kind, self.size_mib)?;
        for (name, limit) in [("iops", self.iops), ("bytes", self.bytes)] {
            if limit > 0 {
                write!(f, ",{name}={limit}")?;
            }
        }
        Ok(())
    }
}

impl Disk {
    /// Parses a disk of the form `KIND:SIZE[,iops=N][,bytes=SIZE]`.
    fn read(text: &str) -> Result<Self, String> {
        let wrong = |what: String| {
            format!(
                "{what}; write `KIND:SIZE,iops=N,bytes=SIZE` with KIND virtio, nvme or scsi \
                (`nvme:256MiB,iops=500`)"
            )
        };
        let (kind, rest) =
            text.split_once(':').ok_or_else(|| wrong(format!("`{text}` is not a disk")))?;
        if !["virtio", "nvme", "scsi"].contains(&kind) {
            return Err(wrong(format!("`{kind}` is not a kind of disk")));
        }
        let bytes = |value: &str| units::parse_bytes(value).map_err(|e| wrong(e.to_string()));
        let mut words = rest.split(',');
        let size_mib = bytes(words.next().unwrap_or_default())? >> 20;
        if size_mib == 0 {
            return Err(wrong(format!("`{text}` is smaller than 1 MiB")));
        }
        let mut disk = Disk { kind: kind.to_owned(), size_mib, iops: 0, bytes: 0 };
        for word in words {
            match word.split_once('=') {
                Some(("iops", n)) => {
                    disk.iops = n.parse().map_err(|_| wrong(format!("`{n}` is not a number")))?;
                }
                Some(("bytes", n)) => disk.bytes = bytes(n)?,
                _ => return Err(wrong(format!("`{word}` is not a limit of a disk"))),
            }
        }
        Ok(disk)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(settings: &[(&str, &str)]) -> Result<VmConfig, (String, String)> {
        let value = |k: &str, v: &str| match k {
            "cpus" | "numa" => Scalar::parse(v),
            _ => Scalar::from(v),
        };
        let settings = settings.iter().map(|(k, v)| ((*k).to_owned(), value(k, v)));
        VmConfig::read(&settings.collect())
    }

    #[test]
    fn settings_make_a_machine() {
        let machine = read(&[
            ("kernel", "6.1"),
            ("cpus", "4"),
            ("numa", "2"),
            ("memory", "2 GiB"),
            ("disks", "nvme:256MiB,iops=500 scsi:1GiB,bytes=10MiB"),
        ])
        .unwrap();
        assert_eq!((machine.cpus, machine.numa, machine.memory_mib), (4, 2, 2048));
        let disk =
            |kind: &str, size_mib, iops, bytes| Disk { kind: kind.into(), size_mib, iops, bytes };
        assert_eq!(machine.disks, [disk("nvme", 256, 500, 0), disk("scsi", 1024, 0, 10 << 20)]);
    }

    #[test]
    fn what_cannot_be_is_named() {
        for (settings, named, said) in [
            (&[("cpus", "2")][..], "kernel", "needs a kernel"),
            (&[("kernel", "6.1"), ("cpu", "2")], "cpu", "did you mean `cpus`?"),
            (&[("kernel", "6.1"), ("cpus", "0")], "cpus", "1 to 255"),
            (&[("kernel", "6.1"), ("cpus", "3"), ("numa", "2")], "numa", "evenly"),
            (&[("kernel", "6.1"), ("memory", "16 MiB")], "memory", "256 MiB"),
            (&[("kernel", "6.1"), ("memory", "much")], "memory", "much"),
            (&[("kernel", "6.1"), ("accelerator", "xen")], "accelerator", "auto, kvm or tcg"),
            (&[("kernel", "6.1"), ("disks", "floppy:1MiB")], "disks", "floppy"),
            (&[("kernel", "6.1"), ("disks", "nvme:1MiB,speed=3")], "disks", "speed=3"),
            (&[("kernel", "6.1"), ("boot_timeout", "soon")], "boot_timeout", "soon"),
        ] {
            let (name, why) = read(settings).unwrap_err();
            assert_eq!(name, named);
            assert!(why.contains(said), "{why}");
        }
        let number = [("kernel".to_owned(), Scalar::parse("5.10"))];
        assert!(VmConfig::read(&number.into()).unwrap_err().1.contains("in quotes"));
    }
}
