#include "library.h"

#include <dlfcn.h>
#include <stdio.h>

bool library_open(const char *const *names, const char *package, const library_symbol *symbols, char *message,
                  size_t size) {
  void *library = NULL;
  for (const char *const *name = names; *name && !library; name++)
    library = dlopen(*name, RTLD_NOW | RTLD_LOCAL);
  if (!library) {
    snprintf(message, size, "%s is not installed: object stores over HTTP need it (package %s)", names[0],
             package);
    return false;
  }
  for (const library_symbol *symbol = symbols; symbol->name; symbol++) {
    *symbol->address = dlsym(library, symbol->name);
    if (!*symbol->address) {
      snprintf(message, size, "%s is too old: it has no %s (package %s)", names[0], symbol->name, package);
      dlclose(library);
      return false;
    }
  }
  return true;
}
