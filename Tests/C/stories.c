/* Stories without a store: the vectors, and what reports, counts, pictures and comparisons hold.
 * Usage: stories FIXTURES */
#include <stddef.h>

#include "stories.h"

static satchel_buffer out;

/** The report of a check as JSON, by these options. */
static json_t *report_of(const char *story, const satchel_story_check_options *options) {
    must(satchel_story_check(text(story), options, &out), "checking a story");
    return take(&out);
}

static void vectors(const json_t *cases) {
    size_t index;
    json_t *row;
    CHECK(json_array_size(cases) >= 10, "only %zu vectors", json_array_size(cases));
    json_array_foreach(cases, index, row) {
        const char *name = json_string_value(json_object_get(row, "name"));
        char *story = dump(json_object_get(row, "story"));
        json_t *report = report_of(story, NULL), *findings = at(report, "/findings"), *finding;
        json_t *codes = json_array(), *wanted = json_object_get(row, "findings");
        size_t place, errors = 0;
        json_array_foreach(findings, place, finding) {
            json_array_append(codes, at(finding, "/code"));
            if (strcmp(text_at(finding, "/severity"), "error") == 0) errors++;
        }
        char *found = dump(codes);
        CHECK(json_is_array(wanted) && json_equal(codes, wanted), "%s: found %s", name, found);
        CHECK(json_is_boolean(at(report, "/ok")) && json_is_true(at(report, "/ok")) == (errors == 0),
              "%s: ok", name);
        CHECK(number_at(report, "/errors") == (long long)errors
                  && number_at(report, "/warnings") == (long long)(json_array_size(codes) - errors),
              "%s: counts differ from findings", name);
        if (json_object_get(row, "pointer"))
            CHECK(json_equal(at(findings, "/0/pointer"), json_object_get(row, "pointer")), "%s: pointer %s",
                  name, text_at(findings, "/0/pointer"));
        if (json_object_get(row, "suggestion"))
            CHECK(json_equal(at(findings, "/0/suggestion"), json_object_get(row, "suggestion")),
                  "%s: suggests %s", name, text_at(findings, "/0/suggestion"));
        if (json_object_get(row, "path_count")) {
            int64_t count = -4711, ways = json_integer_value(json_object_get(row, "path_count"));
            char digits[32];
            snprintf(digits, sizeof digits, "%lld", (long long)ways);
            must(count_paths_of_text(text(story), &count, &out), name);
            CHECK(count == ways, "%s: %lld ways", name, (long long)count);
            CHECK(strcmp(out.data, ways < 0 ? "unbounded" : digits) == 0, "%s: %s ways", name, out.data);
            CHECK(number_at(report, "/statistics/path_count") == ways, "%s: the statistics' ways", name);
            satchel_buffer_free(&out);
        }
        free(found);
        free(story);
        json_decref(codes);
        json_decref(report);
    }
}

/** The only finding of a code; NULL when there is none, or more. */
static json_t *finding_of(json_t *report, const char *code) {
    size_t index;
    json_t *finding, *found = NULL;
    json_array_foreach(at(report, "/findings"), index, finding) {
        if (strcmp(text_at(finding, "/code"), code) != 0) continue;
        if (found) return NULL;
        found = finding;
    }
    return found;
}

