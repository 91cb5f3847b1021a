/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Data layouts shared by the probes of system calls and their loader (crates/observe/src/syscalls/abi.rs).
 */
#ifndef ASSAY_SYSCALLS_H
#define ASSAY_SYSCALLS_H

#define COMM 16
/* Number of calls with traits, by call number; calls beyond have none. */
#define NUMBERS 512
/* Number of counts cached per thread, each for one kind of call. */
#define CACHED 8
/* Buckets of the latency histogram, by powers of two of nanoseconds; the last holds all that is longer. */
#define BUCKETS 40

/* Traits of a call, by its number. */
#define TAKES_FD 1	/* the first argument is a file descriptor */
#define GIVES_AMOUNT 2	/* the return value is a number of bytes or operations */
#define NEVER_FAILS 4	/* a negative return value is no error */
#define RING_ENTER 8	/* io_uring_enter: its arguments decide whether it waits */

/* Kind of object that a call works on. */
enum kind {
	NO_FD,
	A_FILE,
	A_SOCKET,
	A_PIPE,
	A_DEVICE,
	ANOTHER,	/* epoll, eventfd, timerfd, ... */
	NOT_OPEN,
	SUBMITS,	/* submits asynchronous operations and does not wait for any */
	SUBMITS_AND_WAITS,
	WAITS,		/* waits for asynchronous operations */
};

enum counter {
	COUNTED,
	LOST_CALLS,	/* calls whose group had no room */
	LOST_NS,
	LOST_ERRORS,	/* errors that are counted, but whose number had no room */
	LOST_TASKS,	/* processes or threads that are not followed because a map was full */
	COUNTERS,
};

struct config {
	__u32 root;		/* children of this process are followed, from their exec on */
	__u8 all;		/* all processes are followed */
	__u8 by_process;
	__u8 pad[2];
};

struct group {
	__u32 number;
	__u32 tgid;		/* 0 if processes are not distinguished */
	char comm[COMM];
	__u8 kind;
	__u8 measured;		/* returned in the measurement window */
	__u8 narrow;		/* a call of a 32-bit program, which has other numbers */
	__u8 pad[5];
};

struct amount {
	__u64 calls;
	__u64 errors;
	__u64 ns;
	__u64 most_ns;
	__u64 returned;
	__u64 times[BUCKETS];
};

struct error {
	struct group of;	/* without its kind, which is 0 */
	__u64 number;
};

/* Entry of a thread's cache: where calls of one kind are counted, so that their group is not looked up for each. */
struct cached {
	__u64 what;		/* packed properties of the group; 0: the entry is unused */
	__u32 place;
	__u32 pad;
};

/* State of a thread and the call that it is in. */
struct call {
	__u64 since_ns;
	__u64 plain;		/* a super block known not to hold eventfd and the like */
	__u64 file;		/* file, inode, number and kind of the last call with a descriptor */
	__u64 inode;
	__u32 asked_by;
	__u32 asked_kind;
	__u64 comm[COMM / 8];	/* name of the thread for which `cached` is valid */
	struct cached cached[CACHED];
	__u32 number;
	__u8 under_way;
	__u8 starting;		/* the process has not executed its program yet */
	__u8 kind;
	__u8 narrow;
};

#endif
