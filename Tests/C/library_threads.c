/* Eight threads on two libraries of one directory, while its files change. What is read is always whole.
 * Usage: library_threads FOLDER. SATCHEL_SECONDS sets the time. */
#include <pthread.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "stories.h"

#define THREADS 8
#define STORIES 6 /* the last one comes and goes, and the one before is written in place */

struct worker {
    pthread_t thread;
    satchel_stories *stories;
    unsigned seed;
    bool may_close; /* whether the library may be freed meanwhile */
    long read, listed, refreshed, bought, closed, wrong;
};

static char folder[2048];
static double end;

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

/** A story all of whose texts carry one generation. */
static json_t *generation_of(int number, int generation) {
    char id[32], mark[64];
    snprintf(id, sizeof id, "story%d", number);
    snprintf(mark, sizeof mark, "generation %d", generation);
    json_t *story = tale(id, mark), *segment;
    json_object_set_new(story, "synopsis", json_string(mark));
    json_object_set_new(story, "author", json_string(mark));
    size_t index;
    json_array_foreach(at(story, "/segments"), index, segment)
        json_object_set_new(segment, "text", json_string(mark));
    return story;
}

/** Replaces files, as authors and downloads do, until the time is over. */
static void *write_files(void *context) {
    (void)context;
    char name[32], place[2100];
    for (int generation = 1; now() < end; generation++) {
        int number = generation % STORIES;
        snprintf(name, sizeof name, "story%d.json", number);
        if (number == STORIES - 2) { /* in place: a reader may see half of it */
            write_story(folder, name, generation_of(number, generation));
            continue;
        }
        snprintf(place, sizeof place, "%s/%s", folder, name);
        if (number == STORIES - 1 && generation % 2 == 0) {
            unlink(place);
            continue;
        }
        write_story(folder, "next.part", generation_of(number, generation));
        if (rename(path_in(folder, "next.part"), place) != 0) give_up("renaming");
        struct timespec pause = {0, 500000};
        nanosleep(&pause, NULL);
    }
    return NULL;
}

/** Counts a call: success, a library that was freed, or something that must not be. */
static bool went_well(struct worker *worker, satchel_status status, long *successes) {
    if (status == SATCHEL_OK) {
        ++*successes;
        return true;
    }
    if (worker->may_close && (status == SATCHEL_ECLOSED || status == SATCHEL_ECANCELLED)) {
        worker->closed++;
    } else {
        worker->wrong++;
        fprintf(stderr, "%s: %s\n", satchel_status_name(status), satchel_error_message());
    }
    return false;
}

static void read_whole(struct worker *worker, int number) {
    char id[32];
    satchel_buffer out = SATCHEL_BUFFER_INIT;
    snprintf(id, sizeof id, "story%d", number);
    satchel_status status = satchel_stories_story(worker->stories, text(id), text(""), number % 2 == 0, &out);
    if (status == SATCHEL_ENOTFOUND && number == STORIES - 1) return;
    if (status == SATCHEL_EINVALID && number == STORIES - 2) return;
    if (status == SATCHEL_ENOTFOUND && number == STORIES - 2) return; /* half a file names no story */
    if (!went_well(worker, status, &worker->read)) return;
    json_t *story = take(&out), *segment;
    const char *title = text_at(story, "/title");
    size_t index;
    bool whole = strcmp(text_at(story, "/id"), id) == 0 && strcmp(text_at(story, "/synopsis"), title) == 0;
    json_array_foreach(at(story, "/segments"), index, segment) {
        if (strcmp(text_at(segment, "/text"), title) != 0) whole = false;
    }
    if (!whole || index != 3) worker->wrong++;
    json_decref(story);
}

