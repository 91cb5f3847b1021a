//! The results that a claim can be about: those that the text prints, in tables and in prose, and
//! those that were quoted from elsewhere.

use std::collections::{BTreeMap, BTreeSet};

use crate::detect::mention::{self, Attributes, form};
use crate::detect::role::{Role, role};
use crate::read::digits::plain_number;
use crate::read::document::Document;
use crate::read::source::Span;
use crate::read::table::{Shape, Table};
use crate::read::token::{Token, tokens};
use crate::read::unit::{self, Unit};
use assay_rules::quoted::QuotedResult;

/// Where a quantity comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Origin {
    Cell { table: usize, row: usize, column: usize },
    Quoted(usize),
}

/// A printed value, with all that tells it from others.
#[derive(Debug, Clone)]
pub(crate) struct Quantity {
    pub value: f64,
    pub step: f64,
    pub unit: Option<Unit>,
    /// Factor to the unit's base.
    pub scale: f64,
    /// Values of one family can be compared.
    pub family: String,
    pub words: BTreeSet<String>,
    pub models: BTreeSet<String>,
    pub attributes: Attributes,
    pub lower_is_better: bool,
    pub origin: Origin,
    /// For people: the system and what is measured.
    pub name: String,
    /// Words of the row alone.
    pub label: String,
}

impl Quantity {
    /// Whether it is a value for each of something.
    pub(crate) fn is_each(&self) -> bool {
        const EACH: [&str; 9] = [
            "/jvm",
            "/core",
            "/chip",
            "/thread",
            "/watt",
            "/instance",
            " per core",
            " per chip",
            " per watt",
        ];
        EACH.iter().any(|e| self.family.ends_with(e))
    }
}

/// All quantities, and what is needed to weigh words.
pub(crate) struct Quantities {
    pub all: Vec<Quantity>,
    pub systems: BTreeSet<String>,
    by_value: BTreeMap<u64, Vec<usize>>,
    /// How many fits of a phrase to a result may still be tried: what bounds the time of a text
    /// that was made to take long.
    pub budget: std::cell::Cell<u64>,
    weights: BTreeMap<String, f64>,
}

/// How many results of a text, and how many quoted ones with them, are looked at.
const MAX_QUANTITIES: usize = 4000;

/// How many fits are tried in all.
const BUDGET: u64 = 20_000_000;

/// Words that say that less is better.
const LESS: [&str; 16] = [
    "time", "times", "seconds", "second", "secs", "sec", "minutes", "min", "elapsed", "latency",
    "duration", "response", "wall", "runtime", "hours", "ms",
];

fn lower_is_better(words: &str) -> bool {
    words.split(|c: char| !c.is_alphanumeric()).any(|w| LESS.contains(&w))
        && !words.contains("/s")
        && !words.contains("per second")
        && !words.contains("bigger is better")
        && !words.contains("higher is better")
}

impl Quantities {
    /// Collects the results of a text and of the quoted ones that it is about.
    pub(crate) fn collect(document: &Document<'_>, quoted: &[QuotedResult]) -> Quantities {
        let mut all = Vec::new();
        for (i, table) in document.tables.iter().enumerate() {
            of_table(document, i, table, &mut all);
        }
        all.truncate(MAX_QUANTITIES);
        of_quoted(document, quoted, &mut all);
        all.truncate(2 * MAX_QUANTITIES);
        let mut systems: BTreeSet<String> = BTreeSet::new();
        for q in &all {
            systems.extend(q.models.iter().cloned());
        }
        let mut by_value: BTreeMap<u64, Vec<usize>> = BTreeMap::new();
        for (i, q) in all.iter().enumerate() {
            by_value.entry(q.value.to_bits()).or_default().push(i);
        }
        let budget = std::cell::Cell::new(BUDGET);
        let mut quantities =
            Quantities { all, systems, by_value, budget, weights: BTreeMap::new() };
        quantities.weigh();
        quantities
    }

    /// The results with exactly this value.
    pub(crate) fn with_value(&self, value: f64) -> &[usize] {
        self.by_value.get(&value.to_bits()).map_or(&[], Vec::as_slice)
    }

