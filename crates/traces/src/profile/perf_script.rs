//! Reader of the text of `perf script`: for each sample a header line, one line per frame from the
//! innermost on, and an empty line.

use std::path::Path;

use crate::profile::model::Builder;
use crate::profile::{Frame, FrameKind, ThreadState};

/// Returns true if a text looks like the output of `perf script`.
pub(crate) fn is(text: &str) -> bool {
    let mut lines = text.lines().filter(|l| !l.trim().is_empty() && !is_comment(l)).take(50);
    let Some(first) = lines.next() else { return false };
    (!first.starts_with([' ', '\t']) || Header::timed(first).is_some())
        && first.contains(':')
        && lines.any(|l| l.starts_with([' ', '\t']) && frame(l).is_some())
}

/// Returns true for comment lines. A thread may be named `#1`, so a line with a timed header is not
/// a comment.
fn is_comment(line: &str) -> bool {
    line.starts_with('#') && Header::timed(line).is_none()
}

/// Parses a frame such as `  ffffffff81000000 do_idle+0x1f ([kernel.kallsyms])`.
fn frame(line: &str) -> Option<Frame> {
    let (address, rest) = line.trim_start().split_once([' ', '\t'])?;
    u64::from_str_radix(address, 16).ok()?;
    let open = module_at(rest)?;
    let symbol = rest[..open].trim();
    let module = rest[open + 1..].trim_end().strip_suffix(')')?;
    let (module, inlined) = if module == "inlined" { ("", true) } else { (module, false) };
    let kernel = module.starts_with("[kernel")
        || Path::new(module).extension().is_some_and(|e| e == "ko")
        || module == "[guest.kernel.kallsyms]";
    let name = match symbol.rfind("+0x") {
        Some(at) if u64::from_str_radix(&symbol[at + 3..], 16).is_ok() => &symbol[..at],
        _ => symbol,
    };
    let kind = match (kernel, inlined) {
        (true, _) => FrameKind::Kernel,
        (_, true) => FrameKind::Inlined,
        _ => FrameKind::User,
    };
    let module = match module {
        "[unknown]" => "",
        m if m.starts_with("[kernel") => "kernel",
        m => m,
    };
    Some(Frame {
        name: (!name.is_empty() && name != "[unknown]").then(|| name.to_owned()),
        module: module.to_owned(),
        kind,
    })
}

/// Returns the position of the parenthesis that opens the module. A path may hold others:
/// `(/tmp/prog (deleted))`.
fn module_at(text: &str) -> Option<usize> {
    let path = text.rfind(" (/").or_else(|| text.rfind(" ([")).map(|at| at + 1);
    let mut depth = 0i64;
    let balanced = text.rmatch_indices(['(', ')']).find(|(_, sign)| {
        depth += if *sign == ")" { 1 } else { -1 };
        depth <= 0
    });
    path.or_else(|| balanced.map(|(at, _)| at))
}

/// Header line of a sample: `java 1234/1240 [001] 12.34: 10101010 cpu-clock:`. CPU, time and period
/// may be missing, and thread names may hold any character.
struct Header<'a> {
    thread: &'a str,
    /// Period and event name of the sample.
    event: &'a str,
}

impl<'a> Header<'a> {
    fn parse(line: &'a str) -> Self {
        Header::timed(line).unwrap_or_else(|| {
            let id = words(line).find(|(at, word)| *at > 0 && is_id(word));
            let (thread, rest) = id.map_or((line, ""), |(at, _)| line.split_at(at));
            let event = rest.split_once(": ").map_or(rest, |(_, event)| event);
            Header { thread: thread.trim(), event }
        })
    }

    /// Parses a header with a time: the word before the time, or before the CPU, is the thread id.
    fn timed(line: &'a str) -> Option<Self> {
        let mut before: [Option<(usize, &str)>; 2] = [None; 2];
        for (at, word) in words(line) {
            let is_cpu = |w: &str| w.starts_with('[') && w.ends_with(']');
            let id = if before[1].is_some_and(|b| is_cpu(b.1)) { before[0] } else { before[1] };
            let time = word.strip_suffix(':').and_then(|w| w.split_once('.'));
            if let (Some((s, fraction)), Some((id, _))) = (time, id.filter(|i| is_id(i.1)))
                && is_number(s)
                && is_number(fraction)
            {
                return Some(Header { thread: line[..id].trim(), event: &line[at + word.len()..] });
            }
            before = [before[1], Some((at, word))];
        }
        None
    }

    /// Returns the sample's period: the number before the event's name, or 1 without one.
    fn period(&self) -> u64 {
        self.event.split_whitespace().next().and_then(|w| w.parse().ok()).unwrap_or(1)
    }

    /// Returns the event without its modifiers; on CPUs of several kinds, `cpu_atom/cycles/` and
    /// `cpu_core/cycles/` are one event.
    fn event_name(&self) -> &'a str {
        let word = self.event.split_whitespace().find(|word| !is_number(word)).unwrap_or_default();
        let word = word.trim_end_matches(':');
        let modifiers = |text: &str| text.bytes().all(|b| b"ukhHGpPSDIWe".contains(&b));
        let name = word.rsplit_once(':').filter(|(_, end)| modifiers(end)).map_or(word, |of| of.0);
        let of_cpu =
            name.split_once('/').filter(|(pmu, _)| *pmu == "cpu" || pmu.starts_with("cpu_"));
        of_cpu.map_or(name, |(_, event)| event.trim_end_matches('/'))
    }
}

/// Returns the words of a line with their byte offsets.
fn words(line: &str) -> impl Iterator<Item = (usize, &str)> {
    let place = |word: &str| word.as_ptr() as usize - line.as_ptr() as usize;
    line.split_ascii_whitespace().map(move |word| (place(word), word))
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit())
}

/// Returns true for ids like `1234` and `1234/1240`.
fn is_id(word: &str) -> bool {
    word.split('/').all(is_number)
}

/// Result of reading samples.
#[derive(Default)]
pub(crate) struct Samples<'a> {
    pub taken: u64,
    /// Number of frame lines that could not be parsed.
    pub left: u64,
    /// Event of the samples, which is that of the first one.
    pub event: Option<&'a str>,
    /// Number of samples of other events, which are left out.
    pub others: u64,
}

/// Reads the samples of one event.
pub(crate) fn read<'a>(text: &'a str, builder: &mut Builder) -> Samples<'a> {
    let mut found = Samples::default();
    let mut header: Option<&str> = None;
    let mut frames: Vec<u32> = Vec::new();
    let mut end = |header: &mut Option<&'a str>, frames: &mut Vec<u32>, builder: &mut Builder| {
        let mut stack = std::mem::take(frames);
        let Some(header) = header.take().map(Header::parse) else { return };
        if *found.event.get_or_insert(header.event_name()) != header.event_name() {
            found.others += 1;
            return;
        }
        stack.reverse();
        builder.add(header.thread, ThreadState::OnCpu, stack, 1, header.period());
        found.taken += 1;
    };
    let mut left = 0;
    for line in text.lines().filter(|l| !is_comment(l)) {
        if line.trim().is_empty() {
            end(&mut header, &mut frames, builder);
        } else if line.starts_with([' ', '\t']) && header.is_some() {
            match frame(line) {
                Some(f) => frames.push(builder.frame(&f)),
                None => left += 1,
            }
        } else {
            end(&mut header, &mut frames, builder);
            header = Some(line);
        }
    }
    end(&mut header, &mut frames, builder);
    Samples { left, ..found }
}
