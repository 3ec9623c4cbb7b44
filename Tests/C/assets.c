/* Assets: putting, reading, listing, verifying, and what is refused; asset_functions.c has what calls the host. Usage:
 * assets FOLDER */
#include <unistd.h>

#include "assets.h"

#define THRESHOLD 65536
/** The bytes that were put are read again, whole and in parts, by every function, and by every form of a reference. */
static void sizes(void) {
    const size_t table[] = {0, 1, 1000, THRESHOLD - 1, THRESHOLD, THRESHOLD + 1, 700000};
    for (size_t row = 0; row < sizeof table / sizeof *table; row++) {
        const size_t size = table[row];
        unsigned char *bytes = some(size, (unsigned)row), buffer[1000];
        char *reference = put(bytes, size), *again = put(bytes, size);
        CHECK(strcmp(reference, again) == 0, "%zu: put again it is another one", size);
        must(satchel_assets_read(store, text(reference), 0, INT64_MAX, &out), "reading");
        CHECK(out.size == size && memcmp(out.data, bytes, size) == 0, "%zu: other bytes", size);
        satchel_buffer_free(&out);
        must(satchel_assets_read(store, text(reference), (int64_t)size, 10, &out), "reading at the end");
        CHECK(out.data && out.size == 0, "%zu: bytes after the end", size);
        satchel_buffer_free(&out);

        satchel_asset_reader *reader = NULL;
        must(satchel_assets_open(store, text(reference), true, &reader), "opening");
        int64_t found = -1;
        must(satchel_asset_reader_size(reader, &found), "its size");
        CHECK(found == (int64_t)size, "%zu: the reader says %lld", size, (long long)found);
        size_t count = 77, whole = 0;
        do {
            must(satchel_asset_reader_read(reader, (int64_t)whole, buffer, sizeof buffer, &count), "reading");
            CHECK(memcmp(buffer, bytes + whole, count) == 0, "%zu: other bytes at %zu", size, whole);
            whole += count;
        } while (count == sizeof buffer);
        CHECK(whole == size, "%zu: %zu bytes were read", size, whole);
        must(satchel_asset_reader_path(reader, &out), "its path");
        CHECK((out.size > 0) == (size > THRESHOLD), "%zu: the path has %zu bytes", size, out.size);
        CHECK(out.size == 0 || access(out.data, R_OK) == 0, "%zu: there is no file at the path", size);
        satchel_buffer_free(&out);
        satchel_asset_reader_free(reader);

        json_t *parsed = json_loads(reference, 0, NULL), *known = info(reference);
        char *value = dump(at(parsed, "/_asset")), *digest = dump(at(parsed, "/_asset/sha256"));
        CHECK(strcmp(text_at(known, "/state"), "here") == 0, "%zu: its state", size);
        CHECK(number_at(known, "/size") == (long long)size && number_at(known, "/references") == 0, "what is known");
        json_t *by_value = info(value), *by_digest = info(digest);
        CHECK(json_equal(known, by_value) && json_equal(known, by_digest), "other forms of the reference");
        json_decref(by_value);
        json_decref(by_digest);
        json_decref(known);
        json_decref(parsed);
        free(value);
        free(digest);
        free(reference);
        free(again);
        free(bytes);
    }
}

struct stream {
    size_t left, most;
    int64_t end;
    unsigned char byte;
};

static int64_t stream_read(void *context, void *buffer, size_t capacity) {
    struct stream *stream = context;
    if (stream->left == 0) return stream->end;
    size_t count = stream->left < capacity ? stream->left : capacity;
    if (count > stream->most) count = stream->most;
    memset(buffer, stream->byte, count);
    stream->left -= count;
    return (int64_t)count;
}

