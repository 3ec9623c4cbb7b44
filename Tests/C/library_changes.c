/* Changes in a library: files, purchases, notifications of observers, and the order of closing.
 * Usage: library_changes FOLDER */
#include <pthread.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "stories.h"

/** The notifications of an observer, under one lock: the number of changes of stories, and all their keys. */
struct ear {
    pthread_mutex_t lock;
    pthread_cond_t heard;
    int changes, others, releases;
    json_t *keys;
    satchel_stories *to_free; /* freed by the callback itself, when there is one */
};

static satchel_buffer out;
static char folder[2048], store_path[2048];

static void hear(void *context, satchel_bytes change) {
    struct ear *ear = context;
    json_t *value = json_loadb(change.data, change.size, 0, NULL);
    pthread_mutex_lock(&ear->lock);
    if (strcmp(text_at(value, "/subject"), "stories") == 0) {
        ear->changes++;
        json_array_extend(ear->keys, at(value, "/keys"));
        if (!json_is_true(at(value, "/own")) || !json_is_null(at(value, "/place"))) ear->others++;
    } else {
        ear->others++;
    }
    satchel_stories_free(ear->to_free);
    pthread_cond_signal(&ear->heard);
    pthread_mutex_unlock(&ear->lock);
    json_decref(value);
}

static void release(void *context) {
    struct ear *ear = context;
    pthread_mutex_lock(&ear->lock);
    ear->releases++;
    pthread_cond_signal(&ear->heard);
    pthread_mutex_unlock(&ear->lock);
}

static satchel_observer *listen(satchel_store *store, struct ear *ear) {
    satchel_observer *observer;
    *ear = (struct ear){PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, 0, 0, 0, json_array(), NULL};
    must(satchel_store_observe(store, hear, ear, release, &observer), "observing");
    return observer;
}

/** Waits until a number of the ear is `wanted`, for at most two minutes. */
static void wait_for(struct ear *ear, const int *number, int wanted) {
    struct timespec end;
    clock_gettime(CLOCK_REALTIME, &end);
    end.tv_sec += 120;
    pthread_mutex_lock(&ear->lock);
    while (*number < wanted && pthread_cond_timedwait(&ear->heard, &ear->lock, &end) == 0) {}
    CHECK(*number == wanted, "%d changes or releases instead of %d", *number, wanted);
    pthread_mutex_unlock(&ear->lock);
}

/** Ends listening. The context is released when a callback under way on another thread has ended. */
static void stop_listening(satchel_observer *observer, struct ear *ear) {
    satchel_observer_free(observer);
    wait_for(ear, &ear->releases, 1);
    json_decref(ear->keys);
}

/** So many changes with just these keys were heard since the last look, and nothing else. */
static void heard(const char *what, struct ear *ear, int changes, const char *const *keys) {
    pthread_mutex_lock(&ear->lock);
    CHECK(ear->changes == changes && ear->others == 0, "%s: %d changes, %d others", what, ear->changes,
          ear->others);
    CHECK(lists(ear->keys, "", keys), "%s:%s", what, shown(ear->keys, ""));
    ear->changes = ear->others = 0;
    json_array_clear(ear->keys);
    pthread_mutex_unlock(&ear->lock);
}

static satchel_stories *open_library(satchel_store *store) {
    satchel_stories *stories;
    must(satchel_stories_open(store, text(folder), text(""), &stories), folder);
    return stories;
}

static satchel_store *open_store(const char *path) {
    satchel_store *store;
    must(satchel_store_open(path, NULL, &store), path);
    return store;
}

/** A refresh found so many files of each kind. */
static void refreshes(const char *what, satchel_stories *stories, int added, int changed, int removed,
                      int unchanged, int parsed) {
    must(satchel_stories_refresh(stories, &out), what);
    CHECK(out.data != NULL, "%s: there is no answer", what);
    json_t *found = take(&out);
    char *counts = dump(found);
    CHECK(number_at(found, "/added") == added && number_at(found, "/changed") == changed
              && number_at(found, "/removed") == removed && number_at(found, "/unchanged") == unchanged
              && number_at(found, "/parsed") == parsed,
          "%s: %s", what, counts);
    free(counts);
    json_decref(found);
}

