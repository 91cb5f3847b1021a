//! Facts about the server for the system description.

use std::collections::BTreeMap;

use assay_model::Fact;

use crate::builtin::bulkload::params::BulkloadParams;
use crate::builtin::bulkload::postgres::{Programs, User};
use crate::driver::program::{fact, facts as program_facts, version_line};

/// Returns the facts about the server, named `workload.server.*` and `workload.client.*`.
pub fn facts(params: &BulkloadParams) -> BTreeMap<String, Fact> {
    let programs = Programs::find(params.bin.as_deref());
    let (server, client) = match programs {
        Ok(programs) => {
            let client = version_line(&programs.psql, &["--version".into()]);
            (Ok(programs.postgres), client.map_err(String::from))
        }
        Err(e) => {
            let message = e.to_string();
            (Err(e), Err(message))
        }
    };
    let mut facts = program_facts("workload.server", &server, "--version");
    let mut put = |name: &str, known| facts.insert(format!("workload.{name}"), fact(known));
    put("client.version", client);
    put("server.settings", Ok(params.settings(1).join(" ")));
    let user = User::find(&params.user).map_err(|e| e.to_string());
    put("server.user", user.map(|u| u.map_or_else(|| "the user of assay".into(), |u| u.name)));
    facts
}
