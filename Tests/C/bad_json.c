/* Bad JSON, bad edits and bad places, where no store is needed. */
#include "bad_input.h"

#define DEEPEST 512

/** Text that may hold a NUL. */
#define LITERAL(string) {string, sizeof(string) - 1}

static void not_json(void) {
    static const struct {
        const char *what;
        satchel_bytes text;
    } table[] = {
        {"nothing", LITERAL("")},
        {"white space", LITERAL(" \n")},
        {"a byte-order mark", LITERAL("\xEF\xBB\xBF{}")},
        {"something after the value", LITERAL("{} {}")},
        {"an open object", LITERAL("{\"a\":1")},
        {"an open text", LITERAL("\"a")},
        {"a final comma", LITERAL("[1,]")},
        {"single quotes", LITERAL("{'a':1}")},
        {"a comment", LITERAL("[1] // one")},
        {"a leading zero", LITERAL("[01]")},
        {"a bare point", LITERAL("[1.]")},
        {"NaN", LITERAL("[NaN]")},
        {"Infinity", LITERAL("[-Infinity]")},
        {"a duplicate key", LITERAL("{\"a\":1,\"b\":2,\"a\":3}")},
        {"a duplicate key, escaped", LITERAL("{\"a\":1,\"\\u0061\":3}")},
        {"a byte that is no UTF-8", LITERAL("[\"\xFF\"]")},
        {"an overlong form", LITERAL("[\"\xC0\xAF\"]")},
        {"a surrogate in UTF-8", LITERAL("[\"\xED\xA0\x80\"]")},
        {"a cut sequence", LITERAL("[\"\xE2\x82\"]")},
        {"a lone surrogate", LITERAL("[\"\\ud800\"]")},
        {"a reversed pair", LITERAL("[\"\\udc00\\ud800\"]")},
        {"a NUL in a key", LITERAL("{\"a\\u0000b\":1}")},
        {"a bare NUL", LITERAL("[\"a\0b\"]")},
        {"a bare line feed", LITERAL("[\"a\nb\"]")},
        {"an exponent beyond Int64", LITERAL("[1e9223372036854775808]")},
    };
    for (size_t index = 0; index < sizeof table / sizeof *table; index++) {
        refused(table[index].what, SATCHEL_EINVALID, "line ", satchel_json_check(table[index].text));
        if (table[index].text.size == 0) continue; /* null in the calls below */
        refused_out(table[index].what, SATCHEL_EINVALID, "line ",
                    satchel_json_merge(text("{}"), table[index].text, &out));
        refused_out(table[index].what, SATCHEL_EINVALID, "line ",
                    satchel_json_edit(table[index].text, text("1"), text("{}"), &out));
    }
    CHECK(satchel_json_check(text("[-9223372036854775808, 9223372036854775807, 1.7976931348623157e308]"))
              == SATCHEL_OK,
          "the largest numbers are refused: %s", satchel_error_message());
    CHECK(satchel_json_check(text("[-9223372036854775809, 123456789012345678901234567890, 1e400]")) == SATCHEL_OK,
          "numbers beyond Int64 and a double are refused: %s", satchel_error_message());
    int64_t integer = 7;
    double number = 7;
    refused("an integer beyond Int64", SATCHEL_EINVALID, "\"n\"",
            satchel_json_get_int64(text("{\"n\":9223372036854775808}"), text("n"), &integer));
    refused("a number beyond a double", SATCHEL_EINVALID, "\"n\"",
            satchel_json_get_double(text("{\"n\":-1e400}"), text("n"), &number));
    CHECK(integer == 0 && number == 0, "the results of a refusal are not emptied");
}

static void depth(void) {
    static char nested[2 * DEEPEST + 2];
    memset(nested, '[', DEEPEST);
    memset(nested + DEEPEST, ']', DEEPEST);
    CHECK(satchel_json_check((satchel_bytes){nested, 2 * DEEPEST}) == SATCHEL_OK,
          "512 levels are refused: %s", satchel_error_message());
    memset(nested, '[', DEEPEST + 1);
    memset(nested + DEEPEST + 1, ']', DEEPEST + 1);
    satchel_bytes deep = {nested, 2 * DEEPEST + 2};
    refused("513 levels", SATCHEL_EINVALID, "line ", satchel_json_check(deep));
    refused_out("513 levels", SATCHEL_EINVALID, NULL, satchel_json_merge_patch(text("{}"), deep, &out));

    size_t size = 10 * 1000 * 1000;
    char *abyss = malloc(size);
    memset(abyss, '[', size);
    refused("ten million levels", SATCHEL_EINVALID, "line ",
            satchel_json_check((satchel_bytes){abyss, size}));
    free(abyss);

    /* Two values that are fine by themselves, and too deep together. */
    memset(nested, '[', DEEPEST);
    memset(nested + DEEPEST, ']', DEEPEST);
    refused_out("512 levels below one more", SATCHEL_EINVALID, NULL,
                satchel_json_edit(text("{}"), (satchel_bytes){nested, 2 * DEEPEST},
                                  text("{\"operation\":\"append\",\"target_path\":\"a\"}"), &out));
}

