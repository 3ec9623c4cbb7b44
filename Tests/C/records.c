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

static void search(void) {
    satchel_records *cafes = opened("{\"name\":\"cafes\",\"search\":[\"title\"],\"positions\":[\"at\"]}", false);
    const char *documents = "{\"a\":{\"title\":\"Caf\u00e9 Odeon\",\"at\":{\"lat\":47.5,\"lon\":8.5}},\"b\":{\"title\":\"Tea\"}}";
    must(satchel_records_put_many(cafes, text(documents), NULL), "putting");
    satchel_buffer found = SATCHEL_BUFFER_INIT;
    must(satchel_records_search(cafes, text("{\"text\":\"cafe ode\",\"where\":{\"at\":{\"exists\":true}}}"), &found), "searching");
    CHECK(strstr(found.data, "[{\"record\":{\"id\":\"a\"") == found.data &&
              strstr(found.data, "\"path\":\"title\",\"excerpt\":\"Caf\u00e9 Odeon\",\"highlights\":[[0,5],[6,11]]}]") != NULL,
          "%s", found.data);
    satchel_buffer_free(&found);
    must(satchel_records_near(cafes, text("{\"latitude\":47.5,\"longitude\":8.5,\"within\":10}"), &found), "nearby");
    CHECK(strstr(found.data, "\"distance\":0") != NULL && strstr(found.data, "\"id\":\"b\"") == NULL, "%s", found.data);
    satchel_buffer_free(&found);
    const char *invalid[] = {"{}", "[]", "{\"text\":1}", "{\"text\":\"a\",\"paths\":[\"at\"]}", "{\"text\":\"a\",\"limit\":-1}",
                             "{\"text\":\"a\",\"more\":1}"};
    for (size_t i = 0; i < sizeof invalid / sizeof *invalid; i++)
        CHECK(satchel_records_search(cafes, text(invalid[i]), &found) == SATCHEL_EINVALID, "%s", invalid[i]);
    CHECK(satchel_records_near(cafes, text("{\"latitude\":91,\"longitude\":0,\"within\":1}"), &found) == SATCHEL_EINVALID, "no place");
    CHECK(satchel_records_near(cafes, text("{\"latitude\":1,\"longitude\":0}"), &found) == SATCHEL_EINVALID &&
              strstr(satchel_error_message(), "/within") != NULL,
          "%s", satchel_error_message());
    satchel_records_free(cafes);
}

static void types(void) {
    satchel_records *prices = opened(
        "{\"name\":\"prices\",\"types\":{\"net\":\"decimal\",\"at\":\"time\"},"
        "\"indexes\":[{\"paths\":[\"kind\",\"-net\"],\"unique\":true},\"tags[*]\","
        "{\"path\":\"at\",\"where\":{\"kind\":1}},"
        "{\"path\":\"name\",\"type\":\"text\",\"fold\":[\"case\"],\"order\":\"unicode\"}]}",
        false);
    must(put(prices, "a", "{\"kind\":1,\"net\":\"9.50\",\"tags\":[\"x\",\"y\"],\"name\":\"ZEBRA\"}"), "a");
    must(put(prices, "b", "{\"kind\":1,\"net\":10,\"tags\":[\"x\"],\"name\":\"Äpfel\"}"), "b");
    CHECK(put(prices, "c", "{\"kind\":1,\"net\":\"9.5\"}") == SATCHEL_ECONSTRAINT, "the same decimal number");
    const char *queries[] = {
        "{\"where\":{\"kind\":1},\"order_by\":\"-net\",\"limit\":1,\"documents\":false}",
        "{\"where\":{\"net\":{\"gt\":\"9.5\"}},\"documents\":false}",
        "{\"where\":{\"name\":\"äpfel\"},\"documents\":false}",
        "{\"where\":{\"length(tags)\":1},\"documents\":false}",
    };
    for (size_t i = 0; i < sizeof queries / sizeof *queries; i++) {
        satchel_buffer found = SATCHEL_BUFFER_INIT;
        must(satchel_records_list(prices, text(queries[i]), &found), queries[i]);
        CHECK(strstr(found.data, "\"id\":\"b\"") != NULL && strstr(found.data, "\"id\":\"a\"") == NULL, "%s: %s",
              queries[i], found.data);
        satchel_buffer_free(&found);
    }
    const char *wrong[] = {
        "{\"name\":\"w\",\"types\":{\"a\":\"colour\"}}",
        "{\"name\":\"w\",\"types\":{\"a\":{\"type\":\"time\",\"fold\":\"case\"}}}",
        "{\"name\":\"w\",\"indexes\":[{\"paths\":[]}]}",
        "{\"name\":\"w\",\"indexes\":[{\"paths\":[\"a\",\"tags[*]\"]}]}",
        "{\"name\":\"w\",\"indexes\":[{\"path\":\"a\",\"paths\":[\"b\"]}]}",
        "{\"name\":\"w\",\"indexes\":[{\"path\":\"a\",\"where\":{\"@modified\":{\"gt\":1}}}]}",
        "{\"name\":\"w\",\"version\":3,\"migrations\":[[{\"remove\":{\"path\":\"a\"}}]]}",
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        satchel_records *refused = NULL;
        CHECK(satchel_records_open(store, text(wrong[i]), NULL, &refused) == SATCHEL_EINVALID && refused == NULL, "%s",
              wrong[i]);
    }
    satchel_records_free(prices);
}

