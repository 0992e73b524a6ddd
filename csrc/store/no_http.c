/*
** no_http.c - the client of HTTP (http.h) of a build without libcurl: each
** request fails.
*/

#include "store/http.h"

struct pf_http {
  char unused;
};

struct pf_http_sending {
  char unused;
};

static pf_http client;
static pf_http_sending sent;


pf_http *pf_http_open (void) {
  return &client;
}


void pf_http_close (pf_http *c) {
  (void)c;
}


bool pf_http_encrypts (void) {
  return true; /* the request then says what is missing */
}


pf_http_sending *pf_http_send (pf_http *c, pf_http_request *requests,
                               size_t count) {
  (void)c;
  (void)requests;
  (void)count;
  return &sent;
}


bool pf_http_step (pf_http_sending *sending) {
  (void)sending;
  return false;
}


pf_status pf_http_wait (pf_http_sending *sending, const pf_http_watch *watch,
                        size_t *failed, pf_error *error) {
  (void)sending;
  (void)watch;
  *failed = 0;
  return pf_refuse(error, "this build has no libcurl, which stores in "
                          "ClickHouse need");
}


void pf_http_end (pf_http_sending *sending) {
  (void)sending;
}
