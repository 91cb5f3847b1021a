//! What stands for the tracer by eBPF in a build without it: it cannot be had, and reports that.

use std::convert::Infallible;
use std::marker::PhantomData;
use std::path::Path;

use assay_iotrace::{Analysis, Completeness, Cost, Names, Recorded, Sink};

use super::{BlockDevices, TraceRequest};
use crate::NotAvailable;

/// There is none.
pub struct EbpfTracer<'n>(Infallible, PhantomData<&'n Names>);

impl<'n> EbpfTracer<'n> {
    pub fn start(
        _: &Path,
        _: &TraceRequest,
        _: BlockDevices,
        _: &'n Names,
    ) -> Result<Self, NotAvailable> {
        Err(NotAvailable::because("this assay was built without eBPF (its feature `ebpf`)"))
    }

    pub fn counts(&self) -> bool {
        match self.0 {}
    }

    pub fn devices(&self) -> &BlockDevices {
        match self.0 {}
    }

    pub fn poll(&mut self, _: &mut [&mut dyn Sink]) {
        match self.0 {}
    }

    pub fn tick(&mut self, _: u64, _: &mut [&mut Analysis<'n>]) {
        match self.0 {}
    }

    pub fn stop(&mut self) {
        match self.0 {}
    }

    pub fn recorded(&self) -> Recorded {
        match self.0 {}
    }

    pub fn completeness(&self) -> Completeness {
        match self.0 {}
    }

    pub fn limits(&self) -> Vec<String> {
        match self.0 {}
    }

    pub fn notes(&self) -> Vec<String> {
        match self.0 {}
    }

    pub fn cost(&self) -> Cost {
        match self.0 {}
    }
}
