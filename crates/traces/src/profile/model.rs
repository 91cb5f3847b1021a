//! Data model of a profile: each frame stored once, and stacks of frame numbers with their time.

use std::collections::HashMap;

use serde::{Deserialize, Serialize};

use crate::profile::interner::Interner;
use crate::trace_file::VERSION;

/// State of a thread while time passed: on CPU, or the reason why it was off CPU.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ThreadState {
    /// The thread ran on a CPU.
    OnCpu,
    /// The thread was runnable, but another one had the CPU.
    Runnable,
    /// The thread waited for a device.
    Io,
    /// The thread waited for a lock of the program or of the kernel.
    Lock,
    /// The thread waited for memory after a page fault.
    PageFault,
    /// The thread slept for a time that it chose.
    Sleep,
    /// The thread waited for others: a poll, a pipe, a socket, a child.
    Event,
    /// The thread was off CPU for an unknown reason.
    Unknown,
}

assay_model::names! {
    /// Returns the text that tables and files show for the state.
    pub ThreadState::words, ALL: OnCpu = "on CPU", Runnable = "waiting for a CPU", Io = "I/O",
        Lock = "lock", PageFault = "page fault", Sleep = "sleep",
        Event = "event (poll, pipe, socket, child)", Unknown = "off CPU, reason unknown"
}

impl ThreadState {
    /// Returns the side on which the state counts.
    pub fn side(self) -> ProfileSide {
        if self == ThreadState::OnCpu { ProfileSide::OnCpu } else { ProfileSide::OffCpu }
    }
}

/// Side of a profile: time on CPU or time off CPU.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ProfileSide {
    OnCpu,
    OffCpu,
}

impl ProfileSide {
    pub const BOTH: [ProfileSide; 2] = [ProfileSide::OnCpu, ProfileSide::OffCpu];
}

/// Origin of a frame: program, kernel or inlining.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FrameKind {
    /// A function of the program or a library.
    User,
    Kernel,
    /// A function that the compiler inlined into the frame before it, its caller.
    Inlined,
}

/// A function in a stack.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Frame {
    /// Name of the function; `None` if unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Path of the program or library that holds the function, or `kernel`; empty if unknown.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub module: String,
    pub kind: FrameKind,
}

impl Frame {
    /// Returns the text to show: the name, or `[unknown]` with the module.
    pub fn label(&self) -> String {
        match (&self.name, self.module_name()) {
            (Some(name), _) => name.clone(),
            (None, "") => "[unknown]".to_owned(),
            (None, module) => format!("[unknown] ({module})"),
        }
    }

    /// Returns the last component of the module's path.
    pub fn module_name(&self) -> &str {
        self.module.rsplit('/').next().unwrap_or_default()
    }
}

/// A call stack of one thread in one state, with its time.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stack {
    /// Name of the thread.
    pub thread: String,
    pub state: ThreadState,
    /// Indexes into [`Profile::frames`], outermost first.
    pub frames: Vec<u32>,
    /// Number of samples on CPU, or of waits off CPU.
    pub count: u64,
    /// Time in nanoseconds, or in the profile's unit.
    pub ns: u64,
}

/// CPU time of all threads of one name, as the scheduler counts it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ThreadTime {
    /// Name of the threads.
    pub thread: String,
    pub ns: u64,
}

/// Losses of a profile: what could not be recorded.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Loss {
    /// Samples and waits that were dropped because a table was full.
    pub samples: u64,
    /// Time of the dropped samples and waits, nanoseconds.
    pub ns: u64,
    /// Stacks that were dropped because a table was full. Their time counts, but under no function.
    pub stacks: u64,
    /// Threads that were not followed.
    pub threads: u64,
    /// Memory-map changes that were missed, so that function names may be missing.
    pub mappings: u64,
    /// CPU time in the kernel, nanoseconds, of which this user gets no samples.
    #[serde(default)]
    pub hidden_ns: u64,
}

