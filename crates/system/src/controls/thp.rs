//! `thp`: transparent huge pages of the whole machine.

use assay_model::{Scalar, Setting};

use crate::Root;
use crate::control::knob::Knob;
use crate::control::{Control, ControlScope, ControlSession, ControlSpec};
use crate::error::Result;

pub(super) struct Thp;

static SPEC: ControlSpec = ControlSpec {
    name: "thp",
    help: "Use of transparent huge pages by the kernel.",
    levels: "`always`, `madvise`, `never`",
    keyed: false,
    key: "",
    scope: ControlScope::System,
    needs: "root, and a kernel with transparent huge pages",
    put_back: "the previous level, journaled; affects the whole machine while it is set",
    probe: ("", "always"),
};

impl Thp {
    fn knob(&self) -> Knob<'_> {
        Knob {
            control: self,
            key: "",
            file: "/sys/kernel/mm/transparent_hugepage/enabled".to_owned(),
        }
    }
}

impl Control for Thp {
    fn spec(&self) -> &'static ControlSpec {
        &SPEC
    }

    fn check(&self, root: &Root, setting: &Setting) -> Result<()> {
        level(setting)?;
        self.knob().check(root)
    }

    fn current(&self, root: &Root, _key: &str) -> Result<Scalar> {
        self.knob().current(root)
    }

    fn apply(&self, setting: &Setting, session: &mut ControlSession<'_>) -> Result<()> {
        self.knob().change(session, &level(setting)?)
    }

    fn restore(&self, root: &Root, _key: &str, old: &str) -> Result<()> {
        self.knob().set(root, old)
    }

    fn target(&self, _root: &Root, _key: &str) -> Option<String> {
        Some(self.knob().file)
    }
}

fn level(setting: &Setting) -> Result<String> {
    let text = setting.value.to_text();
    if ["always", "madvise", "never"].contains(&text.as_str()) {
        return Ok(text);
    }
    Err(SPEC.not_a_level(setting))
}
