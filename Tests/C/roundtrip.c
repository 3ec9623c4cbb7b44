/* Every delivery of places.jsonl is loaded as it was sent, less "_storage": at once, and after reopening.
 * Usage: roundtrip FIXTURES FOLDER */
#include "check.h"

#define DELIVERIES 1000

/** A value without "_storage" anywhere in it; the order of keys is kept. */
static json_t *without_storage(const json_t *value) {
    if (json_is_object(value)) {
        json_t *copy = json_object();
        const char *key;
        json_t *child;
        json_object_foreach((json_t *)value, key, child) {
            if (strcmp(key, "_storage") != 0) json_object_set_new(copy, key, without_storage(child));
        }
        return copy;
    }
    if (json_is_array(value)) {
        json_t *copy = json_array();
        size_t index;
        json_t *child;
        json_array_foreach(value, index, child) json_array_append_new(copy, without_storage(child));
        return copy;
    }
    return json_deep_copy(value);
}

/** The numbers of a delivery's receipts agree with what it holds. */
static void compare_receipts(const json_t *delivery, const json_t *receipts, int line) {
    json_t *sections = json_object_get(delivery, "sections");
    CHECK(json_array_size(receipts) == json_array_size(sections), "line %d: a receipt for each section",
          line);
    size_t index;
    json_t *receipt;
    json_array_foreach(receipts, index, receipt) {
        const char *sent = json_string_value(json_object_get(json_array_get(sections, index), "section"));
        const char *named = json_string_value(json_object_get(receipt, "section"));
        CHECK(sent && named && strcmp(sent, named) == 0, "line %d: receipt %zu names its section", line,
              index);
        CHECK(json_array_size(json_object_get(receipt, "problems")) == 0, "line %d: no problems", line);
        json_int_t kept = json_integer_value(json_object_get(receipt, "saved"))
                          + json_integer_value(json_object_get(receipt, "updated"))
                          + json_integer_value(json_object_get(receipt, "reused"));
        CHECK(kept > 0, "line %d: section %s kept an entity", line, sent);
    }
}

static void compare_sections(satchel_store *store, const json_t *delivery, int line) {
    char *location = dump(json_object_get(delivery, "location"));
    size_t index;
    json_t *section;
    json_array_foreach(json_object_get(delivery, "sections"), index, section) {
        const char *name = json_string_value(json_object_get(section, "section"));
        satchel_buffer out = SATCHEL_BUFFER_INIT;
        satchel_status status = satchel_catalogue_load(store, text(location), text(name), NULL, &out);
        CHECK(status == SATCHEL_OK && out.data, "line %d, %s: %s", line, name, satchel_error_message());
        json_t *loaded = take(&out);
        json_t *content = json_object_get(loaded, "content");
        json_t *expected = without_storage(json_object_get(section, "content"));
        if (CHECK(json_equal(content, expected), "line %d, %s: other content", line, name)) {
            char *left = dump(content), *right = dump(expected);
            CHECK(strcmp(left, right) == 0, "line %d, %s: another order of keys", line, name);
            free(left);
            free(right);
        }
        CHECK(json_equal(json_object_get(loaded, "config"), json_object_get(section, "config")),
              "line %d, %s: another config", line, name);
        CHECK(json_array_size(json_object_get(loaded, "missing")) == 0
                  && json_array_size(json_object_get(loaded, "expired")) == 0,
              "line %d, %s: something is missing or expired", line, name);
        json_decref(expected);
        json_decref(loaded);
    }
    free(location);
}

int main(int count, char **arguments) {
    if (count != 3) return 2;
    char path[4096], store_path[4096];
    snprintf(path, sizeof path, "%s/places.jsonl", arguments[1]);
    snprintf(store_path, sizeof store_path, "%s/roundtrip.satchel", arguments[2]);
    FILE *file = fopen(path, "r");
    if (!file) give_up(path);

    satchel_store *store;
    satchel_open_options options = SATCHEL_OPEN_OPTIONS_INIT;
    options.relaxed_durability = true;
    must(satchel_store_open(store_path, &options, &store), "opening a store");
    static json_t *deliveries[DELIVERIES];
    int lines = 0;
    char *line = NULL;
    size_t room = 0;
    for (ssize_t size; lines < DELIVERIES && (size = getline(&line, &room, file)) > 0; lines++) {
        satchel_buffer out = SATCHEL_BUFFER_INIT;
        must(satchel_catalogue_deliver(store, (satchel_bytes){line, (size_t)size}, NULL, &out), "delivering");
        deliveries[lines] = json_loadb(line, (size_t)size, 0, NULL);
        json_t *receipts = take(&out);
        compare_receipts(deliveries[lines], receipts, lines + 1);
        compare_sections(store, deliveries[lines], lines + 1);
        json_decref(receipts);
    }
    free(line);
    fclose(file);
    must(satchel_store_close(store), "closing");

    options.read_only = true;
    must(satchel_store_open(store_path, &options, &store), "opening again");
    for (int index = 0; index < lines; index++) {
        compare_sections(store, deliveries[index], index + 1);
        json_decref(deliveries[index]);
    }
    must(satchel_store_close(store), "closing again");
    CHECK(lines > 0, "%s is empty", path);
    return close_checks();
}
