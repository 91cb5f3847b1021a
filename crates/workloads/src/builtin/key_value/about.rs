//! Facts about the server for the system description: its program, command line and effective
//! settings.

use std::collections::BTreeMap;
use std::fs;

use assay_model::Fact;
use assay_system::scratch;

use crate::Failure;
use crate::builtin::key_value::admin::{AdminConnection, Endpoint, Stats};
use crate::builtin::key_value::params::{KeyValueParams, Network, Transport};
use crate::builtin::key_value::server::{self, RunningServer};
use crate::driver::program::{fact, facts as program_facts};

/// Returns the facts about the server, all named `workload.server.*`.
pub fn facts(params: &KeyValueParams) -> BTreeMap<String, Fact> {
    let mut facts = BTreeMap::new();
    let dialect = params.dialect;
    let named = |name: &str, known| (format!("workload.server.{name}"), fact(known));
    let settings = if let Some(address) = &params.address {
        let unseen = "assay did not start the server and does not know its program";
        let asked = foreign(params, address).and_then(|mut talk| {
            let stats = (dialect.stats)(&mut talk).map_err(|e| e.to_string())?;
            let version = stats.get(dialect.version).ok_or("the server does not state it")?;
            let settings = (dialect.effective)(&mut talk).map_err(|e| e.to_string())?;
            Ok((version.clone(), settings))
        });
        let version = asked.as_ref().map(|(version, _)| version.clone());
        let (version, settings) = (version.map_err(String::clone), asked.map(|(_, s)| s));
        facts.extend([
            named("address", Ok(address.clone())),
            named("path", Err(unseen.into())),
            named("version", version),
        ]);
        settings
    } else {
        facts = program_facts("workload.server", &server::program(params), dialect.version_option);
        let options = crate::words::quote_words(&(dialect.settings)(params));
        facts.extend([named("options", Ok(options))]);
        effective(params)
    };
    match settings {
        Ok(settings) => {
            facts.extend(settings.into_iter().map(|(n, v)| named(&format!("setting.{n}"), Ok(v))));
        }
        Err(e) => facts.extend([named("settings", Err(e))]),
    }
    facts
}

fn foreign(params: &KeyValueParams, address: &str) -> Result<AdminConnection, String> {
    let place = match params.transport {
        Transport::Tcp => Endpoint::Tcp(address.to_owned()),
        Transport::Unix => Endpoint::Unix(address.into()),
        Transport::Tls => {
            return Err("statistics are read in plain text only, not over TLS".into());
        }
    };
    let config = params.load().map_err(|e| e.to_string())?;
    AdminConnection::open(&place, &config).map_err(|e| format!("{place}: {e}"))
}

/// Starts the server briefly on a UNIX socket and reads its effective settings.
fn effective(params: &KeyValueParams) -> Result<Stats, String> {
    // If this process is killed meanwhile, the next sweep of the scratch folder removes `folder`.
    let folder = scratch::make(&scratch::root(), scratch::OWNER)
        .map_err(|e| format!("cannot create a folder for the server: {e}"))?;
    let mut quiet = params.clone();
    (quiet.transport, quiet.network) = (Transport::Unix, Network::Loopback);
    let asked = RunningServer::start(&quiet, &folder, None).and_then(|running| {
        // Dropping it kills it, which is safe: it has no data.
        let talk = AdminConnection::open(&running.place, &params.load()?);
        talk.and_then(|mut talk| (params.dialect.effective)(&mut talk)).map_err(Failure::other)
    });
    // Only a log in the scratch folder is left if this fails.
    let _ = fs::remove_dir_all(&folder);
    asked.map_err(|e| e.to_string())
}
