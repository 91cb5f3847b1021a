/* Runs the SQL of a file in a database in memory and writes the rows that come out.
 *
 * Usage: shell SQL ROWS
 */
#include <stdio.h>
#include <stdlib.h>

#include "sqlite3.h"

static int row(void *out, int n, char **values, char **names) {
    (void)names;
    for (int i = 0; i < n; i++) fprintf(out, "%s%s", i ? "|" : "", values[i] ? values[i] : "NULL");
    fprintf(out, "\n");
    return 0;
}

int main(int argc, char **argv) {
    if (argc != 3) {
        fprintf(stderr, "usage: shell SQL ROWS\n");
        return 2;
    }
    FILE *in = fopen(argv[1], "rb");
    FILE *out = fopen(argv[2], "wb");
    static char sql[1 << 16];
    size_t length = in ? fread(sql, 1, sizeof sql - 1, in) : 0;
    if (length == 0 || length == sizeof sql - 1 || !out) {
        fprintf(stderr, "shell: %s cannot be read or %s cannot be written\n", argv[1], argv[2]);
        return 1;
    }
    sqlite3 *db;
    char *error = NULL;
    if (sqlite3_open(":memory:", &db) != SQLITE_OK || sqlite3_exec(db, sql, row, out, &error) != SQLITE_OK) {
        fprintf(stderr, "shell: %s\n", error ? error : sqlite3_errmsg(db));
        return 1;
    }
    sqlite3_close(db);
    return fclose(out) == 0 ? 0 : 1;
}
