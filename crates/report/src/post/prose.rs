//! What a person typed, sentence by sentence: a quantity in a sentence that compares is a finding, because nothing
//! recomputes it; words that compare are checked against the results; the rest is kept as typed.

use std::collections::BTreeSet;
use std::ops::Range;

use assay_checks::{ClaimEvidence, Evidence, Known, NumberEvidence, Verb, VerdictBasis, rows};

use super::document::{TypedComparison, TypedQuantity};
use super::evaluator::Evaluator;
use super::typed::{
    Bound, COMPARING, COMPUTED, Found, Held, Kind, Marks, Stretch, atoms, events, find, judge,
    sayings, set_beside, stretches,
};
use super::{checks, held};

/// Looks through the rendered text; the places of what is marked in it.
pub(super) fn check(e: &mut Evaluator<'_>, markdown: &str) -> Marks {
    let mut marks = Marks::default();
    let events = events(markdown);
    let all = stretches(&events, |n| {
        e.numbers.get(n).is_some_and(super::document::ComputedNumber::compares)
    });
    let held = held::results(e);
    for stretch in &all {
        look(e, stretch, &held, &mut marks);
    }
    marks
}

/// Looks through one stretch of text.
fn look(e: &mut Evaluator<'_>, stretch: &Stretch, held: &[Held], marks: &mut Marks) {
    let place = match stretch.kind {
        Kind::Text => "text",
        Kind::Heading => "heading",
        Kind::Cell => "cell of a table",
        Kind::Code => "code",
    };
    let found = find(&stretch.text, &e.names, stretch.kind == Kind::Heading);
    for (start, sentence) in sentences(&stretch.text) {
        let inside = start..start + sentence.len();
        let compared = stretch.kind != Kind::Code
            && (compares(sentence) || compares(&stretch.context) || sentence.contains(COMPARING));
        for f in within(&found, &inside) {
            let at = e.at(stretch.source(&f.span).start);
            let refused = f.result && compared && !stretch.within_code(&f.span);
            let text = stretch.text[f.span.clone()].to_owned();
            let typed = TypedQuantity::new(text, place, Some(at), shown(sentence));
            let index = keep(e, typed, refused);
            marks.add(stretch, &f.span, format!("t{index}"));
        }
        if stretch.kind == Kind::Code {
            continue;
        }
        wording(e, sentence, start, stretch);
        let computed = computed(e, stretch, &inside, held);
        let part = Part { text: &stretch.text, sentence, start, computed: computed.as_ref() };
        for (span, index) in stated(e, &part, held, Some(&|s| stretch.source(s).start)) {
            marks.add(stretch, &span, format!("c{index}"));
        }
    }
}

/// Those that begin in a part of the text; they are in order.
fn within<'a>(found: &'a [Found], inside: &Range<usize>) -> &'a [Found] {
    let from = found.partition_point(|f| f.span.start < inside.start);
    let to = found.partition_point(|f| f.span.start < inside.end);
    &found[from..to]
}

/// So many refused quantities are findings; what more there is is marked all the same.
const REFUSED: usize = 100;

/// Keeps a typed quantity; where it is refused there is a finding.
fn keep(e: &mut Evaluator<'_>, typed: TypedQuantity, refused: bool) -> usize {
    e.refused += usize::from(refused);
    if refused && e.refused <= REFUSED {
        let evidence = NumberEvidence {
            what: typed.whereabouts(),
            printed: Some(typed.text.clone()),
            typed_in: Some(typed.sentence.clone()),
            ..NumberEvidence::default()
        };
        let evidence = Evidence { numbers: Known::Is(vec![evidence]), ..Evidence::default() };
        for finding in checks::judge(&rows::RECOMPUTES, &evidence) {
            e.find(finding, typed.line);
        }
    }
    e.typed.push(typed);
    e.typed.len() - 1
}

/// Where a span of a text begins in the Markdown.
type LineOf<'a> = &'a dyn Fn(&Range<usize>) -> usize;

