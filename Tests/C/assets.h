/* Assets for the tests: a store, bytes, and what is refused. */
#ifndef SATCHEL_TESTS_ASSETS_H
#define SATCHEL_TESTS_ASSETS_H

#include "values.h"

#define NOBODY "{\"_asset\":{\"sha256\":\"" NOBODYS "\"}}"
#define NOBODYS "0000000000000000000000000000000000000000000000000000000000000000"

static satchel_store *store;
static satchel_buffer out;

/** Bytes that depend on a number; the caller frees them. */
static inline unsigned char *some(size_t size, unsigned number) {
    unsigned char *bytes = malloc(size + 1);
    for (size_t index = 0; index < size; index++) {
        number = number * 1103515245 + 12345;
        bytes[index] = (unsigned char)(number >> 16);
    }
    return bytes;
}

static inline void refused(const char *what, satchel_status wanted, const char *place, satchel_status got) {
    const char *message = satchel_error_message();
    CHECK(got == wanted, "%s: %s instead of %s (%s)", what, satchel_status_name(got), satchel_status_name(wanted),
          message);
    if (place) CHECK(strstr(message, place) != NULL, "%s: the message does not name %s: %s", what, place, message);
}

/** As refused(), for a call that empties its buffer. */
static inline void refused_out(const char *what, satchel_status wanted, const char *place, satchel_status got) {
    refused(what, wanted, place, got);
    CHECK(out.data == NULL && out.size == 0, "%s: the out-parameter is not emptied", what);
    out.data = (char *)&out;
    out.size = 77;
}

/** The information about an asset. */
static inline json_t *info(const char *asset) {
    must(satchel_assets_info(store, text(asset), &out), "info");
    return take(&out);
}

/** Puts bytes, and gives the reference as text, which the caller frees. */
static inline char *put(const unsigned char *bytes, size_t size) {
    must(satchel_assets_put(store, (satchel_bytes){bytes, size}, text("image/png"), false, &out), "putting");
    json_t *asset = take(&out);
    CHECK(number_at(asset, "/_asset/size") == (long long)size, "its size");
    CHECK(strcmp(text_at(asset, "/_asset/type"), "image/png") == 0, "its type");
    char *reference = dump(asset);
    json_decref(asset);
    return reference;
}

#endif
