//! Makes the plan of an experiment: crosses the factors, checks every level and lays out the
//! blocks.

pub(crate) mod estimate;
pub(crate) mod factors;
pub(crate) mod labels;
mod patterns;
pub(crate) mod prepare;
pub(crate) mod schedule;

use std::collections::BTreeMap;

use assay_model::cancel::checkpoint;
use assay_model::{
    Engine, Experiment, FactorLevels, MetricSpec, Order, Plan, PlannedTrial, SCHEMA_VERSION,
    Scalar, Stop, Treatment, WorkloadSpec, nearest, units,
};
use assay_workloads::Workload;
use assay_workloads::builtin::command;
use assay_workloads::readers::BENCHMARKS;

use crate::error::{Result, wrong};
use crate::plan::factors::{Factors, expand_factors, groups};
use crate::plan::labels::labels;
use crate::plan::patterns::{ExcludedCombinations, LevelNames, factor_help};
use crate::tracers;
use crate::trial::inputs;

/// Limit on the number of treatments; a larger number is taken for a mistake.
const MAX_TREATMENTS: usize = 10_000;
/// Memory limit in bytes for the treatments of a plan.
const MAX_BYTES: usize = 16 << 20;
/// Memory in bytes of one parameter of a treatment in addition to the text of its name and value:
/// its entry in the map and two heap blocks.
const ENTRY_BYTES: usize = 128;

/// Advice for users who need something that the workload `command` lacks.
const PRINTED: &str =
    "; --metric-from reads a number that the program prints, --reader the output of a suite";
const GRID: &str =
    "; for a parameter of your own, write its name in braces in the command: gzip -{level}";

/// Makes the plan. `cpus` is the number of CPUs that assay may use here (the `cpus` of a factor's
/// range), `seed` the seed of the shuffles if the experiment names none.
///
/// # Errors
/// A parameter, factor, control, combination or design is impossible.
pub fn make_plan(
    experiment: &Experiment,
    workload: &dyn Workload,
    cpus: usize,
    seed: u64,
) -> Result<Plan> {
    let spec = workload.spec();
    if experiment.design.order == Order::Unknown {
        let help = "only imported runs have it; use \"random\"";
        return Err(wrong(&["design", "order"], "a run cannot have it", help));
    }
    check_fixed(experiment, spec)?;
    let factors = expand_factors(experiment, spec, cpus)?;
    let names = LevelNames::from_experiment(experiment, &factors)?;
    let pattern = names.resolve(&["compare", "baseline"], &experiment.compare.baseline)?;
    let treatments = treatments(experiment, spec, &factors, &names)?;
    check_warmups(experiment, spec)?;
    crate::experiment::source::check(experiment, spec)?;
    crate::experiment::hooks::check(experiment)?;
    // Revisions cannot be checked before they are built, and hosts check their own programs.
    let elsewhere = experiment.source.is_some() || experiment.place.engine == Engine::Ssh;
    for treatment in treatments.iter().filter(|_| !elsewhere) {
        checkpoint();
        for own in &experiment.design.warmups {
            let trial = PlannedTrial { params: own.clone(), ..PlannedTrial::default() };
            inputs::check(workload, treatment, &trial.params(&treatment.params)).map_err(|e| {
                let what = format!("a warm-up of treatment {}: {e}", treatment.label());
                wrong(&["design", "warmups"], what, "")
            })?;
        }
        inputs::check(workload, treatment, &treatment.params)
            .map_err(|e| wrong(&["workload"], format!("{}{e}", treatment.prefix()), ""))?;
        if let Some(why) = inputs::missing(workload, treatment) {
            return Err(wrong(&["controls"], why, "use a writable storage"));
        }
    }
    let metric = metric(experiment, workload, &treatments)?;
    let baseline = baseline(spec, &treatments, &factors, &pattern)?;
    check_compare(experiment, &factors)?;
    check_group(experiment, spec, &factors)?;
    check_times(experiment)?;
    check_observers(experiment)?;
    crate::experiment::place::check(experiment)?;
    treatments
        .iter()
        .try_for_each(|t| crate::experiment::place::machine(experiment, t).map(|_| ()))?;
    let seed = experiment.design.seed.unwrap_or(seed);
    let blocks = schedule::blocks(&experiment.design);
    let trials = schedule::trials(&experiment.design, &treatments, seed, blocks)?;
    let trials = crate::experiment::place::spread(&experiment.place, trials);
    Ok(Plan {
        schema_version: SCHEMA_VERSION,
        workload: spec.clone(),
        seed,
        factors: factors.iter().map(|(name, _)| name.clone()).collect(),
        treatments,
        baseline,
        metric,
        trials,
    })
}