static void selects(const char *what, satchel_stories *stories, const char *query,
                    const char *const *wanted) {
    must(satchel_stories_select(stories, text(query), &out), query);
    json_t *found = take(&out);
    CHECK(lists(found, "/id", wanted), "%s: %s:%s", what, query, shown(found, "/id"));
    json_decref(found);
}

static void has_title(const char *what, satchel_stories *stories, const char *id, const char *title) {
    must(satchel_stories_story(stories, text(id), text(""), false, &out), what);
    json_t *story = take(&out);
    CHECK(strcmp(text_at(story, "/title"), title) == 0, "%s: %s", what, text_at(story, "/title"));
    json_decref(story);
}

static void files(void) {
    static const char *const both[] = {"wolf", "well", NULL}, *const well[] = {"well", NULL},
                             *const none[] = {NULL}, *const all[] = {"wolf", "swan", "well", NULL},
                             *const moved[] = {"swan", "well", NULL};
    satchel_store *store = open_store(store_path);
    satchel_stories *stories = open_library(store);
    struct ear ear;
    satchel_observer *observer = listen(store, &ear);
    refreshes("an empty directory", stories, 0, 0, 0, 0, 0);
    selects("an empty directory", stories, "{}", none);
    heard("an empty directory", &ear, 0, none);

    write_story(folder, "well.json", tale("well", "The Well"));
    write_story(folder, "wolf.json", tale("wolf", "A Wolf"));
    refreshes("two files", stories, 2, 0, 0, 0, 2);
    heard("two files", &ear, 1, (const char *const[]){"well", "wolf", NULL});
    selects("two files", stories, "{}", both);
    refreshes("nothing", stories, 0, 0, 0, 2, 0);
    heard("nothing", &ear, 0, none);
    has_title("from disk", stories, "well", "The Well");

    /* Of the same size, within the same second: only its content tells. */
    write_story(folder, "well.json", tale("well", "Tge Well"));
    has_title("changed, not refreshed", stories, "well", "Tge Well");
    refreshes("another content", stories, 0, 1, 0, 1, 1);
    heard("another content", &ear, 1, well);
    write_story(folder, "well.json", tale("well", "Tge Well"));
    refreshes("the same content", stories, 0, 0, 0, 2, 0);
    heard("the same content", &ear, 0, none);

    write_story(folder, "swan.json", tale("swan", "Swan"));
    if (unlink(path_in(folder, "wolf.json")) != 0) give_up("removing a file");
    refreshes("one came, one went", stories, 1, 0, 1, 1, 1);
    heard("one came, one went", &ear, 1, (const char *const[]){"swan", "wolf", NULL});
    selects("one came, one went", stories, "{}", moved);
    CHECK(satchel_stories_story(stories, text("wolf"), text(""), false, &out) == SATCHEL_ENOTFOUND,
          "a story that went");

    write_text(folder, "swan.json", "{");
    CHECK(satchel_stories_story(stories, text("swan"), text(""), false, &out) == SATCHEL_EINVALID
              && strstr(satchel_error_message(), "line 1") && strstr(satchel_error_message(), "swan.json"),
          "a story whose file is no story any more: %s", satchel_error_message());
    refreshes("one is no story any more", stories, 0, 1, 0, 1, 1);
    heard("one is no story any more", &ear, 1, (const char *const[]){"swan", NULL});
    write_story(folder, "swan.json", tale("swan", "Swan"));
    write_story(folder, "wolf.json", tale("wolf", "A Wolf"));
    must(satchel_stories_load_all(stories, false, &out), "loading all");
    json_t *listing = take(&out);
    CHECK(json_array_size(at(listing, "/stories")) == 3 && json_array_size(at(listing, "/problems")) == 0,
          "loading all does not refresh");
    json_decref(listing);

    must(satchel_stories_clear_cache(stories), "clearing the cache");
    has_title("after clearing", stories, "well", "Tge Well");
    selects("after clearing", stories, "{}", all);
    stop_listening(observer, &ear);
    satchel_stories_free(stories);
    must(satchel_store_close(store), "closing");

    store = open_store(store_path);
    stories = open_library(store);
    selects("opened again", stories, "{}", all);
    refreshes("opened again", stories, 0, 0, 0, 3, 0);
    satchel_stories_free(stories);
    must(satchel_store_close(store), "closing");
}

