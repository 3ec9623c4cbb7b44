/* Assets that functions of the host fetch and make, variants, and thumbnails of photos. Usage: asset_functions FOLDER */
#include <sys/stat.h>

#include "assets.h"

/** The next answers of the host's function. */
static struct {
    satchel_remote_result result;
    size_t size;
    int calls;
    char request[300];
    bool ignores_refusal, through_others;
    satchel_asset_writer *old;
} host;

static satchel_remote_result fetch(void *context, satchel_bytes request, satchel_asset_writer *writer) {
    CHECK(context == &host, "another context");
    host.calls++;
    snprintf(host.request, sizeof host.request, "%.*s", (int)request.size, (const char *)request.data);
    if (host.through_others) {
        satchel_asset_writer *const others[] = {NULL, host.old, (satchel_asset_writer *)&host};
        for (int index = 0; index < 3; index++) {
            CHECK(satchel_asset_writer_append(others[index], text("x")) != SATCHEL_OK, "appended to no writer");
            satchel_asset_writer_message(others[index], text("x"));
            satchel_asset_writer_etag(others[index], text("x"));
        }
    }
    host.old = writer;
    satchel_asset_writer_etag(writer, text("\"v1\""));
    satchel_asset_writer_message(writer, text("the server is on fire"));
    for (size_t done = 0; done < host.size; done += 1000) {
        unsigned char *bytes = some(1000, 9);
        satchel_status status = satchel_asset_writer_append(writer, (satchel_bytes){bytes, 1000});
        free(bytes);
        if (status != SATCHEL_OK && !host.ignores_refusal) return SATCHEL_REMOTE_FAILED;
    }
    return host.result;
}

static int progress_calls;

static bool progress(void *context, satchel_bytes value) {
    (void)value;
    CHECK(context == &host, "another context of the progress");
    return ++progress_calls < 3;
}

#define URL "{\"_asset\":{\"url\":\"http://localhost/a.jpg\"}}"

/** Fetches one URL, and gives the report. */
static json_t *fetched(const satchel_asset_fetch_options *options) {
    must(satchel_assets_fetch(store, text("[" URL "]"), fetch, options, &out), "fetching");
    return take(&out);
}

static void fetches(void) {
    satchel_asset_fetch_options options = SATCHEL_ASSET_FETCH_OPTIONS_INIT;
    options.context = &host;
    options.max_size = 200000;
    host.result = SATCHEL_REMOTE_TRANSIENT;
    host.through_others = true;
    json_t *report = fetched(&options);
    CHECK(strcmp(text_at(report, "/failed/0/message"), "the server is on fire") == 0, "a failure: %s",
          text_at(report, "/failed/0/message"));
    CHECK(number_at(report, "/failed/0/retry_at") > 0, "when it is tried again");
    json_decref(report);
    report = fetched(&options);
    CHECK(number_at(report, "/waiting") == 1 && host.calls == 1, "asked again before its time");
    json_decref(report);

    options.ignore_backoff = true;
    host.result = SATCHEL_REMOTE_OK;
    host.size = 201000;
    for (int index = 0; index < 2; index++) {
        host.ignores_refusal = index == 1;
        report = fetched(&options);
        CHECK(strstr(text_at(report, "/failed/0/message"), "200000") != NULL, "too much: %s",
              text_at(report, "/failed/0/message"));
        json_decref(report);
    }
    host.result = SATCHEL_REMOTE_NOT_MODIFIED;
    host.size = 0;
    report = fetched(&options);
    CHECK(json_array_size(at(report, "/failed")) == 1, "nothing has changed, but there is nothing");
    json_decref(report);

    host.result = SATCHEL_REMOTE_OK;
    host.size = 150000;
    report = fetched(&options);
    CHECK(number_at(report, "/fetched") == 1 && number_at(report, "/fetched_bytes") == 150000, "fetched");
    json_decref(report);
    must(satchel_assets_read(store, text(URL), 149999, 10, &out), "reading what was fetched");
    CHECK(out.size == 1, "its end");
    satchel_buffer_free(&out);
    options.refresh = true;
    host.result = SATCHEL_REMOTE_NOT_MODIFIED;
    host.size = 0;
    report = fetched(&options);
    CHECK(number_at(report, "/present") == 1 && strstr(host.request, "\\\"v1\\\"") != NULL, "asked with %s",
          host.request);
    CHECK(strstr(host.request, "\"sha256\":null,\"max_size\":200000") != NULL, "asked with %s", host.request);
    json_decref(report);

    options.progress = progress;
    refused_out("cancelled", SATCHEL_ECANCELLED, NULL,
                satchel_assets_fetch(store, text("[" URL "," URL "," URL "]"), fetch, &options, &out));
    refused_out("no array", SATCHEL_EINVALID, "references",
                satchel_assets_fetch(store, text(URL), fetch, &options, &out));
    refused_out("no reference", SATCHEL_EINVALID, "/1/_asset/url",
                satchel_assets_fetch(store, text("[" URL ",{\"_asset\":{\"url\":\"ftp://a/b\"}}]"), fetch, &options,
                                     &out));
    refused_out("no function", SATCHEL_EINVALID, "fetch",
                satchel_assets_fetch(store, text("[]"), NULL, &options, &out));
    options.max_size = -1;
    refused_out("a size", SATCHEL_EINVALID, "max_size",
                satchel_assets_fetch(store, text("[]"), fetch, &options, &out));
    options.max_size = 0;
    options.max_bytes = INT64_MIN;
    refused_out("bytes", SATCHEL_EINVALID, "max_bytes",
                satchel_assets_fetch(store, text("[]"), fetch, &options, &out));
}

