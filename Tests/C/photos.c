/* One catalogue of photos: rows, queries, files, what is known here only, backups, scans, and what observers hear.
 * Usage: photos FOLDER */
#include <sys/stat.h>

#include "photos.h"

static const char *folder;
static satchel_buffer out;

static satchel_photos *open_photos(satchel_store *store, const char *directory) {
    satchel_photos *photos;
    must(satchel_photos_open(store, text(directory), SATCHEL_CONFLICT_DEFAULT, &photos), directory);
    return photos;
}

static json_t *query_of(satchel_photos *photos, const char *query) {
    must(satchel_photos_query(photos, text(query), &out), query);
    return take(&out);
}

/** A query finds just these, in this order, and counts as many. */
static void finds(satchel_photos *photos, const char *query, const char *const *filenames) {
    json_t *page = query_of(photos, query), *found = at(page, "/photos");
    int64_t count = -1;
    CHECK(lists(found, "/filename", filenames), "%s:%s", query, shown(found, "/filename"));
    CHECK(json_is_null(at(page, "/next")), "%s: a next page", query);
    must(satchel_photos_count(photos, text(query), &count), query);
    CHECK(count == (int64_t)json_array_size(found), "%s: counts %lld", query, (long long)count);
    json_decref(page);
}

#define NAMES(...) ((const char *const[]){__VA_ARGS__, NULL})

static void rows(satchel_photos *photos) {
    json_t *several = json_pack("[o, o, o]", photo('a', 1, "lake.jpg"), photo('a', 2, "Sea, \"calm\".jpg"),
                                photo('0', 3, "w\xC3\xA9ll.jpg"));
    json_object_set_new(json_array_get(several, 0), "apple_photo_id", json_string("L0/001"));
    json_object_set_new(json_array_get(several, 1), "width", json_null());
    json_object_set_new(json_array_get(several, 1), "camera_make", json_string("Lumen"));
    char *rows = written(several);
    int64_t changed = -1;
    must(satchel_photos_upsert(photos, text(rows), &changed), "adding");
    CHECK(changed == 3 && count_photos(photos) == 3, "%lld changed", (long long)changed);
    must(satchel_photos_upsert(photos, text(rows), &changed), "adding again");
    CHECK(changed == 0, "the same rows: %lld changed", (long long)changed);
    must(satchel_photos_upsert(photos, text(rows), NULL), "adding without a count");
    free(rows);
    CHECK(modified_shards(photos) == (1u << 10 | 1), "modified: %x", modified_shards(photos));

    json_t *lake = get_photo(photos, md5_of('a', 1)), *sea = get_photo(photos, md5_of('a', 2));
    CHECK(strcmp(text_at(lake, "/apple_photo_id"), "L0/001") == 0, "no identifier");
    CHECK(number_at(lake, "/size") == 1001 && number_at(lake, "/photodate") == 1700000001
              && number_at(lake, "/width") == 4032,
          "other numbers");
    CHECK(json_is_null(at(sea, "/width")) && strcmp(text_at(sea, "/camera_make"), "Lumen") == 0, "the sea");
    CHECK(json_is_true(at(lake, "/local_only")) && json_is_false(at(lake, "/starred"))
              && strcmp(text_at(lake, "/backup_status"), "not_backed_up") == 0,
          "a new photo is only here");
    json_decref(lake);
    json_decref(sea);

    finds(photos, "", NAMES("w\xC3\xA9ll.jpg", "lake.jpg", "Sea, \"calm\".jpg"));
    finds(photos, "{}", NAMES("w\xC3\xA9ll.jpg", "lake.jpg", "Sea, \"calm\".jpg"));
    finds(photos, "{\"shard\":10}", NAMES("lake.jpg", "Sea, \"calm\".jpg"));
    finds(photos, "{\"filename\":\"*.jpg\",\"order\":\"photodate\",\"descending\":true}",
          NAMES("w\xC3\xA9ll.jpg", "Sea, \"calm\".jpg", "lake.jpg"));
    finds(photos, "{\"filename\":\"l?ke.jpg\"}", NAMES("lake.jpg"));
    finds(photos, "{\"from\":1700000002,\"to\":1700000002}", NAMES("Sea, \"calm\".jpg"));
    finds(photos, "{\"starred\":true}", NAMES(NULL));

    char *file = file_of(photos, 10);
    CHECK(strcmp(file, "a0000000000000000000000000000001,lake.jpg,1001,1700000001,1700000001,4032,3024,L0/001\n"
                       "a0000000000000000000000000000002,\"Sea, \"\"calm\"\".jpg\",1002,1700000002,1700000002,"
                       ",3024,")
              == 0,
          "the file is\n%s", file);
    free(file);

    delete_photo(photos, md5_of('0', 3));
    CHECK(count_photos(photos) == 2 && is_named(photos, md5_of('0', 3), NULL), "a deleted photo is there");
    int64_t deleted = -1;
    must(satchel_photos_delete(photos, text("[\"00000000000000000000000000000003\"]"), &deleted), "again");
    CHECK(deleted == 0, "a photo was deleted twice");
    CHECK(modified_shards(photos) == 1u << 10, "an addition that was deleted is no change: %x",
          modified_shards(photos));
}

