//! `assay schema`: the JSON Schemas of the file formats, made from the types.

use std::path::Path;

use anyhow::{Context, Result};
use assay_model as model;

use crate::exit::Exit;
use crate::screen::{print, write_file};

/// Returns the schema of every format, with the name of its file.
fn schemas() -> Vec<(&'static str, schemars::Schema)> {
    vec![
        ("experiment", schemars::schema_for!(model::Experiment)),
        ("plan", schemars::schema_for!(model::Plan)),
        ("system", schemars::schema_for!(model::SystemDescription)),
        ("record", schemars::schema_for!(model::TrialRecord)),
        ("ledger", schemars::schema_for!(model::LedgerEntry)),
        ("event", schemars::schema_for!(model::Event)),
        ("analysis", schemars::schema_for!(model::Analysis)),
        ("run", schemars::schema_for!(model::RunSummary)),
        ("live-event", schemars::schema_for!(model::LiveEvent)),
        ("claims", schemars::schema_for!(assay_claims::ClaimsFile)),
        ("nodes", schemars::schema_for!(assay_cluster::NodesFile)),
        ("kit", assay_workloads::kit::kit_schema()),
        ("confirmed", schemars::schema_for!(assay_lab::series::ConfirmedChange<'_>)),
        #[cfg(feature = "server")]
        ("job", schemars::schema_for!(assay_server::Job)),
    ]
}

/// Returns the text of a schema.
pub(super) fn text(name: &str) -> Result<String> {
    let schema = schemas().into_iter().find(|(n, _)| *n == name).map(|(_, schema)| schema);
    Ok(serde_json::to_string_pretty(&schema)? + "\n")
}

/// Writes all schemas into a folder.
pub fn schema(output: &Path) -> Result<Exit> {
    std::fs::create_dir_all(output)
        .with_context(|| format!("cannot create {}", output.display()))?;
    for (name, schema) in schemas() {
        let path = output.join(format!("{name}.schema.json"));
        let text = serde_json::to_string_pretty(&schema)? + "\n";
        write_file(&path, text)?;
        print(&path.display().to_string())?;
    }
    Ok(Exit::Fine)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_committed_schemas_are_those_of_the_types() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/schema");
        for (name, schema) in schemas() {
            let path = folder.join(format!("{name}.schema.json"));
            let committed = std::fs::read_to_string(&path)
                .unwrap_or_else(|e| panic!("{}: {e}; run `make schema`", path.display()));
            let made = serde_json::to_string_pretty(&schema).unwrap() + "\n";
            assert_eq!(committed, made, "{name}: run `make schema`");
        }
    }
}
