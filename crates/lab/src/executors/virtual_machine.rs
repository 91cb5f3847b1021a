//! Virtual machines of a run: boots the machine of a trial's treatment if another one is running,
//! has its agent run the trial, and makes the record from its part.

use std::path::PathBuf;
use std::time::Duration;

use assay_cluster::vm::{
    Accelerator, ChosenAccelerator, GuestRequest, Image, Payload, VmConfig, folder,
};
use assay_cluster::{AgentGroup, Boot, ClusterError, describe};
use assay_model::{Fact, Observation, Plan, SystemDescription, TrialOutcome, TrialRecord};
use assay_system::{Interrupt, Root};

use crate::executors::executor::{EarlyRunEnd, Executor, FinishedTrial, NextTrial};
use crate::executors::remote::{Remote, fit};
use crate::experiment::place;
use crate::fitness;
use crate::plan::prepare::PreparedExperiment;
use crate::progress::watcher::Watcher;
use crate::scratch::Scratch;
use crate::{Lab, LabError};

/// Time limit for an agent to set up, not counting the wait until it is fit. An emulated machine
/// takes long to describe itself.
const SET_UP: Duration = Duration::from_secs(600);

/// A machine configuration that some treatments share.
#[derive(Debug)]
struct SharedMachine {
    machine: VmConfig,
    image: Image,
    choice: ChosenAccelerator,
    /// Name of the machine, such as `vm1`.
    name: String,
    /// Treatments whose trials run in this machine.
    treatments: Vec<u32>,
}

/// Executor that runs trials in virtual machines, one of which is running at a time.
pub(crate) struct VirtualMachines {
    kinds: Vec<SharedMachine>,
    remote: Remote,
    payload: Payload,
    /// The running machine and its index in `kinds`.
    crew: Option<(usize, AgentGroup)>,
    /// Folder of the machines' files; removed last.
    scratch: Scratch,
}

impl VirtualMachines {
    /// Finds the images of the machines in a plan, without starting any.
    ///
    /// # Errors
    /// An image is missing, or the disk that assay brings along cannot be made.
    pub fn new(lab: &Lab<'_>, prepared: &PreparedExperiment) -> Result<Self, LabError> {
        let experiment = &prepared.experiment;
        let scratch = Scratch::new()?;
        let work = scratch.run_dir().to_owned();
        let mut kinds: Vec<SharedMachine> = Vec::new();
        for treatment in &prepared.plan.treatments {
            let Some(machine) = place::machine(experiment, treatment)? else { continue };
            if let Some(kind) = kinds.iter_mut().find(|k| k.machine == machine) {
                kind.treatments.push(treatment.id);
                continue;
            }
            let image = Image::find(&machine, &folder())?;
            let choice = ChosenAccelerator::choose(machine.accelerator, &image, &work)?;
            let name = format!("vm{}", kinds.len() + 1);
            kinds.push(SharedMachine {
                machine,
                image,
                choice,
                name,
                treatments: vec![treatment.id],
            });
        }
        let kits: Vec<PathBuf> = lab.kits.kits().remove(&experiment.workload).into_iter().collect();
        let payload = Payload::make(&work, &lab.exe, &kits)?;
        // One machine runs a trial, so its phases always coincide.
        let mut remote = Remote::new(lab, prepared, "vm", SET_UP);
        remote.bound = Duration::MAX;
        Ok(VirtualMachines { kinds, remote, payload, crew: None, scratch })
    }

    /// Boots every machine once, so that a machine that cannot boot is detected before the run is
    /// registered. Returns the descriptions of the machines and the findings against measuring on
    /// them.
    ///
    /// # Errors
    /// The agent of a machine does not come up.
    pub fn describe(
        &mut self,
        watcher: &mut dyn Watcher,
    ) -> Result<(SystemDescription, fitness::Fit), LabError> {
        let mut set_ups = Vec::new();
        let mut facts = Vec::new();
        for at in 0..self.kinds.len() {
            let kind = &self.kinds[at];
            let ChosenAccelerator { accelerator, reason } = &kind.choice;
            let why = if reason.is_empty() { String::new() } else { format!(": {reason}") };
            watcher.say(&format!(
                "boots a virtual machine ({} of {}: Linux {}, {}{why})",
                at + 1,
                self.kinds.len(),
                kind.image.release,
                accelerator.name()
            ));
            facts.extend(facts_of(kind)?);
            self.boot(at)?;
            if let Some((_, crew)) = &self.crew {
                let name = &self.kinds[at].name;
                set_ups.extend(crew.set_ups().into_iter().map(|(_, s)| (name.clone(), s)));
            }
        }
        let systems: Vec<_> = set_ups.iter().map(|(n, s)| (n.clone(), s.system.clone())).collect();
        let host = Root::system();
        let text = |path: &str| host.text(path).unwrap_or_default().trim().to_owned();
        let names: Vec<&str> = self.kinds.iter().map(|k| k.name.as_str()).collect();
        let cluster = [
            ("engine", "vm".to_owned()),
            ("node_list", names.join(",")),
            (
                "qemu",
                assay_cluster::vm::ability().words.split(';').next().unwrap_or_default().to_owned(),
            ),
            ("host_kernel", text("proc/sys/kernel/osrelease")),
        ];
        // Differences between the machines are the subject of the comparison, so they are not
        // reported as unlike nodes.
        let mut system = describe(&systems, &cluster).system;
        system.facts.extend(facts);
        Ok((system, fit(&set_ups, Vec::new(), watcher)))
    }

