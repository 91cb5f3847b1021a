//! `assay serve`.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use assay_archive::Archive;
use assay_model::RunId;
use assay_model::nouns::count;
use assay_report::RunView;
use assay_server::{Config, MAX_RESPONSE_TIME};
use assay_system::Interrupt;

use super::open::{kit_paths, open_archive, own_path};
use crate::arguments::Global;
use crate::commands::server_args::Serve;
use crate::exit::Exit;
use crate::screen::{print, say};
use crate::{shipped, view};

/// Serves until it is interrupted.
pub fn serve(global: &Global, asked: &Serve) -> Result<Exit> {
    let usual = PathBuf::from("experiments");
    let folders = match asked.folders.as_slice() {
        [] if usual.is_dir() => vec![usual],
        [] => vec![
            shipped::folder("experiments")
                .context("unpack the experiments that come with assay")?,
        ],
        given => given.to_vec(),
    };
    let mut hosts = asked.host.clone();
    hosts.push(rustix::system::uname().nodename().to_string_lossy().into_owned());
    let config = Config {
        listen: asked.listen,
        hosts,
        folders,
        allow_any: asked.allow_any,
        archive: open_archive(global)?,
        state_dir: assay_system::state_dir(),
        exe: own_path()?,
        kits: kit_paths()?,
        load,
        connections: asked.connections as usize,
        connections_per_address: asked
            .connections_per_address
            .unwrap_or((asked.connections / 2).max(2)) as usize,
        rate: asked.rate,
        response_time: MAX_RESPONSE_TIME,
        version: env!("CARGO_PKG_VERSION"),
    };
    if !asked.listen.ip().is_loopback() {
        say("warning: other machines can reach this server, and its traffic is not encrypted; \
            put a proxy with TLS in front of it on an untrusted network");
    }
    if asked.allow_any {
        say("warning: --allow-any: whoever has the token may run any command as this user");
    }
    warn_of_schedules(&config.state_dir.join("schedules"));
    let json = global.json;
    let mut failure = None;
    assay_server::serve(config, &Interrupt::install()?, &mut |address, keys| {
        // Browsers do not send the part after the # to a server, so the token is in no log.
        let url = |token: &str| format!("http://{address}/login#token={token}");
        let (full, look) = (url(&keys.full), url(&keys.read_only));
        let text = if json {
            let address = address.to_string();
            serde_json::json!({ "address": address, "url": full, "read_only_url": look })
                .to_string()
        } else {
            format!(
                "serving on {full}\nread-only: {look}\n\
                 Ctrl-C ends it; a run in progress is then interrupted and can be resumed"
            )
        };
        failure = print(&text).err();
    })?;
    failure.map_or(Ok(Exit::Fine), Err)
}

/// Warns if an earlier version left schedules, which assay no longer runs.
fn warn_of_schedules(folder: &Path) {
    let files = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let left = files.filter(|f| f.path().extension().is_some_and(|e| e == "json")).count();
    if left > 0 {
        say(&format!(
            "warning: {} in {}, which assay no longer runs; put this line into a crontab for each, \
             with the time \
             (UTC), experiment and revision of its file, and remove the folder:\n  \
             MIN HOUR * * * assay submit EXPERIMENT --rev REV",
            count(left, "schedule"),
            folder.display()
        ));
    }
}

fn load(
    archive: &Archive,
    id: &RunId,
) -> Result<RunView, Box<dyn std::error::Error + Send + Sync>> {
    view::load(archive, id).map_err(Into::into)
}
