/* The stories of a directory: which files are, what is said of the others, and what queries find.
 * Usage: library FOLDER */
#include <sys/stat.h>
#include <unistd.h>

#include "stories.h"

static satchel_buffer out;
static const char *folder;

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

static json_t *select_by(satchel_stories *stories, const char *query) {
    must(satchel_stories_select(stories, text(query), &out), query);
    return take(&out);
}

static void selects(satchel_stories *stories, const char *query, const char *const *wanted) {
    json_t *found = select_by(stories, query);
    CHECK(lists(found, "/id", wanted), "%s:%s", query, shown(found, "/id"));
    json_decref(found);
}

/** Sets a field of a story; takes the reference to the value, and gives the story. */
static json_t *with(json_t *story, const char *field, json_t *value) {
    json_object_set_new(story, field, value);
    return story;
}

static void fill(void) {
    write_story(folder, "well.json", tale("well", "The Wéll"));
    json_t *wolf = with(tale("wolf", "A Wolf"), "culturalOrigin", json_string("Norse"));
    with(wolf, "estimatedReadingMinutes", json_integer(2));
    with(wolf, "tags", json_pack("[s, s]", "courage", "snow"));
    write_story(folder, "grey.json",
                with(with(wolf, "ageRange", json_string("12+")), "isPurchased", json_true()));
    json_t *cave = with(forks(3), "id", json_string("cave"));
    write_story(folder, "cave.json", with(with(cave, "culturalOrigin", json_null()), "tags", json_array()));
    write_text(folder, "game.twee",
               ":: StoryTitle\nThe Game\n\n:: Start\nPlay. [[On->End]]\n\n:: End\nOver.\n");
    write_story(folder, "unsound.json", broken_tale("unsound"));

    write_text(folder, "open.json", "{\"id\":\"open\",\n  \"title\"");
    write_text(folder, "empty.json", "");
    write_text(folder, "list.json", "[]");
    write_text(folder, "latin.json", "{\"id\":\"latin\",\"title\":\"\xE9\"}");
    write_text(folder, "nameless.json", "{\"title\":\"Nameless\",\"segments\":[]}");
    write_story(folder, "climber.json", tale("../climber", "Climber"));
    write_story(folder, "zz.json", tale("well", "Another Well"));
    char deep[2 * DEEPEST + 64];
    nested(DEEPEST + 1, deep);
    write_text(folder, "deep.json", deep);
    write_story(folder, "\xFF.json", tale("latin1", "Latin 1"));

    write_text(folder, "notes.txt", "no story");
    write_story(folder, ".hidden.json", tale("hidden", "Hidden"));
    bool made = mkdir(path_in(folder, "folder.json"), 0700) == 0
                && mkfifo(path_in(folder, "pipe.json"), 0600) == 0
                && symlink("/etc/passwd", path_in(folder, "out.json")) == 0
                && symlink("nowhere", path_in(folder, "dangling.json")) == 0
                && symlink("loop.json", path_in(folder, "loop.json")) == 0;
    char outside[4096];
    snprintf(outside, sizeof outside, "%s/../outside.json", folder);
    write_story(folder, "../outside.json", tale("outside", "Outside"));
    if (!made || symlink(outside, path_in(folder, "outside.json")) != 0) give_up("links and pipes");
}

static json_t *problem_of(json_t *listing, const char *file) {
    size_t index;
    json_t *problem;
    json_array_foreach(at(listing, "/problems"), index, problem) {
        if (strcmp(text_at(problem, "/file"), file) == 0) return problem;
    }
    return NULL;
}

