/* MiniSat reads its problem through zlib; ours is not compressed, so plain files do. */
#pragma once
#include <stdio.h>
typedef FILE *gzFile;
static inline gzFile gzopen(const char *path, const char *mode) { return fopen(path, mode); }
static inline gzFile gzdopen(int fd, const char *mode) { return fd == 0 ? stdin : fdopen(fd, mode); }
static inline int gzread(gzFile file, void *to, unsigned size) { return (int)fread(to, 1, size, file); }
static inline int gzclose(gzFile file) { return fclose(file); }
