//! F11: no other work ran on the machine.

use crate::prelude::*;

pub const QUIET_HOST: CheckRow = CheckRow {
    id: "F11",
    name: "quiet-host",
    section: CheckSection::Environment,
    severity: W,
    escalation: "invalid when only some of the treatments had company",
    needs: "run queue of others, steal and pressure before the trials",
    fires: "more than 0.05 tasks of others per CPU, 0.5 % steal or 1 % pressure",
    why: "what others do is in the result",
    remedy: "end the other work or wait for it; on a shared machine keep it off the CPUs used \
             (controls cpus and sched) and compare interleaved",
    source: "MachineState; duet benchmarking (Bulej et al. 2020)",
    evidence: "a look at the machine before the first trial; processes that a program leaves",
};

pub(crate) const CHECK: Check = Check::new(&QUIET_HOST, evaluate).judged_in_trials();

/// Limits of a quiet host: runnable tasks of other programs per CPU, steal and pressure.
const MAX_QUEUE_PER_CPU: f64 = 0.05;
const MAX_STEAL_PERCENT: f64 = 0.5;
const MAX_PRESSURE_PERCENT: f64 = 1.0;

fn evaluate(e: &Evidence) -> Evaluation {
    let treatments = e.measured()?;
    let mut busy: Vec<(&str, String)> = Vec::new();
    let mut lacking = Vec::new();
    for treatment in treatments {
        let host =
            need(treatment.host.as_ref(), format!("what else ran beside {}", treatment.label))?;
        let seen = [
            ("tasks of others per CPU", "", host.queue_per_cpu, MAX_QUEUE_PER_CPU),
            ("stolen time", " %", host.steal_percent, MAX_STEAL_PERCENT),
            ("pressure", " %", host.pressure_percent, MAX_PRESSURE_PERCENT),
        ];
        let above: Vec<String> = seen
            .iter()
            .filter_map(|(what, unit, value, most)| {
                value.filter(|v| v > most).map(|v| format!("{what} {v:.2}{unit}"))
            })
            .collect();
        if !above.is_empty() {
            busy.push((&treatment.label, above.join(", ")));
        }
        let absent = seen.iter().filter(|(_, _, value, _)| value.is_none());
        lacking.extend(absent.map(|(what, ..)| format!("{what} beside {}", treatment.label)));
    }
    let all = busy.len() == treatments.len();
    let found = busy
        .into_iter()
        .map(|(label, what)| {
            let message = format!("{label} ran on a loaded machine: {what}");
            if all { plain(message) } else { grave(message) }
        })
        .collect();
    found_or_missing(found, &lacking)
}
