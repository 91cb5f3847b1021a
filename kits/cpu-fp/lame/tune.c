/* Writes a stereo WAV file of 16 bits at 44.1 kHz: notes with overtones that swell and fade, a beat of
 * noise, and a voice that glides. Made from a table of one sine wave in whole numbers, so that every
 * compiler makes the same bytes.
 *
 * Usage: tune SECONDS SEED > FILE
 */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { RATE = 44100, TABLE = 4096, VOICES = 6, OVERTONES = 5 };

static uint64_t state;

/* SplitMix64 (Steele, Lea, Flood 2014). */
static uint64_t next(void) {
    uint64_t z = (state += 0x9E3779B97F4A7C15u);
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
}

static int below(int n) { return (int)((next() >> 32) % (uint64_t)n); }

static void put(uint32_t value, int bytes) {
    for (int i = 0; i < bytes; i++) putchar((int)(value >> (8 * i) & 255));
}

static int clip(int v) { return v > 32767 ? 32767 : v < -32768 ? -32768 : v; }

struct voice {
    uint32_t phase[OVERTONES];
    uint32_t step;
    int left, right, length, age;
};

int main(int argc, char **argv) {
    if (argc != 3) {
        fprintf(stderr, "usage: tune SECONDS SEED\n");
        return 2;
    }
    uint32_t samples = (uint32_t)atoi(argv[1]) * RATE;
    state = strtoull(argv[2], NULL, 10);
    static int sine[TABLE];
    /* Rounding to whole numbers hides the last bits of the library's sine. */
    for (int i = 0; i < TABLE; i++) sine[i] = (int)lround(4096 * sin(2 * 3.14159265358979323846 * i / TABLE));
    fputs("RIFF", stdout);
    put(36 + samples * 4, 4);
    fputs("WAVEfmt ", stdout);
    put(16, 4);
    put(1, 2);
    put(2, 2);
    put(RATE, 4);
    put(RATE * 4, 4);
    put(4, 2);
    put(16, 2);
    fputs("data", stdout);
    put(samples * 4, 4);
    static struct voice voices[VOICES];
    int beat = 0, hiss = 0;
    uint32_t glide = 0;
    for (uint32_t t = 0; t < samples; t++) {
        int left = 0, right = 0;
        for (int v = 0; v < VOICES; v++) {
            struct voice *voice = &voices[v];
            if (voice->age == voice->length) {
                int semitone = below(36);
                uint32_t step = 10719442; /* 110 Hz in parts of 2^32 a sample */
                for (int i = 0; i < semitone; i++) step = (uint32_t)((uint64_t)step * 69433 >> 16);
                voice->step = step;
                voice->length = RATE / 8 + below(RATE);
                voice->age = 0;
                voice->left = below(256);
                voice->right = 256 - voice->left;
            }
            int sum = 0;
            for (int o = 0; o < OVERTONES; o++) {
                voice->phase[o] += voice->step * (uint32_t)(o + 1);
                sum += sine[voice->phase[o] >> 20] / (o + 1);
            }
            int rest = voice->length - voice->age;
            int loud = voice->age < 400 ? voice->age : rest < 400 ? rest : 400;
            voice->age++;
            left += sum * loud / 400 * voice->left / 256;
            right += sum * loud / 400 * voice->right / 256;
        }
        if (beat == 0) {
            hiss = 4096;
            beat = RATE / 4 + below(RATE / 4);
        }
        beat--;
        int noise = (below(8192) - 4096) * hiss / 4096;
        hiss -= hiss / 256 + (hiss > 0);
        glide += 20000000 + (uint32_t)sine[t / 64 % TABLE] * 2000;
        int voice = sine[glide >> 20];
        put((uint32_t)clip(left + noise + voice), 2);
        put((uint32_t)clip(right + noise - voice / 2), 2);
    }
    return fflush(stdout) == 0 ? 0 : 1;
}
