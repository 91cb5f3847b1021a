//! What the judges look things up in: the text, its results, its subject.

use crate::bind::quantity::{Origin, Quantities};
use crate::bind::{Pair, Side};
use crate::claim::{Claim, ClaimKind, ClaimVerdict, Input};
use crate::detect::mention::{self, Mention};
use crate::detect::{Found, Reading};
use crate::evidence::grid::{self, Grid};
use crate::read::column::{self, Column};
use crate::read::document::Document;
use crate::read::source::{Source, Span};
use crate::read::token::Token;
use assay_rules::quoted::QuotedResult;

pub(crate) struct Context<'a> {
    pub source: &'a Source,
    pub document: &'a Document<'a>,
    pub reading: &'a Reading,
    pub quantities: Quantities,
    pub quoted: &'a [QuotedResult],
    /// The columns of numbers, with their means.
    pub columns: Vec<Column>,
    /// The tables as evidence: names and amounts.
    pub grids: Vec<Grid>,
    /// The words of the tables' names, with the tables that have them.
    pub naming: std::collections::BTreeMap<String, Vec<usize>>,
    /// What the first headings and sentences are about: the subject of bullets without one.
    pub subject: Mention,
}

impl<'a> Context<'a> {
    pub(crate) fn new(
        source: &'a Source,
        document: &'a Document<'a>,
        reading: &'a Reading,
        quoted: &'a [QuotedResult],
    ) -> Self {
        let quantities = Quantities::collect(document, quoted);
        let grids = grid::all(document);
        let naming = grid::naming(&grids);
        let mut context = Context {
            source,
            document,
            reading,
            quantities,
            quoted,
            columns: column::columns(document),
            grids,
            naming,
            subject: Mention::default(),
        };
        context.subject = context.find_subject();
        context.read_watts();
        context
    }

    /// Power that prose gives for a system ("consumed an average of 520 Watts") belongs to its rows
    /// without one, as far as its other stated attributes are theirs.
    fn read_watts(&mut self) {
        for tokens in &self.reading.tokens {
            let derived = tokens.iter().any(|t| {
                matches!(t.lower.as_str(), "maximum" | "nameplate" | "%")
                    || t.quantity().is_some_and(|n| n.is(&crate::read::unit::Unit::Percent))
            });
            let stated = mention::attributes(tokens);
            let (Some(watts), false) = (stated.watts, derived) else { continue };
            let own = mention::read(tokens, &self.quantities.systems);
            if own.models.len() != 1 {
                continue;
            }
            for q in &mut self.quantities.all {
                let same =
                    !q.models.is_disjoint(&own.models) && q.attributes.agreement(&stated).1 == 0;
                if same && q.attributes.watts.is_none() {
                    q.attributes.watts = Some(watts);
                }
            }
        }
    }

    /// The first sentence or heading that names exactly one known system decides.
    fn find_subject(&self) -> Mention {
        self.reading
            .tokens
            .iter()
            .take(12)
            .map(|tokens| mention::read(tokens, &self.quantities.systems))
            .find(|m| !m.models.is_empty())
            .unwrap_or_default()
    }

