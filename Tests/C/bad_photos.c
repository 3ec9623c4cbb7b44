/* Bad texts, numbers and options in the calls on photos: they are refused, and nothing changes.
 * Usage: bad_photos FOLDER */
#include "bad_input.h"
#include "photos.h"

#define LITERAL(string) {string, sizeof(string) - 1}
#define MD5 "40000000000000000000000000000001"

static char folder[2048];
static struct device device;
static satchel_remote *remote;
static char *known_before;

/** All that the catalogue knows; the caller frees it. */
static char *known(void) {
    satchel_buffer parts[3] = {SATCHEL_BUFFER_INIT, SATCHEL_BUFFER_INIT, SATCHEL_BUFFER_INIT};
    must(satchel_photos_query(device.photos, text("{\"limit\":1000}"), &parts[0]), "reading photos");
    must(satchel_photos_status(device.photos, &parts[1]), "reading the status");
    must(satchel_photos_conflicts(device.photos, 0, 100, &parts[2]), "reading conflicts");
    char *whole = calloc(1, parts[0].size + parts[1].size + parts[2].size + 1);
    for (int index = 0; index < 3; index++) {
        strcat(whole, parts[index].data);
        satchel_buffer_free(&parts[index]);
    }
    return whole;
}

static void unchanged(const char *what) {
    char *after = known();
    CHECK(strcmp(after, known_before) == 0, "%s: something changed:\n%s\n%s", what, known_before, after);
    free(after);
}

static void directories(void) {
    static char endless[10000];
    memset(endless, 'a', sizeof endless - 1);
    const satchel_bytes bad[] = {LITERAL(""),      LITERAL("/a\0b"),      LITERAL("\0"),
                                 LITERAL("/\xFF"), {NULL, 5},             {"/tmp", SIZE_MAX},
                                 {"a", SIZE_MAX / 2}, {endless, sizeof endless}};
    for (size_t index = 0; index < sizeof bad / sizeof *bad; index++) {
        satchel_photos *opened = (satchel_photos *)&out;
        satchel_remote *made = (satchel_remote *)&out;
        refused("a bad directory", SATCHEL_EINVALID, NULL,
                satchel_photos_open(device.store, bad[index], SATCHEL_CONFLICT_DEFAULT, &opened));
        refused("a bad place", SATCHEL_EINVALID, NULL, satchel_remote_directory(bad[index], &made));
        CHECK(opened == NULL && made == NULL, "%zu: the out-parameter is not emptied", index);
        refused_out("export", SATCHEL_EINVALID, NULL,
                    satchel_photos_export_directory(device.photos, bad[index], &out));
        refused_out("import", SATCHEL_EINVALID, NULL,
                    satchel_photos_import_directory(device.photos, bad[index], SATCHEL_CONFLICT_REMOTE_WINS, &out));
    }
    satchel_remote *made = (satchel_remote *)&out;
    refused("without a parent", SATCHEL_ENOTFOUND, NULL,
            satchel_remote_directory(text(path_in(folder, "no/parent")), &made));
    refused_out("a missing directory", SATCHEL_ENOTFOUND, NULL,
                satchel_photos_import_directory(device.photos, text(path_in(folder, "missing")),
                                                SATCHEL_CONFLICT_REMOTE_WINS, &out));
    unchanged("directories");
}

