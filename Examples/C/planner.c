/* A study planner, on a laptop and on a phone: semesters, courses, tasks, grades, events and activities refer to
 * each other. The planner saves automatically, is killed, starts again, renames a field of every course, and both devices
 * synchronize through an object store: here a directory, or S3 as for album.c. Usage: planner folder, which is made */
#include "example.h"

#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { SEMESTERS, COURSES, TASKS, GRADES, EVENTS, ACTIVITIES, COLLECTIONS };

/** Since version 2 a course has a title instead of a name, and credits. */
static const char *const declarations[COLLECTIONS] = {
    "{\"name\":\"semesters\"}",
    "{\"name\":\"courses\",\"version\":2,"
    "\"relations\":{\"semester_id\":{\"collection\":\"semesters\",\"on_delete\":\"cascade\"}},"
    "\"migrations\":[[{\"rename\":{\"from\":\"name\",\"to\":\"title\"}},"
    "{\"default\":{\"path\":\"credits\",\"value\":6}}]]}",
    /* Both fields of a task that was changed on both sides are kept. */
    "{\"name\":\"tasks\",\"indexes\":[\"due\"],\"on_conflict\":\"merge\","
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

/** Opens the store; courses of an older version are brought up to date, after a backup. */
static struct planner open_planner(const char *path, int version) {
    struct planner planner;
    must(satchel_store_open(path, NULL, &planner.store));
    for (int each = 0; each < COLLECTIONS; each++) {
        const char *declaration = each == COURSES && version == 1 ? courses_1 : declarations[each];
        must(satchel_records_open(planner.store, satchel_text(declaration), NULL, &planner.records[each]));
    }
    return planner;
}

static void close_planner(struct planner *planner) {
    for (int each = 0; each < COLLECTIONS; each++) satchel_records_free(planner->records[each]);
    must(satchel_store_close(planner->store));
}

static satchel_status try_put(const struct planner *planner, int collection, const char *id, const char *document) {
    return satchel_records_put(planner->records[collection], satchel_text(id), satchel_text(document), SATCHEL_ANY_REVISION, NULL);
}

static void put(const struct planner *planner, int collection, const char *id, const char *document) {
    must(try_put(planner, collection, id, document));
}

static satchel_buffer get(const struct planner *planner, int collection, const char *id) {
    satchel_buffer document;
    must(satchel_records_get(planner->records[collection], satchel_text(id), &document));
    return document;
}

/** Changes fields of a document: a JSON Merge Patch. */
static void change(const struct planner *planner, int collection, const char *id, const char *patch) {
    satchel_buffer document = get(planner, collection, id), changed;
    must(satchel_json_merge_patch(satchel_bytes_of(document), satchel_text(patch), &changed));
    put(planner, collection, id, changed.data);
    satchel_buffer_free(&document);
    satchel_buffer_free(&changed);
}

static int count(const struct planner *planner, int collection) {
    int64_t records;
    must(satchel_records_count(planner->records[collection], satchel_text(""), &records));
    return (int)records;
}

static satchel_buffer list(const struct planner *planner, int collection, const char *query) {
    satchel_buffer records;
    must(satchel_records_list(planner->records[collection], satchel_text(query), &records));
    return records;
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
    satchel_buffer tasks = list(planner, TASKS, "{\"where\":{\"due\":{\"lt\":\"2027-03-10\"}},\"order_by\":\"due\"}");
    for (size_t index = 0; index < count_of(&tasks, ""); index++)
        printf("  until %s: %s\n", string(&tasks, "/%zu/document/due", index), string(&tasks, "/%zu/document/title", index));
    satchel_buffer_free(&tasks);
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
        if (try_put(planner, wrong[each].collection, "new", wrong[each].document) == SATCHEL_ECONSTRAINT)
            printf("  %s: refused\n", names[wrong[each].collection]);
    }
}