static void streams_and_files(const char *folder) {
    struct stream stream = {300001, 1777, 0, 'x'};
    must(satchel_assets_put_stream(store, stream_read, &stream, text(""), false, &out), "a stream");
    json_t *asset = take(&out);
    CHECK(number_at(asset, "/_asset/size") == 300001 && !at(asset, "/_asset/type"), "of a stream");

    char path[4096];
    snprintf(path, sizeof path, "%s/picture", folder);
    FILE *file = fopen(path, "wb");
    for (int index = 0; index < 300001; index++) fputc('x', file);
    fclose(file);
    must(satchel_assets_put_file(store, path, text(""), false, &out), "a file");
    json_t *same = take(&out);
    CHECK(json_equal(asset, same), "a file with the bytes of the stream is another asset");
    CHECK(access(path, R_OK) == 0, "the file is gone");
    json_decref(asset);
    json_decref(same);

    struct stream cancelled = {1 << 20, 1 << 20, -1, 'y'}, wrong = {0, 0, INT64_MAX, 'z'};
    refused_out("a cancelled stream", SATCHEL_ECANCELLED, NULL,
                satchel_assets_put_stream(store, stream_read, &cancelled, text(""), false, &out));
    refused_out("a stream that counts wrong", SATCHEL_EINVALID, "read",
                satchel_assets_put_stream(store, stream_read, &wrong, text(""), false, &out));
    refused_out("no stream", SATCHEL_EINVALID, "read",
                satchel_assets_put_stream(store, NULL, NULL, text(""), false, &out));
    refused_out("no file", SATCHEL_ENOTFOUND, "nothing",
                satchel_assets_put_file(store, "/nothing/at/all", text(""), false, &out));
    refused_out("a directory", SATCHEL_EINVALID, folder, satchel_assets_put_file(store, folder, text(""), false, &out));
    refused_out("a device", SATCHEL_EINVALID, "/dev/zero",
                satchel_assets_put_file(store, "/dev/zero", text(""), false, &out));
    refused_out("NULL", SATCHEL_EINVALID, "path", satchel_assets_put_file(store, NULL, text(""), false, &out));
    refused_out("no type", SATCHEL_EINVALID, "type",
                satchel_assets_put(store, text("a"), text("image/\r\nX: y"), false, &out));
}

/** References, as documents have them. */
static void references(void) {
    unsigned char *bytes = some(100, 42);
    char *reference = put(bytes, 100), document[300], declaration[] = "{\"name\":\"notes\"}";
    satchel_records *notes;
    must(satchel_records_open(store, text(declaration), NULL, &notes), "opening a collection");
    snprintf(document, sizeof document, "{\"title\":\"Pad Thai\",\"pictures\":[%s]}", reference);
    must(satchel_records_put(notes, text("n1"), text(document), -1, NULL), "putting a document");
    json_t *known = info(reference);
    CHECK(number_at(known, "/references") == 1, "references: %lld", number_at(known, "/references"));
    json_decref(known);
    must(satchel_assets_prune(store, 0, &out), "pruning");
    json_t *report = take(&out);
    CHECK(number_at(report, "/only_copies") == 100, "only copies: %lld", number_at(report, "/only_copies"));
    json_decref(report);

    refused("of nothing", SATCHEL_ECONSTRAINT, "/pictures/0/_asset/sha256",
            satchel_records_put(notes, text("n2"), text("{\"pictures\":[" NOBODY "]}"), -1, NULL));
    CHECK(strstr(satchel_error_details(), "\"/pictures/0/_asset/sha256\"") != NULL, "details: %s",
          satchel_error_details());
    refused("no reference", SATCHEL_ECONSTRAINT, "/a/_asset/size",
            satchel_records_put(notes, text("n2"), text("{\"a\":{\"_asset\":{\"size\":\"1\"}}}"), -1, NULL));
    must(satchel_records_delete(notes, text("n1"), -1, NULL), "deleting");
    known = info(reference);
    CHECK(number_at(known, "/references") == 0, "references of a deleted document");
    json_decref(known);
    satchel_records_free(notes);
    free(reference);
    free(bytes);
}

