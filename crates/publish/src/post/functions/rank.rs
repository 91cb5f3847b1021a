//! `rank`: the rank of a result in a landscape, with its date.

use assay_checks::{Evidence, RegisteredItems, rows};
use assay_model::{Better, Finding};
use assay_quoted::denominator::Basis;
use assay_quoted::landscape::{Landscape, LandscapeLine, Query, question};

use super::compare::comparable;
use super::phrase;
use super::value::{base, basis, keep};
use crate::post::amount::{Amount, FunctionAnswer};
use crate::post::arguments::Arguments;
use crate::post::checks;
use crate::post::error::Result;
use crate::post::evaluator::{CallResult, Evaluator};
use crate::post::exact::exact;
use crate::post::expression::ExpressionKind;

/// Prints a rank such as `1st of 3 as of 2009-08-27`.
pub(super) fn rank<'a>(e: &mut Evaluator<'a>, a: &Arguments<'a>) -> Result<CallResult> {
    let amount = e.amount(a, "of")?;
    let basis = basis(a)?;
    let listed = a.get("in").is_some_and(|x| !matches!(x.what, ExpressionKind::Text(_)));
    if listed && e.binding.is_some() {
        return among(e, a, &amount, basis);
    }
    let landscape = load(e, a, "in", basis)?;
    let [row] = amount.rows.as_slice() else {
        return Err(a.error("of", "only a quoted result has a rank in a landscape", ""));
    };
    let id = e.library.result(*row).id.clone();
    let asked = question(e.library.result(*row));
    // A rank is among the results that answer the same question.
    let tables = landscape.tables();
    let of_it =
        tables.iter().filter(|(q, _)| *q == asked || q.is_empty()).flat_map(|(_, lines)| lines);
    let others = tables.iter().flat_map(|(_, lines)| lines);
    let holds = |l: &&&LandscapeLine| l.ids.contains(&id);
    let Some(line) = of_it.clone().find(holds).or_else(|| others.clone().find(holds)).copied()
    else {
        let message = format!("`{id}` is not in the landscape `{}`", landscape.name);
        return Err(a.error("of", message, "name another landscape with `in`"));
    };
    let among: Vec<&LandscapeLine> =
        others.copied().filter(|l| l.question == line.question).collect();
    let ranked = among.iter().filter(|l| l.rank.is_some()).count();
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
            number.facts.as_of = day.map(str::to_owned);
            number.sentence = format!(
                "{} is {} of {ranked} in {}{dated} ({})",
                number.facts.subject,
                phrase::ordinal(place),
                number.facts.quantity(),
                landscape.title
            );
            number.answer =
                Some(FunctionAnswer::Place { place, of: ranked, as_of: landscape.as_of.clone() });
            number.formula = format!(
                "place of {} among {ranked} results of {}, {basis}",
                amount.entry.label, landscape.title
            );
            findings.extend(wider(e, *row, &landscape, line, ranked, place, basis));
            let entries: Vec<_> = among.iter().filter_map(|l| l.entry.clone()).collect();
            let turns: Vec<_> = entries
                .iter()
                .filter(|other| other.value != amount.entry.value)
                .flat_map(|other| {
                    assay_quoted::denominator::reversals_from(&amount.entry, other, basis)
                })
                .filter(|t| t.ahead == amount.entry.label)
                .collect();
            let several = landscape.matrix().bases.len() > 1;
            findings.extend(checks::reversal(basis, &turns, several));
            if !turns.is_empty() {
                number.matrix = Some(landscape.matrix());
            }
        }
        None => number.unsupported(&format!("{} has no place {basis}", amount.entry.label)),
    }
    Ok(CallResult::Number(keep(e, number, findings, &[&amount])))
}

