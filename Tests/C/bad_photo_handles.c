/* Handles of catalogues, remotes and answers that were freed, or never were any, in every call that takes one.
 * Usage: bad_photo_handles FOLDER */
#include "bad_input.h"
#include "photos.h"

#define MD5 "40000000000000000000000000000001"

static char folder[2048];
static struct device device;
static satchel_remote *remote;

/** Every call that takes a catalogue, with invalid ones. */
static void no_photos(const char *what, satchel_photos *photos) {
    const satchel_status wanted = photos ? SATCHEL_ECLOSED : SATCHEL_EINVALID;
    satchel_bytes md5 = text(MD5), none = text("");
    int64_t number = 77;
    uint32_t bits = 77;
    char *row = written(photo('4', 1, "a.jpg"));
    fill_out_with_nonsense();
    refused(what, wanted, NULL, satchel_photos_upsert(photos, text(row), &number));
    CHECK(number == 0, "%s: the count is not emptied", what);
    free(row);
    refused_out(what, wanted, NULL, satchel_photos_get(photos, md5, &out));
    number = 77;
    refused(what, wanted, NULL, satchel_photos_delete(photos, text("[]"), &number));
    CHECK(number == 0, "%s: the count is not emptied", what);
    refused_out(what, wanted, NULL, satchel_photos_query(photos, none, &out));
    number = 77;
    refused(what, wanted, NULL, satchel_photos_count(photos, none, &number));
    CHECK(number == 0, "%s: the count is not emptied", what);
    refused_out(what, wanted, NULL, satchel_photos_counts(photos, text("day"), none, &out));
    refused_out(what, wanted, NULL, satchel_photos_trash(photos, none, 1, &out));
    number = 77;
    refused(what, wanted, NULL, satchel_photos_restore_rows(photos, none, &number));
    CHECK(number == 0, "%s: the count is not emptied", what);
    number = 77;
    refused(what, wanted, NULL, satchel_photos_empty_trash(photos, &number));
    CHECK(number == 0, "%s: the count is not emptied", what);
    refused_out(what, wanted, NULL, satchel_photos_safety(photos, &out));
    refused_out(what, wanted, NULL, satchel_photos_status(photos, &out));
    refused(what, wanted, NULL, satchel_photos_modified_shards(photos, &bits));
    CHECK(bits == 0, "%s: the bits are not emptied", what);
    refused_out(what, wanted, NULL, satchel_photos_changes(photos, none, 10, &out));
    refused_out(what, wanted, NULL, satchel_photos_export_shard(photos, 1, &out));
    refused_out(what, wanted, NULL,
                satchel_photos_import_shard(photos, 1, none, SATCHEL_CONFLICT_REMOTE_WINS, &out));
    refused_out(what, wanted, NULL, satchel_photos_export_directory(photos, text(folder), &out));
    refused_out(what, wanted, NULL,
                satchel_photos_import_directory(photos, text(folder), SATCHEL_CONFLICT_REMOTE_WINS, &out));
    refused(what, wanted, NULL, satchel_photos_set_local(photos, md5, text("{}")));
    refused(what, wanted, NULL, satchel_photos_star(photos, md5, true));
    refused_out(what, wanted, NULL, satchel_photos_thumbnail(photos, md5, 0, NULL, NULL, &out));
    refused(what, wanted, NULL, satchel_photos_backup_queue(photos, md5));
    refused_out(what, wanted, NULL, satchel_photos_backup_claim(photos, &out));
    refused(what, wanted, NULL, satchel_photos_backup_done(photos, md5));
    refused(what, wanted, NULL, satchel_photos_backup_failed(photos, md5, none));
    refused_out(what, wanted, NULL, satchel_photos_backup_run(photos, remote, text("lena"), NULL, &out));
    refused_out(what, wanted, NULL, satchel_photos_backup_refresh(photos, remote, text("lena"), NULL, &out));
    refused_out(what, wanted, NULL,
                satchel_photos_backup_restore(photos, md5, text("a"), remote, text("lena"), NULL, &out));
    refused_out(what, wanted, NULL, satchel_photos_scan(photos, NULL, &out));
    refused_out(what, wanted, NULL, satchel_photos_sync(photos, remote, text("lena"), NULL, &out));
    refused_out(what, wanted, NULL, satchel_photos_verify(photos, remote, text("lena"), NULL, &out));
    refused(what, wanted, NULL, satchel_photos_detach(photos));
    refused_out(what, wanted, NULL, satchel_photos_conflicts(photos, 0, 10, &out));
    refused(what, wanted, NULL, satchel_photos_resolve(photos, 1, text("{\"keep\":\"local\"}")));
    refused(what, wanted, NULL, satchel_photos_resolve(photos, 1, text("{\"keep\":\"remote\"}")));
}

