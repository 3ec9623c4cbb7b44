/* photo_limit: W3 in C straight over SQLite. A shard is kept as blocks of the lines as they came; a second
 * thread reads, hashes and checks ahead of the one that writes.
 *
 * Options: photo_run.h; journal=TRUNCATE|WAL */
#include "photo_blocks.h"
#include "photo_look.h"
#include <pthread.h>

enum { THREADS = 2 };

/** The state that the threads of a phase share: a free thread takes the next shard. */
typedef struct work {
    pthread_mutex_t lock;
    pthread_cond_t read_one;
    int next;
    bool is_read[SHARDS];
    const char *source, *target;
    shard shards[SHARDS];
    checksum sums[SHARDS];
} work;

static int next_shard(work *shared) {
    pthread_mutex_lock(&shared->lock);
    int shard = shared->next < SHARDS ? shared->next++ : -1;
    pthread_mutex_unlock(&shared->lock);
    return shard;
}

static void in_parallel(work *shared, void *(*part)(void *)) {
    pthread_t others[THREADS];
    shared->next = 0;
    for (int index = 1; index < THREADS; index++)
        if (pthread_create(&others[index], NULL, part, shared) != 0) fail("cannot start a thread");
    part(shared);
    for (int index = 1; index < THREADS; index++) pthread_join(others[index], NULL);
}

static void *read_ahead(void *argument) {
    work *shared = argument;
    for (int number; (number = next_shard(shared)) >= 0;) {
        read_shard(&shared->shards[number], shared->source, number);
        cut_shard(&shared->shards[number]);
        pthread_mutex_lock(&shared->lock);
        shared->is_read[number] = true;
        pthread_cond_signal(&shared->read_one);
        pthread_mutex_unlock(&shared->lock);
    }
    return NULL;
}

static void put_manifest(sqlite3 *database, int number, const shard *read) {
    sqlite3_stmt *statement = prepare(database, "INSERT OR REPLACE INTO manifest VALUES(?, ?, ?)");
    sqlite3_bind_int(statement, 1, number);
    sqlite3_bind_blob(statement, 2, read->sum.bytes, sizeof read->sum.bytes, SQLITE_STATIC);
    sqlite3_bind_int64(statement, 3, (int64_t)read->photos);
    run(database, statement);
    sqlite3_finalize(statement);
}

static void put_shard(sqlite3 *database, int number, const shard *read) {
    sqlite3_stmt *block = prepare(database, "INSERT INTO block(lines) VALUES(?)");
    sqlite3_stmt *place = prepare(database, "INSERT INTO place VALUES(?, ?, ?)");
    execute(database, "BEGIN IMMEDIATE");
    for (size_t index = 0; index < read->count; index++) {
        sqlite3_bind_blob(block, 1, read->blocks[index].lines, (int)read->blocks[index].size, SQLITE_STATIC);
        run(database, block);
        sqlite3_bind_int(place, 1, number);
        sqlite3_bind_text(place, 2, read->blocks[index].lines, MD5_DIGITS, SQLITE_STATIC);
        sqlite3_bind_int64(place, 3, sqlite3_last_insert_rowid(database));
        run(database, place);
    }
    sqlite3_finalize(block);
    sqlite3_finalize(place);
    put_manifest(database, number, read);
    execute(database, "COMMIT");
}

static size_t import_all(work *shared, const char *source) {
    pthread_t reader;
    size_t photos = 0;
    sqlite3 *database = open_database();
    execute(database, SCHEMA);
    shared->source = source;
    shared->next = 0;
    if (pthread_create(&reader, NULL, read_ahead, shared) != 0) fail("cannot start a thread");
    for (int number = 0; number < SHARDS; number++) {
        pthread_mutex_lock(&shared->lock);
        while (!shared->is_read[number]) pthread_cond_wait(&shared->read_one, &shared->lock);
        pthread_mutex_unlock(&shared->lock);
        put_shard(database, number, &shared->shards[number]);
        photos += shared->shards[number].photos;
        release_shard(&shared->shards[number]);
    }
    pthread_join(reader, NULL);
    expect(database, sqlite3_close(database));
    return photos;
}

static checksum export_shard(sqlite3 *database, int number, const char *path) {
    struct sha256_ctx context;
    checksum sum;
    int file = create(path);
    bool is_first = true;
    sqlite3_stmt *blocks = prepare(database, BLOCKS_OF);
    sqlite3_bind_int(blocks, 1, number);
    sha256_init(&context);
    while (sqlite3_step(blocks) == SQLITE_ROW) {
        const char *lines = sqlite3_column_blob(blocks, 1);
        size_t size = (size_t)sqlite3_column_bytes(blocks, 1);
        if (!is_first) {
            sha256_update(&context, 1, (const uint8_t *)"\n");
            write_part(file, "\n", 1);
        }
        is_first = false;
        sha256_update(&context, size, (const uint8_t *)lines);
        write_part(file, lines, size);
    }
    sqlite3_finalize(blocks);
    close(file);
    sha256_digest(&context, sizeof sum.bytes, sum.bytes);
    return sum;
}

