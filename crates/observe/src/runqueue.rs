//! Live measurement of waits for a CPU, aggregated in the kernel by eBPF.

use std::path::Path;

use assay_traces::runqueue::{FILE, RunQueue};

use self::probes::Probes;
use crate::{NotAvailable, Tracer};

/// Running probes. Dropping it removes them.
pub struct RunQueueWatch(Probes);

impl Tracer for RunQueueWatch {
    const NAME: &'static str = FILE.tracer;
    const FILE: &'static str = FILE.name;
    type Request = ();
    type Trace = RunQueue;

    fn request(listed: &str) -> Option<()> {
        (listed == FILE.tracer).then_some(())
    }

    fn start(root: &Path, (): &()) -> Result<Self, NotAvailable> {
        Probes::start(root).map(RunQueueWatch)
    }

    fn begin(&mut self) {
        self.0.begin();
    }

    fn end(&mut self) {
        self.0.end();
    }

    fn stop(self) -> Result<RunQueue, NotAvailable> {
        Ok(self.0.stop())
    }
}

/// Describes the method by which waits would be measured here, for `assay doctor`.
///
/// # Errors
/// Waits cannot be measured here.
pub fn runqueue_ability(root: &Path) -> Result<String, NotAvailable> {
    RunQueueWatch::start(root, &()).and_then(Tracer::stop).map(|seen| seen.method)
}

/// Type without values: the tracer never starts in a build without eBPF.
#[cfg(not(feature = "ebpf"))]
mod probes {
    use std::path::Path;

    use assay_traces::runqueue::RunQueue;

    use crate::NotAvailable;

    #[derive(Debug)]
    pub(super) enum Probes {}

    impl Probes {
        pub fn start(_: &Path) -> Result<Self, NotAvailable> {
            Err(NotAvailable::because("this assay was built without eBPF (its feature `ebpf`)"))
        }

        pub fn begin(&mut self) {
            match *self {}
        }

        pub fn end(&mut self) {
            match *self {}
        }

        pub fn stop(self) -> RunQueue {
            match self {}
        }
    }
}

#[cfg(feature = "ebpf")]
mod probes {
    #![allow(unsafe_code)]

    use std::path::Path;

    use assay_system::clock::monotonic_ns;
    use assay_system::program_parent;
    use assay_traces::runqueue::{RunQueue, TaskWaits, VERSION};
    use aya::maps::PerCpuValues;
    use aya::{Btf, Ebpf, EbpfLoader};

    use crate::NotAvailable;
    use crate::ebpf::{
        Window, attach, count, groups, missed, object, refused, shared_with_probes, unload,
    };
    use crate::io::kernel_types::KernelTypes;
    use crate::io::perf_ring::cpus;
    use crate::processes::{one_namespace, thread_name};

    const OBJECT: &[u8] = include_bytes!("../../../bpf/runqueue.bpf.o.gz");

    /// Description of the method, for a person.
    const METHOD: &str = "eBPF, counted when a task gets a CPU (tracepoints sched_wakeup, \
                          sched_wakeup_new and sched_switch)";

    /// Memory limit of all names on all CPUs, bytes.
    const ROOM: usize = 48 << 20;

    /// Programs and their tracepoints; the one that ends a wait comes last.
    const ATTACHED: [(&str, &str); 6] = [
        ("forked", "sched_process_fork"),
        ("executed", "sched_process_exec"),
        ("freed", "sched_process_free"),
        ("woken", "sched_wakeup"),
        ("created", "sched_wakeup_new"),
        ("switched", "sched_switch"),
    ];

    /// Number of buckets (`FINE` in bpf/buckets.h).
    const BUCKETS: usize = 1152;
    /// Indexes of the counters (`enum counter` in bpf/runqueue.h).
    const LOST_WAITS: u32 = 0;
    const LOST_TASKS: u32 = 1;

    #[repr(C)]
    #[derive(Clone, Copy)]
    struct Config {
        root: u32,
        all: u32,
    }

