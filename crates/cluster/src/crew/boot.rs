//! Starts a crew of one agent: boots a virtual machine and waits until its agent has set up.

use std::sync::mpsc::channel;
use std::time::{Duration, Instant};

use assay_model::{ExecutionPlace, units};
use assay_system::Interrupt;

use super::{AgentGroup, Carrier, LOOK, nanos};
use crate::ClusterError;
use crate::listen::{AgentEvent, Listener};
use crate::message::Setup;
use crate::token::random_hex;
use crate::vm::{Guest, GuestRequest};

/// Interval between two checks of the console for errors.
const WATCH: Duration = Duration::from_secs(1);

/// Request for a virtual machine with an agent.
#[derive(Debug, Clone, Copy)]
pub struct Boot<'a> {
    /// The machine and its files.
    pub guest: GuestRequest<'a>,
    /// Name of the machine in messages.
    pub name: &'a str,
    /// Settings that its agent sets up.
    pub setup: &'a Setup,
    /// Maximum time for setting up.
    pub limit: Duration,
    /// Signal that ends the boot early.
    pub interrupt: Option<&'a Interrupt>,
}

impl AgentGroup {
    /// Boots a virtual machine and waits until its agent has set up.
    ///
    /// # Errors
    /// The agent does not connect or cannot set up; the machine is then ended.
    pub fn boot(boot: &Boot<'_>) -> Result<Self, ClusterError> {
        let began = Instant::now();
        let token = random_hex()?;
        let (sender, events) = channel();
        let listener = Listener::open(Some("127.0.0.1"), &token, sender)?;
        let guest = Guest::start(&boot.guest, listener.address.port(), &token)?;
        let mut crew = AgentGroup::new(events, "vm", Some(Carrier::Guest(guest)), Some(listener));
        crew.await_agent(boot)?;
        crew.took.start_ns = nanos(began.elapsed());
        crew.set_up(boot.setup, boot.limit, boot.interrupt).map_err(|e| crew.explained(boot, e))?;
        Ok(crew)
    }

    fn await_agent(&mut self, boot: &Boot<'_>) -> Result<(), ClusterError> {
        let limit = boot.guest.machine.boot_timeout;
        let place = ExecutionPlace::default();
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
                    "was ended: its agent did not connect within {} (`boot_timeout`); {}",
                    units::format_duration(limit),
                    guest.last_words()
                ));
            }
        }
        Ok(())
    }

    /// Adds the state of the machine to an error of the setup.
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
