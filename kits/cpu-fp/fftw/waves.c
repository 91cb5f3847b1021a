/* Transforms a random field of three dimensions to frequencies, turns every wave by its phase in time, and
 * transforms back, step by step: how waves on a lattice move. Sizes are powers of two, and not.
 *
 * Usage: waves INPUT OUTPUT     lines of INPUT: NX NY NZ STEPS SEED
 *
 * Plans are estimated, never measured, so that the same work is done every time. Since each turn keeps the
 * length of every wave, the field's energy must stay; that and some of its values are written.
 */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <fftw3.h>

static uint64_t state;

/* SplitMix64 (Steele, Lea, Flood 2014), to [-0.5, 0.5). */
static double draw(void) {
    uint64_t z = (state += 0x9E3779B97F4A7C15u);
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    z ^= z >> 31;
    return (double)(z >> 11) / 9007199254740992.0 - 0.5;
}

static double energy(fftw_complex *field, int n) {
    double sum = 0;
    for (int i = 0; i < n; i++) sum += field[i][0] * field[i][0] + field[i][1] * field[i][1];
    return sum;
}

/* The phase by which a wave with these numbers turns in a step: a lattice's dispersion. */
static double phase(int i, int n) {
    double s = sin(3.14159265358979323846 * i / n);
    return 0.3 * s * s;
}

static int run(FILE *out, int nx, int ny, int nz, int steps) {
    int n = nx * ny * nz;
    fftw_complex *field = fftw_alloc_complex((size_t)n);
    fftw_complex *waves = fftw_alloc_complex((size_t)n);
    double *cosine = malloc(sizeof *cosine * (size_t)n);
    double *sine = malloc(sizeof *sine * (size_t)n);
    if (!field || !waves || !cosine || !sine) {
        fprintf(stderr, "waves: no memory for %d points\n", n);
        return 1;
    }
    fftw_plan forth = fftw_plan_dft_3d(nx, ny, nz, field, waves, FFTW_FORWARD, FFTW_ESTIMATE);
    fftw_plan back = fftw_plan_dft_3d(nx, ny, nz, waves, field, FFTW_BACKWARD, FFTW_ESTIMATE);
    for (int i = 0; i < n; i++) {
        field[i][0] = draw();
        field[i][1] = draw();
    }
    for (int x = 0; x < nx; x++)
        for (int y = 0; y < ny; y++)
            for (int z = 0; z < nz; z++) {
                double p = phase(x, nx) + phase(y, ny) + phase(z, nz);
                int i = (x * ny + y) * nz + z;
                cosine[i] = cos(p) / n;
                sine[i] = sin(p) / n;
            }
    fprintf(out, "%d x %d x %d before %.10e\n", nx, ny, nz, energy(field, n));
    for (int step = 0; step < steps; step++) {
        fftw_execute(forth);
        for (int i = 0; i < n; i++) {
            double re = waves[i][0] * cosine[i] - waves[i][1] * sine[i];
            double im = waves[i][0] * sine[i] + waves[i][1] * cosine[i];
            waves[i][0] = re;
            waves[i][1] = im;
        }
        fftw_execute(back);
    }
    fprintf(out, "%d x %d x %d after %.10e\n", nx, ny, nz, energy(field, n));
    for (int i = 0; i < n; i += n / 7) fprintf(out, "%.10e %.10e\n", field[i][0], field[i][1]);
    fftw_destroy_plan(forth);
    fftw_destroy_plan(back);
    fftw_free(field);
    fftw_free(waves);
    free(cosine);
    free(sine);
    return 0;
}

int main(int argc, char **argv) {
    FILE *in = argc == 3 ? fopen(argv[1], "r") : NULL;
    FILE *out = in ? fopen(argv[2], "w") : NULL;
    if (!out) {
        fprintf(stderr, "usage: waves INPUT OUTPUT\n");
        return 2;
    }
    int nx, ny, nz, steps;
    while (fscanf(in, "%d %d %d %d %lu", &nx, &ny, &nz, &steps, &state) == 5)
        if (run(out, nx, ny, nz, steps) != 0) return 1;
    return fclose(out) == 0 ? 0 : 1;
}
