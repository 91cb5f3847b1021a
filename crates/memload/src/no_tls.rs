//! What stands for TLS in a build without it: a server that is reached by TLS is refused, and no such link exists.

use std::convert::Infallible;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::time::Duration;

use crate::Error;
use crate::config::Trust;

/// There are none.
#[derive(Debug)]
pub struct Settings(Infallible);

/// Refuses.
pub fn settings(name: &str, _: &Trust) -> Result<Settings, Error> {
    let what = "this assay was built without TLS (its feature `tls`)".to_owned();
    Err(Error::Tls { target: name.to_owned(), what })
}

/// There is none.
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
