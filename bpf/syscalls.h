/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * What the probes of system calls and their loader share; crates/observe/src/syscalls/abi.rs has the same.
 */
#ifndef ASSAY_SYSCALLS_H
#define ASSAY_SYSCALLS_H

#define COMM 16
/* Calls by number; what is numbered beyond has no traits. */
#define NUMBERS 512
/* Kinds of calls of a thread whose place is kept with it. */
#define CACHED 8
/* Times by powers of two of nanoseconds; the last has all that is longer. */
#define BUCKETS 40

/* What is known of a call by its number. */
#define TAKES_FD 1	/* its first argument is a file descriptor */
#define GIVES_AMOUNT 2	/* it returns how many bytes, or operations */
#define NEVER_FAILS 4	/* what it returns is no error */
#define RING_ENTER 8	/* io_uring_enter: its arguments say whether it waits */

/* What a call was about. */
enum kind {
	NO_FD,
	A_FILE,
	A_SOCKET,
	A_PIPE,
	A_DEVICE,
	ANOTHER,	/* epoll, eventfd, timerfd, ... */
	NOT_OPEN,
	SUBMITS,	/* hands over asynchronous operations and does not wait for any */
	SUBMITS_AND_WAITS,
	WAITS,		/* for asynchronous operations */
};

enum counter {
	COUNTED,
	LOST_CALLS,	/* without room for their group */
	LOST_NS,
	LOST_ERRORS,	/* counted, but the error's name had no room */
	LOST_TASKS,	/* a process or thread that is not followed for want of room */
	COUNTERS,
};

struct config {
	__u32 root;		/* the children of this process are followed, from when they execute a program */
	__u8 all;		/* so is everything */
	__u8 by_process;
	__u8 pad[2];
};

struct window {
	__u64 begin_ns;
	__u64 end_ns;
};

struct target {
	__u32 executed;		/* it is the program, not yet what starts it */
};

struct group {
	__u32 number;
	__u32 tgid;		/* 0: not asked for */
	char comm[COMM];
	__u8 kind;
	__u8 measured;		/* in the measured window, which had begun */
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
	struct group of;	/* without its kind */
	__u64 number;
};

/* Where calls of one kind of a thread are added up, so that their group need not be looked up at each. */
struct cached {
	__u64 what;		/* what tells them apart; 0: nothing is kept here */
	__u32 place;
	__u32 pad;
};

/* The call that a thread is in. */
struct call {
	__u64 since_ns;
	__u64 plain;		/* a file system that is known not to be that of eventfd and the like */
	__u64 file;		/* what the last call with a descriptor was about, and which call that was */
	__u64 inode;
	__u32 asked_by;
	__u32 asked_kind;
	__u64 comm[COMM / 8];	/* the thread's name, as long as `cached` is of */
	struct cached cached[CACHED];
	__u32 number;
	__u8 under_way;
	__u8 starting;		/* its process has not executed the program yet */
	__u8 kind;
	__u8 narrow;
};

#endif
