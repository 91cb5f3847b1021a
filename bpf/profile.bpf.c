// SPDX-License-Identifier: MIT OR GPL-2.0-only
/*
 * Where programs spend their time: stacks sampled on CPU, and stacks of waits, each with
 * its time, aggregated here. A stack is stored once, under a hash of its addresses.
 */
#include "kernel.h"
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_core_read.h>
#include "profile.h"

char LICENSE[] SEC("license") = "Dual MIT/GPL";

const volatile struct config cfg = {};

#define BPF_F_USER_STACK (1ULL << 8)
#define BPF_ANY 0

/* The code segment of 64-bit programs on x86-64. */
#define USER_CS 0x33
/* Lowest address that can be mapped. */
#define LEAST_ADDRESS 4096

#define TASK_UNINTERRUPTIBLE 0x02
#define TASK_DEAD 0x80

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)
struct task_struct___thread {
	__s32 pid;
	__s32 tgid;
	unsigned int __state;
	unsigned in_iowait : 1;
	char comm[16];
};

/* Before Linux 5.14. */
struct task_struct___before_5_14 {
	long state;
};

struct pt_regs___x86_frame {
	unsigned long bp;
	unsigned long ip;
	unsigned long cs;
};
#pragma clang attribute pop

#include "window.h"

/* Followed processes, by process id. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 65536);
	__type(key, __u32);
	__type(value, struct target);
} targets SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 32768);
	__type(key, __u32);
	__type(value, struct task);
} tasks SEC(".maps");

/* Index of each group in `amounts`. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 16384);
	__type(key, struct group);
	__type(value, __u32);
} groups SEC(".maps");

/* Per CPU, so that threads of one group do not contend for a cache line. */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 16384);
	__type(key, __u32);
	__type(value, struct amount);
} amounts SEC(".maps");

#include "places.h"

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 16384);
	__type(key, __u64);
	__type(value, struct stack);
} stacks SEC(".maps");

/* Buffers to build a stack in; one for each kind of probe, since a sample may interrupt the others. */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 3);
	__type(key, __u32);
	__type(value, struct stack);
} scratch SEC(".maps");

/* Time of the last switch seen on this CPU. */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u64);
} last_switch SEC(".maps");

/* Ids of stacks that frame pointers follow to their outermost frame, as unwinding has shown. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 16384);
	__type(key, __u64);
	__type(value, __u8);
} whole SEC(".maps");

/* Samples to be unwound; the loader sets the size. */
struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 4096);
} raws SEC(".maps");

static __always_inline void add(__u32 what, __u64 n)
{
	__u64 *value = bpf_map_lookup_elem(&counters, &what);

	if (value)
		__sync_fetch_and_add(value, n);
}

static __always_inline struct target *followed(__u32 tgid)
{
	return bpf_map_lookup_elem(&targets, &tgid);
}

/* Index of the scratch buffer. */
enum { OF_SAMPLE, OF_SWITCH, OF_LOADER };

#define HASH_BEGIN 0x9e3779b97f4a7c15ULL

static __always_inline __u64 hash_with(__u64 hash, __u64 address)
{
	hash = (hash ^ address) * 0xff51afd7ed558ccdULL;
	return hash ^ hash >> 32;
}

static __always_inline __u64 name_for(__u64 hash)
{
	return hash == 0 || hash == NO_ROOM ? 1 : hash;
}

/* Returns the id of a stack of this many bytes; 0 for none. */
static __always_inline __u64 named(struct stack *stack, long bytes)
{
	__u64 hash = HASH_BEGIN;
	__u32 i;

	if (bytes <= 0)
		return 0;
	stack->n = bytes / 8;
	for (i = 0; i < DEPTH; i++) {
		if (i >= stack->n)
			break;
		hash = hash_with(hash, stack->ip[i]);
	}
	return name_for(hash);
}

/* Reads the current stack into a buffer and returns its id. */
static __always_inline __u64 take(void *ctx, struct stack *stack, __u64 flags)
{
	return named(stack, bpf_get_stack(ctx, stack->ip, sizeof(stack->ip), flags));
}

/*
 * Reads the stack of a program by frame pointers. The kernel's own walk ends at an address that cannot be read,
 * which nearly always is the 0 that the outermost frame has as its caller's: this page fault in every stack
 * takes longer than all the rest. Here the 0 ends the walk. Programs that are not 64-bit are left to the kernel.
 */
