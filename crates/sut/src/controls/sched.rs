//! `sched`: the scheduling class of the program.

use assay_model::{Scalar, Setting};

use crate::Root;
use crate::control::error::ControlError;
use crate::control::{Control, ControlSpec, Scope, Session};
use crate::process::enter::try_out;
use crate::process::sched_class;
use crate::process::setup::{ProcessSetup, Sched};

pub(super) struct SchedControl;

static SPEC: ControlSpec = ControlSpec {
    name: "sched",
    help: "The scheduling class of the program; real-time classes keep other work off its CPUs.",
    levels: "`other`, `batch`, `idle`, or a real-time class with its priority: `fifo:10`, `rr:10` (1 to 99)",
    keyed: false,
    key: "",
    scope: Scope::Process,
    needs: "CAP_SYS_NICE for `fifo`, `rr` and to come back from `idle` (a high enough RLIMIT_RTPRIO \
            or RLIMIT_NICE does too)",
    put_back: "nothing to restore: only the program has it",
};

impl Control for SchedControl {
    fn spec(&self) -> &'static ControlSpec {
        &SPEC
    }

    fn probes(&self, _root: &Root, _cpu: usize) -> Vec<Setting> {
        vec![SPEC.setting("", "fifo:1".into())]
    }

    fn check(&self, root: &Root, setting: &Setting) -> Result<(), ControlError> {
        let class = level(setting)?;
        if !root.is_system() {
            return Ok(());
        }
        let setup = ProcessSetup { sched: Some(class), ..ProcessSetup::default() };
        try_out(&setup).map_err(|error| {
            error.explain_denial(|| {
                format!(
                    "the kernel does not allow `{class}` here: it needs root or CAP_SYS_NICE, and \
                     in a cpu control group of version 1 also a real-time budget (cpu.rt_runtime_us)"
                )
            })
        })
    }

    fn current(&self, _root: &Root, _key: &str) -> Result<Scalar, ControlError> {
        match sched_class::current() {
            Ok(Some(class)) => Ok(Scalar::Text(class.to_string())),
            Ok(None) => Err(ControlError::NotHere {
                path: SPEC.name.to_owned(),
                reason: "assay itself runs in a class that it has no word for".to_owned(),
            }),
            Err(source) => Err(ControlError::Io {
                path: SPEC.name.to_owned(),
                doing: "sched_getscheduler".to_owned(),
                source,
            }),
        }
    }

    fn apply(&self, setting: &Setting, session: &mut Session<'_>) -> Result<(), ControlError> {
        session.setup().sched = Some(level(setting)?);
        Ok(())
    }

    fn restore(&self, _root: &Root, _key: &str, _old: &str) -> Result<(), ControlError> {
        Ok(())
    }
}

fn level(setting: &Setting) -> Result<Sched, ControlError> {
    setting.value.to_text().parse().map_err(|_| SPEC.not_a_level(setting))
}
