/* Factors numbers with Shor's algorithm on libquantum's simulated quantum computer.
 *
 * Usage: factor INPUT OUTPUT     lines of INPUT: NUMBER BASE; the base has no factor in common
 *
 * Each line is tried until a measurement gives the factors. Measurements are drawn with rand() of the C
 * library from a fixed seed, so every run makes the same ones. What is written is the number, its
 * factors and the multiplicative order that was found, which no rounding can change.
 */
#include <stdio.h>
#include <stdlib.h>

#include "quantum.h"

static int gcd(int a, int b) { return b ? gcd(b, a % b) : a; }

static int power(long long base, int exponent, int modulus) {
    long long result = 1;
    for (; exponent > 0; exponent >>= 1) {
        if (exponent & 1) result = result * base % modulus;
        base = base * base % modulus;
    }
    return (int)result;
}

/* One run of the algorithm: the measured fraction's denominator, or 0 if it says nothing. */
static int period(int number, int base, int width, int swidth) {
    quantum_reg reg = quantum_new_qureg(0, width);
    for (int i = 0; i < width; i++) quantum_hadamard(i, &reg);
    quantum_addscratch(3 * swidth + 2, &reg);
    quantum_exp_mod_n(number, base, width, swidth, &reg);
    for (int i = 0; i < 3 * swidth + 2; i++) quantum_bmeasure(0, &reg);
    quantum_qft(width, &reg);
    for (int i = 0; i < width / 2; i++) {
        quantum_cnot(i, width - i - 1, &reg);
        quantum_cnot(width - i - 1, i, &reg);
        quantum_cnot(i, width - i - 1, &reg);
    }
    int numerator = (int)quantum_measure(reg);
    int denominator = 1 << width;
    quantum_delete_qureg(&reg);
    if (numerator <= 0) return 0;
    quantum_frac_approx(&numerator, &denominator, width);
    return denominator;
}

static int factor(FILE *out, int number, int base) {
    int width = quantum_getwidth(number * number);
    int swidth = quantum_getwidth(number);
    for (int attempt = 0; attempt < 50; attempt++) {
        int q = period(number, base, width, swidth);
        /* The denominator may be a part of the order: try its first multiples. */
        for (int order = q; q > 0 && order < number && order <= 8 * q; order += q) {
            if (power(base, order, number) != 1 || order % 2) continue;
            int root = power(base, order / 2, number);
            int a = gcd(root + 1, number);
            int b = gcd(root - 1, number);
            int f = a > b ? a : b;
            if (f <= 1 || f >= number) continue;
            int least = order;
            for (int d = 1; d < order; d++)
                if (order % d == 0 && power(base, d, number) == 1 && d < least) least = d;
            int other = number / f;
            fprintf(out, "%d = %d * %d, order of %d is %d\n", number, f < other ? f : other,
                    f < other ? other : f, base, least);
            return 0;
        }
    }
    fprintf(stderr, "factor: no factors of %d in 50 attempts\n", number);
    return 1;
}

int main(int argc, char **argv) {
    if (argc != 3) {
        fprintf(stderr, "usage: factor INPUT OUTPUT\n");
        return 2;
    }
    FILE *in = fopen(argv[1], "r");
    FILE *out = fopen(argv[2], "w");
    if (!in || !out) {
        fprintf(stderr, "factor: %s cannot be read or %s cannot be written\n", argv[1], argv[2]);
        return 1;
    }
    srand(1);
    int number, base;
    while (fscanf(in, "%d %d", &number, &base) == 2)
        if (factor(out, number, base) != 0) return 1;
    return fclose(out) == 0 ? 0 : 1;
}
