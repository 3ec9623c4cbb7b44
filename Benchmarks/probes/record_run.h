/* record_run.h: one run of W5 over whatever keeps records, timed and answered as peers/records.py does it.
 *
 * PROGRAM mode=run|fill|start|save data=DIR dir=DIR [singles=1000] [batch=1000] */
#ifndef RECORD_RUN_H
#define RECORD_RUN_H

#include "record_lines.h"
#include <nettle/sha2.h>

/** The store of the records. Each write is durable when it returns. */
typedef struct keeper {
    void (*open)(const char *directory);
    void (*put)(const record *one);
    void (*put_many)(const record *some, size_t count);
    /** NULL when it is not there; valid until release(). */
    slice (*get)(slice id);
    void (*release)(void);
    void (*remove)(slice id);
    void (*save)(const record *value);
    void (*save_many)(const record *values, size_t count);
    slice (*value)(slice key);
    void (*close)(void);
} keeper;

/** Prints a median and a 95th percentile. */
static inline void print_times(const char *name, double *seconds, size_t count) {
    double median = percentile(seconds, count, 0.5), slow = percentile(seconds, count, 0.95);
    printf("\"%s_us\":%.3f,\"%s_p95_us\":%.3f,", name, median * 1e6, name, slow * 1e6);
}

static inline void put_each(const keeper *keep, const char *name, const record *some, size_t count) {
    double *seconds = allocate((count + 1) * sizeof *seconds);
    for (size_t index = 0; index < count; index++) {
        double start = now();
        keep->put(&some[index]);
        seconds[index] = now() - start;
    }
    print_times(name, seconds, count);
    free(seconds);
}

static inline void save_each(const keeper *keep, const record *values, size_t count) {
    double *seconds = allocate((count + 1) * sizeof *seconds);
    for (size_t index = 0; index < count; index++) {
        double start = now();
        keep->save(&values[index]);
        seconds[index] = now() - start;
    }
    print_times("value", seconds, count);
    free(seconds);
}

static inline void get_each(const keeper *keep, records asked) {
    double *seconds = allocate((asked.count + 1) * sizeof *seconds);
    for (size_t index = 0; index < asked.count; index++) {
        double start = now();
        slice found = keep->get(asked.all[index].id);
        if (found.data == NULL) fail("a record is missing");
        keep->release();
        seconds[index] = now() - start;
    }
    print_times("read", seconds, asked.count);
    free(seconds);
}

static inline void remove_each(const keeper *keep, records gone) {
    double *seconds = allocate((gone.count + 1) * sizeof *seconds);
    for (size_t index = 0; index < gone.count; index++) {
        double start = now();
        keep->remove(gone.all[index].id);
        seconds[index] = now() - start;
    }
    print_times("delete", seconds, gone.count);
    free(seconds);
}

/** Adds every document to a digest; a line of "-" is a missing one. */
static inline void digest_documents(const keeper *keep, struct sha256_ctx *digest, records some) {
    for (size_t index = 0; index < some.count; index++) {
        slice found = keep->get(some.all[index].id);
        if (found.data == NULL) found = (slice){"-", 1};
        sha256_update(digest, found.size, (const uint8_t *)found.data);
        sha256_update(digest, 1, (const uint8_t *)"\n");
        keep->release();
    }
}

static inline void print_digest(const char *name, struct sha256_ctx *digest) {
    uint8_t bytes[SHA256_DIGEST_SIZE];
    sha256_digest(digest, sizeof bytes, bytes);
    printf("\"%s\":\"", name);
    for (size_t index = 0; index < sizeof bytes; index++) printf("%02x", bytes[index]);
    printf("\",");
}

static inline int run_all(const keeper *keep, const char *data, const char *directory, size_t singles,
                          size_t batch) {
    records all = read_lines(data, "records.jsonl", cut_record);
    records later = read_lines(data, "later.jsonl", cut_record);
    records updates = read_lines(data, "updates.jsonl", cut_record);
    records gone = read_lines(data, "deleted.txt", cut_id), asked = read_lines(data, "reads.txt", cut_id);
    struct sha256_ctx digest;
    if (singles > all.count) singles = all.count;

    printf("{");
    keep->open(directory);
    put_each(keep, "put", all.all, singles);
    double start = now();
    for (size_t first = singles; first < all.count; first += batch) {
        size_t left = all.count - first;
        keep->put_many(&all.all[first], left < batch ? left : batch);
    }
    double written = now();
    keep->close();
    double closed = now();
    keep->open(directory);
    double opened = now();
    get_each(keep, asked);
    sha256_init(&digest);
    digest_documents(keep, &digest, all);
    print_digest("digest", &digest);
    put_each(keep, "later", later.all, later.count);
    put_each(keep, "update", updates.all, updates.count);
    remove_each(keep, gone);
    sha256_init(&digest);
    digest_documents(keep, &digest, all);
    digest_documents(keep, &digest, later);
    print_digest("final", &digest);
    keep->close();
    printf("\"batch_s\":%.4f,\"closed_s\":%.4f,\"open_ms\":%.4f,\"resident\":%ld}\n", written - start,
           closed - start, (opened - closed) * 1e3, memory_status("VmHWM:"));
    return 0;
}

