// SPDX-License-Identifier: MIT OR GPL-2.0-only
/*
 * Where the time of programs goes: stacks sampled while they run, and stacks of what they wait for, each
 * with its time, added up here. A stack is kept once, under a hash of its addresses.
 */
#include "kernel.h"
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_core_read.h>
#include "profile.h"

char LICENSE[] SEC("license") = "Dual MIT/GPL";

const volatile struct config cfg = {};

#define BPF_F_USER_STACK (1ULL << 8)
#define BPF_ANY 0

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
#pragma clang attribute pop

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, COUNTERS);
	__type(key, __u32);
	__type(value, __u64);
} counters SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct window);
} window SEC(".maps");

/* The processes that are followed, by number. */
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

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 16384);
	__type(key, struct group);
	__type(value, struct amount);
} groups SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 16384);
	__type(key, __u64);
	__type(value, struct stack);
} stacks SEC(".maps");

/* Where a stack is put together; one for each kind of probe, since a sample may interrupt the others. */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 2);
	__type(key, __u32);
	__type(value, struct stack);
} scratch SEC(".maps");

/* Stacks that frame pointers follow to their beginning, as unwinding has shown: by name. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 16384);
	__type(key, __u64);
	__type(value, __u8);
} whole SEC(".maps");

/* Samples to be unwound; the loader gives it its size. */
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

/* Puts the stack that is there now into a slot; its name, 0: there is none. */
static __always_inline __u64 take(void *ctx, struct stack *stack, __u64 flags)
{
	__u64 hash = 0x9e3779b97f4a7c15ULL;
	long bytes;
	__u32 i;

	bytes = bpf_get_stack(ctx, stack->ip, sizeof(stack->ip), flags);
	if (bytes <= 0)
		return 0;
	stack->n = bytes / 8;
	for (i = 0; i < DEPTH; i++) {
		if (i >= stack->n)
			break;
		hash = (hash ^ stack->ip[i]) * 0xff51afd7ed558ccdULL;
		hash ^= hash >> 32;
	}
	return hash == 0 || hash == NO_ROOM ? 1 : hash;
}

/* Keeps a stack under its name. */
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

/* The name of the stack that is there now; 0: there is none. */
static __always_inline __u64 stack_now(void *ctx, __u32 slot, __u64 flags)
{
	struct stack *stack = bpf_map_lookup_elem(&scratch, &slot);

	return stack ? keep(stack, take(ctx, stack, flags)) : 0;
}

/* Hands a sample over to be unwound: the program's registers and the innermost part of its stack. */
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
	/* The stack pointer of x86-64's pt_regs, and of arm64's. */
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

static __always_inline void put(struct group *group, __u64 ns)
{
	struct amount *amount = bpf_map_lookup_elem(&groups, group);
	struct amount first = {};

	if (!amount) {
		/* Another CPU may be doing the same; whoever is first makes it. */
		bpf_map_update_elem(&groups, group, &first, BPF_NOEXIST);
		amount = bpf_map_lookup_elem(&groups, group);
	}
	if (!amount) {
		add(LOST_GROUPS, 1);
		add(LOST_NS, ns);
		return;
	}
	__sync_fetch_and_add(&amount->n, 1);
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

	/* Not the idle thread. */
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
	if (cfg.kernel)
		group.kernel_stack = stack_now(ctx, 0, 0);
	add(SAMPLES, 1);
	stack = bpf_map_lookup_elem(&scratch, &zero);
	if (stack) {
		group.user_stack = take(ctx, stack, BPF_F_USER_STACK);
		if (cfg.registers && group.user_stack && !bpf_map_lookup_elem(&whole, &group.user_stack) &&
		    hand_over(&group, stack))
			return 0;
		group.user_stack = keep(stack, group.user_stack);
	}
	put(&group, cfg.period_ns);
	return 0;
}

/* Adds the time between two moments, as far as it is in the window. */
static __always_inline void passed(struct task *task, __u8 state, __u64 from, __u64 to)
{
	__u32 zero = 0;
	struct window *w = bpf_map_lookup_elem(&window, &zero);
	struct group group = {};

	if (!w)
		return;
	if (w->begin_ns && from < w->begin_ns)
		from = w->begin_ns;
	if (w->end_ns && to > w->end_ns)
		to = w->end_ns;
	if (to <= from)
		return;
	group.measured = w->begin_ns != 0;
	group.tgid = task->tgid;
	group.generation = task->generation;
	group.state = state;
	__builtin_memcpy(group.comm, task->comm, sizeof(group.comm));
	if (state != ON_CPU_EXACT) {
		group.kernel_stack = task->kernel_stack;
		group.user_stack = task->user_stack;
	}
	put(&group, to - from);
}

static __always_inline void left(__u64 *ctx, struct task_struct___thread *prev, __u64 now)
{
	__u32 tid = prev->pid, tgid = prev->tgid;
	struct target *target;
	struct task *known;
	struct task first = { .state = ON_CPU };
	__u64 state;

	if (tid == 0)
		return;
	target = followed(tgid);
	if (!target && !cfg.all)
		return;
	known = bpf_map_lookup_elem(&tasks, &tid);
	if (known && (known->state == ON_CPU || known->state == BEFORE))
		passed(known, ON_CPU_EXACT, known->since_ns, now);
	if (cfg.state_argument)
		state = ctx[3];
	else if (bpf_core_field_exists(prev->__state))
		state = prev->__state;
	else
		state = ((struct task_struct___before_5_14 *)prev)->state;
	if (state & TASK_DEAD) {
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
	/* In place: a new element would have to be allocated at every switch. */
	known->since_ns = now;
	known->woken_ns = 0;
	known->tgid = tgid;
	known->generation = target ? target->generation : 0;
	__builtin_memcpy(known->comm, prev->comm, sizeof(known->comm));
	if ((ctx[0] & 1) || (state & 0xff) == 0)
		known->state = RUNNABLE;
	else if (BPF_CORE_READ_BITFIELD(prev, in_iowait))
		known->state = IO_WAIT;
	else if (state & TASK_UNINTERRUPTIBLE)
		known->state = UNINTERRUPTIBLE;
	else
		known->state = SLEEPING;
	/* After the state, so that a wake on another CPU is seen as one. */
	known->kernel_stack = cfg.kernel ? stack_now(ctx, 1, 0) : 0;
	known->user_stack = stack_now(ctx, 1, BPF_F_USER_STACK);
}

static __always_inline void came(struct task_struct___thread *next, __u64 now)
{
	__u32 tid = next->pid, tgid = next->tgid;
	struct task *task = bpf_map_lookup_elem(&tasks, &tid);
	struct task first = {};
	struct target *target;

	if (task) {
		__u64 until = task->woken_ns ? task->woken_ns : now;

		if (task->state != ON_CPU) {
			passed(task, task->state, task->since_ns, until);
			passed(task, RUNNABLE, until, now);
		}
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

	left(ctx, (struct task_struct___thread *)ctx[1], now);
	came((struct task_struct___thread *)ctx[2], now);
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
	/* The threads of whoever started the profiler are not followed, its children are. */
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

	if (task) {
		if (task->state == ON_CPU)
			passed(task, ON_CPU_EXACT, task->since_ns, now);
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

/* sched_process_free(p): the number of a process may be another's soon. */
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
