/* Writes a minimum-cost flow problem in DIMACS form: a grid of streets, each node joined to its neighbours
 * and to a few far ones, with sources on one half of the nodes and sinks on the other.
 * A dear, wide arc joins every source to a sink, so that there is always a solution.
 *
 * Usage: network SIDE SEED > FILE     SIDE: nodes on a side of the grid
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

static void arc(int from, int to) {
    int capacity = 1 + below(60);
    int cost = 1 + below(1000);
    printf("a %d %d 0 %d %d\n", from + 1, to + 1, capacity, cost);
}

int main(int argc, char **argv) {
    int side = argc == 3 ? atoi(argv[1]) : 0;
    if (side < 2 || side > 4096) {
        fprintf(stderr, "usage: network SIDE SEED, with 2 <= SIDE <= 4096\n");
        return 2;
    }
    state = strtoull(argv[2], NULL, 10);
    int nodes = side * side;
    int half = nodes / 2;
    int far = 3;
    printf("p min %d %d\n", nodes, 4 * side * (side - 1) + far * nodes + half);
    for (int i = 0; i < half; i++) {
        int supply = 1 + below(40);
        printf("n %d %d\nn %d %d\n", i + 1, supply, half + i + 1, -supply);
    }
    for (int i = 0; i < half; i++) printf("a %d %d 0 1000 100000\n", i + 1, half + i + 1);
    for (int y = 0; y < side; y++) {
        for (int x = 0; x < side; x++) {
            int node = y * side + x;
            if (x + 1 < side) {
                arc(node, node + 1);
                arc(node + 1, node);
            }
            if (y + 1 < side) {
                arc(node, node + side);
                arc(node + side, node);
            }
            for (int i = 0; i < far; i++) arc(node, below(nodes));
        }
    }
    return fflush(stdout) == 0 ? 0 : 1;
}
