/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Data layouts shared by the probes and their loader: those in crates/observe/src/io/abi.rs,
 * whose sizes are asserted on both sides. Numbers are in the byte order of the machine.
 */
#ifndef ASSAY_IO_H
#define ASSAY_IO_H

#include "buckets.h"

#define COMM 16
#define MOST_DEVICES 16
#define MOST_NAMES 8
/* Number of power-of-two buckets: one for 0, and one for each power. */
#define ROWS 65
#define REGIONS 1024

/* Operation of an I/O, in the numbers of crates/traces. */
enum {
	OP_READ,
	OP_WRITE,
	OP_DISCARD,
	OP_FLUSH,
	OP_OTHER,
};

/* Flags of an I/O, in the bits of crates/traces. */
enum {
	F_SYNC = 1,
	F_READAHEAD = 2,
	F_PREFLUSH = 4,
	F_FUA = 8,
	F_META = 16,
	F_AIO = 32,
	F_KERNEL = 64,
};

/* Certainty that a file is the one that an I/O belongs to. */
enum {
	FILE_NONE,
	/* The open file of the direct I/O itself. */
	FILE_OPEN,
	/* The file whose page is transferred; it is on the device that transfers it. */
	FILE_PAGE,
	/* The file whose page is transferred; it is on something above the device. */
	FILE_PAGE_ABOVE,
	/* The device itself: raw I/O through the page cache, or metadata of a file system. */
	FILE_DEVICE,
};

/* Selects what is counted and filtered. It is constant when
 * the probes are loaded, so that unused features cost nothing. */
struct config {
	__u64 unit_ns;
	__u64 iomap_end_io;
	/* Range of the start blocks of the I/Os to count. */
	__u64 first_block;
	__u64 last_block;
	__u64 cgroups[MOST_NAMES];
	__u32 devices[MOST_DEVICES];
	__u32 pids[MOST_NAMES];
	char programs[MOST_NAMES][COMM];
	__u32 n_cgroups;
	__u32 n_devices;
	__u32 n_pids;
	__u32 n_programs;
	__u32 groups;
	__u32 sys_io_submit;
	__u32 sys_io_uring_enter;
	/* Mask of the flags in a request's or bio's flag word that are reported. */
	__u32 flags;
	__u8 tracked;
	__u8 events;
	__u8 by_program;
	__u8 by_pid;
	__u8 by_cgroup;
	__u8 by_file;
	__u8 rows;
	__u8 regions;
	__u8 only_reads;
	__u8 only_writes;
	/* The first argument of request and of bio tracepoints is the queue (before Linux 5.11). */
	__u8 queue_before_request;
	__u8 queue_before_bio;
	/* The kernel does not stamp the issue of requests: a probe does. */
	__u8 issue;
	/* Some writes wait for a flush of the device's cache. */
	__u8 waits;
	__u8 pad[2];
};

/* Key that distinguishes groups; fields that are not needed are 0. */
struct key {
	__u64 cgroup;
	__u64 ino;
	__u32 dev;
	__u8 op;
	__u8 sure;
	__u8 metadata;
	__u8 pad;
	__u32 tgid;
	__u32 file_dev;
	char comm[COMM];
};

struct times {
	__u64 n;
	__u64 sum;
	__u64 least;
	__u64 greatest;
};

/* Counts of one group on one CPU. */
struct cell {
	__u64 ios;
	__u64 bytes;
	__u64 aio;
	__u64 writeback;
	__u64 readahead;
	__u64 nosync;
	/* Latency, queue time, device time. */
	struct times times[3];
	__u32 fine[3][FINE];
	/* Size, latency, queue time, device time, in the requested unit. */
	__u32 rows[4][ROWS];
	__u32 pad[4];
};

/* One completed I/O. */
struct event {
	__u64 start_ns;
	__u64 issue_ns;
	__u64 end_ns;
	__u64 sector;
	__u64 cgroup;
	__u64 ino;
	__u32 bytes;
	__u32 dev;
	__u32 tgid;
	__u32 file_dev;
	__u8 op;
	__u8 flags;
	__u8 sure;
	__u8 known;
	__u32 pad;
	char comm[COMM];
};

#define PARTS 12
#define PART 64

/* Path of a file, the last component first; reported once per file. */
struct path_record {
	__u64 ino;
	__u32 file_dev;
	__u32 parts;
	char part[PARTS][PART];
};

/* Event counters; each CPU has its own array. */
enum {
	N_STARTS,
	N_ENDS,
	N_UNMATCHED,
	N_FLUSH_ENDS,
	N_TABLE_FULL,
	N_RING_FULL,
	N_BACKWARDS,
	N_NO_ISSUE,
	N_POOLED,
	N_PARTIAL,
	/* I/Os without a reported end, found when their address was reused. */
	N_UNTOLD,
	N_REQUEUED,
	/* Flush commands, which end without having started. */
	N_FLUSHES,
	/* Requests that were merged into others. */
	N_MERGED,
	/* Ends of requests that had started before the first start that was seen. */
	N_BEFORE,
	/* Starts that are not counted in the end: of flushes, and of blocks outside the filter. */
	N_LEFT_OUT,
	/* By certainty of the file, in the order of FILE_NONE and so on. */
	N_FILE,
	COUNTS = N_FILE + 5,
};

/* Cache of the groups that a CPU used last, to avoid look-ups in the kernel's hash
 * table. Requests and bios have a half each, since one may interrupt the other. */
#define CACHE_BITS 6

struct cached {
	struct key key;
	/* Group number plus 1; 0: the entry is unused. */
	__u32 group;
	__u32 shift;
};

/* Data that each CPU has for itself. */
struct own {
	__u64 counts[COUNTS];
	struct cached cache[2 << CACHE_BITS];
};

_Static_assert(sizeof(struct config) == 368, "abi.rs");
_Static_assert(sizeof(struct own) == 7336, "abi.rs");
_Static_assert(sizeof(struct key) == 48, "abi.rs");
_Static_assert(sizeof(struct cell) == 15024, "abi.rs");
_Static_assert(sizeof(struct event) == 88, "abi.rs");
_Static_assert(sizeof(struct path_record) == 784, "abi.rs");

#endif
