/* Calls from callbacks that would have to wait for the callback itself are refused at once, and the callback named. */
#include <unistd.h>

#include "memory_store.h"
#include "photos.h"

static satchel_store *store;
static satchel_photos *album;
static satchel_remote *remote;
static int in_clock, in_observer, in_session, in_progress, in_sync, in_remote, in_migration, in_release;

/** Tries to close the store, which must be refused and name the callback. */
static void refused(const char *name, int *count) {
    satchel_status status = satchel_store_close(store);
    CHECK(status == SATCHEL_EBUSY, "closing from %s: %s", name, satchel_status_name(status));
    CHECK(strstr(satchel_error_message(), name), "closing from %s says “%s”", name, satchel_error_message());
    ++*count;
}

static int64_t tell_time(void *context) {
    (void)context;
    if (store) {
        bool read_only;
        refused("clock", &in_clock);
        satchel_status status = satchel_store_begin(store);
        CHECK(status == SATCHEL_EBUSY, "beginning in the clock: %s", satchel_status_name(status));
        must(satchel_store_is_read_only(store, &read_only), "the store is not open");
    }
    return 1700000000000;
}

static void observe(void *context, satchel_bytes change) {
    (void)change;
    refused("an observer", &in_observer);
    satchel_observer_free(*(satchel_observer **)context);
}

static void hear(void *context, satchel_bytes event) {
    (void)event;
    refused("a session's callback", &in_session);
    satchel_session_free(*(satchel_session **)context);
}

static bool progress(void *context, satchel_bytes done) {
    (void)context;
    (void)done;
    refused("a progress callback", &in_progress);
    return true;
}

static void sync_again(int *count) {
    satchel_buffer out = SATCHEL_BUFFER_INIT;
    satchel_status status = satchel_photos_sync(album, remote, text("ana"), NULL, &out);
    CHECK(status == SATCHEL_EBUSY, "a sync in a sync: %s", satchel_status_name(status));
    satchel_buffer_free(&out);
    ++*count;
}

static bool sync_progress(void *context, satchel_bytes done) {
    progress(context, done);
    sync_again(&in_sync);
    return true;
}

static satchel_remote_result list(void *context, satchel_bytes prefix, satchel_bytes after, int32_t limit,
                                  satchel_remote_answer *answer) {
    refused("a function of the remote", &in_remote);
    sync_again(&in_remote);
    return memory_list(context, prefix, after, limit, answer);
}

static satchel_remote_result get(void *context, satchel_bytes key, satchel_bytes known,
                                 satchel_remote_answer *answer) {
    refused("a function of the remote", &in_remote);
    sync_again(&in_remote);
    return memory_get(context, key, known, answer);
}

static satchel_remote_result put(void *context, satchel_bytes key, satchel_bytes body, satchel_bytes if_match,
                                 bool if_absent, satchel_bytes metadata, satchel_remote_answer *answer) {
    refused("a function of the remote", &in_remote);
    return memory_put(context, key, body, if_match, if_absent, metadata, answer);
}

static bool migrate(void *context, int32_t from, int32_t to, satchel_bytes record, satchel_record_answer *answer) {
    (void)context;
    (void)from;
    (void)to;
    (void)record;
    refused("a migration", &in_migration);
    satchel_record_answer_document(answer, text("{\"n\":2}"));
    return true;
}

/** Closes for good: nothing waits for a release function of an observer. */
static void release(void *context) {
    (void)context;
    in_release++;
    satchel_status status = satchel_store_close(store);
    CHECK(status == SATCHEL_OK, "closing from a release function: %s", satchel_status_name(status));
}

static void change(int number) {
    char section[128];
    snprintf(section, sizeof section, "{\"section\":\"s\",\"content\":{\"n\":%d}}", number);
    must(satchel_catalogue_persist(store, text("{\"country_code\":\"NO\"}"), text(section), NULL, NULL), "persisting");
}

static void test(const char *folder) {
    char path[4096], backup[4096];
    snprintf(path, sizeof path, "%s/callbacks.satchel", folder);
    snprintf(backup, sizeof backup, "%s/callbacks.backup", folder);
    satchel_open_options options = SATCHEL_OPEN_OPTIONS_INIT;
    options.clock = tell_time;
    satchel_store *opened = NULL;
    must(satchel_store_open(path, &options, &opened), "opening");
    store = opened;
    change(1);
    CHECK(in_clock > 0, "the clock was not asked");
    store = NULL;
    must(satchel_store_close(opened), "closing");

    must(satchel_store_open(path, NULL, &store), "opening again");
    satchel_observer *observer = NULL, *last = NULL;
    must(satchel_store_observe(store, observe, &observer, NULL, &observer), "observing");
    change(2);
    change(3);
    CHECK(in_observer == 1, "the observer was called %d times", in_observer);

    satchel_session *session = NULL;
    must(satchel_session_new(store, NULL, hear, &session, NULL, &session), "beginning a session");
    satchel_session_show(session, text("{\"country_code\":\"NO\"}"));
    CHECK(in_session == 1, "the session's callback was called %d times", in_session);

    must(satchel_store_backup(store, backup, true, progress, NULL, NULL), "backing up");
    CHECK(in_progress > 0, "the backup told no progress");

    struct memory memory;
    memset(&memory, 0, sizeof memory);
    pthread_mutex_init(&memory.lock, NULL);
    satchel_remote_operations operations = memory_operations();
    operations.get = get;
    operations.put = put;
    operations.list = list;
    must(satchel_remote_callbacks(&operations, &memory, memory_release, &remote), "making a remote");
    must(satchel_photos_open(store, text("/holiday"), SATCHEL_CONFLICT_DEFAULT, &album), "opening an album");
    put_photo(album, '3', 1, "a.jpg");
    satchel_sync_options wanted = SATCHEL_SYNC_OPTIONS_INIT;
    wanted.progress = sync_progress;
    must(satchel_photos_sync(album, remote, text("ana"), &wanted, NULL), "synchronizing");
    CHECK(in_sync > 0 && in_remote > 0, "the sync told no progress, or asked the remote nothing");
    satchel_photos_free(album);
    close_memory(&memory, remote);

    satchel_records *records = NULL;
    int64_t revision;
    must(satchel_records_open(store, text("{\"name\":\"notes\"}"), NULL, &records), "opening records");
    must(satchel_records_put(records, text("a"), text("{\"n\":1}"), SATCHEL_ANY_REVISION, &revision), "putting");
    satchel_records_free(records);
    satchel_records_options migrates = SATCHEL_RECORDS_OPTIONS_INIT;
    migrates.migrate = migrate;
    must(satchel_records_open(store, text("{\"name\":\"notes\",\"version\":2,\"migrations\":[\"callback\"]}"),
                              &migrates, &records),
         "migrating");
    CHECK(in_migration == 1, "the migration was called %d times", in_migration);
    satchel_records_free(records);

    must(satchel_store_observe(store, observe, &last, release, &last), "observing");
    satchel_observer_free(last);
    CHECK(in_release == 1, "released %d times", in_release);
    CHECK(satchel_store_close(store) == SATCHEL_ECLOSED, "the release function has not closed the store");
}

int main(int count, char **arguments) {
    if (count != 2) give_up("usage: callbacks FOLDER");
    alarm(300); /* a call that waits for its own callback */
    test(arguments[1]);
    return close_checks();
}