static void rows(void) {
#define ROW(rest) "{\"md5\":\"" MD5 "\",\"filename\":\"a.jpg\",\"size\":1,\"photodate\":2,\"modified\":3" rest "}"
    static const struct {
        const char *what, *place;
        satchel_bytes rows;
    } table[] = {
        {"nothing", NULL, LITERAL("")},
        {"null", NULL, LITERAL("null")},
        {"no JSON", "line ", LITERAL("[{")},
        {"a number", NULL, LITERAL("7")},
        {"an array of numbers", "/0", LITERAL("[7]")},
        {"an empty object", "md5", LITERAL("{}")},
        {"no md5", "md5", LITERAL("{\"md5\":\"xyz\",\"filename\":\"a\",\"size\":1,\"photodate\":1,\"modified\":1}")},
        {"md5 as number", "md5", LITERAL("{\"md5\":4,\"filename\":\"a\",\"size\":1,\"photodate\":1,\"modified\":1}")},
        {"no filename", "filename", LITERAL("{\"md5\":\"" MD5 "\",\"size\":1,\"photodate\":1,\"modified\":1}")},
        {"an unknown key", "colour", LITERAL(ROW(",\"colour\":\"blue\""))},
        {"an unknown key in the second", "/1", LITERAL("[" ROW("") "," ROW(",\"colour\":1") "]")},
        {"width as text", "width", LITERAL(ROW(",\"width\":\"1\""))},
        {"width as fraction", "width", LITERAL(ROW(",\"width\":1.5"))},
        {"width below zero", "width", LITERAL(ROW(",\"width\":-1"))},
        {"a step of its own", "backup_status", LITERAL(ROW(",\"backup_status\":\"queued\""))},
        {"a step of its own", "attempts", LITERAL(ROW(",\"attempts\":1"))},
        {"not to be set", "local_only", LITERAL(ROW(",\"local_only\":true"))},
        {"starred as number", "starred", LITERAL(ROW(",\"starred\":1"))},
        {"latitude beyond the pole", "latitude", LITERAL(ROW(",\"latitude\":91"))},
        {"an invalid orientation", "orientation", LITERAL(ROW(",\"orientation\":9"))},
        {"a duplicate key", "line ", LITERAL("{\"md5\":\"" MD5 "\",\"md5\":\"" MD5 "\"}")},
        {"an integer beyond Int64", "width", LITERAL(ROW(",\"width\":9223372036854775808"))},
        {"bad UTF-8", "line ", LITERAL(ROW(",\"apple_photo_id\":\"\xFF\""))},
        {"no address", "rows", {NULL, 4}},
        {"endless", "rows", {"[]", SIZE_MAX}},
    };
    for (size_t index = 0; index < sizeof table / sizeof *table; index++) {
        int64_t changed = 77;
        refused(table[index].what, SATCHEL_EINVALID, table[index].place,
                satchel_photos_upsert(device.photos, table[index].rows, &changed));
        CHECK(changed == 0, "%s: the count is not emptied", table[index].what);
    }
    static const satchel_bytes lists[] = {LITERAL(""),      LITERAL("null"),      LITERAL("7"),
                                          LITERAL("{}"),    LITERAL("[7]"),       LITERAL("[\"" MD5 "0\"]"),
                                          LITERAL("[null]"), LITERAL("[\"" MD5 "\",\"x\"]"), {NULL, 3},
                                          {"[]", SIZE_MAX}, LITERAL("[\"\xFF\"]")};
    for (size_t index = 0; index < sizeof lists / sizeof *lists; index++)
        refused("md5s that are no list", SATCHEL_EINVALID, NULL,
                satchel_photos_delete(device.photos, lists[index], NULL));
    static char deep[2 * DEEPEST + 64];
    refused("513 levels", SATCHEL_EINVALID, NULL,
            satchel_photos_upsert(device.photos, nested(DEEPEST + 1, deep), NULL));
    unchanged("rows");
}