/// A sentence of a text.
struct Part<'a> {
    text: &'a str,
    sentence: &'a str,
    /// Where it begins.
    start: usize,
    /// The results that its computed numbers are of; `None`: it has no such number.
    computed: Option<&'a BTreeSet<usize>>,
}

/// The results that the computed numbers in a part of a stretch are of.
fn computed(
    e: &Evaluator<'_>,
    stretch: &Stretch,
    inside: &Range<usize>,
    held: &[Held],
) -> Option<BTreeSet<usize>> {
    let own = stretch.computed.iter().filter(|(offset, _)| inside.contains(offset));
    let numbers: Vec<usize> = own.map(|(_, at)| *at).collect();
    let inputs = || numbers.iter().filter_map(|at| e.numbers.get(*at)).flat_map(|n| &n.inputs);
    let of = |h: &Held| inputs().any(|input| h.is_of(input));
    (!numbers.is_empty()).then(|| (0..held.len()).filter(|i| of(&held[*i])).collect())
}

/// Checks the comparing words of a sentence; their spans, and their positions among the post's.
fn stated(
    e: &mut Evaluator<'_>,
    part: &Part<'_>,
    held: &[Held],
    source: Option<LineOf<'_>>,
) -> Vec<(Range<usize>, usize)> {
    let Part { text, sentence, start, computed } = *part;
    let mut out = Vec::new();
    for saying in sayings(sentence, start) {
        let bound = judge(text, sentence, &saying, held);
        let at = source.map(|f| e.at(f(&saying.span)));
        let words = text[saying.span.clone()].to_owned();
        let mut kept = TypedComparison::new(words, at, shown(sentence));
        match bound {
            Bound::Holds(by) => kept.checked = Some(by),
            Bound::Open(why) => why.clone_into(&mut kept.unchecked),
            Bound::Contradicted(by) => {
                let claim = ClaimEvidence {
                    text: kept.sentence.clone(),
                    verb: Some(Verb::Direction),
                    contradicted: Some(format!(
                        "{}: `{}`, but {by}",
                        kept.whereabouts(),
                        kept.text
                    )),
                    ..ClaimEvidence::default()
                };
                let evidence = Evidence { claim: Known::Is(claim), ..Evidence::default() };
                for finding in checks::judge(&rows::DIRECTION_SUPPORTED, &evidence) {
                    e.find(finding, kept.line);
                }
                "the results show the opposite".clone_into(&mut kept.unchecked);
            }
        }
        e.comparisons.push(kept);
        out.push((saying.span, e.comparisons.len() - 1));
    }
    // No list of words is whole, and there are other languages: who sets a system beside others without a computed
    // number of it compares them in some way.
    if out.is_empty()
        && let Some(named) = set_beside(sentence, held, computed)
    {
        let span = start + named.start..start + named.end;
        let at = source.map(|f| e.at(f(&span)));
        let mut kept = TypedComparison::new(text[span.clone()].to_owned(), at, shown(sentence));
        "the sentence sets it beside another, and computes no number of it"
            .clone_into(&mut kept.unchecked);
        e.comparisons.push(kept);
        out.push((span, e.comparisons.len() - 1));
    }
    out
}

