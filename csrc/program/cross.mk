# Programs for other systems, whose libraries come from the sources of Debian's packages: `make windows` writes
# $(B)/windows/standalone/profio.exe by mingw-w64; `make release` the archives of all.

SOURCE    := $(B)/sources
UNPACKED  := $(addprefix $(SOURCE)/,lua5.4/src/lua.h zlib/zlib.h expat/expat/lib/expat.h xxhash/xxhash.h \
	libiberty/include/demangle.h sqlite3/sqlite3.c)
LIBRARIES := $(addprefix $(B)/$(TO)/lib/,liblua.a libz.a libexpat.a libxxhash.a libsqlite3.a libiberty.a)

# Each file of a package stands for all of it.
$(filter-out %/sqlite3.c,$(UNPACKED)):
	$(Q)csrc/program/sources.sh $(abspath $(SOURCE)) $(firstword $(subst /, ,$(@:$(SOURCE)/%=%)))
	$(Q)[ $(@F) != expat.h ] || : > $(SOURCE)/expat/expat_config.h
	$(Q)[ $(@F) != lua.h ] || echo '#define DEB_HOST_MULTIARCH "none"' > $(@D)/lua5.4-deb-multiarch.h

# One file of all of SQLite, which tclsh writes.
$(SOURCE)/sqlite3/sqlite3.c:
	$(Q)csrc/program/sources.sh $(abspath $(SOURCE)) sqlite3
	$(Q)cd $(@D) && env -u CC -u MAKEFLAGS -u MFLAGS sh -c \
		'{ ./configure --disable-tcl && make sqlite3.c; } >made.txt 2>&1'

# A library of some sources, for the compiler CC.
define library
$(B)/$(TO)/lib/lib$(1).a: $(UNPACKED)
	@mkdir -p $$(@D)/$(1); echo "  lib $$@"
	$$(Q)cd $$(@D)/$(1) && $$(CC) -O2 -fPIC $(3) -c $$(filter-out %/lua.c %/luac.c,$$(wildcard $(abspath $(SOURCE))/$(2))) \
		&& ar rcs ../lib$(1).a *.o
endef

# The parts of zlib that know no files.
ZLIB := adler32 compress crc32 deflate infback inffast inflate inftrees trees uncompr zutil

