/* Bad locations, sections and options in the calls of the catalogue. */
#include "bad_input.h"

static satchel_store *store;
static satchel_session *session;

static void locations(void) {
    static const struct {
        const char *what, *place, *location;
    } table[] = {
        {"no JSON", "line ", "Paris"},
        {"an array", NULL, "[1, 2]"},
        {"a text", NULL, "\"Paris\""},
        {"nothing in it", NULL, "{}"},
        {"only nulls", NULL, "{\"country_code\":null}"},
        {"no country", NULL, "{\"locality\":\"Paris\"}"},
        {"latitude 91", "latitude", "{\"latitude\":91,\"longitude\":0,\"country_code\":\"fr\"}"},
        {"longitude -180.1", "longitude", "{\"latitude\":0,\"longitude\":-180.1,\"country_code\":\"fr\"}"},
        {"latitude alone", "longitude", "{\"latitude\":1,\"country_code\":\"fr\"}"},
        {"longitude alone", "latitude", "{\"longitude\":1,\"country_code\":\"fr\"}"},
        {"latitude as text", "latitude", "{\"latitude\":\"1\",\"longitude\":1,\"country_code\":\"fr\"}"},
        {"a number as country", "country_code", "{\"country_code\":7}"},
        {"bad UTF-8", "line ", "{\"country_code\":\"fr\",\"locality\":\"Par\xFFis\"}"},
        {"a duplicate key", "country_code", "{\"country_code\":\"fr\",\"country_code\":\"de\"}"},
    };
    for (size_t index = 0; index < sizeof table / sizeof *table; index++) {
        const char *what = table[index].what, *place = table[index].place;
        satchel_bytes location = text(table[index].location);
        satchel_prune_options prune = SATCHEL_PRUNE_OPTIONS_INIT;
        prune.location = location;
        prune.unreferenced = true;
        char delivery[512];
        snprintf(delivery, sizeof delivery, "{\"location\":%s,\"sections\":[" FACTS "]}",
                 table[index].location);
        refused_out(what, SATCHEL_EINVALID, place, satchel_place_key(location, text("country"), &out));
        refused_out(what, SATCHEL_EINVALID, place, satchel_place_most_specific_level(location, &out));
        refused_out(what, SATCHEL_EINVALID, place,
                    satchel_catalogue_persist(store, location, text(FACTS), NULL, &out));
        refused_out(what, SATCHEL_EINVALID, place,
                    satchel_catalogue_deliver(store, text(delivery), NULL, &out));
        refused_out(what, SATCHEL_EINVALID, place, satchel_catalogue_sections(store, location, NULL, &out));
        refused_out(what, SATCHEL_EINVALID, place,
                    satchel_catalogue_load(store, location, text("facts"), NULL, &out));
        refused_out(what, SATCHEL_EINVALID, place, satchel_catalogue_plan(store, location, NULL, &out));
        refused_out(what, SATCHEL_EINVALID, place, satchel_catalogue_has_cached(store, location, NULL, &out));
        refused_out(what, SATCHEL_EINVALID, place,
                    satchel_catalogue_entity(store, text("facts:seine"), location, NULL, &out));
        refused(what, SATCHEL_EINVALID, place, satchel_catalogue_set_active_location(store, location));
        refused_out(what, SATCHEL_EINVALID, place, satchel_catalogue_prune(store, &prune, &out));
        refused(what, SATCHEL_EINVALID, place, satchel_session_show(session, location));
    }
    refused_out("no location", SATCHEL_EINVALID, NULL,
                satchel_catalogue_sections(store, text(NULL), NULL, &out));
}

