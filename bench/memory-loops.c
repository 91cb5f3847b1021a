// The loops of mbw, sysbench memory and assay's memory (instructions=scalar), as their compilers made them (objdump -d), in
// the same memory: the differences that bench/memory.sh finds and that are not here are those of pages and of the moment.
// A line for each pair: both in GB/s, and the ratio of assay's loop to the peer's with its 95 % interval over MAPS mappings
// (best of REPEATS alternating passes in each).    x86-64.    memory-loops MIB MAPS REPEATS
#define _GNU_SOURCE
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

static volatile uint64_t sink;

// mbw 1.2.2 -t1 and assay's copy: 5 instructions for a word.
static void copy_word(uint64_t *to, uint64_t *from, size_t words) {
    size_t i = 0;
    __asm__ volatile("1: mov (%1,%0,8),%%rdx; mov %%rdx,(%2,%0,8); inc %0; cmp %0,%3; jne 1b"
                     : "+r"(i) : "r"(from), "r"(to), "r"(words) : "rdx", "memory");
}

static void copy_libc(uint64_t *to, uint64_t *from, size_t words) { memcpy(to, from, 8 * words); }

// sysbench 1.0.20 read: 11 instructions for a line of 64 bytes, which discard the words.
static void read_only(uint64_t *at, uint64_t *unused, size_t words) {
    uint64_t *end = at + words;
    (void)unused;
    __asm__ volatile("1: mov (%0),%%rcx; mov 8(%0),%%rcx; mov 16(%0),%%rcx; mov 24(%0),%%rcx; mov 32(%0),%%rcx;"
                     "mov 40(%0),%%rcx; mov 48(%0),%%rcx; mov 56(%0),%%rcx; add $64,%0; cmp %0,%1; ja 1b"
                     : "+r"(at) : "r"(end) : "rcx", "memory");
}

// assay's read: 22 instructions for a line, which sum the words.
static void read_sum(uint64_t *at, uint64_t *unused, size_t words) {
    uint64_t a = 0, b = 0, c = 0, d = 0, left = words / 4, word;
    (void)unused;
    __asm__ volatile("1: mov (%0),%6; add %6,%1; mov 8(%0),%6; add %6,%2; mov 16(%0),%6; add %6,%3; mov 24(%0),%6;"
                     "add %6,%4; add $32,%0; dec %5; jne 1b"
                     : "+r"(at), "+r"(a), "+r"(b), "+r"(c), "+r"(d), "+r"(left), "=&r"(word) : : "memory");
    sink = a + b + c + d;
}

// A plain loop that reads a word at a time: 32 instructions for a line.
static void read_plain(uint64_t *at, uint64_t *unused, size_t words) {
    uint64_t *end = at + words;
    (void)unused;
    __asm__ volatile("1: mov (%0),%%rcx; add $8,%0; cmp %0,%1; ja 1b" : "+r"(at) : "r"(end) : "rcx", "memory");
}

// sysbench 1.0.20 write stores the distance to the end, eight words in a turn.
static void write_distance(uint64_t *at, uint64_t *unused, size_t words) {
    (void)unused;
    for (uint64_t *end = at + words; at < end; at += 8)
#pragma GCC unroll 8
        for (int i = 0; i < 8; i++) ((volatile uint64_t *)at)[i] = (uint64_t)(end - (at + i));
}

// assay's write: 4 instructions for a word.
static void write_word(uint64_t *at, uint64_t *unused, size_t words) {
    size_t i = 0;
    (void)unused;
    __asm__ volatile("1: mov %1,(%2,%0,8); inc %0; cmp %0,%3; jne 1b"
                     : "+r"(i) : "r"((uint64_t)3), "r"(at), "r"(words) : "memory");
}

typedef void loop(uint64_t *, uint64_t *, size_t);
// Offset of the arrays in their pages, and additional distance between them, in bytes: mbw's come from malloc, assay's are
// aligned to a page.
static const struct { const char *name; loop *peer, *assay; size_t offset, distance; } rows[] = {
    {"memcpy, mbw's and assay's places", copy_libc, copy_libc, 16, 4096},
    {"copy, mbw's and assay's places", copy_word, copy_word, 16, 4096},
    {"read: sysbench's and assay's loop", read_only, read_sum, 0, 0},
    {"read: sysbench's and a plain loop", read_only, read_plain, 0, 0},
    {"write: sysbench's and assay's loop", write_distance, write_word, 0, 0},
};
enum { ROWS = sizeof rows / sizeof *rows };

static double pass(loop *of, char *memory, size_t bytes, size_t offset, size_t distance) {
    uint64_t *a = (void *)(memory + offset), *b = (void *)(memory + offset + bytes + distance);
    struct timespec from, to;
    clock_gettime(CLOCK_MONOTONIC, &from);
    of(a, b, bytes / 8);
    clock_gettime(CLOCK_MONOTONIC, &to);
    return bytes / ((to.tv_sec - from.tv_sec) + (to.tv_nsec - from.tv_nsec) / 1e9) / 1e9;
}

int main(int argc, char **argv) {
    if (argc != 4) return fprintf(stderr, "usage: memory-loops MIB MAPS REPEATS\n"), 2;
    size_t bytes = (size_t)atoi(argv[1]) << 20, length = 2 * bytes + (4 << 20);
    int maps = atoi(argv[2]), repeats = atoi(argv[3]);
    double sum[ROWS] = {0}, squares[ROWS] = {0}, rate[ROWS][2] = {{0}};
    for (int map = 0; map < maps; map++) {
        char *start = mmap(NULL, length, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (start == MAP_FAILED) return perror("mmap"), 1;
        char *memory = (char *)(((uintptr_t)start + (2 << 20) - 1) & ~(uintptr_t)((2 << 20) - 1));
        memset(memory, 1, 2 * bytes + (1 << 20));
        for (int r = 0; r < ROWS; r++) {
            double best[2] = {0, 0};
            for (int i = 0; i < 2 * repeats; i++) {
                int ours = (i + map) % 2;
                double now = pass(ours ? rows[r].assay : rows[r].peer, memory, bytes, ours ? 0 : rows[r].offset,
                                  ours ? 0 : rows[r].distance);
                if (now > best[ours]) best[ours] = now;
            }
            double ratio = log(best[1] / best[0]);
            sum[r] += ratio, squares[r] += ratio * ratio;
            for (int s = 0; s < 2; s++) rate[r][s] += best[s] / maps;
        }
        munmap(start, length);
    }
    for (int r = 0; r < ROWS; r++) {
        double mean = sum[r] / maps, variance = (squares[r] / maps - mean * mean) * maps / (maps - 1);
        double half = 2.2 * sqrt(variance > 0 ? variance / maps : 0); // Student's t of 12 mappings
        printf("%-36s %10.2f %11.2f   %.3f (%.3f..%.3f)\n", rows[r].name, rate[r][1], rate[r][0], exp(mean),
               exp(mean - half), exp(mean + half));
    }
}
