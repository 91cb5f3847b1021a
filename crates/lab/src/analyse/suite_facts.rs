//! Facts that the rules for a suite's result require in addition to the measurement: those that the
//! record holds, and a file for those that only a person knows.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use assay_model::{SystemDescription, nearest};
use assay_quoted::pack::cpu::CpuSuiteResult;
use assay_quoted::pack::fair_use::FairUse;
use serde::Deserialize;

/// Disclosure fields that the system description answers: the field, and the facts that are joined
/// for it, each with its prefix.
const RECORDED: [(&str, &[(&str, &str)]); 12] = [
    ("vendor", &[("", "dmi.sys_vendor")]),
    ("model", &[("", "dmi.product_name")]),
    ("cpu-name", &[("", "cpu.model")]),
    ("chips", &[("", "cpu.sockets")]),
    ("cores", &[("", "cpu.cores")]),
    ("cache-l1", &[("instructions ", "cpu.cache.l1i.size"), ("data ", "cpu.cache.l1d.size")]),
    ("cache-l2", &[("", "cpu.cache.l2.size")]),
    ("cache-l3", &[("", "cpu.cache.l3.size")]),
    ("memory", &[("", "memory.total")]),
    ("memory-modules", &[("", "memory.dimms")]),
    ("os", &[("", "os.name"), ("Linux ", "kernel.release")]),
    ("power-management", &[("governor ", "cpu.governor")]),
];

/// Returns the disclosure fields that the record answers. A field made of several facts needs all
/// of them.
pub(crate) fn recorded(system: &SystemDescription) -> BTreeMap<String, String> {
    let known = |path: &str| system.facts.get(path).and_then(|f| f.value()).map(str::to_owned);
    let mut found = BTreeMap::new();
    for (field, facts) in RECORDED {
        let parts: Option<Vec<String>> =
            facts.iter().map(|(before, path)| Some(format!("{before}{}", known(path)?))).collect();
        if let Some(parts) = parts {
            found.insert(field.to_owned(), parts.join(", "));
        }
    }
    let number = |path| known(path).and_then(|n| n.parse::<u32>().ok());
    if let (Some(threads), Some(cores)) = (number("cpu.threads"), number("cpu.cores"))
        && cores > 0
        && threads % cores == 0
    {
        found.insert("threads-per-core".to_owned(), (threads / cores).to_string());
    }
    if let Some(khz) = number("cpu.frequency.hardware_max_khz") {
        found.insert("cpu-max-mhz".to_owned(), (khz / 1000).to_string());
    }
    let devices: Vec<String> = (system.facts.keys())
        .filter_map(|path| path.strip_prefix("used.device."))
        .map(|device| {
            let more = ["model", "size"].map(|what| known(&format!("block.{device}.{what}")));
            let words = [Some(device.to_owned())].into_iter().chain(more).flatten();
            words.collect::<Vec<_>>().join(" ")
        })
        .collect();
    if !devices.is_empty() {
        found.insert("disk".to_owned(), devices.join(", "));
    }
    found
}

/// Returns the mount points used for `purpose`, each with the type of its file system in
/// parentheses.
pub(crate) fn file_systems(system: &SystemDescription, purpose: &str) -> Option<Vec<String>> {
    let used = system.facts.iter().filter_map(|(path, fact)| {
        let point = path.strip_prefix("used.mount.")?;
        fact.value()?.split(", ").any(|p| p == purpose).then_some(point)
    });
    let found: Option<Vec<String>> = used
        .map(|point| {
            let mount = system.facts.get(&format!("mount.{point}"))?.value()?;
            Some(format!("{point} ({})", mount.split_whitespace().next()?))
        })
        .collect();
    found.filter(|found| !found.is_empty())
}

/// A person's answers about a result.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct SuiteFacts {
    /// True if all parts of the system are available and supported.
    pub parts_available: Option<bool>,
    /// True if a run-time optimiser keeps knowledge of a program from one run to the next.
    pub optimiser_remembers: Option<bool>,
    /// True if the result is published together with others.
    pub published: Option<bool>,
    /// Fair-use record of that publication.
    pub publication: Option<FairUse>,
    /// Disclosed fields by name.
    pub disclosure: BTreeMap<String, String>,
}

/// Questions in addition to the disclosed fields: the key and the text of the question.
const QUESTIONS: [(&str, &str); 3] = [
    ("parts_available", "Are all parts of the system available and supported?"),
    ("optimiser_remembers", "Does a run-time optimiser keep data about a program between runs?"),
    ("published", "Is the result published next to others?"),
];

/// A disclosed field that cannot be added to a result.
#[derive(Debug, thiserror::Error)]
pub enum SuiteFactsError {
    #[error("the rules know no field `{field}`{hint}")]
    UnknownField { field: String, hint: String },
    #[error(
        "`{field}` is {recorded:?} in the run's record and {given:?} in the file; leave it out of \
         the file"
    )]
    Contradicts { field: String, recorded: String, given: String },
}

