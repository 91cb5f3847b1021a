//! Counts of gungraun (formerly iai-callgrind) and of iai, which run benchmarks under Valgrind:
//! their output, and gungraun's JSON. Counts of the run before, after a `|`, are left out.

use assay_model::Better::{Lower, Neither};
use regex_lite::{Captures, Regex};
use serde_json::{Deserializer, Value};

use crate::readers::prelude::*;

/// Label and new count of a line such as `  L1 Hits:   2359|2275   (+3.69230%)`.
const COUNT: &str = r"^  ([A-Z][^:]*):\s+(\S.*?)(\|\S+)?(?:\s+\(.*[)\]])?$";
/// First key of each JSON object.
const FIRST: &str = "\"baselines\"";

pub(super) fn detect(bytes: &[u8]) -> bool {
    let Ok(pattern) = Regex::new(COUNT) else { return false };
    let own = |line: &str| {
        let own = |c: &Captures<'_>| c.get(3).is_some() || &c[1] == "Estimated Cycles";
        pattern.captures(line).is_some_and(|c| own(&c) && count(&c[2]).is_ok_and(|n| n.is_some()))
    };
    let head = json::head(bytes);
    head.contains(FIRST) && head.contains("\"module_path\"") || head_has(bytes, own)
}

pub(super) fn read(bytes: &[u8]) -> Result<Vec<ForeignResult>, Flaw> {
    let text = json::text(bytes);
    let pattern = Regex::new(COUNT).map_err(|e| Flaw::whole(e.to_string()))?;
    let mut suite = SuiteReader::new("gungraun", "gungraun");
    let objects =
        text.match_indices(FIRST).filter_map(|(at, _)| text[..at].trim_end().strip_suffix('{'));
    for before in objects {
        read_json(&mut suite, &text[before.len()..], before.lines().count().max(1) as u64)?;
    }
    // A path may go on in several lines. The tool stands above its counts.
    let (mut name, mut tool) = (String::new(), String::new());
    for (at, line) in lines(&text) {
        if let Some(found) = pattern.captures(&line) {
            let count = count(&found[2]).map_err(|why| Flaw::line(at, why))?;
            if !name.is_empty() {
                suite.add(name.trim(), &[])?;
                name.clear();
            }
            let empty = suite.result().trials.is_empty();
            add(&mut suite, &tool, &found[1], count.filter(|_| !empty))?;
        } else if let Some(program) = line.strip_prefix("  ====") {
            program.trim_matches(['=', ' ']).clone_into(&mut tool);
        } else if line.is_empty() || line.starts_with([' ', '{']) {
            name.clear();
        } else {
            if line.contains("::") || !name.contains("::") {
                name.clear();
            }
            name.push_str(&line);
            name.push(' ');
        }
    }
    suite.finish("a benchmark has lines such as `  Instructions:   1734|N/A` below its name")
}

/// Reads a count; `None` for `N/A` and for the text of another line.
fn count(text: &str) -> Result<Option<f64>, String> {
    let found = number(text);
    let like = text.starts_with(|c: char| c.is_numeric() || "+-.\u{2212}".contains(c));
    if like && found.is_none() { Err(format!("`{text}` is not a count")) } else { Ok(found) }
}

/// Adds a count to the last benchmark. A second tool's count of the same label has its name.
fn add(suite: &mut SuiteReader, tool: &str, label: &str, count: Option<f64>) -> Result<(), Flaw> {
    let Some(count) = count else { return Ok(()) };
    let trial = suite.result().trials.len() - 1;
    let twice = suite.result().trials[trial].metrics.iter().any(|m| m.name == label);
    let name = if twice { format!("{tool} {label}") } else { label.to_owned() };
    // Hits only tell where the accesses went; of everything else less is better.
    let neutral = ["hits", "Hits", "Accesses"].iter().any(|end| label.ends_with(end));
    let better = if neutral { Neither } else { Lower };
    suite.also(trial, (&name, Some(count), "1", better))
}

/// Reads the JSON object at the start of the text.
fn read_json(suite: &mut SuiteReader, text: &str, line: u64) -> Result<(), Flaw> {
    let Some(Ok(object)) = Deserializer::from_str(text).into_iter::<Value>().next() else {
        suite.note(format!("the JSON in line {line} is cut off or malformed and was not read"));
        return Ok(());
    };
    let json = Json::root(&object);
    if !matches!(json.get("version").text_or_empty(), "6" | "7") {
        return Err(Flaw::line(line, "gungraun's JSON of versions 6 and 7 is read, not this one"));
    }
    let id = json.get("id").text()?.map_or_else(String::new, |id| format!(" {id}"));
    let details = [json.get("details"), json.get("description")];
    let details = details.iter().filter_map(|d| d.value().as_str()).map(|d| format!(":{d}"));
    suite.add(&format!("{}{id}{}", json.name("module_path")?, details.collect::<String>()), &[])?;
    for profile in json.get("profiles").items() {
        let tool = profile.get("tool").text_or_empty();
        // Version 6 has the counts below the tool, with `Right` for those of the run before.
        let old = profile.get("summaries").get("total").get("summary");
        let groups =
            old.fields().map(|f| f.1).chain([profile.get("data").get("total").get("metrics")]);
        let mut counts: Vec<_> = groups.flat_map(|g| g.fields().collect::<Vec<_>>()).collect();
        // The instructions decide, as in the text.
        counts.sort_by_key(|(label, _)| *label != "Ir");
        for (label, count) in counts {
            let (metrics, values) = (count.get("metrics"), count.get("values"));
            let new = metrics.get("Both").items().next().unwrap_or_else(|| metrics.get("Left"));
            let new = [new.get("Int"), new.get("Float"), values.get("new")];
            add(suite, tool, label, new.iter().find_map(|n| n.value().as_f64()))?;
        }
    }
    Ok(())
}
