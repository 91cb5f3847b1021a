//! Judges names: a processor that is called something else in one place than in all others.

use std::collections::BTreeMap;

use crate::bind::context::Context;
use crate::claim::{Claim, ClaimKind, ClaimVerdict};
use crate::detect::mention;
use crate::detect::role::{Role, role};
use crate::read::source::Span;
use crate::read::table::Shape;
use crate::read::token::Token;

/// Families of processors.
const FAMILIES: [&str; 8] =
    ["ultrasparc", "sparc64", "xeon", "opteron", "itanium", "itanium2", "epyc", "ryzen"];

/// Words that make another processor of a designation.
const SUFFIXES: [&str; 4] = ["plus", "ex", "ep", "+"];

/// A processor as it is named: family and what follows it, in lower case.
type Name = Vec<String>;

struct Seen {
    name: Name,
    span: Span,
}

/// Processors that are named otherwise than everywhere else for the same system.
pub(crate) fn judge(context: &Context<'_>) -> Vec<Claim> {
    let mut by_system: BTreeMap<String, Vec<Seen>> = BTreeMap::new();
    for tokens in &context.reading.tokens {
        if tokens.len() > crate::detect::MAX_TOKENS {
            continue;
        }
        let systems: Vec<(usize, String)> = tokens
            .iter()
            .enumerate()
            .map(|(i, t)| (i, mention::form(&t.lower)))
            .filter(|(_, f)| context.quantities.systems.contains(f))
            .collect();
        for (at, seen) in names(context, tokens) {
            // The processor belongs to the last system before it, if only words that join the two
            // stand between.
            let before = systems.iter().rev().find(|(i, _)| *i < at && at - i < 14);
            if let Some((from, system)) = before
                && tokens[from + 1..at].iter().all(joins)
            {
                by_system.entry(system.clone()).or_default().push(seen);
            }
        }
    }
    let mut claims = Vec::new();
    for (system, mut seen) in by_system {
        seen.truncate(300);
        let table = in_tables(context, &system);
        for odd in &seen {
            let others = seen.iter().filter(|s| s.name == table_name(&table, odd)).count();
            let own = seen.iter().filter(|s| s.name == odd.name).count();
            let Some(usual) = table.first() else { continue };
            if table.iter().any(|t| t != usual)
                || !contradicts(usual, &odd.name)
                || others < 2
                || own > 1
            {
                continue;
            }
            let mut claim = context.claim_at(ClaimKind::Naming, odd.span, "");
            claim.verdict = ClaimVerdict::Wrong;
            claim.reason = format!(
                "{} here; {} in the table and in {others} other places about {}",
                odd.name.join(" "),
                usual.join(" "),
                system.to_uppercase()
            );
            claims.push(claim);
        }
    }
    claims
}

/// Whether a token may stand between a system and its processor.
fn joins(token: &Token) -> bool {
    token.number().is_some()
        || token.is_mark('(')
        || matches!(
            token.lower.as_str(),
            "server"
                | "system"
                | "blade"
                | "module"
                | "with"
                | "equipped"
                | "using"
                | "running"
                | "a"
                | "an"
                | "the"
                | "its"
                | "chip"
                | "chips"
                | "processor"
                | "single"
                | "has"
                | "that"
                | "which"
                | "used"
                | "uses"
                | "powered"
                | "by"
                | "x"
                | "ghz"
                | "mhz"
                | "quad"
                | "core"
                | "sun"
                | "intel"
                | "amd"
                | "oracle"
                | "fujitsu"
        )
}

fn table_name(table: &[Name], odd: &Seen) -> Name {
    table.first().cloned().unwrap_or_else(|| odd.name.clone())
}

/// Whether two names of one family are of different processors: other designations, or a suffix.
fn contradicts(usual: &[String], odd: &[String]) -> bool {
    let (Some(a), Some(b)) = (usual.get(1), odd.get(1)) else { return false };
    if usual[0] != odd[0] {
        return false;
    }
    let digits = |s: &str| s.bytes().any(|b| b.is_ascii_digit());
    if a != b {
        return digits(a) && digits(b);
    }
    usual.get(2) != odd.get(2)
}

/// The processors that a sentence names, with the place of the family's name.
fn names(context: &Context<'_>, tokens: &[Token]) -> Vec<(usize, Seen)> {
    let mut found = Vec::new();
    for (i, token) in tokens.iter().enumerate() {
        if !FAMILIES.contains(&token.lower.as_str()) {
            continue;
        }
        let mut name = vec![token.lower.clone()];
        let mut end = i;
        for (j, next) in tokens.iter().enumerate().skip(i + 1).take(2) {
            let designation = next.lower.bytes().any(|b| b.is_ascii_digit())
                && name.len() == 1
                && next.span.end - next.span.start <= 8;
            let suffix = SUFFIXES.contains(&next.lower.as_str()) && name.len() == 2;
            if !designation && !suffix {
                break;
            }
            name.push(next.lower.clone());
            end = j;
        }
        if name.len() > 1 {
            let span = Span::new(
                tokens[i.saturating_sub(2)].span.start,
                tokens[(end + 1).min(tokens.len() - 1)].span.end,
            );
            debug_assert!(span.end <= context.document.text.len());
            found.push((i, Seen { name, span }));
        }
    }
    found
}

/// What tables say the system's processor is.
fn in_tables(context: &Context<'_>, system: &str) -> Vec<Name> {
    let mut found = Vec::new();
    for table in context.document.tables.iter().filter(|t| t.shape == Shape::Grid) {
        for row in &table.rows {
            if !crate::bind::quantity::models(&row.label).contains(system) {
                continue;
            }
            for (column, cell) in row.cells.iter().enumerate().skip(1) {
                if role(table, column) != Role::Label {
                    continue;
                }
                let text = cell.text.to_lowercase();
                let words: Vec<String> = text.split_whitespace().map(str::to_owned).collect();
                if let Some(at) = words.iter().position(|w| FAMILIES.contains(&w.as_str())) {
                    found.push(words[at..].iter().take(3).cloned().collect());
                }
            }
        }
    }
    found
}
