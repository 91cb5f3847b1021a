//! `assay rules`: the catalogue of checks and the rule packs, as tables, pages and verdicts.

pub mod args;

use std::fmt::Write;
use std::path::Path;

use anyhow::{Context, Result};
use assay_checks::{self as checks, CheckReport};
use assay_lab::RecordedRun;
use assay_model::{CheckRow, Finding, Profile, Severity};
use assay_quoted::pack::{self, Pack, PackEvidence, PackRule, PackScope, PackVerdict, Verdict};
use serde_json::{Value, json};

use crate::arguments::Global;
use crate::commands::open::open_archive;
use crate::exit::{Exit, Usage, mistake, usage};
use crate::screen::{answer, answer_styled, print, print_json, style, wrap};
use crate::view;
use args::Rules;

/// Lists, shows or applies checks and packs.
pub fn rules(global: &Global, rules: &Rules) -> Result<Exit> {
    match rules {
        Rules::List { packs } => list(global, packs.as_deref()),
        Rules::Catalogue { markdown } => whole(global, *markdown),
        Rules::Classes { markdown } => classes(global, *markdown),
        Rules::Show { id, packs } => show(global, id, packs.as_deref()),
        Rules::Check { run, profile } => check(global, run, *profile),
        Rules::Judge { pack, file, packs } => judge(global, pack, file, packs.as_deref()),
    }
}

/// Returns the built-in packs, or those of a folder.
fn all_packs(folder: Option<&Path>) -> Result<Vec<Pack>> {
    match folder {
        None => Ok(pack::embedded()),
        Some(dir) => Ok(pack::read_dir(dir).map_err(mistake)?),
    }
}

fn find_pack(id: &str, folder: Option<&Path>) -> Result<Pack> {
    let packs = all_packs(folder)?;
    let known: Vec<String> = packs.iter().map(|p| p.id.clone()).collect();
    let found = packs.into_iter().find(|p| p.id == id || format!("{}-{}", p.id, p.version) == id);
    found.ok_or_else(|| {
        Usage(format!("there is no rule pack `{id}`; there are {}", known.join(", "))).into()
    })
}

fn list(global: &Global, folder: Option<&Path>) -> Result<Exit> {
    let packs = all_packs(folder)?;
    let rows = || assay_checks::catalogue().iter().map(|c| c.row);
    if global.json {
        let checks: Vec<Value> = rows().map(check_json).collect();
        return print_json(&json!({ "checks": checks, "packs": packs })).map(|()| Exit::Fine);
    }
    let mut text = String::from("Rule packs\n");
    for p in &packs {
        let head =
            format!("{} {} of {}: {} rules. {}", p.id, p.version, p.date, p.rules.len(), p.title);
        let _ = writeln!(text, "{}", wrap(&head, "  ", "      "));
        let source =
            format!("after {} {}, read on {}", p.source.name, p.source.version, p.source.retrieved);
        let _ = writeln!(text, "{}", wrap(&source, "      ", "      "));
    }
    let _ = writeln!(text, "\nChecks of the catalogue");
    for c in rows() {
        let line = format!("{} {:<22} {}", c.id, c.name, c.fires);
        let _ = writeln!(text, "{}", wrap(&line, "  ", "                            "));
    }
    print(&text).map(|()| Exit::Fine)
}

fn whole(global: &Global, markdown: bool) -> Result<Exit> {
    let rows = checks::catalogue().iter().map(|c| c.row);
    if markdown {
        print(&checks::markdown())?;
    } else {
        let json: Vec<Value> = rows.clone().map(check_json).collect();
        answer(global.json, &json, || rows.map(describe).collect::<Vec<_>>().join("\n"))?;
    }
    Ok(Exit::Fine)
}

