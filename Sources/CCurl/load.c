#include "CCurl.h"
#include "curl.h"
#include "library.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

curl_functions satchel_curl;

static const char *const names[] = {
#ifdef __APPLE__
    "libcurl.4.dylib", "/usr/lib/libcurl.4.dylib",
#else
    "libcurl.so.4", "libcurl-gnutls.so.4",
#endif
    NULL};

static pthread_once_t once = PTHREAD_ONCE_INIT;
static bool is_loaded;
static char failure[256];

static bool find(const char *const *candidates, curl_functions *functions, char *message, size_t size) {
#define CURL_SYMBOL(name) {#name, (void **)&functions->name},
  const library_symbol symbols[] = {CURL_FUNCTIONS(CURL_SYMBOL){NULL, NULL}};
#undef CURL_SYMBOL
  return library_open(candidates, "libcurl4", symbols, message, size);
}

static void load(void) {
  if (!find(names, &satchel_curl, failure, sizeof failure)) return;
  if (satchel_curl.curl_global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK) {
    snprintf(failure, sizeof failure, "libcurl cannot be started");
    return;
  }
  is_loaded = true;
}

bool ccurl_load(char *message, size_t size) {
  pthread_once(&once, load);
  if (!is_loaded && size) snprintf(message, size, "%s", failure);
  return is_loaded;
}

bool ccurl_can_load(const char *name, char *message, size_t size) {
  const char *const candidates[] = {name, NULL};
  curl_functions functions;
  return find(candidates, &functions, message, size);
}

int64_t ccurl_date(const char *text) {
  return ccurl_load(NULL, 0) ? (int64_t)satchel_curl.curl_getdate(text, NULL) : -1;
}

void ccurl_erase(void *bytes, size_t length) {
  if (!length) return;
  memset(bytes, 0, length);
  __asm__ __volatile__("" : : "r"(bytes) : "memory");
}
