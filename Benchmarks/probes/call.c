/* call: W6. Nanoseconds for a call through a library's ABI, the median of five, for any library that has
 * PREFIX_version, PREFIX_store_open, PREFIX_store_is_read_only and PREFIX_store_close.
 *
 * call library=FILE prefix=satchel */
#include "measure.h"
#include <dlfcn.h>
#include <stdbool.h>

enum { REPEATS = 5 };

typedef const char *(*version_call)(void);
typedef int (*open_call)(const char *, const void *, void **);
typedef int (*read_only_call)(void *, bool *);
typedef int (*close_call)(void *);

static void *symbol(void *library, const char *prefix, const char *name) {
    char full[256];
    snprintf(full, sizeof full, "%s_%s", prefix, name);
    void *found = dlsym(library, full);
    if (found == NULL) fail(dlerror());
    return found;
}

int main(int count, char **arguments) {
    const char *prefix = option(count, arguments, "prefix", "satchel");
    void *library = dlopen(option(count, arguments, "library", ""), RTLD_NOW);
    if (library == NULL) fail(dlerror());
    version_call version = (version_call)symbol(library, prefix, "version");
    open_call open_store = (open_call)symbol(library, prefix, "store_open");
    read_only_call is_read_only = (read_only_call)symbol(library, prefix, "store_is_read_only");
    close_call close_store = (close_call)symbol(library, prefix, "store_close");

    const int nothing_calls = 5000000, handle_calls = 1000000;
    double nothing[REPEATS], handle[REPEATS];
    void *store = NULL;
    volatile unsigned sum = 0;
    if (open_store(":memory:", NULL, &store) != 0) fail("cannot open a store");
    for (int repeat = 0; repeat < REPEATS; repeat++) {
        double start = now();
        for (int index = 0; index < nothing_calls; index++) version();
        nothing[repeat] = (now() - start) / nothing_calls * 1e9;
        start = now();
        for (int index = 0; index < handle_calls; index++) {
            bool read_only = true;
            if (is_read_only(store, &read_only) != 0) fail("the call failed");
            sum += read_only;
        }
        handle[repeat] = (now() - start) / handle_calls * 1e9;
    }
    if (sum != 0) fail("the store says that it is read-only");
    close_store(store);
    printf("{\"nothing_ns\":%.2f,\"handle_ns\":%.2f}\n", percentile(nothing, REPEATS, 0.5),
           percentile(handle, REPEATS, 0.5));
    return 0;
}