/** Pages of a list. */
static void lists_assets(void) {
    satchel_asset_list_options options = SATCHEL_ASSET_LIST_OPTIONS_INIT;
    options.limit = 3;
    options.state = SATCHEL_ASSET_HERE;
    options.usage = SATCHEL_ASSET_UNUSED;
    size_t count = 0, pages = 0;
    char cursor[64] = "";
    do {
        options.after = text(cursor);
        must(satchel_assets_list(store, &options, &out), "listing");
        json_t *page = take(&out);
        count += json_array_size(at(page, "/assets"));
        CHECK(json_array_size(at(page, "/assets")) <= 3, "a page is too long");
        cursor[0] = '\0';
        if (json_is_string(at(page, "/next"))) snprintf(cursor, sizeof cursor, "%s", text_at(page, "/next"));
        json_decref(page);
        pages++;
    } while (cursor[0] && pages < 100);
    CHECK(count == 9 && pages == 3, "%zu assets on %zu pages", count, pages);
    options.state = (satchel_asset_state)9;
    refused_out("a state", SATCHEL_EINVALID, "state", satchel_assets_list(store, &options, &out));
    options.state = SATCHEL_ASSET_ANY;
    options.usage = (satchel_asset_usage)-1;
    refused_out("a usage", SATCHEL_EINVALID, "usage", satchel_assets_list(store, &options, &out));
    options.usage = SATCHEL_ASSET_USED_OR_NOT;
    options.limit = 10001;
    refused_out("a limit", SATCHEL_EINVALID, "limit", satchel_assets_list(store, &options, &out));
    options.limit = -1;
    refused_out("a negative limit", SATCHEL_EINVALID, "limit", satchel_assets_list(store, &options, &out));
    options.limit = 0;
    options.after = text("-5");
    refused_out("a cursor", SATCHEL_EINVALID, "cursor", satchel_assets_list(store, &options, &out));
}

/** Cancels with the third call. */
static int progress_calls;

static bool progress(void *context, satchel_bytes value) {
    (void)value;
    CHECK(context == &progress_calls, "another context of the progress");
    return ++progress_calls < 3;
}

/** Invalid references, in every call that takes one. */
static void bad_references(void) {
    const struct {
        const char *asset, *place;
        satchel_status wanted, when_unknown;
    } table[] = {
        {"", "asset", SATCHEL_EINVALID, SATCHEL_EINVALID},
        {"{", "asset", SATCHEL_EINVALID, SATCHEL_EINVALID},
        {"{}", "asset", SATCHEL_EINVALID, SATCHEL_EINVALID},
        {"null", "asset", SATCHEL_EINVALID, SATCHEL_EINVALID},
        {"7", "asset", SATCHEL_EINVALID, SATCHEL_EINVALID},
        {"\"../../etc/passwd\"", "asset", SATCHEL_EINVALID, SATCHEL_EINVALID},
        {"{\"_asset\":[]}", "/_asset", SATCHEL_EINVALID, SATCHEL_EINVALID},
        {"{\"_asset\":{\"sha256\":\"abc\"}}", "/_asset/sha256", SATCHEL_EINVALID, SATCHEL_EINVALID},
        {"{\"sha256\":\"" NOBODYS "\",\"size\":-1}", "/size", SATCHEL_EINVALID, SATCHEL_EINVALID},
        {"{\"url\":\"file:///etc/passwd\"}", "/url", SATCHEL_EINVALID, SATCHEL_EINVALID},
        {"\"http://localhost/unknown\"", "http://localhost/unknown", SATCHEL_OK, SATCHEL_ENOTFOUND},
        {NOBODY, NOBODYS, SATCHEL_OK, SATCHEL_ENOTFOUND},
    };
    for (size_t row = 0; row < sizeof table / sizeof *table; row++) {
        satchel_bytes asset = text(table[row].asset);
        satchel_asset_reader *reader = (satchel_asset_reader *)&reader;
        satchel_status status = satchel_assets_info(store, asset, &out);
        if (table[row].wanted == SATCHEL_OK) {
            CHECK(status == SATCHEL_OK, "%s: info: %s", table[row].asset, satchel_status_name(status));
            satchel_buffer_free(&out);
        } else {
            refused_out(table[row].asset, table[row].wanted, table[row].place, status);
        }
        refused_out(table[row].asset, table[row].when_unknown, table[row].place,
                    satchel_assets_read(store, asset, 0, 1, &out));
        refused(table[row].asset, table[row].when_unknown, table[row].place,
                satchel_assets_open(store, asset, false, &reader));
        CHECK(reader == NULL, "%s: a reader", table[row].asset);
    }
    json_t *known = info("\"http://localhost/unknown\"");
    CHECK(strcmp(text_at(known, "/state"), "remote") == 0 && json_is_null(at(known, "/sha256")), "a new URL");
    json_decref(known);
    known = info(NOBODY);
    CHECK(strcmp(text_at(known, "/state"), "missing") == 0, "of nothing");
    json_decref(known);
}

