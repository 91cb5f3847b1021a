//! I/Os and records for the tests of this crate.

use crate::block_io::matching::event::{Io, Op, Sink};

/// Returns an I/O of 4 KiB at block 8 that spent `latency_ns` in the device.
pub(crate) fn io(start_ns: u64, latency_ns: u64, op: Op) -> Io {
    Io {
        start_ns,
        latency_ns: Some(latency_ns),
        device_ns: Some(latency_ns),
        sector: 8,
        bytes: 4096,
        op,
        ..Io::default()
    }
}

/// A sink that keeps every I/O.
#[derive(Debug, Default)]
pub(crate) struct IoCollector {
    pub(crate) started: Vec<Io>,
    pub(crate) ended: Vec<Io>,
}

impl Sink for IoCollector {
    fn start(&mut self, io: &Io) {
        self.started.push(*io);
    }

    fn end(&mut self, io: &Io) {
        self.ended.push(*io);
    }
}

/// Returns a blktrace record of device 8,0 and CPU 0: `action` with the category bits of a write.
pub(crate) fn record(time_ns: u64, action: u32, sector: u64, bytes: u32, extra: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    out.extend(0x6561_7407_u32.to_le_bytes());
    out.extend(0u32.to_le_bytes());
    out.extend(time_ns.to_le_bytes());
    out.extend(sector.to_le_bytes());
    out.extend(bytes.to_le_bytes());
    out.extend((action | 2 << 16).to_le_bytes());
    out.extend(77u32.to_le_bytes());
    out.extend((8u32 << 20).to_le_bytes());
    out.extend(0u32.to_le_bytes());
    out.extend(0u16.to_le_bytes());
    out.extend((extra.len() as u16).to_le_bytes());
    out.extend(extra);
    out
}