static void reports(void) {
    char *story = written(broken_tale("well"));
    satchel_story_check_options options = SATCHEL_STORY_CHECK_OPTIONS_INIT;
    options.name = text("my tale.json");

    json_t *report = report_of(story, NULL), *same = report_of(story, &options);
    json_t *findings = at(report, "/findings"), *broken = finding_of(report, "broken-choice");
    CHECK(json_equal(report, same), "no options and the standard ones differ");
    /* That a segment cannot be reached follows from it. */
    CHECK(json_array_size(findings) == 1, "%zu findings", json_array_size(findings));
    CHECK(strstr(text_at(broken, "/message"), "with 1 segment that cannot be reached without it"), "%s",
          text_at(broken, "/message"));
    CHECK(json_is_null(at(broken, "/passage")) && json_is_null(at(broken, "/file")), "a passage of JSON");
    CHECK(strcmp(text_at(broken, "/suggestion"), "meadow") == 0, "suggests %s",
          text_at(broken, "/suggestion"));
    long long line = number_at(broken, "/line"), column = number_at(broken, "/column");
    CHECK(line == 1 && column > 0 && strncmp(story + column - 1, "\"medow\"", 7) == 0, "%lld:%lld", line,
          column);
    CHECK(number_at(report, "/statistics/segments") == 3, "statistics of another story");

    options.format = SATCHEL_REPORT_TEXT;
    char start[64];
    snprintf(start, sizeof start, "my tale.json:1:%lld: error: ", column);
    must(satchel_story_check(text(story), &options, &out), "a report as text");
    size_t lines = 0;
    for (size_t place = 0; place < out.size; place++) lines += out.data[place] == '\n';
    CHECK(strstr(out.data, start) && strstr(out.data, "[broken-choice]\n"), "%s", out.data);
    CHECK(lines == 1 && out.data[out.size - 1] == '\n' && strlen(out.data) == out.size, "%s", out.data);
    satchel_buffer_free(&out);
    options.name = text("a\nb\x1B[31m");
    must(satchel_story_check(text(story), &options, &out), "a report as text");
    CHECK(!strchr(out.data, '\x1B') && strchr(out.data, '\n') == strstr(out.data, "]\n") + 1,
          "a name brings a line or an escape: %s", out.data);
    satchel_buffer_free(&out);

    options.format = SATCHEL_REPORT_SARIF;
    options.name = text("my tale.json");
    json_t *log = report_of(story, &options), *rules = at(log, "/runs/0/tool/driver/rules"), *result;
    CHECK(strcmp(text_at(log, "/version"), "2.1.0") == 0, "SARIF %s", text_at(log, "/version"));
    CHECK(json_array_size(at(log, "/runs/0/results")) == 1, "results of SARIF");
    size_t index;
    json_array_foreach(at(log, "/runs/0/results"), index, result) {
        const char *code = text_at(json_array_get(findings, index), "/code"),
                   *id = text_at(result, "/ruleId");
        const char *rule = text_at(json_array_get(rules, (size_t)number_at(result, "/ruleIndex")), "/id");
        json_t *place = at(result, "/locations/0/physicalLocation");
        CHECK(strcmp(id, code) == 0 && strcmp(rule, code) == 0, "%s is %s, filed under %s", code, id, rule);
        CHECK(strcmp(text_at(place, "/artifactLocation/uri"), "my%20tale.json") == 0, "%s",
              text_at(place, "/artifactLocation/uri"));
        CHECK(strcmp(text_at(result, "/level"), "error") == 0, "level %s", text_at(result, "/level"));
        CHECK(number_at(place, "/region/startColumn")
                  == number_at(json_array_get(findings, index), "/column"),
              "column %lld", number_at(place, "/region/startColumn"));
    }
    json_decref(log);
    json_decref(report);
    json_decref(same);
    free(story);
}

/** Hosts that were built with another header than the library. */
static void other_headers(void) {
    char *story = written(broken_tale("well"));
    struct {
        satchel_story_check_options options;
        char added[16];
    } newer;
    memset(&newer, 0, sizeof newer);
    newer.options = (satchel_story_check_options)SATCHEL_STORY_CHECK_OPTIONS_INIT;
    newer.options.size = sizeof newer;
    newer.options.format = SATCHEL_REPORT_TEXT;
    newer.options.name = text("n");
    must(satchel_story_check(text(story), &newer.options, &out), "newer options that ask for nothing new");
    CHECK(strncmp(out.data, "n:1:", 4) == 0, "%s", out.data);
    satchel_buffer_free(&out);

    /* Bytes beyond `size` are not read, nor is a field that is only half there. */
    satchel_story_check_options older = {0, (satchel_story_source)77, (satchel_report_format)77, {NULL, 9},
                                         {NULL, 9}};
    older.size = sizeof older.size;
    json_decref(report_of(story, &older));
    older.source = SATCHEL_STORY_JSON;
    older.size = offsetof(satchel_story_check_options, format);
    json_decref(report_of(story, &older));
    older.size += 3;
    json_t *report = report_of(story, &older);
    CHECK(number_at(report, "/errors") == 1, "older options: %lld errors", number_at(report, "/errors"));
    json_decref(report);
    older.format = SATCHEL_REPORT_TEXT;
    older.size = offsetof(satchel_story_check_options, folder) - 1;
    must(satchel_story_check(text(story), &older, &out), "half a name");
    CHECK(strncmp(out.data, ":1:", 3) == 0, "%s", out.data);
    satchel_buffer_free(&out);
    free(story);
}