static void purchases(void) {
    static const char *const wolf[] = {"wolf", NULL}, *const none[] = {NULL},
                             *const later[] = {"later", NULL};
    satchel_store *store = open_store(store_path);
    satchel_stories *stories = open_library(store), *second = open_library(store);
    struct ear ear;
    satchel_observer *observer = listen(store, &ear);
    selects("nothing bought", stories, "{\"purchased\":true}", none);
    must(satchel_stories_mark_purchased(stories, text("wolf"), true), "buying");
    heard("buying", &ear, 1, wolf);
    must(satchel_stories_mark_purchased(stories, text("wolf"), true), "buying again");
    heard("buying again", &ear, 0, none);
    must(satchel_stories_mark_purchased(stories, text("later"), true), "buying what is not there yet");
    heard("buying what is not there yet", &ear, 1, later);
    selects("bought", second, "{\"purchased\":true}", wolf);
    must(satchel_stories_load_all(stories, false, &out), "loading all");
    json_t *listing = take(&out), *story;
    size_t index;
    json_array_foreach(at(listing, "/stories"), index, story) {
        bool wanted = strcmp(text_at(story, "/id"), "wolf") == 0;
        CHECK(json_is_true(at(story, "/is_purchased")) == wanted, "%s", text_at(story, "/id"));
    }
    json_decref(listing);
    satchel_stories_free(stories);
    satchel_stories_free(second);
    must(satchel_store_close(store), "closing");
    stop_listening(observer, &ear);

    /* The reader's state outlives the store's handle and the story's file. */
    store = open_store(store_path);
    stories = open_library(store);
    selects("after opening again", stories, "{\"purchased\":true}", wolf);
    if (unlink(path_in(folder, "wolf.json")) != 0) give_up("removing a file");
    must(satchel_stories_refresh(stories, NULL), "refreshing");
    selects("without its file", stories, "{\"purchased\":true}", none);
    write_story(folder, "later.json", tale("later", "Later"));
    write_story(folder, "wolf.json", tale("wolf", "A Wolf"));
    must(satchel_stories_refresh(stories, NULL), "refreshing");
    selects("with its file again", stories, "{\"purchased\":true,\"sort\":\"title\"}",
            (const char *const[]){"wolf", "later", NULL});
    must(satchel_stories_mark_purchased(stories, text("wolf"), false), "giving back");
    selects("purchased and revoked", stories, "{\"purchased\":true}", later);
    satchel_stories_free(stories);
    must(satchel_store_check(store, &out), "checking the store");
    CHECK(strcmp(out.data, "[]") == 0, "the store is not sound: %s", out.data);
    satchel_buffer_free(&out);
    must(satchel_store_close(store), "closing");

    satchel_open_options options = SATCHEL_OPEN_OPTIONS_INIT;
    options.read_only = true;
    must(satchel_store_open(store_path, &options, &store), "opening to read");
    stories = open_library(store);
    selects("read only", stories, "{\"purchased\":true}", later);
    write_story(folder, "reed.json", tale("reed", "Reed"));
    refreshes("read only", stories, 1, 0, 0, 4, 1);
    has_title("read only", stories, "reed", "Reed");
    CHECK(satchel_stories_mark_purchased(stories, text("swan"), true) == SATCHEL_EREADONLY,
          "buying, read only");
    satchel_stories_free(stories);
    must(satchel_store_close(store), "closing");
}

