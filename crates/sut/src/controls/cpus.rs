//! `cpus`: the CPUs that the program may run on.

use assay_environment::cpulist;
use assay_model::{Scalar, Setting};

use crate::Root;
use crate::control::error::ControlError;
use crate::control::{Control, ControlSpec, Scope, Session};
use crate::process::enter::{current_cpus, try_out};
use crate::process::setup::ProcessSetup;

pub(super) struct Cpus;

static SPEC: ControlSpec = ControlSpec {
    name: "cpus",
    help: "The CPUs that the program may run on.",
    levels: "a list of CPUs such as `0-1,3`",
    keyed: false,
    key: "",
    scope: Scope::Process,
    needs: "the CPUs online and in assay's own control group",
    put_back: "nothing to restore: only the program has it",
};

impl Control for Cpus {
    fn spec(&self) -> &'static ControlSpec {
        &SPEC
    }

    fn probes(&self, _root: &Root, cpu: usize) -> Vec<Setting> {
        vec![SPEC.setting("", Scalar::Text(cpu.to_string()))]
    }

    fn check(&self, root: &Root, setting: &Setting) -> Result<(), ControlError> {
        let cpus = list(setting)?;
        let online = root
            .text("/sys/devices/system/cpu/online")
            .ok()
            .and_then(|text| cpulist::parse(&text).ok());
        if let Some(online) = online
            && let Some(missing) = cpus.iter().find(|c| !online.contains(c))
        {
            return Err(ControlError::NotHere {
                path: SPEC.name.to_owned(),
                reason: format!(
                    "CPU {missing} is not online; online are {}",
                    cpulist::format(&online)
                ),
            });
        }
        if root.is_system() {
            try_out(&ProcessSetup { cpus: Some(cpus), ..ProcessSetup::default() })?;
        }
        Ok(())
    }

    fn current(&self, _root: &Root, _key: &str) -> Result<Scalar, ControlError> {
        Ok(Scalar::Text(cpulist::format(&current_cpus()?)))
    }

    fn apply(&self, setting: &Setting, session: &mut Session<'_>) -> Result<(), ControlError> {
        session.setup().cpus = Some(list(setting)?);
        Ok(())
    }

    fn restore(&self, _root: &Root, _key: &str, _old: &str) -> Result<(), ControlError> {
        Ok(())
    }
}

fn list(setting: &Setting) -> Result<Vec<usize>, ControlError> {
    cpulist::parse(&setting.value.to_text()).map_err(|_| SPEC.not_a_level(setting))
}
