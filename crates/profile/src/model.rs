//! A profile as data: frames once, stacks of them with their time.

use std::collections::HashMap;

use serde::{Deserialize, Serialize};

use crate::interner::Interner;

/// The version of the format that is written.
pub const VERSION: u32 = 1;

/// What a thread was doing while time passed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum State {
    /// It ran.
    OnCpu,
    /// It could have run, but another had the CPU.
    Runnable,
    /// It waited for a device.
    Io,
    /// It waited for a lock of the program or the kernel.
    Lock,
    /// It waited for memory after a page fault.
    PageFault,
    /// It slept for a time that it asked for.
    Sleep,
    /// It waited for others: a poll, a pipe, a socket, a child.
    Event,
    /// It waited, and what for is not known.
    Unknown,
}

impl State {
    /// All of them.
    pub const ALL: [State; 8] = [
        State::OnCpu,
        State::Runnable,
        State::Io,
        State::Lock,
        State::PageFault,
        State::Sleep,
        State::Event,
        State::Unknown,
    ];

    /// As words.
    pub fn words(self) -> &'static str {
        match self {
            State::OnCpu => "on CPU",
            State::Runnable => "waiting for a CPU",
            State::Io => "I/O",
            State::Lock => "lock",
            State::PageFault => "page fault",
            State::Sleep => "sleep",
            State::Event => "event (poll, pipe, socket, child)",
            State::Unknown => "off CPU, reason unknown",
        }
    }

    /// On which side it counts.
    pub fn side(self) -> Side {
        if self == State::OnCpu { Side::OnCpu } else { Side::OffCpu }
    }
}

/// On or off CPU.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Side {
    /// Running.
    OnCpu,
    /// Not running.
    OffCpu,
}

impl Side {
    /// Both.
    pub const BOTH: [Side; 2] = [Side::OnCpu, Side::OffCpu];
}

/// What a frame is of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// The program or a library.
    User,
    /// The kernel.
    Kernel,
    /// A function that the compiler put into the one before it.
    Inlined,
}

/// A function in a stack.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Frame {
    /// Its name; `None`: not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The file that it is in, or `kernel`; empty when not known.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub module: String,
    /// What it is of.
    pub kind: Kind,
}

impl Frame {
    /// What is shown of it: the name, or `[unknown]` with the module.
    pub fn label(&self) -> String {
        match (&self.name, self.module_name()) {
            (Some(name), _) => name.clone(),
            (None, "") => "[unknown]".to_owned(),
            (None, module) => format!("[unknown] ({module})"),
        }
    }

    /// The last part of the module's path.
    pub fn module_name(&self) -> &str {
        self.module.rsplit('/').next().unwrap_or_default()
    }
}

/// A stack with its time.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stack {
    /// The name of the thread.
    pub thread: String,
    /// What it was doing.
    pub state: State,
    /// Frames by number, outermost first.
    pub frames: Vec<u32>,
    /// How often it was seen: samples on CPU, waits off CPU.
    pub count: u64,
    /// How long, nanoseconds.
    pub ns: u64,
}

/// The CPU time of the threads of a name, as the scheduler counts it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ThreadTime {
    /// The name.
    pub thread: String,
    /// Nanoseconds.
    pub ns: u64,
}

/// What is missing from a profile.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Loss {
    /// Samples and waits that had no room.
    pub samples: u64,
    /// Their time, nanoseconds.
    pub ns: u64,
    /// Stacks that had no room; their time counts, under no function.
    pub stacks: u64,
    /// Threads that were not followed.
    pub threads: u64,
    /// Changes of memory maps that were not seen, so that names may be missing.
    pub mappings: u64,
    /// CPU time in the kernel, of which this user gets no samples, nanoseconds.
    #[serde(default)]
    pub hidden_ns: u64,
}