/// Checks the number of trials of a plan with this many treatments, before any of it is built.
///
/// # Errors
/// The plan would have too many trials.
pub(crate) fn check_size(experiment: &Experiment, treatments: usize) -> Result<()> {
    let design = &experiment.design;
    schedule::count(design, treatments, schedule::blocks(design)).map(|_| ())
}

/// Estimates the memory in bytes of a treatment: its parameters, controls and levels.
fn treatment_bytes(experiment: &Experiment, spec: &WorkloadSpec, factors: &Factors) -> usize {
    let one = |name: &str, value: &Scalar| ENTRY_BYTES + name.len() + value.to_text().len();
    let defaults = spec.params.iter().filter_map(|p| Some(one(&p.name, p.default.as_ref()?)));
    let fixed = experiment.params.iter().chain(&experiment.controls).map(|(n, v)| one(n, v));
    // A level is stored twice in a treatment: as a level, and as the parameter or control that it
    // sets.
    let levels = factors
        .iter()
        .map(|(n, levels)| 2 * levels.iter().map(|level| one(n, level)).max().unwrap_or(0));
    defaults.chain(fixed).chain(levels).sum()
}

fn check_warmups(experiment: &Experiment, spec: &WorkloadSpec) -> Result<()> {
    if experiment.place.is_remote() && !experiment.design.warmups.is_empty() {
        let help = "leave it out, or run on this machine";
        return Err(wrong(
            &["design", "warmups"],
            "runs on nodes cannot have extra warm-ups",
            help,
        ));
    }
    for (name, value) in experiment.design.warmups.iter().flatten() {
        check_param(experiment, spec, &["design", "warmups"], name, value)?;
    }
    Ok(())
}

fn check_fixed(experiment: &Experiment, spec: &WorkloadSpec) -> Result<()> {
    for (name, value) in &experiment.params {
        check_param(experiment, spec, &["params", name], name, value)?;
    }
    for param in spec.params.iter().filter(|p| p.default.is_none()) {
        let of_suite = spec.suite.as_ref().is_some_and(|s| s.member == param.name);
        if !of_suite
            && !experiment.params.contains_key(&param.name)
            && !experiment.factors.contains_key(&param.name)
        {
            return Err(wrong(
                &["params", &param.name],
                format!("workload `{}` needs the parameter `{}`", spec.name, param.name),
                param.help.clone(),
            ));
        }
    }
    for (path, value) in &experiment.controls {
        check_control(&["controls", path], path, value)?;
    }
    Ok(())
}

pub(crate) fn check_param(
    experiment: &Experiment,
    spec: &WorkloadSpec,
    path: &[&str],
    name: &str,
    value: &Scalar,
) -> Result<()> {
    let Some(param) = spec.param(name) else {
        if spec.name == command::NAME && is_placeholder(experiment, name) {
            return Ok(());
        }
        let known: Vec<&str> = spec.params.iter().map(|p| p.name.as_str()).collect();
        let grid = if spec.name == "command" { GRID } else { "" };
        let all =
            || format!("it takes {}; controls are written `controls.NAME`{grid}", known.join(", "));
        let near = nearest(name, known.iter().copied());
        let help = near.map_or_else(all, |near| format!("did you mean `{near}`?"));
        let message = format!("workload `{}` has no parameter `{name}`", spec.name);
        return Err(wrong(path, message, help));
    };
    param.check(value).map_err(|message| wrong(path, message, param.help.clone()))
}

