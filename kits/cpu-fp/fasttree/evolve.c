/* Writes an alignment of DNA that grew on a random tree: at each step a sequence splits in two,
 * and both copies change here and there, at some sites more often than at others.
 *
 * Usage: evolve SEQUENCES SITES SEED > FILE      FASTA
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint64_t state;

/* SplitMix64 (Steele, Lea, Flood 2014). */
static uint64_t next(void) {
    uint64_t z = (state += 0x9E3779B97F4A7C15u);
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
}

static int below(int n) { return (int)((next() >> 32) % (uint64_t)n); }

static const char bases[] = "ACGT";

/* Changes about RATE of 10000 sites; a change within A-G or C-T is twice as likely as another. */
static void change(char *sequence, int sites, int rate) {
    int changes = sites * rate / 10000 + below(3);
    for (int i = 0; i < changes; i++) {
        int first = below(sites);
        int second = below(sites);
        /* The nearer to the end, the faster. */
        int site = first > second ? first : second;
        int from = (int)(strchr(bases, sequence[site]) - bases);
        sequence[site] = bases[below(2) ? from ^ 2 : below(4)];
    }
}

int main(int argc, char **argv) {
    int sequences = argc == 4 ? atoi(argv[1]) : 0;
    int sites = argc == 4 ? atoi(argv[2]) : 0;
    char **all = sequences > 1 && sites > 1 ? malloc(sizeof *all * (size_t)sequences) : NULL;
    if (!all) {
        fprintf(stderr, "usage: evolve SEQUENCES SITES SEED\n");
        return 2;
    }
    state = strtoull(argv[3], NULL, 10);
    all[0] = malloc((size_t)sites + 1);
    if (!all[0]) return 1;
    for (int i = 0; i < sites; i++) all[0][i] = bases[below(4)];
    all[0][sites] = 0;
    for (int n = 1; n < sequences; n++) {
        int parent = below(n);
        all[n] = malloc((size_t)sites + 1);
        if (!all[n]) return 1;
        memcpy(all[n], all[parent], (size_t)sites + 1);
        change(all[n], sites, 20 + below(300));
        change(all[parent], sites, 20 + below(300));
    }
    for (int n = 0; n < sequences; n++) printf(">s%d\n%s\n", n, all[n]);
    return fflush(stdout) == 0 ? 0 : 1;
}
