//! Connection to assay in the container of the running trial, through which its programs run.

use std::io::{self, BufRead as _, BufReader};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::process::Child;
use std::sync::{Mutex, MutexGuard, PoisonError};

use rustix::net::{Shutdown, shutdown};
use rustix::process::Signal;

use super::wire::{self, ContainedLaunch, ContainedResult};

/// The container of the running trial; there is at most one.
static RUNNING: Mutex<Option<Running>> = Mutex::new(None);

#[derive(Debug)]
pub(super) struct Running {
    pub name: String,
    pub engine: Child,
    pub socket: UnixStream,
    /// Process id of assay in the container, seen from here.
    pub first: u32,
}

pub(super) fn running() -> MutexGuard<'static, Option<Running>> {
    RUNNING.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Returns the process whose children are the programs of trials: this one, or assay's process in
/// the container.
pub fn program_parent() -> u32 {
    running().as_ref().map_or_else(std::process::id, |running| running.first)
}

/// Sends a program with its descriptors into the container of the running trial. Returns the
/// connection, which is readable once there is a result.
pub(crate) fn launch(launch: &ContainedLaunch, descriptors: &[OwnedFd]) -> io::Result<OwnedFd> {
    let running = running();
    let socket = &running.as_ref().ok_or_else(|| io::Error::other("no container runs"))?.socket;
    wire::send(socket, launch, descriptors)?;
    Ok(socket.try_clone()?.into())
}

/// Ends the program at the other end of a connection as a signal does outside of a container; with
/// `Signal::KILL` without its result.
pub(crate) fn signal(connection: &OwnedFd, signal: Signal) {
    let how = if signal == Signal::KILL { Shutdown::Both } else { Shutdown::Write };
    let _ = shutdown(connection, how);
}

/// Reads the result of the program.
pub(crate) fn result(connection: &OwnedFd) -> io::Result<ContainedResult> {
    let mut line = String::new();
    BufReader::new(UnixStream::from(connection.try_clone()?)).read_line(&mut line)?;
    if line.is_empty() {
        return Err(io::Error::other("the container ended before its program"));
    }
    serde_json::from_str::<Result<_, String>>(&line)?.map_err(io::Error::other)
}
