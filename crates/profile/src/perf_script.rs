//! The text of `perf script`: a header line a sample, a line a frame with the innermost first, an empty
//! line.

use std::path::Path;

use crate::model::Builder;
use crate::{Frame, Kind, State};

/// Whether a text looks like it.
pub(crate) fn is(text: &str) -> bool {
    let mut lines = text.lines().filter(|l| !l.trim().is_empty() && !l.starts_with('#')).take(50);
    let Some(first) = lines.next() else { return false };
    !first.starts_with([' ', '\t'])
        && first.contains(':')
        && lines.any(|l| l.starts_with([' ', '\t']) && frame(l).is_some())
}

/// `  ffffffff81000000 do_idle+0x1f ([kernel.kallsyms])`
fn frame(line: &str) -> Option<Frame> {
    let line = line.trim();
    let (address, rest) = line.split_once([' ', '\t'])?;
    u64::from_str_radix(address, 16).ok()?;
    let rest = rest.trim();
    let open = rest.rfind(" (").or_else(|| rest.starts_with('(').then_some(0))?;
    let symbol = rest[..open].trim();
    let module = rest[open..].trim().trim_start_matches('(').trim_end_matches(')');
    let (module, inlined) = if module == "inlined" { ("", true) } else { (module, false) };
    let kernel = module.starts_with("[kernel")
        || Path::new(module).extension().is_some_and(|e| e == "ko")
        || module == "[guest.kernel.kallsyms]";
    let name = match symbol.rfind("+0x") {
        Some(at) if u64::from_str_radix(&symbol[at + 3..], 16).is_ok() => &symbol[..at],
        _ => symbol,
    };
    let kind = match (kernel, inlined) {
        (true, _) => Kind::Kernel,
        (_, true) => Kind::Inlined,
        _ => Kind::User,
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

/// The thread of a header line: what stands before its number.
fn thread(line: &str) -> &str {
    // `java 1234/1240 [001] 12.34: 10101010 cpu-clock:` or without the CPU; names may hold spaces.
    let mut end = line.len();
    let mut at = 0;
    for word in line.split_whitespace() {
        let start = line[at..].find(word).map_or(at, |i| at + i);
        let id = word.split('/').all(|w| !w.is_empty() && w.bytes().all(|b| b.is_ascii_digit()));
        if id && start > 0 {
            end = start;
            break;
        }
        at = start + word.len();
    }
    line[..end].trim()
}

/// The period of a header line: the number before the event's name; 1 where there is none.
fn period(line: &str) -> u64 {
    let Some((_, rest)) = line.split_once(": ") else { return 1 };
    rest.split_whitespace().next().and_then(|w| w.parse().ok()).unwrap_or(1)
}

/// Reads samples; how many, and how many lines of frames could not be read. `clock` is set where every
/// sample is of a clock, so that its period is time.
pub(crate) fn read(text: &str, builder: &mut Builder) -> (u64, u64, bool) {
    let (mut taken, mut left) = (0, 0);
    let mut clock = true;
    let mut header: Option<&str> = None;
    let mut frames: Vec<u32> = Vec::new();
    let mut end = |header: &mut Option<&str>, frames: &mut Vec<u32>, builder: &mut Builder| {
        if let Some(line) = header.take() {
            let mut stack = std::mem::take(frames);
            stack.reverse();
            clock &= line.contains("cpu-clock") || line.contains("task-clock");
            builder.add(thread(line), State::OnCpu, stack, 1, period(line));
            taken += 1;
        }
        frames.clear();
    };
    for line in text.lines().filter(|l| !l.starts_with('#')) {
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
    (taken, left, clock && taken > 0)
}
