//! Check of power measurements: analyser, samples, ambient temperature, mains.

use super::CpuSuiteResult;
use crate::pack::judged::{
    CheckParamType, CheckVerdict, PackCheck, Parameters, check, pass, unknown, verdict,
};

pub(super) const CHECKS: &[PackCheck<CpuSuiteResult>] = &[check(
    "power",
    &[
        ("voltage_percent", CheckParamType::Number),
        ("mains_percent", CheckParamType::Number),
        ("bad_power_percent", CheckParamType::Number),
        ("bad_other_percent", CheckParamType::Number),
        ("uncertain_percent", CheckParamType::Number),
        ("unknown_uncertainty_percent", CheckParamType::Number),
        ("ambient_min_c", CheckParamType::Number),
    ],
    power,
)];

fn power(r: &CpuSuiteResult, p: &Parameters<'_>) -> CheckVerdict {
    let power = match (r.power_reported, &r.power) {
        (Some(false), _) => return pass("no power is reported"),
        (Some(true), Some(power)) => power,
        (Some(true), None) => return unknown("how power was measured"),
        (None, _) => return unknown("whether power is reported"),
    };
    let (mut wrong, mut missing) = (Vec::new(), Vec::new());
    let wanted = [
        ("an accepted analyser of its own", power.analyser_accepted, true),
        ("calibration", power.calibrated, true),
        ("a controller of its own", power.separate_controller, true),
        ("energy of the timed run", power.of_the_timed_run, true),
        ("a battery", power.on_battery, false),
    ];
    for (what, is, want) in wanted {
        match is {
            Some(is) if is != want => {
                wrong.push(format!("{} {what}", if want { "without" } else { "with" }));
            }
            Some(_) => {}
            None => missing.push(format!("whether there is {what}")),
        }
    }
    // Deviations may equal their limit, shares of samples must stay below it.
    let limits = [
        ("voltage", power.voltage_deviation_percent, "voltage_percent", true),
        ("mains frequency", power.mains_deviation_percent, "mains_percent", true),
        ("bad power samples", power.bad_power_percent, "bad_power_percent", false),
        ("bad other samples", power.bad_other_percent, "bad_other_percent", false),
        ("uncertain samples", power.uncertain_percent, "uncertain_percent", false),
        (
            "samples of unknown uncertainty",
            power.unknown_uncertainty_percent,
            "unknown_uncertainty_percent",
            false,
        ),
    ];
    for (what, value, limit, reach) in limits {
        let most = p.number(limit);
        match value {
            Some(v) if v < most || (reach && v <= most) => {}
            Some(v) => wrong.push(format!("{what}: {v} %, the limit is {most} %")),
            None => missing.push(what.to_owned()),
        }
    }
    let least = p.number("ambient_min_c");
    match power.ambient_least_c {
        Some(c) if c < least => wrong.push(format!("ambient {c} °C, required are {least} °C")),
        Some(_) => {}
        None => missing.push("the ambient temperature".to_owned()),
    }
    verdict(&wrong, &missing, "power was measured by an accepted, calibrated analyser")
}
