//! Reader of Valgrind's callgrind files: exact self cost of each function, without stacks.

use std::collections::HashMap;

use crate::profile::model::Builder;
use crate::profile::{Frame, FrameKind, ThreadState};

/// Returns true if a text begins like a callgrind file.
pub(crate) fn is(text: &str) -> bool {
    let mut lines = text.lines().map(str::trim).filter(|l| !l.is_empty()).take(4);
    let first = lines.next().unwrap_or_default();
    first == "# callgrind format"
        || first.starts_with("version:") && lines.any(|l| l.starts_with("creator: callgrind"))
}

/// Header and line counts of a callgrind file.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct CallgrindSummary {
    /// Name of the counted event: the first one in the file.
    pub event: String,
    /// Command line of the program.
    pub command: String,
    /// Number of lines that could not be parsed.
    pub left: u64,
    /// Number of functions that were read.
    pub taken: u64,
}

/// Names that are written once with a number and then referred to by it: `(3) main`, then `(3)`.
#[derive(Default)]
struct CallgrindNames<'a>(HashMap<&'a str, &'a str>);

impl<'a> CallgrindNames<'a> {
    fn get(&mut self, text: &'a str) -> &'a str {
        let Some((number, name)) = text.strip_prefix('(').and_then(|t| t.split_once(')')) else {
            return text;
        };
        match name.trim() {
            "" => self.0.get(number).copied().unwrap_or_default(),
            name => {
                self.0.insert(number, name);
                name
            }
        }
    }
}

pub(crate) fn read(text: &str, builder: &mut Builder) -> CallgrindSummary {
    let mut out =
        CallgrindSummary { event: String::new(), command: String::new(), left: 0, taken: 0 };
    let (mut files, mut functions) = (CallgrindNames::default(), CallgrindNames::default());
    let (mut object, mut function) = ("", "");
    let mut positions = 1;
    let mut called = false;
    let mut costs: HashMap<(&str, &str), u64> = HashMap::new();
    for line in text.lines().map(str::trim) {
        if let Some((key, value)) =
            line.split_once('=').filter(|(k, _)| k.bytes().all(|b| b.is_ascii_lowercase()))
        {
            match key {
                "ob" => object = files.get(value),
                "fn" => function = functions.get(value),
                // Names of callees are defined here too, and referred to by number later.
                "cob" => drop(files.get(value)),
                "cfn" => drop(functions.get(value)),
                // The next line has the inclusive cost of the callee.
                "calls" => called = true,
                _ => {}
            }
            continue;
        }
        if line.starts_with(|c: char| c.is_ascii_digit() || matches!(c, '+' | '-' | '*')) {
            if std::mem::take(&mut called) {
                continue;
            }
            // A line may leave out its last costs, which are 0.
            match line.split_ascii_whitespace().nth(positions).map_or(Ok(0), str::parse::<u64>) {
                Ok(cost) => {
                    let sum = costs.entry((object, function)).or_default();
                    *sum = sum.saturating_add(cost);
                }
                Err(_) => out.left += 1,
            }
            continue;
        }
        match line.split_once(':') {
            Some(("events", list)) => {
                list.split_ascii_whitespace().next().unwrap_or_default().clone_into(&mut out.event);
            }
            Some(("cmd", command)) => command.trim().clone_into(&mut out.command),
            Some(("positions", list)) => positions = list.split_ascii_whitespace().count(),
            Some(_) => {}
            None => out.left += u64::from(!line.is_empty() && !line.starts_with('#')),
        }
    }
    let program = out.command.split_ascii_whitespace().next().unwrap_or_default();
    let thread = program.rsplit('/').next().unwrap_or_default();
    for ((object, function), cost) in costs.into_iter().filter(|c| c.1 > 0) {
        // `f'2` is a recursive call of `f`; `???` is an unknown name, and an address is code
        // without a file.
        let name = match function.rsplit_once('\'') {
            Some((name, depth)) if depth.bytes().all(|b| b.is_ascii_digit()) => name,
            _ => function,
        };
        let named = !name.is_empty() && name != "???" && !name.starts_with("0x");
        let frame = Frame {
            name: named.then(|| name.to_owned()),
            module: if object == "???" { String::new() } else { object.to_owned() },
            kind: FrameKind::User,
        };
        let frame = builder.frame(&frame);
        builder.add(thread, ThreadState::OnCpu, vec![frame], cost, cost);
        out.taken += 1;
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::profile::{Profile, ProfileSide, functions};

    /// Output of callgrind 3.19 for a program of two functions, shortened.
    const FILE: &str = "\
# callgrind format
version: 1
creator: callgrind-3.19.0
pid: 14352
cmd:  ./a --once
part: 1

desc: Trigger: Program termination

positions: line
events: Ir
summary: 712

ob=(1) /tmp/a
fl=(1) /tmp/a.c
fn=(2) main
4 5
+1 3
cob=(2) /lib/libc.so.6
cfi=(3) ./libio/ioputs.c
cfn=(4) puts
calls=1 33
* 200
cfn=(6) work
calls=1000 3
-1 400

fn=(6)
3 300
* 100

fn=(8) work'2
3 4

ob=(2)
fn=(4)
35 200
junk
ob=(7) ???
fn=(9) 0x0000000000001040
0 100
";

    #[test]
    fn functions_have_their_own_instructions() {
        assert!(is(FILE) && !is("version: 3\n") && !is("main;f 3\n"));
        let mut builder = Builder::default();
        let read = read(FILE, &mut builder);
        let expected = CallgrindSummary {
            event: "Ir".into(),
            command: "./a --once".into(),
            left: 1,
            taken: 5,
        };
        assert_eq!(read, expected);
        let mut p = Profile::default();
        builder.finish(&mut p);
        assert_eq!(p.total_ns(ProfileSide::OnCpu), 712);
        let all: Vec<(String, u64)> = functions(&p, ProfileSide::OnCpu, None)
            .into_iter()
            .map(|f| (f.frame.label(), f.self_count))
            .collect();
        let of = |name: &str, n| (name.to_owned(), n);
        assert_eq!(all, [of("work", 404), of("puts", 200), of("[unknown]", 100), of("main", 8)]);
        assert_eq!(p.stacks[0].thread, "a");
    }
}