impl SuiteFacts {
    /// Adds the answers in the file to the result. `fields` lists the fields that the rules know.
    ///
    /// # Errors
    /// The rules do not know a field, or the run recorded another value for it.
    pub fn add_to(
        self,
        result: &mut CpuSuiteResult,
        fields: &[&str],
    ) -> Result<(), SuiteFactsError> {
        for (field, value) in self.disclosure {
            if !fields.contains(&field.as_str()) {
                let hint = nearest(&field, fields.iter().copied())
                    .map(|n| format!("; did you mean `{n}`?"))
                    .unwrap_or_default();
                return Err(SuiteFactsError::UnknownField { field, hint });
            }
            match result.disclosure.get(&field) {
                Some(recorded) if *recorded != value => {
                    let recorded = recorded.clone();
                    return Err(SuiteFactsError::Contradicts { field, recorded, given: value });
                }
                _ => {}
            }
            if !value.trim().is_empty() {
                result.disclosure.insert(field, value);
            }
        }
        result.parts_available = self.parts_available.or(result.parts_available);
        result.optimiser_remembers = self.optimiser_remembers.or(result.optimiser_remembers);
        result.published = self.published.or(result.published);
        result.publication = self.publication.or(result.publication.take());
        Ok(())
    }
}

/// Returns the text of a file to fill in: the open questions about this result, with the recorded
/// fields as comments.
pub fn suite_facts_template(run: &str, result: &CpuSuiteResult, fields: &[&str]) -> String {
    let mut text = format!(
        "# Facts about the result of run {run} that only you know. Fill in what you can, delete \
         the rest, then\n#   assay cpu result {run} --facts FILE > result.json\n#   assay rules \
         judge cpu result.json\n\n"
    );
    let open = [
        result.parts_available.is_none(),
        result.optimiser_remembers.is_none(),
        result.published.is_none(),
    ];
    for ((key, question), open) in QUESTIONS.iter().zip(open) {
        if open {
            let _ = writeln!(text, "# {question}\n# {key} = false");
        }
    }
    text.push_str("\n[disclosure]\n");
    for field in fields {
        let _ = match result.disclosure.get(*field) {
            Some(known) => writeln!(text, "# {field} is recorded: {}", known.replace('\n', " ")),
            None => writeln!(text, "{field} = \"\""),
        };
    }
    text
}

#[cfg(test)]
mod tests {
    use assay_model::Fact;

    use super::*;

    fn system(facts: &[(&str, &str)]) -> SystemDescription {
        let facts = facts.iter().map(|(k, v)| ((*k).to_owned(), Fact::known(*v)));
        SystemDescription { facts: facts.collect(), ..SystemDescription::default() }
    }

    #[test]
    fn a_field_of_several_facts_needs_all_of_them() {
        let half = recorded(&system(&[("os.name", "Debian 12")]));
        assert_eq!(half.get("os"), None);
        let whole = recorded(&system(&[("os.name", "Debian 12"), ("kernel.release", "6.1.0")]));
        assert_eq!(whole["os"], "Debian 12, Linux 6.1.0");
    }

    #[test]
    fn a_file_cannot_contradict_the_record() {
        let mut result = CpuSuiteResult::default();
        result.disclosure.insert("cpu-name".into(), "AMD EPYC".into());
        let facts = |text: &str| toml::from_str::<SuiteFacts>(text).expect("facts");
        let fields = ["cpu-name", "vendor"];
        let added = facts("[disclosure]\ncpu-name = 'Xeon'").add_to(&mut result, &fields);
        assert!(added.is_err_and(|e| e.to_string().contains("\"AMD EPYC\" in the run's record")));
        let added = facts("[disclosure]\nvender = 'x'").add_to(&mut result, &fields);
        assert!(added.is_err_and(|e| e.to_string().contains("did you mean `vendor`?")));
        facts("published = false\n[disclosure]\nvendor = 'x'")
            .add_to(&mut result, &fields)
            .expect("known");
        assert_eq!((result.published, result.disclosure["vendor"].as_str()), (Some(false), "x"));
    }

    #[test]
    fn the_template_asks_for_what_is_open_alone() {
        let mut result = CpuSuiteResult { published: Some(false), ..CpuSuiteResult::default() };
        result.disclosure.insert("cpu-name".into(), "AMD EPYC".into());
        let text = suite_facts_template("r1", &result, &["cpu-name", "vendor"]);
        assert!(
            text.contains("# parts_available = false") && !text.contains("published ="),
            "{text}"
        );
        assert!(text.contains("# cpu-name is recorded: AMD EPYC\nvendor = \"\"\n"), "{text}");
        assert!(toml::from_str::<SuiteFacts>(&text).is_ok(), "{text}");
    }
}
