/* Two devices that share a catalogue of photos, through a directory and through a store of the host.
 * Usage: photo_sync FOLDER */
#include "memory_store.h"
#include "photos.h"

static satchel_buffer out;

/** A sync moved just these shards. */
static void moved(const char *what, json_t *report, const int *downloaded, const int *uploaded,
                  const int *conflicts) {
    char *shown = dump(report);
    CHECK(numbers(at(report, "/downloaded"), downloaded) && numbers(at(report, "/uploaded"), uploaded)
              && numbers(at(report, "/conflicts"), conflicts) && json_array_size(at(report, "/failed")) == 0,
          "%s: %s", what, shown);
    free(shown);
    json_decref(report);
}

static json_t *conflicts_of(struct device *device) {
    must(satchel_photos_conflicts(device->photos, 0, 100, &out), "listing conflicts");
    return take(&out);
}

/** The conflict of a shard: shards are taken at once, and so in any order. */
static json_t *conflict_in(json_t *page, int shard) {
    size_t index;
    json_t *conflict;
    json_array_foreach(at(page, "/conflicts"), index, conflict) {
        if (strtol((char[]){text_at(conflict, "/md5")[0], 0}, NULL, 16) == shard) return conflict;
    }
    return NULL;
}

/** Both sides bring it together, and need one request to find that they have. */
static void settle(struct device *one, struct device *other, satchel_remote *remote) {
    json_decref(sync_device(one, remote, NULL));
    json_decref(sync_device(other, remote, NULL));
    json_decref(sync_device(one, remote, NULL));
    CHECK(agree(one->photos, other->photos), "the devices differ");
    CHECK(modified_shards(one->photos) == 0 && modified_shards(other->photos) == 0, "something is left to send");
    json_t *idle = sync_device(one, remote, NULL);
    CHECK(number_at(idle, "/requests") == 1, "%lld requests to do nothing", number_at(idle, "/requests"));
    json_decref(idle);
}

static void begin(struct device *phone, struct device *tablet, satchel_remote *remote) {
    put_photo(phone->photos, '1', 1, "one.jpg");
    put_photo(phone->photos, 'f', 2, "two.jpg");
    must(satchel_photos_set_local(phone->photos, text(md5_of('1', 1)), text("{\"camera_make\":\"Lumen\"}")),
         "what is known here");
    satchel_sync_options dry = SATCHEL_SYNC_OPTIONS_INIT;
    dry.dry_run = true;
    json_t *report = sync_device(phone, remote, &dry);
    CHECK(json_is_true(at(report, "/dry_run")) && numbers(at(report, "/uploaded"), SHARDS(1, 15)), "a dry run");
    json_decref(report);
    CHECK(modified_shards(phone->photos) == (1u << 15 | 2), "a dry run moved something");
    moved("the first", sync_device(phone, remote, NULL), NO_SHARDS, SHARDS(1, 15), NO_SHARDS);
    moved("the second", sync_device(tablet, remote, NULL), SHARDS(1, 15), NO_SHARDS, NO_SHARDS);
    json_t *found = get_photo(tablet->photos, md5_of('1', 1));
    CHECK(json_is_false(at(found, "/starred")) && json_is_false(at(found, "/local_only"))
              && json_is_null(at(found, "/camera_make")),
          "what came from the remote");
    json_decref(found);
    settle(phone, tablet, remote);
}

