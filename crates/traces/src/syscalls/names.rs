//! Names of system calls and errors, and the properties of calls that follow from their names.

use crate::syscalls::numbers::{AARCH64, SHARED, SHARED_FROM, X86_64};

/// Number of calls whose traits the probes know, by call number (`NUMBERS` of bpf/syscalls.h).
pub const NUMBERS: usize = 512;
/// Trait: the first argument is a file descriptor.
pub const TAKES_FD: u8 = 1;
/// Trait: the return value is a number of bytes or operations.
pub const GIVES_AMOUNT: u8 = 2;
/// Trait: a negative return value is no error.
pub const NEVER_FAILS: u8 = 4;
/// Trait of `io_uring_enter`: its arguments decide whether it waits.
pub const RING_ENTER: u8 = 8;

/// Architecture whose system calls have known numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Architecture {
    X86_64,
    Aarch64,
    /// Any other architecture: calls are shown by number only.
    Other,
}

assay_model::names! {
    pub Architecture::name: X86_64 = "x86_64", Aarch64 = "aarch64", Other = "unknown"
}

impl Architecture {
    /// Returns the architecture of this build.
    pub const fn own() -> Self {
        if cfg!(target_arch = "x86_64") {
            Architecture::X86_64
        } else if cfg!(target_arch = "aarch64") {
            Architecture::Aarch64
        } else {
            Architecture::Other
        }
    }

    /// Returns the names of the calls in the order of their numbers; `-` marks an unused number.
    fn calls(self) -> impl Iterator<Item = &'static str> {
        let (own, shared) = match self {
            Architecture::X86_64 => (X86_64, SHARED),
            Architecture::Aarch64 => (AARCH64, SHARED),
            Architecture::Other => ("", ""),
        };
        words(own).chain(std::iter::repeat("-")).take(SHARED_FROM).chain(words(shared))
    }

    /// Returns the name of a call, or text like `syscall 451` if the number is unknown.
    pub fn call(self, number: u32) -> String {
        match self.calls().nth(number as usize) {
            Some(name) if name != "-" => name.to_owned(),
            // Negative numbers are not calls, but programs try them.
            _ => format!("syscall {}", number.cast_signed()),
        }
    }

    /// Returns the traits of each call by number, as the probes use them.
    pub fn traits(self) -> [u8; NUMBERS] {
        let mut all = [0; NUMBERS];
        for (of, name) in all.iter_mut().zip(self.calls()) {
            let amount = if returns(name) == ReturnMeaning::Status { 0 } else { GIVES_AMOUNT };
            let fd = if words(FIRST_IS_FD).any(|n| n == name) { TAKES_FD } else { 0 };
            let own = match name {
                // `rt_sigreturn` returns the value that the interrupted program had in a register.
                "rt_sigreturn" => NEVER_FAILS,
                "io_uring_enter" => RING_ENTER,
                _ => 0,
            };
            *of = amount | fd | own;
        }
        all
    }
}

fn words(list: &'static str) -> impl Iterator<Item = &'static str> {
    list.split_ascii_whitespace()
}

/// Meaning of a call's return value on success.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReturnMeaning {
    /// Number of bytes that were moved.
    Bytes,
    /// Number of operations that were submitted or have completed.
    Operations,
    /// Any other value, such as 0, an id or a descriptor.
    Status,
}

/// Returns the meaning of the return value of the call named `call`.
pub fn returns(call: &str) -> ReturnMeaning {
    if words(BYTES).any(|n| n == call) {
        ReturnMeaning::Bytes
    } else if words(OPERATIONS).any(|n| n == call) {
        ReturnMeaning::Operations
    } else {
        ReturnMeaning::Status
    }
}

const OPERATIONS: &str = "io_uring_enter io_submit io_getevents io_pgetevents sendmmsg recvmmsg";

const BYTES: &str = "\
read write pread64 pwrite64 readv writev preadv pwritev preadv2 pwritev2 sendto recvfrom sendmsg \
recvmsg sendfile splice tee vmsplice copy_file_range getdents getdents64 getrandom \
mq_timedreceive msgrcv process_vm_readv process_vm_writev readlink readlinkat getxattr fgetxattr";

const FIRST_IS_FD: &str = "\
read write pread64 pwrite64 readv writev preadv pwritev preadv2 pwritev2 close fstat lseek ioctl \
fcntl flock fsync fdatasync ftruncate fallocate fadvise64 readahead sync_file_range syncfs \
getdents getdents64 fchdir fchmod fchown fstatfs fsetxattr fgetxattr flistxattr fremovexattr dup \
dup2 dup3 sendfile splice tee vmsplice copy_file_range connect accept accept4 sendto recvfrom \
sendmsg recvmsg sendmmsg recvmmsg shutdown bind listen getsockname getpeername setsockopt \
getsockopt epoll_wait epoll_pwait epoll_pwait2 epoll_ctl timerfd_settime timerfd_gettime \
inotify_add_watch inotify_rm_watch mq_timedsend mq_timedreceive finit_module";

/// Returns the name of an error number, or text like `error 200` if it is unknown.
pub fn error_name(number: u64) -> String {
    let special = match number {
        512 => "ERESTARTSYS",
        513 => "ERESTARTNOINTR",
        514 => "ERESTARTNOHAND",
        515 => "ENOIOCTLCMD",
        516 => "ERESTART_RESTARTBLOCK",
        _ => "",
    };
    let known = usize::try_from(number).ok().and_then(|n| words(ERRORS).nth(n));
    match known.unwrap_or(special) {
        "" | "-" => format!("error {number}"),
        name => name.to_owned(),
    }
}

