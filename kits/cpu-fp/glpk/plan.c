/* Writes a linear program in free MPS form: which factory makes what in which month, from which
 * stocks, and ships it where. Materials, machine hours and demand tie the months together.
 *
 * Usage: plan FACTORIES PRODUCTS MONTHS SEED > FILE
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

static uint64_t state;

/* SplitMix64 (Steele, Lea, Flood 2014). */
static uint64_t next(void) {
    uint64_t z = (state += 0x9E3779B97F4A7C15u);
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
}

static int below(int n) { return (int)((next() >> 32) % (uint64_t)n); }

int main(int argc, char **argv) {
    if (argc != 5) {
        fprintf(stderr, "usage: plan FACTORIES PRODUCTS MONTHS SEED\n");
        return 2;
    }
    int factories = atoi(argv[1]), products = atoi(argv[2]), months = atoi(argv[3]);
    state = strtoull(argv[4], NULL, 10);
    printf("NAME PLAN\nROWS\n N COST\n");
    for (int t = 0; t < months; t++) {
        for (int f = 0; f < factories; f++) {
            printf(" L H%d_%d\n L M%d_%d\n", f, t, f, t);
            for (int p = 0; p < products; p++) printf(" E S%d_%d_%d\n", f, p, t);
        }
        for (int p = 0; p < products; p++) printf(" G D%d_%d\n", p, t);
    }
    printf("COLUMNS\n");
    for (int f = 0; f < factories; f++) {
        for (int p = 0; p < products; p++) {
            int hours = 5 + below(40), material = 3 + below(30);
            for (int t = 0; t < months; t++) {
                /* Made; kept to the next month; shipped; and bought elsewhere, dear, so that every plan can be kept. */
                printf(" X%d_%d_%d COST %d H%d_%d %d\n", f, p, t, 10 + below(90), f, t, hours);
                printf(" X%d_%d_%d M%d_%d %d S%d_%d_%d 1\n", f, p, t, f, t, material, f, p, t);
                printf(" K%d_%d_%d COST %d S%d_%d_%d -1\n", f, p, t, 1 + below(5), f, p, t);
                if (t + 1 < months) printf(" K%d_%d_%d S%d_%d_%d 1\n", f, p, t, f, p, t + 1);
                printf(" Y%d_%d_%d COST %d S%d_%d_%d -1\n", f, p, t, 1 + below(20), f, p, t);
                printf(" Y%d_%d_%d D%d_%d 1\n", f, p, t, p, t);
                if (f == 0) printf(" B%d_%d COST %d D%d_%d 1\n", p, t, 800 + below(400), p, t);
            }
        }
    }
    printf("RHS\n");
    for (int t = 0; t < months; t++) {
        for (int f = 0; f < factories; f++) {
            printf(" RHS H%d_%d %d\n", f, t, products * (100 + below(200)));
            printf(" RHS M%d_%d %d\n", f, t, products * (80 + below(150)));
        }
        for (int p = 0; p < products; p++) printf(" RHS D%d_%d %d\n", p, t, factories * (3 + below(12)));
    }
    printf("ENDATA\n");
    return fflush(stdout) == 0 ? 0 : 1;
}
