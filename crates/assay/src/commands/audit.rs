//! `assay audit`.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use anyhow::Result;
use assay_audit::{self as audited, Claim, ClaimVerdict, Source};
use assay_model::units;
use assay_rules::quoted::{self, QuotedResult};
use serde_json::json;

use crate::cli::{Audit, Cli};
use crate::exit::{Exit, Usage};
use crate::screen::{print_json, print_styled, style};

/// Audits each file; a claim that is wrong makes the exit code 4.
pub fn audit(cli: &Cli, audit: &Audit) -> Result<Exit> {
    let only = verdicts(&audit.only)?;
    let limit = units::parse_bytes(&audit.max_size)
        .map_err(|e| Usage(format!("--max-size {}: {e}", audit.max_size)))?;
    let mut results: Vec<QuotedResult> = Vec::new();
    if audit.results.is_empty() {
        for (name, text) in quoted::FILES {
            results.extend(quoted::read(name, text.as_bytes())?);
        }
    }
    for path in &audit.results {
        let file = File::open(path).map_err(|e| cannot_read(path, &e))?;
        results
            .extend(quoted::read_unranked(&name_of(path), file).map_err(|e| Usage(e.to_string()))?);
    }
    let mut files = Vec::new();
    let mut wrong = false;
    for path in &audit.files {
        let name = name_of(path);
        let source = Source::read(&name, &bytes(path, limit)?, usize::try_from(limit)?)
            .map_err(|e| Usage(e.to_string()))?;
        let found = audited::audit(&source, &results);
        wrong |= found.count(ClaimVerdict::Wrong) > 0;
        if cli.json {
            let claims: Vec<&Claim> = found
                .claims
                .iter()
                .filter(|c| only.is_empty() || only.contains(&c.verdict))
                .collect();
            files.push(json!({ "file": name, "claims": claims, "findings": found.findings() }));
        } else {
            print_styled(&assay_report::terminal::audit(&name, &found, &only, style()))?;
        }
    }
    if cli.json {
        print_json(&json!({ "files": files }))?;
    }
    Ok(if wrong { Exit::Rule } else { Exit::Fine })
}

fn name_of(path: &Path) -> String {
    path.display().to_string()
}

fn cannot_read(path: &Path, error: &std::io::Error) -> Usage {
    Usage(format!("{}: cannot be read: {error}", path.display()))
}

/// A file's bytes, never more than one beyond the limit.
/// What a file holds; `-` is standard input.
fn bytes(path: &Path, limit: u64) -> Result<Vec<u8>> {
    let path = if path == Path::new("-") { Path::new("/dev/stdin") } else { path };
    let file = File::open(path).map_err(|e| cannot_read(path, &e))?;
    let size = file.metadata().map_err(|e| cannot_read(path, &e))?.len();
    if size > limit {
        let name = name_of(path);
        return Err(Usage(audited::AuditError::TooLarge { name, size, limit }.to_string()).into());
    }
    let mut bytes = Vec::new();
    file.take(limit + 1).read_to_end(&mut bytes).map_err(|e| cannot_read(path, &e))?;
    Ok(bytes)
}

fn verdicts(words: &[String]) -> Result<Vec<ClaimVerdict>> {
    words
        .iter()
        .map(|word| {
            ClaimVerdict::ALL.into_iter().find(|v| v.word() == word.trim()).ok_or_else(|| {
                let known = ClaimVerdict::ALL.map(ClaimVerdict::word).join(", ");
                Usage(format!("--only {word}: no such verdict; there are {known}")).into()
            })
        })
        .collect()
}
