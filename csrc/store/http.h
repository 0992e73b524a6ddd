/*
** http.h - requests to servers over HTTP and HTTPS, several at once, through
** libcurl. Used by exchange.c, whose userdata own the client and the answers.
** Order of calls: open a client; any number of times send, step, wait and end;
** close it. Its connections stay open between the requests.
**
** A server is not trusted: certificates are checked, redirections are not
** followed, proxies of the environment are not used, and an answer counts only
** if it is complete. One thread at a time uses a client.
*/

#ifndef http_h
#define http_h

#include "profio.h"

#define PF_ANSWER_MAX ((size_t)8 << 30) /* bytes; larger ones: PF_ELIMIT */

/* A file of a form: rows of a temporary table of the query. Borrowed. */
typedef struct pf_http_file {
  const char *name;
  pf_bytes data;
} pf_http_file;

/* A request by POST. The texts are borrowed, the answer is owned. */
typedef struct pf_http_request {
  const char *url;             /* with its parameters */
  const char *user, *password; /* NULL: none */
  const char *ca; /* file with the certificates to trust; NULL: the system's */
  long timeout_s; /* for the whole request */
  bool is_encrypted; /* only https is accepted, else only http */
  pf_bytes body;     /* sent unless there are files */
  pf_http_file *files;
  size_t nfiles;
  uint8_t *answer;
  size_t size, capacity;
} pf_http_request;

typedef struct pf_http pf_http;

/* A client without connections; NULL when out of memory. */
pf_http *pf_http_open (void);
void pf_http_close (pf_http *client);

/* Whether libcurl was built with https. */
bool pf_http_encrypts (void);

/* Called several times a second: whether Ctrl-C was pressed. */
typedef struct pf_http_watch {
  bool (*is_over)(void *context);
  void *context;
} pf_http_watch;

/* Requests that were sent. */
typedef struct pf_http_sending pf_http_sending;

/*
** Begin to send all requests at once; they and what they refer to stay until
** pf_http_end; if one is encrypted, pf_http_encrypts() must be true. NULL when
** out of memory. pf_http_step transfers what can be without waiting; false:
** that is not possible any more, and pf_http_wait fails.
*/
pf_http_sending *pf_http_send (pf_http *client, pf_http_request *requests,
                               size_t count);
bool pf_http_step (pf_http_sending *sending);

/*
** Wait for all answers. After a failure *failed is the index of a request that
** has failed, and no answer may be used. PF_EIO: no connection, no answer in
** time, Ctrl-C, or the server refuses; PF_ETRUNCATED: the answer is incomplete;
** PF_ELIMIT; PF_ENOMEM.
*/
pf_status pf_http_wait (pf_http_sending *sending, const pf_http_watch *watch,
                        size_t *failed, pf_error *error);

/* End the requests, also those that have no answer yet; NULL: nothing
   happens. */
void pf_http_end (pf_http_sending *sending);

#endif
