/* A study planner, on a laptop and on a phone: semesters, courses, tasks, grades, events and activities refer to
 * each other. The planner saves by itself, is killed, comes back, renames a field of every course, and both devices
 * agree through a master copy in an object store: here a directory, or S3 as for album.c. jansson reads and writes
 * the JSON. Usage: planner folder, which is made */
#include <jansson.h>
#include <satchel.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { SEMESTERS, COURSES, TASKS, GRADES, EVENTS, ACTIVITIES, COLLECTIONS };

/** Since version 2 a course has a title instead of a name, and credits. */
static const char *const declarations[COLLECTIONS] = {
    "{\"name\":\"semesters\"}",
    "{\"name\":\"courses\",\"version\":2,"
    "\"relations\":{\"semester_id\":{\"collection\":\"semesters\",\"on_delete\":\"cascade\"}},"
    "\"migrations\":[[{\"rename\":{\"from\":\"name\",\"to\":\"title\"}},"
    "{\"default\":{\"path\":\"credits\",\"value\":6}}]]}",
    "{\"name\":\"tasks\",\"indexes\":[\"due\"],"
    "\"relations\":{\"course_id\":{\"collection\":\"courses\",\"on_delete\":\"cascade\"}}}",
    "{\"name\":\"grades\",\"relations\":{\"course_id\":{\"collection\":\"courses\",\"on_delete\":\"cascade\"}},"
    "\"schema\":{\"type\":\"object\",\"required\":[\"course_id\",\"points\"],"
    "\"properties\":{\"points\":{\"type\":\"integer\",\"minimum\":0,\"maximum\":20}}}}",
    "{\"name\":\"events\",\"indexes\":[{\"path\":\"room_key\",\"unique\":true}],"
    "\"relations\":{\"course_id\":{\"collection\":\"courses\",\"on_delete\":\"cascade\"}}}",
    "{\"name\":\"activities\",\"relations\":{\"task_id\":{\"collection\":\"tasks\",\"on_delete\":\"nullify\"}}}",
};

static const char *const names[COLLECTIONS] = {"semesters", "courses", "tasks", "grades", "events", "activities"};

static const char courses_1[] =
    "{\"name\":\"courses\",\"relations\":{\"semester_id\":{\"collection\":\"semesters\",\"on_delete\":\"cascade\"}}}";

/** The collections of one device, in a store of its own. */
struct planner {
    satchel_store *store;
    satchel_records *records[COLLECTIONS];
};

/** Ends the program when a call failed, and says why. */
static void must(satchel_status status) {
    if (status == SATCHEL_OK) return;
    fprintf(stderr, "%s: %s\n", satchel_status_name(status), satchel_error_message());
    exit(1);
}

static satchel_bytes text(const char *string) { return (satchel_bytes){string, strlen(string)}; }

/** Reads what the library answered, and gives its memory back. */
static json_t *answer(satchel_buffer *buffer) {
    json_t *value = json_loadb(buffer->data, buffer->size, JSON_DECODE_ANY, NULL);
    satchel_buffer_free(buffer);
    return value;
}

static const char *string(const json_t *object, const char *key) {
    const char *value = json_string_value(json_object_get(object, key));
    return value ? value : "null";
}

static int number(const json_t *object, const char *key) {
    return (int)json_integer_value(json_object_get(object, key));
}

/** Opens the store; courses of an older version are brought up to date, after a backup. */
static struct planner open_planner(const char *path, int version) {
    struct planner planner;
    must(satchel_store_open(path, NULL, &planner.store));
    for (int each = 0; each < COLLECTIONS; each++) {
        const char *declaration = each == COURSES && version == 1 ? courses_1 : declarations[each];
        must(satchel_records_open(planner.store, text(declaration), NULL, &planner.records[each]));
    }
    return planner;
}

static void close_planner(struct planner *planner) {
    for (int each = 0; each < COLLECTIONS; each++) satchel_records_free(planner->records[each]);
    must(satchel_store_close(planner->store));
}

static satchel_status try_put(const struct planner *planner, int collection, const char *id, const char *document) {
    return satchel_records_put(planner->records[collection], text(id), text(document), SATCHEL_ANY_REVISION, NULL);
}

static void put(const struct planner *planner, int collection, const char *id, const char *document) {
    must(try_put(planner, collection, id, document));
}

static json_t *get(const struct planner *planner, int collection, const char *id) {
    satchel_buffer out;
    must(satchel_records_get(planner->records[collection], text(id), &out));
    return answer(&out);
}

