//! `env`: an environment variable of the program.

use assay_model::{Scalar, Setting};

use crate::Root;
use crate::control::{Control, ControlSession, ControlSpec, setting_path};
use crate::error::{ControlError, Result};

pub(super) struct Env;

static SPEC: ControlSpec = ControlSpec {
    name: "env",
    help: "An environment variable of the program.",
    levels: "any text",
    keyed: true,
    key: "the variable's name, as in `env.OMP_NUM_THREADS`",
    probe: ("ASSAY_PROBE", "1"),
    ..ControlSpec::OF_PROCESS
};

impl Control for Env {
    fn spec(&self) -> &'static ControlSpec {
        &SPEC
    }

    fn check(&self, _root: &Root, setting: &Setting) -> Result<()> {
        variable(setting).map(|_| ())
    }

    fn current(&self, _root: &Root, key: &str) -> Result<Scalar> {
        std::env::var(key).map(Scalar::Text).map_err(|e| ControlError::NotHere {
            path: setting_path(SPEC.name, key),
            reason: e.to_string(),
        })
    }

    fn apply(&self, setting: &Setting, session: &mut ControlSession<'_>) -> Result<()> {
        let variable = variable(setting)?;
        session.setup.env.push(variable);
        Ok(())
    }
}

fn variable(setting: &Setting) -> Result<(String, String)> {
    let (name, value) = (&setting.key, setting.value.to_text());
    if name.is_empty() || name.contains(['=', '\0']) {
        return Err(SPEC.not_a_key(name, "a variable's name is not empty and has no `=` in it"));
    }
    if value.contains('\0') {
        return Err(ControlError::Level {
            path: setting_path(SPEC.name, name),
            value: value.replace('\0', "\\0"),
            levels: "any text without a zero byte".to_owned(),
        });
    }
    Ok((name.clone(), value))
}
