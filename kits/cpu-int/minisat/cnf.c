/* Writes a random satisfiability problem in DIMACS form: clauses of three different variables, each
 * negated or not by a toss. Near 4.26 clauses a variable such problems are hard, and some have no solution.
 *
 * Usage: cnf VARIABLES CLAUSES SEED > FILE
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

int main(int argc, char **argv) {
    if (argc != 4) {
        fprintf(stderr, "usage: cnf VARIABLES CLAUSES SEED\n");
        return 2;
    }
    int variables = atoi(argv[1]);
    int clauses = atoi(argv[2]);
    state = strtoull(argv[3], NULL, 10);
    if (variables < 3) {
        fprintf(stderr, "cnf: a clause has three variables\n");
        return 2;
    }
    printf("p cnf %d %d\n", variables, clauses);
    for (int i = 0; i < clauses; i++) {
        int pick[3];
        for (int j = 0; j < 3;) {
            pick[j] = 1 + (int)(next() % (uint64_t)variables);
            int k = 0;
            while (k < j && pick[k] != pick[j]) k++;
            if (k == j) j++;
        }
        for (int j = 0; j < 3; j++) {
            int sign = (next() >> 63) ? -1 : 1;
            printf("%d ", sign * pick[j]);
        }
        printf("0\n");
    }
    return fflush(stdout) == 0 ? 0 : 1;
}