static __always_inline __u64 take_user(void *ctx, struct stack *stack)
{
	struct pt_regs___x86_frame *regs;
	__u64 hash = HASH_BEGIN, frame[2];
	__u32 i;

	if (!cfg.walks)
		return take(ctx, stack, BPF_F_USER_STACK);
	regs = (void *)bpf_task_pt_regs(bpf_get_current_task_btf());
	if (regs->cs != USER_CS)
		return take(ctx, stack, BPF_F_USER_STACK);
	frame[0] = regs->bp;
	frame[1] = regs->ip;
	for (i = 0; i < DEPTH; i++) {
		stack->ip[i] = frame[1];
		hash = hash_with(hash, frame[1]);
		if (frame[0] < LEAST_ADDRESS || bpf_probe_read_user(frame, sizeof(frame), (void *)frame[0]))
			break;
	}
	stack->n = i < DEPTH ? i + 1 : DEPTH;
	return name_for(hash);
}

/* Stores a stack under its id. */
static __always_inline __u64 keep(struct stack *stack, __u64 hash)
{
	if (!hash || bpf_map_lookup_elem(&stacks, &hash))
		return hash;
	if (bpf_map_update_elem(&stacks, &hash, stack, BPF_ANY)) {
		add(LOST_STACKS, 1);
		return NO_ROOM;
	}
	return hash;
}

/* Stores the kernel stack of a thread that is not running. */
static __always_inline __u64 kernel_stack_of(struct task_struct *task, __u32 slot)
{
	struct stack *stack = bpf_map_lookup_elem(&scratch, &slot);

	if (!stack)
		return 0;
	return keep(stack, named(stack, bpf_get_task_stack(task, stack->ip, sizeof(stack->ip), 0)));
}

/* Passes a sample on to be unwound: the program's registers and the innermost part of its stack. */
static __always_inline bool hand_over(struct group *group, struct stack *stack)
{
	void *registers = (void *)bpf_task_pt_regs(bpf_get_current_task_btf());
	struct raw *raw = bpf_ringbuf_reserve(&raws, sizeof(*raw), 0);
	__u64 top, i;

	if (!raw) {
		add(LOST_UNWINDS, 1);
		return false;
	}
	if (bpf_probe_read_kernel(raw->registers, cfg.registers * sizeof(__u64), registers)) {
		bpf_ringbuf_discard(raw, BPF_RB_NO_WAKEUP);
		return false;
	}
	/* The stack pointer in pt_regs of x86-64, and of arm64. */
	top = raw->registers[cfg.registers == 21 ? 19 : 31];
	raw->base = top & ~(__u64)(PIECE - 1);
	raw->group = *group;
	raw->frames = stack->n;
	__builtin_memcpy(raw->ip, stack->ip, sizeof(raw->ip));
	for (i = 0; i < STACK_BYTES / PIECE; i++)
		if (bpf_probe_read_user(raw->stack + i * PIECE, PIECE, (void *)raw->base + i * PIECE))
			break;
	raw->bytes = i * PIECE;
	bpf_ringbuf_submit(raw, BPF_RB_NO_WAKEUP);
	return true;
}

/* Adds to a group. Atomic, since a sample may interrupt a switch on the same CPU. */
static __always_inline void put(struct group *group, __u64 n, __u64 ns)
{
	__u32 at = place_of(group);
	struct amount *amount = bpf_map_lookup_elem(&amounts, &at);

	if (!amount) {
		add(LOST_GROUPS, n);
		add(LOST_NS, ns);
		return;
	}
	__sync_fetch_and_add(&amount->n, n);
	__sync_fetch_and_add(&amount->ns, ns);
}

SEC("perf_event")
int sample(void *ctx)
{
	__u64 id = bpf_get_current_pid_tgid(), now = bpf_ktime_get_ns();
	__u32 zero = 0, tgid = id >> 32;
	struct window *w = bpf_map_lookup_elem(&window, &zero);
	struct group group = {};
	struct target *target;
	struct stack *stack;

	/* Skip the idle thread. */
	if (!w || (__u32)id == 0)
		return 0;
	target = followed(tgid);
	if (!target && !cfg.all)
		return 0;
	if (w->end_ns && now >= w->end_ns)
		return 0;
	group.measured = w->begin_ns && now >= w->begin_ns;
	group.tgid = tgid;
	group.generation = target ? target->generation : 0;
	group.state = ON_CPU;
	bpf_get_current_comm(group.comm, sizeof(group.comm));
	add(SAMPLES, 1);
	stack = bpf_map_lookup_elem(&scratch, &zero);
	if (stack) {
		if (cfg.kernel)
			group.kernel_stack = keep(stack, take(ctx, stack, 0));
		group.user_stack = take_user(ctx, stack);
		if (cfg.registers && group.user_stack && !bpf_map_lookup_elem(&whole, &group.user_stack) &&
		    hand_over(&group, stack))
			return 0;
		group.user_stack = keep(stack, group.user_stack);
	}
	put(&group, 1, cfg.period_ns);
	return 0;
}

