//! `assay schema`: the JSON Schemas of the file formats. Tests make them from the types.

use std::path::Path;

use anyhow::{Context, Result};

use crate::exit::Exit;
use crate::screen::{print, write_file};
use crate::shipped;

/// Returns the text of a schema.
pub(super) fn text(name: &str) -> Result<String> {
    let file = format!("{name}.schema.json");
    let found = shipped::texts("docs/schema")?.into_iter().find(|(name, _)| *name == file);
    found.map(|(_, text)| text).with_context(|| format!("there is no schema `{name}`"))
}

/// Writes all schemas into a folder.
pub fn schema(output: &Path) -> Result<Exit> {
    std::fs::create_dir_all(output)
        .with_context(|| format!("cannot create {}", output.display()))?;
    for (name, text) in shipped::texts("docs/schema")? {
        let path = output.join(name);
        write_file(&path, text)?;
        print(&path.display().to_string())?;
    }
    Ok(Exit::Fine)
}

#[cfg(test)]
mod tests {
    use assay_model as model;
    use schemars::schema_for;

    use super::*;

    /// Compares the types with the schemas of the documentation, which `make schema` writes.
    #[test]
    fn the_committed_schemas_are_those_of_the_types() {
        let schemas = [
            ("experiment", schema_for!(model::Experiment)),
            ("plan", schema_for!(model::Plan)),
            ("system", schema_for!(model::SystemDescription)),
            ("record", schema_for!(model::TrialRecord)),
            ("ledger", schema_for!(model::LedgerEntry)),
            ("event", schema_for!(model::Event)),
            ("analysis", schema_for!(model::Analysis)),
            ("run", schema_for!(model::RunSummary)),
            ("live-event", schema_for!(model::LiveEvent)),
            ("claims", schema_for!(assay_claims::ClaimsFile)),
            ("nodes", schema_for!(assay_cluster::NodesFile)),
            ("kit", assay_workloads::kit::kit_schema()),
            ("confirmed", schema_for!(assay_lab::series::ConfirmedChange<'_>)),
            #[cfg(feature = "server")]
            ("job", schema_for!(assay_server::Job)),
        ];
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/schema");
        for (name, schema) in schemas {
            let path = folder.join(format!("{name}.schema.json"));
            let made = serde_json::to_string_pretty(&schema).unwrap() + "\n";
            if std::env::var_os("ASSAY_WRITE_SCHEMAS").is_some() {
                std::fs::write(&path, made).unwrap();
            } else {
                let committed = std::fs::read_to_string(&path).unwrap_or_default();
                assert_eq!(committed, made, "{name}: run `make schema`");
            }
        }
    }
}