/// Returns true if a command line of the experiment has `{name}`.
fn is_placeholder(experiment: &Experiment, name: &str) -> bool {
    let fixed = experiment.params.iter().map(|(k, v)| (k.as_str(), v.to_text()));
    let of_factors = experiment.factors.iter().flat_map(|(k, levels)| {
        let levels = match levels {
            FactorLevels::List(levels) => levels.as_slice(),
            FactorLevels::Range { .. } => &[],
        };
        levels.iter().map(move |level| (k.as_str(), level.value().to_text()))
    });
    let texts: Vec<(&str, String)> = fixed.chain(of_factors).collect();
    command::is_placeholder(name, texts.iter().map(|(k, text)| (*k, text.as_str())))
}

pub(crate) fn check_control(path: &[&str], name: &str, value: &Scalar) -> Result<()> {
    assay_system::parse_setting(name, value).map(|_| ()).map_err(|e| wrong(path, e.to_string(), ""))
}

fn treatments(
    experiment: &Experiment,
    spec: &WorkloadSpec,
    factors: &Factors,
    names: &LevelNames<'_>,
) -> Result<Vec<Treatment>> {
    let groups = groups(experiment, factors)?;
    let most = MAX_BYTES / treatment_bytes(experiment, spec, factors).max(1);
    let levels_of = |group: &[usize]| factors[group[0]].1.len();
    let mut crossed = 1usize;
    for group in &groups {
        crossed = crossed.saturating_mul(levels_of(group));
        if crossed > MAX_TREATMENTS {
            let message = format!("more than {MAX_TREATMENTS} treatments");
            return Err(wrong(&["factors"], message, "take fewer levels, or zip factors"));
        }
        if crossed > most {
            let message = format!(
                "{crossed} treatments with these parameters take more than {} MiB, a plan's limit",
                MAX_BYTES >> 20
            );
            let help = format!("at most {most} fit; take fewer levels, or shorter texts");
            return Err(wrong(&["factors"], message, help));
        }
    }
    // The levels of the last group change fastest.
    let combination = |number: usize| {
        let mut rest = number;
        let mut one = BTreeMap::new();
        for group in groups.iter().rev() {
            let levels = levels_of(group);
            let level = |index: &usize| {
                (factors[*index].0.clone(), factors[*index].1[rest % levels].clone())
            };
            one.extend(group.iter().map(level));
            rest /= levels;
        }
        one
    };
    let excluded = ExcludedCombinations::from_experiment(experiment, names)?;
    let mut combinations: Vec<BTreeMap<String, Scalar>> = (0..crossed).map(combination).collect();
    combinations.retain(|c| !excluded.has(c));
    if combinations.is_empty() {
        return Err(wrong(&["design", "exclude"], "every combination is excluded", ""));
    }
    let mut called = BTreeMap::new();
    for (name, levels) in &experiment.factors {
        if let FactorLevels::List(levels) = levels {
            called.insert(name, labels(name, levels)?);
        }
    }
    let numbered = combinations.into_iter().zip(0u32..);
    let made = numbered.map(|(levels, id)| {
        checkpoint();
        let name = |(k, v): (&String, &Scalar)| {
            Some((k.clone(), called.get(k)?.get(&v.to_text())?.clone()))
        };
        let names = levels.iter().filter_map(name).collect();
        Ok(Treatment { names, ..treatment(experiment, spec, id, levels)? })
    });
    made.collect()
}

