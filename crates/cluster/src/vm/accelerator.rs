//! What runs a virtual machine's instructions: KVM where it really runs a guest, else QEMU's own emulation.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::{Duration, Instant};

use super::{Image, Wanted, failed};
use crate::ClusterError;
use crate::vm::program::{qemu, version};

/// How long a guest may take to its first program under KVM.
const PROBE: Duration = Duration::from_secs(30);
/// What the first program of an image says when it is only asked whether it runs.
const RUNS: &str = "runs a guest";
const KVM: &str = "/dev/kvm";

/// What runs the instructions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Accelerator {
    /// The processor.
    Kvm,
    /// QEMU's emulation: times are the emulator's.
    Tcg,
}

impl Accelerator {
    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Accelerator::Kvm => "kvm",
            Accelerator::Tcg => "tcg",
        }
    }

    /// As QEMU has it.
    pub(super) fn option(self) -> &'static str {
        match self {
            Accelerator::Kvm => "kvm",
            Accelerator::Tcg => "tcg,thread=multi",
        }
    }
}

/// What runs the instructions of a machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Choice {
    /// What was chosen.
    pub accelerator: Accelerator,
    /// Why it is not the processor; empty: it is, or emulation was asked for.
    pub reason: String,
}

impl Choice {
    /// Chooses: /dev/kvm may be there and run no stock kernel, so a guest that gets to its first program is the
    /// proof. What was found is kept until the next boot.
    ///
    /// # Errors
    /// KVM was asked for and runs none.
    pub fn of(wanted: Wanted, image: &Image, work: &Path) -> Result<Self, ClusterError> {
        choose(wanted, kvm_device, || proven(image, work))
    }
}

/// Chooses by whether KVM's device can be used and whether a guest starts with it, each tried only if it matters.
fn choose(
    wanted: Wanted,
    device: impl FnOnce() -> Result<(), String>,
    proven: impl FnOnce() -> Result<bool, ClusterError>,
) -> Result<Choice, ClusterError> {
    let reason = match wanted {
        Wanted::Tcg => String::new(),
        Wanted::Auto | Wanted::Kvm => match device() {
            Err(why) => why,
            Ok(()) if proven()? => {
                return Ok(Choice { accelerator: Accelerator::Kvm, reason: String::new() });
            }
            Ok(()) => NO_GUEST.to_owned(),
        },
    };
    if wanted == Wanted::Kvm {
        return Err(failed(format!("{reason}; use `accelerator = \"tcg\"`, which emulates")));
    }
    Ok(Choice { accelerator: Accelerator::Tcg, reason })
}

/// Why KVM is not used although it is there.
const NO_GUEST: &str =
    "/dev/kvm can be opened, but a guest does not get to its first program with it";

/// Whether this process may use KVM's device; else why not.
fn kvm_device() -> Result<(), String> {
    let device = fs::OpenOptions::new().read(true).write(true).open(KVM);
    device.map(|_| ()).map_err(|e| format!("{KVM} cannot be used: {e}"))
}

/// What was found out about KVM since this machine was booted; `None`: nothing yet.
fn known() -> (PathBuf, Option<bool>) {
    let boot = fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default();
    let file = super::folder().join(format!("kvm-{}", boot.trim()));
    let runs = match fs::read_to_string(&file).as_deref().map(str::trim) {
        Ok("yes") => Some(true),
        Ok("no") => Some(false),
        _ => None,
    };
    (file, runs)
}

/// Whether a guest of this image starts under KVM, tried once a boot of the host.
fn proven(image: &Image, work: &Path) -> Result<bool, ClusterError> {
    let (known, found) = known();
    if let Some(runs) = found {
        return Ok(runs);
    }
    let console = work.join("probe");
    let mut child = qemu()
        .args(["-accel", "kvm", "-cpu", "max", "-m", "512"])
        .arg("-kernel")
        .arg(image.kernel.join("vmlinuz"))
        .arg("-initrd")
        .arg(image.kernel.join("initrd"))
        .args(["-append", "console=ttyS0 quiet panic=-1 assay.probe"])
        .arg("-serial")
        .arg(format!("file:{}", console.display()))
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .map_err(|e| failed(format!("start qemu-system-x86_64: {e}")))?;
    let began = Instant::now();
    let mut runs = false;
    while !runs && began.elapsed() < PROBE && matches!(child.try_wait(), Ok(None)) {
        std::thread::sleep(Duration::from_millis(50));
        runs = said(&console);
    }
    runs = runs || said(&console);
    let _ = child.kill();
    let _ = child.wait();
    let _ = fs::write(&known, if runs { "yes\n" } else { "no\n" });
    Ok(runs)
}

fn said(console: &Path) -> bool {
    fs::read(console).is_ok_and(|bytes| String::from_utf8_lossy(&bytes).contains(RUNS))
}

/// What this machine has for virtual machines.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ability {
    /// Whether one can be started.
    pub works: bool,
    /// With what, or what is missing.
    pub words: String,
}

/// Looks whether virtual machines can be run here; starts none.
pub fn ability() -> Ability {
    let version = match version() {
        Ok(version) => version,
        Err(why) => return Ability { works: false, words: why },
    };
    let emulates = |why: &str| {
        format!(
            "TCG, an emulation: times are the emulator's and only counts may be compared ({why})"
        )
    };
    let accelerator = match (kvm_device(), known().1) {
        (Err(why), _) => emulates(&why),
        (Ok(()), Some(false)) => emulates(NO_GUEST),
        (Ok(()), Some(true)) => format!("KVM: a guest was started with {KVM}"),
        (Ok(()), None) => format!(
            "{KVM} can be opened; a run tries whether it runs a guest, and emulates (TCG) where it does not"
        ),
    };
    let kernels = match super::built(&super::folder()).as_slice() {
        [] => "no kernel is built (`assay vm build 6.1`)".to_owned(),
        some => format!("kernels: {}", some.join(", ")),
    };
    Ability { works: true, words: format!("{version}; {accelerator}; {kernels}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(wanted: Wanted, device: Result<(), &str>, runs: Option<bool>) -> Result<Choice, String> {
        let device = device.map_err(str::to_owned);
        let proven = || runs.ok_or_else(|| failed("no guest should have been started"));
        choose(wanted, || device, proven).map_err(|e| e.to_string())
    }

    #[test]
    fn a_guest_that_starts_is_what_chooses_kvm() {
        let kvm = Ok(Choice { accelerator: Accelerator::Kvm, reason: String::new() });
        let tcg =
            |reason: &str| Ok(Choice { accelerator: Accelerator::Tcg, reason: reason.to_owned() });
        assert_eq!(of(Wanted::Auto, Ok(()), Some(true)), kvm);
        assert_eq!(of(Wanted::Kvm, Ok(()), Some(true)), kvm);
        assert_eq!(of(Wanted::Auto, Ok(()), Some(false)), tcg(NO_GUEST));
        assert_eq!(of(Wanted::Auto, Err("no device"), None), tcg("no device"));
        assert_eq!(of(Wanted::Tcg, Ok(()), None), tcg(""), "nothing is tried");
        for (device, runs, why) in
            [(Ok(()), Some(false), "first program"), (Err("no device"), None, "no device")]
        {
            let refused = of(Wanted::Kvm, device, runs).unwrap_err();
            assert!(
                refused.contains(why) && refused.contains("accelerator = \"tcg\""),
                "{refused}"
            );
        }
    }
}
