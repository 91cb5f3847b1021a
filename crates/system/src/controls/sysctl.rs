//! `sysctl`: a tunable of the kernel.

use assay_model::Setting;

use crate::Root;
use crate::control::knob::{Knob, line_level, same};
use crate::control::{Control, ControlScope, ControlSession, ControlSpec};
use crate::error::Result;
use crate::read::sysctl_name::file_of;

pub(super) struct Sysctl;

static SPEC: ControlSpec = ControlSpec {
    name: "sysctl",
    help: "A tunable of the kernel.",
    levels: "what the tunable takes",
    keyed: true,
    key: "the tunable's name, as in `sysctl.vm.swappiness`",
    scope: ControlScope::System,
    needs: "root, and a tunable that can be read and restored",
    put_back: "the previous level, journaled; affects the whole machine while it is set",
    probe: ("vm.swappiness", "10"),
};

/// Pairs of tunables for one quantity in two units: writing one sets the other to 0, and 0 cannot
/// be written back. So the one that was not 0 is restored.
const COUPLED: [(&str, &str); 3] = [
    ("vm.dirty_bytes", "vm.dirty_ratio"),
    ("vm.dirty_background_bytes", "vm.dirty_background_ratio"),
    ("vm.overcommit_kbytes", "vm.overcommit_ratio"),
];

/// Tunables that the kernel does not allow to be set back, or that trigger an action when written.
const ONE_WAY: [&str; 7] = [
    "kernel.kexec_load_disabled",
    "kernel.modules_disabled",
    "kernel.unprivileged_bpf_disabled",
    "kernel.yama.ptrace_scope",
    "vm.compact_memory",
    "vm.drop_caches",
    "vm.stat_refresh",
];

/// Returns the other tunable of a pair, and the name by which the pair is known.
fn pair(key: &str) -> Option<(&'static str, &'static str)> {
    COUPLED.iter().find_map(|(a, b)| match key {
        k if k == *a => Some((*b, *b)),
        k if k == *b => Some((*a, *b)),
        _ => None,
    })
}

impl Control for Sysctl {
    fn spec(&self) -> &'static ControlSpec {
        &SPEC
    }

    fn knob<'a>(&'a self, _root: &Root, key: &'a str) -> Result<Knob<'a>> {
        let file =
            file_of(key).ok_or_else(|| SPEC.not_a_key(key, "this is not the name of a tunable"))?;
        if ONE_WAY.contains(&key) {
            let own = key.strip_prefix("vm.").filter(|name| crate::controls::find(name).is_some());
            let hint = own.map_or_else(String::new, |name| format!(" (use the control `{name}`)"));
            let reason = format!("it cannot be restored, so assay does not set it{hint}");
            return Err(SPEC.not_a_key(key, reason));
        }
        Ok(Knob { control: self, key, file })
    }

    fn check(&self, root: &Root, setting: &Setting) -> Result<()> {
        line_level(&SPEC, setting)?;
        self.knob(root, &setting.key)?.check(root)
    }

    fn apply(&self, setting: &Setting, session: &mut ControlSession<'_>) -> Result<()> {
        let level = line_level(&SPEC, setting)?;
        let knob = self.knob(session.root, &setting.key)?;
        let Some((other, known_by)) = pair(&setting.key) else {
            return knob.change(session, &level);
        };
        let old = knob.read(session.root)?;
        if same(&old, &level) {
            return Ok(());
        }
        let other_old = self.knob(session.root, other)?.read(session.root)?;
        match (old.as_str(), other_old.as_str()) {
            ("0", "0") => session.record(self, known_by, "0", &level)?,
            ("0", _) => session.record(self, other, &other_old, "0")?,
            _ => session.record(self, &setting.key, &old, &level)?,
        }
        knob.set(session.root, &level)
    }

    fn target(&self, _root: &Root, key: &str) -> Option<String> {
        file_of(pair(key).map_or(key, |(_, known_by)| known_by))
    }
}