static void counts(void) {
    static const struct {
        int forks;
        int64_t count;
        const char *digits;
    } table[] = {
        {0, 1, "1"},
        {1, 2, "2"},
        {62, INT64_C(4611686018427387904), "4611686018427387904"},
        {63, INT64_MAX, "9223372036854775808"},
        {64, INT64_MAX, "18446744073709551616"},
        {200, INT64_MAX, "1606938044258990275541962092341162602522202993782792835301376"},
    };
    for (size_t index = 0; index < sizeof table / sizeof *table; index++) {
        char *story = written(forks(table[index].forks));
        int64_t count = -4711;
        must(count_paths_of_text(text(story), &count, NULL), "counting ways");
        CHECK(count == table[index].count, "2^%d: %lld", table[index].forks, (long long)count);
        must(count_paths_of_text(text(story), NULL, &out), "counting ways");
        CHECK(strcmp(out.data, table[index].digits) == 0, "2^%d: %s", table[index].forks, out.data);
        satchel_buffer_free(&out);
        must(count_paths_of_text(text(story), NULL, NULL), "counting paths without out-parameters");
        free(story);
    }
    char *empty = written(json_pack("{s:[]}", "segments"));
    int64_t none = -4711;
    must(count_paths_of_text(text(empty), &none, &out), "counting no ways");
    CHECK(none == 0 && strcmp(out.data, "0") == 0, "%lld, %s", (long long)none, out.data);
    satchel_buffer_free(&out);
    free(empty);

    enum { many = 100000 };
    char *long_story = written(forks(many));
    int64_t ways = 0;
    must(count_paths_of_text(text(long_story), &ways, NULL), "many segments");
    CHECK(ways == INT64_MAX, "%lld ways", (long long)ways);
    json_t *report = report_of(long_story, NULL);
    CHECK(number_at(report, "/statistics/longest_path") == many + 1, "a longest path of %lld",
          number_at(report, "/statistics/longest_path"));
    json_decref(report);
    free(long_story);
}

static void contents(void) {
    json_t *original = tale("well", "The Wéll");
    json_object_set_new(original, "unknown", json_pack("[n]"));
    char *story = written(original);
    must(describe_text(text(story), &out), "describing");
    json_t *described = take(&out);
    CHECK(strcmp(text_at(described, "/id"), "well") == 0, "id %s", text_at(described, "/id"));
    CHECK(strcmp(text_at(described, "/title"), "The Wéll") == 0, "title %s", text_at(described, "/title"));
    CHECK(strcmp(text_at(described, "/cultural_origin"), "German") == 0, "culture");
    CHECK(json_is_null(at(described, "/original_source")), "an original source");
    CHECK(json_is_false(at(described, "/is_purchased")), "is_purchased");
    CHECK(number_at(described, "/estimated_reading_minutes") == 1, "minutes");
    CHECK(number_at(described, "/statistics/segments") == 3
              && number_at(described, "/statistics/choices") == 2
              && number_at(described, "/statistics/endings") == 2
              && number_at(described, "/statistics/words") == 17
              && number_at(described, "/statistics/shortest_path") == 2
              && number_at(described, "/statistics/longest_path") == 2
              && number_at(described, "/statistics/path_count") == 2,
          "statistics");
    json_decref(described);

    static const char *const ids[] = {"", "home"};
    for (int index = 0; index < 2; index++) {
        must(segment_of_text(text(story), text(ids[index]), &out), "a segment");
        json_t *segment = take(&out);
        CHECK(strcmp(text_at(segment, "/id"), index ? "home" : "rim") == 0, "%s", text_at(segment, "/id"));
        CHECK(json_is_true(at(segment, "/is_ending")) == (index == 1), "is_ending of %s",
              text_at(segment, "/id"));
        CHECK(json_is_true(at(segment, "/is_authentic_path")) == (index == 0), "is_authentic_path");
        static const char *const next[][3] = {{"meadow", "home", NULL}, {NULL}};
        CHECK(lists(at(segment, "/choices"), "/next_segment_id", next[index]), "choices");
        json_decref(segment);
    }
    must(draw_text(text(story), SATCHEL_GRAPH_DOT, &out), "DOT");
    CHECK(strncmp(out.data, "digraph story {", 15) == 0 && strstr(out.data, "->"), "%s", out.data);
    satchel_buffer_free(&out);
    must(draw_text(text(story), SATCHEL_GRAPH_MERMAID, &out), "Mermaid");
    CHECK(strncmp(out.data, "flowchart TD\n", 13) == 0 && strstr(out.data, "-->"), "%s", out.data);
    satchel_buffer_free(&out);
    free(story);
}