/** Invalid handles and numbers. */
static void bad_arguments(const char *file_reference) {
    satchel_asset_reader *reader;
    size_t count = 7;
    int64_t size = 7;
    char buffer[8];
    must(satchel_assets_open(store, text(file_reference), false, &reader), "opening");
    refused("an offset", SATCHEL_EINVALID, "offset", satchel_asset_reader_read(reader, -1, buffer, 8, &count));
    CHECK(count == 0, "the count is not emptied");
    refused("no buffer", SATCHEL_EINVALID, "buffer", satchel_asset_reader_read(reader, 0, NULL, 8, &count));
    refused("no count", SATCHEL_EINVALID, "count", satchel_asset_reader_read(reader, 0, buffer, 8, NULL));
    refused("a capacity", SATCHEL_EINVALID, "capacity",
            satchel_asset_reader_read(reader, 0, buffer, SIZE_MAX, &count));
    must(satchel_asset_reader_read(reader, 0, NULL, 0, &count), "reading nothing");
    refused_out("a negative offset", SATCHEL_EINVALID, "offset",
                satchel_assets_read(store, text(file_reference), INT64_MIN, 1, &out));
    refused_out("a negative count", SATCHEL_EINVALID, "count",
                satchel_assets_read(store, text(file_reference), 0, -1, &out));
    refused_out("a negative limit", SATCHEL_EINVALID, "max_bytes", satchel_assets_prune(store, -1, &out));
    refused("no out", SATCHEL_EINVALID, "out", satchel_assets_open(store, text(file_reference), false, NULL));
    satchel_asset_reader_free(reader);
    satchel_asset_reader *const others[] = {NULL, reader, (satchel_asset_reader *)store,
                                            (satchel_asset_reader *)UINTPTR_MAX};
    for (int index = 0; index < 4; index++) {
        satchel_status wanted = index ? SATCHEL_ECLOSED : SATCHEL_EINVALID;
        refused("no reader", wanted, NULL, satchel_asset_reader_read(others[index], 0, buffer, 8, &count));
        size = 7;
        refused("no reader", wanted, NULL, satchel_asset_reader_size(others[index], &size));
        CHECK(size == 0, "the size is not emptied");
        refused_out("no reader", wanted, NULL, satchel_asset_reader_path(others[index], &out));
        satchel_asset_reader_free(others[index]);
    }
    satchel_store *const stores[] = {NULL, (satchel_store *)reader, (satchel_store *)UINTPTR_MAX};
    for (int index = 0; index < 3; index++) {
        satchel_store *none = stores[index];
        satchel_status wanted = index ? SATCHEL_ECLOSED : SATCHEL_EINVALID;
        satchel_bytes asset = text(file_reference), nothing = text("");
        refused_out("no store", wanted, NULL, satchel_assets_put(none, asset, nothing, false, &out));
        refused_out("no store", wanted, NULL, satchel_assets_put_file(none, "a", nothing, false, &out));
        refused_out("no store", wanted, NULL, satchel_assets_put_stream(none, stream_read, NULL, nothing, false, &out));
        refused_out("no store", wanted, NULL, satchel_assets_info(none, asset, &out));
        refused_out("no store", wanted, NULL, satchel_assets_read(none, asset, 0, 1, &out));
        refused("no store", wanted, NULL, satchel_assets_open(none, asset, false, &reader));
        refused_out("no store", wanted, NULL, satchel_assets_list(none, NULL, &out));
        refused_out("no store", wanted, NULL, satchel_assets_prune(none, 0, &out));
        refused_out("no store", wanted, NULL, satchel_assets_verify(none, true, NULL, NULL, &out));
    }
}

