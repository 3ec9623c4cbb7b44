/* The trash of a catalogue of photos, its safety and its counts. */
#include "photos.h"

static satchel_buffer out;

/** A deleted photo is in the trash, and is restored; then it is deleted for good. */
static void trash(satchel_photos *photos, const char *md5) {
    must(satchel_photos_trash(photos, text(""), 10, &out), "reading the trash");
    json_t *page = take(&out);
    CHECK(strcmp(text_at(page, "/photos/0/md5"), md5) == 0 && number_at(page, "/photos/0/removed") > 0
              && json_is_null(at(page, "/next")),
          "the trash: %s", shown(at(page, "/photos"), "/md5"));
    json_decref(page);
    must(satchel_photos_trash(photos, text(""), 1, &out), "reading a page of the trash");
    page = take(&out);
    CHECK(strcmp(text_at(page, "/next"), md5) == 0, "no next page");
    must(satchel_photos_trash(photos, text(md5), 1, &out), "reading the next page");
    json_decref(page);
    page = take(&out);
    CHECK(json_array_size(at(page, "/photos")) == 0, "the next page is not empty");
    json_decref(page);

    int64_t count = -1;
    char list[64];
    snprintf(list, sizeof list, "[\"%s\"]", md5);
    must(satchel_photos_restore_rows(photos, text(list), &count), "restoring a row");
    CHECK(count == 1 && count_photos(photos) == 3, "%lld restored", (long long)count);
    delete_photo(photos, md5);
    must(satchel_photos_restore_rows(photos, text(""), NULL), "restoring the trash");
    delete_photo(photos, md5);
    must(satchel_photos_empty_trash(photos, &count), "emptying the trash");
    CHECK(count == 1, "%lld in the trash", (long long)count);
    must(satchel_photos_restore_rows(photos, text(""), &count), "restoring nothing");
    CHECK(count == 0 && count_photos(photos) == 2, "%lld restored of nothing", (long long)count);

    must(satchel_photos_safety(photos, &out), "safety");
    json_t *safety = take(&out);
    CHECK(number_at(safety, "/elsewhere/photos") == 2 && number_at(safety, "/present/photos") == 0
              && json_is_false(at(safety, "/safe")),
          "safety");
    json_decref(safety);
    must(satchel_photos_counts(photos, text("month"), text("{\"shard\":10}"), &out), "counts");
    json_t *counts = take(&out);
    CHECK(strcmp(text_at(counts, "/0/key"), "2023-11") == 0 && number_at(counts, "/0/photos") == 2, "counts: %s",
          shown(counts, "/key"));
    json_decref(counts);
}

int main(void) {
    satchel_store *store;
    satchel_photos *photos;
    must(satchel_store_open(":memory:", NULL, &store), "opening");
    must(satchel_photos_open(store, text("/album"), SATCHEL_CONFLICT_DEFAULT, &photos), "/album");
    put_photo(photos, 'a', 1, "lake.jpg");
    put_photo(photos, 'a', 2, "sea.jpg");
    put_photo(photos, '0', 3, "well.jpg");
    delete_photo(photos, md5_of('0', 3));
    trash(photos, md5_of('0', 3));
    sound("at the end", store);
    satchel_photos_free(photos);
    must(satchel_store_close(store), "closing");
    return close_checks();
}
