/* Compiles a C file into an object with libtcc, several times over.
 *
 * Usage: compile FILE REPEATS OBJECT
 */
#include <stdio.h>
#include <stdlib.h>

#include "libtcc.h"

int main(int argc, char **argv) {
    if (argc != 4) {
        fprintf(stderr, "usage: compile FILE REPEATS OBJECT\n");
        return 2;
    }
    for (int i = atoi(argv[2]); i > 0; i--) {
        TCCState *state = tcc_new();
        if (!state) return 1;
        tcc_set_options(state, "-nostdinc -nostdlib");
        if (tcc_set_output_type(state, TCC_OUTPUT_OBJ) < 0 || tcc_add_file(state, argv[1]) < 0 ||
            tcc_output_file(state, argv[3]) < 0)
            return 1;
        tcc_delete(state);
    }
    return 0;
}