/// A profile.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Profile {
    /// The version of this format.
    pub version: u32,
    /// How it was made, as words.
    pub method: String,
    /// Samples a second and CPU.
    #[serde(default)]
    pub rate_hz: Option<f64>,
    /// How long was looked, nanoseconds.
    #[serde(default)]
    pub span_ns: Option<u64>,
    /// Whether waits were recorded.
    #[serde(default)]
    pub off_cpu: bool,
    /// What stacks' counts and times are: `ns` of time, or another unit of an imported profile.
    #[serde(default = "ns")]
    pub unit: String,
    /// The functions.
    pub frames: Vec<Frame>,
    /// The stacks.
    pub stacks: Vec<Stack>,
    /// The scheduler's time of what was sampled.
    #[serde(default)]
    pub cpu: Vec<ThreadTime>,
    /// CPU time of the profiled processes by the kernel's accounting, nanoseconds, where the scheduler's is not
    /// taken; `None`: unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub accounted_ns: Option<u64>,
    /// What is missing.
    #[serde(default)]
    pub loss: Loss,
    /// What a reader must know.
    #[serde(default)]
    pub notes: Vec<String>,
}

fn ns() -> String {
    "ns".to_owned()
}

impl Profile {
    /// The stacks of a side.
    pub fn side(&self, side: Side) -> impl Iterator<Item = &Stack> {
        self.stacks.iter().filter(move |s| s.state.side() == side)
    }

    /// The frames of a stack, outermost first. A number that stands for no frame is left out.
    pub fn frames_of<'a>(&'a self, stack: &'a Stack) -> impl Iterator<Item = &'a Frame> {
        stack.frames.iter().filter_map(|f| self.frames.get(*f as usize))
    }

    /// The time of a side, nanoseconds.
    pub fn total_ns(&self, side: Side) -> u64 {
        self.side(side).map(|s| s.ns).sum()
    }

    /// How many samples, or waits, a side has.
    pub fn count(&self, side: Side) -> u64 {
        self.side(side).map(|s| s.count).sum()
    }

    /// The scheduler's CPU time; `None` where it was not taken.
    pub fn cpu_ns(&self) -> Option<u64> {
        (!self.cpu.is_empty()).then(|| self.cpu.iter().map(|t| t.ns).sum())
    }

    /// Several profiles as one: the sums. Methods and rates that differ are named in the notes.
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

type StackKey = (u32, State, Vec<u32>);

/// The most that frames and stacks of a file may take, bytes.
const MAX_BYTES: usize = 256 << 20;
/// A frame or a stack beside its texts and numbers, bytes.
const ENTRY_BYTES: usize = 96;

/// Puts a profile together: equal frames and equal stacks are one.
#[derive(Debug, Default)]
pub struct Builder {
    frames: Interner<Frame>,
    threads: Interner<String>,
    stacks: HashMap<StackKey, (u64, u64)>,
    /// Bytes that frames and stacks take, about.
    bytes: usize,
    limited: bool,
}

impl Builder {
    /// Makes a builder for a file, which takes no more once frames and stacks take 256 MiB.
    pub(crate) fn limited() -> Self {
        Builder { limited: true, ..Builder::default() }
    }

    /// Returns an error if there was more than a file may hold.
    pub(crate) fn check(&self) -> Result<(), String> {
        let message = || format!("its functions and stacks take more than {} MiB", MAX_BYTES >> 20);
        if self.is_full() { Err(message()) } else { Ok(()) }
    }

    fn is_full(&self) -> bool {
        self.limited && self.bytes > MAX_BYTES
    }

    /// The number of a frame.
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

    /// Adds time to a stack; frames outermost first.
    pub fn add(&mut self, thread: &str, state: State, frames: Vec<u32>, count: u64, ns: u64) {
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

    /// Puts frames and stacks into a profile, the most time first.
    pub fn finish(self, profile: &mut Profile) {
        let Builder { frames, threads, stacks, .. } = self;
        profile.version = VERSION;
        if profile.unit.is_empty() {
            profile.unit = ns();
        }
        profile.off_cpu |= stacks.keys().any(|(_, state, _)| *state != State::OnCpu);
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
