/* A shelf of stories: lists the stories of a directory, searches them, reads one along its authentic path, and shows
 * an author the report on a misspelled id and on a new version. Usage: shelf directory */
#include "example.h"

static const char *path = "shelf.satchel", *tale = "urashima-taro";

/** Lists all stories, as a screen would: from the index, once the files have been looked at. */
static void show_shelf(satchel_stories *library) {
    satchel_buffer buffer;
    must(satchel_stories_load_all(library, false, &buffer));
    size_t count = count_of(&buffer, "stories");
    printf("On the shelf: %zu stories, %zu files that are none.\n", count, count_of(&buffer, "problems"));
    for (size_t index = 0; index < count; index++) {
        char paths[24] = "unbounded";
        long path_count = number(&buffer, "/stories/%zu/path_count", index);
        if (path_count >= 0) snprintf(paths, sizeof paths, "%ld", path_count);
        printf("  %-5s %-19s %9s ways  %s\n", string(&buffer, "/stories/%zu/age_range", index),
               string(&buffer, "/stories/%zu/cultural_origin", index), paths,
               string(&buffer, "/stories/%zu/title", index));
    }
    satchel_buffer_free(&buffer);
}

/** Prints the titles of the stories that match a query, after some words. */
static void select_titles(satchel_stories *library, const char *words, const char *query) {
    satchel_buffer buffer;
    must(satchel_stories_select(library, satchel_text(query), &buffer));
    for (size_t index = 0; index < count_of(&buffer, ""); index++)
        printf("%s %s", index ? "," : words, string(&buffer, "/%zu/title", index));
    puts(".");
    satchel_buffer_free(&buffer);
}

static void print_first_sentence(const char *passage) {
    const char *end = strstr(passage, ". ");
    printf("  %.*s\n", (int)(end ? (size_t)(end - passage) + 1 : strlen(passage)), passage);
}

/** A segment of the tale by its id; the first one for an empty id. */
static satchel_buffer segment_of(satchel_stories *library, const char *id) {
    satchel_buffer segment;
    must(satchel_stories_segment(library, satchel_text(tale), satchel_text(""), satchel_text(id), &segment));
    return segment;
}

/** Reads a story along its authentic path, from the start to an ending. */
static void read_tale(satchel_stories *library) {
    puts("\nAs it was handed down:");
    satchel_buffer segment = segment_of(library, "");
    print_first_sentence(string(&segment, "text"));
    while (!is_true(&segment, "is_ending")) {
        satchel_buffer next = SATCHEL_BUFFER_INIT;
        size_t choice = 0;
        for (; choice < count_of(&segment, "choices"); choice++) {
            satchel_buffer_free(&next);
            next = segment_of(library, string(&segment, "/choices/%zu/next_segment_id", choice));
            if (is_true(&next, "is_authentic_path")) break;
        }
        printf("    > %s\n", string(&segment, "/choices/%zu/text", choice));
        print_first_sentence(string(&next, "text"));
        satchel_buffer_free(&segment);
        segment = next;
    }
    satchel_buffer_free(&segment);
}

/** The tale's text, with something else of the same length in place of some words. */
static satchel_buffer tale_with(satchel_stories *library, const char *words, const char *others) {
    satchel_buffer story;
    must(satchel_stories_story(library, satchel_text(tale), satchel_text(""), false, &story));
    for (char *at = story.data; (at = strstr(at, words)); at++) memcpy(at, others, strlen(others));
    return story;
}

/** An author misspells where a choice leads. The report has a line a finding, as compilers write. */
static void check_slip(satchel_stories *library) {
    satchel_buffer slip = tale_with(library, "Id\": \"the-crane\"", "Id\": \"the-crnae\"");
    satchel_story_check_options options = SATCHEL_STORY_CHECK_OPTIONS_INIT;
    options.format = SATCHEL_REPORT_TEXT;
    options.name = satchel_text("slip.json");
    satchel_buffer report;
    must(satchel_story_check(satchel_text(slip.data), &options, &report));
    printf("\nA slip of the pen:\n%s", report.data);
    satchel_buffer_free(&report);
    satchel_buffer_free(&slip);
}

/** Readers are in the middle of a story when a new version comes. */
static void show_rename(satchel_stories *library) {
    satchel_buffer old = tale_with(library, "\"the-return\"", "\"the-return\""), buffer;
    satchel_buffer newer = tale_with(library, "\"the-return\"", "\"homecoming\"");
    satchel_story *versions[2];
    must(satchel_story_open(satchel_text(old.data), SATCHEL_STORY_JSON, &versions[0]));
    must(satchel_story_open(satchel_text(newer.data), SATCHEL_STORY_JSON, &versions[1]));
    must(satchel_story_diff(versions[0], versions[1], &buffer));
    for (int version = 0; version < 2; version++) satchel_story_free(versions[version]);
    puts("\nA segment gets another name. What breaks for its readers?");
    for (size_t index = 0; index < count_of(&buffer, "broken"); index++) {
        printf("  \"%s\" is %s; go on at \"%s\".\n", string(&buffer, "/broken/%zu/segment", index),
               string(&buffer, "/broken/%zu/reason", index), string(&buffer, "/broken/%zu/suggestion", index));
    }
    satchel_buffer_free(&buffer);
    satchel_buffer_free(&old);
    satchel_buffer_free(&newer);
}

/** Ways are counted, never listed; the number is exact whatever its size. */
static void count_ways(int rooms) {
    char labyrinth[8192];
    int end = 0;
    for (int room = 0; room < rooms; room++) {
        end += snprintf(labyrinth + end, sizeof labyrinth - (size_t)end,
                        ":: Room %d\n[[Left->Room %d]] [[Right->Room %d]]\n\n", room, room + 1, room + 1);
    }
    snprintf(labyrinth + end, sizeof labyrinth - (size_t)end, ":: Room %d\nDaylight.\n", rooms);
    satchel_buffer digits;
    satchel_story *story;
    must(satchel_story_open(satchel_text(labyrinth), SATCHEL_STORY_TWEE, &story));
    must(satchel_story_path_count(story, NULL, &digits));
    satchel_story_free(story);
    printf("\nWays through %d rooms with two doors each: %s\n", rooms, digits.data);
    satchel_buffer_free(&digits);
}

int main(int count, char **arguments) {
    if (count != 2) {
        fprintf(stderr, "Usage: shelf directory\n");
        return 2;
    }
    satchel_store *store;
    satchel_stories *library;
    must(satchel_store_open(path, NULL, &store));
    must(satchel_stories_open(store, satchel_text(arguments[1]), satchel_text(""), &library));
    show_shelf(library);
    select_titles(library, "\nSearching \"urashima taro\" finds", "{\"search\": \"urashima taro\"}");
    select_titles(library, "Searching \"ryugu\" finds", "{\"search\": \"ryugu\"}");
    read_tale(library);

    must(satchel_stories_mark_purchased(library, satchel_text(tale), true));
    select_titles(library, "\nBought:", "{\"purchased\": true}");

    check_slip(library);
    show_rename(library);
    count_ways(100);
    satchel_stories_free(library);
    must(satchel_store_close(store));
    return remove(path);
}