static void sections(void) {
    static const struct {
        const char *what, *place, *section;
    } table[] = {
        {"no JSON", "line ", "facts"},
        {"an array", NULL, "[]"},
        {"no name", "section", "{\"content\":{}}"},
        {"a number as name", "section", "{\"section\":7,\"content\":{}}"},
        {"bad UTF-8", "line ", "{\"section\":\"facts\",\"content\":\"\xFF\"}"},
        {"a duplicate key", "line ", "{\"section\":\"facts\",\"content\":{\"a\":1,\"a\":2}}"},
        {"an unknown action", "explode", "{\"section\":\"facts\",\"action\":\"explode\",\"content\":{}}"},
        {"an action that is no text", "action", "{\"section\":\"facts\",\"action\":7,\"content\":{}}"},
        {"an unknown operation", "explode",
         "{\"section\":\"facts\",\"action\":\"edit\",\"config\":{\"operation\":\"explode\"},\"content\":{}}"},
        {"a path through a text", "title",
         "{\"section\":\"facts\",\"action\":\"edit\",\"content\":[1],"
         "\"config\":{\"operation\":\"append\",\"target_path\":\"title.items\"}}"},
        {"an empty match", "match",
         "{\"section\":\"facts\",\"action\":\"edit\",\"content\":null,"
         "\"config\":{\"operation\":\"remove\",\"target_path\":\"items\",\"match\":{}}}"},
        {"a patch whose test fails", "/title",
         "{\"section\":\"facts\",\"action\":\"edit\",\"config\":{\"operation\":\"patch\"},"
         "\"content\":[{\"op\":\"remove\",\"path\":\"/items\"},{\"op\":\"test\",\"path\":\"/"
         "title\",\"value\":0}]}"},
    };
    for (size_t index = 0; index < sizeof table / sizeof *table; index++) {
        const char *what = table[index].what, *place = table[index].place;
        satchel_bytes section = text(table[index].section);
        /* A good section before the bad one must not stay either. */
        char delivery[1024];
        snprintf(delivery, sizeof delivery,
                 "{\"location\":" PARIS ",\"sections\":[{\"section\":\"new\",\"content\":{\"a\":1}},%s]}",
                 table[index].section);
        refused_out(what, SATCHEL_EINVALID, place,
                    satchel_catalogue_persist(store, text(PARIS), section, NULL, &out));
        refused_out(what, SATCHEL_EINVALID, place,
                    satchel_catalogue_deliver(store, text(delivery), NULL, &out));
    }

    enum { depth = 600 };
    static char deep[2 * depth + 64];
    int size = sprintf(deep, "{\"section\":\"facts\",\"content\":");
    memset(deep + size, '[', depth);
    memset(deep + size + depth, ']', depth);
    deep[size + 2 * depth] = '}';
    refused_out("600 levels", SATCHEL_EINVALID, "line ",
                satchel_catalogue_persist(store, text(PARIS), text(deep), NULL, &out));
}

static void deliveries(void) {
    refused_out("no JSON", SATCHEL_EINVALID, "line ",
                satchel_catalogue_deliver(store, text("x"), NULL, &out));
    refused_out("an array", SATCHEL_EINVALID, NULL, satchel_catalogue_deliver(store, text("[]"), NULL, &out));
    refused_out("no location", SATCHEL_EINVALID, "location",
                satchel_catalogue_deliver(store, text("{\"sections\":[" FACTS "]}"), NULL, &out));
    refused_out("no sections", SATCHEL_EINVALID, "sections",
                satchel_catalogue_deliver(store, text("{\"location\":" PARIS "}"), NULL, &out));
    refused_out(
        "sections that are no array", SATCHEL_EINVALID, "sections",
        satchel_catalogue_deliver(store, text("{\"location\":" PARIS ",\"sections\":{}}"), NULL, &out));
}