/// Names by error number, the same on every architecture in [`Architecture`].
const ERRORS: &str = "\
- EPERM ENOENT ESRCH EINTR EIO ENXIO E2BIG ENOEXEC EBADF ECHILD EAGAIN ENOMEM EACCES EFAULT \
ENOTBLK EBUSY EEXIST EXDEV ENODEV ENOTDIR EISDIR EINVAL ENFILE EMFILE ENOTTY ETXTBSY EFBIG \
ENOSPC ESPIPE EROFS EMLINK EPIPE EDOM ERANGE EDEADLK ENAMETOOLONG ENOLCK ENOSYS ENOTEMPTY ELOOP \
- ENOMSG EIDRM ECHRNG EL2NSYNC EL3HLT EL3RST ELNRNG EUNATCH ENOCSI EL2HLT EBADE EBADR EXFULL \
ENOANO EBADRQC EBADSLT - EBFONT ENOSTR ENODATA ETIME ENOSR ENONET ENOPKG EREMOTE ENOLINK EADV \
ESRMNT ECOMM EPROTO EMULTIHOP EDOTDOT EBADMSG EOVERFLOW ENOTUNIQ EBADFD EREMCHG ELIBACC ELIBBAD \
ELIBSCN ELIBMAX ELIBEXEC EILSEQ ERESTART ESTRPIPE EUSERS ENOTSOCK EDESTADDRREQ EMSGSIZE \
EPROTOTYPE ENOPROTOOPT EPROTONOSUPPORT ESOCKTNOSUPPORT EOPNOTSUPP EPFNOSUPPORT EAFNOSUPPORT \
EADDRINUSE EADDRNOTAVAIL ENETDOWN ENETUNREACH ENETRESET ECONNABORTED ECONNRESET ENOBUFS EISCONN \
ENOTCONN ESHUTDOWN ETOOMANYREFS ETIMEDOUT ECONNREFUSED EHOSTDOWN EHOSTUNREACH EALREADY \
EINPROGRESS ESTALE EUCLEAN ENOTNAM ENAVAIL EISNAM EREMOTEIO EDQUOT ENOMEDIUM EMEDIUMTYPE \
ECANCELED ENOKEY EKEYEXPIRED EKEYREVOKED EKEYREJECTED EOWNERDEAD ENOTRECOVERABLE ERFKILL \
EHWPOISON";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_have_the_numbers_that_the_c_library_has() {
        let own = Architecture::own();
        if own == Architecture::Other {
            println!("skipped: because the calls of this architecture are not known");
            return;
        }
        for (number, name) in [
            (libc::SYS_read, "read"),
            (libc::SYS_openat, "openat"),
            (libc::SYS_futex, "futex"),
            (libc::SYS_statx, "statx"),
            (libc::SYS_fstat, "fstat"),
            (libc::SYS_wait4, "wait4"),
            (libc::SYS_clone3, "clone3"),
            (libc::SYS_io_uring_enter, "io_uring_enter"),
            (libc::SYS_epoll_pwait2, "epoll_pwait2"),
            (libc::SYS_fadvise64, "fadvise64"),
            (libc::SYS_exit_group, "exit_group"),
        ] {
            assert_eq!(own.call(number as u32), name);
        }
        assert_eq!(own.call(100_000), "syscall 100000");
        assert_eq!(own.call(u32::MAX), "syscall -1");
        assert_eq!(Architecture::Other.call(0), "syscall 0");
    }

    #[test]
    fn every_call_with_a_trait_exists_on_an_architecture() {
        let both = [Architecture::X86_64, Architecture::Aarch64];
        let known = |name: &str| both.iter().any(|arch| arch.calls().any(|n| n == name));
        for name in words(BYTES).chain(words(OPERATIONS)).chain(words(FIRST_IS_FD)) {
            assert!(known(name), "{name}");
        }
        for arch in both {
            assert!(arch.calls().count() <= NUMBERS);
            let at = |name: &str| arch.calls().position(|n| n == name).unwrap();
            let traits = arch.traits();
            assert_eq!(traits[at("read")], TAKES_FD | GIVES_AMOUNT);
            assert_eq!(traits[at("io_uring_enter")], GIVES_AMOUNT | RING_ENTER);
            assert_eq!(traits[at("getpid")], 0);
        }
    }

    #[test]
    fn errors_have_the_numbers_that_the_c_library_has() {
        for (number, name) in [
            (libc::EPERM, "EPERM"),
            (libc::ENOENT, "ENOENT"),
            (libc::EAGAIN, "EAGAIN"),
            (libc::ENAMETOOLONG, "ENAMETOOLONG"),
            (libc::ENOSYS, "ENOSYS"),
            (libc::ETIMEDOUT, "ETIMEDOUT"),
            (libc::EHWPOISON, "EHWPOISON"),
        ] {
            assert_eq!(error_name(number as u64), name);
        }
        assert_eq!(error_name(512), "ERESTARTSYS");
        assert_eq!(error_name(41), "error 41");
        assert_eq!(error_name(u64::MAX), format!("error {}", u64::MAX));
    }
}
