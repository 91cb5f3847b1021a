//! Folded stacks: `thread;main;f;g 42`, a line a stack, as FlameGraph's tools read and write them.

use std::fmt::Write as _;

use crate::model::Builder;
use crate::{Frame, Kind, Profile, Side, State};

/// The text of a side: the time of each stack in microseconds, or its count where the profile has no time.
/// A kernel frame ends in `_[k]`, an inlined one in `_[i]`, as they do from those tools.
pub fn folded(profile: &Profile, side: Side) -> String {
    let mut out = String::new();
    let timed = profile.unit == "ns";
    for s in profile.side(side) {
        let value = if timed { (s.ns + 500) / 1000 } else { s.count };
        if value == 0 {
            continue;
        }
        out.push_str(&clean(&s.thread));
        if s.state != State::OnCpu {
            let _ = write!(out, ";[{}]", clean(s.state.words()));
        }
        for f in profile.frames_of(s) {
            let ending = match f.kind {
                Kind::User => "",
                Kind::Kernel => "_[k]",
                Kind::Inlined => "_[i]",
            };
            let _ = write!(out, ";{}{ending}", clean(&f.label()));
        }
        let _ = writeln!(out, " {value}");
    }
    out
}

/// A name without what the format means something by.
fn clean(name: &str) -> String {
    name.replace(';', ":").replace(['\n', '\r'], " ")
}

/// Reads a line into its frames and its value; `None`: it is none.
pub(crate) fn line(text: &str) -> Option<(&str, u64)> {
    let (stack, value) = text.trim_end().rsplit_once([' ', '\t'])?;
    let value = value.parse::<u64>().ok()?;
    let stack = stack.trim_end();
    (!stack.is_empty()).then_some((stack, value))
}

/// A frame of a folded line.
pub(crate) fn frame(text: &str) -> Frame {
    let (name, kind) = if let Some(name) = text.strip_suffix("_[k]") {
        (name, Kind::Kernel)
    } else if let Some(name) = text.strip_suffix("_[i]") {
        (name, Kind::Inlined)
    } else {
        // async-profiler marks compiled Java with `_[j]`, and 0 and 1 for other tiers.
        let name = text.strip_suffix("_[j]").or_else(|| text.strip_suffix("_[0]"));
        (name.or_else(|| text.strip_suffix("_[1]")).unwrap_or(text), Kind::User)
    };
    // async-profiler's option `lib`: the library before the function.
    if let Some((module, name)) =
        name.split_once('`').filter(|(m, n)| !m.is_empty() && !n.is_empty())
    {
        return Frame { name: Some(name.to_owned()), module: module.to_owned(), kind };
    }
    if let Some(rest) = name.strip_prefix("[unknown]") {
        let module = rest.trim().trim_start_matches('(').trim_end_matches(')').to_owned();
        return Frame { name: None, module, kind };
    }
    Frame { name: Some(name.to_owned()), module: String::new(), kind }
}

/// Reads folded stacks; the lines that are none.
pub(crate) fn read(text: &str, builder: &mut Builder) -> (u64, u64) {
    let (mut taken, mut left) = (0, 0);
    for text in text.lines().filter(|l| !l.trim().is_empty() && !l.starts_with('#')) {
        let Some((stack, value)) = line(text) else {
            left += 1;
            continue;
        };
        let mut frames = Vec::new();
        let mut state = State::OnCpu;
        let mut thread = "";
        for part in stack.split(';').filter(|p| !p.is_empty()) {
            let bare = part.strip_prefix('[').and_then(|p| p.strip_suffix(']'));
            // async-profiler's option `threads`: the thread before all functions.
            let named = bare.filter(|_| frames.is_empty()).and_then(|b| b.split_once(" tid="));
            if let Some((name, _)) =
                named.filter(|(_, tid)| tid.bytes().all(|b| b.is_ascii_digit()))
            {
                thread = name;
                continue;
            }
            match bare.and_then(|b| State::ALL.into_iter().find(|s| s.words() == b)) {
                Some(known) => state = known,
                None => frames.push(builder.frame(&frame(part))),
            }
        }
        builder.add(thread, state, frames, value, value);
        taken += 1;
    }
    (taken, left)
}

#[cfg(test)]
mod tests {
    use crate::{Kind, Side, functions, read};

    /// Lines of async-profiler 3.0 (OpenJDK 17, `threads,ann,lib,collapsed`), as it wrote them.
    const ASYNC_PROFILER: &str = "\
[DestroyJavaVM tid=24649];Work.main_[j];Work.deep_[j];Work.both_[j];Work.twice_[i] 34
[DestroyJavaVM tid=24649];Work.main_[j];Work.deep_[j];Work.both_[j];Work.twice_[j] 11
[DestroyJavaVM tid=24649];Work.main_[j];Work.deep_[j];Work.both_[j];Work.once_[i] 28
java/lang/ref/Finalizer$FinalizerThread.run_[j];java/lang/Object.wait_[j];libc.so.6`__futex_abstimed_wait_common 128
[GC Thread#0 tid=7];do_syscall_64_[k] 3
";

    #[test]
    fn collapsed_stacks_of_async_profiler() {
        let p = read(ASYNC_PROFILER.as_bytes(), "x").unwrap();
        assert_eq!(p.count(Side::OnCpu), 204);
        let threads: Vec<(&str, u64)> =
            p.stacks.iter().map(|s| (s.thread.as_str(), s.count)).collect();
        assert!(threads.contains(&("DestroyJavaVM", 34)) && threads.contains(&("GC Thread#0", 3)));
        let all = functions(&p, Side::OnCpu, None);
        let of = |name: &str| all.iter().find(|f| f.frame.name.as_deref() == Some(name)).unwrap();
        // Inlined in one place and compiled in another, it is one function.
        assert_eq!((of("Work.twice").self_count, of("Work.main").total_count), (45, 73));
        assert_eq!(of("__futex_abstimed_wait_common").frame.module, "libc.so.6");
        assert_eq!(of("do_syscall_64").frame.kind, Kind::Kernel);
    }
}
