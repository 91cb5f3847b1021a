//! Programs that keep images of containers and run them.

use std::process::{Command, Stdio};

use serde::{Deserialize, Serialize};

use crate::read::which::which;

/// Program that runs containers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ContainerEngine {
    Podman,
    Docker,
}

/// A container for one trial, as a control requests it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ContainerRequest {
    pub engine: ContainerEngine,
    /// Name of the image.
    pub image: String,
    /// Name of the container.
    pub name: String,
}

/// An image as its engine identifies it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Image {
    pub engine: ContainerEngine,
    /// Name under which it was requested.
    pub name: String,
    /// Id by which it is run, so that a name that moves to another image changes nothing.
    pub id: String,
    /// Digest of its manifest; for Docker its id, because a local image has no manifest.
    pub digest: String,
    /// Program with which the engine starts containers: `crun`, `runc`.
    pub runtime: String,
}

impl ContainerEngine {
    pub const ALL: [ContainerEngine; 2] = [ContainerEngine::Podman, ContainerEngine::Docker];

    /// Returns the name of the program.
    pub fn name(self) -> &'static str {
        match self {
            ContainerEngine::Podman => "podman",
            ContainerEngine::Docker => "docker",
        }
    }

    /// Returns the engine with this name; if it is empty, the first one that is installed.
    ///
    /// # Errors
    /// A sentence: no engine has this name, or it is not installed.
    pub fn find(name: &str) -> Result<Self, String> {
        let named = |engine: &Self| name.is_empty() || engine.name() == name;
        let mut all = Self::ALL.into_iter().filter(named).peekable();
        if all.peek().is_none() {
            return Err(format!("`{name}` is not podman or docker"));
        }
        let installed = all.find(|engine| which(engine.name()).is_some());
        let name = if name.is_empty() { "podman" } else { name };
        installed.ok_or_else(|| format!("`{name}` is not installed: apt-get install podman crun"))
    }

    /// Runs the engine and returns its output.
    ///
    /// # Errors
    /// The last line that it printed on standard error, or the reason why it did not start.
    pub(super) fn ask(self, arguments: &[&str]) -> Result<String, String> {
        // A daemon may not answer.
        let words = [&["60", self.name()], arguments].concat();
        let output = Command::new("timeout").args(words).stdin(Stdio::null()).output();
        let output = output.map_err(|e| format!("cannot start `{}`: {e}", self.name()))?;
        if output.status.success() {
            return Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned());
        }
        Err(last_line(&output.stderr).unwrap_or_else(|| output.status.to_string()))
    }

    /// Identifies an image of this machine.
    ///
    /// # Errors
    /// A sentence: the engine does not answer or does not have the image, or the image is for
    /// another architecture.
    pub fn inspect(self, name: &str) -> Result<Image, String> {
        let engine = self.name();
        let format = match self {
            ContainerEngine::Podman => "{{.Id}} {{.Digest}} {{.Architecture}}",
            ContainerEngine::Docker => "{{.Id}} {{.Id}} {{.Architecture}}",
        };
        let found = self.ask(&["image", "inspect", "--format", format, name]).map_err(|e| {
            format!(
                "{engine} cannot show the image `{name}`: {e} (list the images: {engine} images)"
            )
        })?;
        let words: Vec<&str> = found.split_whitespace().collect();
        let [id, digest, architecture] = words[..] else {
            return Err(format!("{engine} described the image `{name}` as `{found}`"));
        };
        let own = match std::env::consts::ARCH {
            "x86_64" => "amd64",
            "aarch64" => "arm64",
            other => other,
        };
        if architecture != own {
            return Err(format!("the image `{name}` is for {architecture}; this machine is {own}"));
        }
        let runtime = match self {
            ContainerEngine::Podman => "{{.Host.OCIRuntime.Name}}",
            ContainerEngine::Docker => "{{.DefaultRuntime}}",
        };
        let runtime = self.ask(&["info", "--format", runtime])?;
        let (name, id, digest) = (name.to_owned(), id.to_owned(), digest.to_owned());
        Ok(Image { engine: self, name, id, digest, runtime })
    }

    /// Returns the id of an image; `None` without images or an answer of the engine.
    pub(crate) fn any_image(self) -> Option<String> {
        self.ask(&["images", "--quiet"]).ok()?.lines().next().map(str::to_owned)
    }
}

/// Returns the last line that is not empty.
pub(super) fn last_line(text: &[u8]) -> Option<String> {
    let text = String::from_utf8_lossy(text);
    text.lines().rev().map(str::trim).find(|line| !line.is_empty()).map(str::to_owned)
}
