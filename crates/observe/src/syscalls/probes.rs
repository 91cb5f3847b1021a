//! Loads and attaches the probes of system calls, and reads their counts. Nothing is pinned: when
//! this process ends, however it ends, the kernel removes the probes.

use std::path::Path;

use assay_traces::syscalls::Architecture;
use aya::maps::{HashMap, MapData, PerCpuHashMap};
use aya::{Btf, Ebpf, EbpfLoader};

use super::abi::{CallTotals, SyscallConfig, SyscallError, Traits};
use crate::NotAvailable;
use crate::ebpf::{attach, object, refused};
use crate::io::kernel_types::KernelTypes;
use crate::io::perf_ring::cpus;

const OBJECT: &[u8] = include_bytes!("../../../../bpf/syscalls.bpf.o.gz");

/// Mark of a followed process that already executes its own program, not that of its parent.
const EXECUTED: u32 = 1;

/// Memory limit of all groups on all CPUs, bytes.
const ROOM: usize = 48 << 20;
/// Minimum and maximum number of groups, whatever the memory limit gives.
const GROUPS: (usize, usize) = (1024, 16_384);

/// Spare entries of `amounts`: when two CPUs allocate an entry for the same group at once, one of
/// them stays unused.
const LEFT_EMPTY: usize = 256;

/// Programs and their tracepoints. The one at entry comes last: a call is counted when it returns,
/// and its entry must have been seen before.
const ATTACHED: [(&str, &str); 5] = [
    ("forked", "sched_process_fork"),
    ("executed", "sched_process_exec"),
    ("freed", "sched_process_free"),
    ("returned", "sys_exit"),
    ("entered", "sys_enter"),
];

/// Loaded and attached probes.
pub(super) struct SyscallProbes {
    pub ebpf: Ebpf,
}

impl SyscallProbes {
    /// Loads the probes, marks the processes to follow, and attaches the probes.
    pub fn start(root: &Path, config: SyscallConfig, follow: &[u32]) -> Result<Self, NotAvailable> {
        let types = KernelTypes::read(root)?;
        if types.arguments("sys_enter").is_none() {
            return Err(NotAvailable::because(
                "this kernel has no tracepoints at system calls (CONFIG_HAVE_SYSCALL_TRACEPOINTS, \
                 CONFIG_TRACEPOINTS)",
            ));
        }
        // Task storage came one version before the atomic addition that allocates entries; this
        // function came with the latter.
        if !types.has_value("bpf_func_id", "BPF_FUNC_check_mtu") {
            return Err(NotAvailable::because(
                "this kernel's eBPF lacks task storage and atomic fetch-and-add (Linux 5.12 or \
                 later has them)",
            ));
        }
        let btf = Btf::from_sys_fs().map_err(|e| refused(&e))?;
        let each = cpus().len().max(1) * size_of::<CallTotals>();
        let groups = (ROOM / each).clamp(GROUPS.0, GROUPS.1);
        let mut ebpf = EbpfLoader::new()
            .btf(Some(&btf))
            .override_global("cfg", &config, true)
            .override_global("traits", &Traits(Architecture::own().traits()), true)
            // Task storage is used by the probes alone: aya has no type for that map.
            .allow_unsupported_maps()
            .map_max_entries("groups", groups as u32)
            .map_max_entries("amounts", (groups + LEFT_EMPTY) as u32)
            .load(&object(OBJECT))
            .map_err(|e| refused(&e))?;
        let map = ebpf.map_mut("targets");
        if let Some(mut map) = map.and_then(|m| HashMap::<_, u32, u32>::try_from(m).ok()) {
            for pid in follow {
                map.insert(pid, EXECUTED, 0).map_err(|e| refused(&e))?;
            }
        }
        for (name, tracepoint) in ATTACHED {
            attach(&mut ebpf, &btf, name, tracepoint)?;
        }
        Ok(SyscallProbes { ebpf })
    }

    /// Returns the number of errors by call and error number.
    pub fn errors(&self) -> Vec<(SyscallError, u64)> {
        let map = self.ebpf.map("errors");
        let map = map.and_then(|m| PerCpuHashMap::<&MapData, SyscallError, u64>::try_from(m).ok());
        let all = map.map_or_else(Vec::new, |m| m.iter().filter_map(Result::ok).collect());
        all.into_iter().map(|(error, n): (SyscallError, _)| (error, n.iter().sum())).collect()
    }
}