impl Evaluator<'_> {
    /// A text that stands outside of the Markdown: a title, a caption, a name. What was typed in it is kept and
    /// has a dagger behind it.
    pub(super) fn typed_text(
        &mut self,
        text: &str,
        place: &'static str,
        at: Option<Range<usize>>,
    ) -> String {
        let spot = at.map(|span| self.text.place(span.start));
        let held = held::results(self);
        let mut ends = Vec::new();
        let found = find(text, &self.names, false);
        for (start, sentence) in sentences(text) {
            let inside = start..start + sentence.len();
            for f in within(&found, &inside) {
                let own = text[f.span.clone()].to_owned();
                let typed = TypedQuantity::new(own, place, spot, shown(sentence));
                keep(self, typed, f.result && compares(sentence));
                ends.push(f.span.end);
            }
            let part = Part { text, sentence, start, computed: None };
            for (span, index) in stated(self, &part, &held, None) {
                let kept = &mut self.comparisons[index];
                (kept.line, kept.column) = (spot.map(|s| s.0), spot.map(|s| s.1));
                if kept.checked.is_none() {
                    ends.push(span.end);
                }
            }
        }
        ends.sort_unstable();
        ends.dedup();
        let mut out = text.to_owned();
        for end in ends.into_iter().rev() {
            out.insert(end, '†');
        }
        out
    }

    /// Line and column in the template of a byte of the Markdown.
    fn at(&mut self, markdown: usize) -> (usize, usize) {
        let i = self.map.partition_point(|(own, _)| *own <= markdown);
        let there = self.map[..i].last().map_or(0, |(own, there)| there + (markdown - own));
        // Counted on from the place before, where that is before it.
        let (from, (line, column)) = self.cursor;
        let place = if let Some(since) = self.text.text.get(from..there) {
            match since.rsplit_once('\n') {
                None => (line, column + since.chars().count()),
                Some((before, last)) => {
                    (line + before.matches('\n').count() + 1, last.chars().count() + 1)
                }
            }
        } else {
            // Or counted back.
            let text = self.text.text;
            let begins = text[..there].rfind('\n').map_or(0, |at| at + 1);
            let back = text[there..from].matches('\n').count();
            (line - back, text[begins..there].chars().count() + 1)
        };
        self.cursor = (there, place);
        place
    }
}

/// A sentence as it is cited.
fn shown(sentence: &str) -> String {
    let words: Vec<&str> = sentence.split_whitespace().collect();
    let shown = words.join(" ").replace([COMPUTED, COMPARING], "…");
    if shown.chars().count() > 120 {
        shown.chars().take(119).collect::<String>() + "…"
    } else {
        shown
    }
}

/// Sentences that hold a computed comparison: whether their typed words are exact (faster in time or in
/// throughput, up to what), and whether the interval supports a direction or an equality that they state.
fn wording(e: &mut Evaluator<'_>, sentence: &str, start: usize, stretch: &Stretch) {
    if !sentence.contains(COMPARING) {
        return;
    }
    let words: Vec<&str> = sentence.split_whitespace().collect();
    let shown = words.join(" ").replace([COMPUTED, COMPARING], "…");
    let lower = shown.to_lowercase();
    let mut found = Vec::new();
    if ["faster", "slower", "quicker", "up to"].iter().any(|w| lower.contains(w)) {
        found.extend(checks::wording(ClaimEvidence {
            text: shown.clone(),
            population: Some("the results of the post".to_owned()),
            as_of: e.front.as_of.clone(),
            ..ClaimEvidence::default()
        }));
    }
    let inside = start..start + sentence.len();
    let of = stretch.computed.iter().filter(|(offset, _)| inside.contains(offset));
    let compared: Vec<_> = of.filter_map(|(_, at)| e.numbers[*at].comparison.as_ref()).collect();
    if let Some(basis) = basis(&lower) {
        found.extend(compared.iter().flat_map(|c| checks::rests_on(basis, c)));
    }
    if let Some(verb) = verb(&lower) {
        found.extend(compared.iter().flat_map(|c| checks::stated(verb, &shown, c)));
    }
    for finding in found {
        e.find(finding, None);
    }
}

/// What the typed words of a sentence say that its comparison rests on; `None`: nothing, or the interval of the
/// ratio.
fn basis(lower: &str) -> Option<VerdictBasis> {
    let bars = ["interval", "error bar", "range"];
    if lower.contains("overlap") && bars.iter().any(|w| lower.contains(w)) {
        return Some(VerdictBasis::Overlap);
    }
    ["±", "standard deviation", "sigma"]
        .iter()
        .any(|w| lower.contains(w))
        .then_some(VerdictBasis::RatioSigma)
}

