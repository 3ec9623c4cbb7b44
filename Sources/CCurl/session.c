#include "CCurl.h"
#include "curl.h"

#include <netinet/in.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>

/* The maximum time until a cancellation is noticed. */
enum { POLL_MILLISECONDS = 50 };

struct ccurl_session {
  CURL *easy;
  CURLM *multi; /* keeps the connections, and can be waited for in steps */
};

typedef struct {
  const ccurl_request *request;
  bool has_status; /* of a final response */
  bool is_refused; /* by a receiver */
  bool is_forbidden; /* an address */
  bool is_allowed;   /* another one, which may fail for another reason */
} exchange;

ccurl_session *ccurl_open(void) {
  if (!ccurl_load(NULL, 0)) return NULL;
  ccurl_session *session = calloc(1, sizeof *session);
  if (!session) return NULL;
  session->easy = satchel_curl.curl_easy_init();
  session->multi = satchel_curl.curl_multi_init();
  if (!session->easy || !session->multi) {
    ccurl_close(session);
    return NULL;
  }
  return session;
}

void ccurl_close(ccurl_session *session) {
  if (!session) return;
  if (session->easy) satchel_curl.curl_easy_cleanup(session->easy);
  if (session->multi) satchel_curl.curl_multi_cleanup(session->multi);
  free(session);
}

static size_t receive_header(char *bytes, size_t size, size_t count, void *context) {
  exchange *exchange = context;
  size_t length = size * count;
  size_t end = length;
  while (end > 0 && (bytes[end - 1] == '\r' || bytes[end - 1] == '\n')) end--;
  if (end > 9 && memcmp(bytes, "HTTP/", 5) == 0) exchange->has_status = memcmp(bytes + 8, " 1", 2) != 0;
  if (exchange->request->on_header(exchange->request->context, bytes, end)) return length;
  exchange->is_refused = true;
  return 0;
}

static size_t receive_body(char *bytes, size_t size, size_t count, void *context) {
  exchange *exchange = context;
  size_t length = size * count;
  if (exchange->request->on_body(exchange->request->context, (const uint8_t *)bytes, length)) return length;
  exchange->is_refused = true;
  return 0;
}

static size_t send_body(char *bytes, size_t size, size_t count, void *context) {
  const ccurl_request *request = ((exchange *)context)->request;
  int64_t length = request->on_read(request->context, (uint8_t *)bytes, size * count);
  return length < 0 ? CURL_READFUNC_ABORT : (size_t)length;
}

/* libcurl asks for it when it has to repeat a request whose reused connection was closed. */
static int rewind_body(void *context, curl_off_t offset, int origin) {
  const ccurl_request *request = ((exchange *)context)->request;
  if (offset != 0 || origin != SEEK_SET) return CURL_SEEKFUNC_CANTSEEK;
  request->on_rewind(request->context);
  return CURL_SEEKFUNC_OK;
}

/* Opens a socket for an address that the caller allows. Connections that are open were allowed before. */
static curl_socket_t open_socket(void *context, curlsocktype purpose, struct curl_sockaddr *address) {
  exchange *exchange = context;
  const uint8_t *bytes = NULL;
  size_t length = 0;
  if (address->family == AF_INET) {
    const struct sockaddr_in *ip = (const void *)&address->addr;
    bytes = (const uint8_t *)&ip->sin_addr, length = sizeof ip->sin_addr;
  } else if (address->family == AF_INET6) {
    const struct sockaddr_in6 *ip = (const void *)&address->addr;
    bytes = (const uint8_t *)&ip->sin6_addr, length = sizeof ip->sin6_addr;
  }
  const ccurl_request *request = exchange->request;
  if (purpose != CURLSOCKTYPE_IPCXN || !bytes || !request->allows_address(request->context, bytes, length)) {
    exchange->is_forbidden = true;
    return CURL_SOCKET_BAD;
  }
  exchange->is_allowed = true;
#ifdef SOCK_CLOEXEC
  return socket(address->family, address->socktype | SOCK_CLOEXEC, address->protocol);
#else
  return socket(address->family, address->socktype, address->protocol);
#endif
}

static bool is_cancelled(const ccurl_request *request) {
  return request->is_cancelled && request->is_cancelled(request->context);
}

