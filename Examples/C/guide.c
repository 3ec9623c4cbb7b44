/* A travel guide that works offline: the screen of a place, and a trip that is downloaded with its pictures.
 *
 * Start the backend in another terminal; the guide asks you to change one of its files, and to stop it.
 *     python3 Examples/Backend/backend.py
 *     cc -D_POSIX_C_SOURCE=200809L Examples/C/guide.c -o guide $(pkg-config --cflags --libs satchel)
 *     ./guide http://127.0.0.1:8000/places */
#include "example.h"
#include <pthread.h>

#define PLACE(name, area, country) \
    "{\"locality\": \"" name "\", \"admin_area\": \"" area "\", \"country_code\": \"" country "\"}"
#define PORTO PLACE("Porto", "Porto", "PT")
#define LISBON PLACE("Lisbon", "Lisbon", "PT")
#define SINTRA PLACE("Sintra", "Lisbon", "PT")

static const char *const tabs[] = {"sights", "places", "here"};
static const char *const trip[] = {PORTO, LISBON, SINTRA};
enum { tab_count = 3, trip_count = 3, hour = 3600 * 1000 };
static int64_t today; /* in Unix milliseconds; the store asks for it, so that a day can pass here */
static int64_t the_time(void *context) { return (void)context, today; }

/** The screen of a place: draws what its session has, when the session says that it has changed. */
struct screen {
    satchel_session *session;
    char drawn[tab_count][200];
    pthread_mutex_t lock;
    pthread_cond_t change;
    bool has_changed;
};

/** Wakes the program's thread, which draws. Called on any thread. */
static void on_event(void *context, satchel_bytes event) {
    struct screen *screen = context;
    size_t count; /* of the sections in the event "refresh"; others have no plan */
    if (satchel_json_count(event, satchel_text("plan"), &count) == SATCHEL_OK)
        printf("  stored sections: %zu\n", count);
    pthread_mutex_lock(&screen->lock);
    screen->has_changed = true;
    pthread_cond_signal(&screen->change);
    pthread_mutex_unlock(&screen->lock);
}

/** Draws a tab that has become different; it is empty until there is content, or none can be had. */
static bool draw(struct screen *screen, int tab, const satchel_buffer *state) {
    char line[200] = "", age[60] = "", *drawn = screen->drawn[tab];
    const char *now = string(state, "/sections/%d/state", tab);
    if (*string(state, "/sections/%d/error", tab))
        snprintf(age, sizeof age, ", %ld hours old, %zu expired",
                 (long)(today - number(state, "/sections/%d/fetched_at", tab)) / hour,
                 count_of(state, "/sections/%d/expired", tab));
    if (strcmp(now, "loaded") == 0)
        snprintf(line, sizeof line, "%s (%ld)%s", string(state, "/sections/%d/display_title", tab),
                 number(state, "/sections/%d/entity_count", tab), age);
    else if (strcmp(now, "failed") == 0 || *drawn)
        snprintf(line, sizeof line, "%s", now);
    if (strcmp(line, drawn) != 0) printf("  %-7s %s\n", tabs[tab], strcpy(drawn, line));
    return *drawn;
}

/** Draws until every tab has something, and the backend has answered. */
static void draw_changes(struct screen *screen) {
    for (bool is_done = false; !is_done;) {
        satchel_buffer state;
        pthread_mutex_lock(&screen->lock);
        while (!screen->has_changed) pthread_cond_wait(&screen->change, &screen->lock);
        screen->has_changed = false;
        pthread_mutex_unlock(&screen->lock);
        must(satchel_session_state(screen->session, &state));
        is_done = !is_true(&state, "refreshing");
        for (int tab = 0; tab < tab_count; tab++) is_done = draw(screen, tab, &state) && is_done;
        if (is_done && *string(&state, "error")) printf("  %s\n", string(&state, "error"));
        satchel_buffer_free(&state);
    }
}

/** Shows what is stored of a place at once, and what the backend has when it comes. */
static void open_screen(
    struct screen *screen, satchel_store *store, satchel_source *backend, const char *place) {
    satchel_session_options options = SATCHEL_SESSION_OPTIONS_INIT;
    *screen = (struct screen){.lock = PTHREAD_MUTEX_INITIALIZER, .change = PTHREAD_COND_INITIALIZER};
    options.source = backend;
    must(satchel_session_new(store, &options, on_event, screen, NULL, &screen->session));
    must(satchel_session_set_order(screen->session, satchel_text("[\"sights\", \"places\", \"here\"]")));
    must(satchel_session_show(screen->session, satchel_text(place)));
    for (int tab = 0; tab < tab_count; tab++)
        must(satchel_session_load(screen->session, satchel_text(tabs[tab])));
    draw_changes(screen);
}

/** Asks the backend for what has changed. What is on the screen stays meanwhile. */
static void pull_down(struct screen *screen) {
    must(satchel_session_refresh(screen->session));
    draw_changes(screen);
}

static void ask(const char *request) {
    printf("\n%s, and press Enter.\n", request);
    fflush(stdout);
    for (int key = getchar(); key != '\n' && key != EOF;) key = getchar();
}