fn treatment(
    experiment: &Experiment,
    spec: &WorkloadSpec,
    id: u32,
    levels: BTreeMap<String, Scalar>,
) -> Result<Treatment> {
    let mut params: BTreeMap<String, Scalar> =
        spec.params.iter().filter_map(|p| p.default.clone().map(|d| (p.name.clone(), d))).collect();
    params.extend(experiment.params.clone());
    let mut settings: Vec<(&str, &Scalar)> =
        experiment.controls.iter().map(|(k, v)| (k.as_str(), v)).collect();
    for (name, level) in &levels {
        match name.strip_prefix("controls.") {
            Some(control) => settings.push((control, level)),
            None if crate::experiment::source::is_revision(experiment, name) => {}
            None if crate::experiment::place::is_machine(experiment, name) => {}
            None => {
                params.insert(name.clone(), level.clone());
            }
        }
    }
    let controls = settings
        .into_iter()
        .map(|(path, value)| {
            assay_system::parse_setting(path, value)
                .map_err(|e| wrong(&["controls", path], e.to_string(), ""))
        })
        .collect::<Result<Vec<_>, _>>()?;
    Ok(Treatment { id, levels, names: BTreeMap::new(), params, controls })
}

fn metric(
    experiment: &Experiment,
    workload: &dyn Workload,
    treatments: &[Treatment],
) -> Result<String> {
    let spec = workload.spec();
    let mut deciding = treatments.iter().map(|t| workload.deciding(&t.params));
    let first = deciding.next().flatten();
    let known: Vec<&str> = spec.metrics.iter().map(|m: &MetricSpec| m.name.as_str()).collect();
    // A suite sizes its own work, so its wall time decides nothing.
    let given = |param: &str| spec.name == command::NAME && is_given(experiment, param);
    match &experiment.compare.metric {
        None if given("metric_from") => Ok(command::PRINTED.to_owned()),
        None if given("reader") => Ok(BENCHMARKS.to_owned()),
        Some(metric) if given("reader") || given("metric_from") || known.contains(&BENCHMARKS) => {
            Ok(metric.clone())
        }
        None if deciding.any(|metric| metric != first) => Err(wrong(
            &["compare", "metric"],
            "its treatments measure different quantities",
            "run them one at a time, or name the metric that decides (`--metric`)",
        )),
        None => first.or(known.first().copied()).map(str::to_owned).ok_or_else(|| {
            wrong(
                &["compare", "metric"],
                format!("workload `{}` declares no metric", spec.name),
                "name the metric that decides",
            )
        }),
        Some(metric) if known.is_empty() || known.contains(&metric.as_str()) => Ok(metric.clone()),
        Some(metric) => Err(wrong(
            &["compare", "metric"],
            format!("workload `{}` has no metric `{metric}`", spec.name),
            format!(
                "it has {}{}",
                known.join(", "),
                if spec.name == "command" { PRINTED } else { "" }
            ),
        )),
    }
}

/// Returns true if a parameter of text has a value in the experiment.
fn is_given(experiment: &Experiment, param: &str) -> bool {
    let fixed = experiment.params.get(param).is_some_and(|v| !v.to_text().is_empty());
    fixed || experiment.factors.contains_key(param)
}

fn baseline(
    spec: &WorkloadSpec,
    treatments: &[Treatment],
    factors: &Factors,
    pattern: &[(&str, String)],
) -> Result<u32> {
    if pattern.is_empty() {
        return Ok(treatments.first().map_or(0, |t| t.id));
    }
    let is = |t: &Treatment, (name, text): &(&str, String)| {
        t.levels.get(*name).is_some_and(|level| level.to_text() == *text)
    };
    let fitting: Vec<&Treatment> =
        treatments.iter().filter(|t| pattern.iter().all(|p| is(t, p))).collect();
    match fitting.as_slice() {
        [one] => Ok(one.id),
        [first, rest @ ..] if rest.iter().all(|t| another_member(spec, first, t)) => Ok(first.id),
        [] => Err(wrong(
            &["compare", "baseline"],
            "no treatment is the baseline",
            "it is excluded by design.exclude, or zip pairs other levels",
        )),
        several => Err(wrong(
            &["compare", "baseline"],
            format!("{} treatments fit the baseline", several.len()),
            format!("name a level of every factor ({})", factors.len()),
        )),
    }
}