static void md5s(void) {
    static const satchel_bytes bad[] = {LITERAL(""),         LITERAL("x"),      LITERAL(MD5 "0"), LITERAL(MD5 "\0"),
                                        LITERAL("4000000000000000000000000000000g"), {NULL, 32}, {MD5, SIZE_MAX},
                                        {MD5, 31},           LITERAL("\xFF")};
    for (size_t index = 0; index < sizeof bad / sizeof *bad; index++) {
        satchel_bytes md5 = bad[index];
        refused_out("a bad md5", SATCHEL_EINVALID, "md5", satchel_photos_get(device.photos, md5, &out));
        refused("a bad md5", SATCHEL_EINVALID, "md5", satchel_photos_set_local(device.photos, md5, text("{}")));
        refused("a bad md5", SATCHEL_EINVALID, "md5", satchel_photos_star(device.photos, md5, true));
        refused("a bad md5", SATCHEL_EINVALID, "md5", satchel_photos_backup_queue(device.photos, md5));
        refused("a bad md5", SATCHEL_EINVALID, "md5", satchel_photos_backup_done(device.photos, md5));
        refused("a bad md5", SATCHEL_EINVALID, "md5", satchel_photos_backup_failed(device.photos, md5, text("a")));
    }
    satchel_bytes absent = text("4fffffffffffffffffffffffffffffff"), there = text(MD5);
    refused_out("no photo", SATCHEL_ENOTFOUND, "4fff", satchel_photos_get(device.photos, absent, &out));
    refused("no photo", SATCHEL_ENOTFOUND, NULL, satchel_photos_set_local(device.photos, absent, text("{}")));
    refused("no photo", SATCHEL_ENOTFOUND, NULL, satchel_photos_star(device.photos, absent, true));
    refused("no photo", SATCHEL_ENOTFOUND, NULL, satchel_photos_backup_queue(device.photos, absent));
    refused("a wrong step", SATCHEL_EINVALID, "not_backed_up", satchel_photos_backup_done(device.photos, there));
    refused("a wrong step", SATCHEL_EINVALID, "not_backed_up",
            satchel_photos_backup_failed(device.photos, there, text("a")));
    refused("a bad reason", SATCHEL_EINVALID, NULL,
            satchel_photos_backup_failed(device.photos, there, text("\xFF")));
    static const struct {
        const char *place;
        satchel_bytes columns;
    } table[] = {
        {NULL, LITERAL("")},
        {NULL, LITERAL("[]")},
        {"colour", LITERAL("{\"colour\":1}")},
        {"filename", LITERAL("{\"filename\":\"b.jpg\"}")},
        {"backup_status", LITERAL("{\"backup_status\":\"queued\"}")},
        {"camera_make", LITERAL("{\"camera_make\":7}")},
        {"iso", LITERAL("{\"iso\":1.5}")},
        {"iso", LITERAL("{\"camera_make\":\"kept?\",\"iso\":-1}")},
        {"longitude", LITERAL("{\"longitude\":180.5}")},
        {"columns", {NULL, 2}},
        {"columns", {"{}", SIZE_MAX}},
    };
    for (size_t index = 0; index < sizeof table / sizeof *table; index++)
        refused("bad columns", SATCHEL_EINVALID, table[index].place,
                satchel_photos_set_local(device.photos, there, table[index].columns));
    unchanged("md5s");
}

