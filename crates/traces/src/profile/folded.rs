//! Folded stacks as FlameGraph's tools read and write them: one stack per line, `main;f;g 42`.
//!
//! Text written by assay opens with a comment that other tools ignore:
//!
//! ```text
//! # assay folded stacks; thread first; microseconds; 99 Hz
//! ```
//!
//! Each line then begins with its thread, followed off CPU by the state in brackets. In names,
//! `\xHH` encodes a character that is a separator; files of other programs have neither the comment
//! nor such characters.

use std::fmt::Write as _;

use crate::profile::model::Builder;
use crate::profile::{Frame, FrameKind, Profile, ProfileSide, ThreadState};

const HEADER: &str = "# assay folded stacks; thread first; ";
const MICROSECONDS: &str = "microseconds";

/// Writes one side: the time of each stack in microseconds, or its value in the profile's own unit.
/// Kernel frames end in `_[k]` and inlined ones in `_[i]`, as FlameGraph's tools write them.
pub fn folded(profile: &Profile, side: ProfileSide) -> String {
    let timed = profile.unit == "ns";
    let unit = if timed { MICROSECONDS.to_owned() } else { escaped(&profile.unit) };
    let rate = profile.rate_hz.map(|r| format!("; {r} Hz")).unwrap_or_default();
    let mut out = format!("{HEADER}{unit}{rate}\n");
    for s in profile.side(side) {
        let value = if timed { s.ns.saturating_add(500) / 1000 } else { s.ns };
        if value == 0 {
            continue;
        }
        out.push_str(&escaped(&s.thread));
        if s.state != ThreadState::OnCpu {
            let _ = write!(out, ";[{}]", s.state.words());
        }
        for f in profile.frames_of(s) {
            let _ = write!(out, ";{}", element(f));
        }
        let _ = writeln!(out, " {value}");
    }
    out
}

/// Returns the text of a frame, escaped where it could be misread as a state, a kind or an unknown
/// function.
fn element(frame: &Frame) -> String {
    let mut text = escaped(&frame.label());
    if frame.name.is_some() && (text.starts_with("[unknown]") || state(&text).is_some()) {
        text.replace_range(..1, "\\x5b");
    }
    match frame.kind {
        FrameKind::Kernel => text += "_[k]",
        FrameKind::Inlined => text += "_[i]",
        FrameKind::User if text.ends_with("_[k]") || text.ends_with("_[i]") => {
            text.truncate(text.len() - 1);
            text += "\\x5d";
        }
        FrameKind::User => {}
    }
    text
}

/// Escapes a name: `\xHH` replaces each separator, and each `\` that would read as an escape.
fn escaped(name: &str) -> String {
    let mut out = String::with_capacity(name.len());
    for (at, c) in name.char_indices() {
        let comment = at == 0 && c == '#';
        if c == ';' || c.is_ascii_control() || comment || code(&name[at..]).is_some() {
            let _ = write!(out, "\\x{:02x}", u32::from(c));
        } else {
            out.push(c);
        }
    }
    out
}

/// Returns the character that the `\xHH` at the start of a text encodes.
fn code(text: &str) -> Option<char> {
    let digits = text.strip_prefix("\\x")?.get(..2)?;
    let hex = digits.bytes().all(|b| b.is_ascii_hexdigit());
    let byte = u8::from_str_radix(digits, 16).ok()?;
    (hex && byte.is_ascii()).then_some(char::from(byte))
}

fn plain(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        let code = code(rest);
        out.push(code.unwrap_or(c));
        rest = &rest[code.map_or(c.len_utf8(), |_| 4)..];
    }
    out
}

/// Parses a state in brackets, such as `[lock]`.
fn state(text: &str) -> Option<ThreadState> {
    let words = text.strip_prefix('[')?.strip_suffix(']')?;
    ThreadState::ALL.into_iter().find(|s| s.words() == words)
}

/// Parses a frame; `name` decodes names.
fn frame(text: &str, name: fn(&str) -> String) -> Frame {
    let (rest, kind) = if let Some(rest) = text.strip_suffix("_[k]") {
        (rest, FrameKind::Kernel)
    } else if let Some(rest) = text.strip_suffix("_[i]") {
        (rest, FrameKind::Inlined)
    } else {
        (text, FrameKind::User)
    };
    let Some(module) = rest.strip_prefix("[unknown]").map(str::trim) else {
        return Frame { name: Some(name(rest)), module: String::new(), kind };
    };
    let inner = module.strip_prefix('(').and_then(|m| m.strip_suffix(')'));
    Frame { name: None, module: name(inner.unwrap_or(module)), kind }
}

/// Parses a frame written by another program.
fn foreign_frame(text: &str) -> Frame {
    // async-profiler marks compiled Java with `_[j]`, and `_[0]` and `_[1]` for other tiers.
    let tier = ["_[j]", "_[0]", "_[1]"].into_iter().find_map(|t| text.strip_suffix(t));
    let mut frame = frame(tier.filter(|name| !name.is_empty()).unwrap_or(text), str::to_owned);
    // async-profiler's option `lib` puts the library before the function.
    let split = frame.name.as_deref().and_then(|n| n.split_once('`'));
    if let Some((module, name)) = split.filter(|(m, n)| !m.is_empty() && !n.is_empty()) {
        (frame.module, frame.name) = (module.to_owned(), Some(name.to_owned()));
    }
    frame
}

/// Header line of a text that assay wrote.
struct Header {
    unit: String,
    rate_hz: Option<f64>,
}

