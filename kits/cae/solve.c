/* Solves the equations of an elastic block with MUMPS over MPI, its factors in memory or in files.
 *
 *   solve NX NY NZ LX LY LZ SOLVES OUT_OF_CORE SCRATCH SEED FAULT
 *
 * The block has NX x NY x NZ hexahedra of eight nodes and is held at x = 0. Each process assembles the rows
 * of its slab. The matrix is factored once; then SOLVES systems are solved whose solutions are known (from
 * SEED), so that each can be checked: by its residual, and by its distance from what is known. With
 * OUT_OF_CORE = 1 the factors are written to files in SCRATCH and read in again for each solve. FAULT = 1
 * changes one number of each answer before it is checked; with FAULT = 2 the last process ends by SIGKILL
 * after the factorization, and with 3 it never goes on from there.
 *
 * Prints `name value` lines on standard output. Exit code 1, with a sentence, when MUMPS fails. */
#include <math.h>
#include <mpi.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#ifdef __linux__
#include <sys/prctl.h>
#endif

#include "dmumps_c.h"

#define CONTROL(number) icntl[(number) - 1]

static const double YOUNG = 210e3, POISSON = 0.3;
static int nx, ny, nz, rank, processes;
static double element[24][24];

static void fail(const char *what) {
    fprintf(stderr, "solve: %s\n", what);
    fflush(stderr);
    MPI_Abort(MPI_COMM_WORLD, 1);
    exit(1);
}

static void *need(size_t count, size_t size) {
    void *p = calloc(count ? count : 1, size);
    if (!p)
        fail("there is not enough memory");
    return p;
}

/* Corner `a` of an element lies at these steps from its first one. */
static int step(int a, int axis) { return (a >> axis) & 1; }

/* The stiffness of one element of the size h, by 2 x 2 x 2 points of Gauss. */
static void make_element(const double h[3]) {
    const double lame = YOUNG * POISSON / ((1 + POISSON) * (1 - 2 * POISSON));
    const double shear = YOUNG / (2 * (1 + POISSON)), g = 1 / sqrt(3.0);
    for (int point = 0; point < 8; point++) {
        double at[3], grad[8][3];
        for (int x = 0; x < 3; x++)
            at[x] = step(point, x) ? g : -g;
        for (int a = 0; a < 8; a++)
            for (int x = 0; x < 3; x++) {
                double value = 1;
                for (int y = 0; y < 3; y++) {
                    double sign = step(a, y) ? 1 : -1;
                    value *= y == x ? sign / h[y] : (1 + sign * at[y]) / 2;
                }
                grad[a][x] = value;
            }
        const double weight = h[0] * h[1] * h[2] / 8;
        for (int a = 0; a < 8; a++)
            for (int b = 0; b < 8; b++) {
                double dot = 0;
                for (int x = 0; x < 3; x++)
                    dot += grad[a][x] * grad[b][x];
                for (int i = 0; i < 3; i++)
                    for (int j = 0; j < 3; j++)
                        element[3 * a + i][3 * b + j] +=
                            weight * (lame * grad[a][i] * grad[b][j] + shear * grad[a][j] * grad[b][i] +
                                      (i == j ? shear * dot : 0));
            }
    }
}

/* The first of the three equations of a node, from 0; nodes of the plane i = 0 have none. */
static int64_t equation(int i, int j, int k) { return 3 * (((int64_t)(i - 1) * (ny + 1) + j) * (nz + 1) + k); }

/* Sums the blocks of three rows: those of node (i, j, k), for itself and its 26 neighbours. */
static void row_blocks(int i, int j, int k, double blocks[27][9]) {
    memset(blocks, 0, 27 * 9 * sizeof(double));
    for (int a = 0; a < 8; a++) { /* which corner of an element the node is */
        int e[3] = {i - step(a, 0), j - step(a, 1), k - step(a, 2)};
        if (e[0] < 0 || e[1] < 0 || e[2] < 0 || e[0] >= nx || e[1] >= ny || e[2] >= nz)
            continue;
        for (int b = 0; b < 8; b++) {
            int d[3];
            for (int x = 0; x < 3; x++)
                d[x] = step(b, x) - step(a, x) + 1;
            double *block = blocks[(d[0] * 3 + d[1]) * 3 + d[2]];
            for (int r = 0; r < 3; r++)
                for (int c = 0; c < 3; c++)
                    block[3 * r + c] += element[3 * a + r][3 * b + c];
        }
    }
}

