//! Profiles of programs: the method of sampling, the functions, the waits, and how reliable names
//! and stacks are. Also the functions that differ between treatments.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use assay_model::nouns::count;
use assay_model::units::percent;
use assay_traces::profile::{
    FunctionChange, FunctionDifferences, Profile, ProfileSide, ThreadState, functions, truncation,
    unresolved,
};

use super::io::time;
use crate::document::{DocumentPart, Parts, Table, TableCell, Tone, cell};
use crate::parts::columns::{cells, clear, columns};

/// Formats a share in percent.
fn share(part: u64, all: u64) -> String {
    if all == 0 { "-".to_owned() } else { format!("{:.1} %", 100.0 * part as f64 / all as f64) }
}

/// Formats a value in the profile's own unit.
fn value(profile: &Profile, n: u64) -> String {
    if profile.unit == "ns" { time(n as f64) } else { n.to_string() }
}

/// Returns the method of sampling and the amounts sampled.
pub fn head(profile: &Profile) -> Parts {
    let mut out = Parts::default();
    out.push(DocumentPart::Paragraph(Tone::Strong, profile.method.clone().into()));
    let mut words = count(profile.count(ProfileSide::OnCpu) as usize, "sample") + " on CPU";
    if let Some(hz) = profile.rate_hz {
        let _ = write!(words, " at {hz:.0} Hz");
    }
    if profile.unit == "ns" {
        let _ = write!(words, ", {}", time(profile.total_ns(ProfileSide::OnCpu) as f64));
        if let Some(exact) = profile.cpu_ns().or(profile.accounted_ns) {
            let _ = write!(words, " (the kernel counts {})", time(exact as f64));
        }
    }
    if profile.off_cpu || profile.count(ProfileSide::OffCpu) > 0 {
        let off = profile.total_ns(ProfileSide::OffCpu);
        let _ = write!(
            words,
            "; {}, {} in all threads together",
            count(profile.count(ProfileSide::OffCpu) as usize, "wait"),
            value(profile, off)
        );
    }
    if let Some(ns) = profile.span_ns {
        let _ = write!(words, "; observed for {}", time(ns as f64));
    }
    out.say(words);
    out
}

/// Returns the functions of a side, ordered by own time.
pub fn table(profile: &Profile, side: ProfileSide, most: usize) -> Table {
    let all = functions(profile, side, None);
    let total: u64 = all.iter().map(|f| f.self_ns).sum();
    let caption = match side {
        ProfileSide::OnCpu => "Functions by time on CPU",
        ProfileSide::OffCpu => {
            "Where it waited: functions by time off CPU, kernel functions included"
        }
    };
    let mut t =
        Table::captioned(caption).numbers(["self", "", "total", ""]).labels(["function", "in"]);
    for f in all.iter().take(most) {
        t.row(vec![
            cell(value(profile, f.self_ns)),
            cell(share(f.self_ns, total)),
            cell(value(profile, f.total_ns)),
            cell(share(f.total_ns, total)),
            cell(f.frame.label()),
            cell(f.frame.module_name().to_owned()),
        ]);
    }
    t
}

/// Grouping of the threads of a profile.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Threads {
    /// All threads merged into one.
    Merged,
    /// Each thread by itself.
    Apart,
}

/// Largest number of threads that are shown separately.
const THREADS: usize = 8;

/// Returns the functions of each thread of a side, the busiest thread first; the caption counts the
/// threads that are left out.
pub fn by_thread(profile: &Profile, side: ProfileSide, most: usize) -> Table {
    let mut of: BTreeMap<&str, u64> = BTreeMap::new();
    for stack in profile.stacks.iter().filter(|s| s.state.side() == side) {
        *of.entry(&stack.thread).or_default() += stack.ns;
    }
    let mut threads: Vec<(&str, u64)> = of.into_iter().collect();
    threads.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(b.0)));
    let left = threads.len().saturating_sub(THREADS);
    let rest =
        if left > 0 { format!("; {left} less busy threads are left out") } else { String::new() };
    let words = if side == ProfileSide::OnCpu { "on CPU" } else { "off CPU" };
    let mut t = Table::captioned(format!("Functions by time {words}, each thread by itself{rest}"))
        .label("thread")
        .numbers(["self", ""])
        .labels(["function", "in"]);
    for (thread, total) in threads.into_iter().take(THREADS) {
        let own = functions(profile, side, Some(thread));
        for f in own.iter().take(most).filter(|f| f.self_ns > 0) {
            t.row(vec![
                cell(if thread.is_empty() { "no name" } else { thread }.to_owned()),
                cell(value(profile, f.self_ns)),
                cell(share(f.self_ns, total)),
                cell(f.frame.label()),
                cell(f.frame.module_name().to_owned()),
            ]);
        }
    }
    t
}

