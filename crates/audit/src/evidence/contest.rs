//! A claim that fails is wrong only if all its readings fail. Here are those that its judge did not take:
//! other rows, columns and tables of its names and unit, another baseline, the other base of a
//! percentage, averages and sums, and another condition that the text set before.

use std::collections::BTreeSet;
use std::ops::Range;

use super::amount::{Agreement, Amount, Dimension};
use super::bind::{Sentence, Side, at, foreign};
use super::grid::{At, Better, Grid};
use super::name::is_plain;
use super::said::{Much, Said};
use super::scene::{Scene, Subject};
use super::sides::Bound2;
use crate::claim::ClaimVerdict;
use crate::detect::pointing::Way;
use crate::judge::reading::{
    Bound, Formula, INVERSE, LESS, MORE, Operand, RATIO, RATIO_MORE, SPEEDUP, read,
};
use crate::read::document::BlockKind;

/// How much slower or more, with the greater value as the base.
const OF_GREATER: Formula = Formula { name: "1 - b/a", compute: |a, b| (1.0 - b / a) * 100.0 };
/// "150 % faster" for one and a half times as fast.
const PERCENT_OF: Formula = Formula { name: "a/b", compute: |a, b| a / b * 100.0 };
const PERCENT_INVERSE: Formula = Formula { name: "b/a", compute: |a, b| b / a * 100.0 };
/// "3 times less" for a fourth.
const INVERSE_MORE: Formula = Formula { name: "b/a - 1", compute: |a, b| b / a - 1.0 };

/// Words of headings that set no condition, as `stem` leaves them.
const SECTIONS: [&str; 24] = [
    "result",
    "discuss",
    "analysi",
    "conclus",
    "summary",
    "find",
    "number",
    "benchmark",
    "performanc",
    "note",
    "compar",
    "what",
    "why",
    "how",
    "it",
    "is",
    "mean",
    "fast",
    "overview",
    "interpretat",
    "explanat",
    "detail",
    "takeaway",
    "highlight",
];

/// The names of one axis that a sentence may mean, and those that it certainly names.
struct Touched {
    any: BTreeSet<usize>,
    sure: BTreeSet<usize>,
    /// Those that it names in full, wherever.
    full: BTreeSet<usize>,
}

fn touched(scene: &Scene<'_>, g: usize, side: Side, clause: &Range<usize>) -> Touched {
    let grid = scene.grid(g);
    let mut touched =
        Touched { any: BTreeSet::new(), sure: BTreeSet::new(), full: BTreeSet::new() };
    for mention in scene.named.iter().filter(|(n, _)| *n == g).flat_map(|(_, n)| n.side(side)) {
        touched.any.extend(&mention.who);
        let full = mention.only().filter(|_| mention.whole);
        touched.full.extend(full);
        touched.sure.extend(full.filter(|_| clause.contains(&mention.start)));
        if full.is_none() {
            // "fold" of "short/fold" may be that of "long/fold".
            let words: Vec<&String> =
                scene.sentence.pieces[mention.start..mention.end].iter().flatten().collect();
            let axis = grid.axis(side);
            let told: Vec<&&String> = words.iter().filter(|w| axis.knows(w)).collect();
            let kin = |n: &usize| told.iter().all(|w| axis.names[*n].words.contains(w));
            touched.any.extend((0..axis.names.len()).filter(kin));
        }
    }
    if let Some(who) = scene.before.and_then(|s| same(scene, s, grid, side)) {
        touched.any.insert(who);
    }
    touched
}

/// The subject of the sentence before, as another table calls it.
fn same(scene: &Scene<'_>, subject: Subject, grid: &Grid, side: Side) -> Option<usize> {
    let from = scene.grid(subject.grid).axis(subject.side);
    let text = &from.names.get(subject.who)?.text;
    grid.axis(side).names.iter().position(|n| n.text.eq_ignore_ascii_case(text))
}

fn places(grid: &Grid, side: Side) -> Vec<usize> {
    match side {
        Side::Rows => (0..grid.rows.names.len()).collect(),
        Side::Columns => grid.valued().collect(),
    }
}

/// The tables that a claim may be about.
fn tables(scene: &Scene<'_>) -> Vec<usize> {
    let mut all: Vec<usize> = scene.named.iter().map(|(g, _)| *g).collect();
    for (g, grid) in scene.context.grids.iter().enumerate() {
        let known = |s: Subject| {
            [Side::Rows, Side::Columns].iter().any(|side| same(scene, s, grid, *side).is_some())
        };
        if !all.contains(&g) && scene.before.is_some_and(known) {
            all.push(g);
        }
    }
    all
}

