//! `assay workloads`: lists the workloads and their parameters.

use std::fmt::Write;

use anyhow::Result;
use assay_model::{ParamType, WorkloadSpec};
use assay_workloads::builtin;

use crate::arguments::Global;
use crate::commands::open::kit_paths;
use crate::exit::Exit;
use crate::screen::{answer, wrap};

/// Lists all workloads, or describes one.
pub fn workloads(global: &Global, name: Option<&str>) -> Result<Exit> {
    let kits = kit_paths()?;
    let specs = match name {
        Some(name) => vec![assay_workloads::registry::find(name, &kits)?.spec().clone()],
        None => assay_workloads::registry::specs(&kits),
    };
    let line = |spec: &WorkloadSpec| {
        wrap(&format!("{:<12} {}", spec.name, spec.help), "", "             ")
    };
    answer(global.json, &specs, || match (name, specs.as_slice()) {
        (Some(_), [spec]) => describe(spec),
        (_, specs) => specs.iter().map(line).collect::<Vec<_>>().join("\n"),
    })?;
    Ok(Exit::Fine)
}

fn describe(spec: &WorkloadSpec) -> String {
    let title = wrap(&format!("{}: {}", spec.name, spec.help), "", "");
    let mut text = format!("{title}\n\nParameters\n");
    for p in &spec.params {
        let default = match &p.default {
            None => "required".to_owned(),
            Some(d) if d.to_text().is_empty() => "default none".to_owned(),
            Some(d) => format!("default {d}"),
        };
        let head = format!("{} ({}, {default})", p.name, kind(&p.ty));
        let _ = writeln!(text, "{}", wrap(&head, "  ", "      "));
        let _ = writeln!(text, "{}", wrap(&p.help, "      ", "      "));
    }
    text.push_str("\nMetrics (the first decides)\n");
    for m in &spec.metrics {
        let _ = writeln!(text, "  {} ({}) {}", m.name, m.unit, m.better.words());
        let _ = writeln!(text, "{}", wrap(&m.help, "      ", "      "));
    }
    if let Some(row) = builtin::table::row(&spec.name) {
        let experiment = row.experiment.map(|e| format!(", experiments/{e}")).unwrap_or_default();
        let _ = writeln!(text, "\nSee docs/{}{experiment}", row.docs);
    }
    text
}

/// Describes the type of a parameter in words.
pub(in crate::commands) fn kind(ty: &ParamType) -> String {
    match ty {
        ParamType::Bool => "true or false".into(),
        ParamType::Int { min, max } => format!("{min} to {max}"),
        ParamType::Float { min, max } => format!("{min} to {max}"),
        ParamType::Bytes => "size".into(),
        ParamType::Duration => "duration".into(),
        ParamType::Choice { of } => of.join(" | "),
        ParamType::Text => "text".into(),
    }
}