/// Returns the time of the threads in each state; `None` if there is only one state.
pub fn states(profile: &Profile) -> Option<Table> {
    let of = |state: ThreadState| {
        let all = profile.stacks.iter().filter(|s| s.state == state);
        all.fold((0u64, 0u64), |(n, ns), s| (n + s.count, ns + s.ns))
    };
    let sums: Vec<(ThreadState, (u64, u64))> =
        ThreadState::ALL.into_iter().map(|s| (s, of(s))).filter(|(_, (n, _))| *n > 0).collect();
    let total: u64 = sums.iter().map(|(_, (_, ns))| ns).sum();
    if sums.len() < 2 {
        return None;
    }
    let mut t = Table::captioned("What its threads did")
        .label("")
        .number("time")
        .number("")
        .number("times");
    for (state, (n, ns)) in sums {
        let times = if state == ThreadState::OnCpu { cell("-") } else { cell(n.to_string()) };
        t.row(vec![cell(state.words()), cell(value(profile, ns)), cell(share(ns, total)), times]);
    }
    Some(t)
}

/// Returns notes on the reliability of a profile, and on how to improve it.
pub fn notes(profile: &Profile) -> Vec<String> {
    let loss = &profile.loss;
    let waits = format!("samples or waits ({}) had no room and are missing", time(loss.ns as f64));
    let lost = [
        (loss.samples, waits.as_str()),
        (loss.stacks, "stacks had no room: their time counts under no function"),
        (loss.threads, "times a thread or process had no room and was not followed"),
        (
            loss.mappings,
            "changes of memory maps were lost: functions may have no names or wrong ones",
        ),
    ];
    let lost = lost.iter().filter(|(n, _)| *n > 0);
    let mut notes: Vec<String> = lost.map(|(n, words)| format!("{n} {words}")).collect();
    let all = profile.cpu_ns().or(profile.accounted_ns).unwrap_or(0);
    let (seen, due) = (profile.total_ns(ProfileSide::OnCpu), all.saturating_sub(loss.hidden_ns));
    // Three standard deviations of the time that this number of samples represents.
    let chance = profile.rate_hz.map(|hz| 3.0 * (due as f64 * 1e9 / hz).sqrt());
    let short = chance.is_some_and(|ns| seen < due / 5 * 4 && seen as f64 + ns < due as f64);
    if due > 0 && (short || seen > due.saturating_mul(2)) {
        notes.push(format!(
            "too few samples: the tables add up to {} on CPU, and the kernel counts {}; a process \
             that runs for less than a sampling period may have none (--rate)",
            time(seen as f64),
            time(due as f64)
        ));
    }
    if loss.hidden_ns > 0 {
        notes.push(format!(
            "hidden: {} of the CPU time ({} of {}) was spent in the kernel and is in no table",
            share(loss.hidden_ns, all),
            time(loss.hidden_ns as f64),
            time(all as f64)
        ));
    }
    for side in [ProfileSide::OnCpu, ProfileSide::OffCpu] {
        let names = unresolved(profile, side);
        let words = if side == ProfileSide::OnCpu { "on CPU" } else { "off CPU" };
        if names.unknown_ns > 0 {
            let by: Vec<String> = names
                .by_module
                .iter()
                .take(3)
                .map(|(module, ns)| {
                    let module = if module.is_empty() { "no file that is known" } else { module };
                    format!("{module} {}", share(*ns, names.all_ns))
                })
                .collect();
            notes.push(format!(
                "[unknown]: {} of the time {words} is in functions without a name ({})",
                share(names.unknown_ns, names.all_ns),
                by.join(", ")
            ));
        }
        let cut = truncation(profile, side);
        // A few stacks of every profile end early, at the first instruction of a function.
        if cut.broken_ns * 50 > cut.user_ns {
            let known = cut.by_module.iter().filter(|(m, _)| !m.is_empty());
            let by: Vec<&str> = known.take(3).map(|(m, _)| m.as_str()).collect();
            let by = if by.is_empty() { String::new() } else { format!(": {}", by.join(", ")) };
            notes.push(format!(
                "truncated: {} of the time {words} has a stack that does not reach the start of \
                 its thread; build with -fno-omit-frame-pointer (Rust: -C \
                 force-frame-pointers=yes; Java: -XX:+PreserveFramePointer){by}",
                share(cut.broken_ns, cut.user_ns)
            ));
        }
    }
    notes.extend(profile.notes.iter().cloned());
    notes
}

/// Returns all parts of a profile.
pub fn whole(profile: &Profile, most: usize, threads: Threads) -> Parts {
    let mut all = head(profile);
    if let Some(t) = states(profile) {
        all.table(t);
    }
    for side in [ProfileSide::OnCpu, ProfileSide::OffCpu] {
        if profile.count(side) > 0 {
            all.table(match threads {
                Threads::Merged => table(profile, side, most),
                Threads::Apart => by_thread(profile, side, most),
            });
        }
    }
    all.notes(notes(profile));
    all
}