/** Every call that takes a remote, with invalid ones. */
static void no_remote(const char *what, satchel_remote *none) {
    const satchel_status wanted = none ? SATCHEL_ECLOSED : SATCHEL_EINVALID;
    fill_out_with_nonsense();
    refused_out(what, wanted, NULL, satchel_photos_sync(device.photos, none, text("lena"), NULL, &out));
    refused_out(what, wanted, NULL, satchel_remote_probe(none, text(""), &out));
    refused_out(what, wanted, NULL, satchel_photos_backup_run(device.photos, none, text("lena"), NULL, &out));
    refused_out(what, wanted, NULL, satchel_remote_get(none, text("a"), text(""), NULL, &out));
    refused_out(what, wanted, NULL, satchel_remote_head(none, text("a"), &out));
    refused_out(what, wanted, NULL, satchel_remote_list(none, text(""), text(""), 10, &out));
    refused_out(what, wanted, NULL,
                satchel_remote_put(none, text("a"), text(""), text(""), false, text(""), &out));
    refused(what, wanted, NULL, satchel_remote_delete(none, text("a"), text("")));
    satchel_remote_free(none);
}

static void handles(void) {
    static const uintptr_t numbers[] = {1000003, 0x7FFFFFFF, UINTPTR_MAX, UINTPTR_MAX / 2,
                                        UINTPTR_MAX / 2 + 1};
    no_photos("NULL as catalogue", NULL);
    no_remote("NULL as remote", NULL);
    for (size_t index = 0; index < sizeof numbers / sizeof *numbers; index++) {
        no_photos("a number as catalogue", (satchel_photos *)numbers[index]);
        no_remote("a number as remote", (satchel_remote *)numbers[index]);
        satchel_photos_free((satchel_photos *)numbers[index]);
        satchel_remote_answer_size((satchel_remote_answer *)numbers[index], 1);
        satchel_remote_answer_body((satchel_remote_answer *)numbers[index], text("a"));
    }
    no_photos("a store as catalogue", (satchel_photos *)device.store);
    no_photos("a remote as catalogue", (satchel_photos *)remote);
    no_remote("a catalogue as remote", (satchel_remote *)device.photos);
    satchel_photos_free((satchel_photos *)remote);
    satchel_remote_free((satchel_remote *)device.photos);
    satchel_photos_free(NULL);

    struct device other = new_device();
    satchel_photos_free(other.photos);
    no_photos("a freed catalogue", other.photos);
    satchel_photos_free(other.photos);
    must(satchel_photos_open(other.store, text("/a"), SATCHEL_CONFLICT_DEFAULT, &other.photos), "opening");
    must(satchel_store_close(other.store), "closing");
    no_photos("a catalogue of a closed store", other.photos);
    satchel_photos *opened = (satchel_photos *)&out;
    refused("a closed store", SATCHEL_ECLOSED, NULL, satchel_photos_open(other.store, text("/a"), SATCHEL_CONFLICT_DEFAULT, &opened));
    CHECK(opened == NULL, "a catalogue of a closed store");
    satchel_photos_free(other.photos);
    satchel_remote *freed;
    must(satchel_remote_directory(text(path_in(folder, "freed")), &freed), "a directory");
    satchel_remote_free(freed);
    no_remote("a freed remote", freed);
    CHECK(count_photos(device.photos) == 1 && modified_shards(device.photos) == 1u << 4, "something changed");
}

int main(int count, char **arguments) {
    if (count != 2) return 2;
    snprintf(folder, sizeof folder, "%s", arguments[1]);
    device = new_device();
    put_photo(device.photos, '4', 1, "a.jpg");
    must(satchel_remote_directory(text(path_in(folder, "handles")), &remote), "a directory");
    handles();
    satchel_remote_free(remote);
    give_away(&device);
    return close_checks();
}
