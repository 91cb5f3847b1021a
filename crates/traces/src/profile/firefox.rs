//! Writer of the Firefox profiler's JSON (its "processed" format, version 47): one thread per
//! thread name and side, with one sample per stack and the stack's time as its weight, because a
//! profile that was aggregated in the kernel has no order in time.

use std::collections::HashMap;

use serde_json::{Value, json};

use crate::profile::interner::Interner;
use crate::profile::{FrameKind, Profile, ProfileSide, Stack};

/// Returns the profile as the Firefox profiler's JSON; `name` is its title.
pub fn firefox(profile: &Profile, name: &str) -> Value {
    let interval = profile.rate_hz.filter(|r| *r > 0.0).map_or(1.0, |r| 1000.0 / r);
    let mut groups: Vec<((&str, ProfileSide), Vec<&Stack>)> = Vec::new();
    let mut at: HashMap<(&str, ProfileSide), usize> = HashMap::new();
    for s in &profile.stacks {
        let key = (s.thread.as_str(), s.state.side());
        let n = *at.entry(key).or_insert_with(|| {
            groups.push((key, Vec::new()));
            groups.len() - 1
        });
        groups[n].1.push(s);
    }
    let threads: Vec<Value> = groups
        .iter()
        .enumerate()
        .map(|(n, ((t, side), s))| thread(profile, n, t, *side, s))
        .collect();
    json!({
        "meta": {
            "interval": interval,
            "startTime": 0,
            "processType": 0,
            "product": name,
            "stackwalk": 1,
            "version": 29,
            "preprocessedProfileVersion": 47,
            "categories": [
                {"name": "User", "color": "yellow", "subcategories": ["Other"]},
                {"name": "Kernel", "color": "orange", "subcategories": ["Other"]},
                {"name": "Off CPU", "color": "blue", "subcategories": ["Other"]},
            ],
            "markerSchema": [],
            "sampleUnits": {"time": "ms", "eventDelay": "ms", "threadCPUDelta": "ns"},
            "symbolicated": true,
        },
        "libs": [],
        "pages": [],
        "threads": threads,
    })
}

fn thread(
    profile: &Profile,
    number: usize,
    name: &str,
    side: ProfileSide,
    stacks: &[&Stack],
) -> Value {
    let mut strings = Interner::<String>::default();
    let mut functions: HashMap<u32, usize> = HashMap::new();
    let (mut func_name, mut category) = (Vec::new(), Vec::new());
    let (mut prefix, mut frame): (Vec<Option<usize>>, Vec<usize>) = (Vec::new(), Vec::new());
    let mut paths: HashMap<(Option<usize>, usize), usize> = HashMap::new();
    let (mut samples, mut weights) = (Vec::new(), Vec::new());
    for s in stacks {
        let mut at: Option<usize> = None;
        for f in s.frames.iter().filter(|f| (**f as usize) < profile.frames.len()) {
            let function = *functions.entry(*f).or_insert_with(|| {
                let frame = &profile.frames[*f as usize];
                func_name.push(strings.number(frame.label().as_str()));
                category.push(match (side, frame.kind) {
                    (ProfileSide::OffCpu, _) => 2,
                    (_, FrameKind::Kernel) => 1,
                    _ => 0,
                });
                func_name.len() - 1
            });
            at = Some(*paths.entry((at, function)).or_insert_with(|| {
                prefix.push(at);
                frame.push(function);
                prefix.len() - 1
            }));
        }
        samples.push(at);
        weights.push(if profile.unit == "ns" { s.ns as f64 / 1e6 } else { s.ns as f64 });
    }
    let (f, n, p) = (func_name.len(), samples.len(), prefix.len());
    let stack_category: Vec<usize> = frame.iter().map(|x| category[*x]).collect();
    let shown =
        if side == ProfileSide::OffCpu { format!("{name} (off CPU)") } else { name.to_owned() };
    json!({
        "processType": "default",
        "processStartupTime": 0,
        "processShutdownTime": null,
        "registerTime": 0,
        "unregisterTime": null,
        "pausedRanges": [],
        "name": shown,
        "isMainThread": number == 0,
        "pid": "0",
        "tid": number,
        "samples": {
            "weightType": if profile.unit == "ns" { "tracing-ms" } else { "samples" },
            "weight": weights,
            "stack": samples,
            "time": (0..n).collect::<Vec<_>>(),
            "length": n,
        },
        "markers": {"data": [], "name": [], "startTime": [], "endTime": [],
            "phase": [], "category": [], "length": 0},
        "stackTable": {"frame": frame, "prefix": prefix,
            "category": stack_category, "subcategory": vec![0; p], "length": p},
        "frameTable": {
            "address": vec![-1; f], "inlineDepth": vec![0; f], "category": category,
            "subcategory": vec![0; f],
            "func": (0..f).collect::<Vec<_>>(), "nativeSymbol": vec![Value::Null; f],
            "innerWindowID": vec![Value::Null; f],
            "implementation": vec![Value::Null; f], "line": vec![Value::Null; f],
            "column": vec![Value::Null; f], "length": f,
        },
        "funcTable": {
            "isJS": vec![false; f], "relevantForJS": vec![false; f], "name": func_name,
            "resource": vec![-1; f],
            "fileName": vec![Value::Null; f], "lineNumber": vec![Value::Null; f],
            "columnNumber": vec![Value::Null; f], "length": f,
        },
        "resourceTable": {"lib": [], "name": [], "host": [], "type": [], "length": 0},
        "nativeSymbols": {"libIndex": [], "address": [], "name": [],
            "functionSize": [], "length": 0},
        "stringArray": strings.all,
    })
}

#[cfg(test)]
mod tests {
    use crate::profile::{firefox, read, speedscope};

    #[test]
    fn tables_are_as_long_as_they_say_and_weights_add_up() {
        let p = read(b"main;f;g_[k] 70\nmain;[I/O];h 30\nmain;f 5\n", "x").unwrap();
        let file = firefox(&p, "x");
        let threads = file["threads"].as_array().unwrap();
        assert_eq!(threads.len(), 2);
        for t in threads {
            for table in ["samples", "stackTable", "frameTable", "funcTable"] {
                let length = t[table]["length"].as_u64().unwrap() as usize;
                for (name, column) in t[table].as_object().unwrap() {
                    if let Some(column) = column.as_array() {
                        assert_eq!(column.len(), length, "{table}.{name}");
                    }
                }
            }
        }
        let all: f64 = threads
            .iter()
            .flat_map(|t| t["samples"]["weight"].as_array().unwrap())
            .filter_map(serde_json::Value::as_f64)
            .sum();
        assert_eq!(all, 105.0);
        let file = speedscope(&p, "x");
        assert_eq!(file["profiles"][0]["endValue"], 75);
        assert_eq!(file["profiles"][1]["endValue"], 30);
    }
}
