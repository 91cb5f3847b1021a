/* What xz's configure would find on a system with POSIX and a little-endian CPU; no threads, no assembly. */
#define _GNU_SOURCE 1
#define STDC_HEADERS 1
/* With -march=native the table of CRC64 is left out, because carry-less multiplication needs none: so it is used, as
   configure would find, whatever the flags are. */
#if defined(__x86_64__)
#define HAVE_IMMINTRIN_H 1
#define HAVE__MM_MOVEMASK_EPI8 1
#define HAVE_USABLE_CLMUL 1
#endif
#define HAVE_STDBOOL_H 1
#define HAVE__BOOL 1
#define HAVE_STDINT_H 1
#define HAVE_INTTYPES_H 1
#define HAVE_LIMITS_H 1
#define HAVE_STRING_H 1
#define HAVE_STDLIB_H 1
#define HAVE_UNISTD_H 1
#define HAVE_SYS_TIME_H 1
#define HAVE_GETOPT_H 1
#define HAVE_GETOPT_LONG 1
#define HAVE_CLOCK_GETTIME 1
#define HAVE_CLOCK_MONOTONIC 1
#define HAVE_FUTIMENS 1
#define HAVE_STRUCT_STAT_ST_ATIM_TV_NSEC 1
#define HAVE_MBRTOWC 1
#define HAVE_WCWIDTH 1
#define HAVE_WCHAR_H 1
#define HAVE_CHECK_CRC32 1
#define HAVE_CHECK_CRC64 1
#define HAVE_CHECK_SHA256 1
#define HAVE_ENCODERS 1
#define HAVE_DECODERS 1
#define HAVE_ENCODER_LZMA1 1
#define HAVE_ENCODER_LZMA2 1
#define HAVE_ENCODER_DELTA 1
#define HAVE_ENCODER_X86 1
#define HAVE_DECODER_LZMA1 1
#define HAVE_DECODER_LZMA2 1
#define HAVE_DECODER_DELTA 1
#define HAVE_DECODER_X86 1
#define HAVE_MF_HC3 1
#define HAVE_MF_HC4 1
#define HAVE_MF_BT2 1
#define HAVE_MF_BT3 1
#define HAVE_MF_BT4 1
#define HAVE___BUILTIN_BSWAPXX 1
#define HAVE_VISIBILITY 1
#define TUKLIB_PHYSMEM_SYSCONF 1
#define TUKLIB_CPUCORES_SYSCONF 1
#define ASSUME_RAM 128
#define NDEBUG 1
#define PACKAGE "xz"
#define PACKAGE_NAME "XZ Utils"
#define PACKAGE_BUGREPORT "none"
#define PACKAGE_URL "https://tukaani.org/xz/"
#define PACKAGE_VERSION "5.4.1"
