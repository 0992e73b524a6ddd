# profio: one Makefile for everything; what it makes goes to $(B).
#
#   make            the module, $(B)/profio/core.so, and its man pages in $(B)/share
#   make demo       from nothing to a report: set-up, build, a program, its trace,
#                   then a Lua program, recorded; TRACE=file analyses yours
#   make test       set-up, build, the specs: what everybody runs
#   make test-all   what needs large programs or takes longer, too: all specs, costs in
#                   steps, the sanitizers on all specs that reach C code
#   make check      lint of what changed since BASE (main, or the commit before), and
#                   the specs without the long ones: what each commit passes
#   make lint       the style, the law of layers, static analysis of all files
#   make asan       the specs under ASan and UBSan, out of memory at each request, and
#                   a collector that never rests
#   make tsan       what runs in two threads, under ThreadSanitizer
#   make fuzz       each fuzz target for TIME seconds; counts the inputs tried
#   make bench      profio beside other programs and plain C loops
#   make docs       the parts of lua/profio/help/ that are generated from the code
#   make install    the module, the command, its man pages and completion under
#                   PREFIX (/usr/local), below DESTDIR if that is given; make uninstall
#   make standalone one file with all that profio needs, $(B)/standalone/profio
#   make windows    the same for Windows, by mingw-w64; make musl, linux-{i386,aarch64,s390x}
#   make test-windows, test-machines   compare their answers, under Wine and qemu
#   make env        with eval $(make env), require "profio" finds the checkout
#
# spec/README.md describes these, and coverage, mutants, check-detection, torture,
# torture-faults, torture-growth, torture-store, counted, archive and rockspec.
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
# Only the demanglers of libiberty are wanted: linked in, and not shown.
DEMANGLER = -Wl,-Bstatic -liberty -Wl,-Bdynamic -Wl,--exclude-libs,libiberty.a
LIBS    ?= -lz -lexpat $(DEMANGLER) -lm -lpthread
# Assertions are on only in the instrumented builds (-UNDEBUG in CFLAGS).
ALLFLAGS = -std=c11 -D_POSIX_C_SOURCE=200809L -DNDEBUG -Icsrc $(LUA_INC) $(CPPFLAGS)
WARN    := -Wall -Wextra -Wpedantic -Wshadow -Wstrict-prototypes \
	-Wmissing-prototypes -Wpointer-arith -Wcast-qual -Wwrite-strings -Wundef \
	-Wvla -Wconversion -Wno-sign-conversion

# The folder of csrc/os that is compiled: posix or windows.
SYSTEM  ?= posix
SOURCES := $(sort $(shell find csrc -name "*.c" -not -path "csrc/os/*/*" -o -path "csrc/os/$(SYSTEM)/*.c"))
OBJECTS := $(patsubst csrc/%.c,$(B)/obj/%.o,$(filter-out csrc/store/% csrc/program/%,$(SOURCES)))
CORE    := $(filter-out $(B)/obj/lua/%,$(OBJECTS))
DLL     := $(if $(filter windows,$(SYSTEM)),.dll,.so)
MODULE  := $(B)/profio/core$(DLL)

SETUP    = B="$(B)" CC="$(CC)" LUA="$(LUA)" LUA_INC="$(LUA_INC)" spec/support/setup.sh
AGAIN   := $(MAKE) --no-print-directory
JOBS    ?= $(shell nproc 2>/dev/null || echo 1)
IN_TREE  = PROFIO_BUILD=$(B) LUA_PATH="lua/?.lua;lua/?/init.lua;./?.lua;;" \
	LUA_CPATH="$(B)/?.so;;"
# The module of stores; empty where a header is missing that only it needs. Without libcurl
# it has no stores in ClickHouse.
INCLUDES = $(shell printf '\043include <%s>\n' $(1) | $(CC) $(CPPFLAGS) -E -x c - >/dev/null 2>&1 && echo yes)
HTTP    := $(call INCLUDES,curl/curl.h)
STORE   := $(if $(call INCLUDES,sqlite3.h xxhash.h),$(B)/profio/store$(DLL))
STORE_SOURCES := $(filter-out %/$(if $(HTTP),no_)http.c,$(filter csrc/store/%,$(SOURCES)))
MODULES ?= $(MODULE) $(STORE)
STORE_OBJECTS := $(if $(STORE),$(STORE_SOURCES:csrc/%.c=$(B)/obj/%.o))
STORE_LIBS = $(if $(STORE),-lsqlite3 $(if $(HTTP),-lcurl))
# One more than there are processors: a tenth of the time specs wait for other programs.
RUN      = LUA=$(LUA) BUSTED=$(BUSTED) JOBS=$$(($(JOBS) + 1)) spec/support/run_specs.sh $(B)
# The files of a set, in an order that ORDER=number draws.
SPECS_OF = $(LUA) spec/support/specs.lua
ORDER   ?=