static void edits(void) {
    static const struct {
        const char *what, *place, *config;
    } table[] = {
        {"an unknown operation", "explode", "{\"operation\":\"explode\"}"},
        {"an operation that is no text", "operation", "{\"operation\":7}"},
        {"a path that is no text", "target_path", "{\"target_path\":7}"},
        {"a config that is no object", "config", "[]"},
        {"remove without a match", "match", "{\"operation\":\"remove\",\"target_path\":\"items\"}"},
        {"remove with an empty match", "match",
         "{\"operation\":\"remove\",\"target_path\":\"items\",\"match\":{}}"},
        {"remove with a match that is no object", "match", "{\"operation\":\"remove\",\"match\":[1]}"},
        {"append through a text", "title", "{\"operation\":\"append\",\"target_path\":\"title.items\"}"},
        {"merge through a text", "title", "{\"operation\":\"merge\",\"target_path\":\"title.items.deep\"}"},
        {"append through a pointer", "title", "{\"operation\":\"append\",\"target_path\":\"/title/items\"}"},
        {"an array index that is too large", "99",
         "{\"operation\":\"append\",\"target_path\":\"/items/99/x\"}"},
        {"an invalid array index", "first",
         "{\"operation\":\"append\",\"target_path\":\"/items/first/x\"}"},
        {"a pointer with a bad escape", "~2", "{\"operation\":\"append\",\"target_path\":\"/a~2b\"}"},
        {"a patch that is no array", NULL, "{\"operation\":\"patch\"}"},
    };
    satchel_bytes existing = text("{\"title\":\"Paris\",\"items\":[{\"id\":1}]}");
    for (size_t index = 0; index < sizeof table / sizeof *table; index++) {
        refused_out(table[index].what, SATCHEL_EINVALID, table[index].place,
                    satchel_json_edit(existing, text("{\"x\":1}"), text(table[index].config), &out));
    }
    refused_out("a patch whose test fails", SATCHEL_EINVALID, "/title",
                satchel_json_patch(existing,
                                   text("[{\"op\":\"remove\",\"path\":\"/"
                                        "items\"},{\"op\":\"test\",\"path\":\"/title\",\"value\":0}]"),
                                   &out));
    refused_out("a patch of an unknown op", SATCHEL_EINVALID, "explode",
                satchel_json_patch(existing, text("[{\"op\":\"explode\",\"path\":\"\"}]"), &out));
    refused_out("a value after a text", SATCHEL_EINVALID, "title",
                satchel_json_value_at(existing, text("title.deep"), &out));
    refused_out("a path of bad UTF-8", SATCHEL_EINVALID, NULL,
                satchel_json_value_at(existing, text("a\xFF"), &out));
}

static void places(void) {
    satchel_bytes france = text("{\"country_code\":\"fr\"}");
    refused_out("an unknown level", SATCHEL_EINVALID, "planet",
                satchel_place_key(france, text("planet"), &out));
    refused_out("global is no level", SATCHEL_EINVALID, "global",
                satchel_place_key(france, text("global"), &out));
    refused_out("no level", SATCHEL_EINVALID, NULL, satchel_place_key(france, text(NULL), &out));
    refused_out("a level of bad UTF-8", SATCHEL_EINVALID, NULL,
                satchel_place_key(france, text("\xFF"), &out));
    refused_out("normalising bad UTF-8", SATCHEL_EINVALID, NULL,
                satchel_place_normalize(text("Par\xFFis"), &out));
    refused_out("an entity id of bad UTF-8", SATCHEL_EINVALID, NULL,
                satchel_place_entity_id(text("\xC3"), text("a"), &out));
    refused_out("a label of bad UTF-8", SATCHEL_EINVALID, NULL,
                satchel_place_entity_id(text("a"), text("\xC3"), &out));
}

/** Lent bytes that cannot be: no address, or more of them than there is memory. */
static void impossible_bytes(void) {
    const satchel_bytes table[] = {{NULL, 5}, {NULL, SIZE_MAX}, {"{}", SIZE_MAX}};
    for (size_t index = 0; index < sizeof table / sizeof *table; index++) {
        refused("impossible bytes", SATCHEL_EINVALID, NULL, satchel_json_check(table[index]));
        refused_out("impossible bytes", SATCHEL_EINVALID, NULL, satchel_place_normalize(table[index], &out));
        refused_out("impossible bytes", SATCHEL_EINVALID, NULL,
                    satchel_json_value_at(text("{}"), table[index], &out));
    }
}

static void no_out(void) {
    satchel_bytes value = text("{\"country_code\":\"fr\"}");
    const satchel_status table[] = {
        satchel_json_edit(value, value, text(NULL), NULL),
        satchel_json_merge(value, value, NULL),
        satchel_json_merge_patch(value, value, NULL),
        satchel_json_patch(value, text("[]"), NULL),
        satchel_json_value_at(value, text("a"), NULL),
        satchel_place_normalize(text("a"), NULL),
        satchel_place_key(value, text("country"), NULL),
        satchel_place_most_specific_level(value, NULL),
        satchel_place_level_of_scope(text("global"), NULL),
        satchel_place_entity_id(text("a"), text("b"), NULL),
        satchel_place_section_of(text("a:b"), NULL),
    };
    for (size_t index = 0; index < sizeof table / sizeof *table; index++) {
        refused("no out-parameter", SATCHEL_EINVALID, NULL, table[index]);
    }
}

int main(void) {
    CHECK(satchel_error_message()[0] == '\0', "a message before the first failure");
    fill_out_with_nonsense();
    not_json();
    depth();
    edits();
    places();
    impossible_bytes();
    no_out();
    satchel_buffer_free(NULL);
    satchel_buffer empty = SATCHEL_BUFFER_INIT;
    satchel_buffer_free(&empty);
    CHECK(strcmp(satchel_status_name((satchel_status)4711), "SATCHEL_E?") == 0,
          "the name of an unknown status");
    CHECK(strcmp(satchel_version(), SATCHEL_VERSION_STRING) == 0,
          "library and header disagree on the version");
    return close_checks();
}
