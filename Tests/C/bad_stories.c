/* Bad texts, ids, numbers and options in the calls on stories that need no store. */
#include "bad_input.h"
#include "stories.h"

#define LITERAL(string) {string, sizeof(string) - 1}

static char *sound;

/** Every call that takes a story's text, with one that cannot be read as such. */
static void in_every_call(const char *what, const char *place, satchel_bytes story) {
    refused_out(what, SATCHEL_EINVALID, place, satchel_story_check(story, NULL, &out));
    satchel_story *handle = (satchel_story *)&out;
    refused(what, SATCHEL_EINVALID, place, satchel_story_open(story, SATCHEL_STORY_AUTOMATIC, &handle));
    CHECK(handle == NULL, "%s: the handle is not emptied", what);
    refused_out(what, SATCHEL_EINVALID, NULL, satchel_story_from_twee(story, text(""), &out));
}

static void no_stories(void) {
    static const struct {
        const char *what;
        satchel_bytes text;
    } table[] = {
        {"nothing", LITERAL("")},
        {"white space", LITERAL(" \n")},
        {"two byte-order marks", LITERAL("\xEF\xBB\xBF\xEF\xBB\xBF{}")},
        {"an array", LITERAL("[]")},
        {"a text", LITERAL("\"once\"")},
        {"null", LITERAL("null")},
        {"prose", LITERAL("Once upon a time")},
        {"an open object", LITERAL("{\"id\":\"a\"")},
        {"something after the story", LITERAL("{} {}")},
        {"a duplicate key", LITERAL("{\"id\":\"a\",\"id\":\"b\"}")},
        {"a duplicate key, escaped", LITERAL("{\"id\":\"a\",\"\\u0069d\":\"b\"}")},
        {"a duplicate key of a choice",
         LITERAL("{\"segments\":[{\"choices\":[{\"id\":\"a\",\"nextSegmentId\":\"b\",\"id\":\"c\"}]}]}")},
        {"bad UTF-8", LITERAL("{\"id\":\"\xFF\"}")},
        {"a surrogate in UTF-8", LITERAL("{\"id\":\"\xED\xA0\x80\"}")},
        {"a lone surrogate", LITERAL("{\"segments\":[{\"text\":\"\\ud800\"}]}")},
        {"a bare NUL", LITERAL("{\"id\":\"a\0b\"}")},
        {"a NUL in a key", LITERAL("{\"a\\u0000b\":1}")},
        {"an invalid number", LITERAL("{\"estimatedReadingMinutes\":01}")},
        {"a final comma", LITERAL("{\"tags\":[\"a\",]}")},
    };
    for (size_t index = 0; index < sizeof table / sizeof *table; index++)
        in_every_call(table[index].what, "line ", table[index].text);
    static const satchel_bytes impossible[] = {
        {NULL, 5}, {NULL, SIZE_MAX}, {"{}", SIZE_MAX}, {"{}", SIZE_MAX / 2}};
    for (size_t index = 0; index < sizeof impossible / sizeof *impossible; index++)
        in_every_call("impossible bytes", NULL, impossible[index]);
}

static void depth(void) {
    static char room[2 * DEEPEST + 64];
    satchel_buffer report = SATCHEL_BUFFER_INIT;
    CHECK(satchel_story_check(nested(DEEPEST, room), NULL, &report) == SATCHEL_OK,
          "512 levels are refused: %s", satchel_error_message());
    satchel_buffer_free(&report);
    in_every_call("513 levels", "line ", nested(DEEPEST + 1, room));

    size_t size = 10 * 1000 * 1000;
    char *abyss = malloc(size);
    memset(abyss, '[', size);
    memcpy(abyss, "{\"segments\":", 12);
    in_every_call("ten million levels", "line ", (satchel_bytes){abyss, size});
    free(abyss);
}

static void ids(void) {
    satchel_bytes story = text(sound), twee = text(":: Start\nOnce.\n");
    static const satchel_bytes absent[] = {LITERAL("well"), LITERAL("rim\0"), LITERAL("RIM"),
                                           LITERAL("../rim")};
    for (size_t index = 0; index < sizeof absent / sizeof *absent; index++)
        refused_out("no such segment", SATCHEL_ENOTFOUND, NULL,
                    segment_of_text(story, absent[index], &out));
    refused_out("no segments", SATCHEL_ENOTFOUND, "no segments",
                segment_of_text(text("{\"segments\":[]}"), text(""), &out));
    static const satchel_bytes bad[] = {LITERAL("\xFF"), LITERAL("rim\xC3"), LITERAL("\xED\xA0\x80"),
                                        {NULL, 3},       {NULL, SIZE_MAX},   {"rim", SIZE_MAX}};
    for (size_t index = 0; index < sizeof bad / sizeof *bad; index++) {
        refused_out("a bad id", SATCHEL_EINVALID, "id", segment_of_text(story, bad[index], &out));
        refused_out("a bad id", SATCHEL_EINVALID, "id", satchel_story_from_twee(twee, bad[index], &out));
    }
    static char long_id[201];
    memset(long_id, 'a', sizeof long_id);
    const satchel_bytes paths[] = {
        LITERAL("../x"), LITERAL("/etc/passwd"), LITERAL("a\\b"),          LITERAL(".a"),
        LITERAL("a\0b"), LITERAL("a\nb"),        {long_id, sizeof long_id}};
    for (size_t index = 0; index < sizeof paths / sizeof *paths; index++)
        refused_out("an id that is no name", SATCHEL_EINVALID, "id",
                    satchel_story_from_twee(twee, paths[index], &out));
    satchel_buffer story_out = SATCHEL_BUFFER_INIT;
    CHECK(satchel_story_from_twee(twee, (satchel_bytes){long_id, 200}, &story_out) == SATCHEL_OK,
          "200 bytes are refused: %s", satchel_error_message());
    satchel_buffer_free(&story_out);
}

