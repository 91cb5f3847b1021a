//! The QEMU program and its version.

use std::process::{Command, Stdio};

use assay_system::end_with_parent;

const QEMU: &str = "qemu-system-x86_64";

/// Returns a QEMU command without default devices. QEMU is killed when the thread that starts it
/// ends.
pub(super) fn qemu() -> Command {
    let mut command = Command::new(QEMU);
    command.args(["-nodefaults", "-no-reboot", "-display", "none", "-monitor", "none"]);
    end_with_parent(&mut command, None);
    command
}

/// No virtual machine can be started here.
#[derive(Debug, thiserror::Error)]
pub(super) enum NoQemu {
    #[error(
        "{QEMU} cannot be started: {0}; virtual machines need it (Debian package qemu-system-x86)"
    )]
    Start(#[from] std::io::Error),
    #[error("virtual machines run this assay, and their images are for x86-64 alone")]
    InstructionSet,
}

/// Returns the version of QEMU.
pub(super) fn version() -> Result<String, NoQemu> {
    if !cfg!(target_arch = "x86_64") {
        return Err(NoQemu::InstructionSet);
    }
    let output = Command::new(QEMU).arg("--version").stdin(Stdio::null()).output()?;
    let text = String::from_utf8_lossy(&output.stdout);
    let first = text.lines().next().unwrap_or_default();
    Ok(first.split(" (").next().unwrap_or_default().replace("QEMU emulator version", "QEMU"))
}
