//! Runs the program of a trial in a container. The engine starts a container whose first process is
//! assay ([`inside`]); it connects to a socket, and assay sends it the program to start. The
//! container is started before a trial's observers and removed after its program, by a control
//! that journals its name.

pub(crate) mod connection;
pub mod engine;
mod error;
pub mod inside;
pub(crate) mod wire;

use std::ffi::OsStr;
use std::fs;
use std::io::{self, Read as _};
use std::os::unix::net::{UnixListener, UnixStream};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::net::{Shutdown, shutdown};
use rustix::process::{Pid, PidfdFlags, Resource, Rlimit, getrlimit, pidfd_open};

use crate::process::guard;
use crate::process::leftovers;
use crate::process::setup::ProcessSetup;
use connection::{Running, running};
use engine::{ContainerEngine, ContainerRequest, Image};
pub use error::ContainerError;

/// Maximum time that an engine may take to start a container or to remove one.
const LIMIT: Timespec = Timespec { tv_sec: 60, tv_nsec: 0 };
/// Folders of the system. As a working folder they are the image's own, because a mount of the
/// host's would hide the image's programs.
const SYSTEM: [&str; 12] = [
    "/", "/bin", "/boot", "/dev", "/etc", "/lib", "/lib64", "/proc", "/run", "/sbin", "/sys",
    "/usr",
];

/// Everything that a container needs besides its image.
#[derive(Debug)]
pub struct ContainerStart<'a> {
    pub setup: &'a ProcessSetup,
    /// The container that `setup` requests.
    pub request: &'a ContainerRequest,
    pub image: &'a Image,
    /// Path of the assay executable.
    pub exe: &'a Path,
    /// Folders that the program finds at the same paths.
    pub folders: &'a [&'a Path],
    /// Folders that it finds there read-only.
    pub read_only: &'a [&'a Path],
    /// Working folder of the program, which it finds there too unless it is one of the system.
    pub cwd: &'a Path,
}

/// Returns the socket of a container. It exists until the container is removed.
pub(crate) fn socket_path(name: &str) -> PathBuf {
    PathBuf::from(format!("/tmp/{name}.sock"))
}

/// Starts the container of a trial.
///
/// # Errors
/// The engine failed, or assay cannot run in the image.
pub fn start(start: &ContainerStart<'_>) -> Result<(), ContainerError> {
    let request = start.request;
    if start.setup.no_aslr && request.engine == ContainerEngine::Docker {
        return Err(ContainerError::Aslr);
    }
    let socket = socket_path(&request.name);
    let listener = UnixListener::bind(&socket)
        .map_err(|source| ContainerError::Socket { path: socket.clone(), source })?;
    // Engines do not allow a container to set it, but the container inherits it.
    let inherited = ProcessSetup { no_aslr: start.setup.no_aslr, ..ProcessSetup::default() };
    let entered = crate::enter(&inherited)?;
    let spawned = command(start, request, &socket).spawn();
    entered.leave()?;
    let name = request.engine.name();
    let mut engine =
        spawned.map_err(|source| ContainerError::EngineStart { engine: name, source })?;
    match accept(&listener, &engine) {
        Ok((socket, first)) => {
            *running() = Some(Running { name: request.name.clone(), engine, socket, first });
            Ok(())
        }
        Err(e) => {
            let _ = engine.kill();
            let _ = engine.wait();
            // Processes that the engine left hold its standard error open.
            leftovers::end_strays();
            let mut text = Vec::new();
            engine.stderr.take().map(|mut stderr| stderr.read_to_end(&mut text));
            let printed = engine::last_line(&text).unwrap_or_else(|| e.to_string());
            let hint = "; an assay that is not linked statically needs its C library in the image";
            let missing = printed.to_lowercase().contains("no such file");
            let hint = if missing { hint } else { "" };
            let image = start.image.name.clone();
            Err(ContainerError::NotStarted { image, printed, hint })
        }
    }
}

/// Waits until assay connects from the container. Returns the connection and its process id.
fn accept(listener: &UnixListener, engine: &Child) -> io::Result<(UnixStream, u32)> {
    let ended = pidfd_open(Pid::from_child(engine), PidfdFlags::empty())?;
    let mut ready = [PollFd::new(listener, PollFlags::IN), PollFd::new(&ended, PollFlags::IN)];
    match poll(&mut ready, Some(&LIMIT)) {
        Err(rustix::io::Errno::INTR) => return accept(listener, engine),
        Err(e) => return Err(e.into()),
        Ok(_) if !ready[0].revents().is_empty() => {}
        Ok(0) => return Err(io::Error::other("it did not answer within a minute")),
        Ok(_) => return Err(io::Error::other("the engine ended without a message")),
    }
    let socket = listener.accept()?.0;
    let first = rustix::net::sockopt::socket_peercred(&socket)?.pid;
    Ok((socket, first.as_raw_nonzero().get().cast_unsigned()))
}

