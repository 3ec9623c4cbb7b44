/* load: what a host pays to have a library. Fresh processes dlopen it (page cache warm) and end; one that is
 * named as satchel or sqlite3 also opens a store, and says how much memory is resident then. Medians.
 *
 * load library=FILE [kind=satchel|sqlite3|other] [store=FILE] [runs=50] */
#include "measure.h"
#include <dlfcn.h>
#include <sys/wait.h>
#include <unistd.h>

enum { RUNS_MAXIMUM = 1000 };

typedef int (*satchel_open)(const char *, const void *, void **);
typedef int (*sqlite_open)(const char *, void **);
typedef int (*sqlite_run)(void *, const char *, void *, void *, void *);

static void open_store(void *library, const char *kind, const char *path) {
    void *store = NULL;
    if (strcmp(kind, "satchel") == 0) {
        satchel_open call = (satchel_open)dlsym(library, "satchel_store_open");
        if (call == NULL || call(path, NULL, &store) != 0) fail("cannot open a store");
    } else if (strcmp(kind, "sqlite3") == 0) {
        sqlite_open call = (sqlite_open)dlsym(library, "sqlite3_open");
        sqlite_run run = (sqlite_run)dlsym(library, "sqlite3_exec");
        if (call == NULL || run == NULL || call(path, &store) != 0) fail("cannot open a database");
        const char *sql = "PRAGMA journal_mode=WAL; CREATE TABLE IF NOT EXISTS entity(body TEXT)";
        if (run(store, sql, NULL, NULL, NULL) != 0) fail("cannot use the database");
    }
}

/** The fresh process: loads, opens, prints, and ends without closing anything. */
static int child(int count, char **arguments) {
    double start = now();
    void *library = dlopen(option(count, arguments, "library", ""), RTLD_NOW);
    double loaded = now() - start;
    if (library == NULL) fail(dlerror());
    open_store(library, option(count, arguments, "kind", "other"), option(count, arguments, "store", ""));
    printf("%.6f %ld\n", loaded * 1e3, memory_status("VmRSS:"));
    fflush(stdout);
    _exit(0);
}

static void run_child(char **arguments, double *milliseconds, double *resident) {
    int ends[2];
    if (pipe(ends) != 0) fail("cannot make a pipe");
    pid_t process = fork();
    if (process < 0) fail("cannot fork");
    if (process == 0) {
        dup2(ends[1], STDOUT_FILENO);
        close(ends[0]);
        close(ends[1]);
        setenv("LOAD_CHILD", "1", 1);
        execv("/proc/self/exe", arguments);
        _exit(127);
    }
    close(ends[1]);
    FILE *answer = fdopen(ends[0], "r");
    int status = 0, fields = fscanf(answer, "%lf %lf", milliseconds, resident);
    fclose(answer);
    waitpid(process, &status, 0);
    if (fields != 2 || status != 0) fail("the fresh process failed");
}

int main(int count, char **arguments) {
    if (getenv("LOAD_CHILD") != NULL) return child(count, arguments);
    size_t runs = (size_t)atoi(option(count, arguments, "runs", "50"));
    static double milliseconds[RUNS_MAXIMUM], resident[RUNS_MAXIMUM];
    double ignored[2];
    if (runs < 1 || runs > RUNS_MAXIMUM) fail("runs is from 1 to 1000");
    run_child(arguments, &ignored[0], &ignored[1]);  /* warms the page cache and makes the store */
    for (size_t index = 0; index < runs; index++) run_child(arguments, &milliseconds[index], &resident[index]);
    printf("{\"load_ms\":%.3f,\"resident_bytes\":%.0f}\n", percentile(milliseconds, runs, 0.5),
           percentile(resident, runs, 0.5));
    return 0;
}