static void comparison(void) {
    json_t *newer = tale("well", "The Well");
    char *old_text = dump(newer);
    must(compare_texts(text(old_text), text(old_text), &out), "comparing with itself");
    json_t *changes = take(&out);
    CHECK(json_is_true(at(changes, "/same")) && json_array_size(at(changes, "/broken")) == 0, "not the same");
    json_decref(changes);

    json_object_set_new(at(newer, "/segments/2"), "id", json_string("farm"));
    json_object_set_new(at(newer, "/segments/0/choices/1"), "nextSegmentId", json_string("farm"));
    json_object_set_new(newer, "title", json_string("The Deep Well"));
    char *new_text = written(newer);
    must(compare_texts(text(old_text), text(new_text), &out), "comparing");
    changes = take(&out);
    static const char *const broken[] = {"home", NULL}, *const moved[] = {"rim-2", NULL},
                             *const fields[] = {"title", NULL}, *const added[] = {"farm", NULL};
    CHECK(json_is_false(at(changes, "/same")) && json_is_null(at(changes, "/start")),
          "same, or another start");
    CHECK(lists(at(changes, "/broken"), "/segment", broken), "broken positions");
    CHECK(strcmp(text_at(changes, "/broken/0/reason"), "removed") == 0
              && strcmp(text_at(changes, "/broken/0/suggestion"), "farm") == 0,
          "%s, %s", text_at(changes, "/broken/0/reason"), text_at(changes, "/broken/0/suggestion"));
    CHECK(lists(at(changes, "/moved"), "/choice", moved), "moved choices");
    CHECK(lists(at(changes, "/changed_fields"), "", fields), "changed fields");
    CHECK(lists(at(changes, "/added_segments"), "", added), "added segments");
    CHECK(lists(at(changes, "/removed_segments"), "", broken), "removed segments");
    json_decref(changes);
    free(old_text);
    free(new_text);
}

static void twee(void) {
    const char *source =
        ":: StoryTitle\nThe Well\n\n:: Start\nIt falls. [[Climb down->Meadow]]\n\n:: Meadow\nGrass.\n";
    static const char *const ids[] = {"", "spindle"}, *const wanted[] = {"the-well", "spindle"};
    for (int index = 0; index < 2; index++) {
        must(satchel_story_from_twee(text(source), text(ids[index]), &out), "from Twee");
        json_t *story = take(&out);
        static const char *const segments[] = {"Start", "Meadow", NULL};
        CHECK(strcmp(text_at(story, "/id"), wanted[index]) == 0, "id %s", text_at(story, "/id"));
        CHECK(lists(at(story, "/segments"), "/id", segments), "segments");
        char *converted = written(story);
        json_t *report = report_of(converted, NULL);
        CHECK(number_at(report, "/errors") == 0, "the converted story has errors");
        json_decref(report);
        free(converted);
    }
    int64_t count = 0;
    must(count_paths_of_text(text(source), &count, NULL), "ways of Twee");
    CHECK(count == 1, "%lld ways", (long long)count);
    satchel_story_check_options options = SATCHEL_STORY_CHECK_OPTIONS_INIT;
    options.source = SATCHEL_STORY_JSON;
    CHECK(satchel_story_check(text(source), &options, &out) == SATCHEL_EINVALID, "Twee was read as JSON");
}

