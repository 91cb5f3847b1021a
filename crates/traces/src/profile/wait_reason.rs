//! Finds the reason why a thread was off CPU from the kernel functions in its stack.

use crate::profile::ThreadState;

/// Kernel functions and the wait that each implies. The first row with a function that the stack
/// holds decides. The names are those of Linux 5.4 to 6.18.
static ROWS: [(ThreadState, &[&str]); 5] = [
    (
        ThreadState::Lock,
        &[
            "futex_wait",
            "futex_lock_pi",
            "__mutex_lock",
            "mutex_lock",
            "rwsem_down_read_slowpath",
            "rwsem_down_write_slowpath",
            "__down",
            "do_semtimedop",
            "fcntl_setlk",
            "flock_lock_inode_wait",
        ],
    ),
    (
        ThreadState::Io,
        &[
            "io_schedule",
            "io_schedule_timeout",
            "bio_await",
            "submit_bio_wait",
            "blk_io_schedule",
            "wait_on_page_bit",
            "folio_wait_bit_common",
            "folio_wait_writeback",
            "__wait_on_buffer",
            "jbd2_log_wait_commit",
            "balance_dirty_pages",
        ],
    ),
    (
        ThreadState::Sleep,
        &[
            "do_nanosleep",
            "hrtimer_nanosleep",
            "common_nsleep",
            "__do_sys_pause",
            "do_sigtimedwait",
        ],
    ),
    (
        ThreadState::Event,
        &[
            "ep_poll",
            "do_epoll_wait",
            "do_poll",
            "do_sys_poll",
            "do_select",
            "poll_schedule_timeout",
            "pipe_read",
            "pipe_write",
            "anon_pipe_read",
            "anon_pipe_write",
            "pipe_wait",
            "do_wait",
            "kernel_wait4",
            "inet_csk_accept",
            "inet_csk_wait_for_connect",
            "wait_woken",
            "__skb_wait_for_more_packets",
            "sk_wait_data",
            "sk_stream_wait_memory",
            "unix_stream_read_generic",
            "unix_stream_data_wait",
            "unix_wait_for_peer",
            "eventfd_read",
            "read_events",
            "io_cqring_wait",
            "n_tty_read",
            "rt_sigsuspend",
            "sigsuspend",
            "vfork",
            "wait_for_vfork_done",
            "do_msgrcv",
            "signalfd_read_iter",
            "inotify_read",
        ],
    ),
    (
        ThreadState::PageFault,
        &[
            "handle_mm_fault",
            "exc_page_fault",
            "do_user_addr_fault",
            "do_page_fault",
            "asm_exc_page_fault",
            "el0_da",
            "el0_ia",
        ],
    ),
];

/// Returns the reason of a wait. A wait for a device or a lock inside a page fault is a page fault.
///
/// `names` are the kernel functions of the stack in any order; `io_wait` is the scheduler's own
/// flag.
pub fn reason<'a>(names: &(impl Iterator<Item = &'a str> + Clone), io_wait: bool) -> ThreadState {
    let holds = |list: &[&str]| {
        names.clone().any(|name| {
            // Compilers add suffixes to the names of parts of functions: `do_wait.part.0`.
            let name = name.split('.').next().unwrap_or(name);
            let bare = name.trim_start_matches("__");
            list.iter().any(|l| *l == name || *l == bare)
        })
    };
    if holds(ROWS[4].1) {
        return ThreadState::PageFault;
    }
    if let Some((state, _)) = ROWS.iter().find(|(_, list)| holds(list)) {
        return *state;
    }
    if io_wait { ThreadState::Io } else { ThreadState::Unknown }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_thread_waits_for_is_read_from_the_kernel_functions() {
        let of = |names: &[&str]| reason(&names.iter().copied(), false);
        assert_eq!(
            of(&["schedule", "futex_do_wait", "__futex_wait", "do_futex"]),
            ThreadState::Lock
        );
        assert_eq!(of(&["schedule", "do_nanosleep", "hrtimer_nanosleep"]), ThreadState::Sleep);
        assert_eq!(of(&["io_schedule", "folio_wait_bit_common", "filemap_read"]), ThreadState::Io);
        assert_eq!(
            of(&["io_schedule", "folio_wait_bit_common", "filemap_fault", "handle_mm_fault"]),
            ThreadState::PageFault
        );
        assert_eq!(of(&["schedule", "do_wait.part.0", "kernel_wait4"]), ThreadState::Event);
        assert_eq!(of(&["schedule", "something_new"]), ThreadState::Unknown);
        assert_eq!(reason(&["something_new"].into_iter(), true), ThreadState::Io);
        assert_eq!(of(&[]), ThreadState::Unknown);
    }
}
