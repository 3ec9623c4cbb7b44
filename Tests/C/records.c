/* Declarations add, redeclare drops; a mirror that has something of its own is refused.
 * Usage: records FOLDER */
#include "check.h"

static satchel_store *store;

static satchel_records *opened(const char *declaration, bool redeclare) {
    satchel_records *records = NULL;
    satchel_records_options options = SATCHEL_RECORDS_OPTIONS_INIT;
    options.redeclare = redeclare;
    must(satchel_records_open(store, text(declaration), &options, &records), declaration);
    return records;
}

static satchel_status put(satchel_records *records, const char *id, const char *document) {
    return satchel_records_put(records, text(id), text(document), SATCHEL_ANY_REVISION, NULL);
}

static void declare_again(void) {
    const char *unique = "{\"name\":\"users\",\"indexes\":[{\"path\":\"mail\",\"unique\":true}]}";
    satchel_records *users = opened(unique, false);
    satchel_records *named = opened("{\"name\":\"users\",\"indexes\":[\"name\"]}", false);
    must(put(users, "u1", "{\"mail\":\"a\"}"), "writing");
    CHECK(put(users, "u2", "{\"mail\":\"a\"}") == SATCHEL_ECONSTRAINT, "a unique index is not dropped");
    CHECK(put(named, "u2", "{\"mail\":\"a\"}") == SATCHEL_ECONSTRAINT, "and applies to the other one's handle");

    satchel_records *refused = NULL;
    const char *plain = "{\"name\":\"users\",\"indexes\":[\"mail\"]}";
    CHECK(satchel_records_open(store, text(plain), NULL, &refused) == SATCHEL_EINVALID && refused == NULL,
          "what is declared otherwise is refused");
    CHECK(strstr(satchel_error_message(), "redeclare") != NULL, "%s", satchel_error_message());

    /* A host that was built before there was the option. */
    satchel_records_options old = SATCHEL_RECORDS_OPTIONS_INIT;
    old.size = offsetof(satchel_records_options, redeclare);
    old.redeclare = true;
    CHECK(satchel_records_open(store, text(plain), &old, &refused) == SATCHEL_EINVALID, "beyond its size");

    satchel_records *loose = opened(plain, true);
    CHECK(put(loose, "u2", "{\"mail\":\"a\"}") == SATCHEL_OK, "the index is not unique any more");
    CHECK(put(users, "u3", "{}") == SATCHEL_ECONFLICT && put(named, "u3", "{}") == SATCHEL_ECONFLICT,
          "handles of the old declaration no longer write");
    satchel_buffer found = SATCHEL_BUFFER_INIT;
    CHECK(satchel_records_get(users, text("u2"), &found) == SATCHEL_OK && found.data != NULL, "but read");
    satchel_buffer_free(&found);
    satchel_records_free(users);
    satchel_records_free(named);
    satchel_records_free(loose);
}

static satchel_status mirror(satchel_records *records, const char *path, int prefer, int mode, char *report,
                             size_t size) {
    satchel_mirror_options options = SATCHEL_MIRROR_OPTIONS_INIT;
    options.prefer = (satchel_mirror_prefer)prefer;
    options.mode = (satchel_mirror_mode)mode;
    satchel_buffer found = SATCHEL_BUFFER_INIT;
    satchel_status status = satchel_records_mirror(records, text(path), &options, &found);
    snprintf(report, size, "%s", found.data ? found.data : "");
    satchel_buffer_free(&found);
    return status;
}

static const char *content(const char *path, char *buffer, size_t size) {
    FILE *file = fopen(path, "rb");
    if (!file) give_up(path);
    buffer[fread(buffer, 1, size - 1, file)] = 0;
    fclose(file);
    return buffer;
}

