// SPDX-License-Identifier: MIT OR GPL-2.0-only
/*
 * Waits for a CPU of the followed programs: from the moment that a task can run (it was woken, created
 * or preempted) to the moment it runs, aggregated here per CPU by the task's name.
 */
#include "kernel.h"
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_core_read.h>
#include "runqueue.h"

char LICENSE[] SEC("license") = "Dual MIT/GPL";

const volatile struct config cfg = {};

#define BPF_ANY 0

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)
struct task_struct___state {
	unsigned int __state;
};

/* Before Linux 5.14. */
struct task_struct___older {
	long state;
};
#pragma clang attribute pop

#include "window.h"

/* When each waiting thread could run, by thread id. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 65536);
	__type(key, __u32);
	__type(value, __u64);
} waiting SEC(".maps");

/* Index of each group in `amounts`. The loader sets the size. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 256);
	__type(key, struct group);
	__type(value, __u32);
} groups SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 256);
	__type(key, __u32);
	__type(value, struct amount);
} amounts SEC(".maps");

#include "places.h"

static __always_inline void add(__u32 what, __u64 n)
{
	__u64 *value = bpf_map_lookup_elem(&counters, &what);

	if (value)
		*value += n;
}

#include "follow.h"

static __always_inline void begin(struct task_struct *task)
{
	struct task_struct___followed *of = (struct task_struct___followed *)task;
	__u32 pid = of->pid, tgid = of->tgid;
	struct target *target = bpf_map_lookup_elem(&targets, &tgid);
	__u64 now;

	if (!target || !target->executed)
		return;
	now = bpf_ktime_get_ns();
	if (bpf_map_update_elem(&waiting, &pid, &now, BPF_ANY))
		add(LOST_WAITS, 1);
}

/* sched_wakeup(task) */
SEC("tp_btf/sched_wakeup")
int woken(__u64 *ctx)
{
	begin((struct task_struct *)ctx[0]);
	return 0;
}

/* sched_wakeup_new(task) */
SEC("tp_btf/sched_wakeup_new")
int created(__u64 *ctx)
{
	begin((struct task_struct *)ctx[0]);
	return 0;
}

static __always_inline bool can_run(struct task_struct *task)
{
	if (bpf_core_field_exists(((struct task_struct___state *)0)->__state))
		return !((struct task_struct___state *)task)->__state;
	return !((struct task_struct___older *)task)->state;
}

/* sched_switch(preempted, from, to) */
SEC("tp_btf/sched_switch")
int switched(__u64 *ctx)
{
	struct task_struct *from = (struct task_struct *)ctx[1];
	struct task_struct *to = (struct task_struct *)ctx[2];
	__u32 pid = ((struct task_struct___followed *)to)->pid, zero = 0, at;
	struct group group = {};
	struct amount *amount;
	__u64 now, since, took, *found;
	struct window *w;

	if (ctx[0] || can_run(from))
		begin(from);
	found = bpf_map_lookup_elem(&waiting, &pid);
	if (!found)
		return 0;
	since = *found;
	bpf_map_delete_elem(&waiting, &pid);
	now = bpf_ktime_get_ns();
	w = bpf_map_lookup_elem(&window, &zero);
	if (!w || (w->end_ns && now >= w->end_ns) || now < since)
		return 0;
	group.measured = w->begin_ns && now >= w->begin_ns;
	__builtin_memcpy(group.comm, to->comm, sizeof(group.comm));
	at = place_of(&group);
	amount = bpf_map_lookup_elem(&amounts, &at);
	if (!amount) {
		add(LOST_WAITS, 1);
		return 0;
	}
	took = now - since;
	amount->waits++;
	amount->ns += group.measured && since < w->begin_ns ? now - w->begin_ns : took;
	if (took > amount->most_ns)
		amount->most_ns = took;
	if (!amount->least_ns || took < amount->least_ns - 1)
		amount->least_ns = took + 1;
	at = fine_of(took);
	if (at < FINE)
		amount->times[at]++;
	return 0;
}
