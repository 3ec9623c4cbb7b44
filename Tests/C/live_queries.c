/* Live queries: what they report, when they end, and what their callback may do. */
#include <pthread.h>

#include "values.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static satchel_store *store;
/* The newest result, how many there were, and how many contexts were released. */
static json_t *newest;
static satchel_status newest_status;
static int reports, releases;

static satchel_observer *live;

static void report(void *context, satchel_status status, satchel_bytes message) {
    CHECK(context == &reports, "another context");
    /* It is closed already when the host closes it meanwhile. */
    satchel_status closing = satchel_store_close(store);
    CHECK(closing == SATCHEL_EBUSY || closing == SATCHEL_ECLOSED, "closing in a live query: %s",
          satchel_status_name(closing));
    CHECK(status != SATCHEL_OK || message.size == 0, "a message without an error");
    pthread_mutex_lock(&lock);
    newest_status = status;
    reports++;
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&lock);
}

static void release(void *context) {
    CHECK(context == &reports, "another context is released");
    pthread_mutex_lock(&lock);
    releases++;
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&lock);
}

/** Takes the results until one has so many records. */
static void wait_for(size_t count) {
    for (int seen = 0;;) {
        satchel_buffer buffer = {0};
        must(satchel_records_watch_result(live, &buffer), "taking a result");
        if (buffer.size > 0) {
            json_decref(newest);
            newest = json_loadb(buffer.data, buffer.size, 0, NULL);
            satchel_buffer_free(&buffer);
            CHECK(newest, "a result is no JSON");
            if (json_array_size(json_object_get(newest, "records")) == count) return;
        }
        pthread_mutex_lock(&lock);
        while (reports == seen) pthread_cond_wait(&changed, &lock);
        seen = reports;
        pthread_mutex_unlock(&lock);
    }
}

static void wait_for_releases(int count) {
    pthread_mutex_lock(&lock);
    while (releases < count) pthread_cond_wait(&changed, &lock);
    pthread_mutex_unlock(&lock);
}

static void ignore(void *context, satchel_status status, satchel_bytes message) {
    (void)context, (void)status, (void)message;
}

int main(void) {
    satchel_records *notes;
    satchel_bytes query = SATCHEL_TEXT("{\"where\":{\"n\":{\"gte\":2}},\"order_by\":\"-n\"}");
    must(satchel_store_open(":memory:", NULL, &store), "opening");
    must(satchel_records_open(store, text("{\"name\":\"notes\"}"), NULL, &notes), "opening records");
    must(satchel_records_put(notes, text("b"), text("{\"n\":2}"), SATCHEL_ANY_REVISION, NULL), "putting");

    CHECK(satchel_records_watch(notes, text("{\"limit\":-1}"), report, &reports, release, &live) == SATCHEL_EINVALID,
          "a query with a negative limit");
    CHECK(!live && releases == 1, "a refused live query: %d releases", releases);
    CHECK(satchel_records_watch(notes, query, NULL, &reports, release, &live) == SATCHEL_EINVALID, "no callback");
    CHECK(satchel_records_watch(NULL, query, report, &reports, release, &live) != SATCHEL_OK, "no collection");
    CHECK(satchel_records_watch(notes, query, report, &reports, release, NULL) == SATCHEL_EINVALID, "no out");
    CHECK(releases == 4, "%d releases after 4 refusals", releases);

    must(satchel_records_watch(notes, query, report, &reports, release, &live), "watching");
    wait_for(1);
    must(satchel_records_put(notes, text("c"), text("{\"n\":3}"), SATCHEL_ANY_REVISION, NULL), "putting");
    wait_for(2);
    CHECK(!strcmp(text_at(newest, "/records/0/id"), "c") && number_at(newest, "/records/1/document/n") == 2,
          "another order");
    CHECK(!strcmp(text_at(newest, "/inserted/0"), "c"), "what was inserted");
    must(satchel_store_begin(store), "beginning");
    must(satchel_records_put(notes, text("d"), text("{\"n\":4}"), SATCHEL_ANY_REVISION, NULL), "putting");
    must(satchel_records_put(notes, text("e"), text("{\"n\":5}"), SATCHEL_ANY_REVISION, NULL), "putting");
    must(satchel_store_commit(store), "committing");
    wait_for(4);
    CHECK(json_array_size(json_object_get(newest, "inserted")) == 2, "what a batch inserted");
    satchel_buffer same = {0};
    must(satchel_records_watch_result(live, &same), "taking the same result");
    CHECK(same.size == 0, "the same result again: %.*s", (int)same.size, (const char *)same.data);
    must(satchel_store_begin(store), "beginning");
    CHECK(satchel_records_watch_result(live, &same) == SATCHEL_EINVALID, "a result in a batch");
    must(satchel_store_rollback(store), "rolling back");
    CHECK(newest_status == SATCHEL_OK, "%s", satchel_status_name(newest_status));

    /* Groups, and hits of searches. */
    satchel_records *cafes;
    must(satchel_records_open(store, text("{\"name\":\"cafes\",\"search\":[\"name\"],\"positions\":[\"at\"]}"), NULL,
                              &cafes),
         "opening what can be searched");
    must(satchel_records_put(cafes, text("a"), text("{\"name\":\"Odeon\",\"at\":{\"lat\":47.5,\"lon\":8.5}}"),
                             SATCHEL_ANY_REVISION, NULL),
         "putting");
    const char *questions[][2] = {
        {"{\"groups\":{\"group_by\":\"name\"}}", "{\"groups\":[{\"key\":[\"Odeon\"],\"count\":1,\"values\":[]}]}"},
        {"{\"search\":{\"text\":\"ode\"}}", "\"excerpt\":\"Odeon\",\"highlights\":[[0,5]]}],\"inserted\":[\"a\"]"},
        {"{\"near\":{\"latitude\":47.5,\"longitude\":8.5,\"within\":1}}", "\"distance\":0.0}],\"inserted\":[\"a\"]"},
    };
    for (size_t i = 0; i < sizeof questions / sizeof *questions; i++) {
        satchel_observer *other = NULL;
        satchel_buffer found = SATCHEL_BUFFER_INIT;
        must(satchel_records_watch(cafes, text(questions[i][0]), ignore, NULL, NULL, &other), questions[i][0]);
        must(satchel_records_watch_result(other, &found), "taking the result");
        CHECK(strstr(found.data, questions[i][1]) != NULL, "%s", found.data);
        satchel_buffer_free(&found);
        satchel_observer_free(other);
    }
    const char *wrong[] = {"{\"groups\":{\"by\":1}}", "{\"search\":{}}", "{\"near\":7}", "{\"search\":{\"text\":\"a\",\"paths\":[\"at\"]}}"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        satchel_observer *other = NULL;
        CHECK(satchel_records_watch(cafes, text(wrong[i]), ignore, NULL, NULL, &other) == SATCHEL_EINVALID && !other, "%s",
              wrong[i]);
    }
    satchel_records_free(cafes);

    /* The collection's handle may be freed first. */
    satchel_records_free(notes);
    satchel_observer_free(live);
    wait_for_releases(5);

    must(satchel_records_open(store, text("{\"name\":\"notes\"}"), NULL, &notes), "opening records");
    must(satchel_records_watch(notes, query, report, &reports, release, &live), "watching");
    must(satchel_store_close(store), "closing");
    CHECK(releases == 6, "%d releases after closing", releases);
    satchel_observer_free(live);
    CHECK(satchel_records_watch(notes, query, report, &reports, release, &live) == SATCHEL_ECLOSED, "a closed store");
    satchel_records_free(notes);
    json_decref(newest);
    return close_checks();
}