/** Pages cover all, each photo once, also while photos come and go. */
static void pages(satchel_store *store) {
    satchel_photos *photos = open_photos(store, "/pages");
    json_t *many = json_array();
    for (int index = 0; index < 250; index++)
        json_array_append_new(many, photo("0123456789abcdef"[index % 16], index, "p.jpg"));
    char *rows = written(many);
    must(satchel_photos_upsert(photos, text(rows), NULL), "adding 250");
    free(rows);
    static const char *const orders[] = {"md5", "photodate", "filename"};
    for (int index = 0; index < 6; index++) {
        json_t *query = json_pack("{s:s, s:b, s:i}", "order", orders[index / 2], "descending", index % 2,
                                  "limit", 64);
        json_t *seen = json_object();
        int count = 0;
        for (;;) {
            char *asked = dump(query);
            json_t *page = query_of(photos, asked), *next = at(page, "/next"), *row;
            size_t place;
            json_array_foreach(at(page, "/photos"), place, row) {
                json_object_set(seen, text_at(row, "/md5"), row);
                count++;
            }
            bool more = json_is_string(next);
            if (more) json_object_set(query, "after", next);
            json_decref(page);
            free(asked);
            if (!more) break;
        }
        CHECK(count == 250 && json_object_size(seen) == 250, "%s: %d photos, %zu others", orders[index / 2], count,
              json_object_size(seen));
        json_decref(seen);
        json_decref(query);
    }
    satchel_photos_free(photos);
}

static void changes(satchel_store *store) {
    satchel_photos *photos = open_photos(store, "/changes");
    for (int index = 0; index < 5; index++) put_photo(photos, '1', index, "new.jpg");
    int count = 0;
    char after[256] = "";
    for (;;) {
        must(satchel_photos_changes(photos, text(after), 2, &out), "asking for changes");
        json_t *page = take(&out), *change;
        size_t place;
        json_array_foreach(at(page, "/changes"), place, change) {
            CHECK(strcmp(text_at(change, "/kind"), "upsert") == 0 && json_is_null(at(change, "/base"))
                      && strcmp(text_at(change, "/photo/filename"), "new.jpg") == 0
                      && strcmp(text_at(change, "/md5"), md5_of('1', count)) == 0,
                  "change %d", count);
            count++;
        }
        bool more = json_is_string(at(page, "/next"));
        if (more) snprintf(after, sizeof after, "%s", text_at(page, "/next"));
        json_decref(page);
        if (!more) break;
    }
    CHECK(count == 5, "%d changes", count);
    satchel_photos_free(photos);
}

