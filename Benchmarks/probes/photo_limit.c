/* photo_limit: W3 in C straight over SQLite, with the table and the indexes that Satchel has. A second thread reads and
 * hashes ahead of the one that writes; two export.
 *
 * Options: photo_run.h; journal=TRUNCATE|WAL */
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
        pthread_mutex_lock(&shared->lock);
        shared->is_read[number] = true;
        pthread_cond_signal(&shared->read_one);
        pthread_mutex_unlock(&shared->lock);
    }
    return NULL;
}

static void put_shard(sqlite3 *database, int number, shard *read) {
    sqlite3_stmt *statement = prepare(database, "INSERT OR REPLACE INTO manifest VALUES(?, ?)");
    read->photos = put_lines(database, read->file);
    sqlite3_bind_int(statement, 1, number);
    sqlite3_bind_blob(statement, 2, read->sum.bytes, sizeof read->sum.bytes, SQLITE_STATIC);
    run(database, statement);
    sqlite3_finalize(statement);
}

static size_t import_all(work *shared, const char *source) {
    pthread_t reader;
    size_t photos = 0;
    sqlite3 *database = open_database();
    execute(database, SCHEMA);
    shared->source = source;
    shared->next = 0;
    if (pthread_create(&reader, NULL, read_ahead, shared) != 0) fail("cannot start a thread");
    execute(database, "BEGIN IMMEDIATE");
    for (int number = 0; number < SHARDS; number++) {
        pthread_mutex_lock(&shared->lock);
        while (!shared->is_read[number]) pthread_cond_wait(&shared->read_one, &shared->lock);
        pthread_mutex_unlock(&shared->lock);
        put_shard(database, number, &shared->shards[number]);
        photos += shared->shards[number].photos;
        release_shard(&shared->shards[number]);
    }
    pthread_join(reader, NULL);
    // After the rows, whose dates are in no order.
    execute(database, INDEX);
    execute(database, "COMMIT");
    expect(database, sqlite3_close(database));
    return photos;
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

/** Finds the shards that changed by their checksums, and takes them in. Returns how many. */
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
            execute(database, "BEGIN IMMEDIATE");
            put_shard(database, number, read);
            execute(database, "COMMIT");
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

/** Puts the photos of a file of lines. */
static void take_edits(sqlite3 *database, const char *path) {
    photo_file lines = read_whole(path);
    execute(database, "BEGIN IMMEDIATE");
    put_lines(database, lines);
    execute(database, "COMMIT");
    free(lines.data);
}

int main(int count, char **arguments) {
    const char *source = option(count, arguments, "source", "");
    static work shared = {.lock = PTHREAD_MUTEX_INITIALIZER, .read_one = PTHREAD_COND_INITIALIZER};
    samples *asked = read_samples(option(count, arguments, "sampled", ""));
    long page = atol(option(count, arguments, "page", "100"));
    char target[PATH_SIZE / 2], edits[PATH_SIZE];
    snprintf(target, sizeof target, "%s/out", option(count, arguments, "dir", "."));
    snprintf(edits, sizeof edits, "%s.csv", option(count, arguments, "edits", ""));
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

    sqlite3 *database = open_database();
    put_local(database, option(count, arguments, "local", ""));
    get_all(database, asked);
    printf(",\"get_us\":%.2f", percentile(asked->seconds, asked->count, 0.5) * 1e6);
    print_page(database, "page", option(count, arguments, "dates", "1"), page);
    print_months(database, "months");
    take_edits(database, edits);
    print_months(database, "months_after");
    print_page(database, "page_after", option(count, arguments, "dates", "1"), page);
    print_page(database, "camera", option(count, arguments, "of_camera", "1"), page);
    print_page(database, "box", option(count, arguments, "in_box", "1"), page);
    puts("}");
    expect(database, sqlite3_close(database));
    free(asked);
    return 0;
}
