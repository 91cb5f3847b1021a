/* What libquantum's configure would find: complex numbers of single precision, no LAPACK. */
#define COMPLEX_FLOAT float _Complex
#define REAL_FLOAT float
#define MAX_UNSIGNED unsigned long long
#define IMAGINARY 1.0iF
#define HAVE_UNISTD_H 1
#define HAVE_FCNTL_H 1
#define PACKAGE_VERSION "1.1.1"
#include "types.h"
