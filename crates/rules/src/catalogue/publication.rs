//! F57 to F60: sources, required disclosures, what is shown, and whether it can be repeated.

use super::Evidence;
use super::check::{
    Check, Evaluation, I, N, NI, NW, Section, at, found_or_missing, grave, missing, need, plain,
};
use super::environment::shortened;

pub(super) const CHECKS: &[Check] = &[
    Check {
        id: "F57",
        name: "source-and-date",
        section: Section::Claims,
        severity: I,
        escalation: "a note when a newer result is known",
        needs: "address, kept copy, tester and retrieval date of each quoted result",
        fires: "a quoted result is not public, its tester cannot be identified, or it has no retrieval date",
        why: "what cannot be looked up cannot be checked, and pages change",
        remedy: "give the address, keep a copy with its hash, name the tester and the day",
        source: "SPEC fair use 2023; MLPerf messaging guidelines",
        evaluate: sources,
    },
    Check {
        id: "F58",
        name: "required-disclosure",
        section: Section::Claims,
        severity: NI,
        escalation: "",
        needs: "the benchmark's rule pack, and what stands beside the number",
        fires: "a field that the benchmark's rules want is missing",
        why: "the body that owns the metric may forbid the use without it",
        remedy: "print the fields beside the number",
        source: "SPEC HPG, SPEC 2023 and MLPerf fair-use rules",
        evaluate: disclosure,
    },
    Check {
        id: "F59",
        name: "selective-report",
        section: Section::Claims,
        severity: NW,
        escalation: "invalid when what is left out reverses the headline",
        needs: "registered metrics, workloads and treatments, and those that are shown",
        fires: "a registered item or a measured loss is not shown",
        why: "the part that hurts is the part left out",
        remedy: "show everything that was registered, losses too",
        source: "van der Kouwe et al. 2018; Heiser A1",
        evaluate: selective,
    },
    Check {
        id: "F60",
        name: "repeatable",
        section: Section::Claims,
        severity: NW,
        escalation: "invalid when a rerun's interval excludes the published value",
        needs: "raw data, experiment or script, versions, whether anything was changed, a rerun",
        fires: "something that a rerun needs is missing, or what ran had unnamed changes",
        why: "a number that nobody can get again is an anecdote",
        remedy: "publish with the whole run (`assay publish`) and name versions",
        source: "MLPerf power and submission rules; SPEC on reproducibility",
        evaluate: repeatable,
    },
];

fn sources(e: &Evidence) -> Evaluation {
    let mut found = Vec::new();
    let mut lacking = Vec::new();
    for q in e.quotes.need("where the quoted results come from")? {
        let absent: Vec<&str> = [
            ("an address", q.url.is_some()),
            ("a kept copy", q.archived_sha256.is_some()),
            ("a tester", q.tester.is_some()),
            ("a retrieval date", q.retrieved.is_some()),
        ]
        .into_iter()
        .filter_map(|(what, there)| (!there).then_some(what))
        .collect();
        if !absent.is_empty() {
            found.push(plain(format!("{} lacks {}", q.what, absent.join(", "))));
        }
        match q.public {
            Some(false) => found.push(plain(format!("the source of {} is not public", q.what))),
            Some(true) => {}
            None => lacking.push(format!("whether the source of {} is public", q.what)),
        }
        if q.newer_known == Some(true) {
            found.push(at(N, format!("a newer result than {} is known", q.what)));
        }
    }
    found_or_missing(found, &lacking)
}

fn disclosure(e: &Evidence) -> Evaluation {
    let mut found = Vec::new();
    for d in e.disclosures.need("which benchmarks are named")? {
        if d.required.is_empty() {
            return missing(format!("the rule pack of {}", d.benchmark));
        }
        let absent: Vec<&str> =
            d.required.iter().filter(|r| !d.present.contains(r)).map(String::as_str).collect();
        if !absent.is_empty() {
            found.push(plain(format!(
                "{} requires next to the number: {}",
                d.benchmark,
                absent.join(", ")
            )));
        }
    }
    Ok(found)
}

fn selective(e: &Evidence) -> Evaluation {
    let r = need(e.registered.as_ref(), "what was registered before the run")?;
    let absent: Vec<&str> =
        r.items.iter().filter(|i| !r.shown.contains(i)).map(String::as_str).collect();
    if absent.is_empty() {
        return Ok(Vec::new());
    }
    let text = format!("measured or registered, but not shown: {}", shortened(&absent));
    Ok(vec![match r.reverses_headline {
        Some(true) => grave(format!("{text}; it reverses the headline")),
        _ => plain(text),
    }])
}

fn repeatable(e: &Evidence) -> Evaluation {
    let r = need(e.repeat.as_ref(), "what a rerun needs")?;
    let mut found = Vec::new();
    let mut lacking = Vec::new();
    if let Some((published, interval)) = r.rerun
        && !interval.contains(published)
    {
        found.push(grave(format!(
            "a rerun gave {} to {}, published is {published}",
            interval.low, interval.high
        )));
    }
    for (what, given) in [("the raw data", r.raw_data), ("the scripts", r.scripts)] {
        match given {
            Some(false) => found.push(plain(format!("{what} are not given"))),
            Some(true) => {}
            None => lacking.push(format!("whether {what} are given")),
        }
    }
    match r.dirty {
        Some(true) => found.push(plain("what ran had changes that no version names")),
        Some(false) => {}
        None => lacking.push("whether what ran had unnamed changes".to_owned()),
    }
    if r.version.is_none() {
        lacking.push("the versions of what ran".to_owned());
    }
    found_or_missing(found, &lacking)
}
