//! Facts about the server for the description of the system.

use std::collections::BTreeMap;
use std::path::Path;

use assay_model::Fact;
use assay_sut::sha256_file;

use super::params::Params;
use super::postgres::{Programs, User};
use crate::program::version_line;

/// The facts, below `workload.server.`.
pub fn facts(params: &Params) -> BTreeMap<String, Fact> {
    let programs = Programs::find(params.bin.as_deref()).map_err(|e| e.to_string());
    let mut facts = BTreeMap::new();
    let mut put = |name: &str, fact: Result<String, String>| {
        facts.insert(format!("workload.{name}"), fact.map_or_else(Fact::unknown, Fact::known));
    };
    let of = |pick: fn(&Programs) -> &Path, read: &dyn Fn(&Path) -> Result<String, String>| {
        programs.as_ref().map_err(Clone::clone).and_then(|p| read(pick(p)))
    };
    let version = |path: &Path| version_line(path, &["--version".into()]);
    let server: fn(&Programs) -> &Path = |p| &p.postgres;
    put("server.path", of(server, &|path| Ok(path.display().to_string())));
    put("server.version", of(server, &version));
    put(
        "server.sha256",
        of(server, &|path| sha256_file(path).map_err(|e| format!("read {}: {e}", path.display()))),
    );
    put("client.version", of(|p| &p.psql, &version));
    put("server.settings", Ok(params.settings(1).join(" ")));
    let user = User::find(&params.user).map_err(|e| e.to_string());
    put("server.user", user.map(|u| u.map_or_else(|| "whoever runs assay".into(), |u| u.name)));
    facts
}
