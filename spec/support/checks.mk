# checks.mk - the targets of the Makefile that build the core in another way: with sanitizers, for
# fuzzers, to count what runs, with a change, or for the bench. The Makefile includes it.

# The sanitizers and the fuzzers share a build by clang, in $(B)/asan: with what the fuzzers need
# to see what an input reaches, the specs take as long. A Lua interpreter with the module built
# in carries the sanitizers, so the programs that the specs start are run as they are. Their
# reports need only the functions and lines of -g1, which compiles faster. Each spec that
# reaches C code runs once: with a collector that never rests where that can hurt. With
# ALL=-all the costly ones run too, four times as many requests for memory fail, each process
# looks for leaks when it ends, and fuzz_lua does with all seeds; else only `run-oom` and the
# other fuzzers do.

ASAN := -UNDEBUG -O1 -g1 -fno-omit-frame-pointer -fsanitize=address,undefined \
	-fno-sanitize-recover=undefined
INSTRUMENTED = B=$(B)/asan CC=clang CFLAGS="$(ASAN) -fsanitize=fuzzer-no-link"
LUA_STATIC = -Wl,-E -Wl,--whole-archive -l:liblua5.4.a \
	-Wl,--no-whole-archive -ldl
ALL ?=
SANITIZED = PATH="$(abspath $(B)/bin):$$PATH" \
	ASAN_OPTIONS=detect_leaks=$(if $(ALL),1,0):malloc_context_size=8 $(RUN)

asan:
	@$(SETUP) run test check
	@$(AGAIN) -j$(JOBS) $(INSTRUMENTED) REPLAYED=$(if $(ALL),fuzz_lua) asan-programs
	@failed=0; for run in run-asan run-gcstress run-oom $(if $(ALL),run-replay); do \
		$(AGAIN) -k $(INSTRUMENTED) REPLAYED=fuzz_lua $$run || failed=1; \
	done; exit $$failed

asan-all:
	@$(AGAIN) asan ALL=-all

FUZZERS := $(patsubst spec/fuzz/%.c,%,$(wildcard spec/fuzz/fuzz_*.c))
SEEDS   := $(wildcard spec/fuzz/corpus ../shared/corpus/gmon/synthetic)

# `make fuzz` begins with the seeds, under the same sanitizers, but does not detect leaks of
# fuzz_lua: under `make asan-all` only this target runs them.
REPLAYED ?= $(FUZZERS)

# All that the runs need.
asan-programs: $(B)/bin/lua5.4 $(HELPERS) $(B)/oom $(REPLAYED:%=$(B)/replay/%)

run-asan: $(B)/bin/lua5.4 $(HELPERS)
	@echo "the specs under the sanitizers"
	@$(SANITIZED) tested "--ignore-lua --run=ci" $$($(SPECS_OF) sanitized$(ALL))

run-gcstress: $(B)/bin/lua5.4 $(HELPERS)
	@echo "the specs with a collector that never rests"
	@$(SANITIZED) stressed "--ignore-lua --run=ci --helper=spec/support/gcstress.lua" \
		$$($(SPECS_OF) stressed$(ALL))

run-oom: $(B)/oom
	@echo "out of memory at each request"
	@names=$$($(IN_TREE) $(B)/oom spec/c/oom.lua --list) && printf '%s\n' $$names | \
		$(IN_TREE) OOM_EACH=$(if $(ALL),200,50) xargs -n 1 -P $(JOBS) $(B)/oom spec/c/oom.lua