static void preloads(void) {
    satchel_store *store = open_store(":memory:");
    satchel_stories *stories = open_library(store);
    struct ear ear;
    satchel_observer *observer = listen(store, &ear);
    must(satchel_stories_preload(stories, text("")), "preloading");
    wait_for(&ear, &ear.changes, 1);
    heard("preloading", &ear, 1, (const char *const[]){"later", "reed", "swan", "well", "wolf", NULL});
    selects("preloaded", stories, "{\"limit\":1}", (const char *const[]){"wolf", NULL});
    has_title("preloaded", stories, "well", "Tge Well");
    write_story(folder, "well.json", tale("well", "The Well"));
    must(satchel_stories_preload(stories, text("")), "preloading again");
    wait_for(&ear, &ear.changes, 1);
    heard("preloading again", &ear, 1, (const char *const[]){"well", NULL});

    /* A callback may call the library, and so may free it, on the very thread that preloads. */
    write_story(folder, "well.json", tale("well", "Their Well"));
    pthread_mutex_lock(&ear.lock);
    ear.to_free = stories;
    pthread_mutex_unlock(&ear.lock);
    must(satchel_stories_preload(stories, text("")), "preloading for the last time");
    wait_for(&ear, &ear.changes, 1);
    CHECK(satchel_stories_preload(stories, text("")) == SATCHEL_ECLOSED, "freed by its own preload, and open");
    stop_listening(observer, &ear);

    /* Whatever goes first while a preload is under way. */
    for (int round = 0; round < 40; round++) {
        stories = open_library(store);
        must(satchel_stories_clear_cache(stories), "clearing");
        must(satchel_stories_preload(stories, text("")), "preloading");
        must(satchel_stories_preload(stories, text("")), "preloading twice");
        if (round % 2 == 1) must(satchel_store_close(store), "closing");
        satchel_stories_free(stories);
        satchel_stories_free(stories);
        if (round % 2 == 1) store = open_store(":memory:");
    }
    must(satchel_store_close(store), "closing");
}

/** The position of a progress, which is freed. */
static void is_at(const char *what, satchel_stories *stories, const char *position, const char *moved_from) {
    must(satchel_stories_progress(stories, text("course"), text(""), &out), what);
    json_t *progress = take(&out), *from = at(progress, "/moved_from");
    CHECK(strcmp(text_at(progress, "/position"), position) == 0, "%s: at %s", what,
          text_at(progress, "/position"));
    CHECK(moved_from ? strcmp(text_at(progress, "/moved_from"), moved_from) == 0 : json_is_null(from),
          "%s: moved from another segment", what);
    json_decref(progress);
}