# Generated from the code: man pages, completion, a description for editors.
GENERATED := $(B)/generated

all: modules $(GENERATED)

modules: $(MODULE) $(STORE)
ifeq ($(STORE),)
	@echo "  --  without stores of runs, which need libsqlite3-dev and libxxhash-dev"
else ifeq ($(HTTP),)
	@echo "  --  without stores in ClickHouse, which need libcurl4-openssl-dev"
endif

# Q= shows whole commands.
Q ?= @
SHOWN = @mkdir -p $(@D); echo "  $(if $(filter %.o,$@),cc  $<,ld  $@)"

$(MODULE): $(OBJECTS)
	$(SHOWN)
	$(Q)$(CC) $(CFLAGS) -shared -o $@ $(OBJECTS) $(LDFLAGS) $(LIBS)

# Its own objects, and those of the core that they call, which the linker finds in
# an archive: they are shared, not compiled again.
$(STORE): $(STORE_OBJECTS) $(B)/objects.a
	$(SHOWN)
	$(Q)$(CC) $(CFLAGS) -shared -o $@ $(STORE_OBJECTS) $(B)/objects.a $(LDFLAGS) \
		$(STORE_LIBS) $(or $(CROSS_LIBS),-lm)

$(B)/objects.a: $(OBJECTS)
	$(Q)rm -f $@ && ar rcsT $@ $^

# Without the headers nothing compiles: name the packages that have them. The
# check runs once, until `make clean`.
$(B)/has-headers:
	@$(SETUP) --only-check build
	@mkdir -p $(@D) && touch $@

$(B)/obj/%.o: csrc/%.c | $(B)/has-headers
	$(SHOWN)
	$(Q)$(CC) $(ALLFLAGS) $(WARN) $(CFLAGS) -fPIC -fvisibility=hidden -MMD -MP \
		-c $< -o $@

-include $(OBJECTS:.o=.d) $(STORE_OBJECTS:.o=.d)

# Where the module cannot be loaded, as when it is for another machine, the files remain
# that come with the archive of a release.
$(GENERATED): $(MODULE) spec/support/generate.lua spec/support/man.lua spec/support/api.lua \
		$(shell find lua -name '*.lua' -o -name '*.md')
	@mkdir -p $(B)/share/man
	@{ $(IN_TREE) $(LUA) spec/support/generate.lua $(B)/share || \
		echo "  --  man pages and completion are not generated: no $(MODULE) for $(LUA)"; } && touch $@

# The two commands.

demo:
	@$(SETUP) run
	@$(AGAIN) -j$(JOBS) all
	@$(AGAIN) run-demo

test:
	@$(SETUP) run test
	@$(AGAIN) -j$(JOBS) all
	@$(AGAIN) run-test

run-demo:
	@B="$(B)" CC="$(CC)" LUA="$(LUA)" spec/support/demo.sh

# Libraries and programs of specs: writers that are killed, processes that become two,
# what is asked of the disk, system calls that fail, a clock that stands still.
HELPERS := $(addprefix $(B)/c/,kill units processes.so disk.so clock.so counter.so faults)

run-test: $(HELPERS)
	@$(RUN) tested --run=ci $$($(SPECS_OF) test $(ORDER))

test-quick test-user:
	@$(SETUP) run test
	@$(AGAIN) -j$(JOBS) all $(HELPERS)
	@$(RUN) tested --run=ci $$($(SPECS_OF) $(patsubst test-%,%,$(@:quick=check)) $(ORDER))

# The last line has the sums of all steps.
SUMMED = $(addprefix $(B)/,tested counted/tested asan/tested asan/stressed)

test-all:
	@$(SETUP) run test test-all check
	@$(AGAIN) -j$(JOBS) all
	@rm -rf $(SUMMED); failed=0; for step in run-test-all run-counted asan-all; do \
		echo "== $$step"; $(AGAIN) -k $$step || failed=1; done; \
	spec/support/sum_counts.sh $(SUMMED); exit $$failed

run-test-all: $(HELPERS)
	@PROFIO_ALL=1 $(RUN) tested --run=ci $$($(SPECS_OF) test-all $(ORDER))

# The core, built so that its steps can be counted, which are the same on any machine.
counted:
	@$(AGAIN) -j$(JOBS) B=$(B)/counted CFLAGS="-O1 -fsanitize-coverage=trace-pc" CC=gcc modules
	@$(AGAIN) B=$(B)/counted $(B)/counted/c/counter.so

run-counted: counted
	@LD_PRELOAD=$(abspath $(B))/counted/c/counter.so $(AGAIN) B=$(B)/counted \
		OPTIONS=--ignore-lua run-set SET=counted

