//! `image`: a container in which the program runs.

use std::path::Path;

use assay_model::{Scalar, Setting};

use crate::Root;
use crate::control::cgroup::{ABSENT, PRESENT};
use crate::control::{Control, ControlScope, ControlSession, ControlSpec};
use crate::error::{ControlError, Result};
use crate::process::container;
use crate::process::container::engine::{ContainerEngine, ContainerRequest};
use crate::state::scratch;

pub(super) struct ImageControl;

static SPEC: ControlSpec = ControlSpec {
    name: "image",
    help: "A container in which the program runs, a new one for each trial. It has the network, \
           the user, the working folder and the control groups of a program without a container; \
           `elapsed` and the other metrics are those of the program, not of the engine.",
    levels: "the name, the digest or the id of an image on this machine; for Apptainer the path of \
             a SIF file",
    keyed: false,
    key: "the engine, `podman`, `docker` or `apptainer`, as in `image.docker`; without it the \
          first one that is installed",
    scope: ControlScope::System,
    needs: "podman with crun, a running Docker, or Apptainer; an image for this architecture",
    put_back: "the container is journaled and removed",
    probe: ("", ""),
};

/// Returns the engine and the image of a setting.
fn level(setting: &Setting) -> Result<(ContainerEngine, String)> {
    let image = setting.value.to_text();
    if image.is_empty() || image.starts_with('-') || image.contains(char::is_whitespace) {
        return Err(SPEC.not_a_level(setting));
    }
    let engine = ContainerEngine::find(&setting.key).map_err(|e| SPEC.not_here(e.to_string()))?;
    Ok((engine, image))
}

impl Control for ImageControl {
    fn spec(&self) -> &'static ControlSpec {
        &SPEC
    }

    fn check(&self, _root: &Root, setting: &Setting) -> Result<()> {
        let (engine, image) = level(setting)?;
        engine.inspect(&image).map(|_| ()).map_err(|e| SPEC.not_here(e.to_string()))
    }

    fn current(&self, root: &Root, key: &str) -> Result<Scalar> {
        let Some((_, name)) = parts(key) else {
            return Err(ControlError::NoLevel { control: SPEC.name.to_owned() });
        };
        let there = root.exists(&container::socket_path(name).to_string_lossy());
        Ok(Scalar::Text(if there { PRESENT } else { ABSENT }.to_owned()))
    }

    fn apply(&self, setting: &Setting, session: &mut ControlSession<'_>) -> Result<()> {
        let (engine, image) = level(setting)?;
        let name = format!("assay-{}", scratch::unique());
        session.record(self, &format!("{}:{name}", engine.name()), ABSENT, PRESENT)?;
        session.setup.container = Some(ContainerRequest { engine, image, name });
        Ok(())
    }

    fn restore(&self, _root: &Root, key: &str, _old: &str) -> Result<()> {
        let (engine, name) = parts(key).ok_or_else(|| SPEC.not_a_key(key, "it is no container"))?;
        let removed = container::remove(name, engine);
        removed.map_err(|e| SPEC.not_here(format!("cannot remove the container {name}: {e}")))
    }

    fn target(&self, _root: &Root, key: &str) -> Option<String> {
        // Two engines in one treatment would be two containers.
        parts(key).is_none().then(|| SPEC.name.to_owned())
    }

    fn probes(&self, _root: &Root, _cpu: usize) -> Vec<Setting> {
        let probe = |engine: ContainerEngine| {
            let image = engine.any_image().unwrap_or_else(|| "any".to_owned());
            SPEC.setting(engine.name(), Scalar::Text(image))
        };
        // The reason of the last one is shown.
        ContainerEngine::ALL.into_iter().rev().map(probe).collect()
    }
}

/// Splits the key of a container in the journal into its engine and its name.
fn parts(key: &str) -> Option<(ContainerEngine, &str)> {
    let (engine, name) = key.split_once(':')?;
    let engine = ContainerEngine::ALL.into_iter().find(|known| known.name() == engine)?;
    Some((engine, name)).filter(|(_, name)| Path::new(name).components().count() == 1)
}