/** Flushed changes survive the process; changes that were only set may not. */
static void write_and_die(const char *path) {
    struct planner planner = open_planner(path, 1);
    satchel_state_list_options ten = SATCHEL_STATE_LIST_OPTIONS_INIT;
    ten.limit = 10;
    plan(&planner);
    show_tasks(&planner);
    refuse(&planner);
    must(satchel_state_set(planner.store, satchel_text("theme"), satchel_text("\"dark\""), false));
    must(satchel_state_list_push(planner.store, satchel_text("searches"), satchel_text("\"kepler\""), &ten));
    must(satchel_state_score_add(planner.store, satchel_text("subjects"), satchel_text("history"), 0.25, NULL, NULL));
    must(satchel_state_flush(planner.store, NULL));
    fflush(stdout);
    raise(SIGKILL);
}

static void come_back(const struct planner *planner) {
    satchel_buffer theme, searches, scores, courses = list(planner, COURSES, "{\"order_by\":\"title\"}");
    double history;
    puts("\nThe planner was killed, and starts again as version 2.");
    must(satchel_state_get(planner->store, satchel_text("theme"), &theme));
    must(satchel_state_list_items(planner->store, satchel_text("searches"), NULL, &searches));
    must(satchel_state_scores(planner->store, satchel_text("subjects"), NULL, &scores));
    must(satchel_json_get_double(satchel_bytes_of(scores), satchel_text("history"), &history));
    printf("  theme %s, searched %s, history %g\n", string(&theme, ""), string(&searches, "/0/value"), history);
    for (size_t index = 0; index < count_of(&courses, ""); index++) {
        printf("  %s: %ld credits\n", string(&courses, "/%zu/document/title", index),
               number(&courses, "/%zu/document/credits", index));
    }
    satchel_buffer_free(&theme);
    satchel_buffer_free(&searches);
    satchel_buffer_free(&scores);
    satchel_buffer_free(&courses);
}

/** Synchronizes all collections at once, and prints what moved. */
static void synchronize(const struct planner *planner, satchel_remote *remote, const char *name) {
    satchel_buffer out;
    must(satchel_store_sync(planner->store, remote, satchel_text("mia"), NULL, &out));
    printf("  %s: %*s%ld up, %ld down, %ld merged\n", name, (int)(6 - strlen(name)), "",
           number(&out, "/records/uploaded"), number(&out, "/records/downloaded"), number(&out, "/records/merged"));
    satchel_buffer_free(&out);
}

static void share(const struct planner *laptop, const struct planner *phone, satchel_remote *remote) {
    puts("\nThe phone gets it all.");
    synchronize(laptop, remote, "laptop");
    synchronize(phone, remote, "phone");
    puts("Without a network, each changes another field of the same task.");
    change(laptop, TASKS, "essay", "{\"due\":\"2027-03-10\"}");
    change(phone, TASKS, "essay", "{\"title\":\"Essay on Tycho Brahe\"}");
    synchronize(laptop, remote, "laptop");
    synchronize(phone, remote, "phone");
    synchronize(laptop, remote, "laptop");
    satchel_buffer essay = get(laptop, TASKS, "essay");
    printf("  both have: %s, until %s\n", string(&essay, "title"), string(&essay, "due"));
    satchel_buffer_free(&essay);
    puts("The phone drops a course, and all that belongs to it.");
    must(satchel_records_delete(phone->records[COURSES], satchel_text("history"), SATCHEL_ANY_REVISION, NULL));
    synchronize(phone, remote, "phone");
    synchronize(laptop, remote, "laptop");
    printf("  laptop: %d course, %d tasks, %d grades\n", count(laptop, COURSES), count(laptop, TASKS),
           count(laptop, GRADES));
    satchel_buffer reading = get(laptop, ACTIVITIES, "reading");
    printf("  reading is left, for task %s\n", string_or("null", &reading, "task_id"));
    satchel_buffer_free(&reading);
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
    satchel_remote *remote = open_remote(arguments[1], "planner");
    come_back(&laptop);
    share(&laptop, &phone, remote);
    satchel_remote_free(remote);
    close_planner(&laptop);
    close_planner(&phone);
    return 0;
}