/** Every listed story is whole, and those that are always there are listed. */
static void list_whole(struct worker *worker, satchel_status status, satchel_buffer *out, const char *list) {
    if (!went_well(worker, status, &worker->listed)) return;
    json_t *all = take(out), *story;
    int steady = 0;
    size_t index;
    json_array_foreach(at(all, list), index, story) {
        if (strcmp(text_at(story, "/title"), text_at(story, "/synopsis")) != 0
            || strcmp(text_at(story, "/title"), text_at(story, "/author")) != 0) {
            fprintf(stderr, "%s is not whole\n", text_at(story, "/id"));
            worker->wrong++;
        }
        if (atoi(text_at(story, "/id") + 5) < STORIES - 2) steady++;
    }
    if (steady != STORIES - 2) {
        fprintf(stderr, "%d stories instead of %d\n", steady, STORIES - 2);
        worker->wrong++;
    }
    json_decref(all);
}

/** Whether a worker has met all that it is there for. */
static bool is_through(const struct worker *worker) {
    if (worker->may_close) return worker->closed > 0;
    return worker->read > 0 && worker->listed > 0 && worker->refreshed > 0 && worker->bought > 0;
}

static void *work(void *context) {
    struct worker *worker = context;
    satchel_buffer out = SATCHEL_BUFFER_INIT;
    /* Where the machine is busy, until each has had its turn. */
    while (now() < end || (!is_through(worker) && now() < end + 120)) {
        int choice = rand_r(&worker->seed) % 24, number = rand_r(&worker->seed) % STORIES;
        satchel_status status;
        if (choice < 12) {
            read_whole(worker, number);
        } else if (choice < 14) {
            status = satchel_stories_select(worker->stories, text("{\"search\":\"gen\",\"sort\":\"title\"}"),
                                            &out);
            list_whole(worker, status, &out, "");
        } else if (choice < 16) {
            status = satchel_stories_load_all(worker->stories, choice == 14, &out);
            list_whole(worker, status, &out, "/stories");
        } else if (choice < 18) {
            status = satchel_stories_refresh(worker->stories, &out);
            if (went_well(worker, status, &worker->refreshed)) satchel_buffer_free(&out);
        } else if (choice == 18) {
            went_well(worker, satchel_stories_preload(worker->stories, text("")), &worker->refreshed);
        } else if (choice == 19) {
            went_well(worker, satchel_stories_clear_cache(worker->stories), &worker->refreshed);
        } else if (choice < 22) {
            status = satchel_stories_mark_purchased(worker->stories, text("story0"), choice == 20);
            went_well(worker, status, &worker->bought);
        } else if (choice == 22) {
            status = satchel_stories_segment(worker->stories, text("story1"), text(""), text("home"), &out);
            if (went_well(worker, status, &worker->read)) satchel_buffer_free(&out);
        } else {
            status = satchel_stories_facets(worker->stories, &out);
            if (went_well(worker, status, &worker->listed)) satchel_buffer_free(&out);
        }
        if (out.data) worker->wrong++;
    }
    return NULL;
}

static void start(struct worker *worker, satchel_stories *stories, unsigned seed, bool may_close) {
    memset(worker, 0, sizeof *worker);
    worker->stories = stories;
    worker->seed = seed;
    worker->may_close = may_close;
    if (pthread_create(&worker->thread, NULL, work, worker) != 0) give_up("starting a thread");
}

static struct worker join(struct worker *workers) {
    struct worker sum = {0};
    for (int index = 0; index < THREADS; index++) {
        pthread_join(workers[index].thread, NULL);
        sum.read += workers[index].read;
        sum.listed += workers[index].listed;
        sum.refreshed += workers[index].refreshed;
        sum.bought += workers[index].bought;
        sum.closed += workers[index].closed;
        sum.wrong += workers[index].wrong;
    }
    fprintf(stderr, "library_threads: %ld read, %ld listed, %ld refreshed, %ld bought, %ld closed\n",
            sum.read, sum.listed, sum.refreshed, sum.bought, sum.closed);
    CHECK(sum.wrong == 0, "%ld times something was not whole, or failed", sum.wrong);
    return sum;
}

