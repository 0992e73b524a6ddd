/*
** timing_stages.c - core.chains, core.chain_spans and core.jobs: latencies of
** chains of events, and response times of tasks.
**
** Called by internal/calls. A reader userdata owns each stage and pins its
** input and the options.
*/

#include "kernels/chains/chains.h"
#include "kernels/tasks/jobs.h"
#include "lua/arguments.h"


/* Reads a step of a chain from the table at `at`, which keeps its texts. */
static pf_chain_step chain_step (lua_State *L, int at) {
  static const char *const kinds[] = {"leave", "suspend", "resume",
                                      "enter", "write",   NULL};
  static const char *const tests[] = {"",   "=", "!=", "<",
                                      "<=", ">", ">=", NULL};
  pf_chain_step step = {.area = l_option_text(L, at, "area", NULL),
                        .lane = l_option_text(L, at, "lane", NULL),
                        .state = l_option_text(L, at, "state", NULL)};
  step.has_state_value = l_option_int(L, at, "state_value", &step.state_value);
  lua_getfield(L, at, "event");
  step.kind = (pf_event_kind)luaL_checkoption(L, -1, NULL, kinds);
  lua_getfield(L, at, "test");
  step.test = (pf_chain_test)luaL_checkoption(L, -1, "", tests);
  if (lua_getfield(L, at, "pattern") != LUA_TNIL)
    step.pattern = l_pattern_check(L, -1);
  lua_getfield(L, at, "operand");
  step.operand = lua_tonumber(L, -1);
  lua_pop(L, 4);
  luaL_argcheck(L, step.pattern != NULL || step.area != NULL, 2,
                "a step without an area");
  return step;
}


/* Reads a chain from the table at `at`; pushes the array of its steps. */
static pf_chain chain_of (lua_State *L, int at) {
  pf_chain chain = {.name = l_option_text(L, at, "name", ""),
                    .is_age = l_option_flag(L, at, "age"),
                    .has_bound = l_option_int(L, at, "bound", &chain.bound)};
  lua_getfield(L, at, "steps");
  const int list = lua_gettop(L);
  luaL_checktype(L, list, LUA_TTABLE);
  chain.nsteps = l_length(L, list);
  luaL_argcheck(L, chain.nsteps >= 2 && chain.nsteps <= PF_CHAIN_STEPS, 2,
                "a chain has 2 to 64 steps");
  pf_chain_step *const steps = l_scratch(L, chain.nsteps, sizeof *steps);
  for (size_t i = 0; i < chain.nsteps; i++) {
    lua_rawgeti(L, list, (lua_Integer)i + 1);
    luaL_checktype(L, -1, LUA_TTABLE);
    steps[i] = chain_step(L, lua_gettop(L));
    lua_pop(L, 1);
  }
  chain.steps = steps;
  return chain;
}


/* core.chains(events, options): the rows described in chains.h. Options: from,
   to (ns), chains: an array of { name =, age =, bound =, steps = { { area = or
   pattern =, event =, lane =, state =, test =, operand = }, ... } }, which must
   not be changed. */
static int core_chains (lua_State *L) {
  pf_reader *const events = l_reader_check(L, 1)->reader;
  pf_chain_options options = {.from = INT64_MIN, .to = INT64_MAX};
  luaL_checktype(L, 2, LUA_TTABLE);
  lua_settop(L, 2);
  l_option_int(L, 2, "from", &options.from);
  l_option_int(L, 2, "to", &options.to);
  lua_getfield(L, 2, "chains");
  luaL_checktype(L, 3, LUA_TTABLE);
  options.count = l_length(L, 3);
  pf_chain *const chains = l_scratch(L, options.count + 1, sizeof *chains);
  luaL_checkstack(L, (int)options.count * 3 + 20, "chains");
  for (size_t i = 0; i < options.count; i++) {
    lua_rawgeti(L, 3, (lua_Integer)i + 1);
    luaL_checktype(L, -1, LUA_TTABLE);
    chains[i] = chain_of(L, lua_gettop(L));
  }
  options.chains = chains;
  l_reader *const r = l_reader_new(L);
  return l_reader_opened(
      L, pf_chains_open(events, &options, &r->reader, &r->error));
}