/// A profile of one or several programs, as stored in a file.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Profile {
    /// Version of the format.
    pub version: u32,
    /// Description of how the profile was recorded, for a person.
    pub method: String,
    /// Sampling rate in samples per second and CPU.
    pub rate_hz: Option<f64>,
    /// Length of the observation, nanoseconds.
    pub span_ns: Option<u64>,
    /// True if waits (time off CPU) were recorded.
    #[serde(default)]
    pub off_cpu: bool,
    /// Unit of the stacks' times: `ns`, or another unit of an imported profile.
    #[serde(default = "ns")]
    pub unit: String,
    /// All functions; stacks refer to them by index.
    pub frames: Vec<Frame>,
    pub stacks: Vec<Stack>,
    /// CPU time of the profiled threads by the scheduler's accounting.
    #[serde(default)]
    pub cpu: Vec<ThreadTime>,
    /// CPU time of the profiled processes by the kernel's process accounting, nanoseconds, used if
    /// the scheduler's time is not recorded; `None` if unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub accounted_ns: Option<u64>,
    #[serde(default)]
    pub loss: Loss,
    /// Remarks that a reader of the profile needs.
    #[serde(default)]
    pub notes: Vec<String>,
}

fn ns() -> String {
    "ns".to_owned()
}

impl Profile {
    /// Returns the stacks of one side.
    pub fn side(&self, side: ProfileSide) -> impl Iterator<Item = &Stack> {
        self.stacks.iter().filter(move |s| s.state.side() == side)
    }

    /// Returns the frames of a stack, outermost first, skipping indexes that are out of range.
    pub fn frames_of<'a>(&'a self, stack: &'a Stack) -> impl Iterator<Item = &'a Frame> {
        stack.frames.iter().filter_map(|f| self.frames.get(*f as usize))
    }

    /// Returns the total time of one side, nanoseconds.
    pub fn total_ns(&self, side: ProfileSide) -> u64 {
        self.side(side).map(|s| s.ns).sum()
    }

    /// Returns the number of samples (on CPU) or waits (off CPU) of one side.
    pub fn count(&self, side: ProfileSide) -> u64 {
        self.side(side).map(|s| s.count).sum()
    }

    /// Returns the CPU time by the scheduler's accounting, nanoseconds; `None` if it was not
    /// recorded.
    pub fn cpu_ns(&self) -> Option<u64> {
        (!self.cpu.is_empty()).then(|| self.cpu.iter().map(|t| t.ns).sum())
    }

    /// Merges several profiles by adding times, counts and losses. A note is added if their
    /// methods, rates or units differ.
    pub fn merged<'a>(all: impl IntoIterator<Item = &'a Profile>) -> Profile {
        let mut builder = Builder::default();
        let mut out = Profile { version: VERSION, unit: ns(), ..Profile::default() };
        let mut cpu: HashMap<&str, u64> = HashMap::new();
        let mut first = true;
        for p in all {
            if first {
                out.method.clone_from(&p.method);
                out.rate_hz = p.rate_hz;
                out.unit.clone_from(&p.unit);
                first = false;
            } else if (&out.method, out.rate_hz, &out.unit) != (&p.method, p.rate_hz, &p.unit) {
                let note = "profiles of different methods, rates or units are added up";
                if !out.notes.iter().any(|n| n == note) {
                    out.notes.push(note.to_owned());
                }
            }
            out.off_cpu |= p.off_cpu;
            out.span_ns = out.span_ns.map_or(p.span_ns, |a| p.span_ns.map(|b| a.saturating_add(b)));
            out.loss.samples += p.loss.samples;
            out.loss.ns += p.loss.ns;
            out.loss.stacks += p.loss.stacks;
            out.loss.threads += p.loss.threads;
            out.loss.mappings += p.loss.mappings;
            out.loss.hidden_ns += p.loss.hidden_ns;
            out.accounted_ns =
                out.accounted_ns.into_iter().chain(p.accounted_ns).reduce(|a, b| a + b);
            for note in &p.notes {
                if !out.notes.contains(note) {
                    out.notes.push(note.clone());
                }
            }
            for t in &p.cpu {
                *cpu.entry(&t.thread).or_default() += t.ns;
            }
            for s in &p.stacks {
                let frames: Vec<u32> = p.frames_of(s).map(|f| builder.frame(f)).collect();
                builder.add(&s.thread, s.state, frames, s.count, s.ns);
            }
        }
        out.cpu = cpu.into_iter().map(|(t, ns)| ThreadTime { thread: t.to_owned(), ns }).collect();
        out.cpu.sort_by(|a, b| b.ns.cmp(&a.ns).then_with(|| a.thread.cmp(&b.thread)));
        builder.finish(&mut out);
        out
    }
}

