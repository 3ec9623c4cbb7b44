/* A batch is bound to the thread that began it, and to those that enter it. */
#include <pthread.h>

#include "check.h"

/** The outcome of one call on another thread. */
struct call {
    satchel_store *store;
    satchel_records *notes;
    int64_t batch; /* entered before; 0 for none */
    satchel_status put, count, left;
    int64_t seen;
};

static satchel_status put(satchel_records *notes, const char *id) {
    int64_t revision;
    return satchel_records_put(notes, text(id), text("{}"), SATCHEL_ANY_REVISION, &revision);
}

static int64_t count(satchel_records *notes) {
    int64_t number = -1;
    must(satchel_records_count(notes, text(NULL), &number), "counting");
    return number;
}

static void *run(void *argument) {
    struct call *call = argument;
    if (call->batch) must(satchel_store_enter(call->store, call->batch), "entering");
    call->put = put(call->notes, call->batch ? "entered" : "beside");
    call->count = satchel_records_count(call->notes, text(NULL), &call->seen);
    call->left = satchel_store_leave(call->store);
    return NULL;
}

static struct call elsewhere(satchel_store *store, satchel_records *notes, int64_t batch) {
    struct call call = {store, notes, batch, SATCHEL_OK, SATCHEL_OK, SATCHEL_OK, -1};
    pthread_t thread;
    pthread_create(&thread, NULL, run, &call);
    pthread_join(thread, NULL);
    return call;
}

static void test(const char *path) {
    satchel_open_options options = SATCHEL_OPEN_OPTIONS_INIT;
    options.busy_timeout_ms = 100;
    satchel_store *store;
    satchel_records *notes;
    must(satchel_store_open(path, &options, &store), "opening");
    must(satchel_records_open(store, text("{\"name\":\"notes\"}"), NULL, &notes), "opening records");
    bool in_memory = strcmp(path, ":memory:") == 0;
    satchel_status beside_read = in_memory ? SATCHEL_EBUSY : SATCHEL_OK;

    int64_t batch = -1;
    must(satchel_store_batch(store, &batch), "asking for the batch");
    CHECK(batch == 0, "there is batch %lld, which no thread began", (long long)batch);
    CHECK(satchel_store_batch(store, NULL) == SATCHEL_EINVALID, "a batch without a place for it");
    CHECK(satchel_store_enter(store, 0) == SATCHEL_EINVALID, "batch 0 can be entered");
    CHECK(satchel_store_enter(store, INT64_MIN) == SATCHEL_EINVALID, "a batch that never was can be entered");

    must(satchel_store_begin(store), "beginning");
    must(satchel_store_batch(store, &batch), "asking for the batch");
    CHECK(batch > 0, "the batch has the number %lld", (long long)batch);
    must(put(notes, "begun"), "putting");
    struct call beside = elsewhere(store, notes, 0);
    CHECK(beside.put == SATCHEL_EBUSY, "a put beside the batch: %s", satchel_status_name(beside.put));
    CHECK(beside.count == beside_read, "a count beside the batch: %s", satchel_status_name(beside.count));
    CHECK(in_memory || beside.seen == 0, "beside the batch there are %lld", (long long)beside.seen);
    struct call entered = elsewhere(store, notes, batch);
    CHECK(entered.put == SATCHEL_OK && entered.seen == 2 && entered.left == SATCHEL_OK,
          "in the batch: %s, %lld records", satchel_status_name(entered.put), (long long)entered.seen);

    must(satchel_store_leave(store), "leaving");
    CHECK(put(notes, "left") == SATCHEL_EBUSY, "a thread that left writes into the batch");
    CHECK(strstr(satchel_error_message(), "batch"), "the message is “%s”", satchel_error_message());
    CHECK(satchel_store_commit(store) == SATCHEL_EINVALID, "a thread that left ends the batch");
    must(satchel_store_enter(store, batch), "entering");
    must(satchel_store_rollback(store), "rolling back");
    CHECK(count(notes) == 0, "a record of the rolled-back batch is there");
    CHECK(satchel_store_enter(store, batch) == SATCHEL_EINVALID, "a batch that has ended can be entered");
    must(put(notes, "after"), "putting");
    CHECK(count(notes) == 1, "what was put after the batch is not there");

    satchel_records_free(notes);
    must(satchel_store_close(store), "closing");
    CHECK(satchel_store_leave(store) == SATCHEL_ECLOSED, "a closed store can be left");
    CHECK(satchel_store_enter(NULL, 1) == SATCHEL_EINVALID, "no store can be entered");
}

int main(int count, char **arguments) {
    if (count != 2) give_up("usage: batches FOLDER");
    char path[4096];
    snprintf(path, sizeof path, "%s/batches.satchel", arguments[1]);
    test(path);
    test(":memory:");
    return close_checks();
}