static void distances(void) {
    static const double bad[][3] = {{91, 0, 10}, {0, -181, 10}, {0.0 / 0.0, 0, 10}};
    for (size_t index = 0; index < sizeof bad / sizeof *bad; index++)
        refused_out("a coordinate", SATCHEL_EINVALID, "itude",
                    satchel_catalogue_locate(store, bad[index][0], bad[index][1], bad[index][2], &out));
    refused_out("a negative distance", SATCHEL_EINVALID, "within",
                satchel_catalogue_locate(store, 0, 0, -1, &out));
    satchel_read_options read = SATCHEL_READ_OPTIONS_INIT;
    read.nearby = -1;
    satchel_search_options search = SATCHEL_SEARCH_OPTIONS_INIT;
    search.limit = -1;
    refused_out("a negative limit", SATCHEL_EINVALID, "limit",
                satchel_catalogue_search(store, text("word"), text(""), &search, &out));
    refused_out("a level", SATCHEL_EINVALID, "village",
                satchel_catalogue_contexts(store, text("village"), text(""), &out));
    refused_out("a location", SATCHEL_EINVALID, "location",
                satchel_catalogue_delete_context(store, text("{}"), &out));
    refused_out("a location", SATCHEL_EINVALID, "location",
                satchel_catalogue_search(store, text("word"), text("{}"), NULL, &out));
    refused_out("a text that is not UTF-8", SATCHEL_EINVALID, "text",
                satchel_catalogue_search(store, text("\xff"), text(""), NULL, &out));
    refused_out("a negative distance", SATCHEL_EINVALID, "nearby",
                satchel_catalogue_sections(store, text(PARIS), &read, &out));
    refused_out("a negative distance", SATCHEL_EINVALID, "nearby",
                satchel_catalogue_has_cached(store, text(PARIS), &read, &out));
}

static void options(void) {
    static const size_t sizes[] = {0, 1, SIZE_MAX, SIZE_MAX / 2};
    satchel_bytes place = text(PARIS), name = text("facts"), section = text(FACTS);
    for (size_t index = 0; index < sizeof sizes / sizeof *sizes; index++) {
        satchel_persist_options persist = SATCHEL_PERSIST_OPTIONS_INIT;
        satchel_read_options read = SATCHEL_READ_OPTIONS_INIT;
        satchel_prune_options prune = SATCHEL_PRUNE_OPTIONS_INIT;
        satchel_session_options shown = SATCHEL_SESSION_OPTIONS_INIT;
        persist.size = read.size = prune.size = shown.size = sizes[index];
        satchel_session *none = session;
        refused("a session", SATCHEL_EINVALID, "size",
                satchel_session_new(store, &shown, NULL, NULL, NULL, &none));
        CHECK(none == NULL, "a session in spite of its options");
        refused_out("persist", SATCHEL_EINVALID, "size",
                    satchel_catalogue_persist(store, place, section, &persist, &out));
        refused_out("deliver", SATCHEL_EINVALID, "size",
                    satchel_catalogue_deliver(
                        store, text("{\"location\":" PARIS ",\"sections\":[" FACTS "]}"), &persist, &out));
        refused_out("sections", SATCHEL_EINVALID, "size",
                    satchel_catalogue_sections(store, place, &read, &out));
        refused_out("load", SATCHEL_EINVALID, "size",
                    satchel_catalogue_load(store, place, name, &read, &out));
        refused_out("prune", SATCHEL_EINVALID, "size", satchel_catalogue_prune(store, &prune, &out));
    }
    satchel_persist_options persist = SATCHEL_PERSIST_OPTIONS_INIT;
    persist.reuse = (satchel_reuse)77;
    refused_out("an unknown reuse", SATCHEL_EINVALID, "77",
                satchel_catalogue_persist(store, place, section, &persist, &out));
    satchel_session_options shown = SATCHEL_SESSION_OPTIONS_INIT;
    satchel_session *none = session;
    shown.nearby = -1;
    refused("a negative distance", SATCHEL_EINVALID, "nearby",
            satchel_session_new(store, &shown, NULL, NULL, NULL, &none));
    satchel_prune_options prune = SATCHEL_PRUNE_OPTIONS_INIT;
    prune.scope = text("planet");
    refused_out("an unknown scope", SATCHEL_EINVALID, "planet", satchel_catalogue_prune(store, &prune, &out));
    prune.scope = (satchel_bytes){NULL, 5};
    refused_out("a scope without an address", SATCHEL_EINVALID, NULL,
                satchel_catalogue_prune(store, &prune, &out));
}

