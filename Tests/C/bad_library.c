/* Bad ids, queries and handles in the calls on a library of stories, which stays as it is.
 * Usage: bad_library FOLDER */
#include <sys/stat.h>
#include <unistd.h>

#include "bad_input.h"
#include "stories.h"

#define LITERAL(string) {string, sizeof(string) - 1}

static char folder[2048];
static satchel_store *store;
static satchel_stories *stories;
static char *listed_before;

/** All that the library says of itself; the caller frees it. */
static char *listed(void) {
    satchel_buffer all = SATCHEL_BUFFER_INIT;
    must(satchel_stories_load_all(stories, true, &all), "loading all");
    return all.data;
}

static void unchanged(const char *what) {
    char *after = listed();
    CHECK(strcmp(after, listed_before) == 0, "%s: something changed:\n%s\n%s", what, listed_before, after);
    free(after);
}

/** A story that cannot be had, in every call that gives one. */
static void no_story(const char *what, satchel_status wanted, const char *place, satchel_bytes id) {
    refused_out(what, wanted, place, satchel_stories_story(stories, id, text(""), false, &out));
    refused_out(what, wanted, place, satchel_stories_story(stories, id, text(""), true, &out));
    refused_out(what, wanted, place, satchel_stories_segment(stories, id, text(""), text(""), &out));
    CHECK(strlen(satchel_error_message()) < 2000, "%s: too long a message", what);

    /* The same of a library that has not looked at its directory yet. */
    satchel_stories *fresh;
    satchel_store *other;
    must(satchel_store_open(":memory:", NULL, &other), "opening a store in memory");
    must(satchel_stories_open(other, text(folder), text(""), &fresh), "opening a library");
    refused_out(what, wanted, place, satchel_stories_story(fresh, id, text(""), false, &out));
    must(satchel_store_close(other), "closing");
    satchel_stories_free(fresh);
}

static void no_names(void) {
    static char long_id[201], megabyte[1 << 20];
    memset(long_id, 'a', sizeof long_id);
    memset(megabyte, 'c', sizeof megabyte);
    const struct {
        const char *what;
        satchel_bytes id;
    } table[] = {
        {"nothing", {NULL, 0}},
        {"up", LITERAL("../x")},
        {"up alone", LITERAL("..")},
        {"here", LITERAL(".")},
        {"absolute", LITERAL("/etc/passwd")},
        {"a way around", LITERAL("a/../../b")},
        {"below", LITERAL("well/x")},
        {"a backslash", LITERAL("..\\x")},
        {"hidden", LITERAL(".hidden")},
        {"a NUL after a good id", LITERAL("well\0")},
        {"a NUL inside", LITERAL("well\0x")},
        {"a line feed", LITERAL("well\n")},
        {"DEL", LITERAL("well\x7F")},
        {"201 bytes", {long_id, sizeof long_id}},
        {"a megabyte", {megabyte, sizeof megabyte}},
        {"bad UTF-8", LITERAL("well\xFF")},
        {"overlong", LITERAL("\xC0\xAE\xC0\xAE\xC0\xAFx")},
        {"no address", {NULL, 4}},
        {"endless", {"well", SIZE_MAX}},
    };
    for (size_t index = 0; index < sizeof table / sizeof *table; index++) {
        no_story(table[index].what, SATCHEL_EINVALID, NULL, table[index].id);
        refused(table[index].what, SATCHEL_EINVALID, NULL,
                satchel_stories_mark_purchased(stories, table[index].id, true));
    }
    unchanged("ids that are no names");
}

