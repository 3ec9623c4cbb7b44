/*
 * The regular expressions of JSON Schema, close to those of ECMAScript, through PCRE2. It is opened with dlopen on
 * first use, so that hosts without a pattern neither load nor install it.
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
  CPATTERN_LIMIT, /* the limit of steps or memory was reached */
  CPATTERN_FAILED,
} cpattern_outcome;

/* Loads PCRE2 once per process. False: `message` names what is missing. */
bool cpattern_load(char *message, size_t size);

/* Whether a library of that name can be loaded. */
bool cpattern_can_load(const char *name, char *message, size_t size);

/* Returns NULL on failure: `message` has the reason, and `offset` the byte of an invalid pattern. Both are UTF-8. */
cpattern *cpattern_compile(const uint8_t *pattern, size_t length, size_t *offset, char *message, size_t size);
void cpattern_free(cpattern *pattern);

/* Whether the pattern is found anywhere in the text, which must be UTF-8. */
cpattern_outcome cpattern_match(const cpattern *pattern, const uint8_t *text, size_t length);

#endif
