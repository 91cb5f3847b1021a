// SPDX-License-Identifier: MIT OR GPL-2.0-only
/*
 * System calls of the followed programs: number, time, errors,
 * bytes and kind of file descriptor, aggregated here per CPU.
 */
#include "kernel.h"
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_core_read.h>
#include "syscalls.h"

char LICENSE[] SEC("license") = "Dual MIT/GPL";

const volatile struct config cfg = {};
/* Traits by call number; the loader sets them from the names in crates/traces. */
const volatile __u8 traits[NUMBERS] = {};

#define BPF_MAP_TYPE_PERCPU_HASH 5
#define BPF_MAP_TYPE_TASK_STORAGE 29
#define BPF_ANY 0
#define BPF_F_NO_PREALLOC 1
#define BPF_LOCAL_STORAGE_GET_F_CREATE 1

#define S_IFMT 0170000
#define S_IFSOCK 0140000
#define S_IFLNK 0120000
#define S_IFREG 0100000
#define S_IFBLK 0060000
#define S_IFDIR 0040000
#define S_IFCHR 0020000
#define S_IFIFO 0010000
#define ANON_INODE_FS_MAGIC 0x09041934

#define TS_COMPAT 0x0002	/* x86 */
#define TIF_32BIT 22		/* arm64 */
#define IORING_ENTER_GETEVENTS 1
#define MAX_ERRNO 4095

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)
struct fdtable {
	unsigned int max_fds;
	struct file **fd;
};

struct files_struct {
	struct fdtable *fdt;
};

struct thread_info___x86 {
	unsigned int status;
};

struct thread_info___arm64 {
	unsigned long flags;
};

struct task_struct___call {
	struct files_struct *files;
};

struct task_struct___x86 {
	struct thread_info___x86 thread_info;
};

struct task_struct___arm64 {
	struct thread_info___arm64 thread_info;
};

struct super_block___magic {
	unsigned long s_magic;
};

struct pt_regs___x86_arguments {
	unsigned long di;
	unsigned long si;
	unsigned long dx;
	unsigned long r10;
};

struct pt_regs___arm64_arguments {
	__u64 regs[31];
};
#pragma clang attribute pop

#include "window.h"

/* Followed threads, each with the call that it is in. */
struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct call);
} calls SEC(".maps");

/* Index of each group in `amounts`. The loader sets the size. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1024);
	__type(key, struct group);
	__type(value, __u32);
} groups SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1024);
	__type(key, __u32);
	__type(value, struct amount);
} amounts SEC(".maps");

#include "places.h"

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_HASH);
	__uint(max_entries, 4096);
	__type(key, struct error);
	__type(value, __u64);
} errors SEC(".maps");

static __always_inline void add(__u32 what, __u64 n)
{
	__u64 *value = bpf_map_lookup_elem(&counters, &what);

	if (value)
		*value += n;
}

#include "follow.h"

/* Returns argument n (0 to 3) of the call. */
static __always_inline __u64 argument(struct pt_regs *regs, int n)
{
	if (bpf_core_field_exists(((struct pt_regs___x86_arguments *)0)->di)) {
		struct pt_regs___x86_arguments *x86 = (void *)regs;

		switch (n) {
		case 0:
			return x86->di;
		case 1:
			return x86->si;
		case 2:
			return x86->dx;
		default:
			return x86->r10;
		}
	}
	return ((struct pt_regs___arm64_arguments *)regs)->regs[n];
}

/* Returns true for a call of a 32-bit program. */
static __always_inline bool is_narrow(struct task_struct *task)
{
	if (bpf_core_field_exists(((struct thread_info___x86 *)0)->status))
		return ((struct task_struct___x86 *)task)->thread_info.status & TS_COMPAT;
	return ((struct task_struct___arm64 *)task)->thread_info.flags >> TIF_32BIT & 1;
}

static __always_inline __u8 kind_of_inode(struct call *call, struct inode *inode)
{
	struct super_block___magic *sb;

	if (!inode)
		return ANOTHER;
	switch (BPF_CORE_READ(inode, i_mode) & S_IFMT) {
	case S_IFSOCK:
		return A_SOCKET;
	case S_IFIFO:
		return A_PIPE;
	case S_IFCHR:
	case S_IFBLK:
		return A_DEVICE;
	case S_IFDIR:
	case S_IFLNK:
		return A_FILE;
	case S_IFREG:
		/* Newer kernels give eventfd, epoll and the like this mode too. */
		sb = (struct super_block___magic *)BPF_CORE_READ(inode, i_sb);
		/* The super block of anonymous inodes is never freed: its address is not reused. */
		if (call->plain == (__u64)sb)
			return A_FILE;
		if (BPF_CORE_READ(sb, s_magic) == ANON_INODE_FS_MAGIC)
			return ANOTHER;
		call->plain = (__u64)sb;
		return A_FILE;
	default:
		return ANOTHER;
	}
}

/* Returns the kind of object that is open under a file descriptor. */
static __always_inline __u8 kind_of(struct call *call, struct task_struct *task, __u32 number, __u32 fd)
{
	struct files_struct *files = ((struct task_struct___call *)task)->files;
	struct fdtable *table;
	struct file **all, *file = NULL;
	struct inode *inode;

	if (!files)
		return NOT_OPEN;
	table = files->fdt;
	if (!table || fd >= table->max_fds)
		return NOT_OPEN;
	all = table->fd;
	if (bpf_probe_read_kernel(&file, sizeof(file), &all[fd]) || !file)
		return NOT_OPEN;
	inode = BPF_CORE_READ(file, f_inode);
	/* The same call again on the same file: it was not closed in between, since that would be another call. */
	if (call->asked_by != number || call->file != (__u64)file || call->inode != (__u64)inode) {
		call->asked_kind = kind_of_inode(call, inode);
		call->asked_by = number;
		call->file = (__u64)file;
		call->inode = (__u64)inode;
	}
	return call->asked_kind;
}

