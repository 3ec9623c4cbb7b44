/*
 * One HTTP request at a time through libcurl, and events of an XML text through expat. Both are opened with dlopen on
 * first use, so that hosts without an object store neither load nor install them.
 */
#ifndef SATCHEL_CCURL_H
#define SATCHEL_CCURL_H

#include "CCurlXML.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Connections that are kept open between requests; for one thread at a time. */
typedef struct ccurl_session ccurl_session;

/* The outcome of a request, as far as the client distinguishes cases. */
typedef enum {
  CCURL_DONE,        /* a complete response was received */
  CCURL_NOT_SENT,    /* no byte of the request was sent: unknown host, refused, no connection in time */
  CCURL_NO_REPLY,    /* sent at least in part, but no response was received */
  CCURL_TRUNCATED,   /* the response is incomplete, or stalled */
  CCURL_NOT_TRUSTED, /* the server's certificate is not trusted; nothing was sent */
  CCURL_TOO_LARGE,   /* a receiver refused more of the response */
  CCURL_CANCELLED,
  CCURL_NO_MEMORY,
  CCURL_INVALID, /* the request or an option is invalid: a bad address, a CA file that cannot be read */
  CCURL_FORBIDDEN, /* `allows_address` refused all of the server's addresses; nothing was sent */
} ccurl_outcome;

typedef struct {
  const char *method;
  const char *url;
  /* "name: value" each, or "name;" for an empty value. */
  const char *const *headers;
  size_t header_count;
  /* Sent when not NULL, even when it is empty. */
  const uint8_t *body;
  /* Of `body`, or of the bytes that `on_read` gives. */
  int64_t body_length;
  /* The only trusted certificates, as PEM; NULL for those of the system. */
  const char *ca_file;
  /* The URL of a proxy; NULL for none. */
  const char *proxy;
  /* Milliseconds; 0 for no limit. A stalled transfer has neither sent nor received a byte for this time. */
  int64_t connect_timeout;
  int64_t stall_timeout;
  int64_t total_timeout;
  /* Opens a new connection: on a reused connection that was closed, libcurl silently repeats the request. */
  bool fresh_connection;
  /* Asks for a compressed body, and decodes it: `on_body` receives decoded bytes. */
  bool decodes;

  void *context;
  /* Receives each header line without its line end, from "HTTP/1.1 200 OK" to an empty one; false stops. */
  bool (*on_header)(void *context, const char *line, size_t length);
  /* Receives a part of the body; false stops. */
  bool (*on_body)(void *context, const uint8_t *bytes, size_t length);
  bool (*is_cancelled)(void *context);
  /* When `body` is NULL and this is not: gives the next bytes of the body; returns their number, 0 at the end, -1 to
   * break off. */
  int64_t (*on_read)(void *context, uint8_t *bytes, size_t size);
  /* Begins the body again. */
  void (*on_rewind)(void *context);
  /* Receives the address to connect to, after the name was resolved: 4 or 16 bytes; false refuses it. NULL allows all.
   * With a proxy it is the proxy's. */
  bool (*allows_address)(void *context, const uint8_t *bytes, size_t length);
} ccurl_request;

typedef struct {
  ccurl_outcome outcome;
  /* The status of the response; 0 without a response. */
  int status;
  /* libcurl's message about a failure; NUL-terminated, without headers and bodies. */
  char message[256];
} ccurl_result;

/* Loads libcurl once per process. False: `message` names what is missing. */
bool ccurl_load(char *message, size_t size);

/* Whether a library of that name can be loaded; it is not kept. */
bool ccurl_can_load(const char *name, char *message, size_t size);

/* Returns NULL when libcurl cannot be loaded, and when memory is exhausted. */
ccurl_session *ccurl_open(void);
void ccurl_close(ccurl_session *session);

/* Blocks until the request is over. Certificates are always verified, redirects not followed, proxies and
 * credentials of the environment not used. */
void ccurl_perform(ccurl_session *session, const ccurl_request *request, ccurl_result *result);

/* Returns the Unix seconds of a date in a header; -1 for an invalid one. */
int64_t ccurl_date(const char *text);

/* Erases memory before it is freed; the compiler cannot remove the call. */
void ccurl_erase(void *bytes, size_t length);

#endif