static void *export_some(void *argument) {
    work *shared = argument;
    sqlite3 *database = open_database();
    for (int number; (number = next_shard(shared)) >= 0;) {
        char path[PATH_SIZE];
        shard_path(path, shared->target, number);
        shared->sums[number] = export_shard(database, number, path);
    }
    expect(database, sqlite3_close(database));
    return NULL;
}

static void *read_some(void *argument) {
    work *shared = argument;
    for (int number; (number = next_shard(shared)) >= 0;)
        read_shard(&shared->shards[number], shared->source, number);
    return NULL;
}

static void take_changes(sqlite3 *database, int number, shard *read) {
    sqlite3_stmt *blocks = prepare(database, BLOCKS_OF);
    sqlite3_stmt *update = prepare(database, "UPDATE block SET lines = ? WHERE id = ?");
    size_t index = 0;
    cut_shard(read);
    execute(database, "BEGIN IMMEDIATE");
    sqlite3_bind_int(blocks, 1, number);
    for (; sqlite3_step(blocks) == SQLITE_ROW; index++) {
        const block *fresh = &read->blocks[index];
        if (index >= read->count) fail("the blocks have moved");
        if (fresh->size == (size_t)sqlite3_column_bytes(blocks, 1) &&
            memcmp(fresh->lines, sqlite3_column_blob(blocks, 1), fresh->size) == 0)
            continue;
        sqlite3_bind_blob(update, 1, fresh->lines, (int)fresh->size, SQLITE_STATIC);
        sqlite3_bind_int64(update, 2, sqlite3_column_int64(blocks, 0));
        run(database, update);
    }
    sqlite3_finalize(blocks);
    sqlite3_finalize(update);
    put_manifest(database, number, read);
    execute(database, "COMMIT");
}

/** Finds the shards that changed by their checksums, and takes the changed blocks. Returns how many. */
static int take_all(work *shared, const char *source) {
    int changed = 0;
    shared->source = source;
    in_parallel(shared, read_some);
    sqlite3 *database = open_database();
    sqlite3_stmt *known = prepare(database, "SELECT checksum FROM manifest WHERE shard = ?");
    for (int number = 0; number < SHARDS; number++) {
        shard *read = &shared->shards[number];
        sqlite3_bind_int(known, 1, number);
        bool is_same = sqlite3_step(known) == SQLITE_ROW &&
                       memcmp(sqlite3_column_blob(known, 0), read->sum.bytes, sizeof read->sum.bytes) == 0;
        sqlite3_reset(known);
        if (!is_same) {
            take_changes(database, number, read);
            char path[PATH_SIZE];
            snprintf(path, sizeof path, "%s/changed.csv", shared->target);
            shared->sums[number] = export_shard(database, number, path);
            changed++;
        }
        release_shard(read);
    }
    sqlite3_finalize(known);
    expect(database, sqlite3_close(database));
    return changed;
}

int main(int count, char **arguments) {
    const char *source = option(count, arguments, "source", "");
    static work shared = {.lock = PTHREAD_MUTEX_INITIALIZER, .read_one = PTHREAD_COND_INITIALIZER};
    samples *asked = read_samples(option(count, arguments, "sampled", ""));
    dated *found = allocate(sizeof *found * DATES_MAXIMUM);
    size_t page = (size_t)atol(option(count, arguments, "page", "100"));
    char target[PATH_SIZE / 2];
    snprintf(target, sizeof target, "%s/out", option(count, arguments, "dir", "."));
    snprintf(database_path, sizeof database_path, "%s/store.db", option(count, arguments, "dir", "."));
    journal = option(count, arguments, "journal", "TRUNCATE");
    if (mkdir(target, 0755) != 0) fail("cannot make the directory of the export");
    shared.target = target;

    double start = now();
    size_t photos = import_all(&shared, source);
    double imported = now();
    long resident = memory_status("VmHWM:");
    double exporting = now();
    in_parallel(&shared, export_some);
    double exported = now();
    if (take_all(&shared, source) != 0) fail("what did not change was taken");
    double looked = now();
    printf("{\"import_s\":%.4f,\"export_s\":%.4f,\"noop_s\":%.5f", imported - start, exported - exporting,
           looked - exported);
    printf(",\"resident\":%ld,\"photos\":%zu,\"exported\":[", resident, photos);
    for (int number = 0; number < SHARDS; number++) {
        if (number > 0) putchar(',');
        print_checksum(&shared.sums[number]);
    }

    double changing = now();
    if (take_all(&shared, option(count, arguments, "changed", "")) != 1) fail("one shard has changed");
    double changed = now();
    printf("],\"change_s\":%.4f,\"changed\":", changed - changing);
    print_checksum(&shared.sums[CHANGED_SHARD]);
    get_all(asked);
    double listing = now();
    size_t listed = list_dates(found, atoll(option(count, arguments, "from", "0")),
                               atoll(option(count, arguments, "to", "0")));
    double finished = now();
    double median = percentile(asked->seconds, asked->count, 0.5);
    printf(",\"get_us\":%.2f,\"page_ms\":%.3f,\"page\":[", median * 1e6, (finished - listing) * 1e3);
    for (size_t index = 0; index < listed && index < page; index++)
        printf("%s\"%s\"", index == 0 ? "" : ",", found[index].md5);
    puts("]}");
    free(found);
    free(asked);
    return 0;
}