/** Changes one field of a document. */
static void change(const struct planner *planner, int collection, const char *id, const char *key, const char *value) {
    json_t *document = get(planner, collection, id);
    json_object_set_new(document, key, json_string(value));
    char *written = json_dumps(document, 0);
    put(planner, collection, id, written);
    free(written);
    json_decref(document);
}

static int count(const struct planner *planner, int collection) {
    int64_t records;
    must(satchel_records_count(planner->records[collection], text(""), &records));
    return (int)records;
}

static json_t *list(const struct planner *planner, int collection, const char *query) {
    satchel_buffer out;
    must(satchel_records_list(planner->records[collection], text(query), &out));
    return answer(&out);
}

static void plan(const struct planner *planner) {
    puts("A semester is planned: all of it, or nothing.");
    must(satchel_store_begin(planner->store));
    put(planner, SEMESTERS, "2027s", "{\"name\":\"Spring 2027\"}");
    put(planner, COURSES, "algebra", "{\"semester_id\":\"2027s\",\"name\":\"Linear Algebra\"}");
    put(planner, COURSES, "history", "{\"semester_id\":\"2027s\",\"name\":\"History of Science\"}");
    put(planner, TASKS, "sheet-1", "{\"course_id\":\"algebra\",\"title\":\"Exercise sheet 1\",\"due\":\"2027-03-05\"}");
    put(planner, TASKS, "sheet-2", "{\"course_id\":\"algebra\",\"title\":\"Exercise sheet 2\",\"due\":\"2027-03-12\"}");
    put(planner, TASKS, "essay", "{\"course_id\":\"history\",\"title\":\"Essay on Kepler\",\"due\":\"2027-03-09\"}");
    put(planner, EVENTS, "exam", "{\"course_id\":\"algebra\",\"title\":\"Exam\",\"room_key\":\"2027-03-20 H1\"}");
    put(planner, GRADES, "quiz", "{\"course_id\":\"history\",\"points\":17}");
    put(planner, ACTIVITIES, "reading", "{\"task_id\":\"essay\",\"minutes\":45}");
    must(satchel_store_commit(planner->store));
}

static void show_tasks(const struct planner *planner) {
    size_t index;
    json_t *record, *tasks = list(planner, TASKS, "{\"where\":{\"due\":{\"lt\":\"2027-03-10\"}},\"order_by\":\"due\"}");
    json_array_foreach(tasks, index, record) {
        const json_t *task = json_object_get(record, "document");
        printf("  until %s: %s\n", string(task, "due"), string(task, "title"));
    }
    json_decref(tasks);
}

static void refuse(const struct planner *planner) {
    static const struct {
        int collection;
        const char *document;
    } wrong[] = {{TASKS, "{\"course_id\":\"chemistry\",\"title\":\"Lab report\"}"},
                 {GRADES, "{\"course_id\":\"history\",\"points\":21}"},
                 {EVENTS, "{\"course_id\":\"history\",\"title\":\"Talk\",\"room_key\":\"2027-03-20 H1\"}"}};
    puts("\nWhat does not fit is refused.");
    for (size_t each = 0; each < sizeof wrong / sizeof *wrong; each++) {
        if (try_put(planner, wrong[each].collection, "new", wrong[each].document) == SATCHEL_EINVALID)
            printf("  %s: refused\n", names[wrong[each].collection]);
    }
}

/** What a process wrote and flushed outlives it; what it only set may not. */
static void write_and_die(const char *path) {
    struct planner planner = open_planner(path, 1);
    satchel_state_list_options ten = SATCHEL_STATE_LIST_OPTIONS_INIT;
    ten.limit = 10;
    plan(&planner);
    show_tasks(&planner);
    refuse(&planner);
    must(satchel_state_set(planner.store, text("theme"), text("\"dark\""), false));
    must(satchel_state_list_push(planner.store, text("searches"), text("\"kepler\""), &ten));
    must(satchel_state_score_add(planner.store, text("subjects"), text("history"), 0.25, NULL, NULL));
    must(satchel_state_flush(planner.store, NULL));
    fflush(stdout);
    raise(SIGKILL);
}