static void texts(void) {
    satchel_bytes place = text(PARIS), none = {NULL, 5}, endless = {"{}", SIZE_MAX}, bad = text("\xFF");
    refused_out("a section of bad UTF-8", SATCHEL_EINVALID, NULL,
                satchel_catalogue_load(store, place, bad, NULL, &out));
    refused_out("an id of bad UTF-8", SATCHEL_EINVALID, NULL,
                satchel_catalogue_entity(store, bad, place, NULL, &out));
    refused_out("no address", SATCHEL_EINVALID, NULL, satchel_catalogue_load(store, place, none, NULL, &out));
    refused_out("no address", SATCHEL_EINVALID, NULL, satchel_catalogue_sections(store, none, NULL, &out));
    refused_out("no address", SATCHEL_EINVALID, NULL,
                satchel_catalogue_persist(store, place, none, NULL, &out));
    refused_out("endless", SATCHEL_EINVALID, NULL,
                satchel_catalogue_persist(store, place, endless, NULL, &out));
    refused_out("endless", SATCHEL_EINVALID, NULL, satchel_catalogue_deliver(store, endless, NULL, &out));
    refused("no address", SATCHEL_EINVALID, NULL, satchel_catalogue_set_active_location(store, none));
    refused("an order that is no array", SATCHEL_EINVALID, NULL,
            satchel_session_set_order(session, text("{}")));
    refused("an order of numbers", SATCHEL_EINVALID, NULL, satchel_session_set_order(session, text("[1]")));
    refused_out("no JSON", SATCHEL_EINVALID, "line ", satchel_session_handle(session, text("x"), &out));
}

/** Extremes that are no errors: they are answered, and nothing traps. */
static void extremes(void) {
    satchel_prune_options prune = SATCHEL_PRUNE_OPTIONS_INIT;
    prune.contexts_unused_for_ms = INT64_MAX;
    prune.max_bytes = INT64_MAX;
    CHECK(satchel_catalogue_prune(store, &prune, NULL) == SATCHEL_OK, "%s", satchel_error_message());
    prune.contexts_unused_for_ms = INT64_MIN;
    prune.max_bytes = INT64_MIN;
    CHECK(satchel_catalogue_prune(store, &prune, NULL) == SATCHEL_OK, "%s", satchel_error_message());
    char *after = content_of(store);
    CHECK(strcmp(after, content_before) == 0, "pruning nothing took something");
    free(after);
}

/** A bad "_storage" is no failure: the object stays, and the receipt says where and why. */
static void bad_storage(void) {
    static const char *const table[] = {
        "{\"scope\":\"global\"}",
        "{\"entity_id\":7,\"scope\":\"global\"}",
        "{\"entity_id\":\"\",\"scope\":\"global\"}",
        "{\"entity_id\":\"a:b\"}",
        "{\"entity_id\":\"a:b\",\"scope\":\"planet\"}",
        "{\"entity_id\":\"a:b\",\"scope\":7}",
        "{\"entity_id\":\"a:b\",\"scope\":\"global\",\"ttl_hours\":-1}",
        "{\"entity_id\":\"a:b\",\"scope\":\"global\",\"ttl_hours\":\"1\"}",
        "{\"entity_id\":\"a:b\",\"scope\":\"coordinate\"}",
        "[]",
        "\"global\"",
        "7",
    };
    for (size_t index = 0; index < sizeof table / sizeof *table; index++) {
        satchel_store *other;
        satchel_buffer given = SATCHEL_BUFFER_INIT;
        char section[512];
        must(satchel_store_open(":memory:", NULL, &other), "opening");
        snprintf(section, sizeof section,
                 "{\"section\":\"facts\",\"content\":{\"items\":[{\"name\":\"Seine\",\"_storage\":%s}]}}",
                 table[index]);
        satchel_status status = satchel_catalogue_persist(other, text(PARIS), text(section), NULL, &given);
        CHECK(status == SATCHEL_OK, "%s: %s", table[index], satchel_error_message());
        json_t *receipt = take(&given);
        json_t *problem = json_array_get(json_object_get(receipt, "problems"), 0);
        const char *pointer = json_string_value(json_object_get(problem, "pointer"));
        const char *reason = json_string_value(json_object_get(problem, "reason"));
        CHECK(pointer && strstr(pointer, "/items/0") != NULL, "%s: named %s", table[index],
              pointer ? pointer : "nothing");
        CHECK(reason && reason[0] != '\0', "%s: no reason", table[index]);
        CHECK(json_integer_value(json_object_get(receipt, "inline")) == 1, "%s: not inline", table[index]);
        must(satchel_catalogue_load(other, text(PARIS), text("facts"), NULL, &given), "loading");
        json_t *loaded = take(&given);
        json_t *items = json_object_get(json_object_get(loaded, "content"), "items");
        const char *name = json_string_value(json_object_get(json_array_get(items, 0), "name"));
        CHECK(name && strcmp(name, "Seine") == 0, "%s: the object is lost", table[index]);
        json_decref(receipt);
        json_decref(loaded);
        satchel_store_close(other);
    }
}

