# profio: one Makefile for everything; what it makes goes to $(B).
#
#   make            the module, $(B)/profio/core.so
#   make demo       from nothing to a report: set-up, build, a program, its trace,
#                   then a Lua program, recorded
#                   make demo TRACE=file analyses yours
#   make test       set-up, build, all specs
#   make check      lint of what changed since BASE (main, or the commit before),
#                   and the specs without the longest: what each commit passes
#   make lint       the style, the law of layers, static analysis of all files
#   make asan       the specs under ASan, UBSan and LeakSanitizer, then with an
#                   allocator that fails, then with a collector that never rests
#   make tsan       what runs in two threads, under ThreadSanitizer
#   make coverage   how much of the C code the specs run, by file; fails under the
#                   bounds of spec/support/coverage.lua
#   make mutants    N (20) small changes of the C code that the specs should notice,
#                   drawn as SEED says, with SINCE=revision only from the lines that
#                   changed since; prints those that no spec notices
#   make check-detection    files of this system, FILES of them (10,000) as SEED
#                   chooses: none of them is a trace, and how many are taken
#                   for one
#   make torture    KILLS writers (10,000) are killed as SEED chooses, of all
#                   streams, or those that match CASE: no record may be lost;
#                   and the power fails as often for each stream; before it
#                   make torture-faults and make torture-store
#   make torture-store     profio store add is killed KILLS / 50 (200) times, and
#                   profio store add --move as often
#   make torture-growth    what each report, export and mode costs on inputs
#                   that double along each axis, and the exponents
#   make torture-faults    each system call of many commands fails once, in
#                   seven ways; with OF="export" some of the commands, with
#                   EVERY=5 one of five such runs
#   make fuzz       each fuzz target for TIME seconds; counts the inputs tried
#   make bench      profio beside gprof, other programs and plain C loops; with
#                   CASES="timeline spans" some cases of it; with WITHOUT=misses
#                   what a fast path brings: see CONTRIBUTING.md; with
#                   AGAINST=revision CASES="calls" beside that revision, in turns
#   make docs       the parts of lua/profio/help/ that are generated from the code
#   make install    the module, the command, its man pages and completion under
#                   PREFIX (/usr/local), below DESTDIR if that is given;
#                   make uninstall  removes them
#   make env        with eval $(make env), require "profio" finds the checkout
#   make rockspec VERSION=x.y.z URL=...  the rockspec of a release, whose source is
#                   the archive at URL
#
# Variables that a fresh machine cannot answer yet are lazy (=, not :=), and
# the targets that set up first run make again for the rest.

B       ?= build
CC      ?= cc
CFLAGS  ?= -O2 -g
LUA     ?= lua5.4
BUSTED  ?= /usr/bin/busted
PREFIX  ?= /usr/local
# Not every shell expands the ~ of PREFIX=~/.local, and PREFIX may be relative.
override PREFIX := $(patsubst ~/%,$(HOME)/%,$(PREFIX))
override PREFIX := $(if $(filter /%,$(firstword $(PREFIX))),,$(CURDIR)/)$(PREFIX)
LUADIR  ?= $(PREFIX)/share/lua/5.4
LIBDIR  ?= $(PREFIX)/lib/lua/5.4
BINDIR  ?= $(PREFIX)/bin
DATADIR ?= $(PREFIX)/share
TIME    ?= 30

LUA_INC ?= $(shell pkg-config --cflags lua5.4 2>/dev/null || \
	echo -I/usr/include/lua5.4)
# Of the C++ library only the demangler is wanted: linked in, and not shown.
DEMANGLER = -Wl,-Bstatic -lsupc++ -Wl,-Bdynamic -Wl,--exclude-libs,libsupc++.a
LIBS    ?= -ldw -lelf -lz $(DEMANGLER) -lm -lpthread
# Assertions are on only in the instrumented builds (-UNDEBUG in CFLAGS).
ALLFLAGS = -std=c11 -D_POSIX_C_SOURCE=200809L -DNDEBUG -Icsrc $(LUA_INC) $(CPPFLAGS)
WARN    := -Wall -Wextra -Wpedantic -Wshadow -Wstrict-prototypes \
	-Wmissing-prototypes -Wpointer-arith -Wcast-qual -Wwrite-strings -Wundef \
	-Wvla -Wconversion -Wno-sign-conversion

