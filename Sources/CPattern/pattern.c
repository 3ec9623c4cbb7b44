#include "CPattern.h"
#include "pcre2.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

/* The limits of one match in steps, nested choices and KiB: some milliseconds. */
enum { MATCH_LIMIT = 1000000, DEPTH_LIMIT = 50000, HEAP_LIMIT = 16384, NESTING_LIMIT = 200 };

struct cpattern {
  pcre2_code *code;
  pcre2_match_context *limits;
};

static pcre2_functions pcre2;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static bool is_loaded;
static char failure[256];

/* The library is never closed: a pattern may be in use on any thread. */
static bool find(const char *const *names, pcre2_functions *functions, char *message, size_t size) {
  void *library = NULL;
  for (const char *const *name = names; *name && !library; name++)
    library = dlopen(*name, RTLD_NOW | RTLD_LOCAL);
  if (!library) {
    snprintf(message, size, "%s is not installed: patterns need it (package libpcre2-8-0)", names[0]);
    return false;
  }
#define PCRE2_FIND(result, name, parameters)                                                                 \
  *(void **)&functions->name = dlsym(library, "pcre2_" #name "_8");                                         \
  if (!functions->name) {                                                                                    \
    snprintf(message, size, "%s is too old: it has no pcre2_" #name, names[0]);                             \
    dlclose(library);                                                                                        \
    return false;                                                                                            \
  }
  PCRE2_FUNCTIONS(PCRE2_FIND)
#undef PCRE2_FIND
  return true;
}

static void load(void) {
  const char *const names[] = {
#ifdef __APPLE__
      "libpcre2-8.0.dylib",
#else
      "libpcre2-8.so.0",
#endif
      NULL};
  is_loaded = find(names, &pcre2, failure, sizeof failure);
}

bool cpattern_load(char *message, size_t size) {
  pthread_once(&once, load);
  if (!is_loaded && size) snprintf(message, size, "%s", failure);
  return is_loaded;
}

bool cpattern_can_load(const char *name, char *message, size_t size) {
  const char *const names[] = {name, NULL};
  pcre2_functions functions;
  return find(names, &functions, message, size);
}

static pcre2_code *compile(const uint8_t *bytes, size_t length, int *code, size_t *offset) {
  pcre2_compile_context *context = pcre2.compile_context_create(NULL);
  if (!context) {
    *code = PCRE2_ERROR_NOMEMORY;
    return NULL;
  }
  /* \u{1F600} as well as \u00E9; "." does not match line ends; no deep recursion of the compiler. */
  pcre2.set_compile_extra_options(context, PCRE2_EXTRA_ALT_BSUX);
  pcre2.set_newline(context, PCRE2_NEWLINE_ANYCRLF);
  pcre2.set_parens_nest_limit(context, NESTING_LIMIT);
  uint32_t options = PCRE2_UTF | PCRE2_ALT_BSUX | PCRE2_DOLLAR_ENDONLY | PCRE2_ALLOW_EMPTY_CLASS |
                     PCRE2_MATCH_UNSET_BACKREF | PCRE2_NEVER_BACKSLASH_C;
  pcre2_code *compiled = pcre2.compile(bytes, length, options, code, offset, context);
  pcre2.compile_context_free(context);
  return compiled;
}

cpattern *cpattern_compile(const uint8_t *bytes, size_t length, size_t *offset, char *message, size_t size) {
  *offset = 0;
  if (!cpattern_load(message, size)) return NULL;
  int code = PCRE2_ERROR_NOMEMORY;
  static const uint8_t nothing[1];
  cpattern *pattern = calloc(1, sizeof *pattern);
  if (pattern) pattern->code = compile(length ? bytes : nothing, length, &code, offset);
  if (pattern && pattern->code) pattern->limits = pcre2.match_context_create(NULL);
  if (!pattern || !pattern->code || !pattern->limits) {
    pcre2.get_error_message(pattern && pattern->code ? PCRE2_ERROR_NOMEMORY : code, (uint8_t *)message, size);
    cpattern_free(pattern);
    return NULL;
  }
  pcre2.set_match_limit(pattern->limits, MATCH_LIMIT);
  pcre2.set_depth_limit(pattern->limits, DEPTH_LIMIT);
  pcre2.set_heap_limit(pattern->limits, HEAP_LIMIT);
  return pattern;
}

void cpattern_free(cpattern *pattern) {
  if (!pattern) return;
  if (pattern->code) pcre2.code_free(pattern->code);
  if (pattern->limits) pcre2.match_context_free(pattern->limits);
  free(pattern);
}

cpattern_outcome cpattern_match(const cpattern *pattern, const uint8_t *text, size_t length) {
  static const uint8_t nothing[1];
  pcre2_match_data *data = pcre2.match_data_create(1, NULL);
  if (!data) return CPATTERN_FAILED;
  int code = pcre2.match(pattern->code, length ? text : nothing, length, 0, 0, data, pattern->limits);
  pcre2.match_data_free(data);
  switch (code) {
    case PCRE2_ERROR_NOMATCH: return CPATTERN_DIFFERS;
    case PCRE2_ERROR_MATCHLIMIT:
    case PCRE2_ERROR_DEPTHLIMIT:
    case PCRE2_ERROR_HEAPLIMIT: return CPATTERN_LIMIT;
    default: return code >= 0 ? CPATTERN_MATCHES : CPATTERN_FAILED;
  }
}