/// Returns the functions whose own time differs between two treatments: the clear ones, and the
/// largest others.
pub fn changes(d: &FunctionDifferences, labels: [&str; 2], most: usize) -> Parts {
    let mut out = Parts::default();
    let caption = format!("Own time on CPU a trial: {} against {}", labels[1], labels[0]);
    let mut t = columns(Table::captioned(caption).label("function"), labels, d.confidence);
    for c in d.changes.iter().take(most) {
        let [by, interval] = cells(c.difference_ns, c.interval_ns, time);
        let mark = match (c.clear, c.detectable_ns) {
            (true, _) => clear(c.difference_ns),
            (false, Some(ns)) => cell(format!("no (from {})", time(ns))),
            (false, None) => cell("no"),
        };
        t.row(vec![cell(c.function.clone()), own(c, 0), own(c, 1), by, interval, mark]);
    }
    out.table(t);
    let trials = format!("{} and {} trials", d.trials[0], d.trials[1]);
    out.note(if d.trials.iter().any(|n| *n < 3) {
        format!("{trials}: fewer than three a side have no interval, and no function is named")
    } else {
        format!(
            "{trials}; clear after Holm's correction for {} functions, so that of identical \
             programs at most {} of comparisons name any. In brackets: the smallest difference \
             that so many samples show in four of five cases. {} functions below half a percent of \
             the time are left out.",
            d.compared,
            percent(1.0 - d.confidence),
            d.too_small
        )
    });
    out
}

/// Returns a function's own time on a side, or a note that the side's samples do not have it.
fn own(c: &FunctionChange, side: usize) -> TableCell {
    if c.total_ns[side] == 0.0 {
        return cell("not in its samples");
    }
    cell(format!("{} ({})", time(c.own_ns[side]), percent(round(c.share[side]))))
}

/// Rounds a share to a tenth of a percent.
fn round(share: f64) -> f64 {
    (share * 1000.0).round() / 1000.0
}

#[cfg(test)]
mod tests {
    use assay_traces::profile::{Loss, Stack};

    use super::*;
    use crate::document::{html, terminal};
    use crate::terminal::Style;

    /// Returns a profile at 99 Hz with this number of samples, and with the CPU time by the
    /// kernel's accounting in seconds.
    fn sampled(samples: u64, accounted_s: f64, hidden_s: f64) -> Profile {
        let ns = |s: f64| (s * 1e9) as u64;
        let stack = Stack {
            thread: "sh".into(),
            state: ThreadState::OnCpu,
            frames: Vec::new(),
            count: samples,
            ns: samples * 1_000_000_000 / 99,
        };
        Profile {
            rate_hz: Some(99.0),
            unit: "ns".into(),
            stacks: vec![stack],
            accounted_ns: Some(ns(accounted_s)),
            loss: Loss { hidden_ns: ns(hidden_s), ..Loss::default() },
            ..Profile::default()
        }
    }

    #[test]
    fn time_in_a_kernel_that_shows_no_samples_has_its_share() {
        let profile = sampled(99, 4.0, 3.0);
        let style = Style { width: 200, ..Style::default() };
        let parts = whole(&profile, 5, Threads::Merged);
        for text in [terminal::parts(&parts, style), html::parts(&parts).into_string()] {
            let hidden =
                "hidden: 75.0 % of the CPU time (3.00 s of 4.00 s) was spent in the kernel";
            assert!(text.contains(hidden) && text.contains("the kernel counts 4.00 s"), "{text}");
            assert!(!text.contains("too few samples"), "{text}");
        }
        let two = Profile::merged([&profile, &sampled(99, 2.0, 1.0)]);
        let notes = notes(&two).join("; ");
        assert!(notes.contains("hidden: 66.7 % of the CPU time (4.00 s of 6.00 s)"), "{notes}");
        assert!(!super::notes(&sampled(99, 1.0, 0.0)).join("; ").contains("hidden"));
    }

    #[test]
    fn samples_that_fall_short_of_the_cpu_time_are_reported() {
        let short = |samples, accounted_s, hidden_s| {
            let notes = notes(&sampled(samples, accounted_s, hidden_s));
            notes.iter().any(|n| n.starts_with("too few samples: "))
        };
        assert!(short(0, 0.26, 0.0), "26 were due");
        assert!(short(65, 1.0, 0.0));
        assert!(short(65, 3.0, 2.0));
        // Samples are missing by chance, or hidden time has none.
        assert!(!short(2, 0.05, 0.0));
        assert!(!short(90, 1.0, 0.0));
        assert!(!short(99, 3.0, 2.0));
        // Sampled time far above the CPU time is reported as well.
        assert!(short(99, 0.4, 0.0));
        let unknown = Profile { accounted_ns: None, ..sampled(0, 1.0, 0.0) };
        assert!(notes(&unknown).is_empty());
    }
}
