//! F57 to F60: sources, required disclosures, selective reporting and repeatability.

use super::environment::shortened;
use crate::check::{Evaluation, at, found_or_missing, grave, missing, need, plain};
use crate::rows::{N, W};
use crate::{Evidence, QuoteEvidence};

pub(crate) fn sources(e: &Evidence) -> Evaluation {
    let quotes = e.quotes.need("where the quoted results come from")?;
    let mut found = Vec::new();
    let names = |of: fn(&QuoteEvidence) -> bool| {
        quotes.iter().filter(|q| of(q)).map(|q| q.what.as_str()).collect::<Vec<_>>()
    };
    let unnamed = names(|q| q.document.is_none());
    if !unnamed.is_empty() {
        let text = format!("no document is named that prints {}", shortened(&unnamed));
        found.push(plain(text).remedy("name the document in `source`"));
    }
    let undated = names(|q| q.dated.is_none());
    if !undated.is_empty() {
        let text = format!("no date is recorded for: {}", shortened(&undated));
        let remedy = "give the rows their dates, or `retrieved` in the front matter";
        found.push(at(W, text).remedy(remedy));
    }
    for q in quotes {
        if let (Some(day), Some(dated)) = (&q.later_than, &q.dated) {
            let text = format!("{} is of {dated}, later than the post's {day}", q.what);
            found.push(at(W, text).remedy("give the post the later date"));
        }
        if let Some(newer) = &q.newer {
            let text = format!("a newer printing of {} is known: {newer}", q.what);
            found.push(at(N, text).remedy("quote the newer one, or say why not"));
        }
    }
    Ok(found)
}

pub(crate) fn disclosure(e: &Evidence) -> Evaluation {
    let mut found = Vec::new();
    for d in e.disclosures.need("which benchmarks are named")? {
        if d.required.is_empty() {
            return missing(format!("the rule pack {}", d.rules));
        }
        let open: Vec<String> = [(&d.broken, "not kept"), (&d.unknown, "cannot be checked")]
            .into_iter()
            .flat_map(|(ids, how)| ids.iter().map(move |id| format!("{id} {how}")))
            .collect();
        if open.is_empty() {
            continue;
        }
        let text = format!("of the {} rules: {}", d.rules, open.join(", "));
        let of = if d.second_hand { at(W, text) } else { plain(text) };
        found.push(of.remedy("the table in the disclosure lists what each of them requires"));
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
    let text = match &r.headline {
        Some(both) => format!("{both}; ahead there, but not shown: {}", shortened(&absent)),
        None => format!("measured or registered, but not shown: {}", shortened(&absent)),
    };
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