static void queries(void) {
    static const struct {
        const char *place, *query;
    } table[] = {
        {"line ", "album"},
        {NULL, "[]"},
        {NULL, "7"},
        {"colour", "{\"colour\":\"blue\"}"},
        {"from", "{\"from\":\"1\"}"},
        {"to", "{\"to\":1.5}"},
        {"filename", "{\"filename\":7}"},
        {"starred", "{\"starred\":1}"},
        {"clock", "{\"clock\":\"../../etc/passwd\"}"},
        {"clock", "{\"clock\":5}"},
        {"camera", "{\"camera\":5}"},
        {"folder", "{\"folder\":[]}"},
        {"present", "{\"present\":\"yes\"}"},
        {"place", "{\"place\":5}"},
        {"place", "{\"place\":{\"south\":5,\"north\":4,\"west\":0,\"east\":1}}"},
        {"north", "{\"place\":{\"south\":5,\"west\":0,\"east\":1}}"},
        {"place", "{\"place\":{\"latitude\":0,\"longitude\":0,\"metres\":-1}}"},
        {"place", "{\"place\":{\"latitude\":0,\"longitude\":1e300,\"metres\":1}}"},
        {"radius", "{\"place\":{\"radius\":1}}"},
        {"backup_status", "{\"backup_status\":\"done\"}"},
        {"shard", "{\"shard\":16}"},
        {"shard", "{\"shard\":-1}"},
        {"shard", "{\"shard\":\"a\"}"},
        {"order", "{\"order\":\"size; DROP TABLE photo\"}"},
        {"descending", "{\"descending\":\"yes\"}"},
        {"limit", "{\"limit\":0}"},
        {"limit", "{\"limit\":100001}"},
        {"limit", "{\"limit\":-9223372036854775808}"},
        {"after", "{\"after\":7}"},
        {"after", "{\"after\":\"nonsense\"}"},
        {"after", "{\"after\":\"\"}"},
        {"line ", "{\"limit\":1,\"limit\":2}"},
        {"line ", "{\"filename\":\"\xFF\"}"},
    };
    for (size_t index = 0; index < sizeof table / sizeof *table; index++) {
        int64_t count = 77;
        refused_out(table[index].query, SATCHEL_EINVALID, table[index].place,
                    satchel_photos_query(device.photos, text(table[index].query), &out));
        if (strstr(table[index].query, "after")) continue; /* no question for a count */
        refused(table[index].query, SATCHEL_EINVALID, table[index].place,
                satchel_photos_count(device.photos, text(table[index].query), &count));
        CHECK(count == 0, "%s: the count is not emptied", table[index].query);
        refused_out(table[index].query, SATCHEL_EINVALID, table[index].place,
                    satchel_photos_counts(device.photos, text("day"), text(table[index].query), &out));
    }
    static const char *const groups[] = {"", "year", "DAY", "\xFF"};
    for (size_t index = 0; index < sizeof groups / sizeof *groups; index++)
        refused_out("a bad group", SATCHEL_EINVALID, "group",
                    satchel_photos_counts(device.photos, text(groups[index]), text(""), &out));
    static const satchel_bytes impossible[] = {{NULL, 2}, {"{}", SIZE_MAX}};
    for (int index = 0; index < 2; index++) {
        refused_out("impossible", SATCHEL_EINVALID, "query",
                    satchel_photos_query(device.photos, impossible[index], &out));
        refused_out("impossible", SATCHEL_EINVALID, "after",
                    satchel_photos_changes(device.photos, impossible[index], 10, &out));
    }
    refused_out("no cursor", SATCHEL_EINVALID, "after",
                satchel_photos_changes(device.photos, text("nonsense"), 10, &out));
    static const int32_t limits[] = {0, -1, INT32_MIN};
    for (size_t index = 0; index < sizeof limits / sizeof *limits; index++) {
        refused_out("a bad limit", SATCHEL_EINVALID, "limit",
                    satchel_photos_changes(device.photos, text(""), limits[index], &out));
        refused_out("a bad limit", SATCHEL_EINVALID, "limit",
                    satchel_photos_conflicts(device.photos, 0, limits[index], &out));
    }
    for (size_t index = 0; index < sizeof limits / sizeof *limits; index++)
        refused_out("a bad limit", SATCHEL_EINVALID, "limit",
                    satchel_photos_trash(device.photos, text(""), limits[index], &out));
    refused_out("no MD5", SATCHEL_EINVALID, "after", satchel_photos_trash(device.photos, text("a"), 1, &out));
    int64_t number = 77;
    refused("no MD5s", SATCHEL_EINVALID, "md5",
            satchel_photos_restore_rows(device.photos, text("[\"a\"]"), &number));
    static const int64_t ids[] = {0, -1, 77, INT64_MAX, INT64_MIN};
    for (size_t index = 0; index < sizeof ids / sizeof *ids; index++) {
        refused("no conflict", SATCHEL_ENOTFOUND, NULL, satchel_photos_resolve(device.photos, ids[index], text("{\"keep\":\"local\"}")));
        refused("no conflict", SATCHEL_ENOTFOUND, NULL, satchel_photos_resolve(device.photos, ids[index], text("{\"keep\":\"remote\"}")));
    }
    unchanged("queries");
}

