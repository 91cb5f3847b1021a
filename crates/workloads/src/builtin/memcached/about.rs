//! Facts about the server for the system description: its program, command line and effective
//! settings.

use std::collections::BTreeMap;
use std::fs;

use assay_model::Fact;
use assay_system::scratch;

use crate::Failure;
use crate::builtin::memcached::admin::{AdminConnection, Endpoint, Stats};
use crate::builtin::memcached::params::{Network, Params, Transport};
use crate::builtin::memcached::server::{self, RunningServer};
use crate::driver::program::{fact, facts as program_facts};

/// Names of settings that depend on where the server listens, and so differ from trial to trial.
const PLACES: [&str; 5] = ["tcpport", "udpport", "domain_socket", "inter", "umask"];

/// Returns the facts about the server, all named `workload.server.*`.
pub fn facts(params: &Params) -> BTreeMap<String, Fact> {
    let mut facts = BTreeMap::new();
    let named = |name: &str, known| (format!("workload.server.{name}"), fact(known));
    let settings = if let Some(address) = &params.address {
        let unseen = "assay did not start the server and does not know its program";
        let asked = foreign(params, address).and_then(|mut talk| {
            let version = talk.version().map_err(|e| e.to_string())?;
            Ok((version, talk.stats("settings").map_err(|e| e.to_string())?))
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
        facts = program_facts("workload.server", &server::program(params), "-V");
        let options = crate::words::quote_words(&server::settings(params));
        facts.extend([named("options", Ok(options))]);
        effective(params)
    };
    match settings {
        Ok(settings) => {
            let own = settings.iter().filter(|(name, _)| !PLACES.contains(&name.as_str()));
            facts.extend(own.map(|(name, v)| named(&format!("setting.{name}"), Ok(v.clone()))));
        }
        Err(e) => facts.extend([named("settings", Err(e))]),
    }
    facts
}

fn foreign(params: &Params, address: &str) -> Result<AdminConnection, String> {
    let place = match params.transport {
        Transport::Tcp => Endpoint::Tcp(address.to_owned()),
        Transport::Unix => Endpoint::Unix(address.into()),
        Transport::Tls => {
            return Err("statistics are read in plain text only, not over TLS".into());
        }
    };
    AdminConnection::open(&place).map_err(|e| format!("{place}: {e}"))
}

/// Starts the server briefly on a UNIX socket and reads its effective settings.
fn effective(params: &Params) -> Result<Stats, String> {
    // If this process is killed meanwhile, the next sweep of the scratch folder removes `folder`.
    let folder = scratch::make(&scratch::root(), scratch::OWNER)
        .map_err(|e| format!("cannot create a folder for the server: {e}"))?;
    let quiet = Params { transport: Transport::Unix, network: Network::Loopback, ..params.clone() };
    let asked = RunningServer::start(&quiet, &folder, None).and_then(|running| {
        // Dropping it kills it, which is safe: its cache is empty.
        let settings =
            AdminConnection::open(&running.place).and_then(|mut talk| talk.stats("settings"));
        settings.map_err(Failure::other)
    });
    // Only a log in the scratch folder is left if this fails.
    let _ = fs::remove_dir_all(&folder);
    asked.map_err(|e| e.to_string())
}
