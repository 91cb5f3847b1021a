//! Facts about the server for the description of the system: which one it is, how it is started, and
//! what its settings come to.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

use assay_model::Fact;
use assay_sut::{scratch, sha256_file};

use super::params::{Network, Own, Params, Server, Transport};
use super::server::{self, Running};
use super::talk::{Endpoint, Stats, Talk};
use crate::program::version_line;

/// Settings that say where it listens, which differs from trial to trial.
const PLACES: [&str; 5] = ["tcpport", "udpport", "domain_socket", "inter", "umask"];

/// The facts, below `workload.server.`.
pub fn facts(params: &Params) -> BTreeMap<String, Fact> {
    let mut facts = BTreeMap::new();
    let mut put = |name: &str, fact: Result<String, String>| {
        let fact = fact.map_or_else(Fact::unknown, Fact::known);
        facts.insert(format!("workload.server.{name}"), fact);
    };
    let settings = match &params.server {
        Server::Foreign(address) => {
            put("address", Ok(address.clone()));
            put("path", Err("the server runs already; which program it is cannot be seen".into()));
            let talk = foreign(params, address);
            let asked = talk.and_then(|mut talk| {
                Ok((
                    talk.version().map_err(|e| e.to_string())?,
                    talk.stats("settings").map_err(|e| e.to_string())?,
                ))
            });
            put(
                "version",
                asked.as_ref().map(|(version, _)| version.clone()).map_err(Clone::clone),
            );
            asked.map(|(_, settings)| settings)
        }
        Server::Own(own) => {
            let program = server::program(own).map_err(|e| e.to_string());
            let of = |read: &dyn Fn(&Path) -> Result<String, String>| {
                program.as_deref().map_err(Clone::clone).and_then(read)
            };
            put("path", of(&|path| Ok(path.display().to_string())));
            put("version", of(&|path| version_line(path, &["-V".into()])));
            put(
                "sha256",
                of(&|path| sha256_file(path).map_err(|e| format!("read {}: {e}", path.display()))),
            );
            let mut line: Vec<OsString> = vec!["memcached".into()];
            line.extend(server::settings(params, own));
            put("options", Ok(crate::words::quote_words(&line[1..])));
            effective(params, own)
        }
    };
    match settings {
        Ok(settings) => {
            for (name, value) in
                settings.iter().filter(|(name, _)| !PLACES.contains(&name.as_str()))
            {
                put(&format!("setting.{name}"), Ok(value.clone()));
            }
        }
        Err(e) => put("settings", Err(e)),
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
fn effective(params: &Params, own: &Own) -> Result<Stats, String> {
    let folder =
        Folder::make().map_err(|e| format!("a folder for the server could not be made: {e}"))?;
    let quiet = Params { transport: Transport::Unix, network: Network::Loopback, ..params.clone() };
    let running = Running::start(&quiet, own, &folder.0, None).map_err(|e| e.to_string())?;
    // It is killed when dropped: there is nothing in it.
    Talk::open(&running.place)
        .and_then(|mut talk| talk.stats("settings"))
        .map_err(|e| e.to_string())
}