static void shards(void) {
    static const int32_t bad[] = {-1, 16, INT32_MIN, INT32_MAX};
    for (size_t index = 0; index < sizeof bad / sizeof *bad; index++) {
        refused_out("a bad shard", SATCHEL_EINVALID, "shard",
                    satchel_photos_export_shard(device.photos, bad[index], &out));
        refused_out("a bad shard", SATCHEL_EINVALID, "shard",
                    satchel_photos_import_shard(device.photos, bad[index], text(""), SATCHEL_CONFLICT_REMOTE_WINS, &out));
        refused_out("a bad policy", SATCHEL_EINVALID, "policy",
                    satchel_photos_import_shard(device.photos, 4, text(""), (satchel_conflict_policy)bad[index], &out));
        refused_out("a bad policy", SATCHEL_EINVALID, "policy",
                    satchel_photos_import_directory(device.photos, text(folder), (satchel_conflict_policy)bad[index],
                                                    &out));
        satchel_photos *opened = (satchel_photos *)&out;
        refused("a bad policy", SATCHEL_EINVALID, "policy",
                satchel_photos_open(device.store, text("/a"), (satchel_conflict_policy)bad[index], &opened));
        CHECK(opened == NULL, "%zu: the out-parameter is not emptied", index);
    }
    static const satchel_bytes impossible[] = {{NULL, 2}, {"a", SIZE_MAX}};
    for (int index = 0; index < 2; index++)
        refused_out("an impossible file", SATCHEL_EINVALID, "file",
                    satchel_photos_import_shard(device.photos, 4, impossible[index], SATCHEL_CONFLICT_REMOTE_WINS, &out));
    unchanged("shards");
}

static void no_out(void) {
    satchel_photos *photos = device.photos;
    refused("open", SATCHEL_EINVALID, "out",
            satchel_photos_open(device.store, text("/a"), SATCHEL_CONFLICT_DEFAULT, NULL));
    refused("get", SATCHEL_EINVALID, "out", satchel_photos_get(photos, text(MD5), NULL));
    refused("query", SATCHEL_EINVALID, "out", satchel_photos_query(photos, text(""), NULL));
    refused("count", SATCHEL_EINVALID, "count", satchel_photos_count(photos, text(""), NULL));
    refused("status", SATCHEL_EINVALID, "out", satchel_photos_status(photos, NULL));
    refused("modified_shards", SATCHEL_EINVALID, "bits", satchel_photos_modified_shards(photos, NULL));
    refused("changes", SATCHEL_EINVALID, "out", satchel_photos_changes(photos, text(""), 1, NULL));
    refused("export_shard", SATCHEL_EINVALID, "out", satchel_photos_export_shard(photos, 1, NULL));
    refused("backup_claim", SATCHEL_EINVALID, "out", satchel_photos_backup_claim(photos, NULL));
    refused("conflicts", SATCHEL_EINVALID, "out", satchel_photos_conflicts(photos, 0, 1, NULL));
    refused("probe", SATCHEL_EINVALID, "out", satchel_remote_probe(remote, text(""), NULL));
    refused("directory", SATCHEL_EINVALID, "out", satchel_remote_directory(text(folder), NULL));
    refused("s3", SATCHEL_EINVALID, "out", satchel_remote_s3(text("{\"bucket\":\"abc\"}"), NULL, NULL, NULL, NULL));
    unchanged("no out");
}

static bool never(void *context, satchel_bytes progress) {
    (void)context, (void)progress;
    CHECK(false, "progress of what was refused");
    return true;
}

