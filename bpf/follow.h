/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Processes that are followed: the children of `cfg.root`, from their exec on, and their descendants.
 * Include it after `cfg` and `add`.
 */
#ifndef ASSAY_FOLLOW_H
#define ASSAY_FOLLOW_H

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)
struct task_struct___followed {
	__s32 pid;
	__s32 tgid;
};
#pragma clang attribute pop

struct target {
	__u32 executed;		/* set once the process runs the program, not what starts it */
};

/* Followed processes, by process id. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 65536);
	__type(key, __u32);
	__type(value, struct target);
} targets SEC(".maps");

/* sched_process_fork(parent, child) */
SEC("tp_btf/sched_process_fork")
int forked(__u64 *ctx)
{
	struct task_struct___followed *parent = (struct task_struct___followed *)ctx[0];
	struct task_struct___followed *child = (struct task_struct___followed *)ctx[1];
	__u32 from = parent->tgid, tgid = child->tgid;
	struct target *target;
	struct target first = {};

	if (cfg.all || tgid == from)
		return 0;
	target = bpf_map_lookup_elem(&targets, &from);
	if (!target && from != cfg.root)
		return 0;
	if (target)
		first.executed = target->executed;
	if (bpf_map_update_elem(&targets, &tgid, &first, BPF_ANY))
		add(LOST_TASKS, 1);
	return 0;
}

/* sched_process_exec(p, old_pid, bprm) */
SEC("tp_btf/sched_process_exec")
int executed(__u64 *ctx)
{
	struct task_struct___followed *p = (struct task_struct___followed *)ctx[0];
	__u32 tgid = p->tgid;
	struct target *target = bpf_map_lookup_elem(&targets, &tgid);

	if (target)
		target->executed = 1;
	return 0;
}

/* sched_process_free(p): the process id may be reused soon. */
SEC("tp_btf/sched_process_free")
int freed(__u64 *ctx)
{
	struct task_struct___followed *p = (struct task_struct___followed *)ctx[0];
	__u32 tgid = p->tgid;

	if (p->pid == p->tgid)
		bpf_map_delete_elem(&targets, &tgid);
	return 0;
}

#endif
