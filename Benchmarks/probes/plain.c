/* plain: a C library of the same shape as satchel's two smallest calls, the limit of W6: one that does
 * nothing, and one that takes a handle and its lock. */
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>

typedef struct plain_store {
    pthread_mutex_t lock;
    bool read_only;
} plain_store;

__attribute__((visibility("default"))) const char *plain_version(void) { return "0.1.0"; }

__attribute__((visibility("default"))) int plain_store_open(
    const char *path, const void *options, plain_store **out) {
    (void)path;
    (void)options;
    *out = calloc(1, sizeof **out);
    return *out == NULL ? 12 : pthread_mutex_init(&(*out)->lock, NULL);
}

__attribute__((visibility("default"))) int plain_store_is_read_only(plain_store *store, bool *out) {
    if (store == NULL || out == NULL) return 1;
    pthread_mutex_lock(&store->lock);
    *out = store->read_only;
    pthread_mutex_unlock(&store->lock);
    return 0;
}

__attribute__((visibility("default"))) int plain_store_close(plain_store *store) {
    free(store);
    return 0;
}