/** The pictures of a story are looked for in its folder, or in that of the options. */
static void named_files(const char *fixtures) {
    static const char *const story =
        "{\"image\":[\"README.md\",\"nowhere.png\",\"../C/stories.c\"],\"segments\":[]}";
    satchel_story_check_options options = SATCHEL_STORY_CHECK_OPTIONS_INIT;
    json_t *report = report_of(story, &options);
    CHECK(!strstr(text_at(report, "/findings/0/code"), "missing-asset"), "a folder is guessed");
    json_decref(report);
    options.folder = text(fixtures);
    report = report_of(story, &options);
    size_t index, count = 0;
    json_t *finding;
    json_array_foreach(at(report, "/findings"), index, finding) {
        if (strcmp(text_at(finding, "/code"), "missing-asset") != 0) continue;
        CHECK(strcmp(text_at(finding, "/pointer"), count++ ? "/image/2" : "/image/1") == 0, "%s",
              text_at(finding, "/pointer"));
    }
    CHECK(count == 2, "%zu missing files", count);
    json_decref(report);

    satchel_story *opened = NULL;
    must(satchel_story_open(text(story), SATCHEL_STORY_JSON, &opened), "opening a text");
    for (int round = 0; round < 2; round++) {
        options.format = SATCHEL_REPORT_TEXT;
        options.folder = text(round ? fixtures : "");
        must(satchel_story_report(opened, &options, &out), "checking it");
        CHECK((strstr(out.data, "[missing-asset]") != NULL) == (round == 1), "%s", out.data);
        satchel_buffer_free(&out);
    }
    satchel_story_free(opened);
}

static void several_files(const char *fixtures) {
    char path[4096];
    satchel_story *game = NULL;
    snprintf(path, sizeof path, "%s/twee/mill", fixtures);
    must(satchel_story_open_path(path, &game), "opening a directory");
    must(satchel_story_segment(game, text(""), &out), "its first segment");
    satchel_buffer_free(&out);
    must(satchel_story_text(game, &out), "the joined text");
    CHECK(strstr((const char *)out.data, ":: StoryData") != NULL, "the text lacks StoryData");
    satchel_buffer_free(&out);
    satchel_story_check_options options = SATCHEL_STORY_CHECK_OPTIONS_INIT;
    options.format = SATCHEL_REPORT_TEXT;
    options.name = text("mill");
    must(satchel_story_report(game, &options, &out), "checking a story of several files");
    CHECK(strstr((const char *)out.data, "mill/start.twee:1:1: warning: ") != NULL, "%s", (const char *)out.data);
    satchel_buffer_free(&out);
    satchel_story_free(game);

    snprintf(path, sizeof path, "%s/twee/plain.tw", fixtures);
    must(satchel_story_open_path(path, &game), "opening a file");
    satchel_story_free(game);
    snprintf(path, sizeof path, "%s/twee", fixtures);
    CHECK(satchel_story_open_path(path, &game) == SATCHEL_EINVALID && game == NULL, "several games are one story");
    CHECK(strstr(satchel_error_message(), "StoryData") != NULL, "%s", satchel_error_message());
    snprintf(path, sizeof path, "%s/none", fixtures);
    CHECK(satchel_story_open_path(path, &game) == SATCHEL_ENOTFOUND && game == NULL, "a path that is not there");
    CHECK(satchel_story_open_path(NULL, &game) == SATCHEL_EINVALID && game == NULL, "no path");
    CHECK(satchel_story_open_path("\xff", &game) == SATCHEL_EINVALID && game == NULL, "a path that is not UTF-8");
}

int main(int count, char **arguments) {
    if (count != 2) return 2;
    json_t *fixtures = fixture(arguments[1], "vectors/stories.json");
    vectors(json_object_get(fixtures, "cases"));
    json_decref(fixtures);
    reports();
    other_headers();
    counts();
    contents();
    comparison();
    twee();
    named_files(arguments[1]);
    several_files(arguments[1]);
    return close_checks();
}
