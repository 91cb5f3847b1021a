//! `assay audit`.

pub mod args;

use std::fs::File;
use std::io::{Read, Write};
use std::path::Path;

use anyhow::Result;
use assay_checks::{AuditedClaim, Evidence, RecomputedClaim, catalogue};
use assay_claims::{
    Audit, ClaimVerdict, ClaimsError, ClaimsFile, Document, ResultName, Table, comparisons, decode,
};
use assay_publish::post::{Bindings, Library};
use assay_report::terminal;
use serde_json::json;

use crate::arguments::Global;
use crate::exit::{Exit, Usage, mistake, usage};
use crate::screen::{answer_styled, print, say, style};

/// Largest text that is read, in bytes.
const MAX_SIZE: u64 = 16 << 20;

/// Judges the bound claims of a text, drafts their bindings, or lists the claims that could be
/// bound. The exit code is 4 if a claim is wrong.
pub fn audit(global: &Global, asked: &args::Audit) -> Result<Exit> {
    let name = asked.text.display().to_string();
    let document = Document::read(&name, &decoded(&asked.text)?).map_err(mistake)?;
    if let Some(path) = &asked.draft {
        return draft(asked, &document, path);
    }
    let Some(claims) = &asked.claims else {
        let tables = document.tables(&[]).map_err(|(_, e)| Usage(e))?;
        let found = comparisons(&document, &tables);
        let list: Vec<_> = tables.iter().map(listed).collect();
        let json = json!({ "text": name, "tables": list, "not_checked": found });
        answer_styled(global.json, &json, || terminal::auditable(&name, &tables, &found, style()))?;
        return Ok(Exit::Fine);
    };
    let file = claims.display().to_string();
    let bindings = ClaimsFile::read(&file, &decoded(claims)?).map_err(mistake)?;
    bindings.check_text(&name).map_err(mistake)?;
    let tables = document
        .tables(&bindings.declarations())
        .map_err(|(i, message)| mistake(bindings.table_error(i, message)))?;
    let library = library(asked)?;
    let evaluator = Bindings::new(&library, &tables, bindings.as_of.as_deref());
    let audit =
        assay_claims::audit(&document, &tables, &bindings, &evaluator).map_err(|errors| {
            let lines: Vec<String> = errors.iter().map(ClaimsError::to_string).collect();
            Usage(lines.join("\n"))
        })?;
    let json = json!({
        "text": name,
        "as_of": bindings.as_of,
        "claims": audit.claims,
        "not_checked": audit.not_checked,
        "findings": findings(&audit),
    });
    answer_styled(global.json, &json, || terminal::audit(&name, &audit, asked.verbose, style()))?;
    let any_wrong = audit.claims.iter().any(|c| c.verdict == ClaimVerdict::Wrong);
    Ok(if any_wrong { Exit::Rule } else { Exit::Fine })
}

/// Writes a draft of a claims file, or prints it if the path is `-`.
fn draft(asked: &args::Audit, document: &Document, path: &Path) -> Result<Exit> {
    let tables = document.tables(&[]).map_err(|(_, e)| Usage(e))?;
    let library = library(asked)?;
    let results = library.collection.results().map_err(mistake)?;
    let results: Vec<ResultName> = results
        .into_iter()
        .map(|r| ResultName { id: r.id, system: r.system, metric: r.metric })
        .collect();
    let evaluator = Bindings::new(&library, &tables, None);
    let text = assay_claims::draft(document, &tables, &results, &evaluator);
    if path == Path::new("-") {
        return print(&text).map(|()| Exit::Fine);
    }
    let mut options = File::options();
    options.write(true).create(true).truncate(true).create_new(!asked.force);
    let mut file = options.open(path).map_err(|e| match e.kind() {
        std::io::ErrorKind::AlreadyExists => Usage(format!(
            "{} exists: --force replaces it, `--draft -` prints the draft",
            path.display()
        )),
        _ => Usage(format!("cannot write {}: {e}", path.display())),
    })?;
    file.write_all(text.as_bytes())?;
    let count = |line: &str| text.lines().filter(|l| *l == line).count();
    let (all, blank) = (count("[[claim]]"), count("is = ''"));
    say(&format!(
        "{}: {all} comparisons, {} with a proposed binding, {blank} to fill in",
        path.display(),
        all - blank
    ));
    Ok(Exit::Fine)
}

/// Returns the quoted results: the built-in ones, and those of the folders and files in the
/// options.
fn library(asked: &args::Audit) -> Result<Library> {
    let mut collection = crate::commands::landscape::collection(&asked.published)?;
    for file in &asked.results {
        collection.add_file(file).map_err(mistake)?;
    }
    Ok(Library::new(collection).map_err(mistake)?)
}

/// Describes a table for `--json`.
fn listed(table: &Table) -> serde_json::Value {
    let columns: Vec<&str> = table.columns.iter().map(|c| c.title.as_str()).collect();
    json!({
        "table": table.name,
        "line": table.line,
        "title": table.title,
        "columns": columns,
        "rows": table.rows.len(),
    })
}

/// Returns the findings of an audit, in the form that `publish` also uses.
fn findings(audit: &Audit) -> Vec<assay_model::Finding> {
    let claims = audit.claims.iter().filter_map(|claim| {
        let result = match claim.verdict {
            ClaimVerdict::Holds => RecomputedClaim::Holds,
            ClaimVerdict::OffByRounding => RecomputedClaim::OffByRounding,
            ClaimVerdict::NoData => RecomputedClaim::NoInputs,
            ClaimVerdict::Ambiguous => RecomputedClaim::Ambiguous,
            ClaimVerdict::Wrong => RecomputedClaim::Differs,
        };
        let computed: Vec<&str> = claim.readings.iter().map(|r| r.computed.as_str()).collect();
        let claim = AuditedClaim {
            words: format!("line {}: \"{}\"", claim.line, claim.quote),
            result,
            reason: format!("recomputed: {}", computed.join("; ")),
        };
        let evidence = Evidence { audited: Some(claim), ..Evidence::default() };
        catalogue().iter().flat_map(|check| check.findings(&evidence)).next()
    });
    claims.collect()
}

/// Reads the text of a file, or standard input for `-`.
fn decoded(path: &Path) -> Result<String> {
    let name = path.display().to_string();
    let unreadable = |e: std::io::Error| Usage(format!("cannot read {name}: {e}"));
    let own = if path == Path::new("-") { Path::new("/dev/stdin") } else { path };
    let mut bytes = Vec::new();
    let file = File::open(own).map_err(unreadable)?;
    file.take(MAX_SIZE + 1).read_to_end(&mut bytes).map_err(unreadable)?;
    if bytes.len() as u64 > MAX_SIZE {
        return usage(format!("{name} is larger than 16 MiB: audit a part of it"));
    }
    Ok(decode(&name, &bytes).map_err(mistake)?)
}
