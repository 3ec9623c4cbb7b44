/* A shelf of stories: lists the stories of a directory, searches them, reads one as it was handed down, and
 * shows what an author hears of a slip of the pen, and of a new version. jansson reads the JSON that comes
 * back. Usage: shelf directory */
#include <jansson.h>
#include <satchel.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *path = "shelf.satchel", *tale = "urashima-taro";

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
    return value ? value : "";
}

static int number(const json_t *object, const char *key) {
    return (int)json_integer_value(json_object_get(object, key));
}

/** Lists all stories, as a screen would: from the index, once the files have been looked at. */
static void show_shelf(satchel_stories *library) {
    satchel_buffer buffer;
    must(satchel_stories_load_all(library, false, &buffer));
    json_t *listing = answer(&buffer), *stories = json_object_get(listing, "stories"), *story;
    printf("On the shelf: %zu stories, %zu files that are none.\n", json_array_size(stories),
           json_array_size(json_object_get(listing, "problems")));
    size_t index;
    json_array_foreach(stories, index, story) {
        char ways[12] = "unbounded";
        if (number(story, "path_count") >= 0) snprintf(ways, sizeof ways, "%d", number(story, "path_count"));
        printf("  %-5s %-19s %9s ways  %s\n", string(story, "age_range"), string(story, "cultural_origin"),
               ways, string(story, "title"));
    }
    json_decref(listing);
}

/** Prints the titles of the stories that fit a query, behind some words. */
static void select_titles(satchel_stories *library, const char *words, const char *query) {
    satchel_buffer buffer;
    must(satchel_stories_select(library, text(query), &buffer));
    json_t *found = answer(&buffer), *story;
    size_t index;
    json_array_foreach(found, index, story) printf("%s %s", index ? "," : words, string(story, "title"));
    puts(".");
    json_decref(found);
}

static void print_first_sentence(const char *passage) {
    const char *end = strstr(passage, ". ");
    printf("  %.*s\n", (int)(end ? (size_t)(end - passage) + 1 : strlen(passage)), passage);
}

/** A segment of the tale by its id; of an empty one the first. */
static json_t *segment_of(satchel_stories *library, const char *id) {
    satchel_buffer buffer;
    must(satchel_stories_segment(library, text(tale), text(id), &buffer));
    return answer(&buffer);
}

/** Reads a story along its authentic path, from the start to an ending. */
static void read_tale(satchel_stories *library) {
    puts("\nAs it was handed down:");
    json_t *segment = segment_of(library, ""), *choice = NULL;
    print_first_sentence(string(segment, "text"));
    while (!json_is_true(json_object_get(segment, "is_ending"))) {
        json_t *next = NULL;
        size_t index;
        json_array_foreach(json_object_get(segment, "choices"), index, choice) {
            json_decref(next);
            next = segment_of(library, string(choice, "next_segment_id"));
            if (json_is_true(json_object_get(next, "is_authentic_path"))) break;
        }
        printf("    > %s\n", string(choice, "text"));
        print_first_sentence(string(next, "text"));
        json_decref(segment);
        segment = next;
    }
    json_decref(segment);
}

/** The tale's text, with something else of the same length in place of some words. */
static satchel_buffer tale_with(satchel_stories *library, const char *words, const char *others) {
    satchel_buffer story;
    must(satchel_stories_story(library, text(tale), false, &story));
    for (char *at = story.data; (at = strstr(at, words)); at++) memcpy(at, others, strlen(others));
    return story;
}

/** An author misspells where a choice leads. The report has a line a finding, as compilers write. */
static void check_slip(satchel_stories *library) {
    satchel_buffer slip = tale_with(library, "Id\": \"the-crane\"", "Id\": \"the-crnae\"");
    satchel_story_check_options options = SATCHEL_STORY_CHECK_OPTIONS_INIT;
    options.form = SATCHEL_REPORT_TEXT;
    options.name = text("slip.json");
    satchel_buffer report;
    must(satchel_story_check(text(slip.data), &options, &report));
    printf("\nA slip of the pen:\n%s", report.data);
    satchel_buffer_free(&report);
    satchel_buffer_free(&slip);
}

/** Readers are in the middle of a story when a new version comes. */
static void show_rename(satchel_stories *library) {
    satchel_buffer old = tale_with(library, "\"the-return\"", "\"the-return\""), buffer;
    satchel_buffer newer = tale_with(library, "\"the-return\"", "\"homecoming\"");
    must(satchel_story_diff(text(old.data), text(newer.data), &buffer));
    json_t *changes = answer(&buffer), *position;
    puts("\nA segment gets another name. What breaks for its readers?");
    size_t index;
    json_array_foreach(json_object_get(changes, "broken"), index, position) {
        printf("  \"%s\" is %s; go on at \"%s\".\n", string(position, "segment"), string(position, "reason"),
               string(position, "suggestion"));
    }
    json_decref(changes);
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
    must(satchel_story_path_count(text(labyrinth), NULL, &digits));
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
    must(satchel_stories_open(store, text(arguments[1]), &library));
    show_shelf(library);
    select_titles(library, "\nSearching \"urashima taro\" finds", "{\"search\": \"urashima taro\"}");
    select_titles(library, "Searching \"ryugu\" finds", "{\"search\": \"ryugu\"}");
    read_tale(library);

    must(satchel_stories_mark_purchased(library, text(tale), true));
    select_titles(library, "\nBought:", "{\"purchased\": true}");

    check_slip(library);
    show_rename(library);
    count_ways(100);
    satchel_stories_free(library);
    must(satchel_store_close(store));
    return remove(path);
}
