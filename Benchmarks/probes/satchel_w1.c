/* satchel_w1: W1, W2 and growth through satchel.h, timed as the probes and the peers are.
 *
 * satchel_w1 mode=write   store=FILE data=DELIVERIES [relaxed=1] [again=DELIVERIES, with the same content]
 * satchel_w1 mode=read    store=FILE location=JSON prefix=SECTION chosen=ORDER sections=COUNT
 * satchel_w1 mode=lookups store=FILE locations=COUNT sections=COUNT lookups=COUNT
 * satchel_w1 mode=screen  store=FILE location=JSON prefix=SECTION sections=COUNT rounds=COUNT */
#include "measure.h"
#include "satchel.h"

#include <pthread.h>

enum { DELIVERIES_MAXIMUM = 1 << 20, LOOKUPS_MAXIMUM = 1 << 16 };

static void expect(satchel_status status) {
    if (status == SATCHEL_OK) return;
    fprintf(stderr, "%s: %s\n", satchel_status_name(status), satchel_error_message());
    exit(1);
}

static satchel_bytes lend(const char *text) { return (satchel_bytes){text, strlen(text)}; }

static satchel_store *open_store(const char *path, bool read_only, bool relaxed) {
    satchel_open_options options = SATCHEL_OPEN_OPTIONS_INIT;
    satchel_store *store = NULL;
    options.read_only = read_only;
    options.relaxed_durability = relaxed;
    expect(satchel_store_open(path, &options, &store));
    return store;
}

typedef struct delivered {
    double seconds;
    size_t payloads;
    double *latencies;
} delivered;

/** Opens the store, delivers each line of a file, and closes the store. */
static delivered deliver_all(const char *path, bool relaxed, const char *data, bool unchanged) {
    FILE *input = fopen(data, "rb");
    delivered done = {0, 0, malloc(sizeof(double) * DELIVERIES_MAXIMUM)};
    if (input == NULL || done.latencies == NULL) fail("cannot open the data");
    char *line = NULL;
    size_t capacity = 0;
    ssize_t length;

    double start = now();
    satchel_store *store = open_store(path, false, relaxed);
    while ((length = getline(&line, &capacity, input)) > 0) {
        satchel_buffer receipts = SATCHEL_BUFFER_INIT;
        double before = now();
        expect(satchel_catalogue_deliver(store, (satchel_bytes){line, (size_t)length}, NULL,
                                         unchanged ? &receipts : NULL));
        if (done.payloads < DELIVERIES_MAXIMUM) done.latencies[done.payloads++] = now() - before;
        if (unchanged && strstr(receipts.data, "\"saved\":0,\"updated\":0") == NULL) {
            fail("the same content was written again");
        }
        satchel_buffer_free(&receipts);
    }
    expect(satchel_store_close(store));
    done.seconds = now() - start;
    fclose(input);
    free(line);
    return done;
}

static int write_all(int count, char **arguments) {
    const char *path = option(count, arguments, "store", ""), *again = option(count, arguments, "again", "");
    bool relaxed = atoi(option(count, arguments, "relaxed", "0")) != 0;
    delivered first = deliver_all(path, relaxed, option(count, arguments, "data", ""), false);
    printf("{\"seconds\":%.4f,\"payloads\":%zu,\"median_us\":%.1f,\"p95_us\":%.1f", first.seconds,
           first.payloads, percentile(first.latencies, first.payloads, 0.5) * 1e6,
           percentile(first.latencies, first.payloads, 0.95) * 1e6);
    if (again[0] != '\0') printf(",\"again_s\":%.4f", deliver_all(path, relaxed, again, true).seconds);
    printf(",\"resident\":%ld}\n", memory_status("VmHWM:"));
    return 0;
}

static satchel_buffer load(satchel_store *store, const char *location, const char *section) {
    satchel_buffer out = SATCHEL_BUFFER_INIT;
    expect(satchel_catalogue_load(store, lend(location), lend(section), NULL, &out));
    if (out.data == NULL) fail("the section is missing");
    return out;
}

