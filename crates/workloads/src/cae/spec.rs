//! The rows of data that describe the workload: its parameters and its metrics.

use super::params::Params;
use crate::declare::spec;

/// Its name, and that of its program.
pub const NAME: &str = "cae";

spec! {
    /// Structures analysed with CalculiX (threads) and MUMPS (MPI, its factors in files): elapsed
    /// time on the trial's storage, answers compared with closed forms.
    NAME, Params::rows();
    /// From the start of the solver to its end.
    "elapsed", "s", Lower, Measured;
    /// CPU time of the solver's processes in user mode; waiting in MPI counts.
    "user", "s", Lower, Measured, summed;
    /// CPU time of the same in the kernel.
    "system", "s", Lower, Measured, summed;
    /// The share of the elapsed time in which some task of this machine waited for I/O (pressure
    /// stall information, io some); missing where the kernel does not report it.
    "io_stall_share", "1", Lower, Measured;
    /// 1 - CPU time / (processes * elapsed), with at most as many processes as CPUs: waiting of all
    /// kinds that used no CPU.
    "unused_share", "1", Lower, Derived;
    /// Bytes read from the devices below the trial's folder, whoever did it.
    "device_read", "B", Lower, Measured, counted, summed;
    /// Bytes written to them until the solver ended.
    "device_written", "B", Lower, Measured, counted, summed;
    /// The most space that the solver's files took, of looks every 50 ms.
    "scratch", "B", Lower, Measured;
    /// Processes of MUMPS, by its own count; on nodes, of all of them.
    "ranks", "1", Neither, Measured, counted;
    /// The factors, by MUMPS's own count.
    "factors", "B", Neither, Measured, counted;
    /// Elapsed time of the factorization of MUMPS.
    "factor_time", "s", Lower, Measured;
    /// Elapsed time of all solves of MUMPS.
    "solve_time", "s", Lower, Measured;
    /// How far the worst of the answers is from the closed form, or from the known solution, as a
    /// share.
    "deviation", "1", Lower, Measured;
}
