#include "loading.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

bool cimages_open(const char *const *names, const char *package, const cimages_symbol *symbols,
                  char message[CIMAGES_MESSAGE]) {
  void *library = NULL;
  for (const char *const *name = names; *name && !library; name++)
    library = dlopen(*name, RTLD_NOW | RTLD_LOCAL);
  if (!library) {
    snprintf(message, CIMAGES_MESSAGE, "%s is not installed: scaling pictures needs it (package %s)", names[0],
             package);
    return false;
  }
  for (const cimages_symbol *symbol = symbols; symbol->name; symbol++) {
    *symbol->address = dlsym(library, symbol->name);
    if (!*symbol->address) {
      snprintf(message, CIMAGES_MESSAGE, "%s is too old: it has no %s (package %s)", names[0], symbol->name, package);
      dlclose(library);
      return false;
    }
  }
  return true;
}

bool cimages_allocate(cimages_picture *picture, uint32_t width, uint32_t height, cimages_format format) {
  size_t pixels;
  size_t size;
  if (!width || !height || __builtin_mul_overflow((size_t)width, (size_t)height, &pixels) ||
      __builtin_mul_overflow(pixels, (size_t)format, &size))
    return false;
  *picture = (cimages_picture){malloc(size), width, height, format, false};
  return picture->pixels != NULL;
}

void cimages_free(void *memory) { free(memory); }
