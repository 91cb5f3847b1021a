//! Stacks of programs without frame pointers: copied stacks are unwound while the program runs, and
//! aggregated like those that the probes aggregate themselves.

use std::collections::{BTreeMap, HashMap};
use std::fmt::Write as _;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::sync::Arc;

use super::abi::{NO_ROOM, RawSample, STACK_BYTES, StackGroup, StackTime};
use super::eh_frame::{Rules, Tables};
use super::spaces::Spaces;
use super::symbols::contents;
use super::unwind::{RegisterState, StackCopy, UnwindRules, WalkEnd, walk};

/// Bytes of code that the first function of a file may take.
const START: u64 = 64;

/// Note on stacks that were followed by frame pointers alone, on arm64: a function without a frame
/// record leaves the register as it is, so the next record is that of an outer function.
pub(super) const SKIPPED_CALLERS: &str = "on arm64 frame pointers lead past functions that keep \
     none, and no stack shows which are missing: `--unwind dwarf` finds them";

/// Result of comparing frame pointers with DWARF for one stack.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Pointers {
    /// Frame pointers find the same stack as DWARF, up to its outermost frame.
    Whole,
    /// Frame pointers find fewer frames, or the comparison is impossible.
    Short,
}

/// Stacks unwound so far, with their times.
pub(super) struct UnwoundStacks {
    period_ns: u64,
    /// Maximum number of different stacks.
    room: usize,
    files: HashMap<usize, Option<Tables>>,
    groups: HashMap<StackGroup, StackTime>,
    stacks: HashMap<u64, Box<[u64]>>,
    ends: BTreeMap<UnwindEnd, u64>,
    pub lost_stacks: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum UnwindEnd {
    Whole,
    Undescribed(Option<usize>),
    Copy,
    Broken,
}

/// Unwinding tables of the files mapped by one process.
struct SpaceTables<'a> {
    files: &'a mut HashMap<usize, Option<Tables>>,
    spaces: &'a Spaces,
    group: &'a StackGroup,
    /// Index of the file last looked up, and true if the address was in the file's first function.
    last: Option<usize>,
    start: bool,
}

impl UnwindRules for SpaceTables<'_> {
    fn rules(&mut self, address: u64) -> Option<(&Tables, Arc<Rules>)> {
        let place = self.spaces.place(self.group.tgid, self.group.generation, address);
        self.last = place.map(|p| p.code);
        let place = place?;
        let code = &self.spaces.codes()[place.code];
        let read = || {
            let tables = Tables::parse(&contents(code)?)?;
            // A file that was replaced meanwhile does not describe the running code.
            let same = code.build_id.is_none() || tables.build_id == code.build_id;
            same.then_some(tables)
        };
        let tables = self.files.entry(place.code).or_insert_with(read).as_mut()?;
        let address = tables.address(place.offset)?;
        self.start = address.wrapping_sub(tables.entry) < START;
        let rules = tables.rules(address)?;
        Some((tables, rules))
    }
}

impl UnwoundStacks {
    pub fn new(period_ns: u64, room: u32) -> Self {
        UnwoundStacks {
            period_ns,
            room: room as usize,
            files: HashMap::new(),
            groups: HashMap::new(),
            stacks: HashMap::new(),
            ends: BTreeMap::new(),
            lost_stacks: 0,
        }
    }

    /// Unwinds a sample and adds it to its group.
    pub fn unwind(&mut self, raw: RawSample, spaces: &Spaces) -> Pointers {
        let mut files = SpaceTables {
            files: &mut self.files,
            spaces,
            group: &raw.group,
            last: None,
            start: false,
        };
        let memory = StackCopy { base: raw.base, bytes: &raw.stack };
        let (mut stack, end) = walk(RegisterState::of_kernel(&raw.registers), memory, &mut files);
        let ended = match end {
            WalkEnd::Beginning => UnwindEnd::Whole,
            WalkEnd::Undescribed => UnwindEnd::Undescribed(files.last),
            WalkEnd::Copy if raw.stack.len() == STACK_BYTES => UnwindEnd::Copy,
            WalkEnd::Copy | WalkEnd::Broken => UnwindEnd::Broken,
        };
        // Code of the C library before `main` may have no frame pointers: its frames may be
        // missing.
        let beyond = if files.start { 2 } else { 1 };
        let agree = stack.starts_with(&raw.frames) && stack.len() - raw.frames.len() <= beyond;
        *self.ends.entry(ended).or_default() += 1;
        if ended != UnwindEnd::Whole && raw.frames.len() > stack.len() {
            stack = raw.frames;
        }
        self.count(raw.group, stack);
        if ended == UnwindEnd::Whole && agree { Pointers::Whole } else { Pointers::Short }
    }

