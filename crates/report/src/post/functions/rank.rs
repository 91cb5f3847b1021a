//! `rank`: the place of a result in a landscape, with its date.

use assay_rules::denominator::Basis;
use assay_rules::landscape::{Landscape, Query};

use super::value::{base, basis, keep, unsupported};
use super::{Made, phrase};
use crate::post::arguments::Arguments;
use crate::post::checks;
use crate::post::error::PostError;
use crate::post::evaluate::Evaluator;

/// `1st of 3 as of 2009-08-27`.
pub(super) fn rank<'a>(e: &mut Evaluator<'a>, a: &Arguments<'a>) -> Result<Made, PostError> {
    let amount = e.amount(a, "of")?;
    let basis = basis(a)?;
    let landscape = load(e, a, "in", basis)?;
    let [row] = amount.rows.as_slice() else {
        return Err(a.error("of", "only a quoted result has a place in a landscape", ""));
    };
    let id = e.library.result(*row).id.clone();
    let Some(line) = landscape.lines.iter().find(|l| l.ids.contains(&id)) else {
        let message = format!("`{id}` is not in the landscape `{}`", landscape.name);
        return Err(a.error("of", message, "name another landscape with `in`"));
    };
    let ranked = landscape.lines.iter().filter(|l| l.rank.is_some()).count();
    let mut number = base(e, a.function(), a.line(), &[&amount], basis);
    "derived from quoted".clone_into(&mut number.kind);
    let day = landscape.as_of.as_deref();
    let mut findings = checks::rank(&amount.entry.label, &landscape.title, day);
    findings.extend(checks::denominator(&[&amount], basis));
    match line.rank {
        Some(place) => {
            let dated = day.map(|d| format!(" as of {d}")).unwrap_or_default();
            number.text = format!("{} of {ranked}{dated}", phrase::ordinal(place));
            number.value = Some(place as f64);
            number.formula = format!(
                "place of {} among {ranked} results of {}, {basis}",
                amount.entry.label, landscape.title
            );
            let entries = landscape.entries();
            let turns: Vec<_> = entries
                .iter()
                .filter(|other| other.value != amount.entry.value)
                .flat_map(|other| {
                    assay_rules::denominator::reversals_from(&amount.entry, other, basis)
                })
                .filter(|t| t.ahead == amount.entry.label)
                .collect();
            let several = landscape.matrix().bases.len() > 1;
            findings.extend(checks::reversal(basis, &turns, several));
            if !turns.is_empty() {
                number.matrix = Some(landscape.matrix());
            }
        }
        None => unsupported(&mut number, &format!("{} has no place {basis}", amount.entry.label)),
    }
    Ok(Made::Number(keep(e, number, findings, &[&amount])))
}

/// The landscape that an argument names, or that of the front matter.
pub(super) fn load(
    e: &mut Evaluator<'_>,
    a: &Arguments<'_>,
    argument: &str,
    basis: Basis,
) -> Result<Landscape, PostError> {
    let Some(name) = a.text(argument)?.or(e.front.landscape.as_deref()) else {
        let help = "name one, or give `landscape` in the front matter";
        return Err(a.error(argument, format!("`{}` needs a landscape", a.function()), help));
    };
    let as_of = match a.get("as_of") {
        Some(_) => a.text("as_of")?.map(str::to_owned),
        None => e.front.as_of.clone(),
    };
    let query = Query {
        as_of,
        per: if let Basis::Per(d) = basis { vec![d] } else { Vec::new() },
        metric: if a.get("metric").is_some() { a.text("metric")?.map(str::to_owned) } else { None },
        top: None,
    };
    let landscape = e
        .library
        .collection
        .landscape(name, &query)
        .map_err(|error| a.error(argument, error.to_string(), ""))?;
    for line in &landscape.lines {
        let rows: Vec<usize> = line.ids.iter().filter_map(|id| e.library.at(id)).collect();
        e.used.extend(rows);
    }
    e.trademark(&landscape.trademark);
    Ok(landscape)
}