/// Returns the engine's command, which starts assay in the image.
fn command(start: &ContainerStart<'_>, request: &ContainerRequest, socket: &Path) -> Command {
    let mut command = Command::new(request.engine.name());
    if request.engine == ContainerEngine::Apptainer {
        // User, limits, control group and network are those of a program without a container.
        command.args(["--silent", "exec", "--containall", "--no-home", "--writable-tmpfs"]);
    } else {
        options(&mut command, start, request);
    }
    if let Some((name, value)) = guard::variable() {
        command.arg("--env").arg([name, value].join(OsStr::new("=")));
    }
    let there = SYSTEM.iter().any(|path| Path::new(path) == start.cwd)
        || start.folders.iter().any(|folder| start.cwd.starts_with(folder));
    let folders = start.folders.iter().copied().chain((!there).then_some(start.cwd));
    let folders = folders.chain([socket]).map(|path| (path, ""));
    let read_only = start.read_only.iter().copied().chain([start.exe]).map(|path| (path, ",ro"));
    for (path, option) in folders.chain(read_only).filter(|(path, _)| path.exists()) {
        let path = path.as_os_str();
        let parts =
            ["type=bind,source=".as_ref(), path, ",target=".as_ref(), path, option.as_ref()];
        command.arg("--mount").arg(parts.join(OsStr::new("")));
    }
    if request.engine == ContainerEngine::Apptainer {
        command.arg(&start.image.id).arg(start.exe);
    } else {
        command.arg("--entrypoint").arg(start.exe).arg(&start.image.id);
    }
    command.arg(inside::VERB).arg(socket);
    command.process_group(0).envs(guard::variable());
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
    command
}

/// Adds the options of podman or Docker. The network, the user and the limits are those of the
/// program without a container; with crun the control group, too.
fn options(command: &mut Command, start: &ContainerStart<'_>, request: &ContainerRequest) {
    let limit = |name: &str, resource, most: u64| {
        let Rlimit { current, maximum } = getrlimit(resource);
        let [soft, hard] = [current, maximum].map(|limit| limit.unwrap_or(u64::MAX).min(most));
        format!("--ulimit={name}={soft}:{hard}")
    };
    let podman = request.engine == ContainerEngine::Podman;
    if podman {
        // Its log of events is one more file to lock and write.
        command.arg("--events-backend=none");
    }
    let (uid, gid) = (rustix::process::getuid(), rustix::process::getgid());
    command
        .args(["run", "--rm", "--pull=never", "--network=host", "--log-driver=none"])
        .arg(format!("--user={}:{}", uid.as_raw(), gid.as_raw()))
        .arg(limit("nofile", Resource::Nofile, 1 << 20))
        // podman gives itself this limit, and could raise it only with CAP_SYS_RESOURCE.
        .arg(limit("nproc", Resource::Nproc, 32_768))
        .args(["--name", &request.name]);
    if podman {
        let groups = if start.image.runtime == "crun" { "disabled" } else { "no-conmon" };
        command.args(["--http-proxy=false", "--security-opt=label=disable"]);
        command.arg(format!("--cgroups={groups}"));
        if !uid.is_root() {
            command.arg("--userns=keep-id");
        }
    }
    let setup = start.setup;
    if setup.nice.is_some() || setup.sched.is_some() || setup.numa.is_some() {
        command.arg("--cap-add=SYS_NICE");
    }
}

/// Removes a container: lets that of the running trial end, and removes whatever is left, also of
/// an assay that was killed.
///
/// # Errors
/// The engine could not remove it, or its socket remains.
pub(crate) fn remove(name: &str, engine: ContainerEngine) -> Result<(), ContainerError> {
    let taken = running().take_if(|running| running.name == name);
    let removed = taken.is_some_and(|mut running| {
        let _ = shutdown(&running.socket, Shutdown::Both);
        let removed = wait(&mut running.engine);
        // What an engine leaves running has nothing to do any more.
        leftovers::end_all(Pid::from_child(&running.engine));
        removed
    });
    // Containers of Apptainer have no name: they end with their first process.
    let named = engine != ContainerEngine::Apptainer;
    if !removed
        && named
        && let Err(e) = engine.run(&["rm", "--force", name])
    {
        let said = e.to_string().to_lowercase();
        if !said.contains("no such container") && !said.contains("no container") {
            return Err(e);
        }
    }
    let path = socket_path(name);
    match fs::remove_file(&path) {
        Err(source) if source.kind() != io::ErrorKind::NotFound => {
            Err(ContainerError::RemoveSocket { path, source })
        }
        _ => Ok(()),
    }
}

/// Waits for the engine, which removes its container before it ends; kills it after the limit.
/// Returns true if it ended well, so that no container is left.
fn wait(engine: &mut Child) -> bool {
    let ended = pidfd_open(Pid::from_child(engine), PidfdFlags::empty());
    let ended = ended.is_ok_and(|ended| {
        let mut ready = [PollFd::new(&ended, PollFlags::IN)];
        while poll(&mut ready, Some(&LIMIT)) == Err(rustix::io::Errno::INTR) {}
        !ready[0].revents().is_empty()
    });
    if !ended {
        let _ = engine.kill();
    }
    engine.wait().is_ok_and(|status| status.success())
}
