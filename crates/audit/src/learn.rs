//! What weights are learned from: the readings of all that a text says, with their features.

use crate::read::document;
use crate::read::source::Source;
use crate::search::book::Book;
use crate::search::decide::{each, rests};
use crate::search::model::{ALL, COUNT, SPOKEN, name};
use crate::search::phrase::PHRASES;
use crate::search::reading::Fit;
use crate::search::trust;

/// A reading of something said.
pub struct Reading {
    /// The features that it has, with their values.
    pub features: Vec<(usize, f64)>,
    /// The values that it is about, as printed.
    pub inputs: Vec<f64>,
    /// For ranks: the greatest and the least of those that it is ranked among, then all of these.
    pub among: Vec<f64>,
    /// Whether it agrees: 2 yes, 1 loosely, 0 no.
    pub fit: u8,
    /// Its probability by the weights given.
    pub prior: f64,
    /// Of what, for people.
    pub names: String,
}

/// Something that a text says.
pub struct Said {
    /// Where its words stand in the text.
    pub span: (usize, usize),
    /// Where its number or word stands.
    pub own: (usize, usize),
    /// What it is, for people.
    pub what: String,
    /// What it may be about.
    pub readings: Vec<Reading>,
    /// The reading that *holds* would rest on, with what is known of it.
    pub yes: Option<(usize, Vec<f64>)>,
    /// The reading that *wrong* would rest on, with what is known of it.
    pub no: Option<(usize, Vec<f64>)>,
    /// It is stated under a condition, or by somebody else.
    pub open: bool,
}

/// How many features there are.
pub const FEATURES: usize = ALL;

/// The name of a feature.
pub fn feature(i: usize) -> String {
    name(i)
}

/// How much is known of a verdict.
pub const KNOWN: usize = trust::KNOWN;

/// The name of something known of a verdict.
pub fn known(i: usize) -> &'static str {
    trust::name(i)
}

/// All that a text says with its readings.
pub fn said(source: &Source, weights: &[f64]) -> Vec<Said> {
    let document = document::document(&source.text);
    let reading = crate::detect::detect(&document);
    let context = crate::context(source, &document, &reading, &[]);
    let named = crate::by_names(&context);
    let book = Book::new(&context);
    let mut all = Vec::new();
    each(&book, weights, &named, |c| {
        let say = &book.says[c.sentence][c.say];
        let tokens = &context.reading.tokens[c.sentence];
        let span = (
            tokens[say.clause.start.min(say.own.start)].span.start,
            tokens[say.clause.end.max(say.own.end) - 1].span.end,
        );
        let (yes, no) = rests(&book, c);
        let of = |i: Option<usize>| i.map(|i| (i, trust::known(&book, c, i).to_vec()));
        let (yes, no) = (of(yes), of(no));
        let open = crate::search::verdict::open(&context, c.sentence, say.own.start).is_some();
        all.push(Said {
            yes,
            no,
            open,
            span,
            own: (tokens[say.own.start].span.start, tokens[say.own.end - 1].span.end),
            what: format!("{:?} {:?} {}", say.what, say.way, say.value),
            readings: c
                .readings
                .iter()
                .zip(&c.fits)
                .map(|(r, f)| Reading {
                    features: {
                        let kind = crate::search::decide::group(say.what) + 1;
                        let there = r.features.iter().enumerate().filter(|(_, v)| **v != 0.0);
                        let mut all: Vec<(usize, f64)> =
                            there.flat_map(|(i, v)| [(i, *v), (COUNT * kind + i, *v)]).collect();
                        r.phrased.each(|i| {
                            all.extend([SPOKEN + i, SPOKEN + PHRASES * kind + i].map(|i| (i, 1.0)));
                        });
                        all
                    },
                    inputs: crate::search::choice::values(r),
                    among: r.among.as_ref().map_or(Vec::new(), |all| {
                        let ends = [all.greatest(), all.least()];
                        ends.iter().chain(&all.all).map(|(a, _)| a.printed).collect()
                    }),
                    fit: match f {
                        Fit::Yes => 2,
                        Fit::Loose => 1,
                        Fit::No => 0,
                    },
                    prior: r.prior,
                    names: r.names.map(|n| book.names.text(n)).join(" / "),
                })
                .collect(),
        });
    });
    all
}

/// The tables of a text as they are read: their title, then rows with cells between bars.
pub fn tables(source: &Source) -> Vec<String> {
    let document = document::document(&source.text);
    let of = |t: &crate::read::table::Table| {
        let title = t.title.of(&source.text).replace('\n', " ");
        let mut lines = vec![format!("= {title}"), t.columns.join(" | ")];
        lines.extend(t.rows.iter().map(|r| {
            let cells: Vec<&str> = r.cells.iter().map(|c| c.text.as_str()).collect();
            format!("{} : {}", r.label, cells.join(" | "))
        }));
        lines.join("\n")
    };
    document.tables.iter().map(of).collect()
}

/// The weights in use.
pub fn weights() -> &'static [f64] {
    &crate::search::model::WEIGHTS
}
