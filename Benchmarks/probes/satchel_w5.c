/* satchel_w5: W5 through satchel.h, timed as the limit and the peers are.
 *
 * satchel_w5 batches=many|commit …     many: one call a batch, its JSON put together within the clock's time;
 *                                      commit: a call a record, between begin and commit
 * Options: record_run.h */
#include "record_run.h"
#include "satchel.h"
#include <stdbool.h>

static satchel_store *store;
static satchel_records *kept;
static satchel_buffer answer = SATCHEL_BUFFER_INIT;
static bool in_one_call;

static void expect(satchel_status status) {
    if (status == SATCHEL_OK) return;
    fprintf(stderr, "%s: %s\n", satchel_status_name(status), satchel_error_message());
    exit(1);
}

static satchel_bytes lend(slice text) { return (satchel_bytes){text.data, text.size}; }

static void open_store(const char *directory) {
    static const char declaration[] = "{\"name\":\"rec\"}";
    char path[PATH_SIZE];
    snprintf(path, sizeof path, "%s/store.satchel", directory);
    expect(satchel_store_open(path, NULL, &store));
    expect(satchel_records_open(store, (satchel_bytes){declaration, sizeof declaration - 1}, NULL, &kept));
}

static void close_store(void) {
    satchel_records_free(kept);
    expect(satchel_store_close(store));
}

static void put(const record *one) {
    int64_t revision = 0;
    expect(satchel_records_put(kept, lend(one->id), lend(one->document), SATCHEL_ANY_REVISION, &revision));
    if (revision == 0) fail("a record went to the outbox file");
}

static char *add(char *cursor, const char *data, size_t size) {
    memcpy(cursor, data, size);
    return cursor + size;
}

/** {id: document, …} */
static void put_in_one_call(const record *some, size_t count) {
    size_t size = 2;
    int64_t put = 0;
    for (size_t index = 0; index < count; index++) size += some[index].id.size + some[index].document.size + 4;
    char *text = allocate(size), *cursor = text;
    for (size_t index = 0; index < count; index++) {
        cursor = add(cursor, index == 0 ? "{\"" : ",\"", 2);
        cursor = add(cursor, some[index].id.data, some[index].id.size);
        cursor = add(cursor, "\":", 2);
        cursor = add(cursor, some[index].document.data, some[index].document.size);
    }
    cursor = add(cursor, "}", 1);
    expect(satchel_records_put_many(kept, (satchel_bytes){text, (size_t)(cursor - text)}, &put));
    if (put != (int64_t)count) fail("not all records were put");
    free(text);
}

static void put_many(const record *some, size_t count) {
    if (in_one_call) {
        put_in_one_call(some, count);
        return;
    }
    expect(satchel_store_begin(store));
    for (size_t index = 0; index < count; index++)
        expect(satchel_records_put(kept, lend(some[index].id), lend(some[index].document),
                                   SATCHEL_ANY_REVISION, NULL));
    expect(satchel_store_commit(store));
}

static slice answered(void) { return (slice){answer.data, answer.size}; }

static slice get(slice id) {
    expect(satchel_records_get(kept, lend(id), &answer));
    return answered();
}

static void release(void) { satchel_buffer_free(&answer); }

static void remove_one(slice id) {
    bool existed = false;
    expect(satchel_records_delete(kept, lend(id), SATCHEL_ANY_REVISION, &existed));
    if (!existed) fail("a record to delete is missing");
}

static void flush(void) {
    bool spooled = true;
    expect(satchel_state_flush(store, &spooled));
    if (spooled) fail("the state went to the outbox file");
}

static void save(const record *value) {
    expect(satchel_state_set(store, lend(value->id), lend(value->document), false));
    flush();
}

static void save_many(const record *values, size_t count) {
    for (size_t index = 0; index < count; index++)
        expect(satchel_state_set(store, lend(values[index].id), lend(values[index].document), false));
    flush();
}

static slice value(slice key) {
    expect(satchel_state_get(store, lend(key), &answer));
    return answered();
}

int main(int count, char **arguments) {
    static const keeper satchel = {open_store, put,  put_many,  get,   release,
                                   remove_one, save, save_many, value, close_store};
    in_one_call = strcmp(option(count, arguments, "batches", "many"), "many") == 0;
    return run_records(&satchel, count, arguments);
}