static void attach(const char *folder) {
    char path[1024], report[2048];
    snprintf(path, sizeof path, "%s/notes.json", folder);
    satchel_records *notes = opened("{\"name\":\"notes\"}", false);
    must(put(notes, "n1", "{\"n\":1}"), "writing");
    CHECK(satchel_records_mirror(notes, text(path), NULL, NULL) == SATCHEL_OK, "attached without options");
    must(put(notes, "n2", "{\"n\":2}"), "writing");
    bool spooled = true;
    CHECK(satchel_store_flush(store, &spooled) == SATCHEL_OK && !spooled, "flushed");
    CHECK(satchel_store_flush(NULL, &spooled) == SATCHEL_EINVALID, "no store");
    CHECK(strcmp(content(path, report, sizeof report), "{\n\"n1\":{\"n\":1},\n\"n2\":{\"n\":2}\n}\n") == 0,
          "the mirror is an object by id: %s", report);

    /* The same collection of another store, which has lost the record. */
    satchel_store *other = NULL;
    satchel_records *lost = NULL;
    must(satchel_store_open(":memory:", NULL, &other), "opening another store");
    must(satchel_records_open(other, text("{\"name\":\"notes\"}"), NULL, &lost), "opening its collection");
    must(put(lost, "n3", "{}"), "writing");
    for (int mode = 0; mode <= 1; mode++) {
        int none = mode == 0 ? SATCHEL_PREFER_NONE : 9;
        CHECK(mirror(lost, path, none, mode, report, sizeof report) == SATCHEL_EINVALID && !*report,
              "mode %d: the file is not emptied", mode);
    }
    CHECK(mirror(lost, path, SATCHEL_PREFER_FILE, 7, report, sizeof report) == SATCHEL_EINVALID, "no mode");
    CHECK(mirror(lost, path, SATCHEL_PREFER_FILE, 0, report, sizeof report) == SATCHEL_OK &&
              strcmp(report, "{\"imported\":2,\"quarantined\":null}") == 0,
          "the file wins: %s", report);
    int64_t count = 0;
    CHECK(satchel_records_count(lost, text(""), &count) == SATCHEL_OK && count == 3, "it was imported");

    satchel_mirror_options options = SATCHEL_MIRROR_OPTIONS_INIT;
    options.id_member = text("code");
    char array[1024];
    snprintf(array, sizeof array, "%s/array.json", folder);
    CHECK(satchel_records_mirror(lost, text(array), &options, NULL) == SATCHEL_OK &&
              strstr(content(array, report, sizeof report), "[\n{\"code\":\"n3\"}") == report,
          "an array: %s", report);
    options.format = (satchel_mirror_format)9;
    CHECK(satchel_records_mirror(lost, text(array), &options, NULL) == SATCHEL_EINVALID, "no format");
    options.format = SATCHEL_FORMAT_CHECKSUMMED;
    CHECK(satchel_records_mirror(lost, text(array), &options, NULL) == SATCHEL_OK &&
              strstr(content(array, report, sizeof report), "\"sha256\""),
          "with a checksum: %s", report);

    FILE *file = fopen(path, "w");
    if (!file) give_up(path);
    fputs("no mirror", file);
    fclose(file);
    CHECK(mirror(notes, path, SATCHEL_PREFER_FILE, 0, report, sizeof report) == SATCHEL_EINVALID, "damaged");
    CHECK(mirror(notes, path, SATCHEL_PREFER_STORE, 0, report, sizeof report) == SATCHEL_OK &&
              strstr(report, "notes.json.quarantine-") != NULL,
          "the store wins: %s", report);
    satchel_records_free(lost);
    satchel_records_free(notes);
    satchel_store_close(other);
}

static void defer(void) {
    satchel_records *later = opened("{\"name\":\"later\",\"schema\":{\"properties\":{\"n\":{\"type\":\"integer\"}}}}",
                                    false);
    CHECK(satchel_records_put_deferred(later, text("a"), text("{\"n\":1}")) == SATCHEL_OK, "deferred");
    CHECK(satchel_records_put_deferred(later, text("b"), text("{\"n\":\"x\"}")) == SATCHEL_ECONSTRAINT, "the schema");
    CHECK(satchel_records_put_deferred(later, text("b"), text("{")) == SATCHEL_EINVALID, "no JSON");
    CHECK(satchel_records_put_deferred(NULL, text("b"), text("{}")) == SATCHEL_EINVALID, "no collection");
    int64_t count = 0;
    CHECK(satchel_records_count(later, text(""), &count) == SATCHEL_OK && count == 1, "a read sees it");
    must(satchel_store_begin(store), "a batch");
    CHECK(satchel_store_flush(store, NULL) == SATCHEL_EINVALID, "no flush in a batch");
    must(satchel_store_rollback(store), "its end");
    CHECK(satchel_records_put_deferred(later, text("b"), text("{}")) == SATCHEL_OK &&
              satchel_store_flush(store, NULL) == SATCHEL_OK,
          "flushed");
    satchel_records_free(later);
}