    /// How much a word tells: the rarer among the rows, the more.
    fn weigh(&mut self) {
        let mut rows: BTreeMap<String, usize> = BTreeMap::new();
        for q in &self.all {
            for word in &q.words {
                *rows.entry(word.clone()).or_default() += 1;
            }
        }
        let n = self.all.len() as f64;
        self.weights = rows
            .into_iter()
            .map(|(word, count)| {
                let all = count as f64 >= n;
                (word, if all { 0.0 } else { 1.0 + (n / count as f64).ln() })
            })
            .collect();
    }

    /// Whether any result has the word.
    pub(crate) fn known(&self, word: &str) -> bool {
        self.weights.contains_key(word)
    }

    pub(crate) fn weight(&self, word: &str) -> f64 {
        self.weights.get(word).copied().unwrap_or(0.0)
    }
}

fn of_table(document: &Document<'_>, index: usize, table: &Table, all: &mut Vec<Quantity>) {
    if table.shape != Shape::Grid || table.rows.len() > 500 {
        return;
    }
    let roles: Vec<Role> = (0..table.columns.len()).map(|c| role(table, c)).collect();
    let title = table.title.of(document.text).to_lowercase();
    let title_tokens = tokens(document.text, table.title);
    let metrics: BTreeSet<String> = mention::words(&title_tokens)
        .into_iter()
        .filter(|w| w.starts_with("spec") && w.bytes().any(|b| b.is_ascii_digit()))
        .collect();
    for (r, row) in table.rows.iter().enumerate() {
        let mut attributes = Attributes::default();
        let mut text = row.label.clone();
        for (c, cell) in row.cells.iter().enumerate() {
            let value = cell.number.map(|(v, _)| v);
            match roles[c] {
                Role::Chips => attributes.chips = value,
                Role::Cores => attributes.cores = value,
                Role::Threads => attributes.threads = value,
                Role::Clock => {
                    attributes.ghz = value.map(|v| if v > 100.0 { v / 1000.0 } else { v });
                }
                Role::RackUnits => attributes.rack_units = value,
                Role::Watts => attributes.watts = value,
                Role::Label if c > 0 || row.label.is_empty() => {
                    text.push(' ');
                    text.push_str(&cell.text);
                }
                _ => {}
            }
        }
        let label_tokens = tokens(&text, Span::new(0, text.len()));
        let row_words = mention::words(&label_tokens);
        let inline = mention::attributes(&label_tokens);
        attributes.chips = attributes.chips.or(inline.chips);
        attributes.cores = attributes.cores.or(inline.cores);
        attributes.ghz = attributes.ghz.or(inline.ghz);
        let models = models(&row.label);
        for (c, cell) in row.cells.iter().enumerate() {
            let (Some((value, step)), Role::Value) = (cell.number, roles[c]) else { continue };
            let column = &table.columns[c];
            let column_tokens = tokens(column, Span::new(0, column.len()));
            let mut words = row_words.clone();
            words.extend(mention::words(&column_tokens));
            words.extend(metrics.iter().cloned());
            let read = unit_of(column, &title);
            all.push(Quantity {
                value,
                step,
                unit: cell.sign.clone().or(read.as_ref().map(|r| r.unit.clone())),
                scale: read.map_or(1.0, |r| r.scale),
                family: family(column, &title),
                words,
                models: models.clone(),
                attributes,
                lower_is_better: lower_is_better(&column.to_lowercase())
                    || (lower_is_better(&title) && !column.contains('/')),
                origin: Origin::Cell { table: index, row: r, column: c },
                name: name_of(&row.label, &attributes, column),
                label: row.label.clone(),
            });
        }
    }
}

/// A system, distinguished from its like by clock and chips, and what was measured.
fn name_of(label: &str, attributes: &Attributes, column: &str) -> String {
    let mut name = label.trim().to_owned();
    if let Some(chips) = attributes.chips {
        let noun = if chips == 1.0 { "chip" } else { "chips" };
        name = format!("{name}, {chips} {noun}");
    }
    if let Some(ghz) = attributes.ghz {
        name = format!("{name}, {ghz} GHz");
    }
    if !column.is_empty() {
        name = format!("{name} ({column})");
    }
    name
}

/// The unit that a column's name or the words over the table give.
fn unit_of(column: &str, title: &str) -> Option<unit::Read> {
    let in_words = |words: &str| {
        words
            .split(|c: char| c.is_whitespace() || matches!(c, '(' | ')' | '[' | ']' | ','))
            .filter(|w| w.len() > 1)
            .find_map(|w| match w.to_lowercase().as_str() {
                "kr/s" | "kw/s" => unit::read("kb/s", "KB/s"),
                lower => {
                    unit::read(lower, w).filter(|r| !matches!(r.unit, Unit::Count(_) | Unit::Times))
                }
            })
    };
    in_words(column).or_else(|| in_words(title).filter(|r| r.unit == Unit::Time))
}