static void files(satchel_store *store, satchel_photos *photos) {
    satchel_photos *other = open_photos(store, "/files");
    char *file = file_of(photos, 10), with_rest[2048];
    int size = snprintf(with_rest, sizeof with_rest, "%s\nno photo at all\n%s,wrong.jpg,1,2,3,,,", file,
                        md5_of('b', 1));
    must(satchel_photos_import_shard(other, 10, (satchel_bytes){with_rest, (size_t)size}, SATCHEL_CONFLICT_REMOTE_WINS,
                                     &out),
         "importing");
    json_t *report = take(&out);
    CHECK(number_at(report, "/photos") == 2 && number_at(report, "/conflicts") == 0
              && json_array_size(at(report, "/rejected")) == 2 && number_at(report, "/rejected/0/line") == 3
              && strcmp(text_at(report, "/rejected/0/raw"), "no photo at all") == 0
              && json_string_length(at(report, "/rejected/1/reason")) > 0,
          "the report of an import");
    json_decref(report);
    char *again = file_of(other, 10);
    CHECK(strstr(again, "no photo at all") && strstr(again, "wrong.jpg") && count_photos(other) == 2,
          "lines were lost:\n%s", again);
    free(again);
    must(satchel_photos_import_shard(other, 10, text(file), SATCHEL_CONFLICT_MERGE, NULL), "importing again");
    again = file_of(other, 10);
    CHECK(strcmp(again, file) == 0, "the exported file is\n%s", again);
    free(again);
    free(file);

    char place[4096];
    snprintf(place, sizeof place, "%s/exported", folder);
    must(satchel_photos_export_directory(photos, text(place), &out), "exporting a directory");
    json_decref(take(&out));
    must(satchel_photos_export_directory(photos, text(place), NULL), "exporting a directory again");
    struct stat status;
    CHECK(stat(path_in(place, "manifest.json"), &status) == 0 && stat(path_in(place, "a.csv"), &status) == 0,
          "no manifest, or no a.csv");
    satchel_photos *copy = open_photos(store, "/copy");
    must(satchel_photos_import_directory(copy, text(place), SATCHEL_CONFLICT_REMOTE_WINS, &out), "importing all");
    report = take(&out);
    CHECK(number_at(report, "/photos") == 2 && json_array_size(at(report, "/failed")) == 0, "importing a directory");
    json_decref(report);
    CHECK(agree(photos, copy), "the exported directory has other files");
    satchel_photos_free(copy);
    satchel_photos_free(other);
}

static void local(satchel_photos *photos) {
    const char *lake = md5_of('a', 1);
    must(satchel_photos_set_local(photos, text(lake),
                                  text("{\"camera_model\":\"One\",\"latitude\":-33.5,\"iso\":400,"
                                       "\"shutter_speed\":\"1/250\",\"thumbnail_cached_at\":1700000000000}")),
         "setting what is known here");
    must(satchel_photos_set_local(photos, text(lake), text("{\"iso\":null}")), "forgetting");
    put_photo(photos, 'a', 1, "renamed.jpg");
    json_t *found = get_photo(photos, lake);
    CHECK(strcmp(text_at(found, "/camera_model"), "One") == 0 && json_is_null(at(found, "/iso"))
              && json_real_value(at(found, "/latitude")) == -33.5
              && strcmp(text_at(found, "/shutter_speed"), "1/250") == 0
              && number_at(found, "/thumbnail_cached_at") == 1700000000000LL,
          "what is known here is gone");
    json_decref(found);

    must(satchel_photos_star(photos, text(lake), true), "starring");
    found = get_photo(photos, lake);
    CHECK(json_is_true(at(found, "/starred")) && strcmp(text_at(found, "/backup_status"), "queued") == 0,
          "a star for a photo that is only here queues its backup");
    json_decref(found);
    must(satchel_photos_backup_queue(photos, text(md5_of('a', 2))), "queueing");
    static const char *const order[] = {"a0000000000000000000000000000001", "a0000000000000000000000000000002"};
    for (int index = 0; index < 2; index++) {
        must(satchel_photos_backup_claim(photos, &out), "claiming");
        found = take(&out);
        CHECK(strcmp(text_at(found, "/md5"), order[index]) == 0
                  && strcmp(text_at(found, "/backup_status"), "uploading") == 0,
              "claimed %s", text_at(found, "/md5"));
        json_decref(found);
    }
    must(satchel_photos_backup_claim(photos, &out), "claiming of an empty queue");
    found = take(&out);
    CHECK(json_is_null(found), "there is something to claim");
    json_decref(found);
    must(satchel_photos_backup_done(photos, text(lake)), "finishing");
    must(satchel_photos_backup_failed(photos, text(md5_of('a', 2)), text("no network")), "failing");
    finds(photos, "{\"backup_status\":\"uploaded\"}", NAMES("renamed.jpg"));
    found = get_photo(photos, md5_of('a', 2));
    CHECK(strcmp(text_at(found, "/error"), "no network") == 0 && number_at(found, "/attempts") == 1,
          "why it failed");
    json_decref(found);
    must(satchel_photos_backup_queue(photos, text(md5_of('a', 2))), "queueing again");
}

