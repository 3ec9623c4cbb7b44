/* Paths and files that cannot be opened as a store, and that stay as they are. Usage: bad_files FOLDER */
#include <sqlite3.h>
#include <sys/stat.h>
#include <unistd.h>

#include "bad_input.h"

static int releases;

static int64_t frozen(void *context) { return *(int64_t *)context; }

static void count_release(void *context) {
    (void)context;
    releases++;
}

static const char *below(const char *folder, const char *name) {
    static char path[4096];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return path;
}

/** A whole file; the caller frees it. */
static char *contents(const char *path, size_t *size) {
    FILE *file = fopen(path, "rb");
    if (!file) give_up(path);
    fseek(file, 0, SEEK_END);
    *size = (size_t)ftell(file);
    rewind(file);
    char *bytes = malloc(*size + 1);
    if (fread(bytes, 1, *size, file) != *size) give_up(path);
    fclose(file);
    return bytes;
}

static void cannot_open(const char *what, satchel_status wanted, const char *path,
                        const satchel_open_options *options) {
    satchel_store *store = (satchel_store *)&releases;
    const char *name = path && strrchr(path, '/') ? strrchr(path, '/') + 1 : NULL;
    refused(what, wanted, name, satchel_store_open(path, options, &store));
    CHECK(store == NULL, "%s: the out-parameter is not emptied", what);
}

/** As cannot_open(), and the file keeps every byte. */
static void left_alone(const char *what, satchel_status wanted, const char *path) {
    size_t size_before, size_after;
    char *before = contents(path, &size_before);
    cannot_open(what, wanted, path, NULL);
    char *after = contents(path, &size_after);
    CHECK(size_before == size_after && memcmp(before, after, size_before) == 0, "%s: the file was changed",
          what);
    free(before);
    free(after);
}

/** A store on disk with more than one page of content. */
static void make_store(const char *path) {
    satchel_store *store;
    must(satchel_store_open(path, NULL, &store), path);
    for (int index = 0; index < 50; index++) {
        char section[4096], filler[3000];
        memset(filler, 'x', sizeof filler - 1);
        filler[sizeof filler - 1] = '\0';
        snprintf(section, sizeof section,
                 "{\"section\":\"s%d\",\"content\":{\"a\":{\"text\":\"%d%s\",\"_storage\":{\"entity_id\":\"s%"
                 "d:a\","
                 "\"scope\":\"global\"}}}}",
                 index, index, filler, index);
        must(satchel_catalogue_persist(store, text(PARIS), text(section), NULL, NULL), "persisting");
    }
    must(satchel_store_close(store), "closing");
}

static void paths(const char *folder) {
    satchel_open_options reading = SATCHEL_OPEN_OPTIONS_INIT;
    reading.read_only = true;
    cannot_open("no path", SATCHEL_EINVALID, NULL, NULL);
    cannot_open("an empty path", SATCHEL_EINVALID, "", NULL);
    cannot_open("a path of bad UTF-8", SATCHEL_EINVALID, "\xFF\xFE", NULL);
    cannot_open("a missing directory", SATCHEL_ENOTFOUND, below(folder, "nowhere/guide.satchel"), NULL);
    cannot_open("a missing file, to read", SATCHEL_ENOTFOUND, below(folder, "nothing.satchel"), &reading);
    CHECK(access(below(folder, "nothing.satchel"), F_OK) != 0, "opening to read made a file");
    mkdir(below(folder, "directory"), 0755);
    cannot_open("a directory", SATCHEL_EFOREIGN, below(folder, "directory"), NULL);
    refused("no out-parameter", SATCHEL_EINVALID, NULL, satchel_store_open(":memory:", NULL, NULL));
}

static void options(const char *folder) {
    static const size_t sizes[] = {0, 1, SIZE_MAX, SIZE_MAX / 2};
    int64_t now = 0;
    satchel_open_options table = SATCHEL_OPEN_OPTIONS_INIT;
    for (size_t index = 0; index < sizeof sizes / sizeof *sizes; index++) {
        table.size = sizes[index];
        cannot_open("options of an impossible size", SATCHEL_EINVALID, ":memory:", &table);
        CHECK(strstr(satchel_error_message(), "size") != NULL, "the message does not name the size: %s",
              satchel_error_message());
    }
    satchel_open_options clocked = SATCHEL_OPEN_OPTIONS_INIT;
    clocked.clock = frozen;
    clocked.clock_context = &now;
    clocked.clock_release = count_release;
    releases = 0;
    cannot_open("a clock, and no path", SATCHEL_EINVALID, NULL, &clocked);
    CHECK(releases == 1, "a clock was released %d times after a failure", releases);
    cannot_open("a clock, and no directory", SATCHEL_ENOTFOUND, below(folder, "nowhere/clock"), &clocked);
    CHECK(releases == 2, "a clock was released %d times after two failures", releases);
    satchel_store *store;
    must(satchel_store_open(":memory:", &clocked, &store), "opening with a clock");
    CHECK(releases == 2, "a clock was released while it is needed");
    must(satchel_store_close(store), "closing");
    CHECK(releases == 3, "a clock was released %d times at the end", releases - 2);
}

static void files(const char *folder) {
    const char *path = below(folder, "text.satchel");
    FILE *file = fopen(path, "w");
    for (int line = 0; line < 400; line++) fprintf(file, "This is a letter, and no store. Line %d.\n", line);
    fclose(file);
    left_alone("a text file", SATCHEL_EFOREIGN, path);

    path = below(folder, "foreign.satchel");
    sqlite3 *database;
    if (sqlite3_open(path, &database) != SQLITE_OK
        || sqlite3_exec(database, "CREATE TABLE album(title); INSERT INTO album VALUES('Blue')", 0, 0, 0)
               != SQLITE_OK) {
        give_up("making another program's database");
    }
    sqlite3_close(database);
    left_alone("another program's database", SATCHEL_EFOREIGN, path);

    path = below(folder, "truncated.satchel");
    make_store(path);
    struct stat status;
    if (stat(path, &status) != 0 || status.st_size < 20000)
        give_up("a store that is smaller than its content");
    if (truncate(path, status.st_size / 2) != 0) give_up("truncating");
    left_alone("a store cut in half", SATCHEL_EDAMAGED, path);
}

static void read_only(const char *folder) {
    const char *path = below(folder, "reading.satchel");
    make_store(path);
    satchel_open_options reading = SATCHEL_OPEN_OPTIONS_INIT;
    reading.read_only = true;
    satchel_store *store;
    must(satchel_store_open(path, &reading, &store), "opening to read");
    bool only_reading = false;
    CHECK(satchel_store_is_read_only(store, &only_reading) == SATCHEL_OK && only_reading,
          "the store says it can write");
    fill_out_with_nonsense();
    refused_out("persisting in a store opened to read", SATCHEL_EREADONLY, NULL,
                satchel_catalogue_persist(store, text(PARIS), text(FACTS), NULL, &out));
    refused_out("pruning in a store opened to read", SATCHEL_EREADONLY, NULL,
                satchel_catalogue_prune(store, NULL, &out));
    refused("a location in a store opened to read", SATCHEL_EREADONLY, NULL,
            satchel_catalogue_set_active_location(store, text(PARIS)));
    must(satchel_store_close(store), "closing");
}

int main(int count, char **arguments) {
    if (count != 2) return 2;
    paths(arguments[1]);
    options(arguments[1]);
    files(arguments[1]);
    read_only(arguments[1]);
    return close_checks();
}
