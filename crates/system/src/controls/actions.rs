//! `drop_caches` and `compact_memory`: actions that the kernel performs once, before a trial, when
//! a number is written to a file.

use assay_model::{Scalar, Setting};

use crate::Root;
use crate::control::knob::Knob;
use crate::control::{Control, ControlScope, ControlSession, ControlSpec};
use crate::error::{ControlError, Result};

/// An action of the kernel, named after its file in `/proc/sys/vm`.
pub(super) struct KernelAction {
    spec: ControlSpec,
    /// Largest valid level; the smallest is 1.
    most: i64,
    /// True if dirty pages are written back first, because they cannot be dropped.
    sync: bool,
}

pub(super) static DROP_CACHES: KernelAction = KernelAction {
    spec: ControlSpec {
        name: "drop_caches",
        help: "Writes dirty pages out, then drops caches, before each trial.",
        levels: "`1` (page cache), `2` (names and inodes), `3` (both)",
        scope: ControlScope::Action,
        needs: "root",
        put_back: "nothing to restore: caches fill again with use",
        probe: ("", "1"),
        ..ControlSpec::OF_PROCESS
    },
    most: 3,
    sync: true,
};

/// Gives every trial the same chance of free huge pages.
pub(super) static COMPACT_MEMORY: KernelAction = KernelAction {
    spec: ControlSpec {
        name: "compact_memory",
        help: "Compacts memory before each trial, so that large pages are as easy to get in the \
               last trial as in the first.",
        levels: "`1`",
        scope: ControlScope::Action,
        needs: "root",
        put_back: "nothing to restore: memory fragments again with use",
        probe: ("", "1"),
        ..ControlSpec::OF_PROCESS
    },
    most: 1,
    sync: false,
};

impl KernelAction {
    fn knob(&self) -> Knob<'_> {
        Knob { control: self, key: "", file: format!("/proc/sys/vm/{}", self.spec.name) }
    }

    fn level(&self, setting: &Setting) -> Result<i64> {
        let level = setting.value.as_i64().filter(|n| (1..=self.most).contains(n));
        level.ok_or_else(|| self.spec.not_a_level(setting))
    }
}

impl Control for KernelAction {
    fn spec(&self) -> &ControlSpec {
        &self.spec
    }

    fn check(&self, root: &Root, setting: &Setting) -> Result<()> {
        self.level(setting)?;
        self.knob().check_write(root)
    }

    fn current(&self, _root: &Root, _key: &str) -> Result<Scalar> {
        Err(ControlError::NoLevel { control: self.spec.name.to_owned() })
    }

    fn apply(&self, setting: &Setting, session: &mut ControlSession<'_>) -> Result<()> {
        let level = self.level(setting)?;
        if self.sync && session.root.is_system() {
            rustix::fs::sync();
        }
        self.knob().write(session.root, &level.to_string())
    }
}