static __always_inline __u64 *name_of(struct task *task)
{
	return (__u64 *)task->comm;
}

static __always_inline void group_of(struct group *group, struct task *task, bool measured)
{
	group->measured = measured;
	group->tgid = task->tgid;
	group->generation = task->generation;
	__builtin_memcpy(group->comm, task->comm, sizeof(group->comm));
}

/* Returns the part of the time between two moments that is in the window. */
static __always_inline __u64 within(struct window *w, __u64 from, __u64 to)
{
	if (w->begin_ns && from < w->begin_ns)
		from = w->begin_ns;
	if (w->end_ns && to > w->end_ns)
		to = w->end_ns;
	return to > from ? to - from : 0;
}

/*
 * Adds a wait that ends now, and the wait for a CPU after it. Walking a kernel stack costs more than
 * everything else: of waits below a limit, some are chosen at random, in proportion to their length,
 * and each of them counts as long as the limit. So the expected total is the true one for any cause.
 */
static __always_inline void waited(struct window *w, struct task *task, struct task_struct *next, __u64 until,
				   __u64 now)
{
	__u64 wait = within(w, task->since_ns, until), ready = within(w, until, now), all = wait + ready, n = 1;
	struct group group = {};

	if (!all)
		return;
	if (all < cfg.short_ns) {
		add(SHORT_WAITS, 1);
		if ((bpf_get_prandom_u32() * cfg.short_ns) >> 32 >= all)
			return;
		add(CHOSEN_WAITS, 1);
		n = (cfg.short_ns + all / 2) / all;
		wait = wait * cfg.short_ns / all;
		ready = cfg.short_ns - wait;
	}
	group_of(&group, task, w->begin_ns != 0);
	group.user_stack = task->user_stack;
	if (cfg.kernel)
		group.kernel_stack = kernel_stack_of(next, OF_SWITCH);
	if (wait) {
		group.state = task->state;
		put(&group, n, wait);
	}
	if (ready) {
		group.state = RUNNABLE;
		put(&group, n, ready);
	}
}

/* Adds time on CPU, which stays with the thread until it ends or changes its name. */
static __always_inline void ran(struct window *w, struct task *task, __u64 to)
{
	task->exact_ns[w->begin_ns != 0] += within(w, task->since_ns, to);
}

static __always_inline void add_up(struct task *task)
{
	int measured;

	for (measured = 0; measured < 2; measured++) {
		struct group group = { .state = ON_CPU_EXACT };

		if (!task->exact_ns[measured])
			continue;
		group_of(&group, task, measured);
		put(&group, 1, task->exact_ns[measured]);
		task->exact_ns[measured] = 0;
	}
}

/*
 * A thread leaves a CPU that it was not seen to get: the kernel does not report some switches (in virtual
 * machines, from its workers). It came after the last switch seen there, or was there before the profiler.
 */
static __always_inline void came_unseen(struct window *w, struct task *task, __u64 before)
{
	__u64 came = before > task->since_ns ? before : task->since_ns;
	__u64 until = task->woken_ns && task->woken_ns < came ? task->woken_ns : came;
	__u64 wait = within(w, task->since_ns, until), ready = within(w, until, came);
	struct group group = { .state = task->state, .user_stack = task->user_stack };

	group_of(&group, task, w->begin_ns != 0);
	if (wait)
		put(&group, 1, wait);
	group.state = RUNNABLE;
	if (ready)
		put(&group, 1, ready);
	task->since_ns = came;
	task->state = ON_CPU;
}

