//! `cpus`: the CPUs that the program may run on.

use assay_model::environment::cpulist;
use assay_model::{Scalar, Setting};

use crate::Root;
use crate::control::{Control, ControlSession, ControlSpec};
use crate::error::Result;
use crate::process::enter::{current_cpus, try_out};
use crate::process::setup::ProcessSetup;

pub(super) struct Cpus;

static SPEC: ControlSpec = ControlSpec {
    name: "cpus",
    help: "The CPUs that the program may run on.",
    levels: "a list of CPUs such as `0-1,3`",
    needs: "the CPUs online and in assay's own control group",
    ..ControlSpec::OF_PROCESS
};

impl Control for Cpus {
    fn spec(&self) -> &'static ControlSpec {
        &SPEC
    }

    fn probes(&self, _root: &Root, cpu: usize) -> Vec<Setting> {
        vec![SPEC.setting("", Scalar::Text(cpu.to_string()))]
    }

    fn check(&self, root: &Root, setting: &Setting) -> Result<()> {
        let cpus = list(setting)?;
        if let Some(reason) = offline(root, &cpus) {
            return Err(SPEC.not_here(reason));
        }
        if root.is_system() {
            try_out(&ProcessSetup { cpus: Some(cpus), ..ProcessSetup::default() })?;
        }
        Ok(())
    }

    fn current(&self, _root: &Root, _key: &str) -> Result<Scalar> {
        Ok(Scalar::Text(cpulist::format(&current_cpus()?)))
    }

    fn apply(&self, setting: &Setting, session: &mut ControlSession<'_>) -> Result<()> {
        session.setup.cpus = Some(list(setting)?);
        Ok(())
    }
}

/// Returns an error message if a CPU of the list is not online.
pub(super) fn offline(root: &Root, cpus: &[usize]) -> Option<String> {
    let online = cpulist::parse(&root.text("/sys/devices/system/cpu/online").ok()?).ok()?;
    let missing = cpus.iter().find(|c| !online.contains(c))?;
    Some(format!("CPU {missing} is not online; online are {}", cpulist::format(&online)))
}

fn list(setting: &Setting) -> Result<Vec<usize>> {
    cpulist::parse(&setting.value.to_text()).map_err(|_| SPEC.not_a_level(setting))
}
