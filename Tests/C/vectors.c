/* The vectors of the contract, through the C door. Usage: vectors FIXTURES */
#include "check.h"

/** Whether a buffer holds what a vector expects, where null is "none"; frees the buffer. */
static void expect_text(const char *what, satchel_status status, satchel_buffer *out,
                        const json_t *expected) {
    const char *wanted = json_string_value(expected);
    CHECK(status == SATCHEL_OK, "%s: %s: %s", what, satchel_status_name(status), satchel_error_message());
    if (wanted) {
        CHECK(out->data && out->size == strlen(wanted) && memcmp(out->data, wanted, out->size) == 0,
              "%s: expected \"%s\", got \"%s\"", what, wanted, out->data ? out->data : "none");
    } else {
        CHECK(out->data == NULL && out->size == 0, "%s: expected none, got \"%s\"", what, out->data);
    }
    satchel_buffer_free(out);
}

static satchel_bytes string_at(const json_t *row, size_t index) {
    return text(json_string_value(json_array_get(row, index)));
}

static void components(const json_t *vectors) {
    size_t index;
    json_t *row;
    satchel_buffer out = SATCHEL_BUFFER_INIT;
    json_array_foreach(json_object_get(vectors, "normalize"), index, row) {
        satchel_status status = satchel_place_normalize(string_at(row, 0), &out);
        expect_text("normalize", status, &out, json_array_get(row, 1));
    }
    json_array_foreach(json_object_get(vectors, "entity_id"), index, row) {
        satchel_status status = satchel_place_entity_id(string_at(row, 0), string_at(row, 1), &out);
        expect_text("entity_id", status, &out, json_array_get(row, 2));
    }
    json_array_foreach(json_object_get(vectors, "section_of"), index, row) {
        satchel_status status = satchel_place_section_of(string_at(row, 0), &out);
        expect_text("section_of", status, &out, json_array_get(row, 1));
    }
    json_array_foreach(json_object_get(vectors, "level_of_scope"), index, row) {
        satchel_status status = satchel_place_level_of_scope(string_at(row, 0), &out);
        expect_text("level_of_scope", status, &out, json_array_get(row, 1));
    }
}

static void locations(const json_t *vectors) {
    size_t index;
    json_t *row;
    satchel_buffer out = SATCHEL_BUFFER_INIT;
    json_array_foreach(json_object_get(vectors, "locations"), index, row) {
        char *location = dump(json_object_get(row, "location"));
        satchel_status status = satchel_place_most_specific_level(text(location), &out);
        expect_text(location, status, &out, json_object_get(row, "most_specific"));
        const char *level;
        json_t *key;
        json_object_foreach(json_object_get(row, "keys"), level, key) {
            status = satchel_place_key(text(location), text(level), &out);
            expect_text(location, status, &out, key);
        }
        free(location);
    }
    json_array_foreach(json_object_get(vectors, "invalid_locations"), index, row) {
        char *location = dump(row);
        CHECK(satchel_place_key(text(location), text("country"), &out) == SATCHEL_EINVALID, "%s", location);
        CHECK(satchel_place_most_specific_level(text(location), &out) == SATCHEL_EINVALID, "%s", location);
        CHECK(satchel_error_message()[0] != '\0', "%s: no message", location);
        free(location);
    }
}

/** Two places whose keys read alike: each keeps its own copy under one entity id. */
static void same_text_other_place(const json_t *vectors) {
    size_t index;
    json_t *row;
    json_array_foreach(json_object_get(vectors, "distinct_places_same_text"), index, row) {
        satchel_store *store;
        satchel_buffer out = SATCHEL_BUFFER_INIT;
        must(satchel_store_open(":memory:", NULL, &store), "opening a store in memory");
        for (size_t place = 0; place < 2; place++) {
            char *location = dump(json_array_get(row, place));
            satchel_status status = satchel_place_key(text(location), text("locality"), &out);
            expect_text(location, status, &out, json_array_get(row, 2));
            json_t *section =
                json_pack("{s:s, s:{s:{s:i, s:{s:s, s:s}}}}", "section", "dishes", "content", "Pie", "place",
                          (int)place, "_storage", "entity_id", "dishes:pie", "scope", "locality");
            char *sent = dump(section);
            must(satchel_catalogue_persist(store, text(location), text(sent), NULL, NULL), "persisting");
            free(sent);
            json_decref(section);
            free(location);
        }
        for (size_t place = 0; place < 2; place++) {
            char *location = dump(json_array_get(row, place));
            must(satchel_catalogue_load(store, text(location), text("dishes"), NULL, &out), "loading");
            json_t *loaded = take(&out);
            json_t *pie = json_object_get(json_object_get(loaded, "content"), "Pie");
            json_t *seen = json_object_get(pie, "place");
            CHECK(json_is_integer(seen) && json_integer_value(seen) == (json_int_t)place,
                  "%s sees another place's copy", location);
            json_decref(loaded);
            free(location);
        }
        satchel_store_close(store);
    }
}

static void edits(const json_t *vectors) {
    size_t index;
    json_t *row;
    json_array_foreach(json_object_get(vectors, "cases"), index, row) {
        const char *name = json_string_value(json_object_get(row, "name"));
        char *existing = dump(json_object_get(row, "existing"));
        char *value = dump(json_object_get(row, "new"));
        char *config = dump(json_object_get(row, "config"));
        satchel_buffer out = SATCHEL_BUFFER_INIT;
        satchel_status status = satchel_json_edit(text(existing), text(value), text(config), &out);
        if (json_is_true(json_object_get(row, "error"))) {
            CHECK(status == SATCHEL_EINVALID, "%s: %s", name, satchel_status_name(status));
            CHECK(out.data == NULL && satchel_error_message()[0] != '\0', "%s: a result, or no message",
                  name);
        } else if (CHECK(status == SATCHEL_OK, "%s: %s", name, satchel_error_message())) {
            json_t *result = take(&out);
            CHECK(json_equal(result, json_object_get(row, "result")), "%s: another result", name);
            json_decref(result);
        }
        free(existing);
        free(value);
        free(config);
    }
}

int main(int count, char **arguments) {
    if (count != 2) return 2;
    json_t *places = fixture(arguments[1], "vectors/places.json");
    components(places);
    locations(places);
    same_text_other_place(places);
    json_decref(places);
    json_t *cases = fixture(arguments[1], "vectors/edits.json");
    edits(cases);
    json_decref(cases);
    return close_checks();
}