/* Calls `use` for each number of the rows of this process's slab. */
static void for_rows(void (*use)(int64_t row, int64_t column, double value, void *with), void *with) {
    int from = 1 + (int)((int64_t)nx * rank / processes), to = 1 + (int)((int64_t)nx * (rank + 1) / processes);
    double blocks[27][9];
    for (int i = from; i < to; i++)
        for (int j = 0; j <= ny; j++)
            for (int k = 0; k <= nz; k++) {
                row_blocks(i, j, k, blocks);
                for (int n = 0; n < 27; n++) {
                    int p = i + n / 9 - 1, q = j + n / 3 % 3 - 1, s = k + n % 3 - 1;
                    if (p < 1 || q < 0 || s < 0 || p > nx || q > ny || s > nz)
                        continue;
                    int64_t row = equation(i, j, k), column = equation(p, q, s);
                    for (int r = 0; r < 3; r++)
                        for (int c = 0; c < 3; c++)
                            use(row + r, column + c, blocks[n][3 * r + c], with);
                }
            }
}

struct entries {
    int64_t count;
    MUMPS_INT *rows, *columns;
    double *values;
};

static void count_entry(int64_t row, int64_t column, double value, void *with) {
    (void)value;
    if (row >= column)
        ((struct entries *)with)->count++;
}

static void put_entry(int64_t row, int64_t column, double value, void *with) {
    struct entries *e = with;
    if (row < column)
        return;
    e->rows[e->count] = (MUMPS_INT)(row + 1);
    e->columns[e->count] = (MUMPS_INT)(column + 1);
    e->values[e->count++] = value;
}

/* A product of the matrix, and what its rounding is measured by. */
struct product {
    const double *x;
    double *y, largest_row;
    double row_sum;
    int64_t row;
};

static void multiply(int64_t row, int64_t column, double value, void *with) {
    struct product *p = with;
    p->y[row] += value * p->x[column];
    if (row / 3 != p->row / 3) /* three rows go together; their sum bounds each */
        p->row_sum = 0;
    p->row = row;
    p->row_sum += fabs(value);
    if (p->row_sum > p->largest_row)
        p->largest_row = p->row_sum;
}

/* The known solution of a system, between -1 and 1. */
static double known(uint64_t seed, int64_t system, int64_t n) {
    uint64_t z = seed * 0x9E3779B97F4A7C15u + (uint64_t)system * 0xD1B54A32D192ED03u + (uint64_t)n;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    z ^= z >> 31;
    return (double)(z >> 11) / (double)(1ull << 52) - 1;
}

