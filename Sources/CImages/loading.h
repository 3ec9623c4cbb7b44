#ifndef SATCHEL_CIMAGES_LOADING_H
#define SATCHEL_CIMAGES_LOADING_H

#include "CImages.h"

/* A function of a library, and where its address goes. */
typedef struct {
  const char *name;
  void **address;
} cimages_symbol;

/* Opens the first library of `names` (ended by NULL) that is there, and finds all symbols (ended by a NULL name). It
 * stays open. False: `message` says what is missing, and which package has it. */
bool cimages_open(const char *const *names, const char *package, const cimages_symbol *symbols,
                  char message[CIMAGES_MESSAGE]);

/* Makes an empty picture with memory for its pixels. */
bool cimages_allocate(cimages_picture *picture, uint32_t width, uint32_t height, cimages_format format);

#endif