/// Ranks a value among those that the binding lists.
fn among<'a>(
    e: &mut Evaluator<'a>,
    a: &Arguments<'a>,
    amount: &Amount,
    basis: Basis,
) -> Result<CallResult> {
    let mut others = e.amounts(a, "in")?;
    others.retain(|x| x.entry != amount.entry);
    let lower = match a.get("lower") {
        Some(_) => a.truth("lower")?,
        None if amount.withheld.is_some() => false,
        None => match amount.better() {
            Better::Higher => false,
            Better::Lower => true,
            Better::Neither => {
                let message = format!("which way {} is better is not recorded", amount.metric);
                let help = "say `lower=true` or `lower=false`, or declare `better` of the table";
                return Err(a.error("of", message, help));
            }
        },
    };
    let mut all = vec![amount.clone()];
    for other in others {
        all.push(comparable(a, "in", amount, other)?);
    }
    let mut values = Vec::new();
    for x in &all {
        match x.under(basis).map(|q| exact(&q)) {
            Ok(Some(value)) => values.push(value),
            Ok(None) => return Ok(Amount::missing(&x.entry.label, "1").into()),
            Err(e) => return Ok(Amount::missing(&e.to_string(), "1").into()),
        }
    }
    let own = values[0].clone();
    let ahead = values.iter().filter(|v| if lower { **v < own } else { **v > own }).count();
    let as_of = match a.text("as_of")? {
        Some(day) => Some(day.to_owned()),
        None => all.iter().filter_map(|x| x.as_of.clone()).max(),
    };
    let answer = FunctionAnswer::Place { place: ahead + 1, of: all.len(), as_of };
    let inputs = e.inputs(&all.iter().collect::<Vec<_>>());
    Ok(CallResult::Answer(Box::new(answer), inputs))
}

/// Returns a finding if the widest landscape of the benchmark on that day gives another rank; it
/// names the results that are left out.
fn wider(
    e: &Evaluator<'_>,
    row: usize,
    shown: &Landscape,
    line: &LandscapeLine,
    ranked: usize,
    place: usize,
    basis: Basis,
) -> Vec<Finding> {
    let own = e.library.result(row);
    let query = Query {
        as_of: shown.as_of.clone(),
        per: if let Basis::Per(d) = basis { vec![d] } else { Vec::new() },
        ..Query::default()
    };
    let asked = question(own);
    let mut widest: Option<(Landscape, usize, usize)> = None;
    for listing in e.library.collection.list() {
        let Ok(other) = e.library.collection.landscape(&listing.name, &query) else { continue };
        let tables = other.tables();
        let Some((_, lines)) = tables.iter().find(|(q, _)| *q == asked) else { continue };
        let same = |l: &&&LandscapeLine| {
            l.ids.contains(&own.id)
                || l.entry.as_ref().zip(line.entry.as_ref()).is_some_and(|(a, b)| {
                    a.value.value == b.value.value && same_system(e, l, &own.system)
                })
        };
        let Some(there) = lines.iter().find(same).and_then(|l| l.rank) else { continue };
        let of = lines.iter().filter(|l| l.rank.is_some()).count();
        if of > widest.as_ref().map_or(ranked, |(_, of, _)| *of) {
            widest = Some((other.clone(), of, there));
        }
    }
    let Some((other, of, there)) = widest.filter(|(_, _, there)| *there != place) else {
        return Vec::new();
    };
    let labels = |l: &Landscape, q: &str| -> Vec<(f64, String)> {
        let lines = l.lines.iter().filter(|x| x.question == q && x.rank.is_some());
        lines.filter_map(|x| x.entry.as_ref()).map(|x| (x.value.value, x.label.clone())).collect()
    };
    let here = labels(shown, &line.question);
    let all = labels(&other, &asked);
    let absent = |(value, _): &&(f64, String)| !here.iter().any(|(own, _)| own == value);
    let ahead = there - 1;
    let evidence = Evidence {
        registered: Some(RegisteredItems {
            items: all.iter().take(ahead.max(1)).map(|(_, label)| label.clone()).collect(),
            shown: all.iter().filter(|x| !absent(x)).map(|(_, label)| label.clone()).collect(),
            reverses_headline: None,
            headline: Some(format!(
                "{} of {ranked} in `{}`, but {} of {of} in `{}`{}; {} of them left out",
                phrase::ordinal(place),
                shown.name,
                phrase::ordinal(there),
                other.name,
                shown.as_of.as_deref().map(|d| format!(" as of {d}")).unwrap_or_default(),
                all.iter().filter(absent).count(),
            )),
        }),
        ..Evidence::default()
    };
    checks::judge(&rows::SELECTIVE_REPORT, &evidence)
}

/// Returns true if a line is about this system.
fn same_system(e: &Evaluator<'_>, line: &LandscapeLine, system: &str) -> bool {
    line.ids
        .iter()
        .filter_map(|id| e.library.at(id))
        .any(|at| e.library.result(at).system == system)
}

/// Returns the landscape that an argument names, or that of the front matter.
pub(super) fn load(
    e: &mut Evaluator<'_>,
    a: &Arguments<'_>,
    argument: &str,
    basis: Basis,
) -> Result<Landscape> {
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