/** Freeing a catalogue releases its claims. */
static void claims(satchel_store *store) {
    satchel_photos *one = open_photos(store, "/claims"), *other = open_photos(store, "/claims");
    put_photo(one, '5', 1, "a.jpg");
    must(satchel_photos_backup_queue(one, text(md5_of('5', 1))), "queueing");
    must(satchel_photos_backup_claim(one, &out), "claiming");
    satchel_buffer_free(&out);
    must(satchel_photos_backup_claim(other, &out), "claiming what is taken");
    CHECK(strcmp(out.data, "null") == 0, "claimed twice");
    satchel_buffer_free(&out);
    satchel_photos_free(one);
    must(satchel_photos_backup_claim(other, &out), "claiming what was released");
    CHECK(strcmp(out.data, "null") != 0, "a claim was not released");
    satchel_buffer_free(&out);
    satchel_photos_free(other);
}

static void status(satchel_photos *photos) {
    must(satchel_photos_status(photos, &out), "asking for the status");
    json_t *status = take(&out);
    CHECK(number_at(status, "/photos") == 2 && number_at(status, "/changes") == 2
              && number_at(status, "/conflicts") == 0 && number_at(status, "/backup/uploaded") == 1
              && number_at(status, "/backup/queued") == 1 && json_array_size(at(status, "/shards")) == 16
              && number_at(status, "/shards/10/photos") == 2 && number_at(status, "/shards/10/changes") == 2
              && json_is_true(at(status, "/shards/10/pending")) && json_is_false(at(status, "/shards/9/pending"))
              && json_string_length(at(status, "/uuid")) == 36 && json_is_null(at(status, "/last_sync"))
              && strcmp(text_at(status, "/directory"), "/album") == 0,
          "the status");
    json_decref(status);
}

/** The reports of a scan, and when it is to stop. */
struct listener {
    int calls, last;
    bool stops;
    long long done;
};

static bool listen(void *context, satchel_bytes progress) {
    struct listener *listener = context;
    json_t *value = json_loadb(progress.data, progress.size, 0, NULL);
    listener->calls++;
    listener->done = number_at(value, "/files_done");
    json_decref(value);
    return !listener->stops;
}

static json_t *scan_with(satchel_photos *photos, const satchel_scan_options *options) {
    must(satchel_photos_scan(photos, options, &out), "scanning");
    return take(&out);
}