static void come_back(const struct planner *planner) {
    satchel_buffer out;
    size_t index;
    json_t *record, *courses = list(planner, COURSES, "{\"order_by\":\"title\"}");
    puts("\nThe planner was killed, and comes back as version 2.");
    must(satchel_state_get(planner->store, text("theme"), &out));
    json_t *theme = answer(&out);
    must(satchel_state_list_items(planner->store, text("searches"), NULL, &out));
    json_t *searches = answer(&out);
    must(satchel_state_scores(planner->store, text("subjects"), &out));
    json_t *scores = answer(&out);
    printf("  theme %s, searched %s, history %g\n", json_string_value(theme),
           string(json_array_get(searches, 0), "value"), json_number_value(json_object_get(scores, "history")));
    json_array_foreach(courses, index, record) {
        const json_t *course = json_object_get(record, "document");
        printf("  %s: %d credits\n", string(course, "title"), number(course, "credits"));
    }
    json_decref(theme);
    json_decref(searches);
    json_decref(scores);
    json_decref(courses);
}

/** Where the master copy is. */
static satchel_remote *open_remote(const char *folder) {
    satchel_remote *remote;
    const char *bucket = getenv("SATCHEL_S3_BUCKET"), *endpoint = getenv("SATCHEL_S3_ENDPOINT");
    char place[4096];
    if (!bucket) {
        snprintf(place, sizeof place, "%s/master", folder);
        must(satchel_remote_directory(text(place), &remote));
        return remote;
    }
    snprintf(place, sizeof place, "planner-%lld", (long long)time(NULL));
    json_t *options = json_pack("{s:s, s:s, s:s*}", "bucket", bucket, "prefix", place, "endpoint", endpoint);
    char *written = json_dumps(options, 0);
    must(satchel_remote_s3(text(written), &remote));
    free(written);
    json_decref(options);
    return remote;
}

/** Prints what moved; both fields of a record that was changed on both sides are kept. */
static void synchronise(const struct planner *planner, satchel_remote *remote, const char *name) {
    satchel_record_sync_options options = SATCHEL_RECORD_SYNC_OPTIONS_INIT;
    int up = 0, down = 0, merged = 0;
    options.strategy = SATCHEL_STRATEGY_MERGE;
    for (int each = 0; each < COLLECTIONS; each++) {
        satchel_buffer out;
        must(satchel_records_sync(planner->records[each], remote, text("mia"), &options, &out));
        json_t *report = answer(&out);
        up += number(report, "uploaded");
        down += number(report, "downloaded");
        merged += number(report, "merged");
        json_decref(report);
    }
    printf("  %s: %*s%d up, %d down, %d merged\n", name, (int)(6 - strlen(name)), "", up, down, merged);
}

static void share(const struct planner *laptop, const struct planner *phone, satchel_remote *remote) {
    puts("\nThe phone gets it all.");
    synchronise(laptop, remote, "laptop");
    synchronise(phone, remote, "phone");
    puts("Without a network, each changes another field of the same task.");
    change(laptop, TASKS, "essay", "due", "2027-03-10");
    change(phone, TASKS, "essay", "title", "Essay on Tycho Brahe");
    synchronise(laptop, remote, "laptop");
    synchronise(phone, remote, "phone");
    synchronise(laptop, remote, "laptop");
    json_t *essay = get(laptop, TASKS, "essay");
    printf("  both have: %s, until %s\n", string(essay, "title"), string(essay, "due"));
    json_decref(essay);
    puts("The phone drops a course, and all that belongs to it.");
    must(satchel_records_delete(phone->records[COURSES], text("history"), SATCHEL_ANY_REVISION, NULL));
    synchronise(phone, remote, "phone");
    synchronise(laptop, remote, "laptop");
    printf("  laptop: %d course, %d tasks, %d grades\n", count(laptop, COURSES), count(laptop, TASKS),
           count(laptop, GRADES));
    json_t *reading = get(laptop, ACTIVITIES, "reading");
    printf("  reading is left, for task %s\n", string(reading, "task_id"));
    json_decref(reading);
}

int main(int count, char **arguments) {
    char laptop_path[4096], phone_path[4096];
    if (count != 2 || mkdir(arguments[1], 0755) != 0) {
        fputs("Usage: planner folder, which must not exist\n", stderr);
        return 2;
    }
    snprintf(laptop_path, sizeof laptop_path, "%s/laptop.satchel", arguments[1]);
    snprintf(phone_path, sizeof phone_path, "%s/phone.satchel", arguments[1]);
    pid_t child = fork();
    if (child == 0) write_and_die(laptop_path);
    waitpid(child, NULL, 0);
    struct planner laptop = open_planner(laptop_path, 2), phone = open_planner(phone_path, 2);
    satchel_remote *remote = open_remote(arguments[1]);
    come_back(&laptop);
    share(&laptop, &phone, remote);
    satchel_remote_free(remote);
    close_planner(&laptop);
    close_planner(&phone);
    return 0;
}
