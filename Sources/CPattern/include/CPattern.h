/*
 * Regular expressions as JSON Schema has them, close to those of ECMAScript, through PCRE2. It is opened with dlopen
 * on first use, so that who needs no pattern neither loads nor installs it.
 */
#ifndef SATCHEL_CPATTERN_H
#define SATCHEL_CPATTERN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A compiled pattern; threads may share it. */
typedef struct cpattern cpattern;

typedef enum {
  CPATTERN_MATCHES,
  CPATTERN_DIFFERS,
  CPATTERN_LIMIT, /* it would take too many steps or too much memory to tell */
  CPATTERN_FAILED,
} cpattern_outcome;

/* Loads PCRE2 once per process. False: `message` says what is missing. */
bool cpattern_load(char *message, size_t size);

/* Whether a library of that name, and only that, could be loaded. */
bool cpattern_can_load(const char *name, char *message, size_t size);

/* NULL: `message` says why; for an invalid pattern, `offset` is the byte. Both are UTF-8. */
cpattern *cpattern_compile(const uint8_t *pattern, size_t length, size_t *offset, char *message, size_t size);
void cpattern_free(cpattern *pattern);

/* Whether the pattern is found anywhere in the text, which must be UTF-8. */
cpattern_outcome cpattern_match(const cpattern *pattern, const uint8_t *text, size_t length);

#endif