static void warn(void) {
    satchel_records *talks = opened("{\"name\":\"talks\",\"schema\":{\"minimun\":1,\"type\":\"object\"}}", false);
    satchel_buffer found = SATCHEL_BUFFER_INIT;
    must(satchel_records_warnings(talks, &found), "warnings");
    CHECK(strstr(found.data, "/minimun") && strstr(found.data, "did you mean \\\"minimum\\\""), "%s", found.data);
    satchel_buffer_free(&found);
    satchel_records_free(talks);

    satchel_records *refused = NULL;
    const char *old = "{\"name\":\"old\",\"schema\":{\"dependencies\":{}}}";
    CHECK(satchel_records_open(store, text(old), NULL, &refused) == SATCHEL_EINVALID && refused == NULL,
          "an assertion of an earlier draft is refused");
    CHECK(strstr(satchel_error_message(), "dependencies") != NULL, "%s", satchel_error_message());
    CHECK(satchel_records_warnings(NULL, &found) == SATCHEL_EINVALID && found.data == NULL, "no collection");
}

static void put_valid(void) {
    satchel_records *parts =
        opened("{\"name\":\"parts\",\"schema\":{\"properties\":{\"n\":{\"type\":\"integer\"}}}}", false);
    satchel_buffer found = SATCHEL_BUFFER_INIT;
    must(satchel_records_put_valid(parts, text("{\"a\":{\"n\":1},\"b\":{\"n\":\"x\"},\"c\":{}}"), &found), "putting");
    const char *report = "{\"written\":2,\"rejected\":[{\"position\":1,\"id\":\"b\",\"code\":15,\"message\":"
                         "\"parts/b: /n: a string, not an integer\"}]}";
    CHECK(found.data && strcmp(found.data, report) == 0, "%s", found.data ? found.data : "");
    satchel_buffer_free(&found);
    CHECK(satchel_records_put_valid(parts, text("[1,"), &found) == SATCHEL_EINVALID && found.data == NULL,
          "text that is not JSON is refused");
    int64_t count = 0;
    must(satchel_records_count(parts, text(""), &count), "counting");
    CHECK(count == 2, "%lld", (long long)count);
    satchel_records_free(parts);
}

static void update_and_delete(void) {
    satchel_records *parts = opened("{\"name\":\"parts\"}", false);
    int64_t revision = 0, count = 0;
    must(satchel_records_update(parts, text("a"), text("{\"n\":null,\"m\":2}"), SATCHEL_ANY_REVISION, &revision), "updating");
    CHECK(revision == 2, "%lld", (long long)revision);
    satchel_buffer found = SATCHEL_BUFFER_INIT;
    must(satchel_records_get(parts, text("a"), &found), "getting");
    CHECK(found.data && strcmp(found.data, "{\"m\":2}") == 0, "%s", found.data ? found.data : "");
    satchel_buffer_free(&found);
    CHECK(satchel_records_update(parts, text("none"), text("{}"), SATCHEL_ANY_REVISION, &revision) == SATCHEL_ENOTFOUND &&
              revision == 0, "a record that does not exist");
    CHECK(satchel_records_update(parts, text("a"), text("[]"), SATCHEL_ANY_REVISION, NULL) == SATCHEL_EINVALID, "no object");
    CHECK(satchel_records_delete_many(parts, text("[\"a\",5]"), &count) == SATCHEL_EINVALID && count == 0, "no ids");
    CHECK(satchel_records_delete_many(parts, text(""), &count) == SATCHEL_EINVALID, "no text");
    must(satchel_records_delete_many(parts, text("[\"a\",\"none\",\"a\"]"), &count), "deleting");
    CHECK(count == 1, "%lld", (long long)count);
    satchel_records_free(parts);
}

