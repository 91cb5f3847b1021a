//! Facts about the server for the description of the system: which one it is, how it is started, and
//! what its settings come to.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;

use assay_model::Fact;
use assay_sut::scratch;

use super::params::{Network, Params, Transport};
use super::server::{self, Running};
use super::talk::{Endpoint, Stats, Talk};
use crate::program::{fact, facts as program_facts};

/// Settings that say where it listens, which differs from trial to trial.
const PLACES: [&str; 5] = ["tcpport", "udpport", "domain_socket", "inter", "umask"];

/// The facts, below `workload.server.`.
pub fn facts(params: &Params) -> BTreeMap<String, Fact> {
    let mut facts = BTreeMap::new();
    let named = |name: &str, known| (format!("workload.server.{name}"), fact(known));
    let settings = match &params.address {
        Some(address) => {
            let unseen = "the server runs already; which program it is cannot be seen";
            let asked = foreign(params, address).and_then(|mut talk| {
                let version = talk.version().map_err(|e| e.to_string())?;
                Ok((version, talk.stats("settings").map_err(|e| e.to_string())?))
            });
            let (version, settings) = match asked {
                Ok((version, settings)) => (Ok(version), Ok(settings)),
                Err(e) => (Err(e.clone()), Err(e)),
            };
            facts.extend([
                named("address", Ok(address.clone())),
                named("path", Err(unseen.into())),
                named("version", version),
            ]);
            settings
        }
        None => {
            facts = program_facts("workload.server", &server::program(params), "-V");
            let options = crate::words::quote_words(&server::settings(params));
            facts.extend([named("options", Ok(options))]);
            effective(params)
        }
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

fn foreign(params: &Params, address: &str) -> Result<Talk, String> {
    let place = match params.transport {
        Transport::Tcp => Endpoint::Tcp(address.to_owned()),
        Transport::Unix => Endpoint::Unix(address.into()),
        Transport::Tls => {
            return Err("it is asked about itself in plain text alone, not over TLS".into());
        }
    };
    Talk::open(&place).map_err(|e| format!("{place}: {e}"))
}

/// A folder for its owner alone, gone when dropped.
struct Folder(PathBuf);

impl Folder {
    fn make() -> std::io::Result<Self> {
        // A process that is killed meanwhile leaves it to the next sweep.
        scratch::make(&scratch::root(), scratch::OWNER).map(Folder)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        // What is left is a log in a folder for temporary files.
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// Starts the server for a moment, on a UNIX socket, and asks for its settings.
fn effective(params: &Params) -> Result<Stats, String> {
    let folder =
        Folder::make().map_err(|e| format!("a folder for the server could not be made: {e}"))?;
    let quiet = Params { transport: Transport::Unix, network: Network::Loopback, ..params.clone() };
    let running = Running::start(&quiet, &folder.0, None).map_err(|e| e.to_string())?;
    // It is killed when dropped: there is nothing in it.
    Talk::open(&running.place)
        .and_then(|mut talk| talk.stats("settings"))
        .map_err(|e| e.to_string())
}