static void crowd(satchel_store *store, double seconds) {
    struct worker workers[THREADS];
    satchel_stories *both[2];
    pthread_t author;
    satchel_buffer out = SATCHEL_BUFFER_INIT;
    for (int index = 0; index < 2; index++)
        must(satchel_stories_open(store, text(folder), text(""), &both[index]), folder);
    end = now() + seconds;
    if (pthread_create(&author, NULL, write_files, NULL) != 0) give_up("starting a thread");
    for (int index = 0; index < THREADS; index++)
        start(&workers[index], both[index % 2], (unsigned)index + 1, false);
    struct worker sum = join(workers);
    pthread_join(author, NULL);
    CHECK(sum.read > 0 && sum.listed > 0 && sum.refreshed > 0 && sum.bought > 0, "something never succeeded");

    /* Afterwards both say what is in the files. */
    for (int index = 0; index < 2; index++) {
        must(satchel_stories_load_all(both[index], false, &out), "loading all");
        json_t *all = take(&out), *story;
        size_t place;
        CHECK(json_array_size(at(all, "/problems")) == 0, "problems in the end");
        json_array_foreach(at(all, "/stories"), place, story) {
            json_t *written_story = fixture(folder, text_at(story, "/file"));
            must(satchel_stories_story(both[index], text(text_at(story, "/id")), text(""), true, &out), "reading");
            json_t *read = take(&out);
            CHECK(json_equal(read, written_story), "%s is not what its file holds", text_at(story, "/id"));
            CHECK(strcmp(text_at(story, "/title"), text_at(written_story, "/title")) == 0,
                  "%s: an outdated index", text_at(story, "/id"));
            json_decref(read);
            json_decref(written_story);
        }
        CHECK(place >= STORIES - 1, "%zu stories", place);
        json_decref(all);
        satchel_stories_free(both[index]);
    }
}

/** Libraries are freed, and in the end the store is closed, while eight threads use them. */
static void freed_beneath(satchel_store *store, double seconds) {
    struct worker workers[THREADS];
    satchel_stories *both[2];
    for (int index = 0; index < 2; index++)
        must(satchel_stories_open(store, text(folder), text(""), &both[index]), folder);
    end = now() + seconds;
    for (int index = 0; index < THREADS; index++)
        start(&workers[index], both[index % 2], (unsigned)index + 99, true);
    struct timespec half = {0, (long)(seconds * 4e8)};
    nanosleep(&half, NULL);
    satchel_stories_free(both[0]);
    nanosleep(&half, NULL);
    must(satchel_store_close(store), "closing the store beneath its libraries");
    struct worker sum = join(workers);
    CHECK(sum.closed > 0 && sum.read > 0, "nothing was freed beneath anything");
    satchel_stories_free(both[1]);
    satchel_stories_free(both[0]);
}

int main(int count, char **arguments) {
    if (count != 2) return 2;
    const char *seconds = getenv("SATCHEL_SECONDS") ? getenv("SATCHEL_SECONDS") : "3";
    char path[2100], name[32];
    snprintf(folder, sizeof folder, "%s/library_threads", arguments[1]);
    snprintf(path, sizeof path, "%s/library_threads.satchel", arguments[1]);
    if (mkdir(folder, 0700) != 0) give_up(folder);
    for (int number = 0; number < STORIES; number++) {
        snprintf(name, sizeof name, "story%d.json", number);
        write_story(folder, name, generation_of(number, 0));
    }
    satchel_store *store;
    satchel_buffer out = SATCHEL_BUFFER_INIT;
    must(satchel_store_open(path, NULL, &store), path);
    crowd(store, atof(seconds));
    must(satchel_store_check(store, &out), "checking the store");
    CHECK(strcmp(out.data, "[]") == 0, "the store is not sound: %s", out.data);
    satchel_buffer_free(&out);
    freed_beneath(store, 0.6);
    return close_checks();
}