fn classes(global: &Global, markdown: bool) -> Result<Exit> {
    if markdown {
        return print(&checks::environment_markdown()).map(|()| Exit::Fine);
    }
    let classes = assay_model::environment::classes();
    if global.json {
        let classes: Vec<Value> =
            classes.iter().map(|(p, c)| json!({ "path": p, "class": c.name() })).collect();
        let entailed: Vec<Value> = assay_model::environment::entailments()
            .into_iter()
            .map(|(f, p, why)| json!({ "factor": f, "entailed": p, "why": why }))
            .collect();
        let all = json!({ "classes": classes, "entailments": entailed });
        return print_json(&all).map(|()| Exit::Fine);
    }
    let mut text = String::from("Classes of facts, by the longest prefix\n");
    for (path, class) in classes {
        let _ = writeln!(text, "  {:<9} {path}", class.name());
    }
    text.push_str("\nFacts that follow from a factor\n");
    for (factor, paths, why) in assay_model::environment::entailments() {
        let line = format!("{factor}: {}", paths.join(", "));
        let _ = writeln!(text, "{}", wrap(&line, "  ", "      "));
        let _ = writeln!(text, "{}", wrap(why, "      ", "      "));
    }
    print(&text).map(|()| Exit::Fine)
}

fn check_json(c: &CheckRow) -> Value {
    json!({
        "id": c.id, "name": c.name, "section": c.section.title(),
        "severity": { "lab": c.severity.lab, "publish": c.severity.publish },
        "escalation": c.escalation, "needs": c.needs, "fires": c.fires, "why": c.why,
        "evidence": c.evidence, "remedy": c.remedy, "source": c.source,
        "always_checked": checks::rows::always_checked(c.id),
    })
}

fn describe(c: &CheckRow) -> String {
    let mut text = format!("{} {}\n", c.id, c.name);
    let severity =
        format!("{} (lab), {} (publish)", c.severity.lab.name(), c.severity.publish.name());
    let lines = [
        ("severity", severity.as_str()),
        ("except", c.escalation),
        ("fires", c.fires),
        ("why", c.why),
        ("needs", c.needs),
        ("evidence", c.evidence),
        ("always", checks::rows::always_checked(c.id).unwrap_or("")),
        ("remedy", c.remedy),
        ("source", c.source),
    ];
    for (name, what) in lines.iter().filter(|(_, what)| !what.is_empty()) {
        let line = format!("{:<10}{what}", format!("{name}:"));
        let _ = writeln!(text, "{}", wrap(&line, "  ", "            "));
    }
    text
}

fn show(global: &Global, id: &str, folder: Option<&Path>) -> Result<Exit> {
    if let Some(check) = checks::find(id) {
        return answer(global.json, &check_json(check.row), || describe(check.row))
            .map(|()| Exit::Fine);
    }
    if let Some(retired) = checks::rows::retired(id) {
        return usage(retired);
    }
    let pack = find_pack(id, folder).map_err(|_| {
        Usage(format!("`{id}` is neither a check nor a rule pack; see `assay rules list`"))
    })?;
    if global.json {
        return print_json(&pack).map(|()| Exit::Fine);
    }
    let head = format!("{} {} of {}: {}", pack.id, pack.version, pack.date, pack.title);
    let mut text = wrap(&head, "", "  ");
    let _ = writeln!(text, "\n");
    for rule in &pack.rules {
        rule_lines(rule, &mut text);
    }
    print(&text).map(|()| Exit::Fine)
}

fn rule_lines(rule: &PackRule, text: &mut String) {
    let source = if rule.source.is_empty() { String::new() } else { format!(" ({})", rule.source) };
    let _ = writeln!(text, "{}", wrap(&format!("{}{source} {}", rule.id, rule.text), "", "    "));
    let line = format!("{}; checked by {}", rule.severity.name(), rule.check);
    let _ = writeln!(text, "{}", wrap(&line, "    ", "    "));
}

