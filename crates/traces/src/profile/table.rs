//! Table of functions with self and total time, and measures of how far names and stacks can be
//! trusted.

use std::collections::{BTreeMap, HashMap};

use crate::profile::{Frame, FrameKind, Profile, ProfileSide};

/// Self and total time of one function.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FunctionTime {
    /// The function. All functions of a module that have no name share one entry.
    pub frame: Frame,
    /// Time in the function itself, nanoseconds.
    pub self_ns: u64,
    /// Time in the function and its callees, nanoseconds. A stack counts once even if the function
    /// recurs in it.
    pub total_ns: u64,
    /// Samples in the function itself.
    pub self_count: u64,
    /// Samples whose stack holds the function.
    pub total_count: u64,
}

/// Returns the functions of one side, of one thread or of all, by descending self time.
pub fn functions(profile: &Profile, side: ProfileSide, thread: Option<&str>) -> Vec<FunctionTime> {
    // Keyed without inlining: a function inlined in one place and called in another is one
    // function.
    let mut numbers: HashMap<(Option<&str>, &str, bool), usize> = HashMap::new();
    let mut all: Vec<FunctionTime> = Vec::new();
    let of: Vec<usize> = profile
        .frames
        .iter()
        .map(|f| {
            let key = (f.name.as_deref(), f.module.as_str(), f.kind == FrameKind::Kernel);
            *numbers.entry(key).or_insert_with(|| {
                let frame = f.clone();
                all.push(FunctionTime {
                    frame,
                    self_ns: 0,
                    total_ns: 0,
                    self_count: 0,
                    total_count: 0,
                });
                all.len() - 1
            })
        })
        .collect();
    let mut seen = vec![usize::MAX; all.len()];
    for (at, s) in profile.stacks.iter().enumerate() {
        if s.state.side() != side || thread.is_some_and(|name| name != s.thread) {
            continue;
        }
        let mut last = None;
        for n in s.frames.iter().filter_map(|f| of.get(*f as usize)) {
            if seen[*n] != at {
                seen[*n] = at;
                all[*n].total_ns = all[*n].total_ns.saturating_add(s.ns);
                all[*n].total_count = all[*n].total_count.saturating_add(s.count);
            }
            last = Some(*n);
        }
        if let Some(n) = last {
            all[n].self_ns = all[n].self_ns.saturating_add(s.ns);
            all[n].self_count = all[n].self_count.saturating_add(s.count);
        }
    }
    all.retain(|f| f.total_count > 0);
    all.sort_by(|a, b| {
        (b.self_ns, b.total_ns)
            .cmp(&(a.self_ns, a.total_ns))
            .then_with(|| (&a.frame.name, &a.frame.module).cmp(&(&b.frame.name, &b.frame.module)))
    });
    all
}

/// Time in functions that have no name.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct UnnamedTime {
    /// Time of samples whose innermost function has no name, nanoseconds.
    pub unknown_ns: u64,
    /// Total time of the side, nanoseconds.
    pub all_ns: u64,
    /// Unnamed time per module, largest first; the empty module is unknown as well.
    pub by_module: Vec<(String, u64)>,
}

/// Returns the time in functions without a name.
pub fn unresolved(profile: &Profile, side: ProfileSide) -> UnnamedTime {
    let mut names = UnnamedTime::default();
    let mut by: BTreeMap<&str, u64> = BTreeMap::new();
    for s in profile.side(side) {
        names.all_ns += s.ns;
        match profile.frames_of(s).last() {
            Some(f) if f.name.is_some() => {}
            other => {
                names.unknown_ns += s.ns;
                *by.entry(other.map_or("", |f| f.module.as_str())).or_default() += s.ns;
            }
        }
    }
    names.by_module = by.into_iter().map(|(m, ns)| (m.to_owned(), ns)).collect();
    names.by_module.sort_by_key(|m| std::cmp::Reverse(m.1));
    names
}

