//! How a client gets to a server: by its socket, or from another node by its address and a password.

use std::ffi::OsString;
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::Command;

use assay_sut::end_with_parent;

/// The role that owns everything.
pub const ROLE: &str = "assay";
/// The number in a socket's name; nothing listens on such a port.
pub const PORT: &str = "5432";

/// The way to a server.
#[derive(Debug, Clone)]
pub struct Connection {
    /// The client.
    pub psql: PathBuf,
    /// The folder of its socket, or its host.
    pub host: OsString,
    /// Its port.
    pub port: String,
    /// Its password; `None`: it asks for none.
    pub key: Option<String>,
}

impl Connection {
    /// A client of it, not yet started.
    pub fn psql(&self) -> Command {
        let mut command = Command::new(&self.psql);
        command
            .args(["-X", "-A", "-t", "-w", "-v", "ON_ERROR_STOP=1", "-U", ROLE, "-d", "postgres"])
            .args(["-p", &self.port, "-h"])
            .arg(&self.host)
            .env("LC_ALL", "C")
            .env("PGOPTIONS", "")
            .process_group(0);
        for name in ["PGSERVICE", "PGSSLMODE", "PGPASSFILE", "PGPASSWORD"] {
            command.env_remove(name);
        }
        if let Some(key) = &self.key {
            command.env("PGPASSWORD", key);
        }
        end_with_parent(&mut command, None);
        command
    }
}
