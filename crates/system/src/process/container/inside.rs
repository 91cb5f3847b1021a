//! The process of assay in a container: starts programs with the descriptors and settings that
//! assay sends, and reports what the kernel counted for them. So an engine's own processes are no
//! part of the result, and the program has the files and pipes that it has without a container.

use std::io::{self, Write};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::sync::mpsc::channel;
use std::time::Duration;

use super::wire::{self, ContainedLaunch, ContainedResult};
use crate::process::enter::enter;
use crate::process::interrupt::Interrupt;
use crate::process::{Limits, Output, ProgramSpec, Runner};

/// The hidden verb that runs this process.
pub const VERB: &str = "__contained";
/// Variable with the id of this process in the container, where that of the lab means nothing.
pub const CONTAINED_BY: &str = "ASSAY_CONTAINED_BY";

/// Runs the launches from the socket at `path` until assay closes it or is gone, which also ends a
/// running program. The end of this process then ends all others of the container.
///
/// # Errors
/// The socket failed.
pub fn serve(path: &Path) -> io::Result<()> {
    let socket = UnixStream::connect(path)?;
    let interrupt = Interrupt::manual()?;
    let (reader, stop, (to, launches)) = (socket.try_clone()?, interrupt.clone(), channel());
    std::thread::spawn(move || {
        while let Ok(launch) = wire::receive(&reader) {
            let _ = to.send(launch);
        }
        stop.fire();
    });
    let mut runner = Runner::new(Some(interrupt));
    // Programs are started by the first thread, which assay's counters follow.
    for (launch, descriptors) in launches {
        let result = run(&mut runner, &launch, &descriptors);
        // Pipes end before the result is sent.
        drop(descriptors);
        writeln!(&socket, "{}", serde_json::to_string(&result)?)?;
    }
    Ok(())
}

fn run(
    runner: &mut Runner,
    launch: &ContainedLaunch,
    descriptors: &[OwnedFd],
) -> Result<ContainedResult, String> {
    let own = (CONTAINED_BY.into(), std::process::id().to_string().into());
    let env = [launch.env.as_slice(), &[own]].concat();
    let program = ProgramSpec {
        argv: &launch.argv,
        env: &env,
        cwd: launch.cwd.as_deref(),
        stdin: None,
        output: Output::Inherit,
        protocol: launch.protocol,
        groups: &[],
        received: Some(descriptors),
        contained: None,
        inherits: false,
    };
    let grace = Duration::from_millis(launch.grace_ms);
    let limits = Limits { timeout: FOREVER, grace, keep_bytes: 0 };
    let entered = enter(&launch.setup).map_err(|e| e.to_string())?;
    let ran = runner.run(&program, &limits, &mut ()).map_err(|e| e.to_string())?;
    entered.leave().map_err(|e| e.to_string())?;
    Ok(ContainedResult {
        exit: ran.exit,
        start_ns: ran.start_ns,
        end_ns: ran.end_ns,
        resources: ran.resources,
        leftovers: ran.leftovers,
    })
}

/// assay outside keeps the time.
const FOREVER: Duration = Duration::from_secs(1 << 32);