/* Returns the error of the first option that libcurl rejects; CURLE_OK when it accepts all. */
static CURLcode set_options(CURL *easy, const ccurl_request *request, struct curl_slist *headers,
                            exchange *exchange, char *message) {
  CURLcode code = CURLE_OK;
#define SET(option, value)                                                                                   \
  do {                                                                                                       \
    if (code == CURLE_OK) code = satchel_curl.curl_easy_setopt(easy, option, value);                         \
  } while (0)
  SET(CURLOPT_ERRORBUFFER, message);
  SET(CURLOPT_URL, request->url);
  SET(CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_1_1);
  SET(CURLOPT_HTTPHEADER, headers);
  SET(CURLOPT_PATH_AS_IS, 1L);
  /* Independent of the environment of the host: an empty text is no proxy. */
  SET(CURLOPT_PROXY, request->proxy ? request->proxy : "");
  SET(CURLOPT_NOPROXY, "");
  SET(CURLOPT_SUPPRESS_CONNECT_HEADERS, 1L);
  SET(CURLOPT_NETRC, (long)CURL_NETRC_IGNORED);
  SET(CURLOPT_FOLLOWLOCATION, 0L);
  /* No signals: the host may have threads. */
  SET(CURLOPT_NOSIGNAL, 1L);
  SET(CURLOPT_SSL_VERIFYPEER, 1L);
  SET(CURLOPT_SSL_VERIFYHOST, 2L);
  SET(CURLOPT_SSLVERSION, (long)CURL_SSLVERSION_TLSv1_2);
  if (request->ca_file) {
    SET(CURLOPT_CAINFO, request->ca_file);
    SET(CURLOPT_CAPATH, NULL);
  }
  SET(CURLOPT_CONNECTTIMEOUT_MS, (long)request->connect_timeout);
  SET(CURLOPT_TIMEOUT_MS, (long)request->total_timeout);
  SET(CURLOPT_FRESH_CONNECT, request->fresh_connection ? 1L : 0L);
  /* All that this libcurl can decode. */
  if (request->decodes) SET(CURLOPT_ACCEPT_ENCODING, "");
  if (request->allows_address) {
    SET(CURLOPT_OPENSOCKETFUNCTION, open_socket);
    SET(CURLOPT_OPENSOCKETDATA, exchange);
  }
  /* For speed only. Setting it fails after a transfer that never began, whose buffer still exists. */
  satchel_curl.curl_easy_setopt(easy, CURLOPT_BUFFERSIZE, 256L * 1024);
  SET(CURLOPT_HEADERFUNCTION, receive_header);
  SET(CURLOPT_HEADERDATA, exchange);
  SET(CURLOPT_WRITEFUNCTION, receive_body);
  SET(CURLOPT_WRITEDATA, exchange);
  if (request->body) {
    SET(CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)request->body_length);
    SET(CURLOPT_POSTFIELDS, request->body);
  } else if (request->on_read) {
    SET(CURLOPT_UPLOAD, 1L);
    SET(CURLOPT_INFILESIZE_LARGE, (curl_off_t)request->body_length);
    satchel_curl.curl_easy_setopt(easy, CURLOPT_UPLOAD_BUFFERSIZE, 256L * 1024);
    SET(CURLOPT_READFUNCTION, send_body);
    SET(CURLOPT_READDATA, exchange);
    SET(CURLOPT_SEEKFUNCTION, rewind_body);
    SET(CURLOPT_SEEKDATA, exchange);
  }
  if (strcmp(request->method, "HEAD") == 0)
    SET(CURLOPT_NOBODY, 1L);
  else
    SET(CURLOPT_CUSTOMREQUEST, request->method);
#undef SET
  return code;
}

static int64_t milliseconds(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (int64_t)time.tv_sec * 1000 + time.tv_nsec / 1000000;
}

/* Returns the bytes sent and received so far. */
static curl_off_t moved(CURL *easy) {
  curl_off_t up = 0, down = 0;
  long request = 0, headers = 0;
  satchel_curl.curl_easy_getinfo(easy, CURLINFO_SIZE_UPLOAD_T, &up);
  satchel_curl.curl_easy_getinfo(easy, CURLINFO_SIZE_DOWNLOAD_T, &down);
  satchel_curl.curl_easy_getinfo(easy, CURLINFO_REQUEST_SIZE, &request);
  satchel_curl.curl_easy_getinfo(easy, CURLINFO_HEADER_SIZE, &headers);
  return up + down + request + headers;
}

/* Runs the request until it ends, stalls, or is cancelled. libcurl's own limit uses an average over seconds. */
static CURLcode transfer(ccurl_session *session, const ccurl_request *request, bool *cancelled) {
  if (satchel_curl.curl_multi_add_handle(session->multi, session->easy) != CURLM_OK)
    return CURLE_OUT_OF_MEMORY;
  CURLcode code = CURLE_OK;
  curl_off_t before = 0;
  int64_t since = milliseconds();
  for (int running = 1; running && code == CURLE_OK;) {
    if (is_cancelled(request)) {
      *cancelled = true;
      break;
    }
    CURLMcode step = satchel_curl.curl_multi_perform(session->multi, &running);
    if (step == CURLM_OK && running)
      step = satchel_curl.curl_multi_poll(session->multi, NULL, 0, POLL_MILLISECONDS, NULL);
    curl_off_t now = moved(session->easy);
    if (now != before) since = milliseconds();
    before = now;
    if (step != CURLM_OK)
      code = CURLE_OUT_OF_MEMORY;
    else if (running && request->stall_timeout > 0 && milliseconds() - since > request->stall_timeout)
      code = CURLE_OPERATION_TIMEDOUT;
  }
  int left = 0;
  CURLMsg *message;
  while ((message = satchel_curl.curl_multi_info_read(session->multi, &left)))
    if (message->msg == CURLMSG_DONE) code = message->data.result;
  satchel_curl.curl_multi_remove_handle(session->multi, session->easy);
  return code;
}

