/*
** core.c - the module profio.core: opens all files of the binding.
*/

#include <lauxlib.h>
#include <lua.h>

#include "lua/binding.h"

__attribute__((visibility("default"))) int luaopen_profio_core (lua_State *L);


int luaopen_profio_core (lua_State *L) {
  lua_newtable(L);
  lua_pushliteral(L, PF_VERSION);
  lua_setfield(L, -2, "version");
  l_open_binding(L);
  l_open_source(L);
  l_open_trace_part(L);
  l_open_reader(L);
  l_open_lua_decoder(L);
  l_open_conditions(L);
  l_open_stages(L);
  l_open_formulas(L);
  l_open_grouping(L);
  l_open_event_stages(L);
  l_open_timeline_spans(L);
  l_open_array_reader(L);
  l_open_symbol_table(L);
  l_open_profile(L);
  l_open_profile_contexts(L);
  l_open_export(L);
  l_open_export_contexts(L);
  l_open_export_firefox(L);
  l_open_export_samples(L);
  l_open_export_flames(L);
  l_open_export_pprof(L);
  l_open_output_handle(L);
  l_open_file_writer(L);
  l_open_written(L);
  l_open_stream(L);
  l_open_recover(L);
  l_open_recorder(L);
  l_open_rows(L);
  l_open_command(L);
  return 1;
}