/** Gets what is missing or old; by force, asks also whether what is fresh has changed. */
static void refresh(satchel_store *store, satchel_source *backend, const char *place, bool force) {
    satchel_refresh_options options = SATCHEL_REFRESH_OPTIONS_INIT;
    satchel_buffer report;
    options.force = force;
    must(satchel_catalogue_refresh(
        store, satchel_text(place), (satchel_bytes){NULL, 0}, backend, &options, &report));
    if (count_of(&report, "skipped") > 0) printf("  not asked: %s\n", string(&report, "/skipped/0/reason"));
    else printf("  %zu new sections, %zu not modified (304)\n", count_of(&report, "refreshed"),
                count_of(&report, "unchanged"));
    satchel_buffer_free(&report);
}

static bool show_progress(void *context, satchel_bytes progress) {
    int64_t done = 0, items = 0;
    (void)context;
    satchel_json_get_int64(progress, satchel_text("items_done"), &done);
    satchel_json_get_int64(progress, satchel_text("items"), &items);
    printf("\r  %d of %d", (int)done, (int)items);
    fflush(stdout);
    return true; /* false cancels; what has arrived stays */
}

/** Downloads the trip with its pictures. */
static void download_trip(satchel_store *store, satchel_source *backend) {
    satchel_region_options options = SATCHEL_REGION_OPTIONS_INIT;
    must(satchel_regions_create(
        store, satchel_text("Portugal"), satchel_text("{\"locations\": [" PORTO "," LISBON "," SINTRA "]}")));
    options.progress = show_progress;
    must(satchel_regions_download(store, satchel_text("Portugal"), backend, &options, NULL));
    puts("");
}

/** Shows what is here of the trip, and reads the bytes of its pictures. */
static void show_trip(satchel_store *store) {
    satchel_buffer region, sights, picture, bytes;
    must(satchel_regions_get(store, satchel_text("Portugal"), &region));
    printf("  %s: %ld sections, %ld entries; pictures of", string(&region, "state"),
           number(&region, "/size/sections"), number(&region, "/size/entities"));
    satchel_buffer_free(&region);
    for (int place = 0; place < trip_count; place++) {
        must(satchel_catalogue_load(store, satchel_text(trip[place]), satchel_text("sights"), NULL, &sights));
        for (size_t index = 0; sights.data && index < count_of(&sights, "/content/items"); index++) {
            struct json_path path = path_of("/content/items/%zu/picture", index);
            must(satchel_json_value_at(satchel_bytes_of(sights), satchel_text(path.text), &picture));
            must(satchel_assets_read(store, satchel_bytes_of(picture), 0, INT64_MAX, &bytes));
            printf(" %zu", bytes.size);
            satchel_buffer_free(&picture);
            satchel_buffer_free(&bytes);
        }
        satchel_buffer_free(&sights);
    }
    puts(" bytes");
}

static void make_room(satchel_store *store) {
    satchel_prune_options options = SATCHEL_PRUNE_OPTIONS_INIT;
    satchel_buffer report;
    options.max_bytes = 1000;
    must(satchel_catalogue_prune(store, &options, &report));
    must(satchel_assets_prune(store, 1000, NULL));
    printf("\nPruned to 1000 bytes: %ld place is gone, nothing of the trip:\n", number(&report, "contexts"));
    satchel_buffer_free(&report);
}

static void delete_trip(satchel_store *store) {
    satchel_buffer gone;
    must(satchel_catalogue_set_active_location(store, (satchel_bytes){NULL, 0})); /* no screen shows it */
    must(satchel_regions_delete(store, satchel_text("Portugal"), &gone));
    printf("  %ld sections, %ld pictures of %ld bytes\n", number(&gone, "sections"), number(&gone, "assets"),
           number(&gone, "asset_bytes"));
    satchel_buffer_free(&gone);
}

int main(int count, char **arguments) {
    satchel_open_options options = SATCHEL_OPEN_OPTIONS_INIT;
    satchel_store *store;
    satchel_source *backend;
    struct screen screen;
    if (count != 2) return fputs("Usage: guide URL, of the backend\n", stderr), 2;
    today = (int64_t)time(NULL) * 1000;
    options.clock = the_time;
    must(satchel_store_open("guide.satchel", &options, &store));
    /* A private address, as "localhost", has to be that of the base URL, or allowed by "allow_private". */
    must(satchel_source_http(satchel_text(arguments[1]), (satchel_bytes){NULL, 0}, &backend));
    puts("Porto is opened for the first time:");
    open_screen(&screen, store, backend, PORTO);
    satchel_session_free(screen.session);
    puts("\nPorto is opened again:");
    open_screen(&screen, store, backend, PORTO);
    puts("\nIs there anything new? What is fresh is asked for by force only:");
    refresh(store, backend, PORTO, false);
    refresh(store, backend, PORTO, true);
    ask("Change the title \"Sights of Porto\" in places/porto.json of the backend");
    pull_down(&screen);
    puts("\nSingapore is stored, and is not of the trip:");
    refresh(store, backend, PLACE("Singapore", "Central Singapore", "SG"), false);
    puts("\nThe trip is downloaded:");
    download_trip(store, backend);
    show_trip(store);
    ask("Stop the backend");
    puts("\nA day passes. The screen is pulled down:");
    today += 25 * hour;
    pull_down(&screen);
    satchel_session_free(screen.session);
    puts("\nBraga, which is not of the trip, is opened:");
    open_screen(&screen, store, backend, PLACE("Braga", "Braga", "PT"));
    satchel_session_free(screen.session);
    puts("\nThe trip is there without the backend, some of it expired:");
    show_trip(store);
    make_room(store);
    show_trip(store);
    puts("\nThe trip is deleted, which frees:");
    delete_trip(store);
    satchel_source_free(backend);
    must(satchel_store_close(store));
    return remove("guide.satchel");
}
