//! hyperfine's JSON. A command with its parameters is a treatment, and each of its times is a
//! trial. Times are in seconds; fields that only some versions write are optional.

use std::collections::BTreeMap;

use assay_model::{Better, Exit, Scalar, ValidationResult};

use crate::readers::prelude::*;

pub(crate) fn detect(bytes: &[u8]) -> bool {
    json::has_keys(bytes, &["results", "results[].command"])
}

pub(crate) fn read(bytes: &[u8]) -> Result<Vec<ForeignResult>, Flaw> {
    let file = json::value(bytes)?;
    let list = Json::root(&file).get("results");
    let commands = list.entries()?.iter().map(Command::from_json).collect::<Result<Vec<_>, _>>()?;
    if commands.is_empty() {
        return Err(list.flaw("it holds no command"));
    }
    let mut result = ForeignResult {
        tool: "hyperfine",
        workload: "command",
        metrics: vec![
            unit::metric("elapsed", "s", Better::Lower, "wall time, as hyperfine measures it"),
            unit::metric("peak_memory", "B", Better::Lower, "the largest resident set"),
        ],
        notes: vec![
            "hyperfine measures all repetitions of a command before those of the next, so drift of \
             the machine falls on the commands unequally. Unless it ran without a shell (-N), it \
             took the start-up time of the shell off each time; the file does not say which."
                .to_owned(),
        ],
        ..ForeignResult::default()
    };
    // True if the parameters alone distinguish the commands.
    let by_parameters = commands.iter().enumerate().all(|(i, c)| {
        let same = |o: &Command<'_>| o.parameters == c.parameters && o.line != c.line;
        !c.parameters.is_empty() && !commands[..i].iter().any(same)
    });
    for command in &commands {
        command.add_to(&mut result, by_parameters)?;
    }
    Ok(vec![result])
}

struct Command<'a> {
    json: Json<'a>,
    line: &'a str,
    parameters: BTreeMap<String, Scalar>,
}

impl<'a> Command<'a> {
    fn from_json(json: &Json<'a>) -> Result<Self, Flaw> {
        let parameters = json.get("parameters").scalars()?;
        Ok(Command { line: json.name("command")?, json: json.clone(), parameters })
    }

    fn add_to(&self, result: &mut ForeignResult, by_parameters: bool) -> Result<(), Flaw> {
        let list = self.json.get("times");
        let times: Vec<f64> = list.items().map(|t| seconds(&t)).collect::<Result<_, _>>()?;
        if times.is_empty() {
            return Err(list.flaw("it has no single times, and a mean alone is not a trial"));
        }
        let command = Scalar::from(self.line);
        let params = BTreeMap::from([("command".to_owned(), command.clone())]);
        let mut levels = self.parameters.clone();
        if !by_parameters {
            levels.insert("command".to_owned(), command);
        }
        let treatment = result.treatment(ForeignTreatment { levels, params });
        result.within_limits(times.len())?;
        let memory: Vec<_> = self.json.get("memory_usage_byte").items().collect();
        let codes: Vec<_> = self.json.get("exit_codes").items().collect();
        for (i, time) in times.iter().enumerate() {
            let mut metrics = vec![value(&result.metrics[0], Some(*time))];
            if let Some(bytes) = memory.get(i) {
                metrics.push(value(&result.metrics[1], bytes.amount()?));
            }
            let mut trial = ForeignTrial::new(treatment, metrics);
            match codes.get(i).map(Json::number).transpose()? {
                Some(Some(code)) => {
                    trial.exit = Some(Exit::Code(code as i32));
                    trial.validation = ValidationResult::ExitCodeOnly;
                    if code != 0.0 {
                        trial.notes.push(format!(
                            "the command returned {code}; hyperfine measured failures too"
                        ));
                    }
                }
                Some(None) => trial.notes.push("a signal ended the command".to_owned()),
                None => {}
            }
            result.trials.push(trial);
        }
        let printed = |name: &str| self.json.get(name).number();
        let figures = Figures {
            values: &times,
            mean: printed("mean")?,
            min: printed("min")?,
            max: printed("max")?,
            percentiles: printed("median")?.map(|v| (50.0, v)).into_iter().collect(),
            ..Figures::default()
        };
        result.hold(treatment, "elapsed", &figures);
        for name in ["user", "system"] {
            let Some(seconds) = self.json.get(name).number()? else { continue };
            let name = format!("mean {name} ({})", self.line);
            let spec = unit::metric(&name, "s", Better::Lower, "");
            result.run_metrics.push(value(&spec, Some(seconds)));
        }
        Ok(())
    }
}

fn seconds(time: &Json<'_>) -> Result<f64, Flaw> {
    match time.number()? {
        Some(t) if t < 0.0 => Err(time.flaw(format!("{t} s is not a time"))),
        Some(t) => Ok(t),
        None => Err(time.flaw("it is not a number")),
    }
}
