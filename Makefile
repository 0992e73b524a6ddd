# profio: one Makefile for everything. Generated files go to $(B).

B       ?= build
CC      ?= cc
CFLAGS  ?= -O2 -g
LUA     ?= lua5.4
PKGS    := lua5.4 libdw libelf zlib

LUA_INC ?= $(shell pkg-config --cflags lua5.4)
CPPFLAGS += -D_POSIX_C_SOURCE=200809L -Icsrc
LIBS    ?= $(shell pkg-config --libs libdw libelf zlib) -lstdc++ -lm -lpthread
WARN    := -Wall -Wextra -Wpedantic -Wshadow -Wstrict-prototypes \
	-Wmissing-prototypes -Wpointer-arith -Wcast-qual -Wwrite-strings -Wundef \
	-Wvla -Wconversion -Wno-sign-conversion

SOURCES := $(sort $(wildcard csrc/*/*.c csrc/formats/*/*.c))
CORE    := $(filter-out csrc/lua/%,$(SOURCES))
OBJECTS := $(SOURCES:csrc/%.c=$(B)/obj/%.o)
MODULE  := $(B)/profio/core.so

all: $(MODULE)

$(MODULE): $(OBJECTS)
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) -shared -o $@ $(OBJECTS) $(LDFLAGS) $(LIBS)

$(B)/obj/%.o: csrc/%.c
	@mkdir -p $(@D)
	$(CC) -std=c11 $(CPPFLAGS) $(LUA_INC) $(WARN) $(CFLAGS) -fPIC \
		-fvisibility=hidden -MMD -MP -c $< -o $@

-include $(OBJECTS:.o=.d)

clean:
	rm -rf $(B)

.PHONY: all clean
