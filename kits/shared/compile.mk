# Compiles SOURCES into PROGRAM, in two passes with a training run between them when FEEDBACK is
# `true`. Every member that is compiled file by file has this same file.
#
#   CC        the compiler, of whatever language    FLAGS   what it compiles and links with
#   SOURCES   files and patterns such as src/*.c    EXCLUDE those of them that are left out
#   FIRST     those of them that others need done (Fortran modules), the first of all first
#   LDFLAGS, LIBS   what goes before and after at linking
#   TRAIN     the shell command that trains; PROGRAM is instrumented when it runs
self := $(lastword $(MAKEFILE_LIST))
objects := $(patsubst %,obj/%.o,$(filter-out $(EXCLUDE),$(wildcard $(SOURCES))))
first := $(patsubst %,obj/%.o,$(FIRST))
ifneq ($(findstring clang,$(shell $(CC) --version)),)
generate := -fprofile-instr-generate
use := -fprofile-instr-use=$(CURDIR)/profile/all
merge := $(shell $(CC) -print-prog-name=llvm-profdata) merge -o profile/all profile/*.profraw
else
generate := -fprofile-generate -fprofile-update=single
use := -fprofile-use -Wno-missing-profile
merge := :
endif

all:
ifeq ($(FEEDBACK),true)
	$(MAKE) -f $(self) $(PROGRAM) PASS='$(generate)'
	mkdir profile
	LLVM_PROFILE_FILE='$(CURDIR)/profile/%m-%p.profraw' sh -ec "$$TRAIN"
	$(merge)
	find obj -name '*.o' -delete
	rm $(PROGRAM)
	$(MAKE) -f $(self) $(PROGRAM) PASS='$(use)'
else
	$(MAKE) -f $(self) $(PROGRAM)
endif

$(PROGRAM): $(objects)
	$(CC) $(FLAGS) $(PASS) $(LDFLAGS) -o $@ $(objects) $(LIBS)

$(filter-out $(first),$(objects)): | $(first)
$(wordlist 2,$(words $(first)),$(first)): | $(firstword $(first))

obj/%.o: %
	@mkdir -p $(@D)
	$(CC) $(FLAGS) $(PASS) -c -o $@ $<
