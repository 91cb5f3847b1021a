/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Finds the file that an I/O belongs to, from its first page or, for direct I/O, from its request. */
#ifndef ASSAY_FILE_H
#define ASSAY_FILE_H

struct inode_key {
	__u64 ino;
	__u32 dev;
	__u32 pad;
};

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 16384);
	__type(key, struct inode_key);
	__type(value, __u8);
} told SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 1 << 20);
} paths SEC(".maps");

struct found {
	struct inode *inode;
	struct dentry *dentry;
	__u8 sure;
};

#define S_IFMT 0170000
#define S_IFBLK 0060000

/* Returns the first page of a compound page. In other pages the word is odd: the first page's address
 * or, in newer kernels, a mask for the page's own. Every mask has its high 32 bits set, no address has. */
static __always_inline struct page *first_page(struct page *page)
{
	unsigned long word;

	if (bpf_core_field_exists(struct page, compound_head))
		word = BPF_CORE_READ(page, compound_head);
	else
		word = BPF_CORE_READ((struct page___compound_info *)page, compound_info);
	if (!(word & 1))
		return page;
	if (word >> 32 == 0xffffffff)
		return (struct page *)((unsigned long)page & word);
	return (struct page *)(word - 1);
}

static __always_inline unsigned long offset_of_alias(void)
{
	if (bpf_core_field_exists(struct dentry, d_u))
		return bpf_core_field_offset(struct dentry, d_u.d_alias);
	return bpf_core_field_offset(struct dentry___d_alias, d_alias);
}

/* Finds the file whose page a bio transfers; finds none for pages that do not belong to a file. */
static __always_inline void file_of_page(struct bio *bio, __u32 lies_on, struct found *found)
{
	struct page *page = first_page(BPF_CORE_READ(bio, bi_io_vec, bv_page));
	struct address_space *mapping = BPF_CORE_READ(page, mapping);

	/* The low bits mark anonymous and movable pages. */
	if (!mapping || ((unsigned long)mapping & 3))
		return;
	struct inode *inode = BPF_CORE_READ(mapping, host);

	/* Pages of other kinds keep something else in this field; an inode points back. */
	if (!inode || BPF_CORE_READ(inode, i_mapping) != mapping)
		return;
	found->inode = inode;
	if ((BPF_CORE_READ(inode, i_mode) & S_IFMT) == S_IFBLK)
		found->sure = FILE_DEVICE;
	else if (BPF_CORE_READ(inode, i_sb, s_dev) == lies_on)
		found->sure = FILE_PAGE;
	else
		found->sure = FILE_PAGE_ABOVE;
}

static __always_inline void file_of_bio(struct bio *bio, __u32 lies_on, struct found *found)
{
	found->inode = NULL;
	found->dentry = NULL;
	found->sure = FILE_NONE;
	if (!bio)
		return;
	if (cfg.iomap_end_io && (__u64)BPF_CORE_READ(bio, bi_end_io) == cfg.iomap_end_io) {
		struct iomap_dio *dio = BPF_CORE_READ(bio, bi_private);
		struct file *file = BPF_CORE_READ(dio, iocb, ki_filp);

		found->inode = BPF_CORE_READ(file, f_inode);
		found->dentry = BPF_CORE_READ(file, f_path.dentry);
		if (found->inode)
			found->sure = FILE_OPEN;
		return;
	}
	file_of_page(bio, lies_on, found);
}

/* Reports the path of a file that was not reported before. */
static __always_inline void tell_path(struct found *found, struct inode_key *key)
{
	__u8 one = 1;

	if (bpf_map_lookup_elem(&told, key))
		return;
	struct dentry *dentry = found->dentry;

	if (!dentry) {
		struct inode *inode = found->inode;
		struct hlist_node *alias = BPF_CORE_READ(inode, i_dentry.first);

		if (!alias)
			return;
		dentry = (struct dentry *)((char *)alias - offset_of_alias());
	}
	struct path_record *record = bpf_ringbuf_reserve(&paths, sizeof(*record), 0);

	if (!record)
		return;
	record->ino = key->ino;
	record->file_dev = key->dev;
	record->parts = 0;
	for (int i = 0; i < PARTS; i++) {
		struct dentry *parent = BPF_CORE_READ(dentry, d_parent);

		if (!parent || parent == dentry)
			break;
		bpf_probe_read_kernel_str(record->part[i], PART,
					  BPF_CORE_READ(dentry, d_name.name));
		record->parts = i + 1;
		dentry = parent;
	}
	bpf_map_update_elem(&told, key, &one, 0);
	bpf_ringbuf_submit(record, BPF_RB_NO_WAKEUP);
}

#endif
