//! Failures of containers and of the programs that run them.

use std::io;
use std::path::PathBuf;

use crate::error::ControlError;

/// Reason why an image or a container cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum ContainerError {
    #[error("`{0}` is not podman, docker or apptainer")]
    UnknownEngine(String),
    #[error("`{0}` is not installed: apt-get install podman crun")]
    NotInstalled(String),
    #[error("cannot start `{engine}`: {source}")]
    EngineStart { engine: &'static str, source: io::Error },
    /// The last line that the engine printed on standard error, or its exit status.
    #[error("{0}")]
    Engine(String),
    #[error("{engine} cannot show the image `{name}`: {said} (list the images: {engine} images)")]
    NoImage { engine: &'static str, name: String, said: Box<ContainerError> },
    #[error("{engine} described the image `{name}` as `{found}`")]
    Description { engine: &'static str, name: String, found: String },
    #[error("cannot read the image `{name}`: {source}")]
    ReadImage { name: String, source: io::Error },
    #[error("`{0}` is no image file in the format SIF (make one: apptainer build NAME.sif FOLDER)")]
    NotSif(String),
    #[error("the image `{name}` is for {image}; this machine is {machine}")]
    Architecture { name: String, image: String, machine: &'static str },
    #[error("Docker randomises addresses in all containers; use image.podman")]
    Aslr,
    #[error("cannot create the socket {}: {source}", path.display())]
    Socket { path: PathBuf, source: io::Error },
    #[error("cannot remove the socket {}: {source}", path.display())]
    RemoveSocket { path: PathBuf, source: io::Error },
    #[error(transparent)]
    Control(#[from] ControlError),
    #[error("the container of {image} did not start: {printed}{hint}")]
    NotStarted { image: String, printed: String, hint: &'static str },
}
