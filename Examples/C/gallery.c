/* The thumbnails of an album: each is made once, and kept in the store among its assets. The library scales JPEG and
 * PNG. The thumbnails of other formats are made by a function of the app, here that of HEIC, which stands for the
 * decoder of the system. Usage: gallery folder, of photos */
#include "example.h"

/** The longer edge of a thumbnail, in pixels. */
enum { EDGE = 64 };

/** The time of day in milliseconds, so that hours can pass. */
static int64_t now = 1790000000000;

static int64_t the_time(void *context) {
    return *(int64_t *)context;
}

/** Stands for a decoder: the first bytes of the file are its thumbnail. Counts its calls. */
static bool convert(void *context, const char *path, int32_t longest_edge, satchel_asset_writer *writer) {
    char bytes[12];
    FILE *file = fopen(path, "rb");
    (void)longest_edge;
    if (!file) {
        satchel_asset_writer_message(writer, satchel_text("the file cannot be opened"));
        return false;
    }
    size_t count = fread(bytes, 1, sizeof bytes, file);
    fclose(file);
    ++*(int *)context;
    satchel_asset_writer_type(writer, satchel_text("image/heic"));
    return satchel_asset_writer_append(writer, (satchel_bytes){bytes, count}) == SATCHEL_OK;
}

/** Makes the thumbnails of all photos that have none, and prints them. */
static void show(satchel_store *store, satchel_photos *photos, int *converted, bool prints) {
    satchel_buffer page, thumbnail, bytes;
    must(satchel_photos_query(photos, satchel_text("{\"order\": \"filename\"}"), &page));
    for (size_t index = 0; index < count_of(&page, "photos"); index++) {
        satchel_bytes md5 = satchel_text(string(&page, "/photos/%zu/md5", index));
        must(satchel_photos_thumbnail(photos, md5, EDGE, convert, converted, &thumbnail));
        must(satchel_assets_read(store, satchel_bytes_of(thumbnail), 0, INT64_MAX, &bytes));
        bool is_smaller = (long)bytes.size < number(&page, "/photos/%zu/size", index);
        if (prints) {
            printf("  %-20s  %s, %s\n", string(&page, "/photos/%zu/filename", index),
                   string(&thumbnail, "/_asset/type"), is_smaller ? "smaller" : "as large");
        }
        satchel_buffer_free(&bytes);
        satchel_buffer_free(&thumbnail);
    }
    satchel_buffer_free(&page);
}

int main(int count, char **arguments) {
    if (count != 2) {
        fprintf(stderr, "Usage: gallery folder, of photos\n");
        return 2;
    }
    satchel_store *store;
    satchel_photos *photos;
    satchel_buffer report;
    int converted = 0;
    satchel_open_options options = SATCHEL_OPEN_OPTIONS_INIT;
    options.clock = the_time;
    options.clock_context = &now;
    must(satchel_store_open(":memory:", &options, &store));
    must(satchel_photos_open(store, satchel_text(arguments[1]), SATCHEL_CONFLICT_DEFAULT, &photos));

    must(satchel_photos_scan(photos, NULL, &report));
    printf("Found %ld photos. Their thumbnails:\n", number(&report, "added"));
    satchel_buffer_free(&report);
    show(store, photos, &converted, true);
    printf("The app made %d of them.\n", converted);
    show(store, photos, &converted, false);
    printf("Shown again, none is made: the app has still made %d.\n", converted);

    now += 2 * 3600 * 1000;
    /* A budget of no bytes: what can be made again goes first, and goes after an hour at the earliest. */
    must(satchel_assets_prune(store, 0, &report));
    printf("\nThe disk is nearly full: %ld thumbnails are removed, %ld bytes are left.\n",
           number(&report, "removed"), number(&report, "bytes"));
    satchel_buffer_free(&report);
    show(store, photos, &converted, false);
    printf("When they are needed they are made again: the app has made %d.\n", converted);

    satchel_photos_free(photos);
    must(satchel_store_close(store));
    return 0;
}