static inline int fill(const keeper *keep, const char *data, const char *directory) {
    enum { AT_ONCE = 1000 };
    records all = read_lines(data, "records.jsonl", cut_record);
    records values = read_lines(data, "state.jsonl", cut_value);
    double start = now();
    keep->open(directory);
    for (size_t first = 0; first < all.count; first += AT_ONCE) {
        size_t left = all.count - first;
        keep->put_many(&all.all[first], left < AT_ONCE ? left : AT_ONCE);
    }
    keep->save_many(values.all, values.count);
    keep->close();
    printf("{\"fill_s\":%.3f}\n", now() - start);
    return 0;
}

/** Copies what was found, for it to be printed once the clock has stopped. */
static inline slice copy(slice found) {
    if (found.data == NULL) fail("a record or a value is missing");
    char *data = allocate(found.size);
    memcpy(data, found.data, found.size);
    return (slice){data, found.size};
}

static inline void print_slices(const char *name, const slice *some, size_t count) {
    printf("\"%s\":[", name);
    for (size_t index = 0; index < count; index++)
        printf("%s%.*s", index == 0 ? "" : ",", (int)some[index].size, some[index].data);
    printf("]");
}

static inline int start_up(const keeper *keep, const char *data, const char *directory) {
    enum { MAXIMUM = 100 };
    records asked = read_lines(data, "start.txt", cut_id);
    records values = read_lines(data, "state.jsonl", cut_value);
    slice found[MAXIMUM], kept[MAXIMUM];
    if (asked.count > MAXIMUM) fail("too many records to start with");
    long before = memory_status("VmRSS:");

    double start = now();
    keep->open(directory);
    double opened = now();
    for (size_t index = 0; index < asked.count; index++) {
        found[index] = copy(keep->get(asked.all[index].id));
        keep->release();
    }
    for (size_t index = 0; index < asked.count; index++) {
        kept[index] = copy(keep->value(values.all[index].id));
        keep->release();
    }
    double read = now();

    double resident = (double)(memory_status("VmRSS:") - before) / 1e6;
    keep->close();
    printf("{\"open_ms\":%.4f,\"total_ms\":%.4f,\"resident_mb\":%.3f,\"started\":{", (opened - start) * 1e3,
           (read - start) * 1e3, resident);
    print_slices("records", found, asked.count);
    printf(",");
    print_slices("values", kept, asked.count);
    printf("}}\n");
    return 0;
}

/** Puts a number in the place of the one that every update has. */
static inline void renew(record *update, long long number) {
    static const char old[] = "\"n\":-1";
    const char *document = update->document.data, *end = document + update->document.size;
    const char *found = memmem(document, update->document.size, old, sizeof old - 1);
    if (found == NULL) fail("the update is not the generator's");
    size_t room = update->document.size + 32;
    char *text = allocate(room);
    const char *rest = found + sizeof old - 1;
    int size = snprintf(text, room, "%.*s\"n\":%lld%.*s", (int)(found - document), document, number,
                        (int)(end - rest), rest);
    update->document = (slice){text, (size_t)size};
}

/** The values that an app's start reads stay as they are. All that is saved is new: an unchanged value costs nothing. */
static inline int save_all(const keeper *keep, const char *data, const char *directory) {
    enum { TEXT_SIZE = 64 };
    records updates = read_lines(data, "updates.jsonl", cut_record);
    records values = read_lines(data, "state.jsonl", cut_value);
    size_t untouched = read_lines(data, "start.txt", cut_id).count;
    long long new = (long long)time(NULL) * 1000000 + (long long)(now() * 1e6) % 1000000;
    for (size_t index = 0; index < updates.count; index++) renew(&updates.all[index], new);
    for (size_t index = untouched; index < values.count; index++) {
        char *text = allocate(TEXT_SIZE);
        int size = snprintf(text, TEXT_SIZE, "{\"at\":%lld}", new + (long long)index);
        values.all[index].document = (slice){text, (size_t)size};
    }
    keep->open(directory);
    printf("{");
    put_each(keep, "record", updates.all, updates.count);
    save_each(keep, values.all + untouched, values.count - untouched);
    keep->close();
    printf("\"resident\":%ld}\n", memory_status("VmHWM:"));
    return 0;
}

static inline int run_records(const keeper *keep, int count, char **arguments) {
    const char *mode = option(count, arguments, "mode", "run");
    const char *data = option(count, arguments, "data", "."), *directory = option(count, arguments, "dir", ".");
    size_t singles = (size_t)atol(option(count, arguments, "singles", "1000"));
    size_t batch = (size_t)atol(option(count, arguments, "batch", "1000"));
    if (batch == 0) fail("a batch of nothing");
    if (strcmp(mode, "run") == 0) return run_all(keep, data, directory, singles, batch);
    if (strcmp(mode, "fill") == 0) return fill(keep, data, directory);
    if (strcmp(mode, "start") == 0) return start_up(keep, data, directory);
    if (strcmp(mode, "save") == 0) return save_all(keep, data, directory);
    fail("mode=run, fill, start or save");
    return 1;
}

#endif
