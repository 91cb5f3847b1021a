/* Encodes a WAV file with LAME, or decodes an MP3 file and says how far it is from the WAV file.
 *
 * Usage: encode WAV MP3           encodes with variable and then again with constant bit rate, in one file each:
 *                                 MP3.vbr and MP3.cbr
 *        encode -c WAV MP3        writes for both the ratio of signal to noise in dB, for 16 pieces of each
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lame.h"

enum { RATE = 44100, CHUNK = 8192, PIECES = 16 };

static short *samples;
static int frames;

static int fail(const char *what, const char *path) {
    fprintf(stderr, "encode: %s %s\n", what, path);
    return 1;
}

static int read_wav(const char *path) {
    FILE *file = fopen(path, "rb");
    unsigned char head[44];
    if (!file || fread(head, 1, 44, file) != 44) return fail("cannot read", path);
    unsigned bytes = head[40] | head[41] << 8 | head[42] << 16 | (unsigned)head[43] << 24;
    samples = malloc(bytes);
    if (!samples || fread(samples, 1, bytes, file) != bytes) return fail("cannot read", path);
    frames = (int)(bytes / 4);
    fclose(file);
    return 0;
}

static int encode(const char *path, int variable) {
    static unsigned char out[CHUNK * 5 / 4 + 7200];
    FILE *file = fopen(path, "wb");
    lame_t lame = lame_init();
    if (!file || !lame) return fail("cannot write", path);
    lame_set_in_samplerate(lame, RATE);
    lame_set_num_channels(lame, 2);
    lame_set_quality(lame, 0);
    if (variable) {
        lame_set_VBR(lame, vbr_mtrh);
        lame_set_VBR_quality(lame, 2);
    } else {
        lame_set_brate(lame, 192);
    }
    lame_set_bWriteVbrTag(lame, 0);
    if (lame_init_params(lame) < 0) return fail("LAME refuses the settings of", path);
    for (int at = 0; at < frames; at += CHUNK) {
        int n = frames - at < CHUNK ? frames - at : CHUNK;
        int size = lame_encode_buffer_interleaved(lame, samples + 2 * at, n, out, sizeof out);
        if (size < 0 || fwrite(out, 1, (size_t)size, file) != (size_t)size) return fail("cannot write", path);
    }
    int size = lame_encode_flush(lame, out, sizeof out);
    if (size < 0 || fwrite(out, 1, (size_t)size, file) != (size_t)size) return fail("cannot write", path);
    lame_close(lame);
    return fclose(file) == 0 ? 0 : fail("cannot write", path);
}

/* Decodes and compares; a decoder of LAME's files is late by 529 samples, and the encoder by 576. */
static int check(const char *path) {
    FILE *file = fopen(path, "rb");
    hip_t hip = hip_decode_init();
    if (!file || !hip) return fail("cannot read", path);
    static double signal[PIECES], noise[PIECES];
    memset(signal, 0, sizeof signal);
    memset(noise, 0, sizeof noise);
    static unsigned char in[4096];
    static short left[1152 * 64], right[1152 * 64];
    long at = -(529 + 576);
    size_t size;
    while ((size = fread(in, 1, sizeof in, file)) > 0) {
        int n = hip_decode(hip, in, size, left, right);
        if (n < 0) return fail("cannot decode", path);
        for (int i = 0; i < n; i++, at++) {
            if (at < 0 || at >= frames) continue;
            int piece = (int)(at * PIECES / frames);
            double l = samples[2 * at], r = samples[2 * at + 1];
            signal[piece] += l * l + r * r;
            noise[piece] += (l - left[i]) * (l - left[i]) + (r - right[i]) * (r - right[i]);
        }
    }
    /* The decoder keeps the last frames of 1152 samples to itself. */
    if (at + RATE / 5 < frames) return fail("there is music missing in", path);
    hip_decode_exit(hip);
    fclose(file);
    for (int i = 0; i < PIECES; i++) printf("%d %.4f\n", i, 10 * log10(signal[i] / noise[i]));
    return 0;
}

int main(int argc, char **argv) {
    int checking = argc == 4 && strcmp(argv[1], "-c") == 0;
    if (argc != 3 && !checking) {
        fprintf(stderr, "usage: encode [-c] WAV MP3\n");
        return 2;
    }
    const char *const *names = (const char *const *)argv + 1 + checking;
    if (read_wav(names[0]) != 0) return 1;
    for (int variable = 0; variable < 2; variable++) {
        char path[4096];
        snprintf(path, sizeof path, "%s.%s", names[1], variable ? "vbr" : "cbr");
        if ((checking ? check(path) : encode(path, variable)) != 0) return 1;
    }
    return 0;
}