/// Returns true if two treatments of a suite differ only in the member.
fn another_member(spec: &WorkloadSpec, a: &Treatment, b: &Treatment) -> bool {
    let Some(suite) = &spec.suite else { return false };
    a.levels.iter().all(|(k, v)| *k == suite.member || b.levels.get(k) == Some(v))
}

fn check_compare(experiment: &Experiment, factors: &Factors) -> Result<()> {
    let compare = &experiment.compare;
    if !(0.5..=0.999).contains(&compare.confidence) {
        let message = format!("confidence is {}", compare.confidence);
        return Err(wrong(&["compare", "confidence"], message, "use 0.5 to 0.999, such as 0.95"));
    }
    check_margin(&["compare", "margin"], compare.margin.as_ref())?;
    for (name, rule) in &compare.metrics {
        check_margin(&["compare", "metrics", name, "margin"], rule.margin.as_ref())?;
    }
    if compare.gate && compare.margin.is_none() {
        return Err(wrong(&["compare", "gate"], "a gate needs a margin", "set compare.margin"));
    }
    match &compare.scaling {
        Some(f) if !factors.iter().any(|(n, _)| n == f) => Err(wrong(
            &["compare", "scaling"],
            format!("`{f}` is not a factor"),
            "name the factor whose levels are counts",
        )),
        _ => Ok(()),
    }
}

fn check_group(experiment: &Experiment, spec: &WorkloadSpec, factors: &Factors) -> Result<()> {
    let design = &experiment.design;
    let Some(group_by) = &design.group_by else { return Ok(()) };
    let path = ["design", "group_by"];
    if !factors.iter().any(|(n, _)| n == group_by) {
        let known: Vec<&str> = factors.iter().map(|(n, _)| n.as_str()).collect();
        let help = factor_help(&known);
        return Err(wrong(&path, format!("`{group_by}` is not a factor"), help));
    }
    let member = spec.suite.as_ref().is_some_and(|s| s.member == *group_by);
    if member || experiment.compare.scaling.as_ref() == Some(group_by) {
        let message = format!(
            "the levels of `{group_by}` form one result, which needs them in the same blocks"
        );
        return Err(wrong(&path, message, "group by another factor, or leave it out"));
    }
    if design.stop == Stop::Clear || design.blocks.is_none() {
        return Err(wrong(
            &path,
            "groups run one after the other, so the number of blocks must be known before",
            "set design.blocks, with stop = \"fixed\"",
        ));
    }
    Ok(())
}

/// Returns the margin of a metric as a fraction: `"2 %"` and `0.02` are both 0.02.
pub(crate) fn margin(experiment: &Experiment, metric: &str) -> Option<f64> {
    parse_margin(&experiment.compare.margin_of(metric)?.to_text())
}

fn check_margin(path: &[&str], margin: Option<&Scalar>) -> Result<()> {
    match margin.filter(|m| parse_margin(&m.to_text()).is_none()) {
        None => Ok(()),
        Some(margin) => {
            let message = format!("the margin is `{margin}`");
            Err(wrong(path, message, "write a percentage such as \"2 %\", or a fraction"))
        }
    }
}

/// Parses `2 %` or `0.02` as 0.02; `None` if the text is neither, or not above 0 and below 1.
pub fn parse_margin(text: &str) -> Option<f64> {
    let value = match text.trim().strip_suffix('%') {
        Some(percent) => percent.trim().parse::<f64>().ok()? / 100.0,
        None => text.trim().parse::<f64>().ok()?,
    };
    (value > 0.0 && value < 1.0).then_some(value)
}