static void regions(void) {
    static const struct {
        const char *what, *place, *definition;
    } table[] = {
        {"no JSON", "line ", "Paris"},
        {"an array", NULL, "[]"},
        {"no locations", "/locations", "{}"},
        {"nowhere", "/locations", "{\"locations\":[]}"},
        {"a location without a key", "/locations/0", "{\"locations\":[{\"locality\":\"Paris\"}]}"},
        {"a radius around a country", "/locations/0/within",
         "{\"locations\":[{\"location\":{\"country_code\":\"fr\"},\"within\":5}]}"},
        {"a level that the location lacks", "/locations/0/level",
         "{\"locations\":[{\"location\":{\"country_code\":\"fr\"},\"level\":\"locality\"}]}"},
        {"an unknown member", "/section", "{\"locations\":[{\"country_code\":\"fr\"}],\"section\":\"a\"}"},
        {"no sections", "/sections", "{\"locations\":[{\"country_code\":\"fr\"}],\"sections\":[]}"},
        {"a negative limit", "/max_bytes", "{\"locations\":[{\"country_code\":\"fr\"}],\"max_bytes\":-1}"},
        {"bad UTF-8", "line ", "{\"locations\":[{\"country_code\":\"\xFF\"}]}"},
    };
    const char *sound = "{\"locations\":[{\"country_code\":\"fr\"}]}";
    for (size_t index = 0; index < sizeof table / sizeof *table; index++)
        refused(table[index].what, SATCHEL_EINVALID, table[index].place,
                satchel_regions_create(store, text("trip"), text(table[index].definition)));
    refused("no name", SATCHEL_EINVALID, "name", satchel_regions_create(store, text(""), text(sound)));
    refused("a name with a line end", SATCHEL_EINVALID, "name",
            satchel_regions_create(store, text("a\nb"), text(sound)));
    refused("an unknown region", SATCHEL_ENOTFOUND, "trip", satchel_regions_define(store, text("trip"), text(sound)));
    refused_out("an unknown region", SATCHEL_ENOTFOUND, "trip", satchel_regions_get(store, text("trip"), &out));
    refused_out("an unknown region", SATCHEL_ENOTFOUND, "trip", satchel_regions_delete(store, text("trip"), &out));
    refused_out("an unknown region", SATCHEL_ENOTFOUND, "trip",
                satchel_regions_export(store, text("trip"), "trip.region", &out));
    refused_out("no path", SATCHEL_EINVALID, "path", satchel_regions_import(store, NULL, &out));
    refused_out("an absent file", SATCHEL_ENOTFOUND, "absent.region",
                satchel_regions_import(store, "absent.region", &out));
    refused_out("no file", SATCHEL_EINVALID, "path", satchel_regions_import(store, ":memory:", &out));
    must(satchel_regions_create(store, text("trip"), text(sound)), "creating a region");
    refused("another definition", SATCHEL_ECONSTRAINT, "trip",
            satchel_regions_create(store, text("trip"), text("{\"locations\":[{\"country_code\":\"de\"}]}")));
    refused_out("no path", SATCHEL_EINVALID, "path", satchel_regions_export(store, text("trip"), NULL, &out));
    must(satchel_regions_delete(store, text("trip"), NULL), "deleting a region");
}

int main(void) {
    store = open_watched();
    must(satchel_session_new(store, NULL, NULL, NULL, NULL, &session), "beginning a session");
    must(satchel_session_show(session, text(PARIS)), "showing a location");
    locations();
    sections();
    deliveries();
    distances();
    options();
    texts();
    extremes();
    regions();
    satchel_session_free(session);
    close_watched();
    bad_storage();
    return close_checks();
}
