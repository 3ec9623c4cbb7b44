/* Bad input is refused with the documented status and a message that names the place, and changes nothing. */
#ifndef SATCHEL_TESTS_BAD_INPUT_H
#define SATCHEL_TESTS_BAD_INPUT_H

#include "check.h"

#define PARIS "{\"country_code\":\"fr\",\"admin_area\":\"Paris\",\"locality\":\"Paris\"}"
#define FACTS \
    "{\"section\":\"facts\",\"display_title\":\"Facts\",\"content\":{\"title\":\"Paris\",\"items\":[{" \
    "\"name\":\"Seine\"," \
    "\"_storage\":{\"entity_id\":\"facts:seine\",\"scope\":\"locality\"}}]}}"

/** The out-parameters of calls. They hold nonsense before each call, so that a failure has something to empty. */
static satchel_buffer out;

/** The store that must stay as it is, and its content before; NULL when a test has no store. */
static satchel_store *watched;
static char *content_before;

static inline void fill_out_with_nonsense(void) {
    out.data = (char *)&out;
    out.size = 77;
}

/** Everything a reader of the watched store can see, as one text that the caller frees. */
static inline char *content_of(satchel_store *store) {
    satchel_buffer parts[4] = {SATCHEL_BUFFER_INIT, SATCHEL_BUFFER_INIT, SATCHEL_BUFFER_INIT,
                               SATCHEL_BUFFER_INIT};
    must(satchel_catalogue_sections(store, text(PARIS), NULL, &parts[0]), "reading headers");
    must(satchel_catalogue_load(store, text(PARIS), text("facts"), NULL, &parts[1]), "reading a section");
    must(satchel_catalogue_plan(store, text(PARIS), NULL, &parts[2]), "reading the plan");
    must(satchel_catalogue_active_location(store, &parts[3]), "reading the active location");
    size_t size = 1;
    for (int index = 0; index < 4; index++) size += parts[index].size + 1;
    char *whole = calloc(1, size);
    for (int index = 0; index < 4; index++) {
        if (parts[index].data) strcat(whole, parts[index].data);
        strcat(whole, "\n");
        satchel_buffer_free(&parts[index]);
    }
    return whole;
}

/** Opens a store with one section, and watches it. */
static inline satchel_store *open_watched(void) {
    must(satchel_store_open(":memory:", NULL, &watched), "opening a store in memory");
    must(satchel_catalogue_persist(watched, text(PARIS), text(FACTS), NULL, NULL), "persisting");
    must(satchel_catalogue_set_active_location(watched, text(PARIS)), "remembering a location");
    content_before = content_of(watched);
    fill_out_with_nonsense();
    return watched;
}

static inline void close_watched(void) {
    must(satchel_store_close(watched), "closing");
    watched = NULL;
    free(content_before);
}

/** A call without `out` was refused. `place` is what the message has to name; NULL when there is nothing. */
static inline void refused(const char *what, satchel_status wanted, const char *place, satchel_status got) {
    const char *message = satchel_error_message();
    CHECK(got == wanted, "%s: %s instead of %s (%s)", what, satchel_status_name(got),
          satchel_status_name(wanted), message);
    CHECK(message[0] != '\0', "%s: no message", what);
    if (place)
        CHECK(strstr(message, place) != NULL, "%s: the message does not name %s: %s", what, place, message);
    if (watched) {
        char *after = content_of(watched);
        CHECK(strcmp(content_before, after) == 0, "%s: something changed:\n%s%s", what, content_before,
              after);
        free(after);
    }
}

/** A call that writes to `out` was refused, and emptied it. */
static inline void refused_out(const char *what, satchel_status wanted, const char *place,
                               satchel_status got) {
    refused(what, wanted, place, got);
    CHECK(out.data == NULL && out.size == 0, "%s: the out-parameter is not emptied", what);
    fill_out_with_nonsense();
}

#endif
