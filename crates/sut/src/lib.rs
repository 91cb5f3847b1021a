//! Describes the system under test and controls it; every control can put back what it changed, also after a crash.