/// Another pair of cells, or another base, with which a comparison would agree.
pub(crate) fn comparison(
    scene: &Scene<'_>,
    said: &Said,
    pair: Option<Bound2>,
) -> Option<&'static str> {
    let (start, end) = super::cells::clause(scene, said);
    let clause = start..end;
    if let Some(pair) = pair
        && strange(scene, said, pair)
    {
        return Some("a value beside it is not one of these");
    }
    let fixed = pair.filter(|p| p.named && p.opened);
    for g in tables(scene) {
        let grid = scene.grid(g);
        for side in [Side::Rows, Side::Columns] {
            let (own, fields) =
                (touched(scene, g, side, &clause), touched(scene, g, side.other(), &clause));
            if own.full.len() > 1
                && fields.full.len() > 1
                && diagonal(grid, said, side, &own.full, &fields.full)
            {
                return Some("two of its names on either side agree with it");
            }
            let exact = |p: Bound2| own.full.contains(&p.subject) && own.full.contains(&p.baseline);
            let fields: Vec<usize> = if fields.sure.is_empty() {
                places(grid, side.other())
            } else {
                fields.sure.into_iter().collect()
            };
            let all = places(grid, side);
            if all.len() > 60 || fields.len() > 60 {
                continue;
            }
            for a in &all {
                for b in all.iter().filter(|b| *b != a) {
                    let meant = match fixed {
                        Some(p) if p.grid == g && p.side == side && exact(p) => {
                            (p.subject, p.baseline) == (*a, *b)
                        }
                        Some(_) => own.any.contains(a) && own.any.contains(b),
                        None => own.any.contains(a) || own.any.contains(b) || all.len() == 2,
                    };
                    if meant
                        && agrees(grid, said, side, (*a, *b), &fields, fixed.is_some()).is_some()
                    {
                        return Some("other rows or columns that it may be about agree with it");
                    }
                }
            }
        }
    }
    None
}

/// Whether two cells that differ in row and column agree: "A with one thread is faster than B with eight".
fn diagonal(
    grid: &Grid,
    said: &Said,
    side: Side,
    own: &BTreeSet<usize>,
    fields: &BTreeSet<usize>,
) -> bool {
    let cells: Vec<(usize, usize, Amount, Better)> = own
        .iter()
        .flat_map(|o| fields.iter().map(move |f| (*o, *f)))
        .filter_map(|(o, f)| {
            let place = at(side, o, f);
            Some((o, f, grid.amount(place)?, grid.better[place.column]))
        })
        .take(64)
        .collect();
    cells.iter().any(|(o, f, m, better)| {
        cells.iter().any(|(p, g, n, _)| {
            o != p
                && f != g
                && m.dimension().fits(n.dimension())
                && formulas(said, *better, m.dimension(), false)
                    .iter()
                    .any(|formula| fits(said, *formula, *m, *n))
        })
    })
}

/// Whether a value right before a comparison has the unit of its cells and is none of them: it speaks of other
/// results.
fn strange(scene: &Scene<'_>, said: &Said, pair: Bound2) -> bool {
    let Some((_, _, amount)) = scene.amounts.iter().rfind(|(at, ..)| *at < said.at) else {
        return false;
    };
    let grid = scene.grid(pair.grid);
    let mut like = [pair.subject, pair.baseline]
        .into_iter()
        .flat_map(|who| places(grid, pair.side.other()).into_iter().map(move |f| (who, f)))
        .filter_map(|(who, f)| grid.amount(at(pair.side, who, f)))
        .filter(|m| m.dimension() == amount.dimension() && m.dimension() != Dimension::Plain)
        .peekable();
    like.peek().is_some() && like.all(|m| m.is(amount, Bound::Exact) == Agreement::None)
}