    /// Makes sure that the machine of this kind is running, and no other.
    fn boot(&mut self, at: usize) -> Result<(), ClusterError> {
        if self.crew.as_ref().is_some_and(|(there, _)| *there == at) {
            return Ok(());
        }
        self.leave();
        let kind = &self.kinds[at];
        let work = self.scratch.run_dir().to_owned();
        let boot = Boot {
            guest: GuestRequest {
                machine: &kind.machine,
                image: &kind.image,
                accelerator: kind.choice.accelerator,
                payload: &self.payload,
                work: &work,
            },
            name: &kind.name,
            setup: &self.remote.setup,
            limit: self.remote.limit,
            interrupt: self.remote.interrupt.as_ref(),
        };
        self.crew = Some((at, AgentGroup::boot(&boot)?));
        Ok(())
    }

    fn leave(&mut self) {
        if let Some((_, crew)) = self.crew.take() {
            crew.end();
        }
    }

    /// Runs the trial in its machine. Failures go into its record.
    fn attempt(
        &mut self,
        next: &NextTrial<'_>,
        at: usize,
        watcher: &mut dyn Watcher,
    ) -> FinishedTrial {
        let booted = self.boot(at);
        let Some((_, crew)) = &mut self.crew else {
            let error = booted.err().map_or_else(String::new, |e| e.to_string());
            return self.remote.failed(next, &self.kinds[at].name, error);
        };
        let trial = self.remote.run(crew, next, false, watcher);
        let full = crew.host_is_full();
        if trial.lost.is_some() {
            self.leave();
        }
        let mut done = self.remote.merged(next, &self.kinds[at].name, &trial);
        let failed = done.recorded.record.outcome != TrialOutcome::Completed;
        if let Some(full) = full.filter(|_| failed) {
            let error = &mut done.recorded.record.error;
            *error = format!("{full}; {error}");
        }
        if let [part] = trial.parts.as_slice() {
            // With one machine, merging loses nothing, so the values of its part are kept.
            done.recorded.record.resources = part.part.record.resources;
            done.recorded.record.stdout = part.part.record.stdout;
            done.recorded.record.stderr = part.part.record.stderr;
            done.stdout.clone_from(&part.part.stdout.0);
            done.stderr.clone_from(&part.part.stderr.0);
        }
        done
    }
}

impl Executor for VirtualMachines {
    fn trial(&mut self, next: &NextTrial<'_>, watcher: &mut dyn Watcher) -> FinishedTrial {
        let of = |kind: &SharedMachine| kind.treatments.contains(&next.planned.treatment);
        let Some(at) = self.kinds.iter().position(of) else {
            let error = "the plan has no virtual machine for the trial".to_owned();
            return self.remote.failed(next, "", error);
        };
        let mut done = self.attempt(next, at, watcher);
        let record = &mut done.recorded.record;
        if self.remote.interrupt.as_ref().is_some_and(Interrupt::fired)
            && record.outcome != TrialOutcome::Completed
        {
            record.outcome = TrialOutcome::Interrupted;
        }
        let seen = in_a_machine(next.plan, record, self.kinds[at].choice.accelerator);
        assay_checks::record_observation(record, seen);
        done
    }

    fn ensure(&mut self, _block: u32, _watcher: &mut dyn Watcher) -> Result<(), EarlyRunEnd> {
        self.remote.ensure()
    }

    fn end(&mut self, _watcher: &mut dyn Watcher) {
        self.leave();
    }
}

/// Records that a trial ran in a virtual machine, together with the deciding metric.
fn in_a_machine(plan: &Plan, record: &TrialRecord, accelerator: Accelerator) -> Observation {
    let metric = plan.workload.metric(&plan.metric);
    let of_record = record.metrics.iter().find(|m| m.name == plan.metric);
    let counted = of_record.map_or_else(|| metric.is_some_and(|m| m.counted), |m| m.counted);
    Observation::GuestMachine {
        accelerator: accelerator.name().to_owned(),
        metric: plan.metric.clone(),
        unit: metric.map(|m| m.unit.clone()).unwrap_or_default(),
        counted: Some(counted),
    }
}

/// Returns facts about a machine's configuration, with the hashes of its image's files.
fn facts_of(kind: &SharedMachine) -> Result<Vec<(String, Fact)>, ClusterError> {
    let SharedMachine { machine, image, choice, name, .. } = kind;
    let of = |path: &str, value: String| (format!("vm.{name}.{path}"), Fact::known(value));
    let mut facts = vec![
        of("accelerator", choice.accelerator.name().to_owned()),
        of("kernel", image.release.clone()),
        of("cmdline", machine.cmdline.clone()),
        of("memory", format!("{} MiB", machine.memory_mib)),
        of("cpus", machine.cpus.to_string()),
        of("numa", machine.numa.to_string()),
        of("disks", machine.disks.iter().map(ToString::to_string).collect::<Vec<_>>().join(" ")),
    ];
    if !choice.reason.is_empty() {
        facts.push(of("emulated_because", choice.reason.clone()));
    }
    for (what, hash) in image.digests()? {
        facts.push(of(&format!("{what}.sha256"), hash));
    }
    Ok(facts)
}
