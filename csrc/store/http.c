/*
** http.c - requests over HTTP through libcurl. The only file that includes the
** header of libcurl.
*/

#include <curl/curl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bytes/text.h"
#include "model/system/parallel.h"
#include "model/base/memory.h"
#include "store/http.h"

#define CONNECT_S 10
#define POLL_MS   100 /* Ctrl-C is noticed as soon */
#define SHOWN     150 /* bytes of a server's message */

struct pf_http {
  CURLM *multi;              /* owned; it keeps the connections */
  pf_http_sending *sendings; /* that have not ended; a list */
};

/* A request on its way. */
typedef struct flight {
  pf_http_request *request;
  CURL *easy;
  curl_mime *form;
  struct curl_slist *headers;
  CURLcode result;
  bool is_done, is_too_large, lacks_memory;
  bool has_end;       /* the answer states where it ends */
  bool has_exception; /* a header says that the query failed */
  char why[CURL_ERROR_SIZE];
} flight;

struct pf_http_sending {
  pf_http *client; /* NULL: closed */
  pf_http_sending *next;
  flight *flights; /* owned */
  size_t count;
};

static void leave (pf_http_sending *sending);


pf_http *pf_http_open (void) {
  pf_http *const client = pf_array_of_zeros(1, sizeof *client);
  if (client == NULL)
    return NULL;
  client->multi = curl_multi_init();
  if (client->multi != NULL)
    return client;
  free(client);
  return NULL;
}


bool pf_http_encrypts (void) {
  return (curl_version_info(CURLVERSION_NOW)->features & CURL_VERSION_SSL) != 0;
}


void pf_http_close (pf_http *client) {
  if (client == NULL)
    return;
  while (client->sendings != NULL)
    leave(client->sendings);
  (void)curl_multi_cleanup(client->multi);
  free(client);
}


static size_t take_bytes (char *bytes, size_t size, size_t count,
                          void *context) {
  flight *const f = context;
  pf_http_request *const r = f->request;
  const size_t more = size * count;
  if (more > PF_ANSWER_MAX - r->size) {
    f->is_too_large = true;
    return 0;
  }
  if (!pf_grow(&r->answer, &r->capacity, r->size + more)) {
    f->lacks_memory = true;
    return 0;
  }
  if (more > 0)
    memcpy(r->answer + r->size, bytes, more);
  r->size += more;
  return more;
}


static bool begins_with (const char *bytes, size_t size, const char *start) {
  const size_t length = strlen(start);
  return size >= length &&
         pf_bytes_alike((pf_bytes){(const uint8_t *)bytes, length},
                        (pf_bytes){(const uint8_t *)start, length});
}


static size_t take_header (char *bytes, size_t size, size_t count,
                           void *context) {
  flight *const f = context;
  const size_t length = size * count;
  if (begins_with(bytes, length,
                  "HTTP/")) /* of each response, the last counts */
    f->has_end = f->has_exception = false;
  else if (begins_with(bytes, length, "content-length:") ||
           begins_with(bytes, length, "transfer-encoding: chunked"))
    f->has_end = true;
  else if (begins_with(bytes, length, "x-clickhouse-exception-code:"))
    f->has_exception = true;
  return length;
}

/* Add the header "NAME: VALUE". False when out of memory. */
static bool add_header (flight *f, const char *name, const char *value) {
  const size_t size = strlen(name) + strlen(value) + 3;
  char *const line = pf_array(size, 1);
  if (line == NULL)
    return false;
  (void)snprintf(line, size, "%s: %s", name, value);
  struct curl_slist *const list = curl_slist_append(f->headers, line);
  free(line);
  if (list != NULL)
    f->headers = list;
  return list != NULL;
}


static bool set_headers (flight *f) {
  const pf_http_request *const r = f->request;
  return add_header(f, "Expect", "") &&
         (r->user == NULL || add_header(f, "X-ClickHouse-User", r->user)) &&
         (r->password == NULL ||
          add_header(f, "X-ClickHouse-Key", r->password)) &&
         (r->nfiles > 0 ||
          add_header(f, "Content-Type", "application/octet-stream")) &&
         curl_easy_setopt(f->easy, CURLOPT_HTTPHEADER, f->headers) == CURLE_OK;
}


/* Add a form with the files. */
static bool set_form (flight *f) {
  const pf_http_request *const r = f->request;
  f->form = curl_mime_init(f->easy);
  for (size_t i = 0; f->form != NULL && i < r->nfiles; i++) {
    curl_mimepart *const part = curl_mime_addpart(f->form);
    if (part == NULL || curl_mime_name(part, r->files[i].name) != CURLE_OK ||
        curl_mime_filename(part, r->files[i].name) != CURLE_OK ||
        curl_mime_data(part, (const char *)r->files[i].data.at,
                       r->files[i].data.size) != CURLE_OK)
      return false;
  }
  return f->form != NULL &&
         curl_easy_setopt(f->easy, CURLOPT_MIMEPOST, f->form) == CURLE_OK;
}