static void answer(void) {
    satchel_records *sales = opened("{\"name\":\"sales\",\"indexes\":[\"kind\",{\"path\":\"n\",\"unique\":true}]}", false);
    const char *documents = "{\"a\":{\"n\":1,\"kind\":\"x\"},\"b\":{\"n\":2,\"kind\":\"y\"},\"c\":{\"n\":3,\"kind\":\"x\"}}";
    must(satchel_records_put_many(sales, text(documents), NULL), "putting");
    satchel_buffer found = SATCHEL_BUFFER_INIT;
    must(satchel_records_aggregate(sales, text("{\"group_by\":\"kind\",\"aggregates\":[{\"sum\":\"n\"}]}"), &found),
         "groups");
    CHECK(strcmp(found.data, "[{\"key\":[\"x\"],\"count\":2,\"values\":[4]},{\"key\":[\"y\"],\"count\":1,\"values\":[2]}]") == 0,
          "%s", found.data);
    satchel_buffer_free(&found);
    CHECK(satchel_records_aggregate(sales, text("{\"aggregates\":[{\"mean\":\"n\"}]}"), &found) == SATCHEL_EINVALID &&
              strstr(satchel_error_message(), "/aggregates/0") != NULL,
          "%s", satchel_error_message());
    must(satchel_records_explain(sales, text("{\"where\":{\"kind\":\"x\"}}"), &found), "explaining");
    CHECK(strstr(found.data, "finds 2 records by the index of \\\"kind\\\"") != NULL, "%s", found.data);
    satchel_buffer_free(&found);
    must(satchel_records_page(sales, text("{\"order_by\":\"-n\",\"limit\":3}"), &found), "the last page");
    CHECK(strstr(found.data, "\"cursor\":null") != NULL, "%s", found.data);
    satchel_buffer_free(&found);
    CHECK(satchel_records_page(sales, text("{\"after\":\"x\"}"), &found) == SATCHEL_EINVALID, "no cursor");

    CHECK(satchel_records_search(sales, text("{\"text\":\"a\"}"), &found) == SATCHEL_EINVALID &&
              strstr(satchel_error_message(), "no texts are searched") != NULL,
          "%s", satchel_error_message());
    CHECK(satchel_records_near(sales, text("{\"latitude\":0,\"longitude\":0,\"within\":1}"), &found) == SATCHEL_EINVALID,
          "no positions");

    int64_t count = 0, revision = 0;
    must(satchel_records_update_where(sales, text("{\"kind\":\"x\"}"), text("{\"kind\":\"z\"}"), &count), "updating");
    CHECK(count == 2, "%lld", (long long)count);
    CHECK(satchel_records_update_where(sales, text("[]"), text("{}"), NULL) == SATCHEL_EINVALID, "no condition");
    must(satchel_records_upsert(sales, text("n"), text("{\"n\":2}"), text(""), &revision, &found), "upserting");
    CHECK(strcmp(found.data, "b") == 0 && revision == 2, "%s, %lld", found.data, (long long)revision);
    satchel_buffer_free(&found);
    CHECK(satchel_records_upsert(sales, text("kind"), text("{}"), text(""), NULL, NULL) == SATCHEL_EINVALID, "not unique");
    must(satchel_records_delete_where(sales, text("{\"n\":{\"gte\":2}}"), &count), "deleting");
    CHECK(count == 2, "%lld", (long long)count);
    CHECK(satchel_records_delete_where(NULL, text(""), NULL) == SATCHEL_EINVALID, "no collection");
    satchel_records_free(sales);
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

/* Related records that a query includes. */
static void include(void) {
    satchel_records *makers = opened("{\"name\":\"makers\"}", false);
    satchel_records *goods = opened(
        "{\"name\":\"goods\",\"relations\":{\"maker\":{\"collection\":\"makers\"},"
        "\"sellers\":{\"collection\":\"makers\",\"on_delete\":\"nullify\",\"many\":true}}}",
        false);
    must(put(makers, "m1", "{\"name\":\"Lopes\"}"), "the maker");
    must(put(goods, "g1", "{\"maker\":\"m1\",\"sellers\":[\"m1\"]}"), "what it makes");
    must(put(goods, "g2", "{}"), "what has no maker");
    satchel_buffer found = SATCHEL_BUFFER_INIT;
    must(satchel_records_list(goods, text("{\"include\":[\"maker\",\"sellers\"]}"), &found), "listing");
    CHECK(strstr(found.data, "\"included\":{\"maker\":{\"id\":\"m1\",\"revision\":1,") != NULL &&
              strstr(found.data, "\"sellers\":[{\"id\":\"m1\",") != NULL &&
              strstr(found.data, "\"document\":{},\"included\":{\"maker\":null,\"sellers\":[]}}") != NULL,
          "%s", found.data);
    satchel_buffer_free(&found);
    CHECK(satchel_records_page(goods, text("{\"include\":[\"makers\"]}"), &found) == SATCHEL_EINVALID &&
              strstr(satchel_error_message(), "\"maker\", \"sellers\"") != NULL,
          "%s", satchel_error_message());
    satchel_records_free(goods);
    satchel_records_free(makers);
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
    types();
    answer();
    search();
    warn();
    put_valid();
    update_and_delete();
    include();
    seal();
    warn_of_large_strings();
    attach(argv[1]);
    satchel_store_close(store);
    return close_checks();
}