static void options(void) {
    static const size_t sizes[] = {0, 1, sizeof(size_t) - 1, 1025, SIZE_MAX, SIZE_MAX / 2 + 1};
    satchel_sync_options sync = SATCHEL_SYNC_OPTIONS_INIT;
    satchel_scan_options scan = SATCHEL_SCAN_OPTIONS_INIT;
    sync.progress = scan.progress = never;
    for (size_t index = 0; index < sizeof sizes / sizeof *sizes; index++) {
        sync.size = scan.size = sizes[index];
        refused_out("size", SATCHEL_EINVALID, "size",
                    satchel_photos_sync(device.photos, remote, text("lena"), &sync, &out));
        refused_out("size", SATCHEL_EINVALID, "size", satchel_photos_scan(device.photos, &scan, &out));
    }
    sync.size = sizeof sync;
    scan.size = sizeof scan;
    static const int32_t counts[] = {-1, 17, INT32_MIN, INT32_MAX};
    for (size_t index = 0; index < sizeof counts / sizeof *counts; index++) {
        sync.parallel = scan.parallel = counts[index];
        refused_out("parallel", SATCHEL_EINVALID, "parallel",
                    satchel_photos_sync(device.photos, remote, text("lena"), &sync, &out));
        refused_out("parallel", SATCHEL_EINVALID, "parallel", satchel_photos_scan(device.photos, &scan, &out));
        sync.parallel = scan.parallel = 0;
        sync.on_conflict = (satchel_conflict_policy)counts[index];
        refused_out("policy", SATCHEL_EINVALID, "policy",
                    satchel_photos_sync(device.photos, remote, text("lena"), &sync, &out));
        sync.on_conflict = SATCHEL_CONFLICT_REMOTE_WINS;
    }
    const satchel_bytes zones[] = {LITERAL("1441"), LITERAL("../UTC"), LITERAL("a\0b"), LITERAL("\xFF"),
                                   LITERAL("Nowhere/Nothing")};
    for (size_t index = 0; index < sizeof zones / sizeof *zones; index++) {
        scan.time_zone = zones[index];
        refused_out("a time zone", SATCHEL_EINVALID, "time_zone",
                    satchel_photos_scan(device.photos, &scan, &out));
    }
    static char long_user[130];
    memset(long_user, 'a', sizeof long_user - 1);
    const satchel_bytes users[] = {LITERAL(""),     LITERAL("."),   LITERAL(".."),   LITERAL("..."),
                                   LITERAL("a/b"),  LITERAL("\xC3\xA9"), LITERAL("a\0"), LITERAL("a b"),
                                   LITERAL("\xFF"), {NULL, 4},      {"lena", SIZE_MAX}, {long_user, 129}};
    for (size_t index = 0; index < sizeof users / sizeof *users; index++)
        refused_out("no user", SATCHEL_EINVALID, "user",
                    satchel_photos_sync(device.photos, remote, users[index], NULL, &out));
    satchel_verify_options verify = SATCHEL_VERIFY_OPTIONS_INIT;
    for (size_t index = 0; index < sizeof counts / sizeof *counts; index++) {
        verify.parallel = counts[index];
        refused_out("parallel", SATCHEL_EINVALID, "parallel",
                    satchel_photos_verify(device.photos, remote, text("lena"), &verify, &out));
    }
    for (size_t index = 0; index < sizeof users / sizeof *users; index++)
        refused_out("no user", SATCHEL_EINVALID, "user",
                    satchel_photos_verify(device.photos, remote, users[index], NULL, &out));
    unchanged("options");
}

int main(int count, char **arguments) {
    if (count != 2) return 2;
    snprintf(folder, sizeof folder, "%s", arguments[1]);
    device = new_device();
    put_photo(device.photos, '4', 1, "a.jpg");
    must(satchel_remote_directory(text(path_in(folder, "bad")), &remote), "a directory");
    known_before = known();
    directories();
    rows();
    md5s();
    queries();
    shards();
    no_out();
    options();
    unchanged("at the end");
    free(known_before);
    satchel_remote_free(remote);
    give_away(&device);
    return close_checks();
}