    pub(crate) fn tokens(&self, found: &Found) -> &'a [Token] {
        &self.reading.tokens[found.sentence]
    }

    pub(crate) fn text(&self, span: Span) -> &'a str {
        span.of(self.document.text)
    }

    /// A claim without a verdict yet: unsupported, and why.
    pub(crate) fn claim(&self, kind: ClaimKind, found: &Found) -> Claim {
        let mut claim = self.claim_at(kind, found.span, "what it is about is not printed");
        claim.claimed = found.value.map(|(value, _)| value);
        claim
    }

    /// An unsupported claim at a place.
    pub(crate) fn claim_at(&self, kind: ClaimKind, span: Span, reason: &str) -> Claim {
        let (line, column) = self.source.place(span.start);
        let quote: Vec<&str> = self.text(span).split_whitespace().collect();
        Claim {
            kind,
            verdict: ClaimVerdict::Unsupported,
            line,
            column,
            quote: quote.join(" "),
            claimed: None,
            computed: None,
            readings: Vec::new(),
            inputs: Vec::new(),
            reason: reason.into(),
            span,
        }
    }

    pub(crate) fn input_at(&self, name: &str, value: f64, span: Span) -> Input {
        Input { name: name.into(), value, place: Some(self.source.place(span.start)), quoted: None }
    }

    /// A quantity as an input of a claim.
    pub(crate) fn input(&self, quantity: usize) -> Input {
        let q = &self.quantities.all[quantity];
        let (place, quoted) = match q.origin {
            Origin::Cell { table, row, column } => {
                let span = self.document.tables[table].rows[row].cells[column].span;
                (Some(self.source.place(span.start)), None)
            }
            Origin::Quoted(i) => (None, self.quoted.get(i).map(|r| r.id.clone())),
        };
        Input { name: q.name.clone(), value: q.value, place, quoted }
    }

    /// Puts a pair and what it gives into a claim.
    pub(crate) fn fill(&self, claim: &mut Claim, pair: &Pair, computed: f64) {
        claim.inputs = vec![self.input(pair.a), self.input(pair.b)];
        claim.computed = Some(computed).filter(|c| c.is_finite());
    }

    /// The two sides of a comparison. A side that names nothing takes it from the sentence, the
    /// sentence before, or the subject of the text.
    pub(crate) fn sides(&self, found: &Found) -> (Side, Side) {
        let tokens = self.tokens(found);
        let sides = crate::bind::sides(tokens, found.clause.clone(), found.at);
        let mut subject = self.side(&tokens[sides.subject.clone()], found);
        let mut baseline = self.side(&tokens[sides.baseline.clone()], found);
        let whole = 0..tokens.len();
        if found.clause != whole {
            let wide = crate::bind::sides(tokens, whole, found.at);
            if baseline.mention.words.is_empty() && baseline.explicit.is_none() {
                baseline = self.side(&tokens[wide.baseline.clone()], found);
            }
            if self.tells_nothing(&subject) {
                let wide_subject =
                    wide.subject.start..wide.subject.end.min(found.at.max(wide.subject.start));
                let taken = self.side(&tokens[wide_subject], found);
                subject.mention.models.extend(taken.mention.models.iter().cloned());
                subject.mention.words.extend(taken.mention.words.iter().cloned());
            }
        }
        let ranked =
            subject.mention.models.is_empty() && crate::bind::rival::is_ranked(&baseline.phrase);
        if ranked || self.tells_nothing(&subject) {
            self.inherit(&mut subject, found, &baseline);
        }
        (subject, baseline)
    }

    fn tells_nothing(&self, side: &Side) -> bool {
        side.explicit.is_none()
            && side.mention.models.is_empty()
            && side.mention.words.iter().all(|w| self.quantities.weight(w) < 0.3)
    }

    /// The subject of the sentence before, in the same block, or of the text.
    fn inherit(&self, subject: &mut Side, found: &Found, baseline: &Side) {
        let block = self.document.sentences[found.sentence].block;
        let before =
            found.sentence.checked_sub(1).filter(|s| self.document.sentences[*s].block == block);
        let from = before
            .map(|s| mention::read(&self.reading.tokens[s], &self.quantities.systems))
            .filter(|m| !m.models.is_empty() && m.models.is_disjoint(&baseline.mention.models))
            .unwrap_or_else(|| self.subject.clone());
        if from.models.is_disjoint(&baseline.mention.models) {
            subject.mention.models.extend(from.models);
            subject.mention.words.extend(from.words);
            let own = &mut subject.mention.attributes;
            own.chips = own.chips.or(from.attributes.chips);
            own.ghz = own.ghz.or(from.attributes.ghz);
        }
    }

    fn side(&self, tokens: &[Token], found: &Found) -> Side {
        let mention = mention::read(tokens, &self.quantities.systems);
        let explicit = tokens
            .iter()
            .filter(|t| t.span.start != self.tokens(found)[found.at].span.start)
            .filter_map(Token::quantity)
            .find(|n| {
                let size = n.value.abs() >= 100.0 || n.step < 1.0;
                size && n.unit.is_none() && !self.quantities.with_value(n.value).is_empty()
            })
            .map(|n| (n.value, n.step));
        let phrase = match (tokens.first(), tokens.last()) {
            (Some(a), Some(b)) => self.text(Span::new(a.span.start, b.span.end)).to_owned(),
            _ => String::new(),
        };
        let unknown = tokens
            .iter()
            .filter(|t| {
                t.is_word() && t.lower.bytes().any(|b| b.is_ascii_digit()) && t.lower.len() > 1
            })
            .filter(|t| !t.lower.starts_with("spec"))
            .map(|t| mention::form(&t.lower))
            .filter(|f| {
                f.split(['.', '/']).all(|part| {
                    !part.bytes().any(|b| b.is_ascii_digit())
                        || part.len() < 2
                        || self.quantities.weight(part) == 0.0 && !self.quantities.known(part)
                })
            })
            .collect();
        Side { mention, explicit, unknown, phrase }
    }
}