static void names(void) {
    static char longest[201];
    memset(longest, 'b', 200);
    const struct {
        const char *id;
        satchel_status status;
        const char *place;
    } table[] = {
        {longest, SATCHEL_ENOTFOUND, NULL},       {"wel", SATCHEL_ENOTFOUND, "wel"},
        {"WELL", SATCHEL_ENOTFOUND, NULL},        {"well.json", SATCHEL_ENOTFOUND, NULL},
        {"other", SATCHEL_ENOTFOUND, NULL}, /* the name of a file that holds another story */
        {"' OR 1=1 --", SATCHEL_ENOTFOUND, NULL}, {"%2e%2e%2fx", SATCHEL_ENOTFOUND, NULL},
        {"~", SATCHEL_ENOTFOUND, NULL},           {"out", SATCHEL_EINVALID, "link"},
        {"outside", SATCHEL_EINVALID, "link"},    {"loop", SATCHEL_EIO, "loop.json"},
        {"pipe", SATCHEL_EIO, "pipe.json"},       {"folder", SATCHEL_EIO, "folder.json"},
        {"open", SATCHEL_EINVALID, "line "},      {"deep", SATCHEL_EINVALID, "line "},
    };
    for (size_t index = 0; index < sizeof table / sizeof *table; index++)
        no_story(table[index].id, table[index].status, table[index].place, text(table[index].id));
    refused_out("unsound, checked", SATCHEL_EINVALID, "broken-choice",
                satchel_stories_story(stories, text("unsound"), text(""), true, &out));
    refused_out("no such segment", SATCHEL_ENOTFOUND, "meado",
                satchel_stories_segment(stories, text("well"), text(""), text("meado"), &out));
    refused_out("a segment of bad UTF-8", SATCHEL_EINVALID, "segment",
                satchel_stories_segment(stories, text("well"), text(""), text("\xFF"), &out));
    refused_out("a segment without an address", SATCHEL_EINVALID, "segment",
                satchel_stories_segment(stories, text("well"), text(""), (satchel_bytes){NULL, 3}, &out));
    unchanged("ids of what is no story");
}