static __always_inline void left(__u64 *ctx, struct window *w, struct task_struct___thread *prev, __u64 before,
				 __u64 now)
{
	__u32 tid = prev->pid, tgid = prev->tgid, slot = OF_SWITCH;
	const __u64 *name = (const __u64 *)prev->comm;
	struct task first = { .state = ON_CPU };
	struct target *target;
	struct stack *stack;
	struct task *known;
	__u64 state, user;

	if (tid == 0)
		return;
	known = bpf_map_lookup_elem(&tasks, &tid);
	if (known) {
		if (known->state != ON_CPU)
			came_unseen(w, known, before);
		ran(w, known, now);
	} else {
		target = followed(tgid);
		if (!target && !cfg.all)
			return;
		first.generation = target ? target->generation : 0;
	}
	if (cfg.state_argument)
		state = ctx[3];
	else if (bpf_core_field_exists(prev->__state))
		state = prev->__state;
	else
		state = ((struct task_struct___before_5_14 *)prev)->state;
	if (state & TASK_DEAD) {
		if (known)
			add_up(known);
		bpf_map_delete_elem(&tasks, &tid);
		return;
	}
	if (!known) {
		if (bpf_map_update_elem(&tasks, &tid, &first, BPF_ANY)) {
			add(LOST_TASKS, 1);
			return;
		}
		known = bpf_map_lookup_elem(&tasks, &tid);
		if (!known)
			return;
	}
	if (name_of(known)[0] != name[0] || name_of(known)[1] != name[1]) {
		add_up(known);
		name_of(known)[0] = name[0];
		name_of(known)[1] = name[1];
	}
	/* Updated in place: a new element would have to be allocated at every switch. */
	known->since_ns = now;
	known->woken_ns = 0;
	known->tgid = tgid;
	if ((ctx[0] & 1) || (state & 0xff) == 0)
		known->state = RUNNABLE;
	else if (BPF_CORE_READ_BITFIELD(prev, in_iowait))
		known->state = IO_WAIT;
	else if (state & TASK_UNINTERRUPTIBLE)
		known->state = UNINTERRUPTIBLE;
	else
		known->state = SLEEPING;
	/* After the state, so that a wake-up on another CPU is recognized. */
	known->kernel_stack = 0;
	stack = bpf_map_lookup_elem(&scratch, &slot);
	if (!stack)
		return;
	user = take_user(ctx, stack);
	/* A stack that is the same as at the last switch was stored then. */
	known->user_stack = user == known->user_stack ? user : keep(stack, user);
}

static __always_inline void came(struct window *w, struct task_struct *of, __u64 now)
{
	struct task_struct___thread *next = (struct task_struct___thread *)of;
	__u32 tid = next->pid, tgid = next->tgid;
	struct task *task = bpf_map_lookup_elem(&tasks, &tid);
	struct task first = {};
	struct target *target;

	if (task) {
		__u64 until = task->woken_ns ? task->woken_ns : now;

		if (task->state != ON_CPU)
			waited(w, task, of, until, now);
		task->state = ON_CPU;
		task->since_ns = now;
		task->woken_ns = 0;
		return;
	}
	if (tid == 0)
		return;
	target = followed(tgid);
	if (!target && !cfg.all)
		return;
	first.since_ns = now;
	first.tgid = tgid;
	first.generation = target ? target->generation : 0;
	first.state = ON_CPU;
	__builtin_memcpy(first.comm, next->comm, sizeof(first.comm));
	if (bpf_map_update_elem(&tasks, &tid, &first, BPF_ANY))
		add(LOST_TASKS, 1);
}

/* sched_switch(preempt, prev, next[, prev_state]) */
SEC("tp_btf/sched_switch")
int switched(__u64 *ctx)
{
	__u64 now = bpf_ktime_get_ns();
	__u32 zero = 0;
	struct window *w = bpf_map_lookup_elem(&window, &zero);
	__u64 *last = bpf_map_lookup_elem(&last_switch, &zero), before;

	if (!w || !last)
		return 0;
	before = *last;
	*last = now;
	left(ctx, w, (struct task_struct___thread *)ctx[1], before, now);
	came(w, (struct task_struct *)ctx[2], now);
	return 0;
}

SEC("tp_btf/sched_wakeup")
int woken(__u64 *ctx)
{
	struct task_struct___thread *p = (struct task_struct___thread *)ctx[0];
	__u32 tid = p->pid;
	struct task *task = bpf_map_lookup_elem(&tasks, &tid);

	if (task && task->state != ON_CPU && task->state != RUNNABLE && !task->woken_ns)
		task->woken_ns = bpf_ktime_get_ns();
	return 0;
}

