#ifndef SATCHEL_CCURL_LIBRARY_H
#define SATCHEL_CCURL_LIBRARY_H

#include <stdbool.h>
#include <stddef.h>

/* A function of a library, and where its address goes. */
typedef struct {
  const char *name;
  void **address;
} library_symbol;

/* Opens the first library of `names` that is there (ended by NULL) and finds all symbols (ended by a NULL
 * name). It stays open. False: `message` says what is missing and which package has it. */
bool library_open(const char *const *names, const char *package, const library_symbol *symbols, char *message,
                  size_t size);

#endif