/** Both change one row: one wins, the other is kept and can be made again. */
static void conflict(struct device *phone, struct device *tablet, satchel_remote *remote) {
    put_photo(phone->photos, '1', 1, "phone.jpg");
    put_photo(tablet->photos, '1', 1, "tablet.jpg");
    delete_photo(tablet->photos, md5_of('f', 2));
    put_photo(phone->photos, 'f', 2, "second.jpg");
    put_photo(phone->photos, 'f', 3, "three.jpg");
    moved("phone", sync_device(phone, remote, NULL), NO_SHARDS, SHARDS(1, 15), NO_SHARDS);
    json_t *report = sync_device(tablet, remote, NULL);
    CHECK(number_at(report, "/conflict_rows") == 2, "%lld rows in conflict", number_at(report, "/conflict_rows"));
    moved("tablet", report, SHARDS(1, 15), NO_SHARDS, SHARDS(1, 15));
    CHECK(is_named(tablet->photos, md5_of('1', 1), "phone.jpg") && is_named(tablet->photos, md5_of('f', 2), "second.jpg"),
          "the remote did not win");

    json_t *page = conflicts_of(tablet);
    json_t *renamed = conflict_in(page, 1), *removed = conflict_in(page, 15);
    CHECK(json_array_size(at(page, "/conflicts")) == 2 && json_is_null(at(page, "/next")), "the conflicts");
    CHECK(strcmp(text_at(renamed, "/kind"), "lost") == 0 && strcmp(text_at(renamed, "/side"), "local") == 0
              && strcmp(text_at(renamed, "/subject"), "photos") == 0 && strcmp(text_at(renamed, "/cause"), "sync") == 0
              && strcmp(text_at(renamed, "/local/filename"), "tablet.jpg") == 0
              && strcmp(text_at(renamed, "/remote/filename"), "phone.jpg") == 0
              && strcmp(text_at(renamed, "/base/filename"), "one.jpg") == 0,
          "a name that lost");
    CHECK(json_is_null(at(removed, "/local"))
              && strcmp(text_at(removed, "/remote/filename"), "second.jpg") == 0,
          "a deletion that lost");
    int64_t first = number_at(renamed, "/id"), second = number_at(removed, "/id");
    must(satchel_photos_resolve(tablet->photos, first, text("{\"keep\":\"local\"}")), "applying again");
    must(satchel_photos_resolve(tablet->photos, second, text("{\"keep\":\"remote\"}")), "forgetting");
    CHECK(satchel_photos_resolve(tablet->photos, first, text("{\"keep\":\"local\"}")) == SATCHEL_ENOTFOUND
              && satchel_photos_resolve(tablet->photos, second, text("{\"keep\":\"remote\"}")) == SATCHEL_ENOTFOUND,
          "a conflict is there twice");
    json_decref(page);
    page = conflicts_of(tablet);
    CHECK(json_array_size(at(page, "/conflicts")) == 0, "conflicts are left");
    json_decref(page);
    moved("again", sync_device(tablet, remote, NULL), NO_SHARDS, SHARDS(1), NO_SHARDS);
    settle(phone, tablet, remote);
    CHECK(is_named(phone->photos, md5_of('1', 1), "tablet.jpg") && is_named(phone->photos, md5_of('f', 3), "three.jpg"),
          "the end of a conflict");
    json_t *found = get_photo(phone->photos, md5_of('1', 1));
    CHECK(strcmp(text_at(found, "/camera_make"), "Lumen") == 0, "what is known here did not survive");
    json_decref(found);
}

/** Both change one shard: rows of both are in it. */
static void merge(struct device *phone, struct device *tablet, satchel_remote *remote) {
    satchel_sync_options options = SATCHEL_SYNC_OPTIONS_INIT;
    options.on_conflict = SATCHEL_CONFLICT_MERGE;
    put_photo(phone->photos, '2', 1, "phone.jpg");
    put_photo(tablet->photos, '2', 2, "tablet.jpg");
    moved("phone", sync_device(phone, remote, NULL), NO_SHARDS, SHARDS(2), NO_SHARDS);
    json_t *report = sync_device(tablet, remote, &options);
    CHECK(number_at(report, "/conflict_rows") == 0 && numbers(at(report, "/uploaded"), SHARDS(2)), "merging");
    json_decref(report);
    settle(phone, tablet, remote);
    CHECK(is_named(phone->photos, md5_of('2', 2), "tablet.jpg") && is_named(tablet->photos, md5_of('2', 1), "phone.jpg"),
          "a merged shard");

    /* Declared with the catalogue, it needs no options; they still name another for one call. */
    satchel_photos *declared = NULL;
    must(satchel_photos_open(tablet->store, text("/photos of a test"), SATCHEL_CONFLICT_MERGE, &declared), "declaring");
    satchel_photos_free(declared);
    for (int named = 0; named < 2; named++) {
        options.on_conflict = named ? SATCHEL_CONFLICT_REMOTE_WINS : SATCHEL_CONFLICT_DEFAULT;
        put_photo(phone->photos, '2', 1, named ? "phone 3.jpg" : "phone 2.jpg");
        put_photo(tablet->photos, '2', 1, named ? "tablet 3.jpg" : "tablet 2.jpg");
        json_decref(sync_device(phone, remote, NULL));
        report = sync_device(tablet, remote, &options);
        CHECK(number_at(report, "/conflict_rows") == named, "declared to merge, %d", named);
        json_decref(report);
        settle(phone, tablet, remote);
    }
    must(satchel_photos_open(tablet->store, text("/photos of a test"), SATCHEL_CONFLICT_REMOTE_WINS, &declared),
         "declaring another");
    satchel_photos_free(declared);
    json_t *page = conflicts_of(tablet);
    must(satchel_photos_resolve(tablet->photos, number_at(page, "/conflicts/0/id"), text("{\"keep\":\"remote\"}")), "dismissing");
    json_decref(page);
}