static double sum_over_all(double own) {
    double all;
    MPI_Allreduce(&own, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    return all;
}

static double most_of_all(double own) {
    double all;
    MPI_Allreduce(&own, &all, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    return all;
}

static void call(DMUMPS_STRUC_C *id, int job, const char *what) {
    id->job = job;
    dmumps_c(id);
    int code = id->infog[0], detail = id->infog[1];
    if (code >= 0)
        return;
    if (rank == 0) {
        const char *why = code == -90   ? "a file of factors could not be written or read"
                          : code == -13 ? "there is not enough memory"
                          : code == -9  ? "the workspace is too small"
                          : code == -10 ? "the matrix is singular"
                          : code == -40 ? "the matrix is not positive definite"
                                        : "see the users' guide of MUMPS";
        fprintf(stderr, "solve: MUMPS failed in %s: INFOG(1) = %d, INFOG(2) = %d: %s\n", what, code, detail, why);
        fflush(stderr);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Abort(MPI_COMM_WORLD, 1);
    exit(1);
}

/* b = K x of the known solution, on process 0. */
static void right_side(double *x, double *own, double *b, int64_t n, uint64_t seed, int64_t system) {
    for (int64_t i = 0; i < n; i++) {
        x[i] = known(seed, system, i);
        own[i] = 0;
    }
    struct product product = {x, own, 0, 0, -9};
    for_rows(multiply, &product);
    MPI_Reduce(own, b, (int)n, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
}

/* How far the answer in `b` (of process 0) is from right: residual and error, as shares. */
static void check(double *x, double *own, double *b, int64_t n, uint64_t seed, int64_t system, double worst[2]) {
    double error = 0, size = 0, right = 0, off = 0;
    struct product product = {x, own, 0, 0, -9};
    for (int64_t i = 0; i < n; i++) { /* what the rows of this process give for the known solution */
        x[i] = known(seed, system, i);
        own[i] = 0;
    }
    for_rows(multiply, &product);
    for (int64_t i = 0; i < n; i++) {
        right = fmax(right, fabs(own[i]));
        own[i] = -own[i];
    }
    MPI_Bcast(b, (int)n, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    for (int64_t i = 0; i < n; i++) {
        error = fmax(error, fabs(b[i] - x[i]));
        size = fmax(size, fabs(b[i]));
    }
    product.x = b;
    for_rows(multiply, &product);
    for (int64_t i = 0; i < n; i++)
        off = fmax(off, fabs(own[i]));
    double scale = most_of_all(product.largest_row) * size + most_of_all(right);
    worst[0] = fmax(worst[0], most_of_all(off) / scale);
    worst[1] = fmax(worst[1], error);
}

int main(int argc, char **argv) {
#ifdef __linux__
    prctl(PR_SET_PDEATHSIG, SIGKILL); /* it does not outlive what started it */
#endif
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &processes);
    if (argc != 12)
        fail("it takes NX NY NZ LX LY LZ SOLVES OUT_OF_CORE SCRATCH SEED FAULT");
    nx = atoi(argv[1]), ny = atoi(argv[2]), nz = atoi(argv[3]);
    const double h[3] = {atof(argv[4]) / nx, atof(argv[5]) / ny, atof(argv[6]) / nz};
    const int solves = atoi(argv[7]), out_of_core = atoi(argv[8]), fault = atoi(argv[11]);
    const uint64_t seed = strtoull(argv[10], NULL, 10);
    const int64_t n = 3 * (int64_t)nx * (ny + 1) * (nz + 1);
    DMUMPS_STRUC_C id = {0};
    if (strlen(argv[9]) >= sizeof id.ooc_tmpdir)
        fail("the path of the scratch folder is longer than MUMPS takes");
    make_element(h);
    double began = MPI_Wtime();
    struct entries entries = {0};
    for_rows(count_entry, &entries);
    entries.rows = need((size_t)entries.count, sizeof(MUMPS_INT));
    entries.columns = need((size_t)entries.count, sizeof(MUMPS_INT));
    entries.values = need((size_t)entries.count, sizeof(double));
    const int64_t count = entries.count;
    entries.count = 0;
    for_rows(put_entry, &entries);

    id.par = 1, id.sym = 1, id.comm_fortran = -987654;
    call(&id, -1, "its start");
    id.CONTROL(1) = id.CONTROL(2) = id.CONTROL(3) = -1;
    id.CONTROL(4) = 0;
    id.CONTROL(14) = 40; /* room beyond what the analysis expects, per cent */
    id.CONTROL(18) = 3;  /* each process gives its own entries */
    id.CONTROL(22) = out_of_core;
    strcpy(id.ooc_tmpdir, argv[9]);
    strcpy(id.ooc_prefix, "factors");
    id.n = (MUMPS_INT)n;
    id.nnz_loc = count;
    id.irn_loc = entries.rows, id.jcn_loc = entries.columns, id.a_loc = entries.values;
    double assembled = MPI_Wtime();
    call(&id, 1, "its analysis");
    double analysed = MPI_Wtime();
    call(&id, 2, "the factorization");
    if (rank == processes - 1 && fault == 2)
        raise(SIGKILL);
    while (rank == processes - 1 && fault == 3)
        sleep(1);
    double factored = MPI_Wtime(), in_solves = 0, worst[2] = {0, 0};
    double *x = need((size_t)n, sizeof(double)), *own = need((size_t)n, sizeof(double));
    double *b = need((size_t)n, sizeof(double));
    for (int system = 0; system < solves; system++) {
        right_side(x, own, b, n, seed, system);
        id.rhs = b, id.nrhs = 1, id.lrhs = (MUMPS_INT)n;
        double from = MPI_Wtime();
        call(&id, 3, "a solve");
        in_solves += MPI_Wtime() - from;
        if (fault == 1 && rank == 0)
            b[n / 2] += 0.01;
        check(x, own, b, n, seed, system, worst);
    }
    const double entries_of_all = sum_over_all((double)count);
    if (rank == 0) {
        /* A negative count is in millions. */
        double factors = id.infog[8] < 0 ? -1e6 * id.infog[8] : id.infog[8];
        printf("version %s\nprocesses %d\nunknowns %lld\nentries %.0f\n", id.version_number, processes, (long long)n,
               entries_of_all);
        char library[MPI_MAX_LIBRARY_VERSION_STRING];
        int length = 0;
        MPI_Get_library_version(library, &length);
        printf("mpi %s\n", library);
        printf("factor_bytes %.0f\nfactor_operations %.6g\n", 8 * factors, id.rinfog[2]);
        printf("assembly_s %.6f\nanalysis_s %.6f\nfactor_s %.6f\nsolve_s %.6f\n", assembled - began,
               analysed - assembled, factored - analysed, in_solves);
        printf("solves %d\nresidual %.6e\nerror %.6e\n", solves, worst[0], worst[1]);
        fflush(stdout);
    }
    call(&id, -2, "its end");
    MPI_Finalize();
    return 0;
}
