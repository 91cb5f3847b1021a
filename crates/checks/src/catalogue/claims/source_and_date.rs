//! F57: quoted results name their document and date.

use crate::prelude::*;

pub const SOURCE_AND_DATE: CheckRow = CheckRow {
    id: "F57",
    name: "source-and-date",
    section: CheckSection::Claims,
    severity: INVALID,
    escalation: "a warning for a result without a date or with a later date than the page; a note \
        when a newer result is known",
    needs: "the document of each quoted result, its date, the date of the page",
    fires: "a quoted result names no document, has no date, or has a later date than the page",
    why: "a result without a source cannot be checked, and pages change",
    remedy: "name the document and the date",
    source: "SPEC fair use 2023; MLPerf messaging guidelines",
    evidence: "published results and their `sources.csv`; front matter of a post",
};

pub const CHECK: Check = Check::new(&SOURCE_AND_DATE, evaluate)
    .always_checked("a missing document or date is a finding");

fn evaluate(e: &Evidence) -> Evaluation {
    let quotes = e.quotes.need("the sources of the quoted results")?;
    let mut found = Vec::new();
    let names = |of: fn(&QuoteEvidence) -> bool| {
        quotes.iter().filter(|q| of(q)).map(|q| q.what.as_str()).collect::<Vec<_>>()
    };
    let unnamed = names(|q| q.document.is_none());
    if !unnamed.is_empty() {
        let text = format!("no document is named that prints {}", shortened_list(&unnamed));
        found.push(finding(text).remedy("name the document in `source`"));
    }
    let undated = names(|q| q.dated.is_none());
    if !undated.is_empty() {
        let text = format!("no date is recorded for: {}", shortened_list(&undated));
        let remedy = "give the rows their dates, or `retrieved` in the front matter";
        found.push(warning(text).remedy(remedy));
    }
    for q in quotes {
        if let (Some(day), Some(dated)) = (&q.later_than, &q.dated) {
            let text = format!("{} is of {dated}, later than the post's {day}", q.what);
            found.push(warning(text).remedy("give the post the later date"));
        }
        if let Some(newer) = &q.newer {
            let text = format!("a newer printing of {} is known: {newer}", q.what);
            found.push(note(text).remedy("quote the newer one, or say why not"));
        }
    }
    Ok(found)
}