impl Header {
    fn parse(line: &str) -> Option<Self> {
        let mut parts = line.strip_prefix(HEADER)?.split("; ");
        let unit = parts.next()?;
        let unit = if unit == MICROSECONDS { "ns".to_owned() } else { plain(unit) };
        let rate_hz = parts.next().and_then(|r| r.strip_suffix(" Hz")?.parse().ok());
        Some(Header { unit, rate_hz })
    }

    /// Parses a line and adds its stack; returns `None` if the line is malformed.
    fn add(&self, line: &str, builder: &mut Builder) -> Option<()> {
        let (stack, value) = line.rsplit_once(' ')?;
        let value: u64 = value.parse().ok()?;
        let mut parts = stack.split(';').peekable();
        let thread = plain(parts.next()?);
        let state =
            parts.next_if(|p| state(p).is_some()).and_then(state).unwrap_or(ThreadState::OnCpu);
        let frames = parts.map(|p| builder.frame(&frame(p, plain))).collect();
        let (mut count, mut ns) = (value, value);
        if self.unit == "ns" {
            ns = value.saturating_mul(1000);
            let rate = self.rate_hz.filter(|_| state == ThreadState::OnCpu).unwrap_or(0.0);
            count = ((ns as f64 * rate / 1e9).round() as u64).max(1);
        }
        builder.add(&thread, state, frames, count, ns);
        Some(())
    }
}

/// Returns true if assay wrote the text.
pub(crate) fn is_own(text: &str) -> bool {
    text.starts_with(HEADER)
}

/// Reads folded stacks; returns the number of lines read and the number of malformed lines.
pub(crate) fn read(text: &str, profile: &mut Profile, builder: &mut Builder) -> (u64, u64) {
    let (mut taken, mut left) = (0, 0);
    let mut header: Option<Header> = None;
    for line in text.lines().filter(|l| !l.trim().is_empty()) {
        if let Some(found) = Header::parse(line) {
            (profile.unit, profile.rate_hz) = (found.unit.clone(), found.rate_hz);
            header = Some(found);
        } else if !line.starts_with('#') {
            let added = match &header {
                Some(header) => header.add(line, builder),
                None => foreign_line(line, builder),
            };
            *(if added.is_some() { &mut taken } else { &mut left }) += 1;
        }
    }
    if profile.unit == "ns" {
        let note = "folded stacks hold times: samples follow from the rate, and of a stack's waits \
            one is counted";
        profile.notes.push(note.to_owned());
    }
    (taken, left)
}

/// Parses a line of another program and adds its stack; returns `None` if the line is malformed.
fn foreign_line(line: &str, builder: &mut Builder) -> Option<()> {
    let (stack, value) = line.trim_end().rsplit_once([' ', '\t'])?;
    let value = value.parse::<u64>().ok()?;
    let mut frames = Vec::new();
    let (mut on, mut thread) = (ThreadState::OnCpu, "");
    for part in stack.trim_end().split(';').filter(|p| !p.is_empty()) {
        let bare = part.strip_prefix('[').and_then(|p| p.strip_suffix(']'));
        // async-profiler's option `threads` puts the thread before all functions.
        let named = bare.filter(|_| frames.is_empty()).and_then(|b| b.rsplit_once(" tid="));
        if let Some((name, _)) = named.filter(|(_, id)| id.bytes().all(|b| b.is_ascii_digit())) {
            thread = name;
            continue;
        }
        match state(part) {
            Some(known) => on = known,
            None => frames.push(builder.frame(&foreign_frame(part))),
        }
    }
    (!stack.trim_end().is_empty()).then(|| builder.add(thread, on, frames, value, value))
}

#[cfg(test)]
mod tests {
    use crate::profile::{FrameKind, ProfileSide, functions, read};

    /// Output of async-profiler 3.0 (OpenJDK 17, `threads,ann,lib,collapsed`), unchanged.
    const ASYNC_PROFILER: &str = "\
[DestroyJavaVM tid=24649];Work.main_[j];Work.deep_[j];Work.both_[j];Work.twice_[i] 34
[DestroyJavaVM tid=24649];Work.main_[j];Work.deep_[j];Work.both_[j];Work.twice_[j] 11
[DestroyJavaVM tid=24649];Work.main_[j];Work.deep_[j];Work.both_[j];Work.once_[i] 28
java/lang/ref/Finalizer$FinalizerThread.run_[j];java/lang/Object.wait_[j];\
libc.so.6`__futex_abstimed_wait_common 128
[GC Thread#0 tid=7];do_syscall_64_[k] 3
";

    #[test]
    fn collapsed_stacks_of_async_profiler() {
        let p = read(ASYNC_PROFILER.as_bytes(), "x").unwrap();
        assert_eq!(p.count(ProfileSide::OnCpu), 204);
        let threads: Vec<(&str, u64)> =
            p.stacks.iter().map(|s| (s.thread.as_str(), s.count)).collect();
        assert!(threads.contains(&("DestroyJavaVM", 34)) && threads.contains(&("GC Thread#0", 3)));
        let all = functions(&p, ProfileSide::OnCpu, None);
        let of = |name: &str| all.iter().find(|f| f.frame.name.as_deref() == Some(name)).unwrap();
        // Inlined in one place and compiled in another, it is one function.
        assert_eq!((of("Work.twice").self_count, of("Work.main").total_count), (45, 73));
        assert_eq!(of("__futex_abstimed_wait_common").frame.module, "libc.so.6");
        assert_eq!(of("do_syscall_64").frame.kind, FrameKind::Kernel);
        // A mark without a name is the name.
        let p = read(b"main;_[j] 1\n", "x").unwrap();
        assert!(functions(&p, ProfileSide::OnCpu, None).iter().all(|f| {
            f.frame.name.as_deref().is_some_and(|name| ["main", "_[j]"].contains(&name))
        }));
    }
}
