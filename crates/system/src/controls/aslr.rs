//! `aslr`: turns the randomization of the program's address space on or off.

use assay_model::{Scalar, Setting};

use crate::Root;
use crate::control::{Control, ControlSession, ControlSpec};
use crate::error::Result;
use crate::process::personality;

pub(super) struct Aslr;

static SPEC: ControlSpec = ControlSpec {
    name: "aslr",
    help: "Randomisation of the program's address space at its start.",
    levels: "`on` or `off`",
    needs: "nothing for `off`; for `on`, a machine that has not disabled it",
    probe: ("", "off"),
    ..ControlSpec::OF_PROCESS
};

impl Control for Aslr {
    fn spec(&self) -> &'static ControlSpec {
        &SPEC
    }

    fn check(&self, root: &Root, setting: &Setting) -> Result<()> {
        if level(setting)? && !randomised(root)? {
            return Err(SPEC.not_here(
                "it is off for the whole machine (kernel.randomize_va_space is 0) or for \
                         assay itself (started with setarch -R)",
            ));
        }
        Ok(())
    }

    fn current(&self, root: &Root, _key: &str) -> Result<Scalar> {
        Ok(Scalar::Text(if randomised(root)? { "on" } else { "off" }.to_owned()))
    }

    fn apply(&self, setting: &Setting, session: &mut ControlSession<'_>) -> Result<()> {
        session.setup.no_aslr = !level(setting)?;
        Ok(())
    }
}

/// True if a program started now would have a randomized address space.
fn randomised(root: &Root) -> Result<bool> {
    let machine = root
        .text("/proc/sys/kernel/randomize_va_space")
        .map_err(|e| SPEC.not_here(e.to_string()))?;
    let own = personality::current().map_err(|e| SPEC.failed("personality", e))?;
    Ok(machine != "0" && own & personality::NO_RANDOMIZE == 0)
}

fn level(setting: &Setting) -> Result<bool> {
    setting.value.as_bool().ok_or_else(|| SPEC.not_a_level(setting))
}