static bool set_body (flight *f) {
  const pf_http_request *const r = f->request;
  if (r->nfiles > 0)
    return set_form(f);
  /* libcurl sends a request again when a connection that was kept turns out to
     be closed. Rows must not be inserted twice, so they have a connection of
     their own. */
  return curl_easy_setopt(f->easy, CURLOPT_POST, 1L) == CURLE_OK &&
         curl_easy_setopt(f->easy, CURLOPT_POSTFIELDSIZE_LARGE,
                          (curl_off_t)r->body.size) == CURLE_OK &&
         curl_easy_setopt(f->easy, CURLOPT_POSTFIELDS,
                          r->body.size == 0 ? "" : (const char *)r->body.at) ==
             CURLE_OK &&
         curl_easy_setopt(f->easy, CURLOPT_FRESH_CONNECT,
                          (long)(r->body.size > 0)) == CURLE_OK;
}


/* Create the handle of a request. False when out of memory, or when libcurl
   does not know the protocol. */
static bool prepare (flight *f) {
  const pf_http_request *const r = f->request;
  CURL *const easy = f->easy = curl_easy_init();
#define SET(option, value) \
  (curl_easy_setopt(easy, (option), (value)) == CURLE_OK)
  return easy != NULL && SET(CURLOPT_ERRORBUFFER, f->why) &&
         SET(CURLOPT_PRIVATE, f) && SET(CURLOPT_NOSIGNAL, 1L) &&
         SET(CURLOPT_PROTOCOLS_STR, r->is_encrypted ? "https" : "http") &&
         SET(CURLOPT_PROXY, "") && SET(CURLOPT_URL, r->url) &&
         SET(CURLOPT_CONNECTTIMEOUT, (long)CONNECT_S) &&
         SET(CURLOPT_TIMEOUT, r->timeout_s) &&
         SET(CURLOPT_WRITEFUNCTION, take_bytes) && SET(CURLOPT_WRITEDATA, f) &&
         SET(CURLOPT_HEADERFUNCTION, take_header) &&
         SET(CURLOPT_HEADERDATA, f) &&
         (r->ca == NULL || SET(CURLOPT_CAINFO, r->ca)) && set_body(f) &&
         set_headers(f);
#undef SET
}

/* Fail with the first bytes of what the server says, as one line. */
static pf_status fail_as_told (const flight *f, const char *what,
                               pf_error *error) {
  const pf_http_request *const r = f->request;
  char told[SHOWN + 1];
  size_t size = 0;
  for (size_t i = 0; i < r->size && size < SHOWN; i++) {
    const uint8_t byte = r->answer[i];
    if (byte >= ' ' && byte != 0x7f)
      told[size++] = (char)byte;
    else if (size > 0 && told[size - 1] != ' ')
      told[size++] = ' ';
  }
  while (size > 0 && told[size - 1] == ' ')
    size--;
  told[size] = '\0';
  return pf_fail(error, PF_EIO, PF_NO_OFFSET, "%s: %s", what,
                 size > 0 ? told : "it does not say why");
}


/* Whether the answer is a failure to identify the user: UNKNOWN_USER,
   WRONG_PASSWORD, REQUIRED_PASSWORD or AUTHENTICATION_FAILED. */
static bool is_unknown_user (const pf_http_request *r) {
  static const char *const codes[] = {"Code: 192", "Code: 193", "Code: 194",
                                      "Code: 516"};
  for (size_t i = 0; i < sizeof codes / sizeof *codes; i++)
    if (r->size >= 9 && memcmp(r->answer, codes[i], 9) == 0)
      return true;
  return false;
}


static pf_status transfer_failure (const flight *f, pf_error *error) {
  const char *const why =
      f->why[0] != '\0' ? f->why : curl_easy_strerror(f->result);
  if (f->lacks_memory || f->result == CURLE_OUT_OF_MEMORY)
    return pf_no_memory(error);
  if (f->is_too_large)
    return pf_fail(error, PF_ELIMIT, PF_NO_OFFSET,
                   "the answer is larger than %zu GB: select fewer runs",
                   PF_ANSWER_MAX >> 30);
  switch (f->result) {
    case CURLE_PARTIAL_FILE:
    case CURLE_RECV_ERROR:
    case CURLE_GOT_NOTHING:
      return pf_fail(error, PF_ETRUNCATED, PF_NO_OFFSET,
                     "the server's answer is incomplete: %s", why);
    case CURLE_PEER_FAILED_VERIFICATION:
    case CURLE_SSL_CACERT_BADFILE:
      return pf_fail(error, PF_EIO, PF_NO_OFFSET,
                     "the server's certificate is not trusted: %s; ca=FILE in "
                     "the address names the certificates to trust",
                     why);
    case CURLE_OPERATION_TIMEDOUT:
      return pf_fail(error, PF_EIO, PF_NO_OFFSET,
                     "no answer in time: %s; timeout=SECONDS in the address "
                     "allows more",
                     why);
    default: return pf_fail(error, PF_EIO, PF_NO_OFFSET, "no answer: %s", why);
  }
}


