//! The names of calls and errors, and what is known of a call by its name.

use crate::numbers::{AARCH64, X86_64};

/// Calls whose traits the probes know have smaller numbers (`NUMBERS` of bpf/syscalls.h).
pub const NUMBERS: usize = 512;
/// The first argument is a file descriptor.
pub const TAKES_FD: u8 = 1;
/// It returns how many bytes, or operations.
pub const GIVES_AMOUNT: u8 = 2;
/// What it returns is no error.
pub const NEVER_FAILS: u8 = 4;
/// `io_uring_enter`: its arguments say whether it waits.
pub const RING_ENTER: u8 = 8;

/// An architecture whose numbers of calls are known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Architecture {
    /// 64-bit x86.
    X86_64,
    /// 64-bit Arm.
    Aarch64,
    /// Another: calls have numbers only.
    Other,
}

impl Architecture {
    /// That of this build.
    pub const fn own() -> Self {
        if cfg!(target_arch = "x86_64") {
            Architecture::X86_64
        } else if cfg!(target_arch = "aarch64") {
            Architecture::Aarch64
        } else {
            Architecture::Other
        }
    }

    /// Its word.
    pub fn name(self) -> &'static str {
        match self {
            Architecture::X86_64 => "x86_64",
            Architecture::Aarch64 => "aarch64",
            Architecture::Other => "unknown",
        }
    }

    /// Its calls in the order of their numbers; `-` is none.
    fn calls(self) -> impl Iterator<Item = &'static str> {
        words(match self {
            Architecture::X86_64 => X86_64,
            Architecture::Aarch64 => AARCH64,
            Architecture::Other => "",
        })
    }

    /// The name of a call; of one that is not known, `syscall 451`.
    pub fn call(self, number: u32) -> String {
        match self.calls().nth(number as usize) {
            Some(name) if name != "-" => name.to_owned(),
            // A number below 0 is no call, and programs try them.
            _ => format!("syscall {}", number.cast_signed()),
        }
    }

    /// What the probes need to know of each call.
    pub fn traits(self) -> [u8; NUMBERS] {
        let mut all = [0; NUMBERS];
        for (of, name) in all.iter_mut().zip(self.calls()) {
            let amount = if returns(name) == Returns::Status { 0 } else { GIVES_AMOUNT };
            let fd = if words(FIRST_IS_FD).any(|n| n == name) { TAKES_FD } else { 0 };
            let own = match name {
                // It returns the value that the interrupted program had in a register.
                "rt_sigreturn" => NEVER_FAILS,
                "io_uring_enter" => RING_ENTER,
                _ => 0,
            };
            *of = amount | fd | own;
        }
        all
    }
}

/// The words of a list.
fn words(list: &'static str) -> impl Iterator<Item = &'static str> {
    list.split_ascii_whitespace()
}

/// What a call returns when it succeeds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Returns {
    /// A number of bytes that were moved.
    Bytes,
    /// A number of operations that were handed over or have ended.
    Operations,
    /// Something else.
    Status,
}

/// What a call of that name returns.
pub fn returns(call: &str) -> Returns {
    if words(BYTES).any(|n| n == call) {
        Returns::Bytes
    } else if words(OPERATIONS).any(|n| n == call) {
        Returns::Operations
    } else {
        Returns::Status
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

/// The name of an error; of one that is not known, `error 200`.
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

/// By number, the same on every architecture that is known here.
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
        let known = |name: &str| words(X86_64).chain(words(AARCH64)).any(|n| n == name);
        for name in words(BYTES).chain(words(OPERATIONS)).chain(words(FIRST_IS_FD)) {
            assert!(known(name), "{name}");
        }
        for arch in [Architecture::X86_64, Architecture::Aarch64] {
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