static void numbers(void) {
    static const int unknown[] = {2, 3, 77, -1, 0x7FFFFFFF, -0x7FFFFFFF - 1};
    for (size_t index = 0; index < sizeof unknown / sizeof *unknown; index++) {
        satchel_story_check_options options = SATCHEL_STORY_CHECK_OPTIONS_INIT;
        refused_out("an unknown picture", SATCHEL_EINVALID, "format",
                    draw_text(text(sound), (satchel_graph_format)unknown[index], &out));
        if (unknown[index] == 2) continue; /* known below */
        options.format = (satchel_report_format)unknown[index];
        refused_out("an unknown format", SATCHEL_EINVALID, "format",
                    satchel_story_check(text(sound), &options, &out));
        options.format = SATCHEL_REPORT_JSON;
        options.source = (satchel_story_source)unknown[index];
        refused_out("an unknown source", SATCHEL_EINVALID, "source",
                    satchel_story_check(text(sound), &options, &out));
        satchel_story *handle = NULL;
        refused("an unknown source", SATCHEL_EINVALID, "source",
                satchel_story_open(text(sound), (satchel_story_source)unknown[index], &handle));
    }
}

/** Handles that are none: NULL, freed ones, and those of another kind. */
static void handles(void) {
    satchel_story *story = NULL;
    must(satchel_story_open(text(sound), SATCHEL_STORY_JSON, &story), "opening");
    satchel_story_free(story);
    satchel_story_free(story);
    satchel_story_free(NULL);
    satchel_story *const bad[] = {NULL, story, (satchel_story *)(uintptr_t)0x77};
    for (size_t index = 0; index < sizeof bad / sizeof *bad; index++) {
        satchel_status expected = bad[index] ? SATCHEL_ECLOSED : SATCHEL_EINVALID;
        int64_t count = 77;
        refused_out("no story", expected, "story", satchel_story_describe(bad[index], &out));
        refused_out("no story", expected, "story", satchel_story_text(bad[index], &out));
        refused_out("no story", expected, "story", satchel_story_report(bad[index], NULL, &out));
        refused_out("no story", expected, "story", satchel_story_segment(bad[index], text("rim"), &out));
        refused_out("no story", expected, "story", satchel_story_graph(bad[index], SATCHEL_GRAPH_DOT, &out));
        refused_out("no story", expected, "story", satchel_story_diff(bad[index], bad[index], &out));
        refused_out("no story", expected, "story", satchel_story_path_count(bad[index], &count, &out));
        CHECK(count == 0, "the count is not emptied");
    }
    refused("no out", SATCHEL_EINVALID, "out", satchel_story_open(text(sound), SATCHEL_STORY_JSON, NULL));
}

static void options(void) {
    static const size_t sizes[] = {0, 1, sizeof(size_t) - 1, 1025, SIZE_MAX, SIZE_MAX / 2, SIZE_MAX / 2 + 1};
    satchel_story_check_options given = SATCHEL_STORY_CHECK_OPTIONS_INIT;
    for (size_t index = 0; index < sizeof sizes / sizeof *sizes; index++) {
        given.size = sizes[index];
        refused_out("an impossible size", SATCHEL_EINVALID, "size",
                    satchel_story_check(text(sound), &given, &out));
    }
    given.size = sizeof given;
    static const satchel_bytes names[] = {{NULL, 5}, {"a", SIZE_MAX}, LITERAL("\xFF")};
    for (size_t index = 0; index < sizeof names / sizeof *names; index++) {
        given.name = names[index];
        refused_out("a bad name", SATCHEL_EINVALID, "name", satchel_story_check(text(sound), &given, &out));
    }
    given.name = text("");
    static const satchel_bytes folders[] = {{NULL, 5}, {"a", SIZE_MAX}, LITERAL("\xFF"), LITERAL("a\0b")};
    for (size_t index = 0; index < sizeof folders / sizeof *folders; index++) {
        given.folder = folders[index];
        refused_out("a bad folder", SATCHEL_EINVALID, "folder",
                    satchel_story_check(text(sound), &given, &out));
    }
    struct {
        satchel_story_check_options known;
        char added[16];
    } newer;
    memset(&newer, 0, sizeof newer);
    newer.known.size = sizeof newer;
    newer.added[15] = 1;
    refused_out("an option of a newer header", SATCHEL_EINVALID, "newer",
                satchel_story_check(text(sound), &newer.known, &out));
}

