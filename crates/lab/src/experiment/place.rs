//! Checks the `[where]` section of an experiment, which says where its trials run.

use assay_cluster::vm::VmConfig;
use assay_model::{
    Engine, ExecutionPlace, Experiment, HostUse, PlannedTrial, Scalar, Stop, Treatment, units,
};

use crate::error::{Result, wrong};

/// Limit on the number of nodes; a larger number is taken for a mistake.
const MAX_NODES: u32 = 10_000;
/// Options of `salloc` that only assay may set.
const OWN: [&str; 7] =
    ["--nodes", "-N", "--job-name", "-J", "--no-shell", "--ntasks", "--ntasks-per-node"];

pub(crate) fn check(experiment: &Experiment) -> Result<()> {
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
    let of_hosts = !place.hosts.is_empty() || place.hosts_as.is_some() || place.folder.is_some();
    if place.engine != Engine::Ssh && of_hosts {
        let help = "add `engine = \"ssh\"` under [where], or `--on ssh`";
        return Err(wrong(&["where", "hosts"], "only engine ssh has hosts", help));
    }
    if place.engine == Engine::Vm {
        return virtual_machine(experiment);
    }
    if place.engine == Engine::Ssh {
        hosts(experiment)?;
    }
    for (key, count) in [("nodes", place.nodes), ("tasks_per_node", place.tasks_per_node)] {
        if !(1..=MAX_NODES).contains(&count) {
            let help = format!("use 1 to {MAX_NODES}");
            return Err(wrong(&path(key), format!("a run cannot have {count}"), help));
        }
    }
    if place.server_node && place.machines() < 2 {
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

/// Checks the settings of engine `ssh`.
fn hosts(experiment: &Experiment) -> Result<()> {
    let place = &experiment.place;
    let refuse = |message: String, help: &str| Err(wrong(&["where", "hosts"], message, help));
    if place.nodes != 1 || place.tasks_per_node != 1 {
        let help = "leave out `nodes` and `tasks_per_node`; every host in `hosts` is a node";
        return refuse("hosts reached by SSH are named, not counted".to_owned(), help);
    }
    for (i, host) in place.hosts.iter().enumerate() {
        if host.is_empty() || host.starts_with('-') || host.contains(char::is_whitespace) {
            return refuse(format!("`{host}` is not the name of a host"), "use NAME or USER@NAME");
        }
        if place.hosts[..i].contains(host) {
            return refuse(format!("`{host}` is listed twice"), "list it once");
        }
    }
    match (place.hosts.len(), place.hosts_as) {
        (0, _) => refuse("no host is named".to_owned(), "hosts = [\"NAME\"], or `--host NAME`"),
        (1, Some(_)) => refuse("one host is neither factor nor replicate".to_owned(), "name two"),
        (2.., None) if !place.server_node => {
            let help = "set hosts_as (`--hosts-as`): \"factor\" compares the hosts, \
                        \"replicates\" runs the blocks on them in turn, \"together\" runs each \
                        trial on all of them; server_node makes the first one the server";
            refuse("several hosts can mean several things".to_owned(), help)
        }
        (_, Some(HostUse::Factor | HostUse::Replicates)) if place.server_node => {
            refuse("a server and its clients run together".to_owned(), "leave out `hosts_as`")
        }
        (n, Some(HostUse::Replicates)) => {
            let design = &experiment.design;
            let blocks = design.blocks.filter(|_| design.stop == Stop::Fixed);
            if blocks.is_none_or(|blocks| (blocks as usize) < n) {
                let help = "set as many blocks: design.blocks (`--blocks N`)";
                return Err(wrong(&["design", "blocks"], "every host needs a block", help));
            }
            Ok(())
        }
        _ => Ok(()),
    }
}

/// Returns the factor `host` of an experiment that compares its hosts.
pub(crate) fn host_factor(experiment: &Experiment) -> Result<Option<(String, Vec<Scalar>)>> {
    if !compares_hosts(experiment) {
        return Ok(None);
    }
    if experiment.factors.contains_key(HOST) || experiment.params.contains_key(HOST) {
        let message = "`host` is the factor of the hosts in [where]";
        return Err(wrong(&["factors", HOST], message, "leave it out"));
    }
    let levels = experiment.place.hosts.iter().map(|h| Scalar::Text(h.clone())).collect();
    Ok(Some((HOST.to_owned(), levels)))
}

fn compares_hosts(experiment: &Experiment) -> bool {
    let place = &experiment.place;
    place.engine == Engine::Ssh && place.hosts_as == Some(HostUse::Factor)
}

/// Assigns the blocks to the hosts in turn, where hosts are replicates; every host runs every
/// warm-up.
pub(crate) fn spread(place: &ExecutionPlace, trials: Vec<PlannedTrial>) -> Vec<PlannedTrial> {
    if place.engine != Engine::Ssh || place.hosts_as != Some(HostUse::Replicates) {
        return trials;
    }
    let on = |trial: &PlannedTrial, host: &String| PlannedTrial {
        host: Some(host.clone()),
        ..trial.clone()
    };
    let of = |trial: PlannedTrial| -> Vec<PlannedTrial> {
        if trial.warmup {
            return place.hosts.iter().map(|host| on(&trial, host)).collect();
        }
        vec![on(&trial, &place.hosts[trial.block as usize % place.hosts.len()])]
    };
    let spread = trials.into_iter().flat_map(of);
    (1..).zip(spread).map(|(number, trial)| PlannedTrial { number, ..trial }).collect()
}

/// Factor of the hosts that are compared.
pub(crate) const HOST: &str = "host";

/// Refuses settings that experiments in virtual machines do not support.
fn virtual_machine(experiment: &Experiment) -> Result<()> {
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

/// Returns true if `factor` chooses the machine: a setting of the virtual machine, or the host.
pub(crate) fn is_machine(experiment: &Experiment, factor: &str) -> bool {
    experiment.place.engine == Engine::Vm && factor.starts_with(FACTOR)
        || compares_hosts(experiment) && factor == HOST
}

/// Returns true if the machine setting that `factor` names is also fixed in `[where.vm]`.
pub(crate) fn fixed(experiment: &Experiment, factor: &str) -> bool {
    factor.strip_prefix(FACTOR).is_some_and(|part| experiment.place.vm.contains_key(part))
}

/// Returns the virtual machine of a treatment: the fixed settings and its levels. `None` if trials
/// do not run in virtual machines.
pub(crate) fn machine(experiment: &Experiment, treatment: &Treatment) -> Result<Option<VmConfig>> {
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
