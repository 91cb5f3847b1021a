//! Replacement for the stage tracer in a build without eBPF: starting it returns an error.

use std::marker::PhantomData;
use std::path::Path;

use assay_traces::block_io::NameTable;

use super::stage_request::ObservedStages;
use crate::NotAvailable;

/// Type without values: stages are never traced in this build.
pub struct StageTracer<'n>(std::convert::Infallible, PhantomData<&'n NameTable>);

impl<'n> StageTracer<'n> {
    /// Returns an error, since this build has no eBPF.
    ///
    /// # Errors
    /// Always.
    pub fn start(_: &Path, _: &[String], _: &'n NameTable) -> Result<Self, NotAvailable> {
        Err(NotAvailable::because("this assay was built without eBPF, which stages of I/Os need"))
    }

    pub fn poll(&mut self) {
        match self.0 {}
    }

    pub fn stop(self) -> ObservedStages {
        match self.0 {}
    }
}
