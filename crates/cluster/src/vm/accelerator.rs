//! Chooses a virtual machine's accelerator: KVM if it can really run a guest, else QEMU's own
//! emulation (TCG).

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::{Duration, Instant};

use super::{AcceleratorRequest, Image, failed};
use crate::error::Result;
use crate::vm::program::{qemu, version};

/// Maximum time of a guest under KVM to start its first program.
const PROBE: Duration = Duration::from_secs(30);
/// Line that an image's first program prints when it is only probed.
const RUNS: &str = "runs a guest";
const KVM: &str = "/dev/kvm";

/// The way in which a guest's instructions are executed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Accelerator {
    /// The host's processor, through KVM.
    Kvm,
    /// Emulation by QEMU: times are the emulator's.
    Tcg,
}

assay_model::names! {
    pub Accelerator::name: Kvm = "kvm", Tcg = "tcg"
}

assay_model::names! {
    /// Returns the value of QEMU's `-accel` option.
    pub(super) Accelerator::option: Kvm = "kvm", Tcg = "tcg,thread=multi"
}

/// The accelerator chosen for a machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChosenAccelerator {
    pub accelerator: Accelerator,
    /// Reason why KVM is not used; empty if it is used or emulation was requested.
    pub reason: String,
}

impl ChosenAccelerator {
    /// Chooses the accelerator. /dev/kvm may exist and yet run no stock kernel, so only a guest
    /// that starts its first program proves KVM. The result is kept until the next boot.
    ///
    /// # Errors
    /// KVM was requested and cannot run a guest.
    pub fn choose(wanted: AcceleratorRequest, image: &Image, work: &Path) -> Result<Self> {
        choose(wanted, kvm_device, || proven(image, work))
    }
}

/// Chooses the accelerator from two tests: if KVM's device can be used, and if a guest starts with
/// it. Each test only runs if its result matters.
fn choose(
    wanted: AcceleratorRequest,
    device: impl FnOnce() -> Result<(), String>,
    proven: impl FnOnce() -> Result<bool>,
) -> Result<ChosenAccelerator> {
    let reason = match wanted {
        AcceleratorRequest::Tcg => String::new(),
        AcceleratorRequest::Auto | AcceleratorRequest::Kvm => match device() {
            Err(why) => why,
            Ok(()) if proven()? => {
                return Ok(ChosenAccelerator {
                    accelerator: Accelerator::Kvm,
                    reason: String::new(),
                });
            }
            Ok(()) => NO_GUEST.to_owned(),
        },
    };
    if wanted == AcceleratorRequest::Kvm {
        return Err(failed(format!("{reason}; use `accelerator = \"tcg\"`, which emulates")));
    }
    Ok(ChosenAccelerator { accelerator: Accelerator::Tcg, reason })
}

/// Reason why KVM is not used although its device exists.
const NO_GUEST: &str =
    "/dev/kvm can be opened, but a guest does not reach its first program with it";

/// Checks that this process may use KVM's device; returns the reason if not.
fn kvm_device() -> Result<(), String> {
    let device = fs::OpenOptions::new().read(true).write(true).open(KVM);
    device.map(|_| ()).map_err(|e| format!("{KVM} cannot be used: {e}"))
}

/// Returns the file with the result of the KVM probe since the host's last boot, and the result;
/// `None` before the first probe.
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

/// Returns true if a guest of this image starts under KVM; probed once per boot of the host.
fn proven(image: &Image, work: &Path) -> Result<bool> {
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
        .map_err(|e| failed(format!("cannot start qemu-system-x86_64: {e}")))?;
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

/// Support for virtual machines on this host.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ability {
    /// True if a virtual machine can be started.
    pub works: bool,
    /// Version, accelerator and kernels, or the missing part.
    pub words: String,
}

/// Checks if virtual machines can run here, without starting one.
pub fn ability() -> Ability {
    let version = match version() {
        Ok(version) => version,
        Err(e) => return Ability { works: false, words: e.to_string() },
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
            "{KVM} can be opened; a run tests it with a guest, and emulates (TCG) if that fails"
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

    fn chosen(
        wanted: AcceleratorRequest,
        device: Result<(), &str>,
        runs: Option<bool>,
    ) -> Result<ChosenAccelerator, String> {
        let device = device.map_err(str::to_owned);
        let proven = || runs.ok_or_else(|| failed("no guest should have been started"));
        choose(wanted, || device, proven).map_err(|e| e.to_string())
    }

    #[test]
    fn a_guest_that_starts_is_what_chooses_kvm() {
        let kvm = Ok(ChosenAccelerator { accelerator: Accelerator::Kvm, reason: String::new() });
        let tcg = |reason: &str| {
            Ok(ChosenAccelerator { accelerator: Accelerator::Tcg, reason: reason.to_owned() })
        };
        assert_eq!(chosen(AcceleratorRequest::Auto, Ok(()), Some(true)), kvm);
        assert_eq!(chosen(AcceleratorRequest::Kvm, Ok(()), Some(true)), kvm);
        assert_eq!(chosen(AcceleratorRequest::Auto, Ok(()), Some(false)), tcg(NO_GUEST));
        assert_eq!(chosen(AcceleratorRequest::Auto, Err("no device"), None), tcg("no device"));
        assert_eq!(chosen(AcceleratorRequest::Tcg, Ok(()), None), tcg(""), "nothing is tried");
        for (device, runs, why) in
            [(Ok(()), Some(false), "first program"), (Err("no device"), None, "no device")]
        {
            let refused = chosen(AcceleratorRequest::Kvm, device, runs).unwrap_err();
            assert!(
                refused.contains(why) && refused.contains("accelerator = \"tcg\""),
                "{refused}"
            );
        }
    }
}