/// What the typed words of a sentence state of its comparison; `None`: nothing definite.
fn verb(lower: &str) -> Option<Verb> {
    const SAME: [&str; 8] = [
        "no difference",
        "no overhead",
        "no slower",
        "no faster",
        "equally fast",
        "the same speed",
        "the same throughput",
        "just as fast",
    ];
    const DIRECTION: [&str; 8] =
        ["faster", "slower", "quicker", "better", "worse", "beats", "outperforms", "wins"];
    const OPEN: [&str; 9] =
        ["not", "no", "never", "neither", "nor", "whether", "if", "cannot", "unclear"];
    if SAME.iter().any(|phrase| lower.contains(phrase)) {
        return Some(Verb::Same);
    }
    let has = |of: &[&str]| {
        let mut words = lower.split(|c: char| !c.is_alphanumeric() && c != '\'');
        words.any(|w| of.contains(&w) || (of == OPEN && w.ends_with("n't")))
    };
    (has(&DIRECTION) && !has(&OPEN)).then_some(Verb::Direction)
}

/// The sentences of a stretch with their offsets.
fn sentences(text: &str) -> Vec<(usize, &str)> {
    let mut out = Vec::new();
    cut(text, 0, text.len(), &mut out);
    out
}

/// Cuts a stretch at its full stops.
fn cut<'a>(text: &'a str, from: usize, to: usize, out: &mut Vec<(usize, &'a str)>) {
    let stretch = &text[from..to];
    let mut start = 0;
    for (i, c) in stretch.char_indices() {
        let next = stretch[i + c.len_utf8()..].chars().next();
        if matches!(c, '.' | '!' | '?') && next.is_none_or(char::is_whitespace) {
            out.push((from + start, &stretch[start..=i]));
            start = i + 1;
        }
    }
    if !stretch[start..].trim().is_empty() {
        out.push((from + start, &stretch[start..]));
    }
}

const COMPARE: &[&str] = &[
    "better",
    "worse",
    "faster",
    "slower",
    "quicker",
    "times",
    "twice",
    "thrice",
    "double",
    "doubles",
    "doubled",
    "triple",
    "tripled",
    "half",
    "halved",
    "halves",
    "more",
    "less",
    "fewer",
    "higher",
    "lower",
    "greater",
    "smaller",
    "ahead",
    "behind",
    "beats",
    "beat",
    "outperforms",
    "outperformed",
    "leads",
    "exceeds",
    "ratio",
    "advantage",
    "gain",
    "gains",
    "improvement",
    "improves",
    "improved",
    "speedup",
    "speed-up",
    "than",
    "versus",
    "vs",
    "against",
    "best",
    "record",
    "percent",
    "longer",
    "shorter",
    "difference",
    "leads",
    "lead",
    "slowest",
    "fastest",
    "highest",
    "lowest",
    "worst",
    "wins",
    "trails",
    "surpasses",
    "outpaces",
    "tops",
    "increase",
    "increases",
    "increased",
    "decrease",
    "decreases",
    "decreased",
    "reduces",
    "reduced",
    "reduction",
    "cuts",
    "saves",
    "saving",
    "savings",
    "boost",
    "boosts",
    "overhead",
    "improve",
    "outperform",
    "compared",
    "factor",
    "quarter",
    "third",
    "thirds",
    "magnitude",
    "pct",
    "percentage",
    "cent",
];

/// Whether a sentence compares: by a word, by a percentage, by a factor.
fn compares(sentence: &str) -> bool {
    atoms(sentence).iter().any(|a| {
        let factor = a.text.strip_suffix('x').is_some_and(|n| n.parse::<f64>().is_ok());
        a.is(COMPARE)
            || a.text.ends_with("fold")
            || (a.numeric() && (a.after.trim_start().starts_with('%') || factor))
    })
}