static void listing(satchel_stories *stories) {
    static const struct {
        const char *file, *code;
        bool placed;
    } problems[] = {
        {"open.json", "not-json", true},
        {"empty.json", "not-json", true},
        {"list.json", "not-a-story", true},
        {"latin.json", "not-json", true},
        {"deep.json", "not-json", true},
        {"nameless.json", "missing-field", true},
        {"climber.json", "invalid-id", true},
        {"zz.json", "duplicate-story", false},
        {"folder.json", "unreadable", false},
        {"pipe.json", "unreadable", false},
        {"out.json", "unreadable", false},
        {"outside.json", "unreadable", false},
        {"dangling.json", "unreadable", false},
        {"loop.json", "unreadable", false},
        {"\xEF\xBF\xBD.json", "unreadable", false},
    };
    enum { count = sizeof problems / sizeof *problems };
    static const char *const all[] = {"cave", "game", "wolf", "unsound", "well", NULL};
    static const char *const sound[] = {"cave", "game", "wolf", "well", NULL};
    for (int checked = 0; checked < 2; checked++) {
        must(satchel_stories_load_all(stories, checked == 1, &out), "loading all");
        json_t *found = take(&out);
        json_t *listed = at(found, "/stories"), *unfit = at(found, "/problems");
        CHECK(lists(listed, "/id", checked ? sound : all), "checked %d:%s", checked, shown(listed, "/id"));
        CHECK(json_array_size(unfit) == (size_t)(count + checked), "checked %d:%s", checked,
              shown(unfit, "/file"));
        for (int index = 0; index < count; index++) {
            json_t *problem = problem_of(found, problems[index].file);
            CHECK(strcmp(text_at(problem, "/code"), problems[index].code) == 0, "%s: %s",
                  problems[index].file, text_at(problem, "/code"));
            CHECK(strlen(text_at(problem, "/message")) > 6, "%s: no message", problems[index].file);
            CHECK((number_at(problem, "/line") > 0 && number_at(problem, "/column") > 0)
                      == problems[index].placed,
                  "%s: %lld:%lld", problems[index].file, number_at(problem, "/line"),
                  number_at(problem, "/column"));
        }
        CHECK(number_at(problem_of(found, "open.json"), "/line") == 2, "where open.json ends");
        json_t *unsound = problem_of(found, "unsound.json");
        CHECK((unsound != NULL) == (checked == 1), "unsound.json among the problems");
        CHECK(!checked
                  || (json_array_size(at(unsound, "/findings")) == 1
                      && strcmp(text_at(unsound, "/story"), "unsound") == 0),
              "the findings of unsound.json");
        json_decref(found);
    }
    json_t *well = select_by(stories, "{\"search\":\"well\"}");
    CHECK(strcmp(text_at(well, "/0/file"), "well.json") == 0 && number_at(well, "/0/path_count") == 2
              && number_at(well, "/0/errors") == 0 && number_at(well, "/0/warnings") == 0
              && json_is_false(at(well, "/0/is_purchased")) && number_at(well, "/0/words") == 17,
          "what is known of a story");
    json_decref(well);
}

static void queries(satchel_stories *stories) {
    static const char *const none[] = {NULL}, *const well[] = {"well", NULL}, *const wolf[] = {"wolf", NULL},
                             *const cave[] = {"cave", NULL}, *const game[] = {"game", NULL},
                             *const german[] = {"unsound", "well", NULL},
                             *const titles[] = {"wolf", "cave", "game", "well", "unsound", NULL};
    static const char *const everything[] = {"",
                                             "null",
                                             "{}",
                                             "{\"search\":\"\"}",
                                             "{\"search\":\" - !\"}",
                                             "{\"tags\":[],\"limit\":null,\"sort\":null}"};
    for (size_t index = 0; index < sizeof everything / sizeof *everything; index++) {
        selects(stories, everything[index], titles);
    }
    selects(stories, "{\"search\":\"WELL\"}", well);
    selects(stories, "{\"search\":\"w\\u00e9l\"}", well);
    selects(stories, "{\"search\":\"spin wolf\"}", wolf);
    selects(stories, "{\"search\":\"ell\"}", none);
    selects(stories, "{\"search\":\"game\"}", game);
    selects(stories, "{\"tags\":[\"courage\",\"snow\"]}", wolf);
    selects(stories, "{\"tags\":[\"Courage\"]}", none);
    selects(stories, "{\"age_range\":\"12+\"}", wolf);
    selects(stories, "{\"age\":40}", wolf);
    selects(stories, "{\"age\":9}", none);
    selects(stories, "{\"culture\":\"German\",\"sort\":\"title\",\"descending\":true}", german);
    selects(stories, "{\"purchased\":true}", wolf);
    selects(stories, "{\"sort\":\"path_count\",\"descending\":true,\"limit\":1}", cave);
    selects(stories, "{\"sort\":\"reading_time\",\"tags\":[\"courage\"],\"descending\":true,\"limit\":1}",
            wolf);
    selects(stories, "{\"sort\":\"path_count\",\"limit\":1}", game);
    selects(stories, "{\"limit\":0}", none);
    selects(stories, "{\"offset\":5}", none);
    selects(stories, "{\"limit\":9223372036854775807,\"offset\":9223372036854775807}", none);
    selects(stories, "{\"age\":9223372036854775807}", wolf);

    must(satchel_stories_facets(stories, &out), "facets");
    json_t *facets = take(&out);
    static const char *const tags[] = {"courage", "snow", NULL},
                             *const cultures[] = {"German", "Norse", NULL},
                             *const ages[] = {"5-8", "12+", NULL};
    CHECK(lists(at(facets, "/tags"), "", tags), "tags");
    CHECK(lists(at(facets, "/cultures"), "", cultures), "cultures");
    CHECK(lists(at(facets, "/age_ranges"), "", ages), "age ranges");
    json_decref(facets);
}

