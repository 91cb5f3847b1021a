//! `sysfs`: a file below `/sys`, such as the scheduler of a block device.

use std::path::Path;

use assay_model::Setting;

use crate::Root;
use crate::control::knob::{Knob, line_level};
use crate::control::{Control, ControlScope, ControlSession, ControlSpec};
use crate::error::{ControlError, Result};

pub(super) struct Sysfs;

static SPEC: ControlSpec = ControlSpec {
    name: "sysfs",
    help: "A file below /sys, such as the scheduler of a block device.",
    levels: "what the file takes; where it lists choices, one of them",
    keyed: true,
    key: "the file, as in `sysfs./sys/block/sda/queue/scheduler`",
    scope: ControlScope::System,
    needs: "root, and a file that can be read and restored",
    put_back: "the previous level, journaled; affects the whole machine while it is set",
    probe: ("/sys/kernel/mm/transparent_hugepage/enabled", "always"),
};

impl Control for Sysfs {
    fn spec(&self) -> &'static ControlSpec {
        &SPEC
    }

    /// Returns the knob, with all links in its path resolved, so that the file is really below
    /// `/sys` and two names of one file are recognized.
    fn knob<'a>(&'a self, root: &Root, key: &'a str) -> Result<Knob<'a>> {
        let wrong = |reason: &str| SPEC.not_a_key(key, reason);
        let plain = key.starts_with("/sys/")
            && !key.contains('\0')
            && key.split('/').all(|part| part != ".." && part != ".");
        if !plain {
            return Err(wrong("give the absolute path of a file below /sys, without `..`"));
        }
        let missing = |e: std::io::Error| wrong(&format!("cannot find the file: {e}"));
        let top = root.path("/sys").canonicalize().map_err(missing)?;
        let real = root.path(key).canonicalize().map_err(missing)?;
        let below = real.strip_prefix(&top).map_err(|_| wrong("it leads out of /sys"))?;
        if !real.is_file() {
            return Err(wrong("it is not a file"));
        }
        let file = Path::new("/sys").join(below).to_string_lossy().into_owned();
        Ok(Knob { control: self, key, file })
    }

    fn check(&self, root: &Root, setting: &Setting) -> Result<()> {
        let level = line_level(&SPEC, setting)?;
        let knob = self.knob(root, &setting.key)?;
        knob.check(root)?;
        match root.text(&knob.file) {
            Ok(text) if text.contains('[') && !choices(&text).any(|c| c == level) => {
                Err(ControlError::Level {
                    path: knob.path(),
                    value: level,
                    levels: choices(&text).collect::<Vec<_>>().join(", "),
                })
            }
            _ => Ok(()),
        }
    }

    fn apply(&self, setting: &Setting, session: &mut ControlSession<'_>) -> Result<()> {
        self.knob(session.root, &setting.key)?.change(session, &line_level(&SPEC, setting)?)
    }
}

/// Returns the words of a text such as `none [mq-deadline] bfq`.
fn choices(text: &str) -> impl Iterator<Item = &str> {
    text.split_whitespace().map(|word| word.trim_matches(['[', ']']))
}
