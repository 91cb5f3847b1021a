//! `sched`: the scheduling class of the program.

use assay_model::{Scalar, Setting};

use crate::Root;
use crate::control::{Control, ControlSession, ControlSpec};
use crate::error::Result;
use crate::process::enter::try_out;
use crate::process::sched_class;
use crate::process::setup::{ProcessSetup, Sched};

pub(super) struct SchedControl;

static SPEC: ControlSpec = ControlSpec {
    name: "sched",
    help: "The scheduling class of the program; real-time classes keep other work off its CPUs.",
    levels: "`other`, `batch`, `idle`, or real-time with a priority of 1 to 99: `fifo:10`, `rr:10`",
    needs: "CAP_SYS_NICE for `fifo`, `rr` and to come back from `idle` (a high enough \
            RLIMIT_RTPRIO or RLIMIT_NICE does too)",
    probe: ("", "fifo:1"),
    ..ControlSpec::OF_PROCESS
};

impl Control for SchedControl {
    fn spec(&self) -> &'static ControlSpec {
        &SPEC
    }

    fn check(&self, root: &Root, setting: &Setting) -> Result<()> {
        let class = level(setting)?;
        if !root.is_system() {
            return Ok(());
        }
        let setup = ProcessSetup { sched: Some(class), ..ProcessSetup::default() };
        try_out(&setup).map_err(|error| {
            error.explain_denial(|| {
                format!(
                    "the kernel does not allow `{class}` here: it needs root or CAP_SYS_NICE, and \
                     in a cpu control group of version 1 also a real-time budget \
                     (cpu.rt_runtime_us)"
                )
            })
        })
    }

    fn current(&self, _root: &Root, _key: &str) -> Result<Scalar> {
        match sched_class::current() {
            Ok(Some(class)) => Ok(Scalar::Text(class.to_string())),
            Ok(None) => Err(SPEC.not_here("assay itself runs in an unknown scheduling class")),
            Err(e) => Err(SPEC.failed("sched_getscheduler", e)),
        }
    }

    fn apply(&self, setting: &Setting, session: &mut ControlSession<'_>) -> Result<()> {
        session.setup.sched = Some(level(setting)?);
        Ok(())
    }
}

fn level(setting: &Setting) -> Result<Sched> {
    setting.value.to_text().parse().map_err(|_| SPEC.not_a_level(setting))
}
