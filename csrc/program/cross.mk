# Programs for other systems, whose libraries come from the sources of Debian's packages: `make windows` writes
# $(B)/windows/standalone/profio.exe by mingw-w64.

SOURCE    := $(B)/sources
UNPACKED  := $(addprefix $(SOURCE)/,lua5.4/src/lua.h zlib/zlib.h xxhash/xxhash.h \
	libiberty/include/demangle.h sqlite3/sqlite3.c)
LIBRARIES := $(addprefix $(B)/$(TO)/lib/,liblua.a libz.a libxxhash.a libsqlite3.a libiberty.a)

# Each file of a package stands for all of it.
$(filter-out %/sqlite3.c,$(UNPACKED)):
	$(Q)csrc/program/sources.sh $(abspath $(SOURCE)) $(firstword $(subst /, ,$(@:$(SOURCE)/%=%)))
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
	$$(Q)cd $$(@D)/$(1) && $$(CC) -O2 $(3) -c $$(filter-out %/lua.c %/luac.c,$$(wildcard $(abspath $(SOURCE))/$(2))) \
		&& ar rcs ../lib$(1).a *.o
endef

# The parts of zlib that know no files.
ZLIB := adler32 compress crc32 deflate infback inffast inflate inftrees trees uncompr zutil

$(eval $(call library,lua,lua5.4/src/*.c,$(LUA_FLAGS)))
$(eval $(call library,xxhash,xxhash/xxhash.c))
$(eval $(call library,sqlite3,sqlite3/sqlite3.c,-DSQLITE_THREADSAFE=1 -DSQLITE_OMIT_LOAD_EXTENSION \
	-DSQLITE_DEFAULT_WAL_SYNCHRONOUS=1))
$(eval $(call library,z,zlib/[aciduntz]*.c))

$(eval $(call library,iberty,libiberty/libiberty/[crs][pua][-sf][tde]*.c,-DHAVE_STDLIB_H -DHAVE_STRING_H \
	-I$(abspath $(SOURCE))/libiberty/include))

# What is compiled for another system.
MINGW    := x86_64-w64-mingw32
INCLUDED  = -I$(SOURCE)/zlib -I$(SOURCE)/xxhash -I$(SOURCE)/sqlite3 \
	-I$(SOURCE)/libiberty/include
CROSS     = $(AGAIN) -j$(JOBS) MODULES= LUA_INC=-I$(SOURCE)/lua5.4/src

# Builds the program for the system TO with a compiler and its own libraries.
define crossed
	@$(AGAIN) TO=$(1) CC="$(2)" LUA_FLAGS="$(5)" libraries
	@mkdir -p $(B)/$(1) && touch $(B)/$(1)/has-headers
	@$(CROSS) B=$(B)/$(1) CC="$(2)" CPPFLAGS="-DHAVE_DECL_BASENAME=1 $(INCLUDED) $(3)" \
		STATIC_LIBS="-static -L$(B)/$(1)/lib -llua -lsqlite3 -lxxhash -lz -liberty $(4) -lpthread" $(6) standalone
endef

windows:
	$(call crossed,windows,$(MINGW)-gcc,-D__USE_MINGW_ANSI_STDIO=1 -Wno-attributes \
		-Wno-float-conversion -Wno-format,-lshell32,,SYSTEM=windows)

# Linux on other machines: s390x writes the bytes of numbers in the other order, so its archive has sources.
linux-aarch64:
	$(call crossed,$@,aarch64-linux-gnu-gcc,,-lm,-DLUA_USE_POSIX)

linux-s390x:
	$(call crossed,$@,s390x-linux-gnu-gcc,,-lm,-DLUA_USE_POSIX,FORM=sources)

# Linux without any C library of the system.
musl:
	$(call crossed,$@,musl-gcc,,-lm,-DLUA_USE_POSIX)

libraries: $(LIBRARIES)

# The same answers, byte for byte, as those of the program for this machine.
SAME = $(IN_TREE) $(LUA) spec/support/same_bytes.lua $(abspath $(B))/same $(abspath $(PROGRAM))

# Wine says something when it makes its folder.
test-windows: export WINEPREFIX = $(abspath $(B))/wine
test-windows: export WINEDEBUG  = -all
test-windows: all standalone windows
	@wine $(B)/windows/standalone/profio.exe --version >/dev/null 2>&1
	@$(SAME) "wine $(abspath $(B))/windows/standalone/profio.exe"

test-machines: all standalone musl linux-aarch64 linux-s390x
	@$(SAME) $(abspath $(B))/musl/standalone/profio
	@$(SAME) "qemu-aarch64 $(abspath $(B))/linux-aarch64/standalone/profio" alone
	@$(SAME) "qemu-s390x $(abspath $(B))/linux-s390x/standalone/profio" alone

.PHONY: windows linux-aarch64 linux-s390x musl libraries test-windows test-machines
