//! QEMU's program.

use std::process::{Command, Stdio};

use assay_sut::end_with_parent;

const QEMU: &str = "qemu-system-x86_64";

/// QEMU, without devices of its own, ended with the thread that starts it.
pub(super) fn qemu() -> Command {
    let mut command = Command::new(QEMU);
    command.args(["-nodefaults", "-no-reboot", "-display", "none", "-monitor", "none"]);
    end_with_parent(&mut command, None);
    command
}

/// Its version; else why there is none.
pub(super) fn version() -> Result<String, String> {
    let missing = |e| {
        format!(
            "{QEMU} cannot be started: {e}; virtual machines need it (Debian package qemu-system-x86)"
        )
    };
    let output =
        Command::new(QEMU).arg("--version").stdin(Stdio::null()).output().map_err(missing)?;
    let text = String::from_utf8_lossy(&output.stdout);
    let first = text.lines().next().unwrap_or_default();
    Ok(first.split(" (").next().unwrap_or_default().replace("QEMU emulator version", "QEMU"))
}
