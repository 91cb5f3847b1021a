//! Messages between assay and its process in a container, over a socket: launches, with the
//! program's file descriptors, and their results.

use std::ffi::OsString;
use std::io::{self, IoSlice, IoSliceMut, Read, Write};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::path::PathBuf;

use assay_model::{Exit, ResourceUse};
use rustix::net::{
    RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer,
    SendAncillaryMessage, SendFlags, recvmsg, sendmsg,
};
use serde::{Deserialize, Serialize};

use crate::process::setup::ProcessSetup;

/// Maximum number of descriptors of a launch.
const MAX_DESCRIPTORS: usize = 32;

/// A program to run in the container; its descriptors come with it.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct ContainedLaunch {
    pub argv: Vec<OsString>,
    pub env: Vec<(OsString, OsString)>,
    pub cwd: Option<PathBuf>,
    pub protocol: bool,
    pub grace_ms: u64,
    pub setup: ProcessSetup,
}

/// Result of a program in a container; times are of `CLOCK_MONOTONIC`, which containers share.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub(crate) struct ContainedResult {
    pub exit: Exit,
    pub start_ns: u64,
    pub end_ns: u64,
    pub resources: ResourceUse,
    pub leftovers: u32,
}

/// Sends a launch with its descriptors.
pub(super) fn send(
    mut socket: &UnixStream,
    launch: &ContainedLaunch,
    descriptors: &[OwnedFd],
) -> io::Result<()> {
    let json = serde_json::to_vec(launch)?;
    let descriptors: Vec<_> = descriptors.iter().map(AsFd::as_fd).collect();
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(MAX_DESCRIPTORS))];
    let mut control = SendAncillaryBuffer::new(&mut space);
    if !control.push(SendAncillaryMessage::ScmRights(&descriptors)) {
        return Err(io::Error::other("too many file descriptors"));
    }
    let length = json.len().to_ne_bytes();
    sendmsg(socket, &[IoSlice::new(&length)], &mut control, SendFlags::NOSIGNAL)?;
    socket.write_all(&json)
}

/// Receives a launch; an error at the end of the connection.
pub(super) fn receive(mut socket: &UnixStream) -> io::Result<(ContainedLaunch, Vec<OwnedFd>)> {
    let mut length = [0; size_of::<usize>()];
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(MAX_DESCRIPTORS))];
    let mut control = RecvAncillaryBuffer::new(&mut space);
    let mut buffer = [IoSliceMut::new(&mut length)];
    if recvmsg(socket, &mut buffer, &mut control, RecvFlags::CMSG_CLOEXEC)?.bytes < length.len() {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    let mut descriptors = Vec::new();
    for message in control.drain() {
        if let RecvAncillaryMessage::ScmRights(received) = message {
            descriptors.extend(received);
        }
    }
    let mut json = vec![0; usize::from_ne_bytes(length)];
    socket.read_exact(&mut json)?;
    Ok((serde_json::from_slice(&json)?, descriptors))
}