static int made;

/** Every thousandth byte; for the context "fails" nothing. */
static bool thumbnail(void *context, satchel_asset_reader *reader, satchel_asset_writer *writer) {
    unsigned char byte;
    size_t count;
    made++;
    if (context) {
        satchel_asset_writer_message(writer, text(context));
        return false;
    }
    for (int64_t offset = 0;; offset += 1000) {
        must(satchel_asset_reader_read(reader, offset, &byte, 1, &count), "reading");
        if (count == 0) break;
        must(satchel_asset_writer_append(writer, (satchel_bytes){&byte, 1}), "appending");
    }
    satchel_asset_writer_type(writer, text("image/x-small"));
    satchel_asset_reader_free(NULL);
    CHECK(satchel_store_close(store) == SATCHEL_EBUSY, "the store was closed in a function of its own");
    return true;
}

static void variants(void) {
    unsigned char *bytes = some(500000, 77);
    char *reference = put(bytes, 500000), *thumbs[2];
    for (int index = 0; index < 2; index++) {
        must(satchel_assets_variant(store, text(reference), text("thumb"), thumbnail, NULL, &out), "a variant");
        json_t *variant = take(&out);
        CHECK(number_at(variant, "/_asset/size") == 500, "its size");
        CHECK(strcmp(text_at(variant, "/_asset/type"), "image/x-small") == 0, "its type");
        thumbs[index] = dump(variant);
        json_t *known = info(thumbs[index]);
        CHECK(json_is_true(at(known, "/variant")), "it is no variant");
        json_decref(known);
        json_decref(variant);
    }
    CHECK(made == 1 && strcmp(thumbs[0], thumbs[1]) == 0, "it was made %d times", made);
    refused_out("one that fails", SATCHEL_EINVALID, "no picture",
                satchel_assets_variant(store, text(reference), text("other"), thumbnail, "no picture", &out));
    refused_out("no name", SATCHEL_EINVALID, "name",
                satchel_assets_variant(store, text(reference), text(""), thumbnail, NULL, &out));
    refused_out("of nothing", SATCHEL_ENOTFOUND, NOBODYS,
                satchel_assets_variant(store, text(NOBODY), text("thumb"), thumbnail, NULL, &out));
    refused_out("no function", SATCHEL_EINVALID, "make",
                satchel_assets_variant(store, text(reference), text("thumb"), NULL, NULL, &out));
    free(thumbs[0]);
    free(thumbs[1]);
    free(reference);
    free(bytes);
}

