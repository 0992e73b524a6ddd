-- A trace of the Xbase++ profiler: calls, calls that a BREAK left, and the overhead of calls.
-- Works with xpp: lua5.4 11-xbase.lua [PRF], a .PRF, one of its packets, or the text form

local profio = require "profio"

-- Not filtered: i is about to be called, I is entered, O is about to return, o has returned. LEN is
-- a built-in function; LOOKUP executes BREAK, and MAIN continues after its BEGIN SEQUENCE.
local text = { data = [[
TID,TIME,OP,MSG,LINE,PARAMS
1,0,I,MAIN,1,
1,2,i,ORDERS,14,"42"
1,3,I,ORDERS,40,
1,5,i,LEN,41,"{1, 2, 3}"
1,5,o,LEN,41,
1,9,i,LOOKUP,43,"""Smith"""
1,10,I,LOOKUP,70,
1,30,i,CLEANUP,20,
1,31,I,CLEANUP,90,
1,36,O,CLEANUP,95,
1,36,o,CLEANUP,20,
1,40,O,MAIN,22,
]] }

local trace <close> = assert(profio.open(arg[1] or text))

print "calls and times:"
trace:calls { recursion = "outermost" }:group("area")
   :aggregate { "numbers = sum(count)", "clear = sum(net)", "gross = sum(gross)" }
   :sort("-clear", "area"):print()

print "\nnot recorded from enter to leave:"
trace:calls():where { flags = profio.no(profio.missing) }:print("flags", "area", "start", "stop")

print "\nwhat calling costs:"
trace.entries:unfilter():where { event = "leave" }:group("call", "compiled")
   :aggregate { "n = count", "overhead = sum(overhead)" }:sort("-overhead", "call"):print()

-- As a table, in the form of the profiler: parameters go into a separate memo file.
local prf, beside = assert(trace:save(nil, { form = "foxdbe", symbol_size = 20 }))
local memos = beside and beside.memo or ""
print(("\nas a table: %d bytes, %d of parameters"):format(#prf, #memos))