static void queries(void) {
    static const struct {
        const char *what, *place, *query;
    } table[] = {
        {"no JSON", "line ", "well"},
        {"an array", NULL, "[]"},
        {"a text", NULL, "\"well\""},
        {"a number", NULL, "7"},
        {"an unknown key", "colour", "{\"colour\":\"blue\"}"},
        {"an unknown key with null", "colour", "{\"colour\":null}"},
        {"another case", "Search", "{\"Search\":\"a\"}"},
        {"a number to search", "search", "{\"search\":7}"},
        {"tags as text", "tags", "{\"tags\":\"courage\"}"},
        {"tags that are no texts", "tags", "{\"tags\":[\"a\",7]}"},
        {"age as text", "age", "{\"age\":\"7\"}"},
        {"age as fraction", "age", "{\"age\":7.5}"},
        {"age below zero", "age", "{\"age\":-1}"},
        {"age range as number", "age_range", "{\"age_range\":5}"},
        {"culture as number", "culture", "{\"culture\":5}"},
        {"purchased as number", "purchased", "{\"purchased\":1}"},
        {"an unknown order", "sort", "{\"sort\":\"id; DROP TABLE story_file\"}"},
        {"an order that is no text", "sort", "{\"sort\":true}"},
        {"descending as text", "descending", "{\"descending\":\"yes\"}"},
        {"limit below zero", "limit", "{\"limit\":-1}"},
        {"the least limit", "limit", "{\"limit\":-9223372036854775808}"},
        {"limit as fraction", "limit", "{\"limit\":1e3}"},
        {"offset below zero", "offset", "{\"offset\":-1}"},
        {"an integer beyond Int64", "limit", "{\"limit\":9223372036854775808}"},
        {"a duplicate key", "line ", "{\"limit\":1,\"limit\":2}"},
        {"bad UTF-8", "line ", "{\"search\":\"\xFF\"}"},
    };
    for (size_t index = 0; index < sizeof table / sizeof *table; index++)
        refused_out(table[index].what, SATCHEL_EINVALID, table[index].place,
                    satchel_stories_select(stories, text(table[index].query), &out));
    refused_out("no address", SATCHEL_EINVALID, "query",
                satchel_stories_select(stories, (satchel_bytes){NULL, 2}, &out));
    refused_out("endless", SATCHEL_EINVALID, "query",
                satchel_stories_select(stories, (satchel_bytes){"{}", SIZE_MAX}, &out));

    static const struct {
        const char *what, *place, *options;
    } readers[] = {
        {"options that are no JSON", "line ", "Mia"},
        {"options as text", NULL, "\"Mia\""},
        {"an unknown option", "name", "{\"name\":\"Mia\"}"},
        {"a reader that is no text", "reader", "{\"reader\":7}"},
        {"a slot that is no text", "slot", "{\"slot\":[]}"},
        {"a language that is no text", "language", "{\"language\":true}"},
        {"a reader with a control character", "reader", "{\"reader\":\"a\\n\"}"},
        {"a slot with a NUL", "slot", "{\"slot\":\"\\u0000\"}"},
    };
    for (size_t index = 0; index < sizeof readers / sizeof *readers; index++) {
        satchel_bytes options = text(readers[index].options);
        refused_out(readers[index].what, SATCHEL_EINVALID, readers[index].place,
                    satchel_stories_progress(stories, text("well"), options, &out));
        refused_out(readers[index].what, SATCHEL_EINVALID, readers[index].place,
                    satchel_stories_move_to(stories, text("well"), text("rim"), options, &out));
        refused(readers[index].what, SATCHEL_EINVALID, readers[index].place,
                satchel_stories_clear_progress(stories, text("well"), options));
    }

    /* Words with a meaning in FTS5 or SQL are plain words here. */
    static const struct {
        const char *search;
        bool finds;
    } searches[] = {
        {"well*", true},
        {"\"well\"", true},
        {"\"well", true},
        {"well\"", true},
        {"^well", true},
        {"well)", true},
        {"((well", true},
        {"+well", true},
        {"well OR nothing", false},
        {"well NOT well", false},
        {"NEAR(well, 2)", false},
        {"title:well", false}, {"{title}:well", false},
        {"-title:well", false}, {"well AND", false},
        {"' OR 1=1 --", false},
        {"well\\u0000", true}, {"\\u0000", true}, {"*", true},
        {"\\ud83d\\ude00", true},
        {"%", true}, {"w_ll", false},
        {"\\u0301", true},
        {"we\\u0301ll", true},
    };
    for (size_t index = 0; index < sizeof searches / sizeof *searches; index++) {
        char query[128];
        satchel_buffer given = SATCHEL_BUFFER_INIT;
        json_t *search = json_pack("{s:s}", "search", searches[index].search);
        if (strchr(searches[index].search, '\\'))
            snprintf(query, sizeof query, "{\"search\":\"%s\"}", searches[index].search);
        else {
            char *dumped = dump(search);
            snprintf(query, sizeof query, "%s", dumped);
            free(dumped);
        }
        json_decref(search);
        satchel_status status = satchel_stories_select(stories, text(query), &given);
        if (!CHECK(status == SATCHEL_OK, "%s: %s", query, satchel_error_message())) continue;
        json_t *found = take(&given);
        CHECK((json_array_size(found) > 0) == searches[index].finds, "%s finds %zu", query,
              json_array_size(found));
        json_decref(found);
    }
    size_t size = 40 * 1000;
    char *long_query = malloc(size + 64);
    satchel_buffer given = SATCHEL_BUFFER_INIT;
    int begun = sprintf(long_query, "{\"search\":\"");
    for (size_t place = 0; place < size; place += 4)
        sprintf(long_query + begun + place, "w%02d ", (int)(place / 4 % 60));
    strcat(long_query, "\"}");
    satchel_status status = satchel_stories_select(stories, text(long_query), &given);
    CHECK(status == SATCHEL_OK, "sixty words, often: %s", satchel_error_message());
    satchel_buffer_free(&given);
    for (size_t place = 0; place + 8 <= size; place += 8)
        sprintf(long_query + begun + place, "%07d ", (int)place);
    strcat(long_query, "\"}");
    status = satchel_stories_select(stories, text(long_query), &given);
    CHECK(status == SATCHEL_EINVALID && strstr(satchel_error_message(), "64"), "5,000 words: %s: %s",
          satchel_status_name(status), satchel_error_message());
    satchel_buffer_free(&given);
    free(long_query);
    unchanged("queries");
}

