//! What the columns of a table hold: names, counts of parts, clocks, or results.

use crate::read::table::{Shape, Table};

/// What a column holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Role {
    Label,
    Chips,
    Cores,
    Threads,
    Clock,
    RackUnits,
    Watts,
    /// Something about the system that is no result (memory, date, size).
    About,
    Value,
}

/// What a column holds, by its name and its cells.
pub(crate) fn role(table: &Table, column: usize) -> Role {
    let name = table.columns.get(column).map_or(String::new(), |c| c.to_lowercase());
    let numbers = table
        .rows
        .iter()
        .filter(|r| r.cells.get(column).is_some_and(|c| c.number.is_some()))
        .count();
    if numbers * 2 < table.rows.len()
        || (column == 0 && table.shape == Shape::Grid && name.is_empty() && numbers == 0)
    {
        return Role::Label;
    }
    of_name(&name)
}

/// What a column of numbers holds by its name, in lower case.
pub(crate) fn of_name(name: &str) -> Role {
    let parts: Vec<&str> =
        name.split(|c: char| !c.is_alphanumeric() && c != '/').filter(|p| !p.is_empty()).collect();
    let last = parts.last().copied().unwrap_or("");
    let has =
        |words: &[&str]| words.contains(&last) || (parts.len() == 1 && words.contains(&parts[0]));
    // "bops/JVM", "ops per core" are values, whatever they are divided by.
    if name.contains('/') && !has(&["cores/chip", "c/t"]) || name.contains(" per ") {
        return Role::Value;
    }
    if has(&["chips", "chip", "processors", "sockets", "cpus", "procs", "proc", "ch"]) {
        Role::Chips
    } else if has(&["cores", "core", "cr", "cores/chip"]) {
        Role::Cores
    } else if has(&["threads", "strands", "thr", "th"]) {
        Role::Threads
    } else if has(&["ghz", "clock", "frequency", "mhz"]) {
        Role::Clock
    } else if has(&["ru", "space", "racku"]) {
        Role::RackUnits
    } else if has(&["watts", "watt", "power"]) {
        Role::Watts
    } else if has(&[
        "gb", "memory", "mem", "date", "year", "rank", "jvms", "copies", "users", "disks", "rpm",
        "size", "type", "model",
    ]) {
        Role::About
    } else {
        Role::Value
    }
}
