/* The details of an error: which members apply, whose thread they are of, and until when they are valid. */
#include <pthread.h>

#include "check.h"

static satchel_store *store;
static satchel_records *people, *books;

static satchel_status put(satchel_records *records, const char *id, const char *document, int64_t revision) {
    return satchel_records_put(records, text(id), text(document), revision, NULL);
}

static satchel_records *opened(const char *declaration) {
    satchel_records *records = NULL;
    must(satchel_records_open(store, text(declaration), NULL, &records), declaration);
    return records;
}

/** The details are exactly those members, in any order. */
static void expect(const char *what, satchel_status wanted, satchel_status got, const char *details) {
    CHECK(got == wanted, "%s: %s", what, satchel_status_name(got));
    json_t *found = json_loads(satchel_error_details(), 0, NULL);
    json_t *expected = json_loads(details, 0, NULL);
    CHECK(found && json_equal(found, expected), "%s: %s instead of %s", what, satchel_error_details(), details);
    json_decref(found);
    json_decref(expected);
}

static satchel_status merge(const char *value) {
    satchel_buffer out = SATCHEL_BUFFER_INIT;
    satchel_status status = satchel_json_merge(text(value), text("{}"), &out);
    satchel_buffer_free(&out);
    return status;
}

static void members(void) {
    must(put(people, "ann", "{\"mail\":\"a\"}", SATCHEL_ANY_REVISION), "ann");
    must(put(books, "emma", "{\"author\":\"ann\"}", SATCHEL_ANY_REVISION), "emma");
    expect("JSON", SATCHEL_EINVALID, merge("{\"a\":\n[1,,]}"), "{\"pointer\":\"/a/1\",\"line\":2,\"column\":4}");
    expect("a schema", SATCHEL_ECONSTRAINT, put(people, "bea", "{\"age\":\"x\"}", SATCHEL_ANY_REVISION),
           "{\"subject\":\"records\",\"collection\":\"people\",\"id\":\"bea\",\"pointer\":\"/age\"}");
    expect("a unique index", SATCHEL_ECONSTRAINT, put(people, "bea", "{\"mail\":\"a\"}", SATCHEL_ANY_REVISION),
           "{\"subject\":\"records\",\"collection\":\"people\",\"id\":\"bea\",\"pointer\":\"/mail\","
           "\"other_collection\":\"people\",\"other_id\":\"ann\"}");
    expect("a relation", SATCHEL_ECONSTRAINT, put(books, "ulysses", "{\"author\":\"jim\"}", SATCHEL_ANY_REVISION),
           "{\"subject\":\"records\",\"collection\":\"books\",\"id\":\"ulysses\",\"pointer\":\"/author\","
           "\"other_collection\":\"people\",\"other_id\":\"jim\"}");
    expect("a deletion", SATCHEL_ECONSTRAINT,
           satchel_records_delete(people, text("ann"), SATCHEL_ANY_REVISION, NULL),
           "{\"subject\":\"records\",\"collection\":\"people\",\"id\":\"ann\",\"pointer\":\"/author\","
           "\"other_collection\":\"books\",\"other_id\":\"emma\"}");
    expect("a revision", SATCHEL_ECONFLICT, put(people, "ann", "{}", 9),
           "{\"subject\":\"records\",\"collection\":\"people\",\"id\":\"ann\"}");
}

static void *other_thread(void *unused) {
    CHECK(strcmp(satchel_error_details(), "{}") == 0, "details before the first failure of a thread");
    CHECK(merge("[1,]") == SATCHEL_EINVALID, "bad JSON");
    return unused;
}

static void lifetime(void) {
    CHECK(put(people, "ann", "{}", 9) == SATCHEL_ECONFLICT, "a stale revision");
    const char *details = satchel_error_details();
    char *before = strdup(details);
    pthread_t thread;
    CHECK(pthread_create(&thread, NULL, other_thread, NULL) == 0 && pthread_join(thread, NULL) == 0, "a thread");
    must(put(people, "cid", "{}", SATCHEL_ANY_REVISION), "a call that succeeds");
    CHECK(details == satchel_error_details() && strcmp(details, before) == 0, "changed without a failure");
    free(before);
    expect("a failure without a place", SATCHEL_EINVALID, satchel_store_open(NULL, NULL, NULL), "{}");
}

int main(void) {
    CHECK(strcmp(satchel_error_details(), "{}") == 0, "details before the first failure");
    must(satchel_store_open(":memory:", NULL, &store), "opening");
    people = opened("{\"name\":\"people\",\"indexes\":[{\"path\":\"mail\",\"unique\":true}],"
                    "\"schema\":{\"properties\":{\"age\":{\"type\":\"integer\"}}}}");
    books = opened("{\"name\":\"books\",\"relations\":{\"author\":{\"collection\":\"people\"}}}");
    members();
    lifetime();
    satchel_records_free(people);
    satchel_records_free(books);
    must(satchel_store_close(store), "closing");
    return close_checks();
}