/** Another catalogue under the same name is not mistaken for this one. */
static void foreign(struct device *tablet, satchel_remote *other) {
    struct device stranger = new_device();
    put_photo(stranger.photos, '9', 9, "strange.jpg");
    json_decref(sync_device(&stranger, other, NULL));
    char *before = files_of(tablet->photos);
    CHECK(satchel_photos_sync(tablet->photos, other, text("lena"), NULL, &out) == SATCHEL_EFOREIGN
              && out.data == NULL,
          "a foreign remote");
    char *after = files_of(tablet->photos);
    CHECK(strcmp(before, after) == 0, "a foreign remote changed something");
    free(before);
    free(after);
    must(satchel_photos_detach(tablet->photos), "forgetting the remote");
    long long photos = count_photos(tablet->photos);
    satchel_sync_options options = SATCHEL_SYNC_OPTIONS_INIT;
    options.on_conflict = SATCHEL_CONFLICT_MERGE;
    /* Whose photos they are outlives the binding, where the remote has an identity. */
    options.first = SATCHEL_FIRST_UPLOAD;
    json_decref(sync_device(tablet, other, &options));
    CHECK(count_photos(tablet->photos) == photos + 1, "joining another remote");
    settle(tablet, &stranger, other);
    give_away(&stranger);
}

struct listener {
    int calls, stops_at, phases;
};

static bool listen(void *context, satchel_bytes progress) {
    struct listener *listener = context;
    json_t *value = json_loadb(progress.data, progress.size, 0, NULL);
    const char *phase = text_at(value, "/phase");
    listener->phases |= strcmp(phase, "plan") == 0 ? 1 : strcmp(phase, "shards") == 0 ? 2 : 4;
    if (number_at(value, "/done") < 0 || number_at(value, "/bytes_up") < 0) listener->phases |= 64;
    json_decref(value);
    return ++listener->calls != listener->stops_at;
}

/** Progress is reported, and each report can cancel; nothing is lost. */
static void cancelled(satchel_remote *remote) {
    struct device device = new_device();
    for (int shard = 0; shard < 16; shard++) put_photo(device.photos, "0123456789abcdef"[shard], 1, "a.jpg");
    satchel_sync_options options = SATCHEL_SYNC_OPTIONS_INIT;
    struct listener listener = {0, 0, 0};
    options.progress = listen;
    options.context = &listener;
    options.parallel = 3;
    int stops = 1;
    for (; stops < 100; stops++) {
        listener = (struct listener){0, stops, 0};
        satchel_status status = satchel_photos_sync(device.photos, remote, text("max"), &options, &out);
        if (status == SATCHEL_OK) break;
        CHECK(status == SATCHEL_ECANCELLED && listener.calls == stops && out.data == NULL,
              "cancelled at %d: %s, %d calls", stops, satchel_status_name(status), listener.calls);
        CHECK(count_photos(device.photos) == 16, "photos were lost");
    }
    satchel_buffer_free(&out);
    CHECK(stops > 4, "progress was told %d times", stops);
    listener = (struct listener){0, 0, 0};
    put_photo(device.photos, '7', 2, "b.jpg");
    must(satchel_photos_sync(device.photos, remote, text("max"), &options, NULL), "synchronizing");
    CHECK(listener.phases == 7, "phases: %d", listener.phases);
    give_away(&device);
}

/** The remote contains what the manifest says, and verifying confirms it. */
static void verified(struct device *phone, satchel_remote *remote) {
    satchel_verify_options options = SATCHEL_VERIFY_OPTIONS_INIT;
    struct listener listener = {0, 0, 0};
    options.repair = true;
    options.progress = listen;
    options.context = &listener;
    must(satchel_photos_verify(phone->photos, remote, text("lena"), &options, &out), "verifying");
    json_t *report = take(&out);
    CHECK(json_is_true(at(report, "/ok")) && json_array_size(at(report, "/shards")) == 16, "the remote is not sound");
    CHECK(strcmp(text_at(report, "/shards/0/state"), "ok") == 0 && listener.calls > 16, "%d calls", listener.calls);
    json_decref(report);
    must(satchel_photos_verify(phone->photos, remote, text("lena"), NULL, NULL), "verifying without a report");
    listener = (struct listener){0, 1, 0};
    CHECK(satchel_photos_verify(phone->photos, remote, text("lena"), &options, &out) == SATCHEL_ECANCELLED,
          "verifying was not cancelled");
}

