/* How the changes that observers receive differ. */
#include "values.h"

/** The changes that were received, in order. */
static void receive(void *context, satchel_bytes change) {
    json_t *value = json_loadb(change.data, change.size, 0, NULL);
    CHECK(value, "a change is no JSON: %.*s", (int)change.size, (const char *)change.data);
    json_array_append_new(context, value);
}

static void is(json_t *change, const char *wanted) {
    CHECK(number_at(change, "/revision") > 0, "a change has no revision");
    json_object_del(change, "revision");
    json_t *expected = json_loads(wanted, 0, NULL);
    char *found = dump(change);
    CHECK(expected && json_equal(change, expected), "%s instead of %s", found, wanted);
    free(found);
    json_decref(expected);
}

int main(void) {
    satchel_store *store;
    satchel_records *records;
    satchel_observer *observer;
    bool spooled;
    json_t *changes = json_array();
    must(satchel_store_open(":memory:", NULL, &store), "opening");
    must(satchel_records_open(store, text("{\"name\":\"state\"}"), NULL, &records), "opening records");
    must(satchel_store_observe(store, receive, changes, NULL, &observer), "observing");

    must(satchel_records_put(records, text("theme"), text("{}"), SATCHEL_ANY_REVISION, NULL), "putting");
    must(satchel_state_set(store, text("theme"), text("\"dark\""), false), "setting");
    must(satchel_state_set(store, text("list/theme"), text("1"), false), "setting");
    must(satchel_state_flush(store, &spooled), "flushing");
    must(satchel_catalogue_persist(store, text("{\"country_code\":\"fr\"}"),
                                   text("{\"section\":\"s\",\"content\":{\"x\":{\"_storage\":"
                                        "{\"entity_id\":\"s\",\"scope\":\"global\"}}}}"),
                                   NULL, NULL),
         "persisting");

    CHECK(!spooled, "state was spooled");
    CHECK(json_array_size(changes) == 3, "%zu changes", json_array_size(changes));
    is(at(changes, "/0"), "{\"subject\":\"records\",\"keys\":[\"state/theme\"],\"section_count\":0,"
                          "\"place\":null,\"own\":true}");
    is(at(changes, "/1"), "{\"subject\":\"state\",\"keys\":[\"value/theme\",\"value/list/theme\"],"
                          "\"section_count\":0,\"place\":null,\"own\":true}");
    is(at(changes, "/2"), "{\"subject\":\"catalogue\",\"keys\":[\"s\",\"s\"],\"section_count\":1,"
                          "\"place\":\"fr\",\"own\":true}");

    satchel_observer_free(observer);
    satchel_records_free(records);
    must(satchel_store_close(store), "closing");
    json_decref(changes);
    return close_checks();
}
