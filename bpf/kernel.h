/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * The few kernel types that the probes access, with the few fields that
 * they read. CO-RE (preserve_access_index) relocates the fields to the
 * layout of the running kernel, so neither order nor size matters here.
 */
#ifndef ASSAY_KERNEL_H
#define ASSAY_KERNEL_H

typedef unsigned char __u8;
typedef unsigned short __u16;
typedef unsigned int __u32;
typedef unsigned long long __u64;
typedef signed char __s8;
typedef short __s16;
typedef int __s32;
typedef long long __s64;
typedef __u16 __be16;
typedef __u32 __be32;
typedef __u32 __wsum;
typedef unsigned long uintptr;
typedef _Bool bool;
#define true 1
#define false 0
#define NULL ((void *)0)

/* Constants of the bpf system call (linux/bpf.h) that the probes use. */
enum {
	BPF_MAP_TYPE_HASH = 1,
	BPF_MAP_TYPE_ARRAY = 2,
	BPF_MAP_TYPE_PERCPU_ARRAY = 6,
	BPF_MAP_TYPE_LRU_HASH = 9,
	BPF_MAP_TYPE_RINGBUF = 27,
	BPF_NOEXIST = 1,
	BPF_RB_NO_WAKEUP = 1,
};

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

struct inode;
struct dentry;

struct hlist_node {
	struct hlist_node *next;
};

struct hlist_head {
	struct hlist_node *first;
};

struct qstr {
	const unsigned char *name;
};

struct dentry {
	struct dentry *d_parent;
	struct qstr d_name;
	struct inode *d_inode;
	union {
		struct hlist_node d_alias;
	} d_u;
};

/* In newer kernels the field is in an unnamed union. */
struct dentry___d_alias {
	struct hlist_node d_alias;
};

struct super_block {
	__u32 s_dev;
	struct dentry *s_root;
};

struct inode {
	__u16 i_mode;
	unsigned long i_ino;
	__u32 i_rdev;
	struct super_block *i_sb;
	struct address_space *i_mapping;
	struct hlist_head i_dentry;
};

struct address_space {
	struct inode *host;
};

struct page {
	struct address_space *mapping;
	unsigned long compound_head;
};

/* Name of the field in newer kernels, where it may be a mask. */
struct page___compound_info {
	unsigned long compound_info;
};

struct bio_vec {
	struct page *bv_page;
};

struct path {
	struct dentry *dentry;
};

struct file {
	struct inode *f_inode;
	struct path f_path;
};

struct kiocb {
	struct file *ki_filp;
	void *ki_complete;
};

struct iomap_dio {
	struct kiocb *iocb;
};

struct kernfs_node {
	__u64 id;
};

struct cgroup {
	struct kernfs_node *kn;
};

struct cgroup_subsys_state {
	struct cgroup *cgroup;
};

struct blkcg {
	struct cgroup_subsys_state css;
};

struct blkcg_gq {
	struct blkcg *blkcg;
};

struct gendisk {
	int major;
	int first_minor;
};

struct block_device {
	struct gendisk *bd_disk;
	__u32 bd_dev;
};

struct device {
	__u32 devt;
};

/* A partition, before Linux 5.11. */
struct hd_struct {
	struct device __dev;
};

struct bvec_iter {
	__u64 bi_sector;
	__u32 bi_size;
};

struct bio {
	struct block_device *bi_bdev;
	__u32 bi_opf;
	struct bvec_iter bi_iter;
	void *bi_end_io;
	void *bi_private;
	struct blkcg_gq *bi_blkg;
	struct bio_vec *bi_io_vec;
};

/* Before Linux 5.12 a bio refers to its disk; its partition is lost once it is a request. */
struct bio___before_5_12 {
	struct gendisk *bi_disk;
};

struct request_queue {
	struct gendisk *disk;
};

struct request {
	struct request_queue *q;
	__u32 cmd_flags;
	__u32 __data_len;
	__u64 __sector;
	struct bio *bio;
	__u64 start_time_ns;
	__u64 io_start_time_ns;
};

/* Before Linux 5.17 the request refers to the disk directly. */
struct request___before_5_17 {
	struct gendisk *rq_disk;
};

struct request___before_5_11 {
	struct hd_struct *part;
};

struct request___5_11 {
	struct block_device *part;
};

struct task_struct {
	__u32 flags;
	__s32 tgid;
	struct task_struct *group_leader;
	char comm[16];
	void *stack;
};

/* The number of the system call that a task is in, under each architecture's own name. */
struct pt_regs {
	unsigned long unused;
};

struct pt_regs___x86 {
	unsigned long orig_ax;
};

struct pt_regs___arm64 {
	__s32 syscallno;
};

/* Exists only in x86 kernels built with FRED (Linux 6.9 and
 * later): they leave two words unused behind the registers. */
struct fred_frame {
	struct pt_regs regs;
};

#pragma clang attribute pop

/* Bit numbers of the flags in cmd_flags and bi_opf; CO-RE replaces them with those of the running kernel. */
enum req_flag_bits {
	__REQ_SYNC = 11,
	__REQ_META = 12,
	__REQ_FUA = 17,
	__REQ_PREFLUSH = 18,
	__REQ_RAHEAD = 19,
};

/* Numbers of the operations; only the last one has changed (7 was WRITE_SAME). */
enum req_op {
	REQ_OP_READ = 0,
	REQ_OP_WRITE = 1,
	REQ_OP_FLUSH = 2,
	REQ_OP_DISCARD = 3,
	REQ_OP_SECURE_ERASE = 5,
	REQ_OP_ZONE_APPEND = 7,
};

/* Name of the enum before Linux 6.0. */
enum req_opf {
	REQ_OP_ZONE_APPEND___before_6_0 = 7,
};

/* Operations from here on are passthrough commands of a driver or of SCSI, not I/O of a program. */
#define FIRST_PASSTHROUGH 32

#define PF_IO_WORKER 0x00000010
#define PF_KTHREAD 0x00200000

#endif
