//! Replacement for module `tls` in builds without TLS: TLS targets are rejected, and the types
//! cannot be constructed.

use std::convert::Infallible;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::time::Duration;

use crate::Error;
use crate::config::Trust;

/// Settings that cannot exist in this build.
#[derive(Debug)]
pub struct Settings(Infallible);

/// Returns the error that this build has no TLS.
pub fn settings(name: &str, _: &Trust) -> Result<Settings, Error> {
    let what = "this assay was built without TLS (its feature `tls`)".to_owned();
    Err(Error::Tls { target: name.to_owned(), what })
}

/// A link that cannot exist in this build.
#[derive(Debug)]
pub struct TlsLink(Infallible);

impl TlsLink {
    pub fn begin(_: OwnedFd, settings: &Settings) -> io::Result<Self> {
        match settings.0 {}
    }

    pub fn open(_: OwnedFd, settings: &Settings, _: Duration) -> io::Result<Self> {
        match settings.0 {}
    }

    pub fn send(&mut self, _: &[u8]) -> io::Result<usize> {
        match self.0 {}
    }

    pub fn flush(&mut self) -> io::Result<bool> {
        match self.0 {}
    }

    pub fn receive(&mut self, _: &mut [u8]) -> io::Result<usize> {
        match self.0 {}
    }
}

impl AsFd for TlsLink {
    fn as_fd(&self) -> BorrowedFd<'_> {
        match self.0 {}
    }
}
