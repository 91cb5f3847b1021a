//! From a request to a crew of one: a virtual machine that boots until its agent has set up.

use std::sync::mpsc::channel;
use std::time::{Duration, Instant};

use assay_model::{Where, units};
use assay_sut::Interrupt;

use super::{Carrier, Crew, LOOK, nanos};
use crate::ClusterError;
use crate::listen::{AgentEvent, Listener};
use crate::message::Setup;
use crate::nodes_file::Took;
use crate::token::random_hex;
use crate::vm::{Guest, GuestRequest};

/// How often the console is looked at for what has gone wrong.
const WATCH: Duration = Duration::from_secs(1);

/// What a virtual machine is asked for.
#[derive(Debug, Clone, Copy)]
pub struct Boot<'a> {
    /// The machine and its files.
    pub guest: GuestRequest<'a>,
    /// What it is called in messages.
    pub name: &'a str,
    /// What its agent sets up.
    pub setup: &'a Setup,
    /// How long setting up may take.
    pub limit: Duration,
    /// What ends it early.
    pub interrupt: Option<&'a Interrupt>,
}

impl Crew {
    /// Boots a virtual machine and waits until its agent has set up.
    ///
    /// # Errors
    /// It does not get there; the machine is then ended.
    pub fn boot(boot: &Boot<'_>) -> Result<Self, ClusterError> {
        let began = Instant::now();
        let token = random_hex()?;
        let (sender, events) = channel();
        let listener = Listener::open(Some("127.0.0.1"), &token, sender)?;
        let guest = Guest::start(&boot.guest, listener.address.port(), &token)?;
        let mut crew = Crew {
            members: Vec::new(),
            events,
            carrier: Some(Carrier::Guest(guest)),
            id: "vm".into(),
            took: Took::default(),
            grace: Duration::from_secs(2),
            server_node: false,
            broken: false,
            _listener: listener,
        };
        crew.await_agent(boot)?;
        crew.took.start_ns = nanos(began.elapsed());
        crew.set_up(boot.setup, boot.limit, boot.interrupt).map_err(|e| crew.explained(boot, e))?;
        Ok(crew)
    }

    fn await_agent(&mut self, boot: &Boot<'_>) -> Result<(), ClusterError> {
        let limit = boot.guest.machine.boot_timeout;
        let place = Where::default();
        let (began, mut watched) = (Instant::now(), Instant::now());
        while self.members.is_empty() {
            if boot.interrupt.is_some_and(Interrupt::fired) {
                return Err(ClusterError::Interrupted);
            }
            if let Ok(AgentEvent::Connected(hello, stream)) = self.events.recv_timeout(LOOK) {
                self.welcome(hello, stream, &place)?;
                continue;
            }
            let Some(Carrier::Guest(guest)) = &mut self.carrier else { continue };
            let fail =
                |what: String| Err(ClusterError::Guest { machine: boot.name.to_owned(), what });
            let ended = guest.ended().map(str::to_owned);
            if ended.is_some() || watched.elapsed() >= WATCH {
                watched = Instant::now();
                if let Some(trouble) = guest.trouble() {
                    return fail(format!("failed: {trouble}; {}", guest.last_words()));
                }
            }
            if let Some(status) = ended {
                return fail(format!(
                    "ended before its agent came ({status}); {}",
                    guest.last_words()
                ));
            }
            if began.elapsed() > limit {
                return fail(format!(
                    "was ended: its agent did not come within {} (`boot_timeout`); {}",
                    units::format_duration(limit),
                    guest.last_words()
                ));
            }
        }
        Ok(())
    }

    /// An error of setting up, with what became of the machine.
    fn explained(&mut self, boot: &Boot<'_>, error: ClusterError) -> ClusterError {
        let what = match error {
            ClusterError::SetUp { why, .. } => format!("cannot set up: {why}"),
            ClusterError::Lost { .. } => match &self.carrier {
                Some(Carrier::Guest(guest)) => {
                    let trouble = guest.trouble().unwrap_or_else(|| "it lost its agent".into());
                    format!("failed: {trouble}; {}", guest.last_words())
                }
                _ => "is gone".to_owned(),
            },
            other => return other,
        };
        ClusterError::Guest { machine: boot.name.to_owned(), what }
    }
}
