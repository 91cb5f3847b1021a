//! A running virtual machine: started, monitored through its console, and deleted at its end with
//! everything it wrote.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};

use assay_system::Root;

use super::program::qemu;
use super::{Accelerator, Disk, Image, Payload, VmConfig, failed};
use crate::error::Result;
use crate::token::{ADDRESS, TOKEN};

/// Space for the guest's writes, in addition to its empty disks, that the host must have at the
/// start, MiB.
const ROOM: u64 = 1024;
/// Free space below which the host counts as full, MiB. QEMU writes in clusters, so the last bytes
/// stay free.
const FULL: u64 = 4;
/// Number of lines shown from the end of the console.
const CONSOLE: usize = 12;

/// Request for a virtual machine.
#[derive(Debug, Clone, Copy)]
pub struct GuestRequest<'a> {
    pub machine: &'a VmConfig,
    /// Boot files of the machine.
    pub image: &'a Image,
    /// Accelerator that runs the machine.
    pub accelerator: Accelerator,
    /// Disk with assay's program and kits.
    pub payload: &'a Payload,
    /// Folder for the machine's files.
    pub work: &'a Path,
}

/// A virtual machine that this process started.
#[derive(Debug)]
pub struct Guest {
    child: Child,
    /// Folder of its files, removed when it ends.
    dir: PathBuf,
    /// Exit status of QEMU, once it is known.
    ended: Option<String>,
}

impl Guest {
    /// Starts the machine. Its agent reaches the collector at `port` of this host's loopback
    /// interface.
    ///
    /// # Errors
    /// Memory or disk space is missing, or QEMU does not start.
    pub(crate) fn start(request: &GuestRequest<'_>, port: u16, token: &str) -> Result<Self> {
        let GuestRequest { machine, image, accelerator, payload, work } = *request;
        room(machine, work)?;
        let dir = work.join("guest");
        let fault =
            |e: std::io::Error| failed(format!("cannot create files in {}: {e}", work.display()));
        let _ = fs::remove_dir_all(&dir);
        fs::create_dir(&dir).map_err(fault)?;
        let agent = format!("{ADDRESS}=10.0.2.2:{port}\n{TOKEN}={token}\n");
        let mut agent = agent.into_bytes();
        agent.resize(4096, b'\n');
        fs::write(dir.join("agent"), agent).map_err(fault)?;
        for (n, disk) in machine.disks.iter().enumerate() {
            let file = fs::File::create(dir.join(format!("disk{n}"))).map_err(fault)?;
            file.set_len(disk.size_mib << 20).map_err(fault)?;
        }
        let said = fs::File::create(dir.join("said")).map_err(fault)?;
        let child = qemu()
            .args(arguments(machine, image, accelerator, &payload.path, &dir))
            // QEMU writes changes to shared disks to an unnamed file there, which vanishes with
            // QEMU.
            .env("TMPDIR", &dir)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(said)
            .spawn()
            .map_err(|e| {
                failed(format!("cannot start QEMU: {e} (Debian package qemu-system-x86)"))
            })?;
        Ok(Guest { child, dir, ended: None })
    }

    /// Returns QEMU's exit status if it has ended.
    pub(crate) fn ended(&mut self) -> Option<&str> {
        if self.ended.is_none()
            && let Ok(Some(status)) = self.child.try_wait()
        {
            self.ended = Some(status.to_string());
        }
        self.ended.as_deref()
    }

    /// Returns a fatal error that the console shows: a kernel panic, an image without modules, or
    /// an agent that ended.
    pub(crate) fn trouble(&self) -> Option<String> {
        let console = self.read("console");
        let line = console.lines().find_map(|line| {
            let from = line.find("Kernel panic").or_else(|| line.find("assay-vm: there "))?;
            Some(line[from..].trim_start_matches("assay-vm: ").to_owned())
        });
        let said = self.read("agent-said");
        let done = said.lines().find_map(|l| l.strip_prefix("assay-vm: done "));
        let agent = || {
            let lines = said.lines().filter(|l| !l.starts_with("assay-vm: done"));
            let words = crate::output::last_words(&lines.collect::<Vec<_>>().join("\n"));
            done.map(|code| format!("its agent ended with {code}: {words}"))
        };
        let network = said.lines().find_map(|l| l.strip_prefix("assay-vm: there is no network"));
        line.or_else(|| network.map(|rest| format!("there is no network{rest}"))).or_else(agent)
    }