/// Time whose stack is complete, truncated or unattributable.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Truncation {
    /// Total time whose stack holds a frame of a program, nanoseconds.
    pub user_ns: u64,
    /// Time of stacks whose outermost function is named but does not start a program or thread,
    /// nanoseconds.
    pub broken_ns: u64,
    /// Time of stacks whose outermost function has no name, so that they cannot be attributed,
    /// nanoseconds.
    pub unattributed_ns: u64,
    /// Truncated time per module of the outermost function, largest first.
    pub by_module: Vec<(String, u64)>,
}

/// Functions in which the stacks of programs and threads begin.
const ROOTS: [&str; 16] = [
    "main",
    "_start",
    "__libc_start_main",
    "__libc_start_call_main",
    "start_thread",
    "clone",
    "__clone",
    "clone3",
    "__clone3",
    "thread_start",
    "_dl_start_user",
    "_dl_start",
    "runtime.goexit",
    "runtime.mstart",
    "runtime.rt0_go",
    "_rt0_amd64_linux",
];

fn is_root(name: &str) -> bool {
    let bare = name.split(['.', '@']).next().unwrap_or(name);
    ROOTS.contains(&bare) || ROOTS.contains(&name) || name.starts_with("__libc_start_main")
}

/// Returns how much of a side's time has truncated stacks. Unwinding by frame pointers stops at the
/// first function that keeps none.
pub fn truncation(profile: &Profile, side: ProfileSide) -> Truncation {
    let mut t = Truncation::default();
    let mut by: BTreeMap<&str, u64> = BTreeMap::new();
    for s in profile.side(side) {
        let Some(root) = profile.frames_of(s).find(|f| f.kind != FrameKind::Kernel) else {
            continue;
        };
        t.user_ns += s.ns;
        // The outermost frames may be startup code that calls `main`: look at the first four.
        let begins = profile
            .frames_of(s)
            .take_while(|f| f.kind != FrameKind::Kernel)
            .take(4)
            .any(|f| f.name.as_deref().is_some_and(is_root));
        if begins {
            continue;
        }
        if root.name.is_none() {
            t.unattributed_ns += s.ns;
        } else {
            t.broken_ns += s.ns;
            *by.entry(&root.module).or_default() += s.ns;
        }
    }
    t.by_module = by.into_iter().map(|(m, ns)| (m.to_owned(), ns)).collect();
    t.by_module.sort_by_key(|m| std::cmp::Reverse(m.1));
    t
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::profile::{Builder, ThreadState};

    fn profile(stacks: &[(&[&str], u64)]) -> Profile {
        let mut b = Builder::default();
        for (names, ns) in stacks {
            let frames = names
                .iter()
                .map(|n| {
                    let name = (*n != "?").then(|| (*n).to_owned());
                    b.frame(&Frame { name, module: "/bin/p".into(), kind: FrameKind::User })
                })
                .collect();
            b.add("p", ThreadState::OnCpu, frames, ns / 10, *ns);
        }
        let mut p = Profile::default();
        b.finish(&mut p);
        p
    }

    #[test]
    fn a_function_that_calls_itself_counts_once_a_stack() {
        let p = profile(&[(&["main", "f", "f", "f"], 100), (&["main", "f", "g"], 50)]);
        let all = functions(&p, ProfileSide::OnCpu, None);
        let f = all.iter().find(|f| f.frame.name.as_deref() == Some("f")).unwrap();
        assert_eq!((f.self_ns, f.total_ns, f.self_count, f.total_count), (100, 150, 10, 15));
        assert_eq!(all.iter().map(|f| f.self_ns).sum::<u64>(), p.total_ns(ProfileSide::OnCpu));
        assert!(functions(&p, ProfileSide::OffCpu, None).is_empty());
    }

    #[test]
    fn what_has_no_name_or_no_beginning_is_counted() {
        let p = profile(&[(&["main", "f"], 100), (&["lost", "f"], 30), (&["?", "?"], 10)]);
        let names = unresolved(&p, ProfileSide::OnCpu);
        assert_eq!((names.unknown_ns, names.all_ns), (10, 140));
        let t = truncation(&p, ProfileSide::OnCpu);
        assert_eq!((t.user_ns, t.broken_ns, t.unattributed_ns), (140, 30, 10));
        assert_eq!(t.by_module, [("/bin/p".to_owned(), 30)]);
    }
}