static void scan(satchel_store *store) {
    char pictures[4096];
    snprintf(pictures, sizeof pictures, "%s/pictures", folder);
    satchel_photos *photos = open_photos(store, pictures);
    CHECK(satchel_photos_scan(photos, NULL, NULL) == SATCHEL_ENOTFOUND, "scanning what is not there");
    if (mkdir(pictures, 0700) != 0) give_up(pictures);
    write_text(pictures, "one.jpg", "no picture, but a photo by its name");
    write_text(pictures, "two.jpg", "another one");
    write_text(pictures, "twin.jpg", "another one");
    write_text(pictures, "notes.txt", "no photo");

    struct listener listener = {0, 0, true, 0};
    satchel_scan_options options = SATCHEL_SCAN_OPTIONS_INIT;
    options.progress = listen;
    options.context = &listener;
    json_t *report = scan_with(photos, &options);
    CHECK(json_is_true(at(report, "/cancelled")) && listener.calls == 1, "a cancelled scan: %d calls",
          listener.calls);
    json_decref(report);
    listener.stops = false;
    report = scan_with(photos, &options);
    CHECK(number_at(report, "/added") + number_at(report, "/unchanged") == 2
              && number_at(report, "/duplicates_count") == 1 && json_is_false(at(report, "/cancelled")),
          "a scan");
    CHECK(listener.calls > 1 && count_photos(photos) == 2, "%lld photos, %d calls", count_photos(photos),
          listener.calls);
    json_decref(report);
    if (remove(path_in(pictures, "one.jpg")) != 0) give_up("removing");
    report = scan_with(photos, NULL);
    CHECK(number_at(report, "/missing_count") == 1 && number_at(report, "/removed") == 0 && count_photos(photos) == 2,
          "what is missing stays");
    json_decref(report);
    options.delete_missing = true;
    report = scan_with(photos, &options);
    CHECK(number_at(report, "/removed") == 1 && count_photos(photos) == 1, "what is missing goes");
    json_decref(report);
    satchel_photos_free(photos);
}

/** The last notification of an observer of the store. */
static char heard[4096];

static void hear(void *context, satchel_bytes change) {
    (void)context;
    snprintf(heard, sizeof heard, "%.*s", (int)change.size, (const char *)change.data);
}

static void observe(satchel_store *store, satchel_photos *photos) {
    satchel_observer *observer;
    must(satchel_store_observe(store, hear, NULL, NULL, &observer), "observing");
    put_photo(photos, 'c', 7, "heard.jpg");
    json_t *change = json_loads(heard, 0, NULL);
    CHECK(strcmp(text_at(change, "/subject"), "photos") == 0
              && strcmp(text_at(change, "/keys/0"), md5_of('c', 7)) == 0
              && strcmp(text_at(change, "/place"), "/album") == 0 && json_is_true(at(change, "/own")),
          "heard %s", heard);
    json_decref(change);
    satchel_observer_free(observer);
    delete_photo(photos, md5_of('c', 7));
}

/** All is in the file, and can be read by a store that writes nothing. */
static void reopened(const char *path) {
    satchel_open_options options = SATCHEL_OPEN_OPTIONS_INIT;
    options.read_only = true;
    satchel_store *store;
    must(satchel_store_open(path, &options, &store), "opening to read only");
    satchel_photos *photos = open_photos(store, "/album/../album/.");
    CHECK(count_photos(photos) == 2 && is_named(photos, md5_of('a', 1), "renamed.jpg"), "not what was written");
    char *row = written(photo('a', 1, "changed.jpg"));
    CHECK(satchel_photos_upsert(photos, text(row), NULL) == SATCHEL_EREADONLY, "written to read only");
    free(row);
    must(satchel_store_close(store), "closing");
    CHECK(satchel_photos_status(photos, &out) == SATCHEL_ECLOSED, "a closed store answers");
    satchel_photos_free(photos);
    satchel_photos_free(photos);
}

int main(int count, char **arguments) {
    if (count != 2) return 2;
    folder = arguments[1];
    char path[4096];
    snprintf(path, sizeof path, "%s/photos.satchel", folder);
    satchel_store *store;
    must(satchel_store_open(path, NULL, &store), path);
    satchel_photos *photos = open_photos(store, "/album");
    rows(photos);
    pages(store);
    changes(store);
    files(store, photos);
    local(photos);
    claims(store);
    status(photos);
    scan(store);
    observe(store, photos);
    sound("at the end", store);
    must(satchel_store_close(store), "closing");
    satchel_photos_free(photos);
    reopened(path);
    return close_checks();
}
