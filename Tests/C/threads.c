/* Eight threads, and a second process, persist, read and prune in one store. What is read is always whole.
 * Usage: threads FOLDER, or threads STORE SECONDS as the second process. SATCHEL_SECONDS sets the time. */
#include <pthread.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "generations.h"

#define THREADS 8
#define PLACES 4

/** One thread's work and what it saw. */
struct worker {
    pthread_t thread;
    satchel_store *store;
    long long generation; /* the next to write; each worker has numbers of its own */
    double seconds;
    long persisted, read, pruned, busy, wrong;
};

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

/** Counts a call: success, a timeout, or another failure. */
static bool went_well(struct worker *worker, satchel_status status, long *successes) {
    if (status == SATCHEL_OK) {
        ++*successes;
        return true;
    }
    if (status == SATCHEL_EBUSY) {
        worker->busy++;
    } else {
        worker->wrong++;
        fprintf(stderr, "%s: %s\n", satchel_status_name(status), satchel_error_message());
    }
    return false;
}

static void persist(struct worker *worker, const char *location) {
    char *section = section_of(worker->generation);
    worker->generation += 100;
    went_well(worker, satchel_catalogue_persist(worker->store, text(location), text(section), NULL, NULL),
              &worker->persisted);
    free(section);
}

static void read_whole(struct worker *worker, const char *location) {
    satchel_buffer out = SATCHEL_BUFFER_INIT;
    satchel_status status = satchel_catalogue_load(worker->store, text(location), text("town"), NULL, &out);
    if (!went_well(worker, status, &worker->read) || !out.data) return;
    json_t *loaded = take(&out);
    json_t *level = json_object_get(loaded, "level");
    long long shared;
    /* Another town's content is inherited without its local entities, until this town has its own. */
    if (json_is_string(level) && strcmp(json_string_value(level), "locality") == 0
        && whole_generation(loaded, &shared) < 0) {
        worker->wrong++;
    }
    json_decref(loaded);
}

static void prune(struct worker *worker) {
    satchel_prune_options options = SATCHEL_PRUNE_OPTIONS_INIT;
    options.unreferenced = true;
    went_well(worker, satchel_catalogue_prune(worker->store, &options, NULL), &worker->pruned);
}

static void *work(void *context) {
    struct worker *worker = context;
    unsigned seed = (unsigned)worker->generation;
    for (double end = now() + worker->seconds; now() < end;) {
        char location[128];
        int choice = rand_r(&seed) % 20;
        place_of(rand_r(&seed) % PLACES, location, sizeof location);
        if (choice < 6) {
            persist(worker, location);
        } else if (choice < 19) {
            read_whole(worker, location);
        } else {
            prune(worker);
        }
    }
    return NULL;
}

/** Works on an open store with some threads, and counts what they saw. */
static void crowd(satchel_store *store, int first, int threads, double seconds) {
    static struct worker workers[THREADS];
    struct worker sum = {0};
    for (int index = 0; index < threads; index++) {
        workers[index] = (struct worker){.store = store, .generation = first + index, .seconds = seconds};
        if (pthread_create(&workers[index].thread, NULL, work, &workers[index]) != 0)
            give_up("starting a thread");
    }
    for (int index = 0; index < threads; index++) {
        pthread_join(workers[index].thread, NULL);
        sum.persisted += workers[index].persisted;
        sum.read += workers[index].read;
        sum.pruned += workers[index].pruned;
        sum.busy += workers[index].busy;
        sum.wrong += workers[index].wrong;
    }
    fprintf(stderr, "threads: %d: %ld persisted, %ld read, %ld pruned, %ld busy\n", threads, sum.persisted,
            sum.read, sum.pruned, sum.busy);
    CHECK(sum.persisted > 0, "nothing was persisted");
    CHECK(sum.read > 0, "nothing was read");
    CHECK(sum.pruned > 0, "nothing was pruned");
    CHECK(sum.wrong == 0, "%ld times something was not whole, or failed otherwise than busy", sum.wrong);
}

static satchel_store *open_store(const char *path) {
    satchel_store *store;
    satchel_open_options options = SATCHEL_OPEN_OPTIONS_INIT;
    options.relaxed_durability = true;
    must(satchel_store_open(path, &options, &store), path);
    return store;
}

static int second_process(const char *path, double seconds) {
    satchel_store *store = open_store(path);
    crowd(store, THREADS + 1, 2, seconds);
    must(satchel_store_close(store), "closing");
    return checks_failed == 0 ? 0 : 1;
}

int main(int count, char **arguments) {
    if (count == 3) return second_process(arguments[1], atof(arguments[2]));
    if (count != 2) return 2;
    const char *seconds = getenv("SATCHEL_SECONDS") ? getenv("SATCHEL_SECONDS") : "3";
    char path[4096];
    snprintf(path, sizeof path, "%s/threads.satchel", arguments[1]);

    pid_t child = fork();
    if (child == 0) {
        execl(arguments[0], arguments[0], path, seconds, (char *)NULL);
        _exit(127);
    }
    satchel_store *store = open_store(path);
    crowd(store, 1, THREADS, atof(seconds));
    int status = 0;
    waitpid(child, &status, 0);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0, "the second process failed (%d)", status);

    satchel_buffer out = SATCHEL_BUFFER_INIT;
    must(satchel_store_check(store, &out), "checking the store");
    CHECK(strcmp(out.data, "[]") == 0, "the store is not sound: %s", out.data);
    satchel_buffer_free(&out);
    must(satchel_store_close(store), "closing");
    return close_checks();
}
