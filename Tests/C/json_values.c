/* The getters for hosts without a JSON library: what they give, and what they refuse. */
#include "check.h"

static const char *const document =
    "{\"id\":\"r1\",\"text\":\"A \\\"door\\\"\\n\\u00e9\\ud83d\\ude00\",\"count\":3,\"big\":9223372036854775807,"
    "\"ratio\":0.25,\"done\":true,\"open\":false,\"none\":null,\"tags\":[\"a\",\"b\"],\"inner\":{\"a.b\":1,\"c\":[{\"d\":7}]}}";

static void check_text(const char *path, const char *expected) {
    satchel_buffer out;
    satchel_status status = satchel_json_get_text(text(document), text(path), &out);
    CHECK(status == SATCHEL_OK && strcmp(out.data, expected) == 0, "text of %s: %s", path, satchel_error_message());
    satchel_buffer_free(&out);
}

static void check_failures(const char *path, satchel_status expected) {
    satchel_buffer out = {(char *)1, 1};
    int64_t number = 5;
    double real = 5;
    bool flag = true;
    size_t count = 5;
    CHECK(satchel_json_get_text(text(document), text(path), &out) == expected && !out.data, "text of %s", path);
    CHECK(satchel_json_get_int64(text(document), text(path), &number) == expected && number == 0, "int64 of %s", path);
    CHECK(satchel_json_get_double(text(document), text(path), &real) == expected && real == 0, "double of %s", path);
    CHECK(satchel_json_get_bool(text(document), text(path), &flag) == expected && !flag, "bool of %s", path);
    CHECK(satchel_json_count(text(document), text(path), &count) == expected && count == 0, "count of %s", path);
    CHECK(strstr(satchel_error_message(), "path") != NULL, "the message names the path: %s", satchel_error_message());
}

static void check_values(void) {
    int64_t number;
    double real;
    bool flag;
    size_t count;
    check_text("id", "r1");
    check_text("text", "A \"door\"\n\xC3\xA9\xF0\x9F\x98\x80");
    check_text("/tags/1", "b");
    CHECK(satchel_json_get_int64(text(document), text("count"), &number) == SATCHEL_OK && number == 3, "count");
    CHECK(satchel_json_get_int64(text(document), text("big"), &number) == SATCHEL_OK && number == INT64_MAX, "big");
    CHECK(satchel_json_get_int64(text(document), text("/inner/a.b"), &number) == SATCHEL_OK && number == 1, "pointer");
    CHECK(satchel_json_get_int64(text(document), text("/inner/c/0/d"), &number) == SATCHEL_OK && number == 7, "deep");
    CHECK(satchel_json_get_double(text(document), text("ratio"), &real) == SATCHEL_OK && real == 0.25, "ratio");
    CHECK(satchel_json_get_double(text(document), text("count"), &real) == SATCHEL_OK && real == 3, "an integer");
    CHECK(satchel_json_get_bool(text(document), text("done"), &flag) == SATCHEL_OK && flag, "done");
    CHECK(satchel_json_get_bool(text(document), text("open"), &flag) == SATCHEL_OK && !flag, "open");
    CHECK(satchel_json_count(text(document), text("tags"), &count) == SATCHEL_OK && count == 2, "tags");
    CHECK(satchel_json_count(text(document), text("inner"), &count) == SATCHEL_OK && count == 2, "inner");
    CHECK(satchel_json_count(text(document), text(""), &count) == SATCHEL_OK && count == 10, "the whole");
}

static void check_keys(void) {
    satchel_buffer keys;
    CHECK(satchel_json_keys(text(document), text("inner"), &keys) == SATCHEL_OK && strcmp(keys.data, "[\"a.b\",\"c\"]") == 0,
          "the keys of inner");
    satchel_buffer_free(&keys);
    CHECK(satchel_json_keys(text(document), text("tags"), &keys) == SATCHEL_EINVALID && !keys.data, "keys of an array");
    CHECK(satchel_json_keys(text(document), text("none"), &keys) == SATCHEL_ENOTFOUND && !keys.data, "keys of null");
}

/** The members that satchel_json_each has passed, as "key=value" and a semicolon each. */
struct seen {
    char text[256];
    size_t left;
};

static bool see(void *context, satchel_bytes key, satchel_bytes value) {
    struct seen *seen = context;
    size_t used = strlen(seen->text);
    snprintf(seen->text + used, sizeof seen->text - used, "%.*s=%.*s;", (int)key.size, (const char *)key.data,
             (int)value.size, (const char *)value.data);
    return --seen->left > 0;
}