/// Whether two rows or columns agree with a comparison in a field, or in the mean or sum of several.
fn agrees(
    grid: &Grid,
    said: &Said,
    side: Side,
    (a, b): (usize, usize),
    fields: &[usize],
    opened: bool,
) -> Option<()> {
    let mut units: Vec<(Dimension, Vec<(Amount, Amount)>)> = Vec::new();
    for field in fields {
        let (x, y) = (at(side, a, *field), at(side, b, *field));
        let (Some(m), Some(n)) = (grid.amount(x), grid.amount(y)) else { continue };
        if !m.dimension().fits(n.dimension()) {
            continue;
        }
        if formulas(said, grid.better[x.column], m.dimension(), opened)
            .iter()
            .any(|f| fits(said, *f, m, n))
        {
            return Some(());
        }
        match units.iter_mut().find(|(d, _)| *d == m.dimension()) {
            Some((_, pairs)) => pairs.push((m, n)),
            None => units.push((m.dimension(), vec![(m, n)])),
        }
    }
    // Two that are named beside "than" are compared field by field.
    if opened {
        return None;
    }
    units.iter().filter(|(_, pairs)| pairs.len() > 1).find_map(|(dimension, pairs)| {
        let formulas = formulas(said, Better::Unknown, *dimension, opened);
        let count = pairs.len() as f64;
        formulas
            .iter()
            .any(|f| {
                let each = || pairs.iter().map(|(m, n)| (f.compute)(m.value, n.value));
                let sums =
                    pairs.iter().fold((0.0, 0.0), |s, (m, n)| (s.0 + m.value, s.1 + n.value));
                let means =
                    pairs.iter().map(|(m, n)| (m.value / n.value).ln()).sum::<f64>() / count;
                [
                    each().sum::<f64>() / count,
                    (f.compute)(sums.0, sums.1),
                    (f.compute)(means.exp(), 1.0),
                ]
                .iter()
                .any(|v| said.claimed().fit(*v, *v, *v) != ClaimVerdict::Wrong)
            })
            .then_some(())
    })
}

fn fits(said: &Said, formula: Formula, a: Amount, b: Amount) -> bool {
    let operand = |m: Amount| Operand { value: m.value, step: m.step };
    read(formula, said.claimed(), operand(a), operand(b)).verdict != ClaimVerdict::Wrong
}

/// All formulas that somebody may have meant; both ways where nothing opens the baseline.
fn formulas(said: &Said, better: Better, dimension: Dimension, opened: bool) -> Vec<Formula> {
    if said.much == Much::Orders {
        return Vec::new();
    }
    let better = match (better, dimension) {
        (Better::Unknown, Dimension::Time | Dimension::Bytes | Dimension::Power) => Better::Less,
        (Better::Unknown, Dimension::Rate | Dimension::ByteRate | Dimension::BitRate) => {
            Better::More
        }
        _ => better,
    };
    let up = match (said.way, better) {
        (Way::More | Way::Of, _) | (Way::Faster, Better::More) | (Way::Slower, Better::Less) => {
            Some(true)
        }
        (Way::Less, _) | (Way::Faster, Better::Less) | (Way::Slower, Better::More) => Some(false),
        _ => None,
    };
    let up = up.filter(|_| opened && said.way != Way::Of);
    // "3 times more" may be said of four times as much, "3 times faster" is not.
    let plus = |ratio, more| {
        if matches!(said.way, Way::More | Way::Less) { vec![ratio, more] } else { vec![ratio] }
    };
    let mut all: Vec<Formula> = Vec::new();
    if up != Some(false) {
        all.extend(match said.much {
            Much::Percent => vec![MORE, OF_GREATER],
            _ => plus(RATIO, RATIO_MORE),
        });
        all.extend((said.much == Much::Percent && said.value >= 100.0).then_some(PERCENT_OF));
    }
    if up != Some(true) {
        all.extend(match said.much {
            Much::Percent => vec![LESS, SPEEDUP],
            _ => plus(INVERSE, INVERSE_MORE),
        });
        all.extend((said.much == Much::Percent && said.value >= 100.0).then_some(PERCENT_INVERSE));
    }
    all
}

/// Whether a table has one of two values of a sentence under its names, and another one beside it.
pub(crate) fn differs(scene: &Scene<'_>, values: [&Amount; 2]) -> bool {
    let all = 0..scene.sentence.tokens.len();
    tables(scene).into_iter().any(|g| {
        let grid = scene.grid(g);
        let found = [Side::Rows, Side::Columns].into_iter().any(|side| {
            let cells: Vec<Amount> = touched(scene, g, side, &all)
                .any
                .into_iter()
                .flat_map(|who| places(grid, side.other()).into_iter().map(move |f| (who, f)))
                .filter_map(|(who, f)| grid.amount(at(side, who, f)))
                .filter(|m| m.dimension() == values[0].dimension())
                .collect();
            let has = |v: &Amount| cells.iter().any(|m| m.is(v, Bound::Exact) != Agreement::None);
            cells.len() > 1 && has(values[0]) != has(values[1])
        });
        let printed = |v: &Amount| {
            (0..grid.rows.names.len()).any(|row| {
                grid.valued().any(|column| {
                    grid.amount(At { row, column })
                        .is_some_and(|m| m.is(v, Bound::Exact) != Agreement::None)
                })
            })
        };
        found && !(printed(values[0]) && printed(values[1]))
    })
}