/** A file that is lost, and one that was damaged. */
static void verifies(const char *folder, const char *lost, const char *damaged) {
    must(satchel_assets_verify(store, true, NULL, NULL, &out), "verifying");
    json_t *report = take(&out);
    CHECK(json_array_size(at(report, "/lost")) == 0 && number_at(report, "/checked") > 5, "nothing is lost");
    json_decref(report);
    for (int index = 0; index < 2; index++) {
        satchel_asset_reader *reader;
        must(satchel_assets_open(store, text(index ? damaged : lost), false, &reader), "opening");
        must(satchel_asset_reader_path(reader, &out), "its path");
        CHECK(strncmp(out.data, folder, strlen(folder)) == 0, "a path elsewhere: %s", out.data);
        if (index == 0) unlink(out.data);
        FILE *file = index ? fopen(out.data, "r+b") : NULL;
        if (file) {
            fputc('!', file);
            fclose(file);
        }
        satchel_buffer_free(&out);
        satchel_asset_reader_free(reader);
    }
    satchel_asset_reader *reader;
    refused("other bytes", SATCHEL_EDAMAGED, folder, satchel_assets_open(store, text(damaged), true, &reader));
    refused_out("no file", SATCHEL_EDAMAGED, folder, satchel_assets_read(store, text(lost), 0, 1, &out));
    progress_calls = 0;
    refused_out("cancelled", SATCHEL_ECANCELLED, NULL,
                satchel_assets_verify(store, true, progress, &progress_calls, &out));
    must(satchel_assets_verify(store, true, NULL, NULL, &out), "verifying");
    report = take(&out);
    CHECK(json_array_size(at(report, "/lost")) == 1 && json_array_size(at(report, "/damaged")) == 1, "what it found");
    json_decref(report);
    json_t *known = info(lost);
    CHECK(strcmp(text_at(known, "/state"), "missing") == 0, "a lost one is %s", text_at(known, "/state"));
    json_decref(known);
}

int main(int count, char **arguments) {
    if (count != 2) give_up("usage: assets FOLDER");
    char path[4096];
    snprintf(path, sizeof path, "%s/store.satchel", arguments[1]);
    must(satchel_store_open(path, NULL, &store), "opening");
    sizes();
    streams_and_files(arguments[1]);
    references();
    lists_assets();
    bad_references();
    unsigned char *one = some(200000, 1), *other = some(200000, 2);
    char *lost = put(one, 200000), *damaged = put(other, 200000);
    bad_arguments(lost);
    verifies(arguments[1], lost, damaged);

    /* A reader outlives its store. */
    char *kept = put(one, 200000), byte = 0;
    satchel_asset_reader *reader;
    size_t read = 0;
    must(satchel_assets_open(store, text(kept), false, &reader), "opening");
    must(satchel_store_close(store), "closing");
    must(satchel_asset_reader_read(reader, 7, &byte, 1, &read), "reading after the store was closed");
    CHECK(read == 1 && byte == (char)one[7], "another byte");
    satchel_asset_reader_free(reader);
    free(kept);
    free(lost);
    free(damaged);
    free(one);
    free(other);
    return close_checks();
}
