//! Running count of system calls: the caller marks the beginning and the end of the measurement
//! window, and gets the counts at the end.

use std::path::Path;

use assay_system::program_parent;
use assay_traces::syscalls::{
    Amounts, Architecture, BUCKETS, CallSubject, Calls, Errors, FILE, LostCalls, Syscalls, VERSION,
    error_name,
};

use super::SyscallRequest;
use super::abi::{CallTotals, SyscallConfig, SyscallGroup, counter};
use super::probes::SyscallProbes;
use crate::ebpf::{Window, count, groups, missed, unload};
use crate::process_filter::ProcessFilter;
use crate::processes::{one_namespace, thread_name, with_descendants};
use crate::{NotAvailable, Tracer};

/// Description of the method, for a person.
const METHOD: &str = "eBPF, counted at entry and return (tracepoints sys_enter and sys_exit)";

/// Running probes. Dropping it removes them.
pub struct SyscallWatch {
    probes: SyscallProbes,
    window: Window,
    began_ns: u64,
    by_process: bool,
}

impl Tracer for SyscallWatch {
    const NAME: &'static str = FILE.tracer;
    const FILE: &'static str = FILE.name;
    type Request = SyscallRequest;
    type Trace = Syscalls;

    fn request(listed: &str) -> Option<SyscallRequest> {
        (listed == FILE.tracer).then(SyscallRequest::default)
    }

    fn start(root: &Path, ask: &SyscallRequest) -> Result<Self, NotAvailable> {
        one_namespace()?;
        let config = SyscallConfig {
            root: if ask.whose == ProcessFilter::Children { program_parent() } else { 0 },
            all: u8::from(ask.whose == ProcessFilter::All),
            by_process: u8::from(ask.by_process),
            ..SyscallConfig::default()
        };
        let follow = match &ask.whose {
            ProcessFilter::Processes(pids) => with_descendants(pids)?,
            ProcessFilter::Children | ProcessFilter::All => Vec::new(),
        };
        let probes = SyscallProbes::start(root, config, &follow)?;
        Ok(SyscallWatch {
            probes,
            window: Window::default(),
            began_ns: assay_system::clock::monotonic_ns(),
            by_process: ask.by_process,
        })
    }

    fn begin(&mut self) {
        self.window.begin();
        self.window.hand_to(&mut self.probes.ebpf);
    }

    fn end(&mut self) {
        self.window.end();
        self.window.hand_to(&mut self.probes.ebpf);
    }

    /// Stops and returns the calls that returned in the measurement window.
    fn stop(mut self) -> Result<Syscalls, NotAvailable> {
        let now = assay_system::clock::monotonic_ns();
        let missed = missed(&self.probes.ebpf);
        unload(&mut self.probes.ebpf);
        let end = self.window.end_or(Some(now));
        let measured = u8::from(self.window.begin_ns > 0);
        let n = |what| count(&self.probes.ebpf, what);
        let process = |group: &SyscallGroup| self.by_process.then_some(group.tgid);
        let groups = groups::<SyscallGroup, CallTotals>(&self.probes.ebpf);
        let calls =
            groups.iter().filter(|(group, _)| group.measured == measured).map(|(group, by_cpu)| {
                let call = name(group);
                Calls {
                    program: thread_name(&group.comm),
                    process: process(group),
                    on: subject(&call, group.kind),
                    amounts: sum(by_cpu.iter(), &call),
                    call,
                }
            });
        let errors = self.probes.errors();
        let errors = errors.iter().filter(|(error, _)| error.of.measured == measured).map(
            |(error, count)| Errors {
                call: name(&error.of),
                error: error_name(error.number),
                program: thread_name(&error.of.comm),
                process: process(&error.of),
                count: *count,
            },
        );
        let mut seen = Syscalls {
            version: VERSION,
            method: METHOD.to_owned(),
            architecture: Architecture::own().name().to_owned(),
            span_ns: end.checked_sub(self.window.begin_ns.max(self.began_ns)),
            calls: calls.collect(),
            errors: errors.collect(),
            lost: LostCalls {
                calls: n(counter::LOST_CALLS),
                ns: n(counter::LOST_NS),
                errors: n(counter::LOST_ERRORS),
                tasks: n(counter::LOST_TASKS),
                missed,
            },
            notes: Vec::new(),
        };
        seen.calls.sort_by(|a, b| {
            let key = |c: &Calls| (c.call.clone(), c.program.clone(), c.process, c.on);
            key(a).cmp(&key(b))
        });
        seen.errors.sort_by(|a, b| {
            (&a.call, &a.error, &a.program, a.process)
                .cmp(&(&b.call, &b.error, &b.program, b.process))
        });
        Ok(seen)
    }
}

/// Returns the name of a group's call.
fn name(group: &SyscallGroup) -> String {
    if group.narrow > 0 {
        format!("32-bit syscall {}", group.number)
    } else {
        Architecture::own().call(group.number)
    }
}

/// Converts the probes' number of a subject. For Linux's older asynchronous I/O, the call itself
/// determines the subject.
fn subject(call: &str, kind: u8) -> CallSubject {
    match call {
        "io_submit" => CallSubject::Submission,
        "io_getevents" | "io_pgetevents" => CallSubject::CompletionWait,
        _ => CallSubject::ALL.get(usize::from(kind)).copied().unwrap_or(CallSubject::Other),
    }
}

fn sum<'a>(by_cpu: impl Iterator<Item = &'a CallTotals>, call: &str) -> Amounts {
    let mut all = Amounts { times: vec![0; BUCKETS], ..Amounts::default() };
    let mut returned = 0u64;
    for a in by_cpu {
        all.calls += a.calls;
        all.errors += a.errors;
        all.ns += a.ns;
        all.longest_ns = all.longest_ns.max(a.most_ns);
        returned = returned.saturating_add(a.returned);
        for (n, more) in all.times.iter_mut().zip(a.times) {
            *n += more;
        }
    }
    all.with_returned(call, returned)
}