static ccurl_outcome judge(CURL *easy, CURLcode code, const exchange *exchange) {
  long sent = 0;
  satchel_curl.curl_easy_getinfo(easy, CURLINFO_REQUEST_SIZE, &sent);
  switch (code) {
  case CURLE_OK: return exchange->has_status ? CCURL_DONE : CCURL_NO_REPLY;
  case CURLE_OUT_OF_MEMORY: return CCURL_NO_MEMORY;
  case CURLE_WRITE_ERROR:
  case CURLE_FILESIZE_EXCEEDED: return exchange->is_refused ? CCURL_TOO_LARGE : CCURL_TRUNCATED;
  case CURLE_PEER_FAILED_VERIFICATION:
  case CURLE_SSL_ISSUER_ERROR: return CCURL_NOT_TRUSTED;
  case CURLE_URL_MALFORMAT:
  case CURLE_UNSUPPORTED_PROTOCOL:
  case CURLE_NOT_BUILT_IN:
  case CURLE_BAD_FUNCTION_ARGUMENT:
  case CURLE_UNKNOWN_OPTION:
  case CURLE_SSL_CACERT_BADFILE:
  case CURLE_SSL_CIPHER: return CCURL_INVALID;
  default: break;
  }
  if (exchange->has_status) return CCURL_TRUNCATED;
  if (exchange->is_forbidden && !exchange->is_allowed) return CCURL_FORBIDDEN;
  return sent > 0 ? CCURL_NO_REPLY : CCURL_NOT_SENT;
}

/* A write to a closed connection must not kill the host; older versions of libcurl leave that to the caller. SIGPIPE is
 * blocked on this thread, and one that the write caused is removed. */
static bool block_pipe_signal(sigset_t *before) {
  sigset_t pipe, pending;
  sigemptyset(&pipe);
  sigaddset(&pipe, SIGPIPE);
  bool was_pending = sigpending(&pending) == 0 && sigismember(&pending, SIGPIPE);
  pthread_sigmask(SIG_BLOCK, &pipe, before);
  return was_pending;
}

static void restore_pipe_signal(const sigset_t *before, bool was_pending) {
  sigset_t pipe, pending;
  sigemptyset(&pipe);
  sigaddset(&pipe, SIGPIPE);
  int number;
  if (!was_pending && sigpending(&pending) == 0 && sigismember(&pending, SIGPIPE)) sigwait(&pipe, &number);
  pthread_sigmask(SIG_SETMASK, before, NULL);
}

static struct curl_slist *header_list(const ccurl_request *request) {
  /* Without it libcurl waits a second before large bodies. */
  struct curl_slist *list = satchel_curl.curl_slist_append(NULL, "Expect:");
  for (size_t index = 0; list && index < request->header_count; index++) {
    struct curl_slist *longer = satchel_curl.curl_slist_append(list, request->headers[index]);
    if (!longer) {
      satchel_curl.curl_slist_free_all(list);
      return NULL;
    }
    list = longer;
  }
  return list;
}

/* Headers hold signatures and session tokens. */
static void free_headers(struct curl_slist *list) {
  for (struct curl_slist *item = list; item; item = item->next) ccurl_erase(item->data, strlen(item->data));
  satchel_curl.curl_slist_free_all(list);
}

void ccurl_perform(ccurl_session *session, const ccurl_request *request, ccurl_result *result) {
  memset(result, 0, sizeof *result);
  struct curl_slist *headers = header_list(request);
  if (!headers) {
    result->outcome = CCURL_NO_MEMORY;
    return;
  }
  _Static_assert(sizeof result->message >= CURL_ERROR_SIZE, "libcurl writes so much");
  exchange exchange = {.request = request};
  bool cancelled = false;
  sigset_t before;
  bool was_pending = block_pipe_signal(&before);
  CURLcode code = set_options(session->easy, request, headers, &exchange, result->message);
  if (code == CURLE_OK)
    code = transfer(session, request, &cancelled);
  else if (code != CURLE_OUT_OF_MEMORY)
    code = CURLE_BAD_FUNCTION_ARGUMENT;
  result->outcome = cancelled ? CCURL_CANCELLED : judge(session->easy, code, &exchange);
  long status = 0;
  if (exchange.has_status) satchel_curl.curl_easy_getinfo(session->easy, CURLINFO_RESPONSE_CODE, &status);
  result->status = (int)status;
  if (code != CURLE_OK && !result->message[0])
    snprintf(result->message, sizeof result->message, "%s", satchel_curl.curl_easy_strerror(code));
  /* Forgets the request, and keeps connections. */
  satchel_curl.curl_easy_reset(session->easy);
  restore_pipe_signal(&before, was_pending);
  free_headers(headers);
}
