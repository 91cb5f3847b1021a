/* Writes a C program of many functions (arithmetic, loops, switches, structures, strings, tables) that
 * includes no header.
 *
 * Usage: program FUNCTIONS SEED > FILE
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

static void expression(int depth) {
    static const char *const names[] = {"a", "b", "c", "d", "s.x", "s.y", "t[a & 7]", "t[b & 7]"};
    static const char *const operators[] = {"+", "-", "*", "^", "&", "|", "<", "==", "<<", ">>"};
    int kind = depth == 0 ? below(2) : below(6);
    if (kind == 0) printf("%d", below(1000));
    else if (kind == 1) printf("%s", names[below(8)]);
    else {
        int op = below(10);
        printf("(");
        expression(depth - 1);
        printf(" %s ", operators[op]);
        if (op >= 8) printf("%d", below(16));
        else expression(depth - 1);
        printf(")");
    }
}

static void statement(int function, int depth) {
    static const char *const targets[] = {"a", "b", "c", "d", "s.x", "s.y", "t[a & 7]", "t[3]"};
    int kind = depth == 0 ? 0 : below(6);
    if (kind <= 1) {
        printf("%s = ", targets[below(8)]);
        expression(4);
        printf(";\n");
    } else if (kind == 2) {
        printf("if (");
        expression(3);
        printf(") {\n");
        statement(function, depth - 1);
        printf("} else {\n");
        statement(function, depth - 1);
        printf("}\n");
    } else if (kind == 3) {
        printf("for (int i%d = 0; i%d < %d; i%d++) {\n", depth, depth, 2 + below(30), depth);
        statement(function, depth - 1);
        printf("}\n");
    } else if (kind == 4) {
        int cases = 2 + below(6);
        printf("switch (a & 15) {\n");
        for (int i = 0; i < cases; i++) {
            printf("case %d:\n", i * 2);
            statement(function, depth - 1);
            printf("break;\n");
        }
        printf("default: b++;\n}\n");
    } else if (function > 0) {
        /* One after the other: the order in which a call's arguments are computed is the compiler's. */
        int mask = below(64);
        int callee = below(function);
        printf("c += f%d(a, b & %d);\n", callee, mask);
    } else {
        printf("a = -a;\n");
    }
}

int main(int argc, char **argv) {
    if (argc != 3) {
        fprintf(stderr, "usage: program FUNCTIONS SEED\n");
        return 2;
    }
    int functions = atoi(argv[1]);
    state = strtoull(argv[2], NULL, 10);
    printf("struct pair { int x, y; };\nstatic int t[8] = { 3, 1, 4, 1, 5, 9, 2, 6 };\n");
    for (int f = 0; f < functions; f++) {
        printf("/* number %d */\nstatic const char text%d[] = \"the text of %d\";\n", f, f, f);
        printf("int f%d(int a, int b) {\nint c = text%d[a & 7], d = %d;\n", f, f, below(100));
        printf("struct pair s = { a, b };\n");
        int statements = 4 + below(12);
        for (int i = 0; i < statements; i++) statement(f, 3);
        printf("return a + b + c + d + s.x + s.y;\n}\n");
    }
    return fflush(stdout) == 0 ? 0 : 1;
}
