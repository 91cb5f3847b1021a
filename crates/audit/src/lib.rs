//! Audits a text: finds what it claims, binds each claim to the results that it is about,
//! recomputes it under every reading that its words allow, and reports the verdict.
//!
//! [`audit`] is a pure function of the text and the quoted results. It never calls a claim wrong
//! unless it is certain which results are meant and every reading fails by more than rounding;
//! short of that a claim is ambiguous or unsupported, with the reason.
//!
//! Bytes become a [`Source`], that a document (blocks, sentences, tables), that tokens; claims are
//! found in sentences, bound to quantities, and judged, a file for each step and each kind.

mod bind;
mod claim;
mod detect;
mod evidence;
mod judge;
#[doc(hidden)] // for examples/weights.rs
pub mod learn;
mod read;
mod search;

pub use claim::{Claim, ClaimKind, ClaimVerdict, Input, Reading};
pub use read::source::{AuditError, Format, MAX_SIZE, Source, Span};

use assay_rules::quoted::QuotedResult;
use bind::context::Context;
use judge::alike;
use judge::average;
use judge::compare;
use judge::convert;
use judge::dated;
use judge::derived;
use judge::difference;
use judge::measure;
use judge::naming;
use judge::nearby;
use judge::noted;
use judge::omitted;
use judge::rank;
use judge::restate;
use judge::share;
use read::document;

/// A text's claims, in the order of the text.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct Audit {
    /// The claims.
    pub claims: Vec<Claim>,
}

impl Audit {
    /// How many claims have a verdict.
    pub fn count(&self, verdict: ClaimVerdict) -> usize {
        self.claims.iter().filter(|c| c.verdict == verdict).count()
    }

    /// What keeps the text from being published, and what is to be shown beside it.
    pub fn findings(&self) -> Vec<assay_model::Finding> {
        self.claims.iter().filter_map(Claim::finding).collect()
    }
}

/// Audits a text against the results that it prints itself and the quoted ones.
pub fn audit(source: &Source, quoted: &[QuotedResult]) -> Audit {
    let document = document::document(&source.text);
    let reading = detect::detect(&document);
    let context = context(source, &document, &reading, quoted);
    let mut claims = by_names(&context);
    search::add(&context, &mut claims);
    for grid in &context.grids {
        claims.extend(evidence::in_cells(&context, grid));
    }
    for table in &document.tables {
        claims.extend(derived::judge(&context, table));
        claims.extend(noted::judge(&context, table));
    }
    claims.extend(noted::consistency(&context));
    claims.extend(dated::judge(&context));
    claims.extend(naming::judge(&context));
    claims.extend(omitted::scopes(&context));
    let missing = omitted::disclosures(&context, &claims);
    claims.extend(missing);
    claims.sort_by_key(|c| (c.span.start, c.span.end, c.kind));
    claims.dedup_by(|b, a| {
        a.span == b.span && a.kind == b.kind && a.claimed == b.claimed && a.quote == b.quote
    });
    Audit { claims }
}

/// What claims are judged with: what was read of a text, with what its tables' rows and columns have in common.
fn context<'a>(
    source: &'a Source,
    document: &'a document::Document<'a>,
    reading: &'a detect::Reading,
    quoted: &'a [QuotedResult],
) -> Context<'a> {
    let mut context = Context::new(source, document, reading, quoted);
    let classes = evidence::classes(&context);
    for (grid, classes) in context.grids.iter_mut().zip(classes) {
        grid.classes = classes;
    }
    context
}

/// The claims of all sentences as the judges of names find them.
fn by_names(context: &Context<'_>) -> Vec<Claim> {
    let mut claims = Vec::new();
    let mut memory = evidence::Memory::default();
    for sentence in 0..context.document.sentences.len() {
        in_sentence(context, sentence, &mut memory, &mut claims);
    }
    claims
}

/// The claims of one sentence, each kind by its judge; what compares takes the numbers first.
fn in_sentence(
    context: &Context<'_>,
    sentence: usize,
    memory: &mut evidence::Memory,
    claims: &mut Vec<Claim>,
) {
    let before = claims.len();
    if context.reading.tokens[sentence].len() > detect::MAX_TOKENS {
        return;
    }
    let decided = evidence::judge(context, sentence, memory);
    if !decided.claims.is_empty() {
        claims.extend(decided.claims);
        return;
    }
    let conversions = convert::judge(context, sentence);
    let taken: Vec<std::ops::Range<usize>> =
        conversions.iter().map(|(_, used)| used.clone()).collect();
    let mut compares = false;
    let mut stated = None;
    let first = context.reading.found.partition_point(|f| f.sentence < sentence);
    for found in context.reading.found[first..].iter().take_while(|f| f.sentence == sentence) {
        if taken.iter().any(|t| t.contains(&found.at)) && found.kind != ClaimKind::Rank {
            continue;
        }
        match found.kind {
            ClaimKind::Percent | ClaimKind::Times => {
                compares = true;
                let judged = compare::judge(context, found);
                let open =
                    matches!(judged.verdict, ClaimVerdict::Unsupported | ClaimVerdict::Ambiguous);
                let other = if open {
                    average::difference(context, found)
                        .or_else(|| nearby::comparison(context, found))
                } else {
                    None
                };
                claims.extend(alike::same_processor(context, found, &judged));
                claims.push(other.unwrap_or(judged));
            }
            ClaimKind::Share => claims.push(
                average::stated(context, found)
                    .or_else(|| average::difference(context, found))
                    .unwrap_or_else(|| share::judge_percent(context, found)),
            ),
            ClaimKind::Difference => {
                compares = true;
                let judged = difference::judge(context, found);
                let open = judged.verdict == ClaimVerdict::Unsupported;
                let other = if open { nearby::comparison(context, found) } else { None };
                claims.push(other.unwrap_or(judged));
            }
            ClaimKind::Rank => claims.push(rank::judge(context, found)),
            ClaimKind::Order => claims.push(rank::order(context, found)),
            _ => stated = Some(found),
        }
    }
    claims.extend(conversions.into_iter().map(|(claim, _)| claim));
    let shares = claims[before..].iter().any(|c| c.kind == ClaimKind::Share);
    if !shares
        && !compares
        && let Some(claim) = share::in_words(context, sentence)
    {
        claims.push(claim);
    }
    let ranked = claims[before..].iter().any(|c| c.kind == ClaimKind::Rank);
    if !compares && let Some(claim) = nearby::product(context, sentence, &taken) {
        claims.push(claim);
        return;
    }
    if let Some(claim) = restate::judge(context, sentence, compares || ranked) {
        claims.push(claim);
    } else if !compares
        && !claims[before..]
            .iter()
            .any(|c| matches!(c.kind, ClaimKind::Share | ClaimKind::Difference))
        && let Some(claim) = measure::judge(context, sentence, &taken)
    {
        claims.push(claim);
    }
    if claims.len() == before
        && let Some(found) = stated
    {
        claims.push(context.claim(ClaimKind::Qualitative, found));
        if let Some(last) = claims.last_mut() {
            last.reason = "stated without a number that could be recomputed".into();
        }
    }
    for claim in &mut claims[before..] {
        evidence::admit(context, sentence, claim);
    }
}
