/* A travel guide that works offline: takes in what a backend sent for some hundred towns, goes offline, and
 * shows what a traveller sees. jansson reads the JSON that comes back. Usage: guide places.jsonl */
#include <jansson.h>
#include <satchel.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

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

/** Ends the program when a call failed, and says why. */
static void must(satchel_status status) {
    if (status == SATCHEL_OK) return;
    fprintf(stderr, "%s: %s\n", satchel_status_name(status), satchel_error_message());
    exit(1);
}

static satchel_bytes text(const char *string) { return (satchel_bytes){string, strlen(string)}; }

/** Reads what the library answered, and gives its memory back. */
static json_t *answer(satchel_buffer *buffer) {
    json_t *value = json_loadb(buffer->data, buffer->size, JSON_DECODE_ANY, NULL);
    satchel_buffer_free(buffer);
    return value;
}

static long number(const json_t *object, const char *key) {
    return (long)json_integer_value(json_object_get(object, key));
}

static satchel_store *open_guide(void) {
    satchel_store *store;
    satchel_open_options options = SATCHEL_OPEN_OPTIONS_INIT;
    options.clock = the_time;
    options.clock_context = &today;
    must(satchel_store_open(path, &options, &store));
    return store;
}

/** Takes in a file of deliveries, one a line. */
static void take_in(satchel_store *store, FILE *file) {
    char *line = NULL;
    size_t room = 0, lines = 0, index;
    long shared = 0;
    double start = milliseconds();
    for (ssize_t size; (size = getline(&line, &room, file)) > 0; lines++) {
        satchel_buffer buffer;
        must(satchel_catalogue_deliver(store, (satchel_bytes){line, (size_t)size}, NULL, &buffer));
        json_t *receipts = answer(&buffer), *receipt;
        json_array_foreach(receipts, index, receipt) shared += number(receipt, "shared_bytes");
        json_decref(receipts);
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
    satchel_buffer buffer;
    double start = milliseconds();
    must(satchel_catalogue_sections(store, text(location), &options, &buffer));
    printf("\n%s: headers in %.3f ms\n", title, milliseconds() - start);
    size_t index;
    json_t *headers = answer(&buffer), *header;
    json_array_foreach(headers, index, header) {
        const char *name = json_string_value(json_object_get(header, "section"));
        start = milliseconds();
        must(satchel_catalogue_load(store, text(location), text(name), &options, &buffer));
        double took = milliseconds() - start;
        json_t *section = answer(&buffer);
        printf("  %.3f ms  %-7s  entities %2ld, expired %zu, by %-10s  %s\n", took, name,
               number(header, "entity_count"), json_array_size(json_object_get(section, "expired")),
               json_string_value(json_object_get(section, "level")),
               json_string_value(json_object_get(header, "display_title")));
        json_decref(section);
    }
    json_decref(headers);
}

/** What there is to fetch for a place, counted over its sections. */
static void show_plan(satchel_store *store, const char *when, const char *location) {
    satchel_buffer buffer;
    must(satchel_catalogue_plan(store, text(location), &buffer));
    json_t *plan = answer(&buffer), *section;
    const char *name;
    size_t fresh = 0, expired = 0, missing = 0;
    json_object_foreach(plan, name, section) {
        fresh += json_array_size(json_object_get(section, "fresh"));
        expired += json_array_size(json_object_get(section, "expired"));
        missing += json_array_size(json_object_get(section, "missing"));
    }
    printf("  %-15s %zu fresh, %zu expired, %zu missing\n", when, fresh, expired, missing);
    json_decref(plan);
}

int main(int count, char **arguments) {
    FILE *file = count == 2 ? fopen(arguments[1], "r") : NULL;
    if (!file) {
        fprintf(stderr, "Usage: guide places.jsonl\n");
        return 2;
    }
    today = (int64_t)time(NULL) * 1000;
    satchel_store *store = open_guide();
    take_in(store, file);
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
    json_t *receipt = answer(&buffer);
    printf("\nPruned %ld expired entities, %ld bytes.\n", number(receipt, "entities"),
           number(receipt, "bytes"));
    show_plan(store, "after pruning", porto);
    json_decref(receipt);
    must(satchel_store_close(store));
    return remove(path);
}
