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

static const char *const sights[2] = {"ribeira", "bridge"};

/** Stands for a download: an HTTP client would append what it receives. */
static satchel_remote_result download(void *context, satchel_bytes request, satchel_asset_writer *writer) {
    satchel_buffer url;
    (void)context;
    must(satchel_json_get_text(request, satchel_text("url"), &url));
    for (int part = 0; part < 1000; part++) {
        if (satchel_asset_writer_append(writer, satchel_bytes_of(url)) != SATCHEL_OK) return SATCHEL_REMOTE_FAILED;
    }
    satchel_buffer_free(&url);
    return SATCHEL_REMOTE_OK;
}

/** Stores what a backend says of two sights, and fetches their pictures for the way. */
static void keep_pictures(satchel_store *store, const char *location) {
    char content[2][300], section[1000], pictures[2][100], all[300];
    satchel_buffer report;
    for (int index = 0; index < 2; index++) {
        snprintf(pictures[index], sizeof pictures[index],
                 "{\"_asset\":{\"url\":\"https://guide.example/%s.jpg\",\"type\":\"image/jpeg\"}}", sights[index]);
        snprintf(content[index], sizeof content[index],
                 "\"%s\":{\"picture\":%s,\"_storage\":{\"entity_id\":\"sights:%s\",\"scope\":\"locality\","
                 "\"ttl_hours\":1000}}", sights[index], pictures[index], sights[index]);
    }
    snprintf(section, sizeof section, "{\"section\":\"sights\",\"display_title\":\"Sights\",\"content\":{%s,%s}}",
             content[0], content[1]);
    snprintf(all, sizeof all, "[%s,%s]", pictures[0], pictures[1]);
    must(satchel_catalogue_persist(store, satchel_text(location), satchel_text(section), NULL, NULL));
    must(satchel_assets_fetch(store, satchel_text(all), download, NULL, &report));
    printf("Fetched %ld pictures, %ld bytes.\n", number(&report, "fetched"), number(&report, "fetched_bytes"));
    satchel_buffer_free(&report);
}

/** Makes a thumbnail, which stands for a smaller picture: every hundredth byte. */
static bool thumbnail(void *context, satchel_asset_reader *reader, satchel_asset_writer *writer) {
    char byte;
    size_t read;
    (void)context;
    for (int64_t offset = 0; satchel_asset_reader_read(reader, offset, &byte, 1, &read) == SATCHEL_OK; offset += 100) {
        if (read == 0) return true;
        if (satchel_asset_writer_append(writer, (satchel_bytes){&byte, 1}) != SATCHEL_OK) return false;
    }
    return false;
}

/** Shows the pictures of the sights, each with a thumbnail that is made once. */
static void show_pictures(satchel_store *store, const char *location) {
    satchel_buffer section, picture, info, bytes, small;
    must(satchel_catalogue_load(store, satchel_text(location), satchel_text("sights"), NULL, &section));
    for (int index = 0; index < 2; index++) {
        struct json_path place = path_of("content.%s.picture", sights[index]);
        must(satchel_json_value_at(satchel_bytes_of(section), satchel_text(place.text), &picture));
        must(satchel_assets_info(store, satchel_bytes_of(picture), &info));
        if (strcmp(string(&info, "state"), "here") == 0) {
            must(satchel_assets_read(store, satchel_bytes_of(picture), 0, INT64_MAX, &bytes));
            must(satchel_assets_variant(
                store, satchel_bytes_of(picture), satchel_text("thumb"), thumbnail, NULL, &small));
            printf("  %-7s  %zu bytes, its thumbnail %ld\n", sights[index], bytes.size, number(&small, "_asset.size"));
            satchel_buffer_free(&bytes);
            satchel_buffer_free(&small);
        } else {
            printf("  %-7s  %s\n", sights[index], string(&info, "state"));
        }
        satchel_buffer_free(&info);
        satchel_buffer_free(&picture);
    }
    satchel_buffer_free(&section);
}

int main(int count, char **arguments) {
    FILE *file = count == 2 ? fopen(arguments[1], "r") : NULL;
    if (!file) {
        fprintf(stderr, "Usage: guide places.jsonl\n");
        return 2;
    }
    today = (int64_t)time(NULL) * 1000;
    satchel_store *store = open_guide();
    const char *porto = journey[0][1];
    deliver(store, file);
    keep_pictures(store, porto);
    must(satchel_store_close(store));
    fclose(file);
    store = open_guide();
    puts("\nOffline from here on.");
    for (int stop = 0; stop < 4; stop++) visit(store, journey[stop][0], journey[stop][1]);
    puts("\nPictures of Porto:");
    show_pictures(store, porto);
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
    must(satchel_assets_prune(store, 35000, &buffer));
    printf("Pruned to 35000 bytes of pictures: %ld removed, %ld bytes are left.\n", number(&buffer, "removed"),
           number(&buffer, "bytes"));
    satchel_buffer_free(&buffer);
    show_pictures(store, porto);
    must(satchel_store_close(store));
    return remove(path);
}