/** Every call that takes a library, with invalid ones. */
static void no_library(const char *what, satchel_stories *none) {
    const satchel_status wanted = none ? SATCHEL_ECLOSED : SATCHEL_EINVALID;
    fill_out_with_nonsense();
    refused_out(what, wanted, NULL, satchel_stories_refresh(none, &out));
    refused(what, wanted, NULL, satchel_stories_refresh(none, NULL));
    refused_out(what, wanted, NULL, satchel_stories_load_all(none, false, &out));
    refused_out(what, wanted, NULL, satchel_stories_select(none, text("{}"), &out));
    refused_out(what, wanted, NULL, satchel_stories_facets(none, &out));
    refused_out(what, wanted, NULL, satchel_stories_story(none, text("well"), text(""), false, &out));
    refused_out(what, wanted, NULL, satchel_stories_segment(none, text("well"), text(""), text("rim"), &out));
    refused(what, wanted, NULL, satchel_stories_mark_purchased(none, text("well"), true));
    refused(what, wanted, NULL, satchel_stories_preload(none, text("")));
    refused_out(what, wanted, NULL, satchel_stories_loading(none, &out));
    refused_out(what, wanted, NULL, satchel_stories_progress(none, text("well"), text(""), &out));
    refused_out(what, wanted, NULL, satchel_stories_move_to(none, text("well"), text("rim"), text(""), &out));
    refused(what, wanted, NULL, satchel_stories_clear_progress(none, text("well"), text("")));
    refused_out(what, wanted, NULL, satchel_stories_begun(none, text(""), &out));
    satchel_story *story = NULL;
    refused(what, wanted, NULL, satchel_stories_open_story(none, text("well"), text(""), false, &story));
    refused(what, wanted, NULL, satchel_stories_clear_cache(none));
}

static void handles(void) {
    static const uintptr_t numbers[] = {1, 4, 20, 1000003, 0x7FFFFFFF, UINTPTR_MAX, UINTPTR_MAX / 2};
    no_library("NULL", NULL);
    satchel_stories_free(NULL);
    for (size_t index = 0; index < sizeof numbers / sizeof *numbers; index++) {
        no_library("a number", (satchel_stories *)numbers[index]);
        satchel_stories_free((satchel_stories *)numbers[index]);
    }
    satchel_session *session;
    must(satchel_session_new(store, NULL, NULL, NULL, NULL, &session), "beginning a session");
    no_library("a store", (satchel_stories *)store);
    no_library("a session", (satchel_stories *)session);
    satchel_stories_free((satchel_stories *)store);
    satchel_stories_free((satchel_stories *)session);
    satchel_session_free((satchel_session *)stories);
    satchel_observer_free((satchel_observer *)stories);
    refused("a library as session", SATCHEL_ECLOSED, NULL,
            satchel_session_show((satchel_session *)stories, text(PARIS)));
    refused_out("a library as session", SATCHEL_ECLOSED, NULL,
                satchel_session_state((satchel_session *)stories, &out));
    refused_out("a library as store", SATCHEL_ECLOSED, NULL,
                satchel_store_info((satchel_store *)stories, &out));
    refused("a library as store", SATCHEL_ECLOSED, NULL, satchel_store_close((satchel_store *)stories));
    satchel_stories *opened = (satchel_stories *)&out;
    refused("a library in a library", SATCHEL_ECLOSED, NULL,
            satchel_stories_open((satchel_store *)stories, text(folder), text(""), &opened));
    CHECK(opened == NULL, "the out-parameter is not emptied");
    refused("a library in NULL", SATCHEL_EINVALID, NULL, satchel_stories_open(NULL, text(folder), text(""), &opened));
    satchel_buffer state = SATCHEL_BUFFER_INIT;
    CHECK(satchel_session_state(session, &state) == SATCHEL_OK, "the session: %s", satchel_error_message());
    satchel_buffer_free(&state);
    satchel_session_free(session);
    unchanged("handles");
}

static void no_out(void) {
    refused("load_all", SATCHEL_EINVALID, "out", satchel_stories_load_all(stories, false, NULL));
    refused("select", SATCHEL_EINVALID, "out", satchel_stories_select(stories, text("{}"), NULL));
    refused("facets", SATCHEL_EINVALID, "out", satchel_stories_facets(stories, NULL));
    refused("story", SATCHEL_EINVALID, "out", satchel_stories_story(stories, text("well"), text(""), false, NULL));
    refused("segment", SATCHEL_EINVALID, "out",
            satchel_stories_segment(stories, text("well"), text(""), text(""), NULL));
    refused("loading", SATCHEL_EINVALID, "out", satchel_stories_loading(stories, NULL));
    refused("progress", SATCHEL_EINVALID, "out", satchel_stories_progress(stories, text("well"), text(""), NULL));
    refused("begun", SATCHEL_EINVALID, "out", satchel_stories_begun(stories, text(""), NULL));
    CHECK(satchel_stories_refresh(stories, NULL) == SATCHEL_OK, "refresh: %s", satchel_error_message());
}

