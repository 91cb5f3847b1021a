//! Contents of a landscape's lines: the texts of the cells, and labels that distinguish the lines.

use std::collections::HashMap;

use assay_model::{Better, MetricKind};

use super::definition::{ColumnSpec, Definition};
use super::draft::Draft;
use super::{ColumnRole, LandscapeCell, LandscapeColumn};
use crate::denominator::{Basis, Denominator, DenominatorCounts, SystemResult};
use crate::quantity::Quantity;
use crate::quoted::QuotedResult;

/// Columns with numbers that describe a system.
const COUNTS: [&str; 10] = [
    "chips",
    "cores",
    "threads",
    "instances",
    "ghz",
    "memory_gb",
    "rack_units",
    "watts",
    "price",
    "value_per_jvm",
];

/// Builds the column that a definition specifies; `unit` is that of the deciding value.
pub(super) fn column(spec: &ColumnSpec, unit: &str, better: Better) -> LandscapeColumn {
    let (key, title, role) = if let Some(field) = &spec.field {
        let role =
            if COUNTS.contains(&field.as_str()) { ColumnRole::Count } else { ColumnRole::Words };
        (field.clone(), title_of(field), role)
    } else if let Some(value) = &spec.value {
        let title = spec
            .metric
            .clone()
            .unwrap_or_else(|| if unit.is_empty() { value.clone() } else { unit.to_owned() });
        (value.clone(), title, ColumnRole::Value)
    } else if let Some([a, b]) = &spec.ratio {
        (format!("{a}_per_{b}"), format!("{a} / {b}"), ColumnRole::Derived)
    } else {
        let per = spec.denominator().map_or("", Denominator::name);
        let times = if better == Better::Lower { " x " } else { "/" };
        (
            format!("per_{}", per.replace('-', "_")),
            format!("{unit}{times}{per}"),
            ColumnRole::Derived,
        )
    };
    LandscapeColumn { key, title: spec.title.clone().unwrap_or(title), role }
}

fn title_of(field: &str) -> String {
    match field {
        "ghz" => "GHz".to_owned(),
        "memory_gb" => "GB".to_owned(),
        "rack_units" => "RU".to_owned(),
        "watts" => "W".to_owned(),
        "os" => "OS".to_owned(),
        "compiler_or_jvm" => "compiler or JVM".to_owned(),
        "config_note" => "note".to_owned(),
        "value_per_jvm" => "per JVM, as printed".to_owned(),
        other => other.replace('_', " "),
    }
}

/// Builds the cell of a line in a column.
pub(super) fn cell(
    spec: &ColumnSpec,
    definition: &Definition,
    draft: &Draft<'_>,
    entry: Option<&SystemResult>,
) -> Option<LandscapeCell> {
    if let Some(field) = &spec.field {
        let text = draft.row()?.field(field)?.into_owned();
        let value = COUNTS.contains(&field.as_str()).then(|| text.parse().ok()).flatten();
        return Some(LandscapeCell { text, value, formula: None });
    }
    if let Some(key) = &spec.value {
        let row = draft.value(definition, key)?;
        return Some(LandscapeCell {
            text: row.value_text(),
            value: Some(row.value),
            formula: None,
        });
    }
    if let Some([a, b]) = &spec.ratio {
        let (a, b) = (draft.value(definition, a)?, draft.value(definition, b)?);
        let ratio = given(a, &a.metric).per(&given(b, &b.metric))?;
        let text = format!("{:.2}", ratio.value);
        return Some(LandscapeCell {
            text,
            value: Some(ratio.value),
            formula: Some(ratio.formula()),
        });
    }
    let quantity = entry?.quantity(Basis::Per(spec.denominator()?))?;
    Some(LandscapeCell {
        text: quantity.text(),
        value: Some(quantity.value),
        formula: Some(quantity.formula()),
    })
}

fn given(row: &QuotedResult, what: &str) -> Quantity {
    let from = format!("{}: {}", row.source, row.id);
    Quantity::given(row.value, &row.unit, MetricKind::Quoted, what, &from)
}

/// Converts a row to an entry: its value with the amounts by which it can be divided.
pub fn entry(row: &QuotedResult, label: &str, better: Better) -> SystemResult {
    SystemResult {
        label: label.to_owned(),
        value: given(row, &format!("{} of {label}", row.metric)),
        better,
        counts: counts(row),
    }
}

/// Returns the question that a result answers, its benchmark and metric. Only results of the same
/// question can be ranked together; the metric's name includes tuning and model.
pub fn question(row: &QuotedResult) -> String {
    format!("{}: {}", row.benchmark, row.metric)
}

/// Columns that describe counts, watts and prices, for the checks.
const STATED: [&str; 7] = [
    "counted",
    "watts_source",
    "price_date",
    "price_scope",
    "price_terms",
    "price_discount",
    "price_support_years",
];

/// Returns the source's note on the configuration if the row has watts, since the note states how
/// they were obtained.
fn note(row: &QuotedResult) -> Option<(String, String)> {
    row.watts.and(row.config_note.clone()).map(|note| ("config_note".to_owned(), note))
}

/// Returns a row's amounts of the denominators.
pub fn counts(row: &QuotedResult) -> DenominatorCounts {
    let stated = |column: &&str| Some(((*column).to_owned(), row.more.get(*column)?.clone()));
    DenominatorCounts {
        chips: row.chips,
        cores: row.cores,
        threads: row.threads,
        instances: row.instances_or_inferred(),
        instances_inferred: row.instances.is_none(),
        ghz: row.ghz,
        watts: row.watts,
        rack_units: row.rack_units,
        price: row.price,
        currency: row.currency.clone(),
        stated: STATED.iter().filter_map(stated).chain(note(row)).collect(),
    }
}

/// Builds a label for each line: the text of its first column of words, and of further columns
/// until it differs from the other lines.
pub(super) fn labels(definition: &Definition, drafts: &[Draft<'_>]) -> Vec<String> {
    let fields: Vec<&str> = definition.columns.iter().filter_map(|c| c.field.as_deref()).collect();
    let text = |draft: &Draft<'_>, field: &str| -> String {
        let text = draft.row().and_then(|r| r.field(field)).unwrap_or_default();
        match field {
            _ if text.is_empty() => String::new(),
            "chips" | "cores" | "threads" | "instances" => {
                let one = field.trim_end_matches('s');
                format!("{text} {}", if text == "1" { one } else { field })
            }
            "ghz" => format!("{text} GHz"),
            "memory_gb" => format!("{text} GB"),
            _ => text.into_owned(),
        }
    };
    let first = fields.first().copied().unwrap_or("id");
    let mut labels: Vec<String> = drafts.iter().map(|d| text(d, first)).collect();
    for field in fields.iter().skip(1).copied().chain(["id"]) {
        let mut groups: HashMap<String, Vec<usize>> = HashMap::new();
        for (i, label) in labels.iter().enumerate() {
            groups.entry(label.clone()).or_default().push(i);
        }
        if groups.len() == labels.len() {
            break;
        }
        for members in groups.into_values().filter(|m| m.len() > 1) {
            let texts: Vec<String> = members.iter().map(|i| text(&drafts[*i], field)).collect();
            if texts.iter().all(|t| *t == texts[0]) {
                continue;
            }
            for (i, more) in members.into_iter().zip(texts).filter(|(_, t)| !t.is_empty()) {
                if !labels[i].is_empty() {
                    labels[i].push_str(", ");
                }
                labels[i].push_str(&more);
            }
        }
    }
    labels
}
