/* satchel_photos.h: opening a catalogue of photos through satchel.h, for its drivers. */
#ifndef SATCHEL_PHOTOS_H
#define SATCHEL_PHOTOS_H

#include "photo_run.h"
#include "satchel.h"

/** A place that there need not be. */
static const char *const PICTURES = "/benchmark/pictures";

typedef struct catalogue {
    satchel_store *store;
    satchel_photos *photos;
} catalogue;

static inline void expect(satchel_status status) {
    if (status == SATCHEL_OK) return;
    fprintf(stderr, "%s: %s\n", satchel_status_name(status), satchel_error_message());
    exit(1);
}

static inline satchel_bytes lend(const char *text) { return (satchel_bytes){text, strlen(text)}; }

static inline catalogue open_catalogue(const char *path) {
    catalogue opened = {0};
    expect(satchel_store_open(path, NULL, &opened.store));
    satchel_conflict_policy policy = SATCHEL_CONFLICT_DEFAULT;
    expect(satchel_photos_open(opened.store, lend(PICTURES), policy, &opened.photos));
    return opened;
}

static inline void close_catalogue(catalogue opened) {
    satchel_photos_free(opened.photos);
    expect(satchel_store_close(opened.store));
}

/** `told`: what the report has to say. */
static inline void import_directory(catalogue opened, const char *directory, const char *told) {
    satchel_buffer report = SATCHEL_BUFFER_INIT;
    satchel_conflict_policy policy = SATCHEL_CONFLICT_REMOTE_WINS;
    expect(satchel_photos_import_directory(opened.photos, lend(directory), policy, &report));
    if (strstr(report.data, told) == NULL) fail(report.data);
    satchel_buffer_free(&report);
}

static inline void export_directory(catalogue opened, const char *directory) {
    satchel_buffer report = SATCHEL_BUFFER_INIT;
    expect(satchel_photos_export_directory(opened.photos, lend(directory), &report));
    satchel_buffer_free(&report);
}

#endif
