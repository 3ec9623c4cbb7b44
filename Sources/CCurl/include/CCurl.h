/*
 * One HTTP request at a time through libcurl, and events of an XML text through expat. Both are opened with
 * dlopen on first use, so that who needs no object store neither loads nor installs them.
 */
#ifndef SATCHEL_CCURL_H
#define SATCHEL_CCURL_H

#include "CCurlXML.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Connections that are kept open between requests; for one thread at a time. */
typedef struct ccurl_session ccurl_session;

/* What became of a request, as far as the client needs to tell cases apart. */
typedef enum {
  CCURL_DONE,        /* there is a whole response */
  CCURL_NOT_SENT,    /* no byte of the request left: no such host, refused, no connection in time */
  CCURL_NO_REPLY,    /* sent at least in part, but no response came */
  CCURL_TRUNCATED,   /* the response broke off, or stalled */
  CCURL_NOT_TRUSTED, /* the server's certificate is not to be trusted; nothing was sent */
  CCURL_TOO_LARGE,   /* a receiver refused more of the response */
  CCURL_CANCELLED,
  CCURL_NO_MEMORY,
  CCURL_INVALID, /* the request or an option is invalid: a bad address, a CA file that cannot be read */
} ccurl_outcome;

typedef struct {
  const char *method;
  const char *url;
  /* "name: value" each, or "name;" for an empty value. */
  const char *const *headers;
  size_t header_count;
  /* Sent when not NULL, even when it is empty. */
  const uint8_t *body;
  size_t body_length;
  /* The only certificates to trust, as PEM; NULL: those of the system. */
  const char *ca_file;
  /* Milliseconds; 0: no limit. Stalled: not a byte either way for so long. */
  int64_t connect_timeout;
  int64_t stall_timeout;
  int64_t total_timeout;
  /* Opens a connection, because libcurl silently repeats what it sent on a kept one that has died. */
  bool fresh_connection;

  void *context;
  /* Each header line without its end, from "HTTP/1.1 200 OK" to an empty one. False stops. */
  bool (*on_header)(void *context, const char *line, size_t length);
  /* Parts of the body. False stops. */
  bool (*on_body)(void *context, const uint8_t *bytes, size_t length);
  bool (*is_cancelled)(void *context);
} ccurl_request;

typedef struct {
  ccurl_outcome outcome;
  /* Of the response, 0 when there was none. */
  int status;
  /* What libcurl says about a failure; NUL-terminated, without headers and bodies. */
  char message[256];
} ccurl_result;

/* Loads libcurl once per process. False: `message` says what is missing. */
bool ccurl_load(char *message, size_t size);

/* The same for a library of that name, and only that, without keeping it. */
bool ccurl_can_load(const char *name, char *message, size_t size);

/* NULL when libcurl cannot be loaded, or without memory. */
ccurl_session *ccurl_open(void);
void ccurl_close(ccurl_session *session);

/* Blocks until the request is over. Certificates are always verified, redirects not followed, proxies and
 * credentials of the environment not used. */
void ccurl_perform(ccurl_session *session, const ccurl_request *request, ccurl_result *result);

/* Seconds since 1970 of a date as headers have it, -1 for others. */
int64_t ccurl_date(const char *text);

/* Makes the compiler keep the erasing of what is about to be freed. */
void ccurl_erase(void *bytes, size_t length);

#endif
