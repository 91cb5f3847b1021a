/* What nec2c's configure would write. */
#define PACKAGE_STRING "nec2c 1.3"
