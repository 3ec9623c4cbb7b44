/* satchel_w3: W3 through satchel.h, timed as the limit and the peers are. Exporting works out checksums, writes them
 * into a manifest, and holds them against those that were imported. Unlike the peers' files, exported ones are synced.
 * shards_s is exporting one shard after the other into memory, from where the host writes it, without a sync.
 *
 * Options: photo_run.h; store=FILE */
#include "satchel_photos.h"

static int64_t count_photos(catalogue opened) {
    int64_t photos = 0;
    expect(satchel_photos_count(opened.photos, lend("{}"), &photos));
    return photos;
}

static void export_shard(catalogue opened, int shard, const char *path) {
    satchel_buffer file = SATCHEL_BUFFER_INIT;
    expect(satchel_photos_export_shard(opened.photos, shard, &file));
    int target = create(path);
    write_part(target, file.data, file.size);
    close(target);
    satchel_buffer_free(&file);
}

static void export_shards(catalogue opened, const char *directory) {
    char path[PATH_SIZE];
    for (int shard = 0; shard < SHARDS; shard++) {
        shard_path(path, directory, shard);
        export_shard(opened, shard, path);
    }
}

/** A changed file: what changed is found and taken, and its shard exported. */
static void take_change(catalogue opened, const char *changed, const char *directory) {
    char path[PATH_SIZE];
    import_directory(opened, changed, "\"changed\":[7]");
    snprintf(path, sizeof path, "%s/changed.csv", directory);
    export_shard(opened, CHANGED_SHARD, path);
}

static void get_all(catalogue opened, samples *asked) {
    printf(",\"got\":[");
    for (size_t index = 0; index < asked->count; index++) {
        satchel_buffer photo = SATCHEL_BUFFER_INIT;
        double start = now();
        expect(satchel_photos_get(opened.photos, lend(asked->md5[index]), &photo));
        asked->seconds[index] = now() - start;
        printf("%s%s", index == 0 ? "" : ",", photo.data);
        satchel_buffer_free(&photo);
    }
    printf("]");
}

/** Sets the columns of this device: MD5, camera, latitude, longitude. */
static void set_local(catalogue opened, const char *path) {
    photo_file lines = read_whole(path);
    char *next, camera[64], columns[256];
    double latitude, longitude;
    expect(satchel_store_begin(opened.store));
    for (char *line = strtok_r(lines.data, "\n", &next); line != NULL; line = strtok_r(NULL, "\n", &next)) {
        if (sscanf(line + MD5_DIGITS, ",%63[^,],%lf,%lf", camera, &latitude, &longitude) != 3) fail(line);
        snprintf(columns, sizeof columns, "{\"camera_model\":\"%s\",\"latitude\":%.1f,\"longitude\":%.1f}", camera,
                 latitude, longitude);
        satchel_bytes md5 = {line, MD5_DIGITS};
        expect(satchel_photos_set_local(opened.photos, md5, lend(columns)));
    }
    expect(satchel_store_commit(opened.store));
    free(lines.data);
}

/** Puts the photos of an array. */
static void put_edits(catalogue opened, const char *path) {
    photo_file edits = read_whole(path);
    int64_t changed = 0;
    satchel_bytes rows = {edits.data, edits.size};
    expect(satchel_photos_upsert(opened.photos, rows, &changed));
    if (changed != SHARDS) fail("the photos have not changed");
    free(edits.data);
}

/** Asks for a page by date, and prints it. */
static void print_page(catalogue opened, const char *name, const char *conditions, const char *limit) {
    satchel_buffer page = SATCHEL_BUFFER_INIT;
    char query[512];
    snprintf(query, sizeof query, "{%s,\"order\":\"photodate\",\"limit\":%s}", conditions, limit);
    double start = now();
    expect(satchel_photos_query(opened.photos, lend(query), &page));
    printf(",\"%s_ms\":%.3f,\"%s\":%s", name, (now() - start) * 1e3, name, page.data);
    satchel_buffer_free(&page);
}

/** Counts the photos of each month, and prints it. */
static void print_months(catalogue opened, const char *name, const char *query) {
    satchel_buffer months = SATCHEL_BUFFER_INIT;
    double start = now();
    expect(satchel_photos_counts(opened.photos, lend("month"), lend(query), &months));
    printf(",\"%s_ms\":%.3f,\"%s\":%s", name, (now() - start) * 1e3, name, months.data);
    satchel_buffer_free(&months);
}

int main(int count, char **arguments) {
    const char *path = option(count, arguments, "store", "");
    const char *source = option(count, arguments, "source", "");
    const char *limit = option(count, arguments, "page", "100");
    const char *dates = option(count, arguments, "dates", "");
    samples *asked = read_samples(option(count, arguments, "sampled", ""));
    char target[PATH_SIZE / 2], single[PATH_SIZE / 2], edits[PATH_SIZE];
    snprintf(target, sizeof target, "%s/out", option(count, arguments, "dir", "."));
    snprintf(single, sizeof single, "%s/single", option(count, arguments, "dir", "."));
    if (mkdir(target, 0755) != 0 || mkdir(single, 0755) != 0) fail("cannot make the directories of the export");
    snprintf(edits, sizeof edits, "%s.json", option(count, arguments, "edits", ""));

    double start = now();
    catalogue opened = open_catalogue(path);
    import_directory(opened, source, "\"missing\":[]");
    double committed = now();
    close_catalogue(opened);
    double imported = now();
    long resident = memory_status("VmHWM:");

    opened = open_catalogue(path);
    double exporting = now();
    export_directory(opened, target);
    double exported = now();
    import_directory(opened, source, "\"changed\":[]");
    double looked = now();
    printf("{\"import_s\":%.4f,\"commit_s\":%.4f,\"export_s\":%.4f,\"noop_s\":%.5f", imported - start,
           committed - start, exported - exporting, looked - exported);
    printf(",\"resident\":%ld,\"photos\":%lld", resident, (long long)count_photos(opened));

    double changing = now();
    take_change(opened, option(count, arguments, "changed", ""), target);
    double changed = now();
    printf(",\"change_s\":%.4f", changed - changing);
    set_local(opened, option(count, arguments, "local", ""));
    get_all(opened, asked);
    printf(",\"get_us\":%.2f", percentile(asked->seconds, asked->count, 0.5) * 1e6);
    print_page(opened, "page", dates, limit);
    print_months(opened, "months", "{}");
    print_months(opened, "local", "{\"clock\":\"local\"}");
    put_edits(opened, edits);
    print_months(opened, "months_after", "{}");
    print_page(opened, "page_after", dates, limit);
    print_page(opened, "camera", option(count, arguments, "of_camera", ""), limit);
    print_page(opened, "box", option(count, arguments, "in_box", ""), limit);
    double writing = now();
    export_shards(opened, single);
    printf(",\"shards_s\":%.4f,\"peak\":%ld}\n", now() - writing, memory_status("VmHWM:"));
    close_catalogue(opened);
    free(asked);
    return 0;
}
