//! `nice`: the nice value of the program.

use assay_model::{Scalar, Setting};

use crate::Root;
use crate::control::{Control, ControlSession, ControlSpec};
use crate::error::Result;
use crate::process::enter::{get_nice, try_out};
use crate::process::setup::ProcessSetup;

pub(super) struct Nice;

static SPEC: ControlSpec = ControlSpec {
    name: "nice",
    help: "The nice value of the program: its weight among time-shared programs (lower is more).",
    levels: "a whole number from -20 to 19",
    needs: "CAP_SYS_NICE to lower it, and to come back after raising it (a high enough RLIMIT_NICE \
            does too)",
    probe: ("", "-1"),
    ..ControlSpec::OF_PROCESS
};

impl Control for Nice {
    fn spec(&self) -> &'static ControlSpec {
        &SPEC
    }

    fn check(&self, root: &Root, setting: &Setting) -> Result<()> {
        let nice = level(setting)?;
        if !root.is_system() {
            return Ok(());
        }
        let setup = ProcessSetup { nice: Some(nice), ..ProcessSetup::default() };
        try_out(&setup).map_err(|error| {
            error.explain_denial(|| format!("a nice value of {nice} needs root or CAP_SYS_NICE"))
        })
    }

    fn current(&self, _root: &Root, _key: &str) -> Result<Scalar> {
        Ok(Scalar::Int(i64::from(get_nice()?)))
    }

    fn apply(&self, setting: &Setting, session: &mut ControlSession<'_>) -> Result<()> {
        session.setup.nice = Some(level(setting)?);
        let autogroup = session.root.text("/proc/sys/kernel/sched_autogroup_enabled");
        if autogroup.is_ok_and(|on| on == "1") {
            session.note(
                "kernel.sched_autogroup_enabled is 1: the nice value orders the program only \
                 among the programs of its own session",
            );
        }
        Ok(())
    }
}

fn level(setting: &Setting) -> Result<i32> {
    let nice = setting.value.as_i64().filter(|n| (-20..=19).contains(n));
    nice.map(|n| n as i32).ok_or_else(|| SPEC.not_a_level(setting))
}
