//! `drop_caches`: empties the page cache, the caches of names and inodes, or both, before a trial.

use assay_model::{Scalar, Setting};

use crate::Root;
use crate::control::error::ControlError;
use crate::control::knob::Knob;
use crate::control::{Control, ControlSpec, Scope, Session};

pub(super) struct DropCaches;

static SPEC: ControlSpec = ControlSpec {
    name: "drop_caches",
    help: "Writes dirty pages out, then empties caches, before each trial.",
    levels: "`1` (page cache), `2` (names and inodes), `3` (both)",
    keyed: false,
    key: "",
    scope: Scope::Action,
    needs: "root",
    put_back: "nothing to restore: caches fill again by use",
};

impl DropCaches {
    fn knob(&self) -> Knob<'_> {
        Knob { control: self, key: "", file: "/proc/sys/vm/drop_caches".to_owned() }
    }
}

impl Control for DropCaches {
    fn spec(&self) -> &'static ControlSpec {
        &SPEC
    }

    fn probes(&self, _root: &Root, _cpu: usize) -> Vec<Setting> {
        vec![SPEC.setting("", Scalar::Int(1))]
    }

    fn check(&self, root: &Root, setting: &Setting) -> Result<(), ControlError> {
        level(setting)?;
        self.knob().check_write(root)
    }

    fn current(&self, _root: &Root, _key: &str) -> Result<Scalar, ControlError> {
        Err(ControlError::NoLevel { control: SPEC.name.to_owned() })
    }

    fn apply(&self, setting: &Setting, session: &mut Session<'_>) -> Result<(), ControlError> {
        let level = level(setting)?;
        if session.root().is_system() {
            rustix::fs::sync(); // dirty pages cannot be dropped
        }
        self.knob().write(session.root(), &level.to_string())
    }

    fn restore(&self, _root: &Root, _key: &str, _old: &str) -> Result<(), ControlError> {
        Ok(())
    }
}

fn level(setting: &Setting) -> Result<i64, ControlError> {
    let level = setting.value.as_i64().filter(|n| (1..=3).contains(n));
    level.ok_or_else(|| SPEC.not_a_level(setting))
}