    /// Adds a sample with its stack, innermost frame first.
    pub fn count(&mut self, mut group: StackGroup, stack: Vec<u64>) {
        group.user_stack = self.keep(stack);
        let amount = self.groups.entry(group).or_default();
        amount.n += 1;
        amount.ns += self.period_ns;
    }

    /// Stores a stack and returns its id, or [`NO_ROOM`] if the table is full.
    pub fn keep(&mut self, stack: Vec<u64>) -> u64 {
        let mut hasher = DefaultHasher::new();
        stack.hash(&mut hasher);
        let name = hasher.finish().clamp(1, NO_ROOM - 1);
        if self.stacks.len() >= self.room && !self.stacks.contains_key(&name) {
            self.lost_stacks += 1;
            return NO_ROOM;
        }
        self.stacks.entry(name).or_insert_with(|| stack.into());
        name
    }

    pub fn groups(&self) -> impl Iterator<Item = (StackGroup, StackTime)> + '_ {
        self.groups.iter().map(|(group, amount)| (*group, *amount))
    }

    pub fn stacks(&self) -> impl Iterator<Item = (u64, Box<[u64]>)> + '_ {
        self.stacks.iter().map(|(name, stack)| (*name, stack.clone()))
    }

    /// Returns sentences about the completeness of the unwound stacks.
    pub fn notes(&self, spaces: &Spaces, no_room: u64) -> Vec<String> {
        let all: u64 = self.ends.values().sum();
        let of = |wanted: fn(&UnwindEnd) -> bool| -> u64 {
            self.ends.iter().filter(|(e, _)| wanted(e)).map(|e| e.1).sum()
        };
        let mut notes = Vec::new();
        if all == 0 && no_room == 0 {
            return notes;
        }
        let mut short = Vec::new();
        let undescribed = of(|e| matches!(e, UnwindEnd::Undescribed(_)));
        if undescribed > 0 {
            let mut files: Vec<&str> = self
                .ends
                .keys()
                .filter_map(|e| match e {
                    UnwindEnd::Undescribed(code) => Some(code.map_or("code in no file", |c| {
                        match spaces.codes()[c].path.as_str() {
                            "" => "code made at run time",
                            path => path,
                        }
                    })),
                    _ => None,
                })
                .collect();
            files.sort_unstable();
            files.dedup();
            let more = files.len().saturating_sub(3);
            files.truncate(3);
            let more = if more > 0 { format!(" and {more} more") } else { String::new() };
            short.push(format!(
                "{undescribed} at code without unwind information ({}{more})",
                files.join(", ")
            ));
        }
        let copy = of(|e| *e == UnwindEnd::Copy);
        if copy > 0 {
            short.push(format!(
                "{copy} where the copied {} KiB of the stack end",
                STACK_BYTES / 1024
            ));
        }
        let broken = of(|e| *e == UnwindEnd::Broken);
        if broken > 0 {
            short.push(format!("{broken} at a frame that contradicts itself"));
        }
        let mut text = format!("{all} samples were unwound by DWARF");
        if !short.is_empty() {
            let _ =
                write!(text, "; before the beginning of their thread ended {}", short.join(", "));
        }
        if no_room > 0 {
            let _ =
                write!(text, "; {no_room} had no room to be copied and only have frame pointers");
        }
        notes.push(text);
        notes
    }
}
