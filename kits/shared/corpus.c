/* Writes a corpus that is the same for the same seed and size: blocks of text, records, rows of
 * numbers and noise, in turns that the seed decides. Whole numbers only, and one
 * draw a statement, so that every compiler makes the same bytes.
 *
 * Usage: corpus SEED SIZE FILE      SIZE in bytes
 */
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCK = 32768, WORDS = 4096, WORD_MAX = 12, PHRASES = 8192, PHRASE_WORDS = 5 };

static uint64_t state;

/* SplitMix64 (Steele, Lea, Flood 2014). */
static uint64_t next(void) {
    uint64_t z = (state += 0x9E3779B97F4A7C15u);
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
}

/* Below n. The bias of the remainder does not matter here. */
static uint32_t below(uint32_t n) { return (uint32_t)((next() >> 32) % n); }

static char words[WORDS][WORD_MAX + 1];

static void make_words(void) {
    static const char letters[] = "eeeeetttaaaooiinnsshhrrddlucmwfgypbvk";
    for (int i = 0; i < WORDS; i++) {
        uint32_t length = 2 + below(4);
        length += below(WORD_MAX - 4);
        for (uint32_t j = 0; j < length; j++) words[i][j] = letters[below(sizeof letters - 1)];
    }
}

/* Common ones come first: the product of two uniform numbers falls off much as natural text does. */
static uint32_t common(uint32_t n) { return (uint32_t)((uint64_t)below(n) * below(n) / n); }

static const char *word(void) { return words[common(WORDS)]; }

static uint16_t phrases[PHRASES][PHRASE_WORDS];

static void make_phrases(void) {
    for (int i = 0; i < PHRASES; i++)
        for (int j = 0; j < PHRASE_WORDS; j++) phrases[i][j] = (uint16_t)common(WORDS);
}

static unsigned char block[BLOCK + 256];

/* Sentences of single words and, as often, of phrases that come back far away. */
static void text(void) {
    size_t at = 0;
    uint32_t left = 5 + below(12);
    uint32_t turn = PHRASE_WORDS;
    uint32_t phrase = 0;
    while (at < BLOCK) {
        if (turn == PHRASE_WORDS && below(PHRASE_WORDS + 1) == 0) {
            phrase = common(PHRASES);
            turn = 0;
        }
        const char *w = turn < PHRASE_WORDS ? words[phrases[phrase][turn++]] : word();
        size_t n = strlen(w);
        memcpy(block + at, w, n);
        at += n;
        if (--left == 0) {
            block[at++] = '.';
            left = 5 + below(12);
            if (below(6) == 0) block[at++] = '\n';
        }
        block[at++] = ' ';
    }
}

/* Lines of a log: fields that repeat, counters that rise, numbers that differ. */
static void records(void) {
    size_t at = 0;
    uint32_t id = below(1000000);
    uint32_t clock = below(1u << 30);
    while (at < BLOCK) {
        clock += below(50);
        id++;
        const char *host = word();
        uint32_t number = below(16);
        uint32_t status = below(20) ? 200 : 404;
        uint32_t bytes = below(65536);
        at += (size_t)sprintf((char *)block + at, "%010u id=%06u host=%s%u status=%u bytes=%u\n", clock,
                              id, host, number, status, bytes);
    }
}

/* Sixteen-bit samples of a walk: neighbours are alike. */
static void samples(void) {
    uint32_t value = below(65536);
    for (size_t at = 0; at < BLOCK; at += 2) {
        value = (value + below(33) + 65536 - 16) & 65535;
        block[at] = (unsigned char)(value & 255);
        block[at + 1] = (unsigned char)(value >> 8);
    }
}

static void noise(void) {
    for (size_t at = 0; at < BLOCK; at++) block[at] = (unsigned char)(next() >> 56);
}

int main(int argc, char **argv) {
    if (argc != 4) {
        fprintf(stderr, "usage: corpus SEED SIZE FILE\n");
        return 2;
    }
    state = strtoull(argv[1], NULL, 10);
    uint64_t size = strtoull(argv[2], NULL, 10);
    FILE *file = fopen(argv[3], "wb");
    if (!file) {
        fprintf(stderr, "corpus: open %s: %s\n", argv[3], strerror(errno));
        return 1;
    }
    make_words();
    make_phrases();
    while (size > 0) {
        uint32_t turn = below(20);
        if (turn < 10) text();
        else if (turn < 15) records();
        else if (turn < 18) samples();
        else noise();
        size_t n = size < BLOCK ? (size_t)size : BLOCK;
        if (fwrite(block, 1, n, file) != n) {
            fprintf(stderr, "corpus: write %s: %s\n", argv[3], strerror(errno));
            return 1;
        }
        size -= n;
    }
    if (fclose(file) != 0) {
        fprintf(stderr, "corpus: write %s: %s\n", argv[3], strerror(errno));
        return 1;
    }
    return 0;
}
