/* What LEMON's CMake would write: no linear programming, no threads. */
#define LEMON_VERSION "1.3.1"
#define LEMON_HAVE_LONG_LONG 1