    /// Returns a message if the host has no space left for the guest's writes, which then fail.
    pub(crate) fn host_is_full(&self) -> Option<String> {
        let stat = rustix::fs::statvfs(&self.dir).ok()?;
        let free = stat.f_bavail.saturating_mul(stat.f_frsize) >> 20;
        (free < FULL).then(|| {
            format!(
                "{free} MiB are free in {} on the host, so what the virtual machine writes fails; \
                 make room, or choose another folder with ASSAY_SCRATCH",
                self.dir.display()
            )
        })
    }

    /// Returns QEMU's own message and the end of the console.
    pub(crate) fn last_words(&self) -> String {
        let qemu = self.read("said");
        let qemu = qemu.lines().next().map(|line| format!("QEMU said: {line}\n"));
        let console = self.read("console");
        let lines: Vec<&str> =
            console.lines().map(str::trim_end).filter(|l| !l.is_empty()).collect();
        let from = lines.len().saturating_sub(CONSOLE);
        let shown = lines[from..].join("\n");
        let console = if shown.is_empty() {
            "its console is empty".into()
        } else {
            format!("the end of its console:\n{shown}")
        };
        qemu.unwrap_or_default() + &console
    }

    fn read(&self, name: &str) -> String {
        let bytes = fs::read(self.dir.join(name)).unwrap_or_default();
        String::from_utf8_lossy(&bytes).replace('\r', "")
    }
}

impl Drop for Guest {
    /// Kills QEMU at once, since the guest's disks are discarded anyway.
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
        let _ = fs::remove_dir_all(&self.dir);
    }
}

/// Checks that the host has the memory and the disk space that a machine may use.
fn room(machine: &VmConfig, work: &Path) -> Result<()> {
    let meminfo = Root::system().text("proc/meminfo").unwrap_or_default();
    let available = assay_system::meminfo_bytes(&meminfo, "MemAvailable");
    if let Some(mib) = available.map(|bytes| bytes >> 20)
        && mib < machine.memory_mib
    {
        return Err(failed(format!(
            "it needs {} MiB of memory, but {mib} MiB are available; lower `memory`",
            machine.memory_mib
        )));
    }
    let wanted = ROOM + machine.disks.iter().map(|d| d.size_mib).sum::<u64>();
    let stat = rustix::fs::statvfs(work)
        .map_err(|e| failed(format!("cannot inspect {}: {e}", work.display())))?;
    let free = stat.f_bavail.saturating_mul(stat.f_frsize) >> 20;
    if free < wanted {
        return Err(failed(format!(
            "its disks need {wanted} MiB in {}, but {free} MiB are free; make room, or choose \
             another folder with ASSAY_SCRATCH",
            work.display()
        )));
    }
    Ok(())
}

