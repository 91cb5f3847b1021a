//! Monitors that sample counters on one clock: CPU, disk, memory, pressure, switches, network, power.
