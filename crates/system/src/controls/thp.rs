//! `thp`: transparent huge pages of the whole machine.

use assay_model::Setting;

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

impl Control for Thp {
    fn spec(&self) -> &'static ControlSpec {
        &SPEC
    }

    fn knob<'a>(&'a self, _root: &Root, key: &'a str) -> Result<Knob<'a>> {
        let file = "/sys/kernel/mm/transparent_hugepage/enabled".to_owned();
        Ok(Knob { control: self, key, file })
    }

    fn check(&self, root: &Root, setting: &Setting) -> Result<()> {
        level(setting)?;
        self.knob(root, "")?.check(root)
    }

    fn apply(&self, setting: &Setting, session: &mut ControlSession<'_>) -> Result<()> {
        self.knob(session.root, "")?.change(session, &level(setting)?)
    }
}

fn level(setting: &Setting) -> Result<String> {
    let text = setting.value.to_text();
    if ["always", "madvise", "never"].contains(&text.as_str()) {
        return Ok(text);
    }
    Err(SPEC.not_a_level(setting))
}