SOURCES := $(sort $(shell find csrc -name "*.c"))
HEADERS := $(sort $(shell find csrc -name "*.h"))
OBJECTS := $(patsubst csrc/%.c,$(B)/obj/%.o,$(filter-out csrc/store/%,$(SOURCES)))
CORE    := $(filter-out $(B)/obj/lua/%,$(OBJECTS))
MODULE  := $(B)/profio/core.so
SUPPORT := $(sort $(wildcard spec/c/*.c spec/fuzz/*.c spec/bench/*.c))

SETUP    = B="$(B)" CC="$(CC)" LUA="$(LUA)" LUA_INC="$(LUA_INC)" spec/support/setup.sh
AGAIN   := $(MAKE) --no-print-directory
JOBS    ?= $(shell nproc 2>/dev/null || echo 1)
IN_TREE  = PROFIO_BUILD=$(B) LUA_PATH="lua/?.lua;lua/?/init.lua;./?.lua;;" \
	LUA_CPATH="$(B)/?.so;;"
# The module of stores; empty where a header is missing that only it needs.
STORE_SOURCES := $(filter csrc/store/%,$(SOURCES))
STORE   := $(shell printf '\043include <%s>\n' sqlite3.h xxhash.h curl/curl.h | \
	$(CC) -E -x c - >/dev/null 2>&1 && echo $(B)/profio/store.so)
STORE_OBJECTS := $(if $(STORE),$(STORE_SOURCES:csrc/%.c=$(B)/obj/%.o))
STORE_LIBS = $(if $(STORE),-lsqlite3 -lcurl)
SPECS   := $(sort $(shell find spec -name '*_spec.lua'))
# One more than there are processors: a tenth of the time specs wait for servers and clocks.
RUN      = LUA=$(LUA) BUSTED=$(BUSTED) JOBS=$$(($(JOBS) + 1)) spec/support/run_specs.sh $(B)

all: $(MODULE) $(STORE)
ifeq ($(STORE),)
	@echo "  --  without stores of runs, which need libsqlite3-dev, libxxhash-dev" \
		"and libcurl4-openssl-dev"
endif

# Q= shows whole commands.
Q ?= @

$(MODULE): $(OBJECTS)
	@mkdir -p $(@D)
	@echo "  ld  $@"
	$(Q)$(CC) $(CFLAGS) -shared -o $@ $(OBJECTS) $(LDFLAGS) $(LIBS)

# Its own objects, and those of the core that they call, which the linker finds in
# an archive: they are shared, not compiled again.
$(STORE): $(STORE_OBJECTS) $(B)/objects.a
	@mkdir -p $(@D)
	@echo "  ld  $@"
	$(Q)$(CC) $(CFLAGS) -shared -o $@ $(STORE_OBJECTS) $(B)/objects.a $(LDFLAGS) \
		$(STORE_LIBS) -lm

$(B)/objects.a: $(OBJECTS)
	$(Q)rm -f $@ && ar rcsT $@ $^

# Without the headers nothing compiles: name the packages that have them. The
# check runs once, until `make clean`.
$(B)/has-headers:
	@$(SETUP) --only-check build
	@mkdir -p $(@D) && touch $@

$(B)/obj/%.o: csrc/%.c | $(B)/has-headers
	@mkdir -p $(@D)
	@echo "  cc  $<"
	$(Q)$(CC) $(ALLFLAGS) $(WARN) $(CFLAGS) -fPIC -fvisibility=hidden -MMD -MP \
		-c $< -o $@

-include $(OBJECTS:.o=.d) $(STORE_OBJECTS:.o=.d)


# The two commands.

demo:
	@$(SETUP) run
	@$(AGAIN) -j$(JOBS) all
	@$(AGAIN) run-demo

test:
	@$(SETUP) run test
	@$(AGAIN) -j$(JOBS) all
	@$(AGAIN) run-test

ifdef TRACE
run-demo:
	@$(IN_TREE) $(LUA) examples/analyze.lua "$$TRACE"
else
run-demo: $(B)/demo/demo
	@cd $(B)/demo && rm -f gmon.out && echo "running $<" && ./demo
	@echo "analysing $(B)/demo/gmon.out"; echo
	@$(IN_TREE) $(LUA) examples/analyze.lua $(B)/demo/demo $(B)/demo/gmon.out
	@echo; echo "recording a Lua program, samples: dkjson, on the words of README.md"
	@$(IN_TREE) PROFIO_RECORD="mode=sampled,path=$(B)/demo/words.prf" \
		$(LUA) -lprofio.recorder examples/demo.lua README.md 30
	@echo "analysing $(B)/demo/words.prf"; echo
	@$(IN_TREE) $(LUA) examples/analyze.lua --report hotfunctions --top 12 \
		$(B)/demo/words.prf
endif

# -O1 and no inlining, so that each function of the demo is seen.
$(B)/demo/demo: examples/demo.c
	@mkdir -p $(@D)
	$(CC) -std=c11 -O1 -g -pg -fno-inline -fno-optimize-sibling-calls $< -o $@

# Writers that are killed, processes that become two, what is asked of the disk,
# and system calls that fail: for specs.
KILL := $(B)/c/kill $(B)/c/units $(B)/c/processes.so $(B)/c/disk.so $(B)/c/faults

# Long ones first: at the end, one that begins late would run alone.
SLOW     = $(LONG) %/group_spec.lua %/readme_spec.lua \
	%/chrome_spec.lua %/torture_spec.lua %/output_spec.lua %/install_spec.lua \
	%/simulations_spec.lua %/store_spec.lua \
	%/view_spec.lua %/register_spec.lua %/ring_spec.lua
ORDERED  = $(filter $(SLOW),$(SPECS)) $(filter-out $(SLOW),$(SPECS))

run-test: $(KILL)
	@$(RUN) tested --run=ci $(ORDERED)

# `make test` runs a few of them.
EVERY ?= 1

torture-faults: $(MODULE) $(KILL)
	@PROFIO_FAULTS=$(EVERY) PROFIO_FAULTS_OF="$(OF)" PROFIO_BUILD=$(B) \
		$(LUA) $(BUSTED) --run=ci \
		spec/faults_spec.lua

torture: torture-faults torture-growth torture-store

# `make test` has a short form of it; AXES="lanes depth=--check" takes some.
torture-growth: $(MODULE)
	@$(IN_TREE) PROFIO_BUILD=$(B) $(LUA) spec/bench/growth.lua $(AXES)

FILES ?= 10000
SEED  ?= 1

check-detection: $(MODULE)
	@$(IN_TREE) $(LUA) spec/support/check_detection.lua $(FILES) $(SEED)

KILLS ?= 10000

# `make test` kills a tenth of these.
torture-store: $(MODULE) $(STORE)
	@PROFIO_KILLS=$$(($(KILLS) / 50)) PROFIO_BUILD=$(B) $(LUA) $(BUSTED) --run=ci \
		spec/store/torture_store_spec.lua

torture: $(MODULE) $(KILL)
	@mkdir -p $(B)/torture
	@$(IN_TREE) LUA_CPATH="$(B)/?.so;$(B)/c/?.so;;" \
		$(LUA) spec/support/torture.lua $(B)/torture $(KILLS) $(SEED) $(CASE)
	@$(B)/c/kill $(B)/torture $$(($(KILLS) / 10)) $(SEED)
	@$(IN_TREE) LUA_CPATH="$(B)/?.so;$(B)/c/?.so;;" \
		$(LUA) spec/support/power.lua $(abspath $(B))/torture $(KILLS) $(SEED) $(CASE)

# Specs that depend on the user, the umask, the time zone and the folder for temporary
# files: the command, and files that are found, read, watched and written. System calls
# that fail, files that shrink, commands and writers that are killed, programs that are
# compared, detection, views, and what the core does with many files do not depend on them.
USER_SPECS = $(filter-out %/ended_spec.lua %/torture_spec.lua %/growth_spec.lua \
	%/slow_input_spec.lua %/gprof_spec.lua %/conflicts_spec.lua %_times_spec.lua %/pages_spec.lua %/faults_spec.lua \
	%/shrunk_spec.lua %/compare_programs_spec.lua %/compare_recorded_spec.lua \
	%/diff_programs_spec.lua spec/compare_spec.lua spec/view_spec.lua %/detection_spec.lua %/many_files_spec.lua \
	%/worked_examples_spec.lua, \
	$(filter spec/cli/% $(wildcard spec/*_spec.lua) \
	%_write_spec.lua %_encode_spec.lua %_files_spec.lua %_follow_spec.lua \
	%_packets_spec.lua %_database_spec.lua,$(ORDERED)))

# Specs of 4 to 20 s that measure costs or times, read large files, let each system call
# fail, try each combination of options, or of Lua functions and readers, start servers,
# compilers or other large programs, or kill commands: `make check` leaves them to `make test`.
LONG = %/slow_input_spec.lua %/growth_spec.lua %/faults_spec.lua %/deep_spec.lua \
	%/callbacks_spec.lua %_times_spec.lua %/conflicts_spec.lua %/clickhouse_spec.lua \
	%/clickhouse_failures_spec.lua %/cluster_spec.lua %/torture_store_spec.lua \
	%/gprof_spec.lua %/symbols_order_spec.lua %/viewers_spec.lua \
	%/perfetto_spec.lua %/compare_programs_spec.lua %/xpp_large_spec.lua

test-quick:
	@$(SETUP) run test
	@$(AGAIN) -j$(JOBS) all $(KILL)
	@$(RUN) tested --run=ci $(filter-out $(LONG),$(ORDERED))

test-user:
	@$(SETUP) run test
	@$(AGAIN) -j$(JOBS) all $(KILL)
	@$(RUN) tested --run=ci $(USER_SPECS)

setup:
	@$(SETUP) run test check


# Fills the pages of help and the man pages from the code.
docs: $(MODULE)
	@$(IN_TREE) $(LUA) spec/support/docs.lua


# The checks.

BASE ?= $(shell { git merge-base HEAD main || git merge-base HEAD origin/main; } \
	2>/dev/null | grep -vx "$$(git rev-parse HEAD)" || echo HEAD~)

# C files that differ from BASE, or whose header does.
CHANGED = $(filter $(SOURCES),$(sort $(patsubst %.h,%.c,$(shell \
	git diff --name-only $(BASE) -- csrc; git ls-files -o --exclude-standard csrc))))

check: lint-changed test-quick

LINTS := lint-lua lint-house lint-docs lint-symbols lint-warnings lint-format \
	lint-cppcheck lint-tidy

# The slow checks are limited to the files that changed.
lint-changed:
	@$(SETUP) run test check
	@$(AGAIN) -j$(JOBS) all
	@$(AGAIN) -j$(JOBS) -O --keep-going LINTED="$(CHANGED)" $(LINTS)

lint:
	@$(SETUP) run test check
	@$(AGAIN) -j$(JOBS) all
	@$(AGAIN) -j$(JOBS) -O --keep-going $(LINTS)

LINTED = $(SOURCES)

lint-lua:
	luacheck -q examples lua spec profio-scm-1.rockspec

lint-house:
	$(LUA) spec/support/layers.lua

lint-docs: $(MODULE)
	@$(IN_TREE) $(LUA) spec/support/docs.lua --check

lint-symbols: $(MODULE) $(STORE)
	@for module in $(MODULE) $(STORE); do nm -D --defined-only $$module; done | \
		awk '$$2 ~ /[A-Z]/ { print $$3 }' | \
		grep -vx 'luaopen_profio_core\|luaopen_profio_store' | \
		awk '{ print "exported by mistake: " $$0 } END { exit NR > 0 }'

# The fuzz targets and the bench too, which `make all` does not compile.
lint-warnings:
	@echo "warnings of gcc and clang"
	@for cc in $(if $(LINTED),gcc clang); do \
		$$cc $(ALLFLAGS) $(WARN) -Werror -fsyntax-only $(LINTED) || exit 1; \
	done
	@gcc $(ALLFLAGS) $(WARN) -Werror -fsyntax-only $(wildcard spec/fuzz/*.c spec/bench/*.c)

lint-format:
	@echo "clang-format"
	@clang-format --dry-run -Werror $(SOURCES) $(HEADERS) $(SUPPORT)

# knownConditionTrueFalse does not know what a loop before it leaves open.
lint-cppcheck:
	$(if $(LINTED),cppcheck,@: cppcheck) --quiet --std=c11 --enable=warning,style,performance,portability \
		--suppress=missingIncludeSystem --suppress=unusedStructMember \
		--suppress=knownConditionTrueFalse \
		--inline-suppr --error-exitcode=3 -j $(JOBS) -Icsrc \
		$(if $(filter-out $(words $(SOURCES)),$(words $(LINTED))),$(LINTED),csrc)

# Nearly all of the time goes to the analyzer, which follows the paths of a function
# until it has seen 225,000 states. That depth is for the files that changed; for all
# others, which each passed it when it changed, 10,000 states take a tenth of the time.
SHALLOW = $(patsubst %,--extra-arg=%,-Xclang -analyzer-config -Xclang max-nodes=10000)
TIDY = xargs -r -P $(JOBS) -n 1 sh -c 'clang-tidy --quiet $(1) "$$@" -- $(ALLFLAGS) \
	2>&1 | grep -v "warnings generated\|warning generated" || true' tidy

lint-tidy:
	@echo "clang-tidy"
	@printf '%s\n' $(filter $(CHANGED),$(LINTED)) | $(call TIDY,) > $(B)/tidy.txt
	@printf '%s\n' $(filter-out $(CHANGED),$(LINTED)) | $(call TIDY,$(SHALLOW)) \
		>> $(B)/tidy.txt
	@cat $(B)/tidy.txt; ! grep -q "warning:\|error:" $(B)/tidy.txt


# The sanitizers: a Lua interpreter with the module built in carries them, so
# the programs that the specs start are run as they are. Their reports need only the
# functions and lines of -g1, which compiles faster.

ASAN := -UNDEBUG -O1 -g1 -fno-omit-frame-pointer -fsanitize=address,undefined \
	-fno-sanitize-recover=undefined
LUA_STATIC = -Wl,-E -Wl,--whole-archive -l:liblua5.4.a \
	-Wl,--no-whole-archive -ldl

asan:
	@$(SETUP) run test check
	@$(AGAIN) -j$(JOBS) B=$(B)/asan CC=gcc CFLAGS="$(ASAN)" REPLAYED=fuzz_lua asan-programs
	@failed=0; for run in run-asan run-gcstress run-oom run-replay; do \
		$(AGAIN) -k B=$(B)/asan CC=gcc CFLAGS="$(ASAN)" REPLAYED=fuzz_lua $$run || \
			failed=1; \
	done; exit $$failed

FUZZERS := $(patsubst spec/fuzz/%.c,%,$(wildcard spec/fuzz/fuzz_*.c))
SEEDS   := $(wildcard spec/fuzz/corpus ../shared/corpus/gmon/synthetic)

# `make fuzz` begins with all seeds, under the same sanitizers, but does not detect leaks of
# fuzz_lua: under `make asan` only this target runs the seeds.
REPLAYED ?= $(FUZZERS)

# All that the runs need.
asan-programs: $(B)/bin/lua5.4 $(KILL) $(B)/oom $(REPLAYED:%=$(B)/replay/%)

# Without fork_spec: the allocator of AddressSanitizer may stay locked for ever
# in the copy of a process that has threads; so without torture_spec. Without those
# of options, texts and files of Lua alone. Without slow_input_spec, growth_spec,
# deep_spec and many_files_spec, which measure time and memory; the
# fuzzers have such inputs too. Without faults_spec: the sanitizer of leaks does not
# run in a process that is traced. Without torture_store_spec and ended_spec, which kill
# whole commands, and cluster_spec, which runs them through other programs. Without specs
# that compare texts of the command and of other programs, where the others run all
# branches of the C code as well, but for five (`make coverage` counts for each file).
# Without those that read exports with other programs, and that of the sizes of pages: oom and
# callbacks_spec write all exports.
# Without equality_spec and the messages of the verb store: graphs_spec, call_sums_spec and
# clickhouse_spec compare stores with files as well.
# Without clickhouse_failures_spec: all but four branches that only it runs, those for wrong
# answers, are run by fuzz_rows too.
# Without specs of comparisons: inference/ runs no C code, and those of programs run no
# branch that compare_spec and the specs of gmon do not run.
CHECKED  = $(filter-out %/fork_spec.lua %/torture_spec.lua %/slow_input_spec.lua \
	%/growth_spec.lua %/deep_spec.lua %/many_files_spec.lua %/pages_spec.lua \
	%/faults_spec.lua %/conflicts_spec.lua %/torture_store_spec.lua %/cluster_spec.lua \
	%/readme_spec.lua %/install_spec.lua %/version_spec.lua %/meta_spec.lua \
	%/options_spec.lua %/values_spec.lua %/docs_spec.lua %/help_spec.lua \
	%/completion_spec.lua %/ended_spec.lua spec/gprof_spec.lua %/chrome_spec.lua \
	%/html_spec.lua %/page_spec.lua %/svg_spec.lua %/timeline_page_spec.lua %/perfetto_spec.lua \
	%/viewers_spec.lua %/verbs_spec.lua %/escapes_spec.lua %/examples_spec.lua \
	spec/inference/% %/compare_programs_spec.lua %/compare_recorded_spec.lua \
	%/diff_programs_spec.lua %/clickhouse_failures_spec.lua %/page_size_spec.lua spec/store/equality_spec.lua \
	spec/cli/store_spec.lua %/worked_examples_spec.lua,$(ORDERED))

# Specs that also run with a collector that never rests run only so, which finds more.
run-asan: $(B)/bin/lua5.4 $(KILL)
	@echo "the specs under the sanitizers"
	@PATH="$(abspath $(B)/bin):$$PATH" $(RUN) tested "--ignore-lua --run=ci" \
		$(filter-out $(STRESSED),$(CHECKED))

# The binding is what a collector can hurt. Specs of the command, of encoders and
# damaged files, those that compare kernels with large models in Lua, try many
# files, or run other programs are left out: they take most of the time here; and those
# where the others run all branches of the binding as well. Of the kernels, specs of small
# tables remain. The collector is that of the specs: those that only start commands and
# programs of C, and do not load the module themselves, are left out.
STRESSED = $(filter-out spec/cli/% spec/exports/% %_damage_spec.lua \
	%_encode_spec.lua %_corpus_spec.lua %_numbers_spec.lua %/xpp_large_spec.lua \
	$(filter-out %/chain_spec.lua %/derive_spec.lua \
		%/range_spec.lua %/symbolize_spec.lua %/with_area_spec.lua \
		%/group_chunks_spec.lua,$(filter spec/kernels/%,$(CHECKED))) \
	$(filter-out %/database_spec.lua %/adding_spec.lua,$(filter spec/store/%,$(CHECKED))) \
	%/gprof_spec.lua %/cli_spec.lua %/detection_spec.lua %/load_spec.lua \
	%/winidea_follow_spec.lua %/limits_spec.lua %/restarts_spec.lua \
	%/pprof_spec.lua %/pprof_merge_spec.lua %/parts_spec.lua %/xpp_operations_spec.lua \
	%/winidea_events_spec.lua %/winidea_text_spec.lua %/winidea_states_spec.lua \
	%/outputs_spec.lua \
	%/recorder_times_spec.lua %/progress_times_spec.lua %/formula_spec.lua %/callbacks_spec.lua \
	%/gmon_program_spec.lua %/ring_restart_spec.lua %/symbols_order_spec.lua \
	%/named_files_spec.lua %/shrunk_spec.lua spec/diff_spec.lua spec/reports/dcpi_spec.lua \
	spec/reports/synthetic_spec.lua spec/reports/xpp_spec.lua %/memory_spec.lua \
	%/named_open_spec.lua %/sorts_spec.lua %/tables_spec.lua %/units_spec.lua,$(CHECKED))

run-gcstress: $(B)/bin/lua5.4 $(KILL)
	@echo "the specs with a collector that never rests"
	@PATH="$(abspath $(B)/bin):$$PATH" $(RUN) stressed \
		"--ignore-lua --run=ci --helper=spec/support/gcstress.lua" $(STRESSED)

run-oom: $(B)/oom
	@echo "out of memory at each request"
	@names=$$($(IN_TREE) $(B)/oom spec/c/oom.lua --list) && printf '%s\n' $$names | \
		$(IN_TREE) xargs -n 1 -P $(JOBS) $(B)/oom spec/c/oom.lua

$(B)/bin/lua5.4: spec/c/host.c $(OBJECTS) $(STORE_OBJECTS)
	@mkdir -p $(@D)
	$(CC) $(ALLFLAGS) $(CFLAGS) $^ $(LUA_STATIC) $(STORE_LIBS) $(LIBS) -o $@

# Requests for memory and calls of the system of our own objects are counted, and
# fail; those of the libraries do not.
WRAPPED = malloc calloc realloc posix_memalign strdup strndup \
	$(shell grep '^FAULT' spec/c/failing_calls.h | cut -c 7- | cut -d , -f 1)

$(B)/oom: spec/c/oom.c spec/c/failing_calls.h $(OBJECTS) $(STORE_OBJECTS)
	$(CC) $(ALLFLAGS) $(CFLAGS) $(filter-out %.h,$^) $(LUA_STATIC) $(STORE_LIBS) $(LIBS) \
		$(WRAPPED:%=-Wl,--wrap=%) -o $@

# Runs the code of two threads.
TSAN := -UNDEBUG -O1 -g1 -fsanitize=thread -Wno-tsan

tsan:
	@$(SETUP) run
	@$(AGAIN) -j$(JOBS) B=$(B)/tsan CC=gcc CFLAGS="$(TSAN)" \
		$(B)/tsan/c/race $(B)/tsan/c/race_sums
	@mkdir -p $(B)/tsan/race
	@TSAN_OPTIONS=halt_on_error=1 $(B)/tsan/c/race $(B)/tsan/race
	@TSAN_OPTIONS=halt_on_error=1 $(B)/tsan/c/race_sums

# Counts the lines that the specs run. Functions that are always inlined would count
# once for each place, so they are not. The programs that specs start count too.
COVERAGE := -O0 -g --coverage -fprofile-update=atomic -Dalways_inline=unused

coverage:
	@$(SETUP) run test
	@$(AGAIN) -j$(JOBS) B=$(B)/coverage CC=gcc CFLAGS="$(COVERAGE)" all
	@find $(B)/coverage -name '*.gcda' -delete
	@-COVERED=1 $(AGAIN) B=$(B)/coverage CC=gcc CFLAGS="$(COVERAGE)" run-test
	@-$(AGAIN) -k -j$(JOBS) -O B=$(B)/coverage CC=gcc CFLAGS="$(COVERAGE)" \
		run-oom run-replay
	@spec/support/merge_counts.sh $(B)/coverage
	@$(LUA) spec/support/coverage.lua $(B)/coverage

# Seconds of specs for each change.
N      ?= 20
WITHIN ?= 900

mutants:
	@$(SETUP) run test
	@BUSTED=$(BUSTED) SANITIZERS="$(ASAN)" SANITIZED="$(CHECKED)" \
		nice $(LUA) spec/support/mutants.lua $(B)/mutants/tree $(N) \
		$(SEED) $(WITHIN) $(SINCE)

.PHONY: coverage mutants

# The C programs of the checks that need no Lua.
$(B)/c/%: spec/c/%.c spec/c/recording.h $(CORE)
	@mkdir -p $(@D)
	@echo "  ld  $@"
	$(Q)$(CC) $(ALLFLAGS) $(CFLAGS) $(filter-out %.h,$^) $(LIBS) -o $@

$(B)/c/%.so: spec/c/%.c
	@mkdir -p $(@D)
	@echo "  ld  $@"
	$(Q)$(CC) $(ALLFLAGS) $(CFLAGS) -fPIC -shared $< -o $@

run-replay: $(REPLAYED:%=$(B)/replay/%)
	@printf '%s\n' $^ | xargs -n 1 -P $(JOBS) sh -c 'echo "replay of the seeds: $$0"; \
		find $(SEEDS) -type f -exec $$0 {} +'

$(B)/replay/%: spec/fuzz/%.c $(CORE)
	@mkdir -p $(@D)
	$(CC) $(ALLFLAGS) $(CFLAGS) -DSTANDALONE $(filter-out %.lua,$^) \
		$(LINK_$(@F)) $(LIBS) -o $@

FUZZ := -UNDEBUG -O1 -g1 -fsanitize=fuzzer-no-link,address,undefined \
	-fno-sanitize-recover=undefined

fuzz:
	@$(SETUP) run check
	@$(AGAIN) -j$(JOBS) B=$(B)/fuzz CC=clang CFLAGS="$(FUZZ)" $(FUZZERS:%=$(B)/fuzz/%)
	@$(AGAIN) -j$(JOBS) -O B=$(B)/fuzz CC=clang CFLAGS="$(FUZZ)" run-fuzz

# Bytes of the longest input: large ones find what costs too much. An input may
# take 2 s; with the sanitizers ten times as long. The interpreter keeps garbage
# for a while, which is no leak.
$(foreach f,$(FUZZERS),$(eval LONGEST_$(f) = 16384))
LONGEST_fuzz_decode  = 1048576
LONGEST_fuzz_symbols = 1048576
LONGEST_fuzz_lua     = 1048576
FLAGS_fuzz_lua       = -detect_leaks=0
FLAGS_fuzz_contexts  = -detect_leaks=0

run-fuzz: $(FUZZERS:%=run-%)

$(FUZZERS:%=run-%): run-%: $(B)/%
	@mkdir -p $(B)/found/$*
	@$< -max_total_time=$(TIME) -max_len=$(LONGEST_$*) \
		-timeout=20 -malloc_limit_mb=512 $(FLAGS_$*) \
		-print_final_stats=1 -artifact_prefix=$<- $(B)/found/$* $(SEEDS) \
		> $<.log 2>&1 || { tail -n 60 $<.log; exit 1; }
	@awk '/stat::number_of_executed_units/ { print $$2 }' $<.log >> $<.runs
	@awk -v name=$* '{ n = $$1; sum += n } END { printf \
		"%s: %d inputs in $(TIME) s, %d since make clean\n", name, n, sum }' $<.runs

$(B)/fuzz_%: spec/fuzz/fuzz_%.c $(CORE)
	$(CC) $(ALLFLAGS) $(CFLAGS) -fsanitize=fuzzer $(filter-out %.lua,$^) \
		$(LINK_$(@F)) $(LIBS) -o $@

# These also get changes that know how files are built.
$(B)/fuzz_lua $(B)/fuzz_decode: spec/fuzz/structured.c

# Rows of stores, with hashes of its own.
$(B)/fuzz_rows $(B)/replay/fuzz_rows: $(patsubst %,$(B)/obj/store/%.o, \
	interning put_rows sum_rows group_rows)

# The Lua layer, and the binding: all objects, and an interpreter.
LINK_fuzz_lua = $(LUA_STATIC)
LINK_fuzz_contexts = $(LUA_STATIC)
$(B)/fuzz_lua $(B)/replay/fuzz_lua: $(OBJECTS) spec/fuzz/everything.lua
$(B)/fuzz_contexts $(B)/replay/fuzz_contexts: $(OBJECTS)


# The bench. Its programs are built by the way, with the flags of a release.

BENCH_MODULES := loops events
BENCH := $(patsubst spec/bench/%.c,$(B)/bench/%,\
	$(filter-out $(BENCH_MODULES:%=spec/bench/%.c),$(wildcard spec/bench/*.c))) \
	$(BENCH_MODULES:%=$(B)/bench/%.so)

bench:
	@$(SETUP) run bench
	@$(AGAIN) all $(BENCH)
ifdef WITHOUT
	@$(AGAIN) -j$(JOBS) B=$(B)/without/$(WITHOUT) \
		CPPFLAGS=-DPF_WITHOUT=PF_FAST_$(shell echo $(WITHOUT) | tr a-z A-Z) \
		all bench-programs
	@$(IN_TREE) $(LUA) spec/bench/in_turns.lua without $(WITHOUT) \
		$(B)/without/$(WITHOUT) $(CASES)
else ifdef AGAINST
	@mkdir -p $(B)/against/$(AGAINST)
	@git archive $(AGAINST) | tar -x -C $(B)/against/$(AGAINST)
	@$(AGAIN) -j$(JOBS) -C $(B)/against/$(AGAINST) B=build CASES=none AGAINST= bench
	@$(IN_TREE) $(LUA) spec/bench/in_turns.lua against $(AGAINST) \
		$(B)/against/$(AGAINST) $(CASES)
else
	@$(IN_TREE) $(LUA) spec/bench/run.lua $(CASES)
endif

bench-programs: $(BENCH)

$(B)/bench/record: spec/bench/record.c spec/c/recording.h $(CORE)
	@mkdir -p $(@D)
	@echo "  cc  $@"
	$(Q)$(CC) $(ALLFLAGS) $(WARN) -O2 -g $(filter-out %.h,$^) $(LIBS) -o $@

$(B)/bench/%: spec/bench/%.c
	@mkdir -p $(@D)
	@echo "  cc  $@"
	$(Q)$(CC) $(ALLFLAGS) $(WARN) -O2 -g $< -o $@

$(B)/bench/%.so: spec/bench/%.c
	@mkdir -p $(@D)
	@echo "  cc  $@"
	$(Q)$(CC) $(ALLFLAGS) $(WARN) -O2 -g -fPIC -shared $< -o $@


# Installing. luarocks calls install-module and places the command itself. All
# paths may be relative and contain blanks.

# The modules, the pages of help, and what export html builds in, relative to lua/.
LUA_FILES = (cd lua && find profio -name '*.lua' -o -path 'profio/help/*.md' \
	-o -path 'profio/exports/html/*.js' -o -path 'profio/exports/html/*.css')

# Man pages and completion: what is written, from what, and its place below $(DATADIR).
SHARED_FILES = printf '%s\n' 'page profio.1 man/man1/profio.1' \
	'page profio.3lua man/man3/profio.3lua' \
	'shell bash bash-completion/completions/profio' \
	'shell zsh zsh/site-functions/_profio' \
	'shell fish fish/vendor_completions.d/profio.fish'

# eval $(make env) lets a shell find the module of the checkout.
env:
	@echo 'export LUA_PATH="$(CURDIR)/lua/?.lua;$(CURDIR)/lua/?/init.lua;$${LUA_PATH:-;}"' \
		'LUA_CPATH="$(abspath $(B))/?.so;$${LUA_CPATH:-;}"'

# Compiles the modules and argparse, whose files are on standard input.
COMPILED = $(LIBDIR)/profio/compiled
COMPILE = local write = require("profio.cli.compiled").write \
	write(arg[1], "argparse", package.searchpath("argparse", package.path)) \
	for file in io.lines() do \
		local name = file:match "^(.*)%.lua$$" \
		if name then \
			write(arg[1], name:gsub("/init$$", ""):gsub("/", "."), arg[2] .. file, arg[3] .. file) \
		end \
	end

install: install-module
	$(Q)mkdir -p "$(DESTDIR)$(BINDIR)"
	$(Q)printf '%s\n' '#!/usr/bin/env lua5.4' \
		'-- The command profio, written by make install.' \
		"package.path = [[$(LUADIR)/?.lua;$(LUADIR)/?/init.lua;]] .. package.path" \
		"package.cpath = [[$(LIBDIR)/?.so;]] .. package.cpath" \
		"require 'profio.cli.compiled'.use [[$(COMPILED)]]" \
		'local status, is_closed = require "profio.cli".main(arg)' \
		'os.exit(status, not is_closed)' > "$(DESTDIR)$(BINDIR)/profio"
	$(Q)chmod 755 "$(DESTDIR)$(BINDIR)/profio"
	$(Q)mkdir -p "$(DESTDIR)$(COMPILED)"
	$(Q)$(LUA_FILES) | $(IN_TREE) $(LUA) -e '$(COMPILE)' - "$(DESTDIR)$(COMPILED)" \
		"$(DESTDIR)$(LUADIR)/" "$(LUADIR)/"
	$(Q)$(SHARED_FILES) | while read -r kind source file; do \
		mkdir -p "$(DESTDIR)$(DATADIR)/$${file%/*}" || exit 1; \
		case $$kind in \
			page) cat "lua/profio/man/$$source" ;; \
			shell) $(IN_TREE) $(LUA) examples/analyze.lua completion "$$source" ;; \
		esac > "$(DESTDIR)$(DATADIR)/$$file" || { rm -f "$(DESTDIR)$(DATADIR)/$$file"; \
			echo "not installed: $$file"; }; \
	done
	@echo "installed: $(DESTDIR)$(BINDIR)/profio"
	@[ -n "$(DESTDIR)" ] || (cd / && $(LUA) -e 'require "profio"') 2>/dev/null || \
		printf '%s\n' 'The command finds its module. For require "profio" in your scripts:' \
		'   export LUA_PATH="$(LUADIR)/?.lua;$(LUADIR)/?/init.lua;;"' \
		'   export LUA_CPATH="$(LIBDIR)/?.so;;"'

install-module: $(MODULE) $(STORE)
	$(Q)mkdir -p "$(DESTDIR)$(LIBDIR)/profio"
	$(Q)install -m 755 $(MODULE) $(STORE) "$(DESTDIR)$(LIBDIR)/profio/"
	$(Q)$(LUA_FILES) | while read -r file; do \
		install -D -m 644 "lua/$$file" "$(DESTDIR)$(LUADIR)/$$file" || exit 1; \
	done

# Removes what install has placed, and the folders that are empty then.
uninstall:
	$(Q)rm -f "$(DESTDIR)$(BINDIR)/profio" "$(DESTDIR)$(LIBDIR)/profio/core.so" \
		"$(DESTDIR)$(LIBDIR)/profio/store.so"
	$(Q)$(SHARED_FILES) | while read -r kind source file; do \
		rm -f "$(DESTDIR)$(DATADIR)/$$file"; \
	done
	$(Q)rm -f "$(DESTDIR)$(COMPILED)"/*.luac
	$(Q)$(LUA_FILES) | while read -r file; do \
		rm -f "$(DESTDIR)$(LUADIR)/$$file"; \
	done
	$(Q)for folder in "$(DESTDIR)$(LUADIR)/profio" "$(DESTDIR)$(LIBDIR)/profio"; do \
		[ ! -d "$$folder" ] || find "$$folder" -depth -type d -empty -delete; \
	done

rockspec:
	@test -n "$(VERSION)" -a -n "$(URL)" || \
		{ echo "make rockspec VERSION=x.y.z URL=of-the-archive"; exit 2; }
	@mkdir -p $(B)
	sed -e 's/^version = .*/version = "$(VERSION)-1"/' \
		-e 's|^   url = .*|   url = "$(URL)",|' -e '/^-- `make rockspec/d' \
		profio-scm-1.rockspec > $(B)/profio-$(VERSION)-1.rockspec

clean:
	rm -rf $(B)

.PHONY: all demo docs test test-quick test-user run-demo run-test setup check lint lint-changed $(LINTS) asan asan-programs run-asan \
	run-gcstress run-oom run-replay check-detection torture torture-faults torture-growth \
	torture-store tsan fuzz run-fuzz bench \
	env install install-module uninstall rockspec clean $(FUZZERS:%=run-%)