$(B)/bin/lua5.4: spec/c/host.c $(OBJECTS) $(STORE_OBJECTS)
	$(SHOWN)
	$(Q)$(CC) $(ALLFLAGS) $(CFLAGS) $^ $(LUA_STATIC) $(STORE_LIBS) $(LIBS) -o $@

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
	@$(SETUP) run test test-all
	@$(AGAIN) -j$(JOBS) B=$(B)/coverage CC=gcc CFLAGS="$(COVERAGE)" all
	@find $(B)/coverage -name '*.gcda' -delete
	@-COVERED=1 $(AGAIN) B=$(B)/coverage CC=gcc CFLAGS="$(COVERAGE)" run-test-all
	@-$(AGAIN) -k -j$(JOBS) -O B=$(B)/coverage CC=gcc CFLAGS="$(COVERAGE)" \
		run-oom run-replay
	@spec/support/merge_counts.sh $(B)/coverage
	@$(LUA) spec/support/coverage.lua $(B)/coverage

# Seconds of specs for each change.
N      ?= 20
WITHIN ?= 900

mutants:
	@$(SETUP) run test test-all
	@BUSTED=$(BUSTED) SANITIZERS="$(ASAN)" \
		SANITIZED="$$($(SPECS_OF) sanitized-all; $(SPECS_OF) stressed-all)" \
		nice $(LUA) spec/support/mutants.lua $(B)/mutants/tree $(N) \
		$(SEED) $(WITHIN) $(SINCE)

# The C programs of the checks.
$(B)/c/%: spec/c/%.c spec/c/recording.h $(CORE)
	$(SHOWN)
	$(Q)$(CC) $(ALLFLAGS) $(CFLAGS) $(filter-out %.h,$^) $(LIBS) -o $@

$(B)/c/%.so: spec/c/%.c
	$(SHOWN)
	$(Q)$(CC) $(ALLFLAGS) $(CFLAGS) -fPIC -shared $< -o $@

run-replay: $(REPLAYED:%=$(B)/replay/%)
	@printf '%s\n' $^ | xargs -n 1 -P $(JOBS) sh -c 'echo "replay of the seeds: $$0"; \
		find $(SEEDS) -type f -exec $$0 {} +'

$(B)/replay/%: spec/fuzz/%.c $(CORE)
	$(SHOWN)
	$(Q)$(CC) $(ALLFLAGS) $(CFLAGS) -DSTANDALONE $(filter-out %.lua,$^) \
		$(LINK_$(@F)) $(LIBS) -o $@

fuzz:
	@$(SETUP) run check
	@$(AGAIN) -j$(JOBS) $(INSTRUMENTED) $(FUZZERS:%=$(B)/asan/%)
	@$(AGAIN) -j$(JOBS) -O $(INSTRUMENTED) run-fuzz

# That which tries its seeds for longest comes first.
run-fuzz: run-fuzz_decode $(FUZZERS:%=run-%)

$(FUZZERS:%=run-%): run-%: $(B)/%
	@B=$(B) TIME=$(TIME) spec/support/fuzz.sh $* $(SEEDS)

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
LINK_fuzz_pattern = $(LUA_STATIC)
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
	@B="$(B)" LUA="$(LUA)" MAKE="$(AGAIN) -j$(JOBS)" CASES="$(CASES)" WITHOUT="$(WITHOUT)" \
		AGAINST="$(AGAINST)" spec/support/bench.sh

bench-programs: $(BENCH)

$(B)/bench/record: spec/bench/record.c spec/c/recording.h $(CORE)
	$(SHOWN)
	$(Q)$(CC) $(ALLFLAGS) $(WARN) -O2 -g $(filter-out %.h,$^) $(LIBS) -o $@

$(B)/bench/%: spec/bench/%.c
	$(SHOWN)
	$(Q)$(CC) $(ALLFLAGS) $(WARN) -O2 -g $< -o $@

$(B)/bench/%.so: spec/bench/%.c
	$(SHOWN)
	$(Q)$(CC) $(ALLFLAGS) $(WARN) -O2 -g -fPIC -shared $< -o $@

.PHONY: asan asan-all asan-programs run-asan run-gcstress run-oom run-replay tsan coverage mutants \
	fuzz run-fuzz bench bench-programs $(FUZZERS:%=run-%)