static int read_one(int count, char **arguments) {
    const char *path = option(count, arguments, "store", "");
    const char *location = option(count, arguments, "location", "");
    const char *prefix = option(count, arguments, "prefix", "");
    int sections = atoi(option(count, arguments, "sections", "0"));
    char name[256];
    satchel_buffer headers = SATCHEL_BUFFER_INIT;
    snprintf(name, sizeof name, "%s%03d", prefix, atoi(option(count, arguments, "chosen", "0")));

    double start = now();
    satchel_store *store = open_store(path, true, false);
    double opened = now();
    expect(satchel_catalogue_sections(store, lend(location), NULL, &headers));
    double listed = now();
    satchel_buffer section = load(store, location, name);
    double loaded = now();
    for (int order = 0; order < sections; order++) {
        snprintf(name, sizeof name, "%s%03d", prefix, order);
        satchel_buffer each = load(store, location, name);
        satchel_buffer_free(&each);
    }
    double finished = now();

    printf("{\"open_ms\":%.3f,\"list_ms\":%.3f,\"load_ms\":%.3f,\"total_ms\":%.3f,\"warm_section_us\":%.1f,"
           "\"headers\":%s,\"section\":%s}\n",
           (opened - start) * 1e3, (listed - opened) * 1e3, (loaded - listed) * 1e3, (loaded - start) * 1e3,
           (finished - loaded) / sections * 1e6, headers.data, section.data);
    satchel_buffer_free(&headers);
    satchel_buffer_free(&section);
    expect(satchel_store_close(store));
    return 0;
}

static int look_up_many(int count, char **arguments) {
    int locations = atoi(option(count, arguments, "locations", "1"));
    int sections = atoi(option(count, arguments, "sections", "1"));
    size_t lookups = (size_t)atoi(option(count, arguments, "lookups", "1000"));
    static double listing[LOOKUPS_MAXIMUM], loading[LOOKUPS_MAXIMUM];
    satchel_store *store = open_store(option(count, arguments, "store", ""), true, false);
    if (lookups > LOOKUPS_MAXIMUM) fail("too many look-ups");
    srand(1);
    for (size_t index = 0; index < lookups; index++) {
        int place = rand() % locations;
        char location[256], section[256];
        snprintf(location, sizeof location,
                 "{\"country_code\":\"xx\",\"admin_area\":\"area\",\"locality\":\"loc %03d\"}", place);
        snprintf(section, sizeof section, "sec:%03d:%03d", place, rand() % sections);
        satchel_buffer headers = SATCHEL_BUFFER_INIT;
        double start = now();
        expect(satchel_catalogue_sections(store, lend(location), NULL, &headers));
        double listed = now();
        satchel_buffer content = load(store, location, section);
        loading[index] = now() - listed;
        listing[index] = listed - start;
        if (headers.size < 3) fail("a location without headers");
        satchel_buffer_free(&headers);
        satchel_buffer_free(&content);
    }
    printf("{\"headers_us\":%.1f,\"section_us\":%.1f,\"resident\":%ld}\n",
           percentile(listing, lookups, 0.5) * 1e6, percentile(loading, lookups, 0.5) * 1e6,
           memory_status("VmHWM:"));
    expect(satchel_store_close(store));
    return 0;
}

/** The screen of a host that asks for its first sections as soon as there are headers. */
typedef struct screen {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    satchel_session *session;
    const char *prefix;
    int sections, loaded;
    bool is_asked;
    /** When the last of them was on the screen. */
    double finished;
} screen;

static bool has(satchel_bytes event, const char *text) {
    size_t length = strlen(text);
    for (size_t at = 0; at + length <= event.size; at++) {
        if (memcmp(event.data + at, text, length) == 0) return true;
    }
    return false;
}