static void reading(void) {
    satchel_store *store = open_store(":memory:");
    write_story(folder, "course.json", tale("course", "Course"));
    satchel_stories *stories = open_library(store);
    struct ear ear;
    satchel_observer *observer;
    refreshes("before reading", stories, 6, 0, 0, 0, 6);
    must(satchel_stories_progress(stories, text("course"), text(""), &out), "before reading");
    json_t *progress = take(&out);
    CHECK(json_is_null(at(progress, "/position")) && json_is_null(at(progress, "/read_at")), "begun");
    json_decref(progress);
    observer = listen(store, &ear);
    must(satchel_stories_move_to(stories, text("course"), text("rim"), text(""), NULL), "the first move");
    must(satchel_stories_move_to(stories, text("course"), text("home"), text(""), &out), "the second move");
    progress = take(&out);
    static const char *const visited[] = {"rim", "home", NULL}, *const endings[] = {"home", NULL};
    CHECK(lists(at(progress, "/visited"), "", visited) && lists(at(progress, "/endings"), "", endings),
          "visited segments and endings");
    json_decref(progress);
    heard("before they are saved", &ear, 0, (const char *const[]){NULL});
    must(satchel_state_flush(store, NULL), "flushing");
    heard("two moves", &ear, 1, (const char *const[]){"course", NULL});
    CHECK(satchel_stories_move_to(stories, text("course"), text("moon"), text(""), NULL) == SATCHEL_ENOTFOUND,
          "to the moon");
    is_at("two moves", stories, "home", NULL);

    /* Another reader begins at the start, and both are listed. */
    satchel_bytes mia = text("{\"reader\": \"Mia\", \"data\": {\"coins\": 3}}");
    must(satchel_stories_move_to(stories, text("course"), text("rim"), mia, NULL), "another reader");
    is_at("beside another reader", stories, "home", NULL);
    must(satchel_stories_begun(stories, text(""), &out), "listing what was begun");
    progress = take(&out);
    CHECK(json_array_size(progress) == 1 && strcmp(text_at(progress, "/0/reader"), "Mia") == 0, "who goes on");
    CHECK(json_integer_value(at(progress, "/0/data/coins")) == 3, "the data of a position");
    json_decref(progress);
    must(satchel_stories_clear_progress(stories, text("course"), text("{\"reader\": \"Mia\"}")), "Mia forgets");
    must(satchel_stories_begun(stories, text("{\"reader\": \"Mia\"}"), &out), "listing nothing");
    progress = take(&out);
    CHECK(json_array_size(progress) == 0, "forgotten");
    json_decref(progress);

    satchel_stories *named;
    must(satchel_stories_open(store, text(folder), text("another"), &named), "opening with a name");
    must(satchel_stories_progress(named, text("course"), text(""), &out), "with another name");
    progress = take(&out);
    CHECK(json_is_null(at(progress, "/position")), "begun with another name");
    json_decref(progress);
    satchel_stories_free(named);
    const char *own = strrchr(folder, '/');
    must(satchel_stories_open(store, text(folder), text(own ? own + 1 : folder), &named), "opening with its name");
    is_at("with the folder's name", named, "home", NULL);
    satchel_stories_free(named);

    /* An opened story stays as it is; the reader is moved with the new version. */
    satchel_story *opened_before;
    must(satchel_stories_open_story(stories, text("course"), text(""), true, &opened_before), "opening a story");
    json_t *newer = tale("course", "Course");
    json_object_set_new(at(newer, "/segments/2"), "id", json_string("farm"));
    json_object_set_new(at(newer, "/segments/0/choices/1"), "nextSegmentId", json_string("farm"));
    write_story(folder, "course.json", newer);
    must(satchel_stories_refresh(stories, &out), "a new version");
    json_t *found = take(&out);
    CHECK(strcmp(text_at(found, "/moved/0/from"), "home") == 0 && strcmp(text_at(found, "/moved/0/to"), "farm") == 0
              && strcmp(text_at(found, "/moved/0/reason"), "removed") == 0,
          "moved to %s", text_at(found, "/moved/0/to"));
    json_decref(found);
    is_at("a new version", stories, "farm", "home");
    must(satchel_story_segment(opened_before, text("home"), &out), "a segment of the old version");
    satchel_buffer_free(&out);
    satchel_stories_free(stories);
    must(satchel_story_describe(opened_before, &out), "a story without its library");
    satchel_buffer_free(&out);
    satchel_story_free(opened_before);
    stop_listening(observer, &ear);

    stories = open_library(store);
    must(satchel_stories_clear_progress(stories, text("course"), text("")), "forgetting");
    must(satchel_stories_progress(stories, text("course"), text(""), &out), "forgotten");
    progress = take(&out);
    CHECK(json_is_null(at(progress, "/position")), "a position that was forgotten");
    json_decref(progress);
    must(satchel_stories_preload(stories, text("course")), "preloading one");
    must(satchel_stories_loading(stories, &out), "what is loading");
    json_t *loading = take(&out);
    CHECK(json_is_false(at(loading, "/all")) && json_array_size(at(loading, "/stories")) <= 1, "loading");
    json_decref(loading);
    CHECK(satchel_stories_preload(stories, text("../course")) == SATCHEL_EINVALID, "a path is preloaded");
    satchel_stories_free(stories);
    must(satchel_store_close(store), "closing");
}

int main(int count, char **arguments) {
    if (count != 2) return 2;
    snprintf(folder, sizeof folder, "%s/changes", arguments[1]);
    snprintf(store_path, sizeof store_path, "%s/changes.satchel", arguments[1]);
    if (mkdir(folder, 0700) != 0) give_up(folder);
    alarm(120); /* what waits for itself ends here, and is counted as failed */
    files();
    purchases();
    preloads();
    reading();
    return close_checks();
}