/** The directory goes while the library is open. */
static void directory_gone(void) {
    char passing[2100];
    snprintf(passing, sizeof passing, "%s/passing", folder);
    if (mkdir(passing, 0700) != 0) give_up(passing);
    write_story(passing, "well.json", tale("well", "The Well"));
    satchel_stories *passed;
    satchel_buffer given = SATCHEL_BUFFER_INIT;
    must(satchel_stories_open(store, text(passing), text(""), &passed), "opening");
    must(satchel_stories_refresh(passed, NULL), "refreshing");
    unlink(path_in(passing, "well.json"));
    rmdir(passing);
    refused_out("refreshing nothing", SATCHEL_ENOTFOUND, "passing", satchel_stories_refresh(passed, &out));
    refused_out("loading nothing", SATCHEL_ENOTFOUND, "passing",
                satchel_stories_load_all(passed, false, &out));
    refused_out("a story of nothing", SATCHEL_ENOTFOUND, NULL,
                satchel_stories_story(passed, text("well"), text(""), false, &out));
    CHECK(satchel_stories_preload(passed, text("")) == SATCHEL_OK, "preload: %s", satchel_error_message());
    must(satchel_stories_select(passed, text("{}"), &given), "selecting from the index");
    json_t *found = take(&given);
    CHECK(json_array_size(found) == 1, "the index forgot: %zu", json_array_size(found));
    json_decref(found);
    satchel_stories_free(passed);
}

static void closed(void) {
    satchel_stories *second;
    must(satchel_stories_open(store, text(folder), text(""), &second), "opening");
    satchel_stories_free(second);
    no_library("freed", second);
    satchel_stories_free(second);
    must(satchel_stories_open(store, text(folder), text(""), &second), "opening");
    must(satchel_store_close(store), "closing");
    no_library("its store was closed", stories);
    no_library("its store was closed, never used", second);
    satchel_stories *third = (satchel_stories *)&out;
    refused("a closed store", SATCHEL_ECLOSED, NULL, satchel_stories_open(store, text(folder), text(""), &third));
    CHECK(third == NULL, "the out-parameter is not emptied");
    satchel_stories_free(stories);
    satchel_stories_free(second);
    satchel_stories_free(stories);
    no_library("freed after its store", stories);
}

static void fill(void) {
    write_story(folder, "well.json", tale("well", "The Well"));
    write_story(folder, "other.json", tale("thirst", "Thirst"));
    write_story(folder, "unsound.json", broken_tale("unsound"));
    write_text(folder, "open.json", "{\"id\":\"open\"");
    char deep[2 * DEEPEST + 64];
    nested(DEEPEST + 1, deep);
    write_text(folder, "deep.json", deep);
    write_story(folder, "../outside.json", tale("outside", "Outside"));
    write_story(folder, "../x.json", tale("x", "X"));
    char outside[2100];
    snprintf(outside, sizeof outside, "%s/../outside.json", folder);
    if (mkdir(path_in(folder, "folder.json"), 0700) != 0 || mkfifo(path_in(folder, "pipe.json"), 0600) != 0
        || symlink("/etc/passwd", path_in(folder, "out.json")) != 0
        || symlink("loop.json", path_in(folder, "loop.json")) != 0
        || symlink(outside, path_in(folder, "outside.json")) != 0)
        give_up("links and pipes");
}

int main(int count, char **arguments) {
    if (count != 2) return 2;
    snprintf(folder, sizeof folder, "%s/bad_library", arguments[1]);
    if (mkdir(folder, 0700) != 0) give_up(folder);
    fill();
    alarm(120); /* a pipe that is waited for ends here, and is counted as failed */
    must(satchel_store_open(":memory:", NULL, &store), "opening a store in memory");
    must(satchel_stories_open(store, text(folder), text(""), &stories), "opening a library");
    fill_out_with_nonsense();
    listed_before = listed();
    no_names();
    names();
    queries();
    handles();
    no_out();
    directory_gone();
    closed();
    free(listed_before);
    return close_checks();
}
