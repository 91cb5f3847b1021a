//! Expands the factors of an experiment: checks every level, enumerates ranges and groups zipped
//! factors.

use std::collections::{BTreeSet, HashMap};

use assay_model::{Experiment, FactorLevels, ParamType, Scalar, WorkloadSpec};

use crate::error::{Result, wrong};
use crate::plan::{check_control, check_param};

/// Limit on the levels of all factors together; a larger number is taken for a mistake.
const MAX_LEVELS: usize = 20_000;

/// Factors in the order of their names, with their levels.
pub(crate) type Factors = Vec<(String, Vec<Scalar>)>;

pub(crate) fn expand_factors(
    experiment: &Experiment,
    spec: &WorkloadSpec,
    cpus: usize,
) -> Result<Factors> {
    let mut factors: Factors = Vec::new();
    let mut all = 0;
    for (name, levels) in &experiment.factors {
        let path = ["factors", name.as_str()];
        let levels = expand_levels(&path, levels, cpus, MAX_LEVELS.saturating_sub(all))?;
        all += levels.len();
        let mut seen = BTreeSet::new();
        for level in &levels {
            if !seen.insert(level.to_text()) {
                let message = format!("`{name}` has the level `{level}` twice");
                return Err(wrong(&path, message, "a level is one treatment; list it once"));
            }
            match name.strip_prefix("controls.") {
                Some(control) => check_control(&path, control, level)?,
                None if crate::experiment::place::is_machine(experiment, name) => {}
                None if crate::experiment::source::is_revision(experiment, name) => {}
                None => check_param(experiment, spec, &path, name, level)?,
            }
        }
        let fixed = match name.strip_prefix("controls.") {
            Some(control) => experiment.controls.contains_key(control),
            None => {
                experiment.params.contains_key(name)
                    || crate::experiment::place::fixed(experiment, name)
            }
        };
        if fixed {
            let message = format!("`{name}` is both fixed and a factor");
            return Err(wrong(&path, message, "leave it out of one of the two"));
        }
        factors.push((name.clone(), levels));
    }
    factors.extend(crate::experiment::place::host_factor(experiment)?);
    factors.extend(all_members(experiment, spec));
    factors.sort_by(|a, b| a.0.cmp(&b.0));
    Ok(factors)
}

/// Returns the member factor of a suite with all members as levels, if the experiment does not
/// choose members.
fn all_members(experiment: &Experiment, spec: &WorkloadSpec) -> Option<(String, Vec<Scalar>)> {
    let member = &spec.suite.as_ref()?.member;
    if experiment.params.contains_key(member) || experiment.factors.contains_key(member) {
        return None;
    }
    match &spec.param(member)?.ty {
        ParamType::Choice { of } => {
            Some((member.clone(), of.iter().map(|m| Scalar::from(m.as_str())).collect()))
        }
        _ => None,
    }
}

fn expand_levels(
    path: &[&str],
    levels: &FactorLevels,
    cpus: usize,
    most: usize,
) -> Result<Vec<Scalar>> {
    let too_many = || {
        let help = "use a larger step, or fewer levels";
        wrong(path, format!("more than {MAX_LEVELS} levels in all factors"), help)
    };
    let (from, to, step, times) = match levels {
        FactorLevels::List(levels) if levels.is_empty() => {
            return Err(wrong(path, "a factor without levels", "name at least one level"));
        }
        FactorLevels::List(levels) if levels.len() > most => return Err(too_many()),
        FactorLevels::List(levels) => {
            return Ok(levels.iter().map(|l| l.value().clone()).collect());
        }
        FactorLevels::Range { from, to, step, times } => (*from, to, *step, *times),
    };
    let to = match to {
        Scalar::Text(t) if t == "cpus" => cpus as i64,
        other => other.as_i64().ok_or_else(|| {
            wrong(path, format!("`to` is `{other}`"), "use a whole number, or \"cpus\"")
        })?,
    };
    let bad_step = step.is_some_and(|s| s < 1) || times.is_some_and(|t| t < 2 || from < 1);
    if bad_step || (step.is_some() && times.is_some()) || to < from {
        return Err(wrong(
            path,
            format!("the range from {from} to {to} is invalid"),
            "use from <= to and either step >= 1, or times >= 2 with from >= 1",
        ));
    }
    let mut values = Vec::new();
    let mut next = from;
    while next < to {
        if values.len() >= most {
            return Err(too_many());
        }
        values.push(Scalar::Int(next));
        let after = match times {
            Some(times) => next.checked_mul(times),
            None => next.checked_add(step.unwrap_or(1)),
        };
        next = after.unwrap_or(to);
    }
    values.push(Scalar::Int(to));
    Ok(values)
}

/// Groups factors that advance together: zipped ones form a group, and every other factor is alone.
pub(crate) fn groups(experiment: &Experiment, factors: &Factors) -> Result<Vec<Vec<usize>>> {
    let path = ["design", "zip"];
    let mut grouped = BTreeSet::new();
    let mut groups = Vec::new();
    let places: HashMap<&str, usize> = factors.iter().map(|(n, _)| n.as_str()).zip(0..).collect();
    for zip in &experiment.design.zip {
        let mut group = Vec::new();
        for name in zip {
            let index = *places.get(name.as_str()).ok_or_else(|| {
                wrong(&path, format!("`{name}` is not a factor"), "zip takes names of factors")
            })?;
            if !grouped.insert(index) {
                return Err(wrong(&path, format!("`{name}` is zipped twice"), "zip it once"));
            }
            group.push(index);
        }
        let lengths: Vec<usize> = group.iter().map(|i| factors[*i].1.len()).collect();
        if lengths.windows(2).any(|w| w[0] != w[1]) {
            let message = format!("{} have {lengths:?} levels", zip.join(", "));
            return Err(wrong(&path, message, "zipped factors need the same number of levels"));
        }
        if !group.is_empty() {
            groups.push(group);
        }
    }
    for index in 0..factors.len() {
        if !grouped.contains(&index) {
            groups.push(vec![index]);
        }
    }
    groups.sort();
    Ok(groups)
}
