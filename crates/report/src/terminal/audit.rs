//! The claims of a text with their verdicts.

use assay_chart::axes::text::shorten;
use assay_claims::{Audit, ClaimReading, ClaimVerdict, Comparison, JudgedClaim, Table};
use assay_model::nouns::count;

use super::Style;
use crate::document::{DocumentPart, Parts, Tone, terminal, text};

/// Largest number of columns of a table that are listed by name.
const LISTED: usize = 12;

/// Formats each claim with its place, verdict, quote and recomputed value, then the number of
/// claims with each verdict. `all` also lists the rows of columns that hold and the comparisons
/// that are not checked.
pub fn audit(name: &str, audit: &Audit, all: bool, style: Style) -> String {
    let mut parts = Parts::default();
    for claim in &audit.claims {
        write(&mut parts, name, claim, all, style);
    }
    let verdicts = ClaimVerdict::ALL.iter().rev().filter_map(|v| {
        let claims = audit.claims.iter().filter(|c| c.verdict == *v).count();
        (claims > 0).then(|| format!("{claims} {}", v.words()))
    });
    let verdicts: Vec<String> = verdicts.collect();
    let total = count(audit.claims.len(), "claim");
    let verdicts =
        if verdicts.is_empty() { String::new() } else { format!(": {}", verdicts.join(", ")) };
    parts.titled(format!("{name}: {total}{verdicts}"));
    let left = audit.not_checked.len();
    if left > 0 && all {
        comparisons(&mut parts, name, "Not checked:", &audit.not_checked, style);
    } else if left > 0 {
        parts.note(format!("not checked: {} (-v lists them)", count(left, "comparison")));
    }
    terminal::parts(&parts, style)
}

/// Formats the tables and comparisons of a text that nothing is bound to yet.
pub fn auditable(name: &str, tables: &[Table], found: &[Comparison], style: Style) -> String {
    let mut parts = Parts::default();
    for table in tables {
        let title = table.title.as_ref().map_or(String::new(), |t| format!(": {t}"));
        let title = shorten(&title, style.columns() / 2, style.ellipsis());
        parts.toned(Tone::Plain, format!("{name}:{}: {}{title}", table.line, table.name));
        let titles: Vec<&str> =
            table.columns.iter().take(LISTED).map(|c| c.title.as_str()).collect();
        let more = if table.columns.len() > LISTED { ", ..." } else { "" };
        let rows = count(table.rows.len(), "row");
        let line = format!("{rows}; columns: {}{more}", titles.join(", "));
        parts.push(DocumentPart::List(Tone::Soft, vec![text(line)]));
    }
    comparisons(&mut parts, name, "Comparisons, none checked:", found, style);
    let tables = count(tables.len(), "table");
    parts.titled(format!("{name}: {tables}, {}", count(found.len(), "comparison")));
    parts.note(format!("`assay audit {name} --draft claims.toml` writes a claims file to fill in"));
    terminal::parts(&parts, style)
}

fn comparisons(parts: &mut Parts, name: &str, title: &str, found: &[Comparison], style: Style) {
    if found.is_empty() {
        return;
    }
    parts.titled(title);
    for comparison in found {
        let Comparison { line, quote, table } = comparison;
        let quote = shorten(quote, 2 * style.columns() - 8, style.ellipsis());
        let words = match table {
            Some(table) => format!("{table}, column `{quote}`"),
            None => format!("\"{quote}\""),
        };
        parts.toned(Tone::Plain, format!("{name}:{line}"));
        parts.push(DocumentPart::List(Tone::Soft, vec![text(words)]));
    }
}

fn write(parts: &mut Parts, name: &str, claim: &JudgedClaim, all: bool, style: Style) {
    let id = claim.id.as_ref().map_or(String::new(), |id| format!(" ({id})"));
    let head = format!("{name}:{}: {}{id}", claim.line, claim.verdict.words());
    parts.toned(tone(claim.verdict), head);
    let quote = shorten(&claim.quote, 2 * style.columns() - 8, style.ellipsis());
    let mut lines = vec![text(format!("\"{quote}\""))];
    let says = claim.says.as_deref().unwrap_or("no number");
    for reading in &claim.readings {
        lines.push(text(recomputed(says, reading, claim.readings.len() > 1)));
        lines.extend(inputs(reading));
    }
    let shown = |v: ClaimVerdict| all || v != ClaimVerdict::Holds;
    for row in claim.rows.iter().filter(|r| shown(r.verdict)) {
        for reading in &row.readings {
            let words = recomputed(&row.says, reading, true);
            lines.push(text(format!("line {}, {}: {words}", row.line, row.row)));
        }
    }
    if !claim.rows.is_empty() {
        let holds = claim.rows.iter().filter(|r| r.verdict == ClaimVerdict::Holds).count();
        lines.push(text(format!("{holds} of {} hold", count(claim.rows.len(), "row"))));
    }
    lines.extend(claim.note.as_ref().map(|note| text(format!("note: {note}"))));
    parts.push(DocumentPart::List(Tone::Soft, lines));
}

/// Formats the claimed and the recomputed value of a reading.
fn recomputed(says: &str, reading: &ClaimReading, verdict: bool) -> String {
    let ClaimReading { computed, formula, .. } = reading;
    let formula = if formula.is_empty() { String::new() } else { format!(" = {formula}") };
    let words = match reading.verdict {
        ClaimVerdict::NoData => format!("says {says}; missing: {computed}"),
        _ => format!("says {says}; recomputed: {computed}{formula}"),
    };
    if verdict { format!("{}: {words}", reading.verdict.words()) } else { words }
}

/// Returns the values of a reading with their sources, if they are at most four; only the JSON has
/// more.
fn inputs(reading: &ClaimReading) -> Vec<crate::document::Text> {
    let few = reading.inputs.iter().filter(|_| reading.inputs.len() <= 4);
    few.map(|i| {
        let plain = matches!(i.unit.as_str(), "" | "1");
        let unit = if plain { String::new() } else { format!(" {}", i.unit) };
        text(format!("{}: {}{unit} ({})", i.label, i.value, i.source))
    })
    .collect()
}

fn tone(verdict: ClaimVerdict) -> Tone {
    match verdict {
        ClaimVerdict::Holds => Tone::Good,
        ClaimVerdict::Wrong => Tone::Bad,
        ClaimVerdict::Ambiguous | ClaimVerdict::OffByRounding => Tone::Warn,
        ClaimVerdict::NoData => Tone::Plain,
    }
}