/* sched_process_fork(parent, child) */
SEC("tp_btf/sched_process_fork")
int forked(__u64 *ctx)
{
	struct task_struct___thread *parent = (struct task_struct___thread *)ctx[0];
	struct task_struct___thread *child = (struct task_struct___thread *)ctx[1];
	__u32 from = parent->tgid, tgid = child->tgid, tid = child->pid;
	struct target *target = followed(from);
	struct target first = {};
	struct task task = {};

	if (!target && !cfg.all && from != cfg.root)
		return 0;
	/* New threads of the process that started the profiler are not followed, its children are. */
	if (!target && !cfg.all && tgid == from)
		return 0;
	if (tgid == tid) {
		if (bpf_map_update_elem(&targets, &tgid, &first, BPF_ANY)) {
			add(LOST_TASKS, 1);
			return 0;
		}
	} else if (target) {
		task.generation = target->generation;
	}
	if (!cfg.off_cpu)
		return 0;
	task.since_ns = bpf_ktime_get_ns();
	task.tgid = tgid;
	task.state = RUNNABLE;
	__builtin_memcpy(task.comm, child->comm, sizeof(task.comm));
	if (bpf_map_update_elem(&tasks, &tid, &task, BPF_ANY))
		add(LOST_TASKS, 1);
	return 0;
}

/* sched_process_exec(p, old_pid, bprm) */
SEC("tp_btf/sched_process_exec")
int executed(__u64 *ctx)
{
	struct task_struct___thread *p = (struct task_struct___thread *)ctx[0];
	__u32 tgid = p->tgid, tid = p->pid;
	struct target *target = followed(tgid);
	struct target first = { .generation = 1 };
	struct task *task = bpf_map_lookup_elem(&tasks, &tid);
	__u64 now = bpf_ktime_get_ns();
	__u32 zero = 0;
	struct window *w = bpf_map_lookup_elem(&window, &zero);

	if (task && w) {
		if (task->state == ON_CPU)
			ran(w, task, now);
		add_up(task);
		task->since_ns = now;
		task->generation++;
		__builtin_memcpy(task->comm, p->comm, sizeof(task->comm));
	}
	if (target)
		target->generation++;
	else if (cfg.all)
		bpf_map_update_elem(&targets, &tgid, &first, BPF_ANY);
	return 0;
}

/* sched_process_free(p): the process id may be reused soon. */
SEC("tp_btf/sched_process_free")
int freed(__u64 *ctx)
{
	struct task_struct___thread *p = (struct task_struct___thread *)ctx[0];
	__u32 tid = p->pid;

	bpf_map_delete_elem(&tasks, &tid);
	if (p->pid == p->tgid)
		bpf_map_delete_elem(&targets, &tid);
	return 0;
}

/* Lists the existing threads, once: reading each one in /proc would slow down its exit. (meta, task) */
SEC("iter/task")
int there(__u64 *ctx)
{
	struct task_struct___thread *of = (struct task_struct___thread *)ctx[1];
	struct task task = { .state = BEFORE };
	struct target *target;
	const __u64 *name;
	__u32 tid;

	if (!of)
		return 0;
	tid = of->pid;
	target = followed(of->tgid);
	if (!cfg.all && !target)
		return 0;
	task.generation = target ? target->generation : 0;
	name = (const __u64 *)of->comm;
	name_of(&task)[0] = name[0];
	name_of(&task)[1] = name[1];
	task.tgid = of->tgid;
	task.since_ns = bpf_ktime_get_ns();
	/* The state that other probes have seen meanwhile is newer. */
	if (bpf_map_update_elem(&tasks, &tid, &task, BPF_NOEXIST) && !bpf_map_lookup_elem(&tasks, &tid))
		add(LOST_TASKS, 1);
	return 0;
}

/* Records where the waiting threads are in the kernel, when the loader requests it: (meta, task). */
SEC("iter/task")
int waiting(__u64 *ctx)
{
	struct task_struct *of = (struct task_struct *)ctx[1];
	struct task *task;
	__u32 tid;

	if (!of || !cfg.kernel)
		return 0;
	tid = ((struct task_struct___thread *)of)->pid;
	task = bpf_map_lookup_elem(&tasks, &tid);
	if (task && task->state != ON_CPU)
		task->kernel_stack = kernel_stack_of(of, OF_LOADER);
	return 0;
}
