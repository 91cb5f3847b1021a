//! Checks the `[where]` section of an experiment, which says where its trials run.

use assay_cluster::vm::VmConfig;
use assay_model::{Engine, Experiment, Treatment, units};

use crate::error::{PlanError, wrong};

/// Limit on the number of nodes; a larger number is taken for a mistake.
const MAX_NODES: u32 = 10_000;
/// Options of `salloc` that only assay may set.
const OWN: [&str; 7] =
    ["--nodes", "-N", "--job-name", "-J", "--no-shell", "--ntasks", "--ntasks-per-node"];

pub(crate) fn check(experiment: &Experiment) -> Result<(), PlanError> {
    let place = &experiment.place;
    let path = |key: &'static str| ["where", key];
    if place.engine == Engine::Local {
        if place.nodes != 1 || place.tasks_per_node != 1 || place.server_node {
            let help = "add `engine = \"slurm\"` under [where], or `--on slurm`";
            return Err(wrong(&["where"], "this machine is one node with one task", help));
        }
        if !place.vm.is_empty() {
            let help = "add `engine = \"vm\"` under [where], or leave out [where.vm]";
            return Err(wrong(&["where", "vm"], "no virtual machine is used", help));
        }
        return Ok(());
    }
    if place.engine == Engine::Vm {
        return virtual_machine(experiment);
    }
    for (key, count) in [("nodes", place.nodes), ("tasks_per_node", place.tasks_per_node)] {
        if !(1..=MAX_NODES).contains(&count) {
            let help = format!("use 1 to {MAX_NODES}");
            return Err(wrong(&path(key), format!("a run cannot have {count}"), help));
        }
    }
    if place.server_node && place.nodes < 2 {
        let help = "use at least 2 nodes";
        return Err(wrong(&path("nodes"), "the server and its clients need two nodes", help));
    }
    if place.mpi.is_empty()
        || !place.mpi.chars().all(|c| c.is_ascii_alphanumeric() || "_-".contains(c))
    {
        let message = format!("`{}` is not a type of MPI", place.mpi);
        return Err(wrong(&path("mpi"), message, "use one that `srun --mpi=list` shows"));
    }
    for (key, value) in [
        ("max_wait", &place.max_wait),
        ("start_timeout", &place.start_timeout),
        ("phase_bound", &place.phase_bound),
    ]
    .into_iter()
    .chain(place.time_limit.as_ref().map(|l| ("time_limit", l)))
    {
        units::duration_of(value).map_err(|e| wrong(&path(key), e.to_string(), ""))?;
    }
    let own = |option: &&String| {
        let name = option.split('=').next().unwrap_or_default();
        OWN.contains(&name) || !option.starts_with('-')
    };
    if let Some(option) = place.options.iter().find(own) {
        let message = format!("`{option}` is not allowed here");
        let help = "nodes and tasks have keys of their own; an option begins with `-` and includes \
                    its value (`--account=x`)";
        return Err(wrong(&path("options"), message, help));
    }
    let system = |path: &String| {
        let control = path.split('.').next().unwrap_or_default();
        assay_system::find(control)
            .is_some_and(|c| c.spec().scope == assay_system::ControlScope::System)
    };
    let factors = experiment.factors.keys().filter_map(|f| f.strip_prefix("controls."));
    let mut controls = experiment.controls.keys().cloned().chain(factors.map(str::to_owned));
    if place.tasks_per_node > 1
        && let Some(control) = controls.find(|c| system(c))
    {
        let message =
            format!("the control `{control}` sets a whole node, which several tasks share");
        return Err(wrong(&path("tasks_per_node"), message, "use 1 task per node"));
    }
    Ok(())
}

/// Refuses settings that experiments in virtual machines do not support.
fn virtual_machine(experiment: &Experiment) -> Result<(), PlanError> {
    let place = &experiment.place;
    if place.nodes != 1 || place.tasks_per_node != 1 || place.server_node {
        let help = "leave out `nodes`, `tasks_per_node` and `server_node`";
        return Err(wrong(&["where"], "virtual machines run one at a time", help));
    }
    if experiment.workload.contains('/') {
        let help = "put its folder into one of ASSAY_KITS, and use its name";
        return Err(wrong(&["workload"], "a virtual machine takes a kit by its name", help));
    }
    Ok(())
}

/// Prefix of factors that are settings of the virtual machine.
const FACTOR: &str = "vm.";

/// Returns true if `factor` is a setting of the virtual machine.
pub(crate) fn is_machine(experiment: &Experiment, factor: &str) -> bool {
    experiment.place.engine == Engine::Vm && factor.starts_with(FACTOR)
}

/// Returns true if the machine setting that `factor` names is also fixed in `[where.vm]`.
pub(crate) fn fixed(experiment: &Experiment, factor: &str) -> bool {
    factor.strip_prefix(FACTOR).is_some_and(|part| experiment.place.vm.contains_key(part))
}

/// Returns the virtual machine of a treatment: the fixed settings and its levels. `None` if trials
/// do not run in virtual machines.
pub(crate) fn machine(
    experiment: &Experiment,
    treatment: &Treatment,
) -> Result<Option<VmConfig>, PlanError> {
    if experiment.place.engine != Engine::Vm {
        return Ok(None);
    }
    let mut settings = experiment.place.vm.clone();
    let levels = treatment.levels.iter();
    let parts = levels.filter_map(|(k, v)| Some((k.strip_prefix(FACTOR)?.to_owned(), v.clone())));
    settings.extend(parts);
    VmConfig::read(&settings).map(Some).map_err(|(name, why)| {
        let factor = format!("{FACTOR}{name}");
        if experiment.factors.contains_key(&factor) {
            wrong(&["factors", &factor], why, "")
        } else {
            wrong(&["where", "vm", &name], why, "")
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error(more: &str) -> String {
        let text = format!("name = \"x\"\nworkload = \"noop\"\n{more}");
        let experiment = crate::read_experiment("x.toml", &text).unwrap();
        check(&experiment).err().map(|e| e.to_string()).unwrap_or_default()
    }

    #[test]
    fn impossible_values_are_errors() {
        assert_eq!(error(""), "");
        assert_eq!(error("[where]\nengine = \"slurm\"\nnodes = 4\n"), "");
        assert!(error("[where]\nnodes = 4\n").contains("engine = \"slurm\""));
        assert!(error("[where]\nengine = \"slurm\"\nnodes = 0\n").contains("cannot have 0"));
        assert!(error("[where]\nengine = \"slurm\"\nserver_node = true\n").contains("at least 2"));
        assert!(error("[where]\nengine = \"slurm\"\nmpi = \"a b\"\n").contains("a b"));
        let options = "[where]\nengine = \"slurm\"\noptions = [\"--nodes=3\"]\n";
        assert!(error(options).contains("--nodes=3"));
        assert!(error("[where]\nengine = \"slurm\"\nmax_wait = \"soon\"\n").contains("soon"));
        assert_eq!(error("[where]\nengine = \"slurm\"\n[observe]\ntracers = [\"io\"]\n"), "");
        assert!(error("[where.vm]\nkernel = \"6.1\"\n").contains("engine = \"vm\""));
        let vm = "[where]\nengine = \"vm\"\n";
        assert!(error(&format!("{vm}nodes = 2\n")).contains("one at a time"));
        let tasks =
            "[where]\nengine = \"slurm\"\ntasks_per_node = 2\n[controls]\nthp = \"always\"\n";
        assert!(error(tasks).contains("thp"), "{}", error(tasks));
    }
}
