//! Stages of I/Os in a build without eBPF: there are none.

use std::marker::PhantomData;
use std::path::Path;

use assay_iotrace::Names;

use super::stage_request::StagesSeen;
use crate::NotAvailable;

/// Never there.
pub struct StageTracer<'n>(std::convert::Infallible, PhantomData<&'n Names>);

impl<'n> StageTracer<'n> {
    /// # Errors
    /// Always: this build has no eBPF.
    pub fn start(_: &Path, _: &[String], _: &'n Names) -> Result<Self, NotAvailable> {
        Err(NotAvailable::because(
            "this assay was built without eBPF, which tells the stages of I/Os",
        ))
    }

    /// Takes what has come.
    pub fn poll(&mut self) {
        match self.0 {}
    }

    /// Stops and tells what was seen.
    pub fn stop(self) -> StagesSeen {
        match self.0 {}
    }
}
