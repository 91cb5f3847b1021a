//! Programs that keep images of containers and run them.

use std::fs::File;
use std::io::Read as _;
use std::process::{Command, Stdio};
use std::sync::{Mutex, PoisonError};

use serde::{Deserialize, Serialize};

use crate::process::container::error::ContainerError;
use crate::read::which::which;

/// Images that engines identified, so that each is the same during a run and is asked for once.
static KNOWN: Mutex<Vec<Image>> = Mutex::new(Vec::new());

/// Lets engines identify images again, at the start of a run.
pub fn forget_images() {
    KNOWN.lock().unwrap_or_else(PoisonError::into_inner).clear();
}

/// Program that runs containers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ContainerEngine {
    Podman,
    Docker,
    Apptainer,
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
    /// Digest of its manifest; for Docker its id, because a local image has no manifest, and for
    /// Apptainer that of its file.
    pub digest: String,
    /// Program with which the engine starts containers: `crun`, `runc`, `apptainer version 1.5.3`.
    pub runtime: String,
}

assay_model::names! {
    /// Returns the name of the program.
    pub ContainerEngine::name, ALL: Podman = "podman", Docker = "docker",
        Apptainer = "apptainer"
}

impl ContainerEngine {
    /// Returns the engine with this name; if it is empty, the first one that is installed.
    ///
    /// # Errors
    /// No engine has this name, or it is not installed.
    pub fn find(name: &str) -> Result<Self, ContainerError> {
        let named = |engine: &Self| name.is_empty() || engine.name() == name;
        let mut all = Self::ALL.into_iter().filter(named).peekable();
        if all.peek().is_none() {
            return Err(ContainerError::UnknownEngine(name.to_owned()));
        }
        let installed = all.find(|engine| which(engine.name()).is_some());
        let name = if name.is_empty() { "podman" } else { name };
        installed.ok_or_else(|| ContainerError::NotInstalled(name.to_owned()))
    }

    /// Runs the engine and returns its output.
    ///
    /// # Errors
    /// It did not start, or failed.
    pub(super) fn run(self, arguments: &[&str]) -> Result<String, ContainerError> {
        // A daemon may not answer.
        let words = [&["60", self.name()], arguments].concat();
        let output = Command::new("timeout").args(words).stdin(Stdio::null()).output();
        let engine = self.name();
        let output = output.map_err(|source| ContainerError::EngineStart { engine, source })?;
        if output.status.success() {
            return Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned());
        }
        let said = last_line(&output.stderr).unwrap_or_else(|| output.status.to_string());
        Err(ContainerError::Engine(said))
    }

    /// Identifies an image of this machine, once until [`forget_images`].
    ///
    /// # Errors
    /// The engine does not answer or does not have the image, or the image is for another
    /// architecture.
    pub fn inspect(self, name: &str) -> Result<Image, ContainerError> {
        let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(image) = known.iter().find(|i| i.engine == self && i.name == name) {
            return Ok(image.clone());
        }
        let image = self.inspect_again(name)?;
        known.push(image.clone());
        Ok(image)
    }

    fn inspect_again(self, name: &str) -> Result<Image, ContainerError> {
        let engine = self.name();
        let named = || name.to_owned();
        let (format, runtime) = match self {
            ContainerEngine::Podman => {
                ("{{.Id}} {{.Digest}} {{.Architecture}}", "{{.Host.OCIRuntime.Name}}")
            }
            ContainerEngine::Docker => ("{{.Id}} {{.Id}} {{.Architecture}}", "{{.DefaultRuntime}}"),
            ContainerEngine::Apptainer => return self.inspect_file(name),
        };
        let found = self.run(&["image", "inspect", "--format", format, name]);
        let found = found.map_err(|e| {
            let said = Box::new(e);
            ContainerError::NoImage { engine, name: named(), said }
        })?;
        let words: Vec<&str> = found.split_whitespace().collect();
        let [id, digest, architecture] = words[..] else {
            return Err(ContainerError::Description { engine, name: named(), found });
        };
        is_of_this_machine(name, architecture)?;
        let runtime = self.run(&["info", "--format", runtime])?;
        let (id, digest) = (id.to_owned(), digest.to_owned());
        Ok(Image { engine: self, name: named(), id, digest, runtime })
    }

    /// Identifies an image in a file of the Singularity Image Format. Its header has the magic word
    /// at byte 32 and a number for the architecture at byte 45 (sylabs/sif, `pkg/sif/sif.go`).
    fn inspect_file(self, name: &str) -> Result<Image, ContainerError> {
        let fail = |source| ContainerError::ReadImage { name: name.to_owned(), source };
        let path = std::fs::canonicalize(name).map_err(fail)?;
        let mut header = [0; 48];
        let read = File::open(&path).and_then(|mut file| file.read_exact(&mut header));
        if path.is_dir() || read.is_err() || !header[32..].starts_with(b"SIF_MAGIC") {
            return Err(ContainerError::NotSif(name.to_owned()));
        }
        let architecture = match &header[45..47] {
            b"02" => "amd64",
            b"04" => "arm64",
            _ => "another architecture",
        };
        is_of_this_machine(name, architecture)?;
        let digest = crate::read::digest::sha256_file(&path).map_err(fail)?;
        let (name, id) = (name.to_owned(), path.to_string_lossy().into_owned());
        let runtime = self.run(&["--version"])?;
        Ok(Image { engine: self, name, id, digest: format!("sha256:{digest}"), runtime })
    }

    /// Returns the id of an image; `None` without images or an answer of the engine.
    pub(crate) fn any_image(self) -> Option<String> {
        if self == ContainerEngine::Apptainer {
            return None;
        }
        self.run(&["images", "--quiet"]).ok()?.lines().next().map(str::to_owned)
    }
}

/// Refuses an image of another architecture, which is given as in the manifests of OCI.
fn is_of_this_machine(name: &str, architecture: &str) -> Result<(), ContainerError> {
    let machine = match std::env::consts::ARCH {
        "x86_64" => "amd64",
        "aarch64" => "arm64",
        other => other,
    };
    if architecture == machine {
        return Ok(());
    }
    let (name, image) = (name.to_owned(), architecture.to_owned());
    Err(ContainerError::Architecture { name, image, machine })
}

/// Returns the last line that is not empty, without its colors.
pub(super) fn last_line(text: &[u8]) -> Option<String> {
    let text = String::from_utf8_lossy(text);
    let plain = |line: &str| {
        let mut parts = line.split('\x1b');
        let first = parts.next().unwrap_or_default();
        // A color is `[`, numbers and a letter.
        let rest = parts.filter_map(|p| Some(p.split_once(|c: char| c.is_ascii_alphabetic())?.1));
        [first].into_iter().chain(rest).collect::<String>().trim().to_owned()
    };
    text.lines().rev().map(plain).find(|line| !line.is_empty())
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_last_line_has_neither_colors_nor_blanks() {
        let last = |text: &str| super::last_line(text.as_bytes());
        assert_eq!(last("a\n\x1b[91mERROR: b\x1b[0m c\n\x1b[0m\n").unwrap(), "ERROR: b c");
        assert_eq!(last("\x1b[0m\n\n\x1b"), None);
    }
}