static void all(satchel_remote *remote, satchel_remote *other) {
    struct device phone = new_device(), tablet = new_device();
    begin(&phone, &tablet, remote);
    conflict(&phone, &tablet, remote);
    merge(&phone, &tablet, remote);
    foreign(&tablet, other);
    verified(&phone, remote);
    cancelled(remote);
    give_away(&phone);
    give_away(&tablet);
}

/** A photo's file is uploaded and downloaded; another device sees that it is there. */
static void backups(const char *folder, satchel_remote *remote) {
    static const char md5[] = "900150983cd24fb0d6963f7d28e17f72"; /* of "abc" */
    struct device phone = new_device(), tablet = new_device();
    satchel_photos_free(phone.photos);
    must(satchel_photos_open(phone.store, text(folder), SATCHEL_CONFLICT_DEFAULT, &phone.photos), "opening");
    write_bytes(folder, "abc.jpg", "abc", 3);
    char row[200];
    snprintf(row, sizeof row, "{\"md5\":\"%s\",\"filename\":\"abc.jpg\",\"size\":3,\"photodate\":1,\"modified\":1}", md5);
    must(satchel_photos_upsert(phone.photos, text(row), NULL), "a row");
    must(satchel_photos_upsert(tablet.photos, text(row), NULL), "a row");
    must(satchel_photos_star(phone.photos, text(md5), true), "starring");
    satchel_photo_backup_options options = SATCHEL_PHOTO_BACKUP_OPTIONS_INIT;
    options.parallel = 17;
    CHECK(satchel_photos_backup_run(phone.photos, remote, text("lena"), &options, &out) == SATCHEL_EINVALID, "17");
    options.parallel = 2;
    must(satchel_photos_backup_run(phone.photos, remote, text("lena"), &options, &out), "a backup");
    json_t *report = take(&out);
    CHECK(number_at(report, "/uploaded") == 1 && number_at(report, "/failed_count") == 0
              && number_at(report, "/queued") == 0 && number_at(report, "/bytes_up") == 3,
          "the report of a backup");
    json_decref(report);
    json_t *found = get_photo(phone.photos, md5);
    CHECK(strcmp(text_at(found, "/backup_status"), "uploaded") == 0, "the status");
    json_decref(found);

    must(satchel_photos_backup_refresh(tablet.photos, remote, text("lena"), NULL, &out), "refreshing");
    report = take(&out);
    CHECK(number_at(report, "/photos") == 1 && number_at(report, "/starred") == 1, "the report of refreshing");
    json_decref(report);
    found = get_photo(tablet.photos, md5);
    CHECK(json_is_true(at(found, "/starred")), "the star");
    json_decref(found);

    char back[4096];
    snprintf(back, sizeof back, "%s", path_in(folder, "back.jpg"));
    must(satchel_photos_backup_restore(tablet.photos, text(md5), text(back), remote, text("lena"), NULL, &out),
         "restoring");
    report = take(&out);
    CHECK(number_at(report, "/size") == 3 && json_is_false(at(report, "/unchanged")), "the report of restoring");
    json_decref(report);
    char bytes[4] = "";
    FILE *file = fopen(back, "rb");
    CHECK(file && fread(bytes, 1, 4, file) == 3 && memcmp(bytes, "abc", 3) == 0, "the bytes that came back");
    if (file) fclose(file);
    CHECK(satchel_photos_backup_restore(tablet.photos, text(md5_of('1', 1)), text(path_in(folder, "none")), remote,
                                        text("lena"), NULL, NULL) == SATCHEL_ENOTFOUND,
          "a file that is not there");
    CHECK(satchel_photos_backup_restore(tablet.photos, text(md5), text(path_in(folder, "abc.jpg")), remote,
                                        text("lena"), NULL, NULL) == SATCHEL_OK,
          "the same file");
    CHECK(satchel_photos_backup_restore(tablet.photos, text(md5), text(folder), remote, text("lena"), NULL, NULL)
              == SATCHEL_ECONSTRAINT,
          "a directory as file");
    give_away(&phone);
    give_away(&tablet);
    remove(back);
}

