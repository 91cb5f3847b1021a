/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Measurement window and counters, which the loader writes and reads. Include it after `enum counter`. */
#ifndef ASSAY_WINDOW_H
#define ASSAY_WINDOW_H

struct window {
	__u64 begin_ns;
	__u64 end_ns;
};

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

#endif