fn check_observers(experiment: &Experiment) -> Result<()> {
    if let Err(e) = assay_observe::check_monitors(&experiment.observe.monitors) {
        return Err(wrong(&["observe", "monitors"], e.to_string(), ""));
    }
    match experiment.observe.tracers.iter().find(|t| !tracers::is_known(t)) {
        Some(other) => Err(wrong(
            &["observe", "tracers"],
            format!("there is no tracer `{other}`"),
            format!(
                "the tracers are {}; profile@999 samples at another rate (1 to 10000 Hz), \
                 profile:fp and profile:dwarf follow stacks by frame pointers or by DWARF alone, \
                 instructions@5 counts in five blocks",
                tracers::names().join(", ")
            ),
        )),
        None => Ok(()),
    }
}

fn check_times(experiment: &Experiment) -> Result<()> {
    let times = [
        (["design", "max_time"], &experiment.design.max_time),
        (["design", "timeout"], &experiment.design.timeout),
        (["observe", "interval"], &experiment.observe.interval),
        (["fitness", "max_wait"], &experiment.fitness.max_wait),
    ];
    for (path, value) in times {
        units::duration_of(value).map_err(|e| wrong(&path, e.to_string(), ""))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use assay_workloads::Noop;

    use super::*;

    fn plan(text: &str) -> Result<Plan> {
        let text = format!("name = \"x\"\nworkload = \"noop\"\n{text}");
        let experiment = crate::read_experiment("x.toml", &text).unwrap();
        make_plan(&experiment, &Noop, 4, 1)
    }

    fn labels(text: &str) -> Vec<String> {
        plan(text).unwrap().treatments.iter().map(Treatment::label).collect()
    }

    #[test]
    fn factors_are_crossed_zipped_and_excluded() {
        let two = "[factors]\n\"controls.nice\" = [0, 5]\n\"controls.env.A\" = [\"x\", \"y\"]\n";
        assert_eq!(
            labels(two),
            ["env.A=x, nice=0", "env.A=x, nice=5", "env.A=y, nice=0", "env.A=y, nice=5"]
        );
        let zip = format!("{two}[design]\nzip = [[\"controls.nice\", \"controls.env.A\"]]\n");
        assert_eq!(labels(&zip), ["env.A=x, nice=0", "env.A=y, nice=5"]);
        let but = format!("{two}[design]\nexclude = [{{ \"controls.nice\" = 5 }}]\n");
        assert_eq!(labels(&but), ["env.A=x, nice=0", "env.A=y, nice=0"]);
    }

    #[test]
    fn excludes_name_levels_by_value_or_label() {
        let two = "[factors]\n\"controls.nice\" = [{ label = \"low\", value = 5 }, 0]\n\
                   \"controls.env.A\" = [\"x\", \"y\"]\n[design]\n";
        for level in ["5", "\"5\"", "\"low\""] {
            let but = format!(
                "{two}exclude = [{{ \"controls.nice\" = {level}, \"controls.env.A\" = \"y\" }}, \
                {{}}]\n"
            );
            let names: Vec<_> =
                plan(&but).unwrap().treatments.into_iter().map(|t| t.levels).collect();
            assert_eq!(names.len(), 3, "{level}");
            assert!(!names.iter().any(
                |l| l["controls.nice"].to_text() == "5" && l["controls.env.A"].to_text() == "y"
            ));
        }
        for (bad, says) in
            [("{ nice = 5 }", "not a factor"), ("{ \"controls.nice\" = 7 }", "no level")]
        {
            let error = plan(&format!("{two}exclude = [{bad}]\n")).unwrap_err();
            assert!(error.message.contains(says), "{error}");
        }
        let twice = "[factors]\n\"controls.nice\" = [{ label = \"5\", value = 0 }, 5]\n";
        assert!(plan(twice).unwrap_err().message.contains("names two levels"));
    }

    #[test]
    fn many_levels_and_excludes_are_planned_and_more_are_refused() {
        let levels = |n: usize, excludes: usize| {
            let text = |n: usize, one: &dyn Fn(usize) -> String| {
                (0..n).map(one).collect::<Vec<_>>().join(", ")
            };
            format!(
                "[factors]\n\"controls.env.A\" = [{}]\n[design]\nblocks = 1\nexclude = [{}]\n",
                text(n, &|i| format!("\"v{i}\"")),
                text(excludes, &|i| format!("{{ \"controls.env.A\" = \"v{i}\" }}"))
            )
        };
        assert_eq!(plan(&levels(5_000, 4_998)).unwrap().treatments.len(), 2);
        let error = plan(&levels(20_001, 20_000)).unwrap_err();
        assert!(error.message.contains("more than 20000 levels"), "{error}");
        let sets: Vec<String> =
            (0..=patterns::MAX_SETS).map(|i| format!("{{ \"controls.env.A{i}\" = 1 }}")).collect();
        let factors: Vec<String> =
            (0..=patterns::MAX_SETS).map(|i| format!("\"controls.env.A{i}\" = [1]")).collect();
        let error = plan(&format!(
            "[factors]\n{}\n[design]\nexclude = [{}]\n",
            factors.join("\n"),
            sets.join(", ")
        ))
        .unwrap_err();
        assert!(error.message.contains("100 sets of factors"), "{error}");
    }

    #[test]
    fn ranges_are_walked_to_their_end() {
        let nice = |range: &str| {
            let plan = plan(&format!("[factors]\n\"controls.nice\" = {range}\n")).unwrap();
            plan.treatments
                .iter()
                .map(|t| t.levels["controls.nice"].as_i64().unwrap())
                .collect::<Vec<_>>()
        };
        assert_eq!(nice("{ from = 1, to = \"cpus\" }"), [1, 2, 3, 4]);
        assert_eq!(nice("{ from = 1, to = 10, step = 4 }"), [1, 5, 9, 10]);
        assert_eq!(nice("{ from = 1, to = 16, times = 2 }"), [1, 2, 4, 8, 16]);
        for bad in
            ["{ from = 3, to = 1 }", "{ from = 0, to = 8, times = 2 }", "{ from = 1, to = \"x\" }"]
        {
            assert!(plan(&format!("[factors]\n\"controls.nice\" = {bad}\n")).is_err(), "{bad}");
        }
    }

    #[test]
    fn a_baseline_is_one_treatment() {
        let two = "[factors]\n\"controls.nice\" = [0, 5]\n\"controls.env.A\" = [\"x\", \"y\"]\n";
        let baseline = |pattern: &str| plan(&format!("{two}[compare]\nbaseline = {pattern}\n"));
        assert_eq!(
            baseline("{ \"controls.nice\" = 5, \"controls.env.A\" = \"y\" }").unwrap().baseline,
            3
        );
        let several = baseline("{ \"controls.nice\" = 5 }").unwrap_err();
        assert!(several.message.contains("2 treatments"), "{several}");
        let none = baseline("{ \"controls.nice\" = 7 }").unwrap_err();
        assert!(none.help.contains("0, 5"), "{none}");
    }

    #[test]
    fn a_fixed_control_is_no_factor_too() {
        let both = plan("[controls]\nnice = 1\n[factors]\n\"controls.nice\" = [0, 5]\n");
        assert!(both.unwrap_err().message.contains("both fixed and a factor"));
    }

    #[test]
    fn margins_are_percentages_or_fractions() {
        assert_eq!(parse_margin("2 %"), Some(0.02));
        assert_eq!(parse_margin("0.02"), Some(0.02));
        for bad in ["2", "0", "-1 %", "much", "100 %"] {
            assert_eq!(parse_margin(bad), None, "{bad}");
        }
    }
}