/// Returns the arguments of QEMU.
fn arguments(
    machine: &VmConfig,
    image: &Image,
    accelerator: Accelerator,
    payload: &Path,
    dir: &Path,
) -> Vec<String> {
    let mut all = Vec::new();
    let mut add = |name: &str, value: String| all.extend([name.to_owned(), value]);
    let VmConfig { cpus, numa, memory_mib, .. } = *machine;
    add("-accel", accelerator.option().into());
    add("-cpu", "max".into());
    add("-smp", format!("{cpus},sockets={numa},cores={}", cpus / numa));
    let share = memory_mib / u64::from(numa);
    add("-m", format!("{}M", share * u64::from(numa)));
    for node in 0..numa {
        let first = node * cpus / numa;
        let last = (node + 1) * cpus / numa - 1;
        add("-object", format!("memory-backend-ram,id=m{node},size={share}M"));
        add("-numa", format!("node,nodeid={node},cpus={first}-{last},memdev=m{node}"));
    }
    add("-kernel", image.kernel.join("vmlinuz").display().to_string());
    add("-initrd", image.kernel.join("initrd").display().to_string());
    add("-append", command_line(machine));
    add("-netdev", "user,id=net".into());
    add("-device", "virtio-net-pci,netdev=net,romfile=".into());
    let file = |path: &Path| path.display().to_string().replace(',', ",,");
    for (id, path) in [
        ("root", image.root.clone()),
        ("modules", image.kernel.join("modules.img")),
        ("payload", payload.to_owned()),
        ("agent", dir.join("agent")),
    ] {
        let file = file(&path);
        add(
            "-drive",
            format!(
                "file={file},if=none,id={id},snapshot=on,format=raw,cache=unsafe,werror=report"
            ),
        );
        add("-device", format!("virtio-blk-pci,drive={id},serial=assay-{id}"));
    }
    if machine.disks.iter().any(|d| d.kind == "scsi") {
        add("-device", "virtio-scsi-pci".into());
    }
    for (n, Disk { kind, iops, bytes, .. }) in machine.disks.iter().enumerate() {
        let file = file(&dir.join(format!("disk{n}")));
        let limits =
            [("iops-total", iops), ("bps-total", bytes)].map(|(name, limit)| match limit {
                0 => String::new(),
                limit => format!(",throttling.{name}={limit}"),
            });
        let limits = limits.concat();
        add(
            "-drive",
            format!("file={file},if=none,id=disk{n},format=raw,cache=unsafe,werror=report{limits}"),
        );
        let driver = match kind.as_str() {
            "nvme" => "nvme",
            "scsi" => "scsi-hd",
            _ => "virtio-blk-pci",
        };
        add("-device", format!("{driver},drive=disk{n},serial=disk{n}"));
    }
    for name in ["console", "agent-said"] {
        add("-serial", format!("file:{}", dir.join(name).display()));
    }
    all
}

/// Returns the kernel's command line: the parameters that the image needs, then those of the
/// experiment.
fn command_line(machine: &VmConfig) -> String {
    let own = "console=ttyS0 rw panic=-1 systemd.unified_cgroup_hierarchy=1 cgroup_no_v1=all \
        systemd.show_status=0";
    format!("{own} {}", machine.cmdline).trim_end().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_machine_is_on_the_command_line() {
        let settings = [
            ("kernel", "6.1"),
            ("cmdline", "mitigations=off"),
            ("memory", "1 GiB"),
            ("disks", "nvme:256MiB,iops=500 virtio:1GiB,bytes=10MiB"),
        ];
        let mut settings: std::collections::BTreeMap<_, _> =
            settings.map(|(k, v)| (k.to_owned(), v.into())).into();
        settings.extend([("cpus".to_owned(), 4.into()), ("numa".to_owned(), 2.into())]);
        let machine = VmConfig::read(&settings).unwrap();
        let image = Image { kernel: "/k".into(), root: "/r,1.img".into(), release: "6.1".into() };
        let line =
            arguments(&machine, &image, Accelerator::Tcg, Path::new("/p.img"), Path::new("/d"))
                .join(" ");
        for part in [
            "-accel tcg,thread=multi",
            "-smp 4,sockets=2,cores=2 -m 1024M",
            "-numa node,nodeid=1,cpus=2-3,memdev=m1",
            "cgroup_no_v1=all systemd.show_status=0 mitigations=off",
            "file=/r,,1.img,if=none,id=root,snapshot=on",
            "file=/d/disk0,if=none,id=disk0,format=raw,cache=unsafe,werror=report,\
             throttling.iops-total=500 -device \
             nvme,drive=disk0",
            "throttling.bps-total=10485760 -device virtio-blk-pci,drive=disk1",
        ] {
            assert!(line.contains(part), "{part} in {line}");
        }
    }

    #[test]
    fn a_host_without_room_learns_how_much() {
        let of = |name: &str, value: &str| {
            let settings = [("kernel".to_owned(), "6.1".into()), (name.to_owned(), value.into())];
            let machine = VmConfig::read(&settings.into()).unwrap();
            room(&machine, &std::env::temp_dir()).map_err(|e| e.to_string())
        };
        assert!(of("memory", "900000 GiB").unwrap_err().contains("lower `memory`"));
        assert!(of("disks", "nvme:900000GiB").unwrap_err().contains("ASSAY_SCRATCH"));
    }
}
