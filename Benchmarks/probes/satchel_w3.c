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

int main(int count, char **arguments) {
    const char *path = option(count, arguments, "store", "");
    const char *source = option(count, arguments, "source", "");
    const char *from = option(count, arguments, "from", "0"), *to = option(count, arguments, "to", "0");
    samples *asked = read_samples(option(count, arguments, "sampled", ""));
    char target[PATH_SIZE / 2], single[PATH_SIZE / 2], query[512];
    satchel_buffer page = SATCHEL_BUFFER_INIT;
    snprintf(target, sizeof target, "%s/out", option(count, arguments, "dir", "."));
    snprintf(single, sizeof single, "%s/single", option(count, arguments, "dir", "."));
    if (mkdir(target, 0755) != 0 || mkdir(single, 0755) != 0) fail("cannot make the directories of the export");
    snprintf(query, sizeof query, "{\"from\":%s,\"to\":%s,\"order\":\"photodate\",\"limit\":%s}", from, to,
             option(count, arguments, "page", "100"));

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
    get_all(opened, asked);
    double listing = now();
    expect(satchel_photos_query(opened.photos, lend(query), &page));
    double finished = now();
    export_shards(opened, single);
    double written = now();
    double median = percentile(asked->seconds, asked->count, 0.5);
    printf(",\"get_us\":%.2f,\"page_ms\":%.3f,\"shards_s\":%.4f,\"page\":%s,\"peak\":%ld}\n", median * 1e6,
           (finished - listing) * 1e3, written - finished, page.data, memory_status("VmHWM:"));
    satchel_buffer_free(&page);
    close_catalogue(opened);
    free(asked);
    return 0;
}