/* Fields that are stored encrypted, with the key of state. */
static void seal(void) {
    satchel_records *people = opened("{\"name\":\"people\",\"sensitive\":[\"token\"]}", false);
    const char *document = "{ \"token\" : \"s3cr3t\" }";
    CHECK(put(people, "ann", document) == SATCHEL_EAUTH, "without a key");
    CHECK(strstr(satchel_error_message(), "people/ann: /token") != NULL, "%s", satchel_error_message());
    unsigned char key[32] = {7};
    must(satchel_state_set_key(store, (satchel_bytes){key, sizeof key}), "setting the key");
    must(put(people, "ann", document), "writing");
    satchel_buffer found = SATCHEL_BUFFER_INIT;
    must(satchel_records_get(people, text("ann"), &found), "reading");
    CHECK(strcmp(found.data, document) == 0, "byte for byte: %s", found.data);
    satchel_buffer_free(&found);
    CHECK(satchel_records_list(people, text("{\"where\":{\"token\":1}}"), &found) == SATCHEL_EINVALID,
          "a query by an encrypted field");
    must(satchel_store_collections(store, &found), "collections");
    CHECK(strstr(found.data, "\"sensitive\":[\"token\"]") != NULL, "%s", found.data);
    satchel_buffer_free(&found);
    satchel_records *refused = NULL;
    const char *indexed = "{\"name\":\"people\",\"indexes\":[\"token\"]}";
    CHECK(satchel_records_open(store, text(indexed), NULL, &refused) == SATCHEL_EINVALID && refused == NULL,
          "an index of an encrypted field");
    satchel_records_free(people);
}

/** The warnings of this thread's last write. */
static void check_warnings(const char *what, const char *wanted) {
    satchel_buffer found = SATCHEL_BUFFER_INIT;
    must(satchel_put_warnings(&found), what);
    CHECK(strcmp(found.data, wanted) == 0, "%s: %s", what, found.data);
    satchel_buffer_free(&found);
}

/* A string of more than 1 MiB is written, with a warning. */
static void warn_of_large_strings(void) {
#define REASON "a string of 1048577 bytes; put such content as an asset, and refer to it"
    enum { LARGE = (1 << 20) + 1 };
    char *document = malloc(LARGE + 100), *value = malloc(LARGE + 100);
    int start = sprintf(document, "{\"a\":\"");
    memset(document + start, 'x', LARGE);
    strcpy(document + start + LARGE, "\"}");
    sprintf(value, "%s", strchr(document, ':') + 1);
    *strrchr(value, '}') = '\0';
    satchel_records *scans = opened("{\"name\":\"scans\"}", false);
    must(put(scans, "n0", "{}"), "writing");
    check_warnings("a small document", "[]");
    must(put(scans, "n1", document), "writing");
    check_warnings("a large string", "[{\"pointer\":\"/a\",\"reason\":\"" REASON "\"}]");
    check_warnings("the same again", "[{\"pointer\":\"/a\",\"reason\":\"" REASON "\"}]");
    CHECK(put(scans, "n1", "[]") == SATCHEL_EINVALID, "an array");
    check_warnings("a write that failed", "[]");
    must(satchel_records_update(scans, text("n0"), text(document), SATCHEL_ANY_REVISION, NULL), "updating");
    check_warnings("an update", "[{\"pointer\":\"/a\",\"reason\":\"" REASON "\"}]");
    must(satchel_state_set(store, text("a"), text(value), false), "setting");
    check_warnings("a value", "[{\"pointer\":\"\",\"reason\":\"" REASON "\"}]");
    must(satchel_state_set(store, text("a"), text("1"), false), "setting");
    check_warnings("a small value", "[]");
    char *many = malloc(LARGE + 100);
    sprintf(many, "{\"n2\":%s}", document);
    must(satchel_records_put_many(scans, text(many), NULL), "writing");
    check_warnings("of many", "[{\"pointer\":\"/n2/a\",\"reason\":\"" REASON "\"}]");
    satchel_buffer report = SATCHEL_BUFFER_INIT;
    must(satchel_records_put_valid(scans, text(many), &report), "writing");
    check_warnings("of the valid ones", "[{\"pointer\":\"/n2/a\",\"reason\":\"" REASON "\"}]");
    CHECK(strstr(report.data, "\"written\":1") != NULL, "%s", report.data);
    satchel_buffer_free(&report);
    CHECK(satchel_put_warnings(NULL) == SATCHEL_EINVALID, "no buffer");
    free(many);
    free(value);
    free(document);
    satchel_records_free(scans);
}

int main(int argc, char **argv) {
    if (argc != 2) return 2;
    must(satchel_store_open(":memory:", NULL, &store), "opening a store in memory");
    declare_again();
    defer();
    warn();
    put_valid();
    update_and_delete();
    seal();
    warn_of_large_strings();
    attach(argv[1]);
    satchel_store_close(store);
    return close_checks();
}
