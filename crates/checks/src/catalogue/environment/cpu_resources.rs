//! F07: the treatments had the same CPU resources.

use std::collections::BTreeMap;

use assay_model::units::{format_bytes, format_value};

use super::{far_apart, undeclared_differences};
use crate::prelude::*;

pub const CPU_RESOURCES: CheckRow = CheckRow {
    id: "F07",
    name: "cpu-resources",
    section: CheckSection::Environment,
    severity: INVALID,
    escalation: "",
    needs: "CPUs, chips, cores, threads per core, quota, NUMA policy, memory channels, instances",
    fires: "one of them differs between treatments and is not declared, or limits of control \
            groups stop one treatment in \
            10 percentage points more of its periods than another",
    why: "a treatment with more processors or memory channels ran on a larger machine",
    remedy: "give treatments the same CPUs (controls cpus and numa), or make the count a factor",
    source: "SPEC HPG fair use; own checklist of 2005",
    evidence: "the description of the system, the controls of each treatment, and throttling by \
        control groups in each trial",
};

pub const CHECK: Check = Check::new(&CPU_RESOURCES, evaluate).on_observations(judge_observation);

/// Maximum share of CPU-quota periods in which throttling is harmless.
const MAX_THROTTLED_SHARE: f64 = 0.01;

/// Bytes of I/O below which an I/O limit is harmless.
const MIN_IO_BYTES: u64 = 1 << 20;

fn evaluate(e: &Evidence) -> Evaluation {
    let treatments = e.compared()?;
    let (mut lacking, mut limited) = (Vec::new(), Vec::new());
    for treatment in treatments {
        let cpus = treatment.need(treatment.cpus.as_ref(), "the usable CPUs")?;
        limited.push((cpus.limited.unwrap_or(0.0), treatment.label.as_str()));
        for (what, known) in [("usable CPUs", cpus.usable), ("instances", cpus.instances)] {
            if known.is_none() {
                lacking.push(format!("the {what} of {}", treatment.label));
            }
        }
    }
    let differing = undeclared_differences(
        e,
        |a| a.cpus.as_ref().map(resources_by_name),
        treatments,
        "the CPU resources",
    )?;
    // CPU counts that a declared factor changes are meant to differ.
    let meant = ["cpus", "cgroup.cpuset", "cpu", "numa"].iter().any(|f| e.declares(f));
    let mut found: Vec<_> = differing
        .into_iter()
        .filter(|(key, _)| !(meant && key != "instances" && key != "cpu quota"))
        .map(|(_, text)| finding(format!("the treatments had different resources: {text}")))
        .collect();
    if let Some([(low, a), (high, b)]) = far_apart(&limited) {
        let (low, high) = (low * 100.0, high * 100.0);
        let text = format!(
            "limits of control groups stopped {b} in {high:.0} % of periods and {a} in {low:.0} %: \
            the comparison measures the limit"
        );
        found.push(invalid(text).remedy("raise the limit (`cpu.max`, `memory.max`)"));
    }
    found_or_missing(found, &lacking)
}

fn resources_by_name(cpus: &CpuResources) -> BTreeMap<String, String> {
    let counts = [
        ("usable CPUs", cpus.usable),
        ("chips", cpus.chips),
        ("cores", cpus.cores),
        ("threads per core", cpus.threads_per_core),
        ("memory channels", cpus.memory_channels),
        ("instances", cpus.instances),
    ];
    let words = [("cpu quota", &cpus.quota), ("NUMA policy", &cpus.numa_policy)];
    let counts = counts.into_iter().filter_map(|(k, v)| Some((k.to_owned(), v?.to_string())));
    let words = words.into_iter().filter_map(|(k, v)| Some((k.to_owned(), v.clone()?)));
    counts.chain(words).collect()
}

fn judge_observation(observation: &Observation) -> Option<FiredCheck> {
    Some(match observation {
        Observation::Limited { periods, stopped, stopped_s, memory } => {
            let share = *stopped as f64 / (*periods).max(1) as f64;
            let text = if share > MAX_THROTTLED_SHARE {
                format!(
                    "the CPU quota of a control group stopped the program in {stopped} of \
                    {periods} periods, {} in all",
                    format_value(*stopped_s, "s")
                )
            } else if *memory > 0 {
                format!("the memory limit of a control group was reached {memory} times")
            } else {
                return None;
            };
            warning(text).remedy("raise the limit, or measure `user` instead of `elapsed`")
        }
        Observation::LimitedIo { limits, bytes } if *bytes >= MIN_IO_BYTES => {
            let text = format!(
                "{} were read and written under an I/O limit of a control group: {limits}",
                format_bytes(*bytes)
            );
            warning(text).remedy("lift the limit (`io.max`)")
        }
        Observation::Crowding { what, count, cpus } if count > cpus => {
            let text = format!(
                "{count} {what} share {cpus} CPUs: they take turns, and none has a CPU of its own"
            );
            warning(text).remedy(format!(
                "run at most as many {what} as there are CPUs, or state it with the number"
            ))
        }
        Observation::JobCpus { allocated, usable } if usable < allocated => warning(format!(
            "{usable} of the {allocated} CPUs that Slurm allocated to the job can be used"
        ))
        .remedy("start assay with `srun --cpus-per-task` and that number"),
        Observation::SharedCores { on: true } => note(
            "simultaneous multithreading is on: two \
            threads may share a core, and slow each other down",
        )
        .remedy(
            "choose one thread of each core with the control `cpus`, or switch it off, where \
             single threads are compared",
        ),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use assay_model::{Observation, Severity};

    use crate::judge_observation;

    #[test]
    fn io_under_a_limit_is_named_with_the_limit() {
        let limits = || "8:0 rbps=2097152 wbps=max riops=max wiops=max".to_owned();
        let found = |bytes| judge_observation(&Observation::LimitedIo { limits: limits(), bytes });
        let finding = found(8 << 20).unwrap();
        assert_eq!((finding.id.as_str(), finding.severity), ("F07", Severity::Warning));
        assert!(finding.message.contains("8 MiB") && finding.message.contains(&limits()));
        assert_eq!(found(4096), None);
    }

    #[test]
    fn a_step_narrower_than_its_job_is_named() {
        let found = |usable| judge_observation(&Observation::JobCpus { allocated: 2, usable });
        assert!(found(1).unwrap().message.starts_with("1 of the 2 CPUs"));
        assert_eq!((found(2), found(4)), (None, None));
    }
}