static void each_is(const char *path, size_t limit, satchel_status wanted, const char *expected) {
    struct seen seen = {"", limit};
    satchel_status status = satchel_json_each(text(document), text(path), see, &seen);
    CHECK(status == wanted && strcmp(seen.text, expected) == 0, "each of \"%s\": %d, %s", path, (int)status, seen.text);
}

static void check_each(void) {
    each_is("inner", 9, SATCHEL_OK, "a.b=1;c=[{\"d\":7}];");
    each_is("inner", 1, SATCHEL_OK, "a.b=1;");
    each_is("/inner/c", 9, SATCHEL_OK, "={\"d\":7};");
    each_is("count", 9, SATCHEL_EINVALID, "");
    each_is("none", 9, SATCHEL_ENOTFOUND, "");
    CHECK(satchel_json_each(text(document), text(""), NULL, NULL) == SATCHEL_EINVALID, "no callback");
}

static void check_quoting(void) {
    static const char *const texts[] = {"", "plain", "\"\\\n\t\x01", "\xC3\xA9\xF0\x9F\x98\x80", "</script>"};
    for (size_t index = 0; index < sizeof texts / sizeof *texts; index++) {
        satchel_buffer quoted, back;
        must(satchel_json_quote(text(texts[index]), &quoted), "quoting");
        must(satchel_json_get_text((satchel_bytes){quoted.data, quoted.size}, text(""), &back), "reading it again");
        CHECK(strcmp(back.data, texts[index]) == 0, "quoted text %zu: %s", index, quoted.data);
        satchel_buffer_free(&quoted);
        satchel_buffer_free(&back);
    }
    satchel_buffer out = {(char *)1, 1};
    CHECK(satchel_json_quote(text("\xFF"), &out) == SATCHEL_EINVALID && !out.data, "bytes that are no UTF-8");
}

static void check_bad_input(void) {
    check_failures("missing", SATCHEL_ENOTFOUND);
    check_failures("none", SATCHEL_ENOTFOUND);
    check_failures("/tags/7", SATCHEL_ENOTFOUND);
    check_failures("id.inner", SATCHEL_EINVALID);
    int64_t number = 5;
    CHECK(satchel_json_get_int64(text(document), text("ratio"), &number) == SATCHEL_EINVALID && number == 0, "a double");
    CHECK(satchel_json_get_int64(text("{"), text(""), &number) == SATCHEL_EINVALID, "no JSON");
    CHECK(satchel_json_get_int64(text("{}"), text("a"), NULL) == SATCHEL_EINVALID, "no out");
    CHECK(satchel_json_get_text(text("{}"), text("a"), NULL) == SATCHEL_EINVALID, "no out");
    CHECK(satchel_json_quote(text("a"), NULL) == SATCHEL_EINVALID, "no out");
    satchel_bytes impossible = {NULL, 9};
    CHECK(satchel_json_get_int64(impossible, text("a"), &number) == SATCHEL_EINVALID, "no bytes");
    CHECK(satchel_json_get_int64(text("{}"), impossible, &number) == SATCHEL_EINVALID, "no path");
}

static void check_literals(void) {
    satchel_bytes literal = SATCHEL_TEXT("caf\xC3\xA9"), made = satchel_text("caf\xC3\xA9"), none = satchel_text(NULL);
    CHECK(literal.size == 5 && made.size == 5 && memcmp(literal.data, made.data, 5) == 0, "a text and a literal");
    CHECK(none.data == NULL && none.size == 0, "no text");
}

static void check_bytes_of_buffers(void) {
    satchel_buffer buffer = SATCHEL_BUFFER_INIT, text_of_it = SATCHEL_BUFFER_INIT;
    satchel_bytes none = satchel_bytes_of(buffer);
    CHECK(none.data == NULL && none.size == 0, "an empty buffer");
    CHECK(satchel_json_value_at(text("{\"a\": [\"b\"]}"), text("a"), &buffer) == SATCHEL_OK, "a value");
    satchel_bytes bytes = satchel_bytes_of(buffer);
    CHECK(bytes.data == buffer.data && bytes.size == buffer.size && bytes.size > 0, "the bytes of a buffer");
    CHECK(satchel_json_get_text(bytes, text("/0"), &text_of_it) == SATCHEL_OK, "a result is passed on");
    CHECK(strcmp(text_of_it.data, "b") == 0, "the text in it");
    satchel_buffer_free(&text_of_it);
    satchel_buffer_free(&buffer);
}

int main(void) {
    check_values();
    check_keys();
    check_each();
    check_quoting();
    check_bad_input();
    check_literals();
    check_bytes_of_buffers();
    return close_checks();
}
