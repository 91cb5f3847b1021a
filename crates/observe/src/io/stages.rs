//! Traces the stages of live I/Os: eBPF reports every step of every I/O from the kernel's
//! tracepoints, and the steps are matched like those of a blktrace recording.
#![allow(unsafe_code)] // an event is plain data

use std::collections::HashMap;
use std::path::Path;

use assay_traces::block_io::{
    BLOCK_BYTES, DeviceStages, Event, Flags, IoAction, NameTable, Op, PlugEvent, Stages,
};
use aya::maps::{Array, MapData, RingBuf};
use aya::{Btf, Ebpf, EbpfLoader};

use super::abi::{IoProbeConfig, MAX_DEVICES};
use super::devices::BlockDevices;
use super::kernel_types::KernelTypes;
use super::oldest::KernelFeatures;
use super::probe::Kernel;
use super::stage_request::{ObservedStages, wanted};
use crate::NotAvailable;
use crate::ebpf::{attach, missed, object, record, refused, shared_with_probes, unload};

const OBJECT: &[u8] = include_bytes!("../../../../bpf/stages.bpf.o.gz");

/// Size of the ring in bytes: room for 800,000 events, more than a second's worth at most rates.
const RING_BYTES: u32 = 32 << 20;
/// Maximum delay between an event's time and its arrival in the ring; older events can be put in
/// order.
const SETTLED_NS: u64 = 10_000_000;

/// Maximum number of plugs kept per queue until a request shows its device; more belong to a device
/// that is not watched.
const MAX_UNPLACED: usize = 64;

/// Programs, their tracepoints, and the stages that are missing without them.
const ATTACHED: [(&str, &str, &str); 11] = [
    ("completed", "block_rq_complete", "D2C, Q2C"),
    ("bio_completed", "block_bio_complete", "Q2C of devices without requests"),
    ("issued", "block_rq_issue", "I2D, M2D, D2C"),
    ("inserted", "block_rq_insert", "G2I, I2D"),
    ("back_merged", "block_bio_backmerge", "back merges"),
    ("front_merged", "block_bio_frontmerge", "front merges"),
    ("plugged", "block_plug", "plugs"),
    ("unplugged", "block_unplug", "unplugs"),
    ("made", "block_getrq", "Q2G, G2I"),
    ("split", "block_split", "stages of split bios"),
    // Last, so that every later step of an I/O queued from here on is seen.
    ("queued", "block_bio_queue", ""),
];

/// One event, with the layout of `bpf/stages.h`.
#[repr(C)]
#[derive(Clone, Copy)]
struct StageEvent {
    time_ns: u64,
    sector: u64,
    queue: u64,
    bytes: u32,
    dev: u32,
    what: u8,
    op: u8,
    pad: [u8; 6],
}

shared_with_probes! { StageEvent: 40 }

/// Tracer of every step of every I/O.
pub struct StageTracer<'n> {
    ebpf: Ebpf,
    ring: RingBuf<MapData>,
    stages: Stages,
    /// Events before which older ones may still arrive.
    held: Vec<StageEvent>,
    /// Ids of device names, by device number.
    devices: HashMap<u32, u32>,
    /// Devices by request queue, and plugs of queues whose device is still unknown.
    queues: HashMap<u64, u32>,
    unplaced: HashMap<u64, Vec<PlugEvent>>,
    known: BlockDevices,
    names: &'n NameTable,
    not_recorded: Vec<&'static str>,
}

impl<'n> StageTracer<'n> {
    /// Starts to trace the I/Os of these devices, or of all if `only` is empty.
    ///
    /// # Errors
    /// A device does not exist, or the kernel does not allow the stages to be traced; the error
    /// gives the reason.
    pub fn start(root: &Path, only: &[String], names: &'n NameTable) -> Result<Self, NotAvailable> {
        let known = BlockDevices::read(root)
            .map_err(|e| NotAvailable::file(&root.join("sys/class/block"), &e))?;
        let numbers = wanted(&known, only, MAX_DEVICES)?;
        let kernel = Kernel::read(root, KernelFeatures::Newest)?;
        let types = KernelTypes::read(root)?;
        let mut config = IoProbeConfig {
            queue_before_request: u8::from(kernel.queue_before_request),
            queue_before_bio: u8::from(kernel.queue_before_bio),
            n_devices: numbers.len() as u32,
            ..IoProbeConfig::taking_all()
        };
        config.devices[..numbers.len()].copy_from_slice(&numbers);
        let btf = Btf::from_sys_fs().map_err(|e| refused(&e))?;
        let mut ebpf = EbpfLoader::new()
            .btf(Some(&btf))
            .override_global("cfg", &config, true)
            .map_max_entries("events", RING_BYTES)
            .load(&object(OBJECT))
            .map_err(|e| refused(&e))?;
        let mut not_recorded = Vec::new();
        for (name, tracepoint, lacking) in ATTACHED {
            if types.arguments(tracepoint).is_none() && !lacking.is_empty() {
                not_recorded.push(lacking);
                continue;
            }
            attach(&mut ebpf, &btf, name, tracepoint)?;
        }
        let missing = || NotAvailable::because("the probes hold no ring");
        let ring = ebpf.take_map("events").ok_or_else(missing)?;
        let ring = RingBuf::try_from(ring).map_err(|e| refused(&e))?;
        Ok(StageTracer {
            ebpf,
            ring,
            stages: Stages::default(),
            held: Vec::new(),
            devices: HashMap::new(),
            queues: HashMap::new(),
            unplaced: HashMap::new(),
            known,
            names,
            not_recorded,
        })
    }

