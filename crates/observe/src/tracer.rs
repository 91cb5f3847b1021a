//! A tracer of programs: it starts before a program, receives the program's measurement window, and
//! returns a trace when it stops.

use std::ffi::OsString;
use std::path::Path;
use std::sync::mpsc::Receiver;
use std::time::Duration;

use assay_traces::TraceData;
use assay_traces::profile::Profile;

use crate::NotAvailable;

/// A tracer of programs.
pub trait Tracer: Sized + 'static {
    /// Name in experiments and records.
    const NAME: &'static str;
    /// Name of the file of a trial's trace.
    const FILE: &'static str;
    /// Settings of the tracer.
    type Request;
    /// Trace of one program with its descendants.
    type Trace: TraceData + serde::Serialize;

    /// Parses a tracer as an experiment lists it; `None` if it is another tracer.
    fn request(listed: &str) -> Option<Self::Request>;

    /// Returns the reason why the tracer is known to record nothing on this machine.
    fn obstacle() -> Option<NotAvailable> {
        None
    }

    /// Returns environment variables for the programs.
    fn env() -> Vec<(OsString, OsString)> {
        Vec::new()
    }

    /// Starts the tracer; returns when it records. A program that this process starts is traced
    /// from its `exec` on.
    ///
    /// # Errors
    /// The kernel does not allow it or lacks a feature, or a named process does not exist.
    fn start(root: &Path, request: &Self::Request) -> Result<Self, NotAvailable>;

    /// Begins the measurement window now.
    fn begin(&mut self);

    /// Ends the measurement window now.
    fn end(&mut self);

    /// Requests the profile so far, which arrives when it is built; `None` if the tracer records no
    /// profile.
    fn snapshot(&self) -> Option<Receiver<ProfileSnapshot>> {
        None
    }

    /// Stops the tracer and returns the trace of the measurement window, or of all the time if no
    /// window was begun.
    ///
    /// # Errors
    /// The trace could not be read.
    fn stop(self) -> Result<Self::Trace, NotAvailable>;
}

/// A profile of the time so far.
#[derive(Debug)]
pub struct ProfileSnapshot {
    pub profile: Profile,
    /// CPU time spent on building the profile.
    pub cpu: Duration,
    /// Number of files read for names, beyond those that earlier profiles needed.
    pub read: usize,
}
