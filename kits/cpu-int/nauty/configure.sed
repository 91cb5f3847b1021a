# Fills in nauty's headers as its configure would on a 64-bit system with POSIX; hardware population counts are
# left to the compiler.
s/@use_tls@//
s/@ac_cv_tls@//
s/@tls_supported@/0/
s/@default_wordsize@/64/
s/@ac_cv_sizeof_int@/4/
s/@ac_cv_sizeof_long@/8/
s/@ac_cv_sizeof_voidp@/8/
s/@ac_cv_sys_file_offset_bits@/64/
s/@have_hwlzcnt@/0/
s/@have_hwpopcnt@/0/
s/@have_mmpop[0-9]*@/0/
s/@runtime_popcnt@/0/
s/@have_ansicontrols@/0/
s/@allow_interrupt@/0/
s/@have_gunzip@/0/
s/@is_ARM64@/0/
s/@sort_prog@/sort/
s/@PACKAGE_VERSION@/2.8.6/
s/@configure_input@/made by configure.sed/
s/@edit_msg@/made by configure.sed/
s/@[a-z_0-9]*@/1/