static void no_out(void) {
    satchel_bytes story = text(sound);
    refused("check", SATCHEL_EINVALID, "out", satchel_story_check(story, NULL, NULL));
    refused("describe", SATCHEL_EINVALID, "out", describe_text(story, NULL));
    refused("segment", SATCHEL_EINVALID, "out", segment_of_text(story, text("rim"), NULL));
    refused("graph", SATCHEL_EINVALID, "out", draw_text(story, SATCHEL_GRAPH_DOT, NULL));
    refused("diff", SATCHEL_EINVALID, "out", compare_texts(story, story, NULL));
    refused("from_twee", SATCHEL_EINVALID, "out",
            satchel_story_from_twee(text(":: Start\nOnce."), text(""), NULL));
}

/** A call went well, and gave JSON, or a text without a NUL. */
static void answered(const char *what, satchel_status status, satchel_buffer *given, bool as_json) {
    if (!CHECK(status == SATCHEL_OK, "%s: %s", what, satchel_error_message())) return;
    CHECK(given->size > 0 && strlen(given->data) == given->size, "%s: nothing, or a NUL", what);
    if (as_json) json_decref(take(given));
    else satchel_buffer_free(given);
}

/** Objects that are hardly stories: a check names what is wrong, and nothing traps. */
static void hardly_stories(void) {
    static const char *const table[] = {
        "{}",
        "{\"segments\":null}",
        "{\"segments\":{}}",
        "{\"segments\":[null,7,\"a\",[],true]}",
        "{\"segments\":[{}]}",
        "{\"segments\":[{\"id\":\"\",\"choices\":[{}]}]}",
        "{\"segments\":[{\"id\":7,\"text\":[],\"isAuthenticPath\":1,\"isEnding\":\"\",\"choices\":{}}]}",
        "{\"segments\":[{\"id\":\"a\",\"choices\":[null,{\"id\":null,\"text\":7,\"nextSegmentId\":\"\"}]}]}",
        "{\"estimatedReadingMinutes\":9223372036854775807,\"segments\":[{\"id\":\"a\",\"choices\":[]}]}",
        "{\"estimatedReadingMinutes\":-9223372036854775808,\"segments\":[{\"id\":\"a\",\"choices\":[]}]}",
        "{\"estimatedReadingMinutes\":1e308,\"ageRange\":\"99999999999999999999-99999999999999999999\"}",
        "{\"id\":\"a\\u0000b\",\"ageRange\":\"\\u0000\",\"tags\":[\"\\u0000\",null,\"\\ud83d\\ude00\"]}",
        "{\"segments\":[{\"id\":\"a\\u0000\",\"text\":\"\\u0000\",\"choices\":[{\"nextSegmentId\":\"a\"}]}]}",
    };
    for (size_t index = 0; index < sizeof table / sizeof *table; index++) {
        satchel_buffer given = SATCHEL_BUFFER_INIT;
        satchel_bytes story = text(table[index]);
        for (int format = SATCHEL_REPORT_JSON; format <= SATCHEL_REPORT_TEXT; format++) {
            satchel_story_check_options how = SATCHEL_STORY_CHECK_OPTIONS_INIT;
            how.format = (satchel_report_format)format;
            if (!CHECK(satchel_story_check(story, &how, &given) == SATCHEL_OK, "%s: %s", table[index],
                       satchel_error_message()))
                continue;
            CHECK(given.size > 0 && strlen(given.data) == given.size, "%s: an empty report, or a NUL",
                  table[index]);
            json_t *report = format == SATCHEL_REPORT_TEXT ? NULL : take(&given);
            if (format == SATCHEL_REPORT_JSON)
                CHECK(json_is_false(at(report, "/ok")) && number_at(report, "/errors") > 0, "%s: ok",
                      table[index]);
            json_decref(report);
            satchel_buffer_free(&given);
        }
        answered(table[index], describe_text(story, &given), &given, true);
        answered(table[index], compare_texts(story, text(sound), &given), &given, true);
        answered(table[index], compare_texts(text(sound), story, &given), &given, true);
        answered(table[index], draw_text(story, SATCHEL_GRAPH_DOT, &given), &given, false);
        answered(table[index], draw_text(story, SATCHEL_GRAPH_MERMAID, &given), &given, false);
        answered(table[index], count_paths_of_text(story, NULL, &given), &given, false);
    }
}

int main(void) {
    sound = written(tale("well", "The Well"));
    fill_out_with_nonsense();
    no_stories();
    depth();
    ids();
    handles();
    numbers();
    options();
    no_out();
    hardly_stories();
    free(sound);
    return close_checks();
}