run-set:
	@$(RUN) tested "$(OPTIONS) --run=ci" $$($(SPECS_OF) $(SET))

# Their variables are described in spec/support/torture.sh.
EVERY ?= 1
KILLS ?= 10000
SEED  ?= 1
TORTURE = B="$(B)" LUA="$(LUA)" BUSTED="$(BUSTED)" EVERY=$(EVERY) OF="$(OF)" AXES="$(AXES)" \
	KILLS=$(KILLS) SEED=$(SEED) CASE="$(CASE)" spec/support/torture.sh

torture: torture-faults torture-growth torture-store
	@$(TORTURE) writers

torture-growth: counted

torture-faults torture-growth torture-store: $(MODULE) $(STORE) $(HELPERS)
	@$(TORTURE) $(@:torture-%=%)

FILES ?= 10000

check-detection: $(MODULE)
	@$(IN_TREE) $(LUA) spec/support/check_detection.lua $(FILES) $(SEED)

setup:
	@$(SETUP) run test test-all check

# Fills the pages of help from the code.
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
	@$(AGAIN) -j$(JOBS) -O --keep-going SINCE="$(BASE)" $(LINTS)

lint:
	@$(SETUP) run test check
	@$(AGAIN) -j$(JOBS) all
	@$(AGAIN) -j$(JOBS) -O --keep-going $(LINTS)

# All files, or with SINCE=revision those that changed since, or that include what did.
$(LINTS): $(MODULE) $(STORE)
	@B="$(B)" JOBS=$(JOBS) LUA="$(LUA)" FLAGS="$(ALLFLAGS) $(WARN)" LINTED="$(SOURCES)" SINCE="$(SINCE)" \
		CHANGED="$(CHANGED)" spec/support/lint.sh $(@:lint-%=%)

# The builds of the sanitizers, the fuzzers, coverage, mutants and the bench.
include spec/support/checks.mk

# The single file, and those for other systems.
include csrc/program/standalone.mk
include csrc/program/cross.mk

# Installing. luarocks calls install-rock and places the command itself.

INSTALL = B="$(B)" LUA="$(LUA)" MODULES="$(MODULE) $(STORE)" DESTDIR="$(DESTDIR)" \
	LUADIR="$(LUADIR)" LIBDIR="$(LIBDIR)" BINDIR="$(BINDIR)" DATADIR="$(DATADIR)" \
	DOCDIR="$(DOCDIR)" spec/support/install.sh

install: install-module
	$(Q)$(INSTALL) command

install-module: $(MODULE) $(STORE) $(GENERATED)
	$(Q)$(INSTALL) module

install-rock: install-module
	$(Q)$(INSTALL) documents

uninstall:
	$(Q)$(INSTALL) uninstall

env:
	@echo 'export LUA_PATH="$(CURDIR)/lua/?.lua;$(CURDIR)/lua/?/init.lua;$${LUA_PATH:-;}"' \
		'LUA_CPATH="$(abspath $(B))/?.so;$${LUA_CPATH:-;}"'

# make rockspec VERSION=x.y.z URL=...: that of a release, whose source is the archive at URL.
rockspec:
	@test -n "$(VERSION)" -a -n "$(URL)" || \
		{ echo "make rockspec VERSION=x.y.z URL=of-the-archive"; exit 2; }
	@mkdir -p $(B)
	sed -e 's/^version = .*/version = "$(VERSION)-1"/' \
		-e 's|^   url = .*|   url = "$(URL)",|' -e '/^-- `make rockspec/d' \
		-e '/^-- luarocks does not know/d' -e 's/^   "lua ~> 5.4",$$/&\n   "argparse >= 0.7",/' \
		profio-scm-1.rockspec > $(B)/profio-$(VERSION)-1.rockspec

# make archive VERSION=x.y.z: the source of a release, with what is generated.
FOLDER = profio-$(VERSION)

archive: $(GENERATED)
	@test -n "$(VERSION)" || { echo "make archive VERSION=x.y.z"; exit 2; }
	{ cd $(B)/share && find * -type f | while read -r file; do \
		echo "--prefix=$(FOLDER)/build/share/$$(dirname $$file)/ --add-file=$(abspath $(B))/share/$$file"; \
	done; echo --prefix=$(FOLDER)/ HEAD; } | xargs git archive -o $(B)/$(FOLDER).tar.gz

clean:
	rm -rf $(B)

.PHONY: all modules archive demo docs test test-all test-quick test-user run-demo run-test run-test-all run-set \
	counted run-counted setup check lint lint-changed $(LINTS) check-detection torture \
	torture-faults torture-growth torture-store env install install-module install-rock uninstall rockspec clean