/// What values may be compared with each other: the column's name without base and peak.
fn family(column: &str, title: &str) -> String {
    let mut words: Vec<String> = column
        .to_lowercase()
        .split(|c: char| !c.is_alphanumeric() && c != '/')
        .map(|w| w.replace("_base", "").replace("base", "").replace("peak", ""))
        .filter(|w| !w.is_empty())
        .collect();
    if words.is_empty() {
        words.push(format!("of {}", title.chars().take(40).collect::<String>()));
    }
    words.join(" ")
}

/// Models in the name of a system. Words in brackets and after commas are about its parts.
pub(crate) fn models(label: &str) -> BTreeSet<String> {
    let head = label.split(['(', ',']).next().unwrap_or(label);
    let read = tokens(head, Span::new(0, head.len()));
    let parts = [
        "xeon",
        "opteron",
        "sparc",
        "ultrasparc",
        "sparc64",
        "itanium",
        "core",
        "power",
        "pentium",
        "epyc",
        "ryzen",
        "intel",
        "amd",
    ];
    let mut found = BTreeSet::new();
    for (i, token) in read.iter().enumerate() {
        let named = token.is_word() || token.number().is_some();
        let lower = form(&token.lower);
        let before = i.checked_sub(1).map_or("", |p| read[p].lower.as_str());
        let processor = parts.contains(&before) && before != "power";
        if named
            && !processor
            && mention::is_model(&lower)
            && token.number().is_none_or(|n| n.label)
        {
            found.insert(lower);
        }
    }
    found
}

fn of_quoted(document: &Document<'_>, quoted: &[QuotedResult], all: &mut Vec<Quantity>) {
    let whole = tokens(document.text, Span::new(0, document.text.len().min(1 << 20)));
    let printed: BTreeSet<u64> =
        whole.iter().filter_map(Token::number).map(|n| n.value.to_bits()).collect();
    let words: BTreeSet<String> = mention::words(&whole);
    for (i, result) in quoted.iter().enumerate() {
        let models = models(&result.system);
        let benchmark = form(&result.benchmark.to_lowercase());
        let about = words.contains(&benchmark) && models.iter().any(|m| words.contains(m));
        let telling = result.value.abs() >= 100.0 || result.value.fract() != 0.0;
        let metric = result.metric.to_lowercase();
        let near = models.iter().any(|m| words.contains(m))
            || metric
                .split(|c: char| !c.is_alphanumeric())
                .any(|w| w.len() > 3 && words.contains(&form(w)));
        let meant = about || (telling && near && printed.contains(&result.value.to_bits()));
        if !meant {
            continue;
        }
        let mut text = format!(
            "{} {} {}",
            result.system,
            result.metric,
            result.config_note.as_deref().unwrap_or("")
        );
        for more in [&result.processor, &result.os, &result.compiler_or_jvm] {
            text.push(' ');
            text.push_str(more.as_deref().unwrap_or(""));
        }
        let read = unit::read(&result.unit.to_lowercase(), &result.unit);
        let attributes = Attributes {
            chips: result.chips,
            cores: result.cores,
            threads: result.threads,
            ghz: result.ghz,
            rack_units: result.rack_units,
            watts: result.watts,
        };
        all.push(Quantity {
            value: result.value,
            step: printed_step(&result.value_text()),
            unit: read.as_ref().map(|r| r.unit.clone()),
            scale: read.map_or(1.0, |r| r.scale),
            family: format!("quoted {}", family(&result.metric, "")),
            words: mention::words(&tokens(&text, Span::new(0, text.len()))),
            models,
            attributes,
            lower_is_better: result.higher_is_better == Some(false),
            origin: Origin::Quoted(i),
            name: format!(
                "{} [{}]",
                name_of(&result.system, &attributes, &result.metric),
                result.id
            ),
            label: result.system.clone(),
        });
    }
}

/// One unit in the last digit that a value was printed with.
fn printed_step(text: &str) -> f64 {
    let digits: String =
        text.chars().filter(|c| c.is_ascii_digit() || matches!(c, '.' | ',')).collect();
    plain_number(&digits).map_or(1.0, |(_, step, _)| step)
}
