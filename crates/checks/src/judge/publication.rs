//! F57 to F60: sources, required disclosures, what is shown, and whether it can be repeated.

use super::environment::shortened;
use crate::Evidence;
use crate::check::{Evaluation, at, found_or_missing, grave, missing, need, plain};
use crate::rows::N;

pub(crate) fn sources(e: &Evidence) -> Evaluation {
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

pub(crate) fn disclosure(e: &Evidence) -> Evaluation {
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

pub(crate) fn selective(e: &Evidence) -> Evaluation {
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

pub(crate) fn repeatable(e: &Evidence) -> Evaluation {
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