/* The status of a request that has ended. */
static pf_status outcome (const flight *f, pf_error *error) {
  long code = 0;
  if (f->result != CURLE_OK)
    return transfer_failure(f, error);
  (void)curl_easy_getinfo(f->easy, CURLINFO_RESPONSE_CODE, &code);
  if (code != 200 && is_unknown_user(f->request))
    return fail_as_told(f,
                        "wrong user or password (PROFIO_STORE_PASSWORD or "
                        "PROFIO_STORE_PASSWORD_FILE)",
                        error);
  if (code != 200 || f->has_exception)
    return fail_as_told(f, "the server refuses", error);
  if (!f->has_end)
    return pf_fail(error, PF_ETRUNCATED, PF_NO_OFFSET,
                   "the server's answer does not state its size, so it may be "
                   "incomplete");
  return PF_OK;
}

/* Note the results of the transfers that have ended. */
static void collect (CURLM *multi) {
  int left;
  for (const CURLMsg *m; (m = curl_multi_info_read(multi, &left)) != NULL;) {
    char *context = NULL;
    if (m->msg != CURLMSG_DONE ||
        curl_easy_getinfo(m->easy_handle, CURLINFO_PRIVATE, &context) !=
            CURLE_OK)
      continue;
    flight *const f = (flight *)(void *)context;
    f->result = m->data.result;
    f->is_done = true;
  }
}


static void end (CURLM *multi, flight *f) {
  if (f->easy != NULL) {
    (void)curl_multi_remove_handle(multi, f->easy);
    curl_easy_cleanup(f->easy);
  }
  curl_mime_free(f->form);
  curl_slist_free_all(f->headers);
  *f = (flight){.request = f->request};
}


/* End all requests of a sending, which leaves its client. */
static void leave (pf_http_sending *sending) {
  pf_http *const client = sending->client;
  if (client == NULL)
    return;
  for (size_t i = 0; sending->flights != NULL && i < sending->count; i++)
    end(client->multi, &sending->flights[i]);
  pf_http_sending **link = &client->sendings;
  while (*link != sending)
    link = &(*link)->next;
  *link = sending->next;
  sending->client = NULL;
}


void pf_http_end (pf_http_sending *sending) {
  if (sending == NULL)
    return;
  leave(sending);
  free(sending->flights);
  free(sending);
}


bool pf_http_step (pf_http_sending *sending) {
  int running;
  if (sending->client == NULL ||
      curl_multi_perform(sending->client->multi, &running) != CURLM_OK)
    return false;
  collect(sending->client->multi);
  return true;
}


pf_http_sending *pf_http_send (pf_http *client, pf_http_request *requests,
                               size_t count) {
  pf_http_sending *const sending = pf_array_of_zeros(1, sizeof *sending);
  if (sending == NULL)
    return NULL;
  sending->client = client;
  sending->next = client->sendings;
  client->sendings = sending;
  sending->flights = pf_array_of_zeros(count + 1, sizeof *sending->flights);
  bool done = sending->flights != NULL;
  for (size_t i = 0; i < count && done; i++) {
    flight *const f = &sending->flights[sending->count++];
    f->request = &requests[i];
    done =
        prepare(f) && curl_multi_add_handle(client->multi, f->easy) == CURLM_OK;
  }
  if (done && pf_http_step(sending))
    return sending;
  pf_http_end(sending);
  return NULL;
}


static bool all_done (const pf_http_sending *sending) {
  for (size_t i = 0; i < sending->count; i++)
    if (!sending->flights[i].is_done)
      return false;
  return true;
}


pf_status pf_http_wait (pf_http_sending *sending, const pf_http_watch *watch,
                        size_t *failed, pf_error *error) {
  pf_status status = PF_OK;
  *failed = 0;
  if (sending->client == NULL)
    return pf_fail(error, PF_EIO, PF_NO_OFFSET, "the client was closed");
  while (!all_done(sending)) {
    if (curl_multi_poll(sending->client->multi, NULL, 0, POLL_MS, NULL) !=
            CURLM_OK ||
        !pf_http_step(sending))
      return pf_no_memory(error);
    if (!all_done(sending) && watch->is_over(watch->context))
      return pf_interrupted(error);
  }
  for (size_t i = 0; i < sending->count && status == PF_OK; i++) {
    *failed = i;
    status = outcome(&sending->flights[i], error);
  }
  return status;
}
