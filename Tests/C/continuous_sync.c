/* A store that is kept in sync with a store of the host. Usage: continuous_sync */
#include <pthread.h>

#include "memory_store.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static char last_state[16];
static long long uploaded, ends, states, releases;

/** Keeps what a state says. */
static void hear(void *context, satchel_bytes status) {
    json_t *found = json_loadb((const char *)status.data, status.size, 0, NULL);
    pthread_mutex_lock(&lock);
    CHECK(context == &lock, "the context");
    snprintf(last_state, sizeof last_state, "%s", json_string_value(at(found, "/state")));
    if (json_is_object(at(found, "/report")) && strcmp(last_state, "idle") == 0) {
        uploaded += number_at(found, "/report/records/uploaded");
    }
    if (strcmp(last_state, "ended") == 0) ends++;
    states++;
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&lock);
    json_decref(found);
}

static void release(void *context) {
    (void)context;
    pthread_mutex_lock(&lock);
    releases++;
    pthread_mutex_unlock(&lock);
}

static void wait_for(const char *what, const long long *number, long long wanted) {
    pthread_mutex_lock(&lock);
    while (*number < wanted) pthread_cond_wait(&changed, &lock);
    CHECK(*number == wanted, "%s: %lld, not %lld", what, *number, wanted);
    pthread_mutex_unlock(&lock);
}

static void wait_for_state(const char *wanted) {
    pthread_mutex_lock(&lock);
    while (strcmp(last_state, wanted) != 0) pthread_cond_wait(&changed, &lock);
    last_state[0] = 0;
    pthread_mutex_unlock(&lock);
}

static satchel_network network = SATCHEL_NETWORK_NONE;

static satchel_network ask(void *context) {
    CHECK(context == &network, "the context of the network");
    pthread_mutex_lock(&lock);
    satchel_network now = network;
    pthread_mutex_unlock(&lock);
    return now;
}

static satchel_continuous_sync *begun(satchel_store *store, satchel_remote *remote,
                                      const satchel_continuous_sync_options *options) {
    satchel_continuous_sync *sync;
    must(satchel_store_run_sync(store, remote, text("mia"), NULL, options, hear, &lock, release, &sync),
         "keeping a store in sync");
    return sync;
}

static void refused_options(satchel_store *store, satchel_remote *remote) {
    satchel_continuous_sync *none;
    releases = 0;
    satchel_store_sync_options single = SATCHEL_STORE_SYNC_OPTIONS_INIT;
    bool *flags[] = {&single.dry_run, &single.accept_loss, &single.verify, &single.purge, &single.recreate};
    for (size_t each = 0; each < sizeof flags / sizeof *flags; each++) {
        *flags[each] = true;
        CHECK(satchel_store_run_sync(store, remote, text("mia"), &single, NULL, NULL, NULL, release, &none)
                  == SATCHEL_EINVALID && none == NULL, "option %zu of a single sync", each);
        *flags[each] = false;
    }
    satchel_continuous_sync_options options = SATCHEL_CONTINUOUS_SYNC_OPTIONS_INIT;
    int64_t intervals[] = {-1, 31536001, INT64_MIN, INT64_MAX};
    for (size_t each = 0; each < sizeof intervals / sizeof *intervals; each++) {
        options.every = intervals[each];
        CHECK(satchel_store_run_sync(store, remote, text("mia"), NULL, &options, NULL, NULL, release, &none)
                  == SATCHEL_EINVALID, "an interval");
    }
    CHECK(satchel_store_run_sync(store, remote, text("../mia"), NULL, NULL, NULL, NULL, release, &none)
              == SATCHEL_EINVALID, "a user");
    CHECK(satchel_store_run_sync(NULL, remote, text("mia"), NULL, NULL, NULL, NULL, release, &none)
              == SATCHEL_EINVALID, "no store");
    CHECK(satchel_store_run_sync(store, NULL, text("mia"), NULL, NULL, NULL, NULL, release, &none)
              == SATCHEL_EINVALID, "no remote");
    CHECK(satchel_store_run_sync(store, remote, text("mia"), NULL, NULL, NULL, NULL, release, NULL)
              == SATCHEL_EINVALID, "no place for the result");
    CHECK(releases == 13, "%lld releases, not 13", releases);
    CHECK(satchel_continuous_sync_request(NULL) == SATCHEL_EINVALID, "no continuous sync");
    satchel_buffer out;
    CHECK(satchel_continuous_sync_status(NULL, &out) == SATCHEL_EINVALID, "no continuous sync");
    satchel_continuous_sync_free(NULL);
}

static void kept_in_sync(satchel_remote *remote) {
    satchel_store *store;
    satchel_records *notes;
    must(satchel_store_open(":memory:", NULL, &store), "opening a store");
    must(satchel_records_open(store, text("{\"name\":\"notes\"}"), NULL, &notes), "opening a collection");
    refused_options(store, remote);

    releases = 0;
    satchel_continuous_sync_options options = SATCHEL_CONTINUOUS_SYNC_OPTIONS_INIT;
    options.network = ask;
    options.network_context = &network;
    options.release_network = release;
    satchel_continuous_sync *sync = begun(store, remote, &options);
    wait_for_state("held");
    pthread_mutex_lock(&lock);
    network = SATCHEL_NETWORK_FREE;
    pthread_mutex_unlock(&lock);
    must(satchel_continuous_sync_request(sync), "a request");
    wait_for_state("idle");
    must(satchel_records_put(notes, text("a"), text("{\"n\":1}"), SATCHEL_ANY_REVISION, NULL), "a put");
    wait_for("uploads by themselves", &uploaded, 1);
    satchel_buffer out;
    must(satchel_continuous_sync_status(sync, &out), "the state");
    json_t *status = take(&out);
    CHECK(number_at(status, "/failures") == 0 && json_is_integer(at(status, "/last_sync"))
              && json_is_null(at(status, "/error")), "a state without failures");
    json_decref(status);
    satchel_continuous_sync *second;
    CHECK(satchel_store_run_sync(store, remote, text("mia"), NULL, NULL, NULL, NULL, NULL, &second) == SATCHEL_EBUSY,
          "two at once");

    must(satchel_store_sign_out(store, NULL, NULL, false, NULL), "signing out");
    wait_for("ends", &ends, 1);
    CHECK(satchel_continuous_sync_request(sync) == SATCHEL_ECLOSED, "a request after the end");
    satchel_continuous_sync_free(sync);
    CHECK(satchel_continuous_sync_status(sync, &out) == SATCHEL_ECLOSED, "a freed one");

    // It ends with its store, and no state follows.
    last_state[0] = 0;
    sync = begun(store, remote, NULL);
    wait_for_state("idle");
    satchel_records_free(notes);
    must(satchel_store_close(store), "closing a store");
    long long told = states;
    CHECK(satchel_continuous_sync_request(sync) == SATCHEL_ECLOSED, "a request after closing");
    satchel_continuous_sync_free(sync);
    CHECK(states == told, "a state after the end");
    CHECK(releases == 3, "%lld releases, not 3", releases);
}

int main(void) {
    struct memory memory;
    satchel_remote *remote = open_named_memory(&memory, "kept");
    kept_in_sync(remote);
    close_memory(&memory, remote);
    return close_checks();
}
