//! Result files of workloads: a file is completed with data about the machine, evaluated against
//! its pack, and the verdict is summarized in one finding.

use assay_model::{Finding, Severity};

use super::orders::OrdersResult;
use super::{Pack, PackEvidence, PackScope, PackVerdict, RuleResult, Verdict, evaluate};

/// A result file and the verdict of its pack.
#[derive(Debug)]
pub struct JudgedFile {
    /// The file, with the machine added to its disclosure.
    pub result: Vec<u8>,
    pub verdict: PackVerdict,
    /// Profile with which the result was made; `unknown` if the file does not state it.
    pub profile: String,
}

/// Reason why a result file cannot be judged.
#[derive(Debug, thiserror::Error)]
pub enum ResultFileError {
    #[error("the rule pack {0} could not read the result: it judges no files of workloads")]
    OtherScope(String),
    #[error("the rule pack {pack} could not read the result: {source}")]
    Json { pack: String, source: serde_json::Error },
}

/// Evaluates the file `bytes` against `pack`. `machine` holds entries to add to its disclosure.
///
/// # Errors
/// The pack does not apply to result files, or the file is of another kind.
pub fn judge_file(
    pack: &Pack,
    bytes: &[u8],
    machine: &[(&str, String)],
) -> Result<JudgedFile, ResultFileError> {
    let failed = |source| ResultFileError::Json { pack: pack.id.clone(), source };
    if pack.applies_to != PackScope::Orders {
        return Err(ResultFileError::OtherScope(pack.id.clone()));
    }
    let mut result: OrdersResult = serde_json::from_slice(bytes).map_err(failed)?;
    result.disclosure.extend(machine.iter().map(|(name, text)| ((*name).into(), text.clone())));
    Ok(JudgedFile {
        verdict: evaluate(pack, &PackEvidence::Orders(&result)),
        profile: result.properties.get("profile").map_or("unknown", String::as_str).to_owned(),
        result: serde_json::to_vec_pretty(&result).map_err(failed)?,
    })
}

impl JudgedFile {
    /// Summarizes the verdict in one finding; `None` when the result is reportable. `file` names
    /// the stored verdict for the remedy.
    pub fn finding(&self, file: &str) -> Option<Finding> {
        let verdict = &self.verdict;
        if verdict.verdict == Verdict::Reportable {
            return None;
        }
        let ids = |wanted: RuleResult| {
            let rules: Vec<&str> = verdict
                .rules
                .iter()
                .filter(|r| r.result == wanted)
                .map(|r| r.id.as_str())
                .collect();
            rules.join(", ")
        };
        let profile = &self.profile;
        let mut message = format!(
            "not compliant with the rule pack {} {} (profile {profile}: {})",
            verdict.pack, verdict.version, verdict.verdict
        );
        for (what, ids) in
            [("broken", ids(RuleResult::Fail)), ("not known", ids(RuleResult::Unknown))]
        {
            if !ids.is_empty() {
                message.extend(["; ", what, ": ", &ids]);
            }
        }
        // A result with a short profile does not claim to follow the rules, so it only gets a
        // warning. A result that claims to follow them and fails is invalid.
        let severity = if verdict.verdict == Verdict::Invalid && profile == "rules" {
            Severity::Invalid
        } else {
            Severity::Warning
        };
        let remedy = format!(
            "`assay rules show {}` has the rules; {file} beside the record has the evidence",
            verdict.pack
        );
        let rule = format!("{}-{}", verdict.pack, verdict.version);
        Some(Finding::of_rule(rule, "rule-pack".into(), severity, message, remedy))
    }
}