/** A story's text is its file's bytes, whatever else the file contains. */
static void texts(satchel_stories *stories) {
    static const char *const pairs[][2] = {
        {"well", "well.json"}, {"wolf", "grey.json"}, {"game", "game.twee"}, {"unsound", "unsound.json"}};
    for (size_t index = 0; index < sizeof pairs / sizeof *pairs; index++) {
        char bytes[8192];
        FILE *file = fopen(path_in(folder, pairs[index][1]), "rb");
        size_t size = file ? fread(bytes, 1, sizeof bytes, file) : 0;
        if (!file || fclose(file) != 0) give_up(pairs[index][1]);
        must(satchel_stories_story(stories, text(pairs[index][0]), text(""), false, &out), pairs[index][0]);
        CHECK(out.size == size && memcmp(out.data, bytes, size) == 0, "%s: %s", pairs[index][0], out.data);
        satchel_buffer_free(&out);
    }
    must(satchel_stories_story(stories, text("well"), text(""), true, &out), "a sound story, checked");
    satchel_buffer_free(&out);
    CHECK(satchel_stories_story(stories, text("unsound"), text(""), true, &out) == SATCHEL_EINVALID && !out.data,
          "an unsound story is given");
    static const char *const named[] = {
        "unsound.json", "broken-choice", "medow", "line 1", "did you mean", "cannot be reached"};
    for (size_t index = 0; index < sizeof named / sizeof *named; index++)
        CHECK(strstr(satchel_error_message(), named[index]), "no %s in: %s", named[index],
              satchel_error_message());
    static const char *const ids[][2] = {{"", "rim"}, {"home", "home"}};
    for (int index = 0; index < 2; index++) {
        must(satchel_stories_segment(stories, text("well"), text(""), text(ids[index][0]), &out), "a segment");
        json_t *segment = take(&out);
        CHECK(strcmp(text_at(segment, "/id"), ids[index][1]) == 0, "%s", text_at(segment, "/id"));
        json_decref(segment);
    }
}

/** One bad file hides no other, whether the index is there yet or not. */
static void beside_bad_files(const char *parent) {
    static const struct {
        const char *bad, *good, *id;
    } table[] = {
        {"a.twee", "a.json", "a"}, /* both could hold it */
        {"b.json", "b.twee", "b"},
        {"c.json", "other.json", "c"},
    };
    char own[2048];
    snprintf(own, sizeof own, "%s/beside", parent);
    if (mkdir(own, 0700) != 0) give_up(own);
    for (size_t index = 0; index < sizeof table / sizeof *table; index++) {
        const char *good = table[index].good;
        if (strstr(good, ".twee")) write_text(own, good, ":: Start\nPlay.\n");
        else write_story(own, good, tale(table[index].id, "Good"));
        if (mkfifo(path_in(own, table[index].bad), 0600) != 0) give_up("a pipe");
    }
    for (int indexed = 0; indexed < 2; indexed++) {
        for (size_t index = 0; index < sizeof table / sizeof *table; index++) {
            satchel_store *store = open_store(":memory:");
            satchel_stories *stories;
            must(satchel_stories_open(store, text(own), text(""), &stories), own);
            if (indexed) must(satchel_stories_refresh(stories, NULL), "refreshing");
            satchel_status status = satchel_stories_story(stories, text(table[index].id), text(""), true, &out);
            CHECK(status == SATCHEL_OK, "%s hides %s, %s: %s", table[index].bad, table[index].good,
                  indexed ? "indexed" : "not indexed", satchel_error_message());
            satchel_buffer_free(&out);
            satchel_stories_free(stories);
            must(satchel_store_close(store), "closing");
        }
    }
}

int main(int count, char **arguments) {
    if (count != 2) return 2;
    char own[2048];
    snprintf(own, sizeof own, "%s/library", arguments[1]);
    folder = own;
    if (mkdir(folder, 0700) != 0) give_up(folder);
    fill();
    satchel_store *store = open_store(":memory:");
    satchel_stories *stories = open_library(store);
    listing(stories);
    queries(stories);
    texts(stories);
    satchel_stories_free(stories);
    stories = open_library(store);
    queries(stories);
    texts(stories);
    satchel_stories_free(stories);
    must(satchel_store_check(store, &out), "checking the store");
    CHECK(strcmp(out.data, "[]") == 0, "the store is not sound: %s", out.data);
    satchel_buffer_free(&out);
    must(satchel_store_close(store), "closing");
    beside_bad_files(arguments[1]);
    return close_checks();
}