/// Runs the whole catalogue on a run of the archive, in a profile.
fn check(global: &Global, run: &str, profile: Profile) -> Result<Exit> {
    let archive = open_archive(global)?;
    let v = view::load(&archive, &archive.resolve(run)?)?;
    let recorded = RecordedRun {
        experiment: &v.experiment,
        plan: &v.plan,
        records: &v.records,
        system: Some(&v.system),
        ledger: &v.ledger,
    };
    let report = assay_lab::check(&recorded, &v.analysis, profile);
    answer_styled(global.json, &report_json(&report), || report_text(&report))?;
    Ok(if report.worst() == Some(Severity::Invalid) { Exit::Rule } else { Exit::Fine })
}

fn report_json(report: &CheckReport) -> Value {
    let why = |c: &checks::PassedCheck| json!({ "id": c.id, "name": c.name, "why": c.why });
    json!({
        "profile": report.profile.name(),
        "findings": report.findings,
        "in_trials": report.in_trials,
        "passed": report.passed.iter().map(|c| c.id).collect::<Vec<_>>(),
        "not_applicable": report.not_applicable.iter().map(why).collect::<Vec<_>>(),
        "cannot_check": report.cannot_check.iter().map(|c| json!({
            "id": c.id, "name": c.name, "missing": c.missing, "severity": c.severity,
        })).collect::<Vec<_>>(),
    })
}

fn report_text(report: &CheckReport) -> String {
    let all: Vec<Finding> = report.findings.iter().chain(&report.in_trials).cloned().collect();
    let mut text = assay_report::terminal::findings(&all, style());
    let passed: Vec<&str> = report.passed.iter().map(|c| c.id).collect();
    let _ = writeln!(text, "\n{}", wrap(&format!("passed: {}", passed.join(" ")), "", "  "));
    let na: Vec<&str> = report.not_applicable.iter().map(|c| c.id).collect();
    let _ = writeln!(text, "{}", wrap(&format!("not applicable: {}", na.join(" ")), "", "  "));
    let _ = writeln!(text, "cannot check:");
    for c in &report.cannot_check {
        let line = format!("{} {:<22} {} is not recorded", c.id, c.name, c.missing);
        let _ = writeln!(text, "{}", wrap(&line, "  ", "      "));
    }
    text
}

/// Judges the result in a JSON file by a pack.
fn judge(global: &Global, id: &str, file: &Path, folder: Option<&Path>) -> Result<Exit> {
    let pack = find_pack(id, folder)?;
    let name = file.display();
    let text =
        std::fs::read_to_string(file).map_err(|e| Usage(format!("cannot read {name}: {e}")))?;
    let verdict = match pack.applies_to {
        PackScope::CpuSuite => pack::evaluate(&pack, &PackEvidence::Cpu(&result(file, &text)?)),
        PackScope::Orders => pack::evaluate(&pack, &PackEvidence::Orders(&result(file, &text)?)),
        PackScope::QuotedClaims => {
            pack::evaluate(&pack, &PackEvidence::FairUse(&result(file, &text)?))
        }
    };
    answer(global.json, &verdict, || verdict_text(&pack, &verdict)).context("write the verdict")?;
    Ok(if verdict.verdict == Verdict::Invalid { Exit::Rule } else { Exit::Fine })
}

fn result<T: serde::de::DeserializeOwned>(file: &Path, text: &str) -> Result<T> {
    serde_json::from_str(text).or_else(|e| usage(format!("{}: {e}", file.display())))
}

fn verdict_text(pack: &Pack, verdict: &PackVerdict) -> String {
    let mut text =
        format!("{} under {} {} of {}\n", verdict.verdict, pack.id, pack.version, pack.date);
    for r in &verdict.rules {
        let word = r.result.name();
        let line = format!("{:<5}{word:<8} {}", r.id, r.evidence);
        let _ = writeln!(text, "{}", wrap(&line, "  ", "                "));
        if !r.disclosure.is_empty() {
            let line = format!("disclose: {}", r.disclosure);
            let _ = writeln!(text, "{}", wrap(&line, "                ", "                "));
        }
    }
    text
}