/** A gray picture of 2 × 2 pixels. */
static const unsigned char png[] = {
    0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A, 0x00, 0x00, 0x00, 0x0D, 0x49, 0x48, 0x44, 0x52, 0x00, 0x00, 0x00, 0x02,
    0x00, 0x00, 0x00, 0x02, 0x08, 0x00, 0x00, 0x00, 0x00, 0x57, 0xDD, 0x52, 0xF8, 0x00, 0x00, 0x00, 0x0E, 0x49, 0x44, 0x41,
    0x54, 0x78, 0x9C, 0x63, 0x10, 0x50, 0x60, 0x30, 0x70, 0x00, 0x00, 0x01, 0x76, 0x00, 0xA1, 0xEC, 0x30, 0x8A, 0xF4, 0x00,
    0x00, 0x00, 0x00, 0x49, 0x45, 0x4E, 0x44, 0xAE, 0x42, 0x60, 0x82};

/** Pictures that the library scales, and strings that are declared to be URLs. */
static void scaled_and_declared(void) {
    char *picture = put(png, sizeof png), *text_file = put((const unsigned char *)"no picture", 10);
    must(satchel_assets_scaled(store, text(picture), 100, &out), "scaling");
    json_t *variant = take(&out);
    CHECK(strcmp(text_at(variant, "/_asset/type"), "image/png") == 0, "its type: %s", text_at(variant, "/_asset/type"));
    json_decref(variant);
    refused_out("no size", SATCHEL_EINVALID, NULL, satchel_assets_scaled(store, text(picture), 0, &out));
    refused_out("no picture", SATCHEL_EINVALID, NULL, satchel_assets_scaled(store, text(text_file), 100, &out));
    refused_out("of nothing", SATCHEL_ENOTFOUND, NOBODYS, satchel_assets_scaled(store, text(NOBODY), 100, &out));
    free(picture);
    free(text_file);

    satchel_bytes porto = text("{\"locality\":\"Porto\",\"country_code\":\"PT\"}");
    must(satchel_catalogue_assets(store, text("cards"), text("[\"/*/image\"]")), "declaring");
    must(satchel_catalogue_persist(
             store, porto,
             text("{\"section\":\"cards\",\"content\":{\"a\":{\"image\":\"http://localhost/card\"}}}"), NULL, NULL),
         "persisting");
    json_t *known = info("\"http://localhost/card\"");
    CHECK(number_at(known, "/references") == 1, "references: %lld", number_at(known, "/references"));
    json_decref(known);
    must(satchel_catalogue_assets(store, text("cards"), text("[]")), "ending the declaration");
    known = info("\"http://localhost/card\"");
    CHECK(number_at(known, "/references") == 0, "references: %lld", number_at(known, "/references"));
    json_decref(known);
    refused("no path", SATCHEL_EINVALID, "paths", satchel_catalogue_assets(store, text("cards"), text("[\"\"]")));
    refused("no paths", SATCHEL_EINVALID, "paths", satchel_catalogue_assets(store, text("cards"), text("{}")));
}

/** The last path that a thumbnail was asked for. */
static char asked[4096];

/** Four bytes; for the context "fails" nothing. */
static bool photo_thumbnail(
    void *context, const char *path, int32_t longest_edge, satchel_asset_writer *writer) {
    made++;
    CHECK(longest_edge == 300 || longest_edge == 400, "an edge of %d pixels", (int)longest_edge);
    snprintf(asked, sizeof asked, "%s", path);
    if (context) {
        satchel_asset_writer_message(writer, text(context));
        return false;
    }
    must(satchel_asset_writer_append(writer, text("tiny")), "appending");
    satchel_asset_writer_type(writer, text("image/x-tiny"));
    return true;
}

/** Writes a file of a folder, and gives the MD5 of its photo after a scan, which the caller frees. */
static char *photo(satchel_photos *photos, const char *folder, const char *name, const void *bytes, size_t size) {
    char path[4096], condition[200];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "wb");
    if (!file || fwrite(bytes, 1, size, file) != size || fclose(file) != 0) give_up(path);
    must(satchel_photos_scan(photos, NULL, NULL), "scanning");
    snprintf(condition, sizeof condition, "{\"filename\": \"%s\"}", name);
    must(satchel_photos_query(photos, text(condition), &out), "querying");
    json_t *found = take(&out);
    char *md5 = strdup(text_at(found, "/photos/0/md5"));
    CHECK(strlen(md5) == 32, "no photo %s", name);
    json_decref(found);
    return md5;
}

