/* One half of crash.py. `crash_writer write STORE FIRST` persists generations FIRST, FIRST+1, … into places
 * in turn and writes each number to its output once the call has returned, until it is killed.
 * `crash_writer check STORE` opens the store, wants it sound and every section whole, and writes
 * "place generation" for each. */
#include <unistd.h>

#include "generations.h"

#define PLACES 5

static int write_until_killed(const char *path, long long generation) {
    satchel_store *store;
    must(satchel_store_open(path, NULL, &store), path);
    for (;; generation++) {
        char location[128], line[32];
        place_of((int)(generation % PLACES), location, sizeof location);
        char *section = section_of(generation);
        must(satchel_catalogue_persist(store, text(location), text(section), NULL, NULL), "persisting");
        free(section);
        int size = snprintf(line, sizeof line, "%lld\n", generation);
        if (write(STDOUT_FILENO, line, (size_t)size) != size) return 1;
        if (generation % 7 == 0) {
            satchel_prune_options options = SATCHEL_PRUNE_OPTIONS_INIT;
            options.unreferenced = true;
            must(satchel_catalogue_prune(store, &options, NULL), "pruning");
        }
    }
}

static int check(const char *path) {
    satchel_store *store;
    satchel_buffer out = SATCHEL_BUFFER_INIT;
    must(satchel_store_open(path, NULL, &store), path);
    must(satchel_store_check(store, &out), "checking");
    if (strcmp(out.data, "[]") != 0) {
        fprintf(stderr, "the store is not sound: %s\n", out.data);
        return 1;
    }
    satchel_buffer_free(&out);

    long long newest = 0, shared = 0, common = 0;
    for (int place = 0; place < PLACES; place++) {
        char location[128];
        place_of(place, location, sizeof location);
        must(satchel_catalogue_has_cached(store, text(location), NULL, &out), "asking for a place");
        bool own = out.data && strstr(out.data, "exact");
        satchel_buffer_free(&out);
        if (!own) continue;
        must(satchel_catalogue_load(store, text(location), text("town"), NULL, &out), "loading");
        json_t *loaded = take(&out);
        long long generation = whole_generation(loaded, &shared);
        json_decref(loaded);
        if (generation < 0) return 1;
        printf("%d %lld\n", place, generation);
        if (common != 0 && shared != common) {
            fprintf(stderr, "places see generations %lld and %lld of one shared entity\n", common, shared);
            return 1;
        }
        common = shared;
        if (generation > newest) newest = generation;
    }
    if (newest != common) {
        fprintf(stderr, "the newest section is of generation %lld, the shared entity of %lld\n", newest,
                common);
        return 1;
    }
    must(satchel_store_close(store), "closing");
    return 0;
}

int main(int count, char **arguments) {
    if (count == 4 && strcmp(arguments[1], "write") == 0)
        return write_until_killed(arguments[2], atoll(arguments[3]));
    if (count == 3 && strcmp(arguments[1], "check") == 0) return check(arguments[2]);
    return 2;
}
