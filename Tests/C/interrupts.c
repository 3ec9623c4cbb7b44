/* Long reads are stopped: by another thread, by a check, and by a time limit. Writes are not. */
#include <pthread.h>

#include "values.h"

enum { RECORDS = 200000, PORTION = 20000 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static satchel_store *store;
static satchel_records *notes;
/* How often a check was called, whether the next one stops the read, and how many contexts were released. */
static int checks, releases;
static bool must_stop;

static bool check(void *context) {
    CHECK(context == &checks, "another context");
    satchel_buffer out = SATCHEL_BUFFER_INIT;
    CHECK(satchel_store_info(store, &out) == SATCHEL_EBUSY, "a store can be used from a check");
    CHECK(strstr(satchel_error_message(), "interrupt"), "the message is: %s", satchel_error_message());
    pthread_mutex_lock(&lock);
    checks++;
    bool stops = must_stop;
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&lock);
    return stops;
}

static void release(void *context) {
    CHECK(context == &checks, "another context is released");
    releases++;
}

static satchel_interrupt *interrupt_with(int64_t timeout_ms) {
    satchel_interrupt_options options = SATCHEL_INTERRUPT_OPTIONS_INIT;
    options.timeout_ms = timeout_ms;
    options.check = check;
    options.context = &checks;
    options.release = release;
    satchel_interrupt *made;
    must(satchel_interrupt_new(&options, &made), "making an interrupt");
    return made;
}

static void fill(void) {
    char *list = malloc(PORTION * 64 + 3);
    if (!list) give_up("no memory");
    for (int first = 0; first < RECORDS; first += PORTION) {
        size_t size = 0;
        list[size++] = '[';
        for (int number = first; number < first + PORTION; number++) {
            if (number > first) list[size++] = ',';
            size += (size_t)sprintf(list + size, "{\"id\":\"%d\",\"document\":{\"n\":%d}}", number, number);
        }
        list[size++] = ']';
        must(satchel_records_put_many(notes, (satchel_bytes){list, size}, NULL), "putting");
    }
    free(list);
}

/** A query without an index, of all records. */
static satchel_status query(void) {
    satchel_buffer out = SATCHEL_BUFFER_INIT;
    satchel_status status =
        satchel_records_list(notes, text("{\"where\":{\"n\":{\"gte\":0}},\"order_by\":\"-n\"}"), &out);
    CHECK(status == SATCHEL_OK || out.data == NULL, "a stopped read leaves its out-parameter");
    satchel_buffer_free(&out);
    return status;
}

static void *query_until_stopped(void *context) {
    satchel_interrupt *interrupt = context;
    must(satchel_interrupt_attach(interrupt), "attaching");
    satchel_status status;
    do {
        status = query();
    } while (status == SATCHEL_OK);
    CHECK(status == SATCHEL_ECANCELLED, "the read returned %s", satchel_status_name(status));
    /* For good, and only reads. */
    CHECK(query() == SATCHEL_ECANCELLED, "a read after the cancellation");
    must(satchel_records_put(notes, text("after"), text("{}"), SATCHEL_ANY_REVISION, NULL), "putting");
    must(satchel_interrupt_attach(NULL), "detaching");
    CHECK(query() == SATCHEL_OK, "a read without the interrupt: %s", satchel_error_message());
    return NULL;
}

static void stopped_by_another_thread(void) {
    satchel_interrupt *interrupt = interrupt_with(0);
    pthread_t thread;
    checks = 0;
    if (pthread_create(&thread, NULL, query_until_stopped, interrupt)) give_up("no thread");
    pthread_mutex_lock(&lock);
    while (checks == 0) pthread_cond_wait(&changed, &lock);
    pthread_mutex_unlock(&lock);
    must(satchel_interrupt_cancel(interrupt), "cancelling");
    pthread_join(thread, NULL);
    CHECK(releases == 0, "an interrupt that is not freed was released");
    satchel_interrupt_free(interrupt);
    CHECK(releases == 1, "%d releases instead of 1", releases);
}

static void stopped_by_a_check(void) {
    satchel_interrupt *interrupt = interrupt_with(-1);
    must(satchel_interrupt_attach(interrupt), "attaching");
    must_stop = true;
    satchel_status status;
    do {
        status = query();
    } while (status == SATCHEL_OK);
    CHECK(status == SATCHEL_ECANCELLED, "the read returned %s", satchel_status_name(status));
    must_stop = false;
    CHECK(query() == SATCHEL_OK, "the read after it: %s", satchel_error_message());
    must(satchel_interrupt_attach(NULL), "detaching");
    satchel_interrupt_free(interrupt);
}

static void over_time(void) {
    satchel_interrupt *interrupt = interrupt_with(1);
    must(satchel_interrupt_attach(interrupt), "attaching");
    CHECK(query() == SATCHEL_ETIMEDOUT, "a read that takes too long: %s", satchel_error_message());
    CHECK(strstr(satchel_error_message(), "query timeout of 1 ms"), "the message is: %s",
          satchel_error_message());
    /* In a batch, which stays open: what it wrote is committed. */
    must(satchel_store_begin(store), "beginning");
    must(satchel_records_put(notes, text("in a batch"), text("{}"), SATCHEL_ANY_REVISION, NULL), "putting");
    CHECK(query() == SATCHEL_ETIMEDOUT, "a read in a batch: %s", satchel_error_message());
    must(satchel_store_commit(store), "committing");
    must(satchel_interrupt_attach(NULL), "detaching");
    satchel_interrupt_free(interrupt);
    satchel_buffer out = SATCHEL_BUFFER_INIT;
    must(satchel_records_get(notes, text("in a batch"), &out), "getting");
    CHECK(out.data, "the batch was rolled back");
    satchel_buffer_free(&out);
}

/** The limit of the store, and a thread that has none. */
static void limit_of_the_store(const char *path) {
    satchel_open_options options = SATCHEL_OPEN_OPTIONS_INIT;
    options.query_timeout_ms = 1;
    must(satchel_store_open(path, &options, &store), "opening");
    must(satchel_records_open(store, text("{\"name\":\"notes\"}"), NULL, &notes), "opening records");
    CHECK(query() == SATCHEL_ETIMEDOUT, "a read that takes too long: %s", satchel_error_message());
    satchel_buffer out = SATCHEL_BUFFER_INIT;
    CHECK(satchel_store_check(store, &out) == SATCHEL_ETIMEDOUT, "a check: %s", satchel_error_message());
    satchel_interrupt *unlimited = interrupt_with(-1);
    must(satchel_interrupt_attach(unlimited), "attaching");
    CHECK(query() == SATCHEL_OK, "a read without a limit: %s", satchel_error_message());
    must(satchel_interrupt_attach(NULL), "detaching");
    satchel_interrupt_free(unlimited);
    satchel_records_free(notes);
    must(satchel_store_close(store), "closing");
}

int main(int count, char **arguments) {
    if (count != 2) give_up("the argument is a folder");
    char path[4096];
    snprintf(path, sizeof path, "%s/interrupts.satchel", arguments[1]);
    must(satchel_store_open(path, NULL, &store), "opening");
    must(satchel_records_open(store, text("{\"name\":\"notes\"}"), NULL, &notes), "opening records");
    fill();
    stopped_by_another_thread();
    stopped_by_a_check();
    over_time();
    satchel_records_free(notes);
    must(satchel_store_close(store), "closing");
    limit_of_the_store(path);
    return close_checks();
}
