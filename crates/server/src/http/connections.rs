//! Limits the number of open connections, in total and per address. At a limit, a new connection
//! replaces the oldest one that is anonymous: no request on it has sent a token or a session.
//! Authenticated connections are never closed to make room.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use crate::locked;
use tokio::sync::Notify;

/// Maximum numbers of open connections, in total and per address.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Limits {
    pub total: usize,
    pub of_address: usize,
}

/// State of a connection, shared by its requests and its task.
#[derive(Debug, Default)]
pub(crate) struct Connection {
    authenticated: AtomicBool,
    end: Notify,
}

impl Connection {
    /// Records that a request on the connection has sent a token or a session.
    pub fn set_authenticated(&self) {
        self.authenticated.store(true, Ordering::Relaxed);
    }

    /// Waits until the connection has to close because its slot is needed.
    pub async fn ended(&self) {
        self.end.notified().await;
    }
}

#[derive(Debug)]
struct Entry {
    address: IpAddr,
    connection: Arc<Connection>,
}

#[derive(Debug, Default)]
struct ConnectionTable {
    next: u64,
    /// Open connections by number. Later connections have higher numbers.
    entries: HashMap<u64, Entry>,
}

/// Table of the open connections, and its limits.
#[derive(Debug)]
pub(crate) struct Connections {
    limits: Limits,
    table: Mutex<ConnectionTable>,
}

/// Slot of a connection, freed on drop.
#[derive(Debug)]
pub(crate) struct Slot {
    connections: Arc<Connections>,
    number: u64,
    pub connection: Arc<Connection>,
}

impl Drop for Slot {
    fn drop(&mut self) {
        locked(&self.connections.table).entries.remove(&self.number);
    }
}

impl Connections {
    pub fn new(limits: Limits) -> Arc<Self> {
        Arc::new(Connections { limits, table: Mutex::default() })
    }

    /// Returns a slot for a connection from `address`. At a limit, closes an anonymous connection
    /// first; returns `None` if all candidates are authenticated.
    pub fn take(self: &Arc<Self>, address: IpAddr) -> Option<Slot> {
        let mut table = locked(&self.table);
        let of_address = table.entries.values().filter(|e| e.address == address).count();
        if of_address >= self.limits.of_address {
            table.end_one(Some(address))?;
        } else if table.entries.len() >= self.limits.total {
            table.end_one(None)?;
        }
        let number = table.next;
        table.next += 1;
        let connection = Arc::new(Connection::default());
        table.entries.insert(number, Entry { address, connection: Arc::clone(&connection) });
        Some(Slot { connections: Arc::clone(self), number, connection })
    }

    /// Closes an anonymous connection when the system has no resources for another one.
    pub fn make_room(&self) {
        let _ = locked(&self.table).end_one(None);
    }
}

impl ConnectionTable {
    /// Closes the oldest anonymous connection of `address`, or, without an address, of the address
    /// with the most anonymous connections. Returns `None` if no connection qualifies.
    fn end_one(&mut self, address: Option<IpAddr>) -> Option<()> {
        let anonymous = |e: &Entry| !e.connection.authenticated.load(Ordering::Relaxed);
        let address = address.or_else(|| {
            let mut counts: HashMap<IpAddr, usize> = HashMap::new();
            for entry in self.entries.values().filter(|e| anonymous(e)) {
                *counts.entry(entry.address).or_default() += 1;
            }
            counts.into_iter().max_by_key(|(_, count)| *count).map(|(address, _)| address)
        })?;
        let of_address = self.entries.iter().filter(|(_, e)| e.address == address && anonymous(e));
        let oldest = of_address.map(|(number, _)| *number).min()?;
        // Remove it from the table at once, even if its task takes a moment to end.
        self.entries.remove(&oldest)?.connection.end.notify_one();
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn address(last: u8) -> IpAddr {
        IpAddr::from([10, 0, 0, last])
    }

    fn ended(slot: &Slot) -> bool {
        !locked(&slot.connections.table).entries.contains_key(&slot.number)
    }

    #[test]
    fn the_oldest_stranger_goes_and_those_who_are_known_stay() {
        let connections = Connections::new(Limits { total: 4, of_address: 3 });
        let first = connections.take(address(1)).unwrap();
        first.connection.set_authenticated();
        let second = connections.take(address(1)).unwrap();
        let third = connections.take(address(1)).unwrap();
        let fourth = connections.take(address(1)).unwrap();
        assert!(ended(&second) && !ended(&first) && !ended(&third), "at the limit of its address");
        let other = connections.take(address(2)).unwrap();
        let more = connections.take(address(2)).unwrap();
        assert!(ended(&third) && !ended(&other), "in all: from the address that has most");
        for slot in [&fourth, &other, &more] {
            slot.connection.set_authenticated();
        }
        assert!(connections.take(address(3)).is_none(), "all are known");
        drop(other);
        assert!(connections.take(address(3)).is_some());
    }
}
