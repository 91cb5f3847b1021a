//! F17: the output was verified and right.

use crate::prelude::*;

pub const OUTPUT_VERIFIED: CheckRow = CheckRow {
    id: "F17",
    name: "output-verified",
    section: CheckSection::Workload,
    severity: INVALID,
    escalation: "if only the exit code was checked: a note in `lab`, a warning in `publish`",
    needs: "the results of validation, and errors and retries among the counted operations",
    fires: "an output is wrong, operations failed, or nothing was checked",
    why: "a number from a wrong answer does not count",
    remedy: "find out why the output is wrong",
    source: "MLPerf submission rules; SPEC; Gregg",
    evidence: "the workload's validation of every trial; load generators report wrong responses",
};

pub const CHECK: Check = Check::new(&OUTPUT_VERIFIED, evaluate).on_observations(judge_observation);

/// Remedy for output that nothing checked.
const CHECK_OUTPUT: &str =
    "check the output with --check COMMAND or --expect FILE, or in a kit's [validate]";

fn evaluate(e: &Evidence) -> Evaluation {
    let treatments = e.measured()?;
    let mut all = OutputEvidence { errors: Some(0), ..Default::default() };
    let mut outputs = Vec::new();
    for treatment in treatments {
        let o = treatment.need(treatment.output.as_ref(), "the verification of the output")?;
        all.trials += o.trials;
        all.wrong += o.wrong;
        all.unchecked += o.unchecked;
        all.unknown += o.unknown;
        all.errors = all.errors.zip(o.errors).map(|(a, b)| a + b);
        outputs.push((treatment, o));
    }
    // One finding if the output of every treatment is wrong, else one for each that is.
    let mut found = if outputs.iter().all(|(_, o)| o.wrong > 0) {
        all.message.clone_from(&outputs[0].1.message);
        vec![wrong_output(&all, "")]
    } else {
        let wrong = outputs.iter().filter(|(_, o)| o.wrong > 0);
        let of_one = |(t, o): &(&TreatmentEvidence, &OutputEvidence)| {
            about(wrong_output(o, &format!(" of {}", t.label)), &[*t], treatments)
        };
        wrong.map(of_one).collect()
    };
    if let Some(errors) = all.errors.filter(|n| *n > 0) {
        found.push(finding(format!("{errors} of the counted operations failed or were repeated")));
    }
    let doubtful = [
        (all.unchecked, "was not checked beyond the exit code"),
        (all.unknown, "is not known to have been checked"),
    ];
    for (n, what) in doubtful.into_iter().filter(|(n, _)| *n > 0) {
        let trials = if n == 1 { "trial" } else { "trials" };
        let text = format!("the output of {n} {trials} {what}");
        found.push(finding_at(NOTE_OR_WARNING, text).remedy(CHECK_OUTPUT));
    }
    if all.trials == 0 {
        return missing("a trial that ran to its end");
    }
    Ok(found)
}

fn wrong_output(o: &OutputEvidence, of: &str) -> FiredCheck {
    let (wrong, trials) = (o.wrong, o.trials);
    let message = if o.message.is_empty() { String::new() } else { format!("; {}", o.message) };
    finding(format!("the output of {wrong} of {trials} trials{of} failed its check{message}"))
}

fn judge_observation(observation: &Observation) -> Option<FiredCheck> {
    match observation {
        Observation::Errors { program, count } if *count > 0.0 => {
            let text = format!("{program} counted {count} errors, which its rates leave out");
            Some(warning(text).remedy("find out what failed before comparing its numbers"))
        }
        Observation::Disagreement { what, printed, computed } => {
            let text =
                format!("the file says {what} {printed}, and its own values give {computed}");
            let remedy = "find out whether the file was changed after it was written";
            Some(warning(text).remedy(remedy))
        }
        _ => None,
    }
}
