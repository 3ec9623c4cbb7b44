/* A travel guide that works offline: stores what a backend sent for some hundred towns, goes offline, and
 * shows what a traveller sees. Usage: guide places.jsonl */
#include "example.h"

static const char *path = "guide.satchel";
static int64_t today; /* in Unix milliseconds; the store asks for it, so that a day can pass here */

#define PORTO "\"locality\":\"Porto\",\"admin_area\":\"Porto\",\"country_code\":\"PT\"}"
static const char *const journey[4][2] = {
    {"Porto", "{\"latitude\":41.14961,\"longitude\":-8.61099," PORTO},
    {"Porto, 20 metres on", "{\"latitude\":41.14979,\"longitude\":-8.61099," PORTO},
    {"Singapore",
     "{\"locality\":\"Singapore\",\"admin_area\":\"Central Singapore\",\"country_code\":\"SG\"}"},
    {"A town in Portugal, never visited",
     "{\"locality\":\"Piódão\",\"admin_area\":\"Beira\",\"country_code\":\"PT\"}"},
};

static int64_t the_time(void *context) { return *(int64_t *)context; }

static double milliseconds(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec * 1e3 + (double)time.tv_nsec / 1e6;
}

static satchel_store *open_guide(void) {
    satchel_store *store;
    satchel_open_options options = SATCHEL_OPEN_OPTIONS_INIT;
    options.clock = the_time;
    options.clock_context = &today;
    must(satchel_store_open(path, &options, &store));
    return store;
}

/** Stores a file of deliveries, one a line. */
static void deliver(satchel_store *store, FILE *file) {
    char *line = NULL;
    size_t capacity = 0, lines = 0;
    long shared = 0;
    double start = milliseconds();
    for (ssize_t size; (size = getline(&line, &capacity, file)) > 0; lines++) {
        satchel_buffer buffer;
        must(satchel_catalogue_deliver(store, (satchel_bytes){line, (size_t)size}, NULL, &buffer));
        for (size_t index = 0; index < count_of(&buffer, ""); index++)
            shared += number(&buffer, "/%zu/shared_bytes", index);
        satchel_buffer_free(&buffer);
    }
    double took = milliseconds() - start;
    free(line);
    printf("Took in %zu deliveries in %.3f ms; each was on the disk before the next.\n", lines, took);
    printf("%ld bytes of them were stored once instead of again.\n", shared);
}

/** Shows a place as a screen would: the headers first, then each section's content. */
static void visit(satchel_store *store, const char *title, const char *location) {
    satchel_read_options options = SATCHEL_READ_OPTIONS_INIT;
    options.allow_expired = true; /* old is better than nothing, offline */
    satchel_buffer headers, section;
    double start = milliseconds();
    must(satchel_catalogue_sections(store, satchel_text(location), &options, &headers));
    printf("\n%s: headers in %.3f ms\n", title, milliseconds() - start);
    for (size_t index = 0; index < count_of(&headers, ""); index++) {
        const char *name = string(&headers, "/%zu/section", index);
        start = milliseconds();
        must(satchel_catalogue_load(store, satchel_text(location), satchel_text(name), &options, &section));
        double took = milliseconds() - start;
        printf("  %.3f ms  %-7s  entities %2ld, expired %zu, by %-10s  %s\n", took, name,
               number(&headers, "/%zu/entity_count", index), count_of(&section, "expired"), string(&section, "level"),
               string(&headers, "/%zu/display_title", index));
        satchel_buffer_free(&section);
    }
    satchel_buffer_free(&headers);
}

/** Shows how many entities of a place have to be fetched. */
static void show_plan(satchel_store *store, const char *when, const char *location) {
    satchel_buffer buffer, sections;
    must(satchel_catalogue_plan(store, satchel_text(location), NULL, &buffer));
    must(satchel_json_keys(satchel_bytes_of(buffer), satchel_text(""), &sections));
    size_t fresh = 0, expired = 0, missing = 0;
    for (size_t index = 0; index < count_of(&sections, ""); index++) {
        const char *name = string(&sections, "/%zu", index);
        fresh += count_of(&buffer, "/%s/fresh", name);
        expired += count_of(&buffer, "/%s/expired", name);
        missing += count_of(&buffer, "/%s/missing", name);
    }
    printf("  %-15s %zu fresh, %zu expired, %zu missing\n", when, fresh, expired, missing);
    satchel_buffer_free(&sections);
    satchel_buffer_free(&buffer);
}

int main(int count, char **arguments) {
    FILE *file = count == 2 ? fopen(arguments[1], "r") : NULL;
    if (!file) {
        fprintf(stderr, "Usage: guide places.jsonl\n");
        return 2;
    }
    today = (int64_t)time(NULL) * 1000;
    satchel_store *store = open_guide();
    deliver(store, file);
    must(satchel_store_close(store));
    fclose(file);
    store = open_guide();
    puts("\nOffline from here on.");
    for (int stop = 0; stop < 4; stop++) visit(store, journey[stop][0], journey[stop][1]);
    const char *porto = journey[0][1];
    puts("\nA day passes. What is there to fetch for Porto?");
    show_plan(store, "before", porto);
    today += 25 * 3600 * 1000;
    show_plan(store, "a day later", porto);
    visit(store, "Porto, still readable", porto);

    satchel_buffer buffer;
    must(satchel_catalogue_prune(store, NULL, &buffer));
    printf("\nPruned %ld expired entities, %ld bytes.\n", number(&buffer, "entities"), number(&buffer, "bytes"));
    show_plan(store, "after pruning", porto);
    satchel_buffer_free(&buffer);
    must(satchel_store_close(store));
    return remove(path);
}