/// Another cell of the names, or a mean or sum of them, that prints a value.
pub(crate) fn value(
    scene: &Scene<'_>,
    clause: &Range<usize>,
    amount: &Amount,
    hedge: Bound,
) -> Option<&'static str> {
    for g in tables(scene) {
        let grid = scene.grid(g);
        let (rows, columns) =
            (touched(scene, g, Side::Rows, clause), touched(scene, g, Side::Columns, clause));
        for (side, own, fields) in [(Side::Rows, &rows, &columns), (Side::Columns, &columns, &rows)]
        {
            for who in own.any.iter().filter(|w| own.sure.is_empty() || own.sure.contains(w)) {
                let cells: Vec<Amount> = places(grid, side.other())
                    .into_iter()
                    .filter(|f| fields.sure.is_empty() || fields.sure.contains(f))
                    .filter_map(|f| grid.amount(at(side, *who, f)))
                    .filter(|m| m.dimension().fits(amount.dimension()))
                    .collect();
                if cells.iter().any(|m| m.is(amount, hedge) != Agreement::None) {
                    return Some("another value of the same name agrees with it");
                }
                if cells.len() > 1 && summed(&cells, amount, hedge) {
                    return Some("an average or a sum agrees with it");
                }
            }
        }
    }
    None
}

fn summed(cells: &[Amount], amount: &Amount, hedge: Bound) -> bool {
    let count = cells.len() as f64;
    let sum: f64 = cells.iter().map(|m| m.value).sum();
    let product: f64 = cells.iter().map(|m| m.value.ln()).sum();
    let mut sorted: Vec<f64> = cells.iter().map(|m| m.value).collect();
    sorted.sort_by(f64::total_cmp);
    let middle = sorted[sorted.len() / 2].midpoint(sorted[(sorted.len() - 1) / 2]);
    [sum, sum / count, (product / count).exp(), middle]
        .iter()
        .any(|value| Amount { value: *value, ..cells[0] }.is(amount, hedge) != Agreement::None)
}

/// A condition that the text set before: in the sentences of the paragraph, or in a heading that does
/// not stand over the table.
pub(crate) fn condition(scene: &Scene<'_>, g: usize) -> Option<String> {
    let (context, grid) = (scene.context, scene.grid(g));
    let document = context.document;
    let block = document.sentences[scene.index].block;
    let words = |index: usize| {
        let span = document.sentences[index].span;
        Sentence::new(document.text, &context.reading.tokens[index], span)
    };
    let mut before = (0..scene.index).rev();
    for index in before.by_ref().take_while(|i| document.sentences[*i].block == block) {
        let sentence = words(index);
        // A sentence that states results has its conditions for itself.
        let states = (0..sentence.tokens.len()).any(|i| {
            let amount = super::amount::at(sentence.text, sentence.tokens, i);
            amount
                .is_some_and(|(a, _)| !matches!(a.dimension(), Dimension::Count | Dimension::Plain))
        });
        let other = |w: &String| context.naming.contains_key(w);
        if !states
            && !sentence.pieces.iter().flatten().any(other)
            && let Some(found) = foreign(grid, &sentence, 0..sentence.tokens.len())
        {
            return Some(found);
        }
    }
    let heading = (0..scene.index)
        .rev()
        .find(|i| document.blocks[document.sentences[*i].block].kind == BlockKind::Heading)?;
    let start = document.sentences[heading].span.start;
    if document.tables.iter().any(|t| t.title.overlaps(document.sentences[heading].span)) {
        return None;
    }
    // A table before that heading, in another section.
    if start < grid.start || start > scene.sentence.span.start {
        return None;
    }
    let sentence = words(heading);
    let known = |w: &String| is_plain(w) || grid.knows(w) || SECTIONS.contains(&w.as_str());
    (0..sentence.tokens.len())
        .find(|i| sentence.tokens[*i].is_word() && !sentence.pieces[*i].iter().any(known))
        .map(|i| sentence.tokens[i].span.of(document.text).to_owned())
}

/// Where a rank that fails would hold: another field that its words do not exclude.
pub(crate) fn rank(grid: &Grid, side: Side, (own, rival): (usize, usize), field: usize) -> bool {
    places(grid, side.other()).into_iter().filter(|f| *f != field).any(|f| {
        let cell = |who| grid.amount(at(side, who, f));
        let (Some(x), Some(y)) = (cell(own), cell(rival)) else { return false };
        let At { column, .. } = at(side, own, f);
        let name = grid.columns.names[column].words.iter().all(|w| !is_plain(w));
        x.dimension().fits(y.dimension())
            && name
            && match grid.better[column] {
                Better::Less => x.value < y.value,
                Better::More => x.value > y.value,
                Better::Unknown => x.value != y.value,
            }
    })
}
