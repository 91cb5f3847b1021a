//! `compact_memory`: moves memory together before a trial, so that every trial finds as many large pages free.

use assay_model::{Scalar, Setting};

use crate::Root;
use crate::control::error::ControlError;
use crate::control::knob::Knob;
use crate::control::{Control, ControlSpec, Scope, Session};

pub(super) struct CompactMemory;

static SPEC: ControlSpec = ControlSpec {
    name: "compact_memory",
    help: "Moves the memory in use together before each trial, so that large pages can be had as easily in the \
           last trial as in the first.",
    levels: "`1`",
    keyed: false,
    key: "",
    scope: Scope::Action,
    needs: "root",
    put_back: "nothing to restore: memory scatters again by use",
};

impl CompactMemory {
    fn knob(&self) -> Knob<'_> {
        Knob { control: self, key: "", file: "/proc/sys/vm/compact_memory".to_owned() }
    }
}

impl Control for CompactMemory {
    fn spec(&self) -> &'static ControlSpec {
        &SPEC
    }

    fn probes(&self, _root: &Root, _cpu: usize) -> Vec<Setting> {
        vec![SPEC.setting("", Scalar::Int(1))]
    }

    fn check(&self, root: &Root, setting: &Setting) -> Result<(), ControlError> {
        if setting.value.as_i64() != Some(1) {
            return Err(SPEC.not_a_level(setting));
        }
        self.knob().check_write(root)
    }

    fn current(&self, _root: &Root, _key: &str) -> Result<Scalar, ControlError> {
        Err(ControlError::NoLevel { control: SPEC.name.to_owned() })
    }

    fn apply(&self, setting: &Setting, session: &mut Session<'_>) -> Result<(), ControlError> {
        self.check(session.root(), setting)?;
        self.knob().write(session.root(), "1")
    }

    fn restore(&self, _root: &Root, _key: &str, _old: &str) -> Result<(), ControlError> {
        Ok(())
    }
}