$(eval $(call library,lua,lua5.4/src/*.c,$(LUA_FLAGS)))
$(eval $(call library,xxhash,xxhash/xxhash.c))
$(eval $(call library,sqlite3,sqlite3/sqlite3.c,-DSQLITE_THREADSAFE=1 -DSQLITE_OMIT_LOAD_EXTENSION \
	-DSQLITE_DEFAULT_WAL_SYNCHRONOUS=1))
$(eval $(call library,z,zlib/[aciduntz]*.c))
# As its configure would find it: the seed of its tables comes from the reader.
$(eval $(call library,expat,expat/expat/lib/xml*.c,-DXML_STATIC -DXML_POOR_ENTROPY -DXML_DTD -DXML_GE=1 -DXML_CONTEXT_BYTES=0 \
	-I$(abspath $(SOURCE))/expat))

$(eval $(call library,iberty,libiberty/libiberty/[crs][pua][-sf][tde]*.c,-DHAVE_STDLIB_H -DHAVE_STRING_H \
	-I$(abspath $(SOURCE))/libiberty/include))

# What is compiled for another system.
MINGW    := x86_64-w64-mingw32
INCLUDED  = -DXML_STATIC -I$(SOURCE)/zlib -I$(SOURCE)/expat/expat/lib -I$(SOURCE)/xxhash -I$(SOURCE)/sqlite3 \
	-I$(SOURCE)/libiberty/include
CROSS     = $(AGAIN) -j$(JOBS) HOST=$(abspath $(B)) LUA_INC=-I$(SOURCE)/lua5.4/src

STRIP_OF_windows       := $(MINGW)-strip
STRIP_OF_musl          := strip
STRIP_OF_linux-aarch64 := aarch64-linux-gnu-strip
STRIP_OF_linux-s390x   := s390x-linux-gnu-strip
STRIP_OF_linux-i386    := i686-linux-gnu-strip

# Builds the program for the system TO with a compiler and its own libraries, and the modules
# that `profio unpack` writes.
define crossed
	@$(AGAIN) TO=$(1) CC="$(2)" LUA_FLAGS="$(5)" libraries $(7)
	@mkdir -p $(B)/$(1) && touch $(B)/$(1)/has-headers
	@$(CROSS) B=$(B)/$(1) CC="$(2)" CPPFLAGS="-DHAVE_DECL_BASENAME=1 $(INCLUDED) $(3)" \
		STRIP=$(STRIP_OF_$(1)) LDFLAGS="-L$(B)/$(1)/lib" \
		LIBS="$(8) -lz -lexpat -liberty $(4) -lpthread" CROSS_LIBS="-lxxhash -lz -lexpat -liberty $(8) $(4) -lpthread" \
		STATIC_LIBS="-static -llua -lsqlite3 -lxxhash -lz -lexpat -liberty $(4) -lpthread" $(6) standalone
endef

# What a Lua 5.4 of Windows exports: lua54.dll, as its builders call it.
$(B)/windows/lib/liblua54.a: $(B)/windows/lib/liblua.a
	$(Q){ echo 'LIBRARY lua54.dll'; echo EXPORTS; $(MINGW)-nm -g $< | sed -n 's/.* T //p' | sort -u; } \
		> $(@:.a=.def) && $(MINGW)-dlltool -d $(@:.a=.def) -l $@

windows:
	@$(SETUP) run store windows
	$(call crossed,windows,$(MINGW)-gcc,-D__USE_MINGW_ANSI_STDIO=1 -Wno-attributes \
		-Wno-float-conversion -Wno-format,-lshell32,,SYSTEM=windows,$(B)/windows/lib/liblua54.a,-static -llua54)

# Linux on other machines: s390x writes the bytes of numbers in the other order, so its archive has sources.
linux-aarch64:
	@$(SETUP) run store machines
	$(call crossed,$@,aarch64-linux-gnu-gcc,,-lm,-DLUA_USE_POSIX)

linux-s390x:
	@$(SETUP) run store machines
	$(call crossed,$@,s390x-linux-gnu-gcc,,-lm,-DLUA_USE_POSIX,FORM=sources)

# 32 bits: clang has the integers of 128 bits that gcc has from version 14 on.
linux-i386:
	@$(SETUP) run store machines
	$(call crossed,$@,clang --target=i686-linux-gnu -msse2,-D_FILE_OFFSET_BITS=64 -D_TIME_BITS=64,-lm,-DLUA_USE_POSIX)

# Linux without any C library of the system.
musl:
	@$(SETUP) run store machines
	$(call crossed,$@,musl-gcc,,-lm,-DLUA_USE_POSIX)

libraries: $(LIBRARIES)

# The same answers, byte for byte, as those of the program for this machine.
SAME = $(IN_TREE) $(LUA) spec/support/same_bytes.lua $(abspath $(B))/same $(abspath $(PROGRAM))

# The Lua of somebody else, as they build it on Windows, for what `profio unpack` writes.
FOREIGN   := $(B)/windows/foreign/lua.exe
FEW_CALLS := spec/fuzz/corpus/xpp/deldbe

$(FOREIGN): $(SOURCE)/lua5.4/src/lua.h
	@mkdir -p $(@D)
	$(Q)cd $(@D) && $(MINGW)-gcc -O2 -DLUA_BUILD_AS_DLL -shared -s -o lua54.dll \
		$(filter-out %/lua.c %/luac.c,$(wildcard $(abspath $(SOURCE))/lua5.4/src/*.c)) && \
		$(MINGW)-gcc -O2 -DLUA_BUILD_AS_DLL -s -o lua.exe $(abspath $(SOURCE))/lua5.4/src/lua.c lua54.dll

# Specs of the command that need neither signals nor a terminal.
OF_COMMAND := $(patsubst %,spec/cli/%_spec.lua,completion conflicts empty_hints escapes selection store \
	store_trend values)

# Wine says something when it makes its folder.
test-windows: export WINEPREFIX = $(abspath $(B))/wine
test-windows: export WINEDEBUG  = -all
test-windows: all standalone windows $(FOREIGN)
	@wine $(B)/windows/standalone/profio.exe --version >/dev/null 2>&1
	@$(SAME) "wine $(abspath $(B))/windows/standalone/profio.exe"
	@cd $(dir $(FOREIGN)) && rm -rf module && wine ../standalone/profio.exe unpack module >/dev/null && \
		cp $(CURDIR)/examples/analyze.lua module && \
		LUA_PATH="module/?.lua;module/?/init.lua" LUA_CPATH="module/?.dll" \
		wine lua.exe module/analyze.lua $(CURDIR)/$(FEW_CALLS) 2>/dev/null | tr -d '\r' > said.txt && \
		$(abspath $(PROGRAM)) $(CURDIR)/$(FEW_CALLS) 2>/dev/null | cmp - said.txt && \
		echo "the module in another Lua: the same"
	@mkdir -p $(B)/windows/specs && PROFIO_BUILD=$(B)/windows/specs spec/support/inside.sh \
		wine $(B)/windows/standalone/profio.exe
	@$(IN_TREE) PROFIO_BUILD=$(B)/windows/cli \
		PROFIO_PROGRAM="wine $(abspath $(B))/windows/standalone/profio.exe" busted --lua=$(LUA) --run=ci $(OF_COMMAND)

test-machines: all standalone musl linux-i386 linux-aarch64 linux-s390x
	@$(SAME) $(abspath $(B))/musl/standalone/profio
	@$(SAME) $(abspath $(B))/linux-i386/standalone/profio
	@$(SAME) "qemu-aarch64 $(abspath $(B))/linux-aarch64/standalone/profio" alone
	@$(SAME) "qemu-s390x $(abspath $(B))/linux-s390x/standalone/profio" alone

# make release: an archive for each system, with the licences of what is inside, and their sums. The files in it
# have the time of the last commit, so that the same sources give the same bytes.
VERSION_OF := $(shell sed -n 's/.*PF_VERSION *"\(.*\)".*/\1/p' csrc/profio.h)
RELEASED   := $(B)/release
INSIDE     := liblua5.4-dev zlib1g-dev libexpat1-dev libsqlite3-dev libxxhash-dev libiberty-dev lua-argparse lua-dkjson

release: standalone windows musl linux-aarch64
	@rm -rf $(RELEASED) && mkdir -p $(RELEASED)
	@csrc/program/release.sh $(RELEASED) profio-$(VERSION_OF)-linux-x86_64 $(PROGRAM) $(INSIDE)
	@csrc/program/release.sh $(RELEASED) profio-$(VERSION_OF)-linux-x86_64-static \
		$(B)/musl/standalone/profio $(INSIDE) musl-dev
	@csrc/program/release.sh $(RELEASED) profio-$(VERSION_OF)-linux-aarch64 \
		$(B)/linux-aarch64/standalone/profio $(INSIDE) libc6-dev-arm64-cross
	@csrc/program/release.sh $(RELEASED) profio-$(VERSION_OF)-windows-x86_64 \
		$(B)/windows/standalone/profio.exe $(INSIDE) mingw-w64-x86-64-dev
	@cd $(RELEASED) && sha256sum *.tar.gz *.zip > SHA256SUMS && cat SHA256SUMS

.PHONY: release windows linux-aarch64 linux-i386 linux-s390x musl libraries test-windows test-machines
