/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * What the profiler's probes and their loader share; crates/observe/src/profile/abi.rs has the same.
 */
#ifndef ASSAY_PROFILE_H
#define ASSAY_PROFILE_H

#define COMM 16
/* The kernel's own limit of a stack (kernel.perf_event_max_stack). */
#define DEPTH 127
/* So much of a program's stack is copied where frame pointers do not lead to its beginning, in pieces that do not
 * cross pages. */
#define STACK_BYTES 16384
#define PIECE 1024
/* Room for the registers of a program as the kernel keeps them: 21 words on x86-64, 34 on arm64. */
#define REGISTERS 34

/* What a thread is doing while time passes. */
enum state {
	ON_CPU,		 /* sampled */
	SLEEPING,	 /* interruptible */
	UNINTERRUPTIBLE,
	IO_WAIT,
	RUNNABLE,	 /* ready, another has the CPU */
	BEFORE,		 /* off since before the profiler looked */
	ON_CPU_EXACT,	 /* the scheduler's time, without stacks */
};

enum counter {
	SAMPLES,
	LOST_GROUPS,	 /* a sample or a wait without room for its group */
	LOST_STACKS,	 /* counted, but its stack had no room */
	LOST_TASKS,	 /* a thread that is not followed for want of room */
	LOST_NS,	 /* time of groups without room */
	LOST_UNWINDS,	 /* stacks without room to be copied: frame pointers alone */
	SHORT_WAITS,	 /* waits that were so short that some stand for all */
	CHOSEN_WAITS,	 /* those that stand for them */
	COUNTERS,
};

/* The stack of a group whose stack had no room. */
#define NO_ROOM (~0ULL)

struct config {
	__u64 period_ns;	/* what a sample stands for */
	__u64 short_ns;		/* a wait that is shorter is taken by chance, in proportion to its length */
	__u32 root;		/* the children of this process are followed */
	__u8 all;		/* so is everything */
	__u8 off_cpu;
	__u8 state_argument;	/* sched_switch hands over the state of the one that leaves */
	__u8 kernel;		/* kernel stacks are wanted */
	__u32 registers;	/* words of registers that this kind of machine has; 0: frame pointers alone */
	__u32 walks;		/* the stacks of programs are walked here, which the registers of x86-64 allow */
};

struct window {
	__u64 begin_ns;
	__u64 end_ns;
};

struct target {
	__u32 generation;	/* how many programs the process has executed since it is followed */
};

struct group {
	__u64 kernel_stack;
	__u64 user_stack;
	__u32 tgid;
	__u32 generation;
	char comm[COMM];
	__u8 state;
	__u8 measured;		/* in the measured window, which had begun */
	__u8 pad[6];
};

struct amount {
	__u64 n;
	__u64 ns;
};

/* A thread that is followed. */
struct task {
	__u64 since_ns;
	__u64 woken_ns;
	__u64 kernel_stack;	/* of one that still waits, when the loader asks for it */
	__u64 user_stack;
	__u64 exact_ns[2];	/* on CPU, outside of and in the measured window, as long as it is in no group */
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

/* A sample whose stack user space unwinds; `group` has what frame pointers say of it. */
struct raw {
	struct group group;
	__u64 registers[REGISTERS];
	__u64 base;		/* the address of the first byte of the stack */
	__u64 bytes;
	__u64 frames;		/* by frame pointers, innermost first */
	__u64 ip[DEPTH];
	__u8 stack[STACK_BYTES];
};

#endif
