/* What tcc's configure would write: a compiler for 64-bit x86, whatever it is compiled for itself. */
#define TCC_VERSION "0.9.27"
#define CONFIG_TCCDIR "/nonexistent"
#define TCC_TARGET_X86_64 1