static void hear(void *context, satchel_bytes event) {
    screen *shown = context;
    if (!shown->is_asked) {
        char name[256];
        shown->is_asked = true;
        for (int order = 0; order < shown->sections; order++) {
            snprintf(name, sizeof name, "%s%03d", shown->prefix, order);
            expect(satchel_session_load(shown->session, lend(name)));
        }
    } else if (event.size < 256 && has(event, "\"state\":\"loaded\"")) {
        pthread_mutex_lock(&shown->lock);
        shown->loaded++;
        shown->finished = now();
        pthread_cond_signal(&shown->changed);
        pthread_mutex_unlock(&shown->lock);
    }
}

/** Shows the place, and waits until its first sections are on the screen. */
static double show(satchel_store *store, const char *location, const char *prefix, int sections) {
    screen shown = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, NULL, prefix, sections, 0, false, 0};
    expect(satchel_session_new(store, NULL, hear, &shown, NULL, &shown.session));
    double start = now();
    expect(satchel_session_show(shown.session, lend(location)));
    pthread_mutex_lock(&shown.lock);
    while (shown.loaded < sections) pthread_cond_wait(&shown.changed, &shown.lock);
    pthread_mutex_unlock(&shown.lock);
    satchel_session_free(shown.session);
    return shown.finished - start;
}

/** Lists the place, and loads its first sections. */
static double list_and_load(satchel_store *store, const char *location, const char *prefix, int sections) {
    satchel_buffer headers = SATCHEL_BUFFER_INIT;
    char name[256];
    double start = now();
    expect(satchel_catalogue_sections(store, lend(location), NULL, &headers));
    for (int order = 0; order < sections; order++) {
        snprintf(name, sizeof name, "%s%03d", prefix, order);
        satchel_buffer each = load(store, location, name);
        satchel_buffer_free(&each);
    }
    double seconds = now() - start;
    satchel_buffer_free(&headers);
    return seconds;
}

static int show_screens(int count, char **arguments) {
    const char *location = option(count, arguments, "location", "");
    const char *prefix = option(count, arguments, "prefix", "");
    int sections = atoi(option(count, arguments, "sections", "1"));
    size_t rounds = (size_t)atoi(option(count, arguments, "rounds", "100"));
    static double first[LOOKUPS_MAXIMUM], all[LOOKUPS_MAXIMUM];
    static double plain_first[LOOKUPS_MAXIMUM], plain_all[LOOKUPS_MAXIMUM];
    satchel_store *store = open_store(option(count, arguments, "store", ""), true, false);
    if (rounds > LOOKUPS_MAXIMUM) fail("too many rounds");
    // The first round warms the page cache, and makes the threads of the store.
    for (size_t round = 0; round <= rounds; round++) {
        size_t index = round == 0 ? 0 : round - 1;
        plain_first[index] = list_and_load(store, location, prefix, 1);
        first[index] = show(store, location, prefix, 1);
        plain_all[index] = list_and_load(store, location, prefix, sections);
        all[index] = show(store, location, prefix, sections);
    }
    printf("{\"first_us\":%.1f,\"load_first_us\":%.1f,\"all_us\":%.1f,\"load_all_us\":%.1f}\n",
           percentile(first, rounds, 0.5) * 1e6, percentile(plain_first, rounds, 0.5) * 1e6,
           percentile(all, rounds, 0.5) * 1e6, percentile(plain_all, rounds, 0.5) * 1e6);
    expect(satchel_store_close(store));
    return 0;
}

int main(int count, char **arguments) {
    const char *mode = option(count, arguments, "mode", "");
    if (strcmp(mode, "write") == 0) return write_all(count, arguments);
    if (strcmp(mode, "read") == 0) return read_one(count, arguments);
    if (strcmp(mode, "lookups") == 0) return look_up_many(count, arguments);
    if (strcmp(mode, "screen") == 0) return show_screens(count, arguments);
    fail("mode=write, read, lookups or screen");
    return 1;
}
