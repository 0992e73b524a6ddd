# The single file: `make standalone` writes $(B)/standalone/profio. All libraries but those of the C library are
# inside. What `profio unpack` writes is inside too, packed.

EXE      := $(if $(filter windows,$(SYSTEM)),.exe)
HOST     ?= $(B)
PROGRAM  := $(B)/standalone/profio$(EXE)
PROGRAM_OBJECTS := $(patsubst csrc/%,$(B)/obj/%.o,$(basename $(wildcard csrc/program/*.c))) \
	$(patsubst %/http.o,%/no_http.o,$(STORE_SOURCES:csrc/%.c=$(B)/obj/%.o))
ARCHIVED := $(shell find lua -type f)
STRIP    ?= strip

# What a script may load by `require` finds the functions of Lua in the program.
STATIC_LIBS ?= -no-pie -Wl,-Bstatic -Wl,--whole-archive -llua5.4 -Wl,--no-whole-archive \
	$(shell pkg-config --static --libs-only-l zlib expat sqlite3 libxxhash | \
		sed 's/-lpthread//g; s/-lm\b//g') \
	-liberty -Wl,-Bdynamic -Wl,-E -lm -ldl -lpthread

standalone: $(PROGRAM)

$(B)/standalone/unpacked.gz: $(MODULES) $(ARCHIVED) spec/support/unpacked.lua
	@mkdir -p $(@D)
	$(Q)STRIP=$(STRIP) PROFIO_BUILD=$(HOST) LUA_CPATH="$(HOST)/?.so;;" LUA_PATH="lua/?.lua;lua/?/init.lua;./?.lua;;" \
		$(LUA) spec/support/unpacked.lua $(B) $(MODULES) | gzip -9n > $@

$(B)/standalone/archive: $(ARCHIVED) spec/support/embed.lua $(if $(MODULES),$(B)/standalone/unpacked.gz)
	@mkdir -p $(@D)
	$(Q)$(LUA) spec/support/embed.lua $@ $(or $(FORM),compiled) \
		$(if $(MODULES),--resource unpacked $(B)/standalone/unpacked.gz)

$(B)/obj/program/archive.o: csrc/program/archive.S $(B)/standalone/archive
	@mkdir -p $(@D)
	$(Q)$(CC) -DARCHIVE='"$(B)/standalone/archive"' -c $< -o $@

$(PROGRAM): $(PROGRAM_OBJECTS) $(OBJECTS) $(B)/obj/program/archive.o
	$(SHOWN)
	$(Q)$(CC) $(CFLAGS) -s -o $@ $^ $(LDFLAGS) $(STATIC_LIBS)

-include $(PROGRAM_OBJECTS:.o=.d)

.PHONY: standalone
