//! Starts a crew of agents on hosts that are reached by SSH.

use std::fs::File;
use std::sync::Arc;
use std::sync::mpsc::channel;
use std::time::{Duration, Instant};

use assay_model::{ExecutionPlace, units};
use assay_system::Interrupt;

use super::pulse::Pulse;
use super::{AgentGroup, Carrier, nanos};
use crate::ClusterError;
use crate::error::Result;
use crate::listen::attend;
use crate::message::{Hello, Setup};
use crate::ssh::{AgentProgram, HostSession, SessionRequest};
use crate::token::random_hex;

/// Request for agents on hosts.
#[derive(Debug, Clone, Copy)]
pub struct Connect<'a> {
    /// The hosts, as `ssh` takes them.
    pub hosts: &'a [String],
    /// Options, working folder and limits.
    pub place: &'a ExecutionPlace,
    /// Program of the agents.
    pub program: &'a AgentProgram,
    /// Settings that the agents set up.
    pub setup: &'a Setup,
    /// Maximum time for setting up.
    pub limit: Duration,
    /// Signal that ends the start early.
    pub interrupt: Option<&'a Interrupt>,
}

/// An open session with its agent.
type Opened = (HostSession, Hello, File);

impl AgentGroup {
    /// Opens a session with every host, all at the same time, and waits until every agent has set
    /// up. `say` is called with progress messages.
    ///
    /// # Errors
    /// A host cannot be reached without a password, or its agent cannot start or set up. All
    /// sessions are then ended.
    pub fn connect(request: &Connect<'_>, say: &mut dyn FnMut(&str)) -> Result<Self> {
        let began = Instant::now();
        let (sender, events) = channel();
        let mut crew = AgentGroup::new(events, "ssh", None, None);
        crew.server_node = request.place.server_node;
        let mut sessions = Vec::new();
        for (rank, opened) in open(request, say)?.into_iter().enumerate() {
            let (session, hello, stream) = opened?;
            sessions.push(session);
            let hello = Hello { rank, ..hello };
            let failed = |source| ClusterError::Ssh { source };
            let ours = stream.try_clone().map_err(failed)?;
            let (known, sender) = (hello.clone(), sender.clone());
            let thread = std::thread::Builder::new().name("agent".into()).stack_size(256 << 10);
            thread.spawn(move || attend(known, ours, &sender)).map_err(failed)?;
            crew.welcome(hello, stream, request.place)?;
        }
        crew.id = "ssh".into();
        crew.carrier = Some(Carrier::Hosts(sessions));
        crew.pulse = Some(Pulse::start(crew.members.iter().map(|m| Arc::clone(&m.stream))));
        crew.took.start_ns = nanos(began.elapsed());
        if let Err(e) = crew.set_up(request.setup, request.limit, request.interrupt) {
            crew.broken = matches!(e, ClusterError::Lost { .. });
            crew.end();
            return Err(e);
        }
        Ok(crew)
    }
}

/// Opens the sessions, each in a thread of its own.
fn open(request: &Connect<'_>, say: &mut dyn FnMut(&str)) -> Result<Vec<Result<Opened>>> {
    let (token, sought) = (random_hex()?, request.program.sought()?);
    let timeout = units::duration_of(&request.place.start_timeout).unwrap_or(Duration::MAX);
    let (speak, said) = channel::<String>();
    Ok(std::thread::scope(|scope| {
        let start = |host| {
            let speak = speak.clone();
            let session = SessionRequest {
                host,
                options: &request.place.options,
                folder: request.place.folder.as_deref(),
                program: request.program,
                sought: &sought,
                token: &token,
                timeout,
                interrupt: request.interrupt,
            };
            scope.spawn(move || {
                session.open(&mut |sentence| {
                    let _ = speak.send(sentence.to_owned());
                })
            })
        };
        let threads: Vec<_> = request.hosts.iter().map(|host| start(host.as_str())).collect();
        drop(speak);
        for sentence in said {
            say(&sentence);
        }
        let joined = threads
            .into_iter()
            .map(|thread| thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
        joined.collect()
    }))
}