    #[repr(C)]
    #[derive(Clone, Copy)]
    struct Group {
        comm: [u8; 16],
        measured: u64,
    }

    #[repr(C)]
    #[derive(Clone, Copy)]
    struct WaitTotals {
        waits: u64,
        ns: u64,
        least_ns: u64,
        most_ns: u64,
        times: [u32; BUCKETS],
    }

    shared_with_probes! { Config: 8, Group: 24, WaitTotals: 32 + 4 * BUCKETS }

    /// Loaded and attached probes.
    pub(super) struct Probes {
        ebpf: Ebpf,
        window: Window,
        began_ns: u64,
    }

    impl Probes {
        pub fn start(root: &Path) -> Result<Self, NotAvailable> {
            one_namespace()?;
            // The same kernels have the atomic addition that allocates entries.
            if !KernelTypes::read(root)?.has_value("bpf_func_id", "BPF_FUNC_check_mtu") {
                return Err(NotAvailable::because(
                    "this kernel's eBPF lacks atomic fetch-and-add (Linux 5.12 or later has it)",
                ));
            }
            let btf = Btf::from_sys_fs().map_err(|e| refused(&e))?;
            let names =
                (ROOM / (cpus().len().max(1) * size_of::<WaitTotals>())).clamp(64, 4096) as u32;
            let mut ebpf = EbpfLoader::new()
                .btf(Some(&btf))
                .override_global("cfg", &Config { root: program_parent(), all: 0 }, true)
                .map_max_entries("groups", names)
                .map_max_entries("amounts", names)
                .load(&object(OBJECT))
                .map_err(|e| refused(&e))?;
            for (name, tracepoint) in ATTACHED {
                attach(&mut ebpf, &btf, name, tracepoint)?;
            }
            Ok(Probes { ebpf, window: Window::default(), began_ns: monotonic_ns() })
        }

        pub fn begin(&mut self) {
            self.window.begin();
            self.window.hand_to(&mut self.ebpf);
        }

        pub fn end(&mut self) {
            self.window.end();
            self.window.hand_to(&mut self.ebpf);
        }

        pub fn stop(mut self) -> RunQueue {
            let now = monotonic_ns();
            let missed = missed(&self.ebpf);
            unload(&mut self.ebpf);
            let end = self.window.end_or(Some(now));
            let mut tasks = self.tasks();
            tasks.sort_by(|a, b| a.program.cmp(&b.program));
            RunQueue {
                version: VERSION,
                method: METHOD.to_owned(),
                span_ns: end.checked_sub(self.window.begin_ns.max(self.began_ns)),
                tasks,
                lost: count(&self.ebpf, LOST_WAITS) + missed,
                lost_tasks: count(&self.ebpf, LOST_TASKS),
            }
        }

        fn tasks(&self) -> Vec<TaskWaits> {
            let measured = u64::from(self.window.begin_ns > 0);
            let groups = groups::<Group, WaitTotals>(&self.ebpf).into_iter();
            let of = |(group, by_cpu): (Group, PerCpuValues<WaitTotals>)| {
                sum(thread_name(&group.comm), by_cpu.iter())
            };
            groups.filter(|(group, _)| group.measured == measured).map(of).collect()
        }
    }

    fn sum<'a>(program: String, by_cpu: impl Iterator<Item = &'a WaitTotals>) -> TaskWaits {
        let mut all = TaskWaits { program, shortest_ns: u64::MAX, ..TaskWaits::default() };
        for a in by_cpu.filter(|a| a.waits > 0) {
            all.ns += a.ns;
            all.shortest_ns = all.shortest_ns.min(a.least_ns.saturating_sub(1));
            all.longest_ns = all.longest_ns.max(a.most_ns);
            for (at, n) in (0..).zip(a.times).filter(|(_, n)| *n > 0) {
                *all.times.entry(at).or_default() += u64::from(n);
            }
        }
        all
    }
}
