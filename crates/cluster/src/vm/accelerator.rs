//! What runs a virtual machine's instructions: KVM where it really runs a guest, else QEMU's own emulation.

use std::fs;
use std::path::Path;
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

    /// Chooses one: /dev/kvm may be there and run no stock kernel, so a guest that gets to its first program is
    /// the proof. What was found is kept until the next boot.
    ///
    /// # Errors
    /// KVM was asked for and runs none.
    pub fn choose(wanted: Wanted, image: &Image, work: &Path) -> Result<Self, ClusterError> {
        match wanted {
            Wanted::Tcg => Ok(Accelerator::Tcg),
            Wanted::Auto if kvm_device().is_err() => Ok(Accelerator::Tcg),
            Wanted::Auto => {
                Ok(if proven(image, work)? { Accelerator::Kvm } else { Accelerator::Tcg })
            }
            Wanted::Kvm => {
                kvm_device().map_err(failed)?;
                if proven(image, work)? {
                    return Ok(Accelerator::Kvm);
                }
                Err(failed(format!(
                    "{KVM} is there and a guest does not get to its first program with it; use `accelerator = \"tcg\"`, \
                     which emulates"
                )))
            }
        }
    }
}

/// Whether this process may use KVM's device; else why not.
fn kvm_device() -> Result<(), String> {
    fs::OpenOptions::new().read(true).write(true).open(KVM).map(|_| ()).map_err(|e| {
        format!("{KVM} cannot be used: {e}; use `accelerator = \"tcg\"`, which emulates")
    })
}

/// Whether a guest of this image starts under KVM, tried once a boot of the host.
fn proven(image: &Image, work: &Path) -> Result<bool, ClusterError> {
    let boot = fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default();
    let known = super::folder().join(format!("kvm-{}", boot.trim()));
    match fs::read_to_string(&known).as_deref().map(str::trim) {
        Ok("yes") => return Ok(true),
        Ok("no") => return Ok(false),
        _ => {}
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
    let accelerator = match kvm_device() {
        Ok(()) => format!(
            "{KVM} can be opened; a run tries whether it runs a guest, and emulates (TCG) where it does not"
        ),
        Err(_) => format!(
            "TCG, an emulation: times are the emulator's and only counts may be compared ({KVM} cannot be used)"
        ),
    };
    let kernels = match super::built(&super::folder()).as_slice() {
        [] => "no kernel is built (`assay vm build 6.1`)".to_owned(),
        some => format!("kernels: {}", some.join(", ")),
    };
    Ability { works: true, words: format!("{version}; {accelerator}; {kernels}") }
}