/** Thumbnails of photos: the library's, and those of a function for what it does not scale. */
static void thumbnails(const char *folder) {
    static const char heic[] = "\0\0\0\x18" "ftypheic\0\0\0\0mif1heic";
    satchel_photos *photos;
    must(satchel_photos_open(store, text(folder), SATCHEL_CONFLICT_DEFAULT, &photos), "opening photos");
    char *map = photo(photos, folder, "map.png", png, sizeof png);
    char *tram = photo(photos, folder, "tram.heic", heic, sizeof heic - 1);
    made = 0;
    must(satchel_photos_thumbnail(photos, text(map), 0, photo_thumbnail, NULL, &out), "a thumbnail");
    json_t *thumbnail = take(&out);
    CHECK(strcmp(text_at(thumbnail, "/_asset/type"), "image/png") == 0 && made == 0, "not the library's");
    json_decref(thumbnail);
    refused_out("HEIC", SATCHEL_EINVALID, "tram.heic",
                satchel_photos_thumbnail(photos, text(tram), 0, NULL, NULL, &out));
    refused_out("one that fails", SATCHEL_EINVALID, "no decoder",
                satchel_photos_thumbnail(photos, text(tram), 0, photo_thumbnail, "no decoder", &out));
    CHECK(made == 1 && strstr(asked, "/tram.heic") != NULL, "asked %d times, for %s", made, asked);
    for (int index = 0; index < 2; index++) {
        must(satchel_photos_thumbnail(photos, text(tram), 0, photo_thumbnail, NULL, &out), "a thumbnail");
        thumbnail = take(&out);
        CHECK(number_at(thumbnail, "/_asset/size") == 4 && made == 2, "made %d times", made);
        CHECK(strcmp(text_at(thumbnail, "/_asset/type"), "image/x-tiny") == 0, "its type");
        json_decref(thumbnail);
    }
    must(satchel_photos_thumbnail(photos, text(tram), 300, photo_thumbnail, NULL, &out), "another size");
    satchel_buffer_free(&out);
    CHECK(made == 3, "made %d times", made);
    refused_out("no size", SATCHEL_EINVALID, NULL,
                satchel_photos_thumbnail(photos, text(map), -1, photo_thumbnail, NULL, &out));
    refused_out("no photo", SATCHEL_ENOTFOUND, "0000",
                satchel_photos_thumbnail(photos, text("00000000000000000000000000000000"), 0, photo_thumbnail, NULL,
                                         &out));
    free(map);
    free(tram);
    satchel_photos_free(photos);
}

/** Pointers that are not stores. */
static void bad_handles(void) {
    satchel_store *const stores[] = {NULL, (satchel_store *)&host, (satchel_store *)UINTPTR_MAX};
    for (int index = 0; index < 3; index++) {
        satchel_store *none = stores[index];
        satchel_status wanted = index ? SATCHEL_ECLOSED : SATCHEL_EINVALID;
        satchel_bytes asset = text(NOBODY);
        refused("no store", wanted, NULL, satchel_catalogue_assets(none, text(""), text("[]")));
        refused_out("no store", wanted, NULL, satchel_assets_scaled(none, asset, 1, &out));
        refused_out("no store", wanted, NULL, satchel_assets_fetch(none, text("[]"), fetch, NULL, &out));
        refused_out("no store", wanted, NULL,
                    satchel_assets_variant(none, asset, text("thumb"), thumbnail, NULL, &out));
    }
}

int main(int count, char **arguments) {
    if (count != 2) give_up("usage: asset_functions FOLDER");
    char path[4096];
    snprintf(path, sizeof path, "%s/functions.satchel", arguments[1]);
    must(satchel_store_open(path, NULL, &store), "opening");
    fetches();
    variants();
    scaled_and_declared();
    snprintf(path, sizeof path, "%s/photos", arguments[1]);
    if (mkdir(path, 0777) != 0) give_up("making a folder");
    thumbnails(path);
    bad_handles();
    must(satchel_store_close(store), "closing");
    return close_checks();
}