type StackKey = (u32, ThreadState, Vec<u32>);

/// Memory limit for the frames and stacks of one file, bytes.
const MAX_BYTES: usize = 256 << 20;
/// Estimated size of a frame or a stack without its strings and frame numbers, bytes.
const ENTRY_BYTES: usize = 96;

/// Builds a profile, storing equal frames and equal stacks once.
#[derive(Debug, Default)]
pub struct Builder {
    frames: Interner<Frame>,
    threads: Interner<String>,
    stacks: HashMap<StackKey, (u64, u64)>,
    /// Estimated size of frames and stacks, bytes.
    bytes: usize,
    limited: bool,
}

/// The input exceeded the memory limit of a [`Builder`].
#[derive(Debug, thiserror::Error)]
#[error("its functions and stacks take more than {} MiB", MAX_BYTES >> 20)]
pub(crate) struct TooLarge;

impl Builder {
    /// Creates a builder for a file. It ignores further input once frames and stacks exceed 256
    /// MiB.
    pub(crate) fn limited() -> Self {
        Builder { limited: true, ..Builder::default() }
    }

    /// Returns an error if the input exceeded the memory limit.
    pub(crate) fn check(&self) -> Result<(), TooLarge> {
        if self.is_full() { Err(TooLarge) } else { Ok(()) }
    }

    fn is_full(&self) -> bool {
        self.limited && self.bytes > MAX_BYTES
    }

    /// Returns the index of a frame, which is added if it is new.
    pub fn frame(&mut self, frame: &Frame) -> u32 {
        if self.is_full() {
            return 0;
        }
        let before = self.frames.all.len();
        let number = self.frames.number(frame);
        if self.frames.all.len() > before {
            let name = frame.name.as_ref().map_or(0, String::len);
            self.bytes += 2 * (ENTRY_BYTES + name + frame.module.len());
        }
        number
    }

    /// Adds samples and time to a stack, whose frames are given outermost first.
    pub fn add(&mut self, thread: &str, state: ThreadState, frames: Vec<u32>, count: u64, ns: u64) {
        if self.is_full() {
            return;
        }
        let bytes = ENTRY_BYTES + thread.len() + frames.len() * size_of::<u32>();
        let thread = self.threads.number(thread);
        let all = self.stacks.entry((thread, state, frames)).or_insert_with(|| {
            self.bytes += bytes;
            (0, 0)
        });
        all.0 = all.0.saturating_add(count);
        all.1 = all.1.saturating_add(ns);
    }

    /// Moves frames and stacks into a profile; the stack with the most time comes first.
    pub fn finish(self, profile: &mut Profile) {
        let Builder { frames, threads, stacks, .. } = self;
        profile.version = VERSION;
        if profile.unit.is_empty() {
            profile.unit = ns();
        }
        profile.off_cpu |= stacks.keys().any(|(_, state, _)| *state != ThreadState::OnCpu);
        profile.frames = frames.all;
        profile.stacks = stacks
            .into_iter()
            .map(|((thread, state, frames), (count, ns))| Stack {
                thread: threads.all[thread as usize].clone(),
                state,
                frames,
                count,
                ns,
            })
            .collect();
        profile.stacks.sort_by(|a, b| {
            b.ns.cmp(&a.ns)
                .then_with(|| (a.state, &a.thread, &a.frames).cmp(&(b.state, &b.thread, &b.frames)))
        });
    }
}
