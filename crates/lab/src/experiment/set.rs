//! Applies `--set` to an experiment: parameters, controls and factors.

use assay_model::{Engine, Experiment, FactorLevels, Scalar};

use crate::{LabError, PlanError};

/// Applies `NAME=V[,V...]` to an experiment. One value fixes a parameter (or `controls.NAME`),
/// several make it a factor. Values that contain a comma are written as a list of TOML:
/// `NAME=["V,V", "V"]`.
///
/// # Errors
/// `set` has no `=`, or its name is empty.
pub fn apply_set(experiment: &mut Experiment, set: &str) -> Result<(), LabError> {
    let wrong = |message: String| {
        LabError::Plan(PlanError {
            path: Vec::new(),
            message,
            help: "write --set NAME=VALUE, --set NAME=V1,V2 for a factor, or --set \
                'NAME=[\"V,V\"]' for a value with a comma"
                .into(),
        })
    };
    let (name, values) =
        set.split_once('=').ok_or_else(|| wrong(format!("--set {set} has no `=`")))?;
    let name = name.trim();
    if name.is_empty() {
        return Err(wrong(format!("--set {set} has no name")));
    }
    let levels: Vec<Scalar> = if values.trim_start().starts_with('[') {
        let list: toml::Table = toml::from_str(&format!("levels = {values}"))
            .map_err(|e| wrong(format!("--set {set} has no valid list: {}", e.message())))?;
        let levels = list.get("levels").cloned().map(toml::Value::try_into);
        levels
            .and_then(Result::ok)
            .filter(|levels: &Vec<Scalar>| !levels.is_empty())
            .ok_or_else(|| wrong(format!("--set {set} has no list of values")))?
    } else {
        values.split(',').map(|v| Scalar::parse(v.trim())).collect()
    };
    let machine = name.strip_prefix("vm.").filter(|_| experiment.place.engine == Engine::Vm);
    if let Some(part) = machine {
        experiment.place.vm.remove(part);
    }
    experiment.factors.remove(name);
    experiment.params.remove(name);
    let control = name.strip_prefix("controls.");
    if let Some(control) = control {
        experiment.controls.remove(control);
    }
    match (control, levels.as_slice()) {
        (None, [one]) if machine.is_some() => {
            experiment.place.vm.insert(machine.unwrap_or_default().to_owned(), one.clone());
        }
        (Some(control), [one]) => {
            experiment.controls.insert(control.to_owned(), one.clone());
        }
        (None, [one]) => {
            experiment.params.insert(name.to_owned(), one.clone());
        }
        _ => {
            let levels = levels.into_iter().map(Into::into).collect();
            experiment.factors.insert(name.to_owned(), FactorLevels::List(levels));
        }
    }
    // A baseline or scaling that refers to the factor's old levels no longer fits.
    if !experiment.factors.contains_key(name) {
        experiment.compare.baseline.remove(name);
        if experiment.compare.scaling.as_deref() == Some(name) {
            experiment.compare.scaling = None;
        }
    } else if let Some(FactorLevels::List(levels)) = experiment.factors.get(name)
        && experiment
            .compare
            .baseline
            .get(name)
            .is_some_and(|b| !levels.iter().any(|l| l.value() == b))
    {
        experiment.compare.baseline.remove(name);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn set_makes_parameters_controls_and_factors() {
        let mut e = crate::read_experiment("x", "name = \"x\"\nworkload = \"noop\"").unwrap();
        apply_set(&mut e, "level=3").unwrap();
        apply_set(&mut e, "controls.cpus=0").unwrap();
        apply_set(&mut e, "threads=1,2").unwrap();
        assert_eq!(e.params["level"], Scalar::Int(3));
        assert_eq!(e.controls["cpus"], Scalar::Int(0));
        let two = FactorLevels::List(vec![1.into(), 2.into()]);
        assert_eq!(e.factors["threads"], two);
        apply_set(&mut e, "threads=4").unwrap();
        assert!(e.factors.is_empty());
        assert!(apply_set(&mut e, "threads").is_err());
        e.place.engine = Engine::Vm;
        apply_set(&mut e, r#"vm.kernel=["6.1"]"#).unwrap();
        assert_eq!(e.place.vm["kernel"], Scalar::from("6.1"));
        apply_set(&mut e, r#"vm.kernel=["5.10","6.1"]"#).unwrap();
        assert!(e.place.vm.is_empty() && e.factors.contains_key("vm.kernel"));
        apply_set(&mut e, r#"controls.storage=["loop:btrfs,raid0"]"#).unwrap();
        assert_eq!(e.controls["storage"], Scalar::from("loop:btrfs,raid0"));
        apply_set(&mut e, r#"threads=["a,b", 2]"#).unwrap();
        let two = FactorLevels::List(vec!["a,b".into(), 2.into()]);
        assert_eq!(e.factors["threads"], two);
        for bad in ["threads=[", "threads=[]", "threads=[[1]]"] {
            assert!(apply_set(&mut e, bad).is_err(), "{bad}");
        }
    }
}
