/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Data layouts shared by the profiler's probes and their loader (crates/observe/src/profile/abi.rs).
 */
#ifndef ASSAY_PROFILE_H
#define ASSAY_PROFILE_H

#define COMM 16
/* The kernel's own default limit (kernel.perf_event_max_stack). */
#define DEPTH 127
/* Bytes of a program's stack that are copied if frame pointers do not
 * lead to its outermost frame, in pieces that do not cross pages. */
#define STACK_BYTES 16384
#define PIECE 1024
/* Maximum size of a program's saved registers, in words: 21 on x86-64, 34 on arm64. */
#define REGISTERS 34

/* State of a thread while time passes. */
enum state {
	ON_CPU,		 /* sampled */
	SLEEPING,	 /* interruptible */
	UNINTERRUPTIBLE,
	IO_WAIT,
	RUNNABLE,	 /* ready, another thread has the CPU */
	BEFORE,		 /* off CPU since before the profiler started */
	ON_CPU_EXACT,	 /* the scheduler's time, without stacks */
};

enum counter {
	SAMPLES,
	LOST_GROUPS,	 /* samples or waits whose group had no room */
	LOST_STACKS,	 /* counted, but their stack had no room */
	LOST_TASKS,	 /* threads that are not followed because a map was full */
	LOST_NS,	 /* time of groups without room */
	LOST_UNWINDS,	 /* stacks that had no room to be copied: frame pointers only */
	SHORT_WAITS,	 /* waits so short that some of them represent all */
	CHOSEN_WAITS,	 /* the waits that represent them */
	COUNTERS,
};

/* Stack id of a group whose stack had no room. */
#define NO_ROOM (~0ULL)

struct config {
	__u64 period_ns;	/* time per sample */
	__u64 short_ns;		/* shorter waits are sampled at random, in proportion to their length */
	__u32 root;		/* children of this process are followed */
	__u8 all;		/* all processes are followed */
	__u8 off_cpu;
	__u8 state_argument;	/* sched_switch passes the state of the thread that leaves */
	__u8 kernel;		/* record kernel stacks */
	__u32 registers;	/* words of registers on this architecture; 0: frame pointers only */
	__u32 walks;		/* walk the programs' stacks here, which works with the registers of x86-64 */
};

struct target {
	__u32 generation;	/* number of programs that the process has executed since it is followed */
};

struct group {
	__u64 kernel_stack;
	__u64 user_stack;
	__u32 tgid;
	__u32 generation;
	char comm[COMM];
	__u8 state;
	__u8 measured;		/* in the measurement window */
	__u8 pad[6];
};

struct amount {
	__u64 n;
	__u64 ns;
};

/* A followed thread. */
struct task {
	__u64 since_ns;
	__u64 woken_ns;
	__u64 kernel_stack;	/* of a thread that still waits, set when the loader requests it */
	__u64 user_stack;
	__u64 exact_ns[2];	/* CPU time outside of and in the measurement window that is not in any group yet */
	__u32 tgid;
	__u32 generation;
	char comm[COMM];
	__u8 state;
	__u8 pad[7];
};

struct stack {
	__u64 n;
	__u64 ip[DEPTH];
};

/* A sample whose stack user space unwinds; `group` has the stack found by frame pointers. */
struct raw {
	struct group group;
	__u64 registers[REGISTERS];
	__u64 base;		/* address of the first byte of the stack */
	__u64 bytes;
	__u64 frames;		/* number of addresses in `ip`, found by frame pointers */
	__u64 ip[DEPTH];
	__u8 stack[STACK_BYTES];
};

#endif