    /// Processes the events that have arrived. Call it about every 10 milliseconds.
    pub fn poll(&mut self) {
        let now = assay_system::clock::monotonic_ns();
        self.drain();
        self.give(now.saturating_sub(SETTLED_NS));
    }

    fn drain(&mut self) {
        while let Some(item) = self.ring.next() {
            self.held.extend(record::<StageEvent>(&item));
        }
    }

    /// Passes on the events up to a time, ordered by time.
    fn give(&mut self, until_ns: u64) {
        let mut held = std::mem::take(&mut self.held);
        held.sort_by_key(|e| e.time_ns);
        let settled = held.partition_point(|e| e.time_ns <= until_ns);
        for event in held.drain(..settled) {
            self.take(&event);
        }
        self.held = held;
    }

    fn take(&mut self, event: &StageEvent) {
        // Values of the enum in bpf/stages.h.
        let action = match event.what {
            0 => IoAction::Queue,
            1 => IoAction::Start,
            2 => IoAction::Insert,
            3 => IoAction::BackMerge,
            4 => IoAction::FrontMerge,
            5 => IoAction::Issue,
            6 => IoAction::Complete,
            7 => return self.plug(event.queue, PlugEvent::Plugged),
            10 => IoAction::Split,
            what => {
                let (requests, implicit) = (Some(event.sector), what == 9);
                return self.plug(event.queue, PlugEvent::Unplugged { requests, implicit });
            }
        };
        let device = self.device(event.dev);
        if event.queue != 0 && self.queues.insert(event.queue, device).is_none() {
            for plug in self.unplaced.remove(&event.queue).unwrap_or_default() {
                self.stages.plug(device, plug);
            }
        }
        self.stages.event(&Event {
            action,
            time_ns: event.time_ns,
            device,
            sector: event.sector,
            bytes: u64::from(event.bytes),
            op: Op::ALL.get(usize::from(event.op)).copied().unwrap_or(Op::Other),
            flags: Flags::default(),
            pid: None,
            program: NameTable::NONE,
            cgroup: NameTable::NONE,
            // For a split, the start of the remainder, which follows the front.
            other_sector: event.sector + u64::from(event.bytes) / BLOCK_BYTES,
        });
    }

    /// Records a plug of a queue. Requests reveal the queue's device; until then the plug is kept.
    fn plug(&mut self, queue: u64, plug: PlugEvent) {
        if let Some(device) = self.queues.get(&queue) {
            self.stages.plug(*device, plug);
            return;
        }
        let kept = self.unplaced.entry(queue).or_default();
        if kept.len() < MAX_UNPLACED {
            kept.push(plug);
        }
    }

    fn device(&mut self, dev: u32) -> u32 {
        let (known, names) = (&self.known, self.names);
        *self.devices.entry(dev).or_insert_with(|| known.name_id(dev, names))
    }

    /// Stops tracing and returns the stages.
    pub fn stop(mut self) -> ObservedStages {
        let missed = missed(&self.ebpf);
        unload(&mut self.ebpf);
        self.drain();
        self.give(u64::MAX);
        let lost = self.ebpf.map("lost").and_then(|m| Array::<_, u64>::try_from(m).ok());
        let lost = lost.and_then(|m| m.get(&0, 0).ok()).unwrap_or(0);
        let devices: Vec<DeviceStages> = self.stages.report(self.names).unwrap_or_default();
        ObservedStages { devices, lost: lost + missed, not_recorded: self.not_recorded }
    }
}