/* Reads the options `states`, an array of { name, meaning }, and `running`, an
   array of variables, of the table at 2, which must not be changed. */
static void states_check (lua_State *L, pf_jobs_options *options) {
  static const char *const meanings[] = {"active",     "ready",   "running",
                                         "polling",    "parking", "waiting",
                                         "terminated", NULL};
  luaL_checktype(L, 2, LUA_TTABLE);
  lua_settop(L, 2);
  lua_getfield(L, 2, "states");
  luaL_checktype(L, 3, LUA_TTABLE);
  options->count = l_length(L, 3);
  pf_state_name *const names = l_scratch(L, options->count + 1, sizeof *names);
  for (size_t i = 0; i < options->count; i++) {
    lua_rawgeti(L, 3, (lua_Integer)i + 1);
    luaL_checktype(L, -1, LUA_TTABLE);
    lua_rawgeti(L, -1, 1);
    lua_rawgeti(L, -2, 2);
    names[i].text = l_string_check(L, -2, "states"); /* the table keeps it */
    names[i].state = (pf_task_state)(PF_TASK_ACTIVE +
                                     luaL_checkoption(L, -1, NULL, meanings));
    lua_pop(L, 3);
  }
  options->names = names;
  lua_getfield(L, 2, "running");
  if (lua_isnil(L, -1))
    return;
  luaL_checktype(L, -1, LUA_TTABLE);
  const int list = lua_gettop(L);
  options->nrunning = l_length(L, list);
  const char **const running =
      l_scratch(L, options->nrunning + 1, sizeof *running);
  for (size_t i = 0; i < options->nrunning; i++) {
    lua_rawgeti(L, list, (lua_Integer)i + 1);
    running[i] = l_string_check(L, -1, "running"); /* the table keeps it */
    lua_pop(L, 1);
  }
  options->running = running;
}


/* core.jobs(events, options): the rows described in jobs.h. Options: from, to
   (ns), until_wait, states: an array of { name, meaning }; meanings: active,
   ready, running, polling, parking, waiting, terminated; running: variables. */
static int core_jobs (lua_State *L) {
  pf_reader *const events = l_reader_check(L, 1)->reader;
  pf_jobs_options options = {.from = INT64_MIN, .to = INT64_MAX};
  states_check(L, &options);
  options.until_wait = l_option_flag(L, 2, "until_wait");
  l_option_int(L, 2, "from", &options.from);
  l_option_int(L, 2, "to", &options.to);
  l_reader *const r = l_reader_new(L);
  return l_reader_opened(L,
                         pf_jobs_open(events, &options, &r->reader, &r->error));
}


/* core.task_calls(events, options): jobs as events of calls in lanes of tasks;
   the options states and running are those of core.jobs; core: that of tasks
   of which the events have none. */
static int core_task_calls (lua_State *L) {
  pf_reader *const events = l_reader_check(L, 1)->reader;
  pf_jobs_options options = {.core = -1};
  states_check(L, &options);
  l_option_int(L, 2, "core", &options.core);
  l_reader *const r = l_reader_new(L);
  return l_reader_opened(
      L, pf_task_calls_open(events, &options, &r->reader, &r->error));
}


/* core.chain_spans(reader): the rows of core.chains, sorted by start, as events
   in lanes of their own. */
static int core_chain_spans (lua_State *L) {
  pf_reader *const instances = l_reader_check(L, 1)->reader;
  l_reader *const r = l_reader_new(L);
  return l_reader_opened(L,
                         pf_chain_spans_open(instances, &r->reader, &r->error));
}


void l_open_timing_stages (lua_State *L) {
  L_ADD(L, {"chains", core_chains}, {"chain_spans", core_chain_spans},
        {"jobs", core_jobs}, {"task_calls", core_task_calls});
}