/* sys_enter(regs, number) */
SEC("tp_btf/sys_enter")
int entered(__u64 *ctx)
{
	struct pt_regs *regs = (struct pt_regs *)ctx[0];
	struct task_struct *task = bpf_get_current_task_btf();
	struct call *call = bpf_task_storage_get(&calls, task, NULL, 0);
	__u32 number = ctx[1];
	__u8 known = 0;

	if (!call) {
		__u32 tgid = task->tgid;
		struct target *target = bpf_map_lookup_elem(&targets, &tgid);

		if (!target && !cfg.all)
			return 0;
		call = bpf_task_storage_get(&calls, task, NULL, BPF_LOCAL_STORAGE_GET_F_CREATE);
		if (!call) {
			add(LOST_TASKS, 1);
			return 0;
		}
		call->starting = !cfg.all && target && !target->executed;
	}
	call->number = number;
	call->narrow = is_narrow(task);
	call->kind = NO_FD;
	if (number < NUMBERS && !call->narrow)
		known = traits[number];
	if (known & RING_ENTER) {
		__u32 submits = argument(regs, 1);
		bool waits = argument(regs, 3) & IORING_ENTER_GETEVENTS && (__u32)argument(regs, 2);

		call->kind = !waits ? SUBMITS : submits ? SUBMITS_AND_WAITS : WAITS;
	} else if (known & TAKES_FD) {
		call->kind = kind_of(call, task, number, argument(regs, 0));
	}
	call->under_way = 1;
	call->since_ns = bpf_ktime_get_ns();
	return 0;
}

static __always_inline void failed(struct group *group, __u64 number)
{
	struct error error = { .of = *group, .number = number };
	__u64 first = 1, *n;

	error.of.kind = 0;
	n = bpf_map_lookup_elem(&errors, &error);
	if (n)
		*n += 1;
	else if (bpf_map_update_elem(&errors, &error, &first, BPF_NOEXIST))
		add(LOST_ERRORS, 1);
}

/* Returns the histogram bucket of a time: the position of its highest bit. */
static __always_inline __u32 bucket(__u64 ns)
{
	__u32 at = 0, high = ns >> 32;
	__u32 n = high ? high : ns;

	if (high)
		at = 32;
	if (n >> 16) { n >>= 16; at += 16; }
	if (n >> 8) { n >>= 8; at += 8; }
	if (n >> 4) { n >>= 4; at += 4; }
	if (n >> 2) { n >>= 2; at += 2; }
	at += n >> 1;
	return at < BUCKETS ? at : BUCKETS - 1;
}

/* sys_exit(regs, returned) */
SEC("tp_btf/sys_exit")
int returned(__u64 *ctx)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct call *call = bpf_task_storage_get(&calls, task, NULL, 0);
	__u64 now, from, ns, took;
	__u32 zero = 0, at;
	__u8 known = 0;
	struct group group = {};
	struct cached *cached;
	struct amount *amount;
	const __u64 *name;
	struct window *w;
	__s64 value = ctx[1];
	__u64 what;
	bool error;

	if (!call || !call->under_way)
		return 0;
	call->under_way = 0;
	now = bpf_ktime_get_ns();
	if (call->starting) {
		__u32 tgid = task->tgid;
		struct target *target = bpf_map_lookup_elem(&targets, &tgid);

		if (!target || !target->executed)
			return 0;
		call->starting = 0;
	}
	w = bpf_map_lookup_elem(&window, &zero);
	if (!w || (w->end_ns && now >= w->end_ns))
		return 0;
	group.measured = w->begin_ns && now >= w->begin_ns;
	from = call->since_ns;
	took = now - from;
	ns = group.measured && from < w->begin_ns ? now - w->begin_ns : took;
	group.number = call->number;
	group.kind = call->kind;
	group.narrow = call->narrow;
	if (cfg.by_process)
		group.tgid = task->tgid;
	name = (const __u64 *)task->comm;
	__builtin_memcpy(group.comm, &(__u64[]){name[0], name[1]}, sizeof(group.comm));
	if (group.number < NUMBERS && !group.narrow)
		known = traits[group.number];
	error = value < 0 && value >= -MAX_ERRNO && !(known & NEVER_FAILS);
	if (call->comm[0] != name[0] || call->comm[1] != name[1]) {
		__builtin_memset(call->cached, 0, sizeof(call->cached));
		call->comm[0] = name[0];
		call->comm[1] = name[1];
	}
	what = group.number | (__u64)group.kind << 32 | (__u64)group.measured << 40 |
	       (__u64)group.narrow << 41 | 1ULL << 42;
	cached = &call->cached[group.number % CACHED];
	if (cached->what != what) {
		cached->place = place_of(&group);
		cached->what = what;
	}
	at = cached->place;
	amount = bpf_map_lookup_elem(&amounts, &at);
	if (!amount) {
		add(LOST_CALLS, 1);
		add(LOST_NS, ns);
		return 0;
	}
	/* The amounts are per CPU: even if the kernel lets a probe be preempted, it
	 * does not run it again on that CPU meanwhile, but counts the skipped run. */
	amount->calls++;
	amount->ns += ns;
	if (took > amount->most_ns)
		amount->most_ns = took;
	at = bucket(took);
	if (at < BUCKETS)
		amount->times[at]++;
	if (error) {
		amount->errors++;
		failed(&group, -value);
	} else if (known & GIVES_AMOUNT) {
		amount->returned += value;
	}
	return 0;
}