/** Objects of the host's own. */
static void objects(satchel_remote *remote) {
    static const satchel_bytes none = {NULL, 0};
    satchel_buffer head = SATCHEL_BUFFER_INIT, etag = SATCHEL_BUFFER_INIT;
    must(satchel_remote_put(remote, text("own/a"), text("abc"), none, true, text("{\"kind\":\"test\"}"), &etag),
         "writing");
    CHECK(satchel_remote_put(remote, text("own/a"), text("x"), none, true, none, NULL) == SATCHEL_ECONFLICT,
          "an object that is there");
    CHECK(satchel_remote_put(remote, text("own/a"), text("x"), text("\"other\""), false, none, NULL)
              == SATCHEL_ECONFLICT,
          "another etag");
    CHECK(satchel_remote_put(remote, text("own/a"), text("x"), none, false, text("[1]"), NULL) == SATCHEL_EINVALID,
          "metadata of another kind");
    must(satchel_remote_get(remote, text("own/a"), none, &head, &out), "reading");
    CHECK(out.size == 3 && memcmp(out.data, "abc", 3) == 0, "the bytes");
    json_t *known = take(&head);
    CHECK(number_at(known, "/size") == 3 && strcmp(text_at(known, "/etag"), etag.data) == 0
              && strcmp(text_at(known, "/metadata/kind"), "test") == 0,
          "what is known of an object");
    json_decref(known);
    satchel_buffer_free(&out);
    must(satchel_remote_get(remote, text("own/a"), text(etag.data), &head, &out), "reading what is known");
    CHECK(head.data == NULL && out.data == NULL, "an object was read that had not changed");
    must(satchel_remote_head(remote, text("own/a"), &out), "a head");
    known = take(&out);
    CHECK(number_at(known, "/size") == 3, "the size in a head");
    json_decref(known);
    must(satchel_remote_put(remote, text("own/b"), text(""), none, false, none, NULL), "an empty object");
    must(satchel_remote_list(remote, text("own/"), none, 1, &out), "listing");
    json_t *page = take(&out);
    CHECK(json_array_size(at(page, "/entries")) == 1 && strcmp(text_at(page, "/entries/0/key"), "own/a") == 0,
          "the first page");
    must(satchel_remote_list(remote, text("own/"), text(text_at(page, "/next")), 1, &out), "the second page");
    json_decref(page);
    page = take(&out);
    CHECK(strcmp(text_at(page, "/entries/0/key"), "own/b") == 0, "the second page");
    json_decref(page);
    CHECK(satchel_remote_list(remote, text(""), none, 1001, &out) == SATCHEL_EINVALID, "a page of 1001");
    CHECK(satchel_remote_delete(remote, text("own/a"), text("\"other\"")) == SATCHEL_ECONFLICT, "another etag");
    must(satchel_remote_delete(remote, text("own/a"), text(etag.data)), "deleting");
    must(satchel_remote_delete(remote, text("own/b"), none), "deleting");
    must(satchel_remote_delete(remote, text("own/b"), none), "deleting again");
    CHECK(satchel_remote_get(remote, text("own/a"), none, NULL, &out) == SATCHEL_ENOTFOUND, "a deleted object");
    CHECK(satchel_remote_head(remote, text("../a"), &out) == SATCHEL_EINVALID, "a bad key");
    satchel_buffer_free(&etag);
}

static satchel_remote *open_directory(const char *folder, const char *name) {
    satchel_remote *remote;
    must(satchel_remote_directory(text(path_in(folder, name)), &remote), name);
    satchel_buffer verdict = SATCHEL_BUFFER_INIT;
    must(satchel_remote_probe(remote, text("probe/"), &verdict), "probing");
    CHECK(strstr(verdict.data, "true") != NULL, "a directory: %s", verdict.data);
    satchel_buffer_free(&verdict);
    return remote;
}

int main(int count, char **arguments) {
    if (count != 2) return 2;
    satchel_remote *directory = open_directory(arguments[1], "remote");
    satchel_remote *another = open_directory(arguments[1], "another");
    all(directory, another);
    backups(arguments[1], directory);
    objects(directory);
    satchel_remote_free(directory);
    satchel_remote_free(another);

    struct memory memory, spare;
    satchel_remote *first = open_memory(&memory), *second = open_memory(&spare);
    all(first, second);
    backups(arguments[1], first);
    objects(first);
    close_memory(&memory, first);
    close_memory(&spare, second);
    return close_checks();
}
