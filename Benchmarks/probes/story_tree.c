/* story_tree: W4 as a C program does it with a library: jansson makes a tree, which is walked for the graph.
 * Giving the tree back is a part of the time.
 *
 * Options: story_run.h */
#include "story_graph.h"
#include <jansson.h>

static story_name name_in(json_t *object, const char *key) {
    json_t *value = json_object_get(object, key);
    if (!json_is_string(value)) fail("an id is missing");
    return name_of(json_string_value(value), json_string_length(value));
}

static void *check(const char *text, size_t size) {
    json_error_t error;
    story_graph graph = {0};
    size_t place, number;
    json_t *segment, *choice, *story = json_loadb(text, size, 0, &error);
    if (story == NULL) fail(error.text);
    json_array_foreach(json_object_get(story, "segments"), place, segment) {
        size_t first_target = graph.targets.count;
        uint8_t marks = json_is_true(json_object_get(segment, "isAuthenticPath")) ? AUTHENTIC : 0;
        if (json_is_true(json_object_get(segment, "isEnding"))) marks |= ENDING;
        json_array_foreach(json_object_get(segment, "choices"), number, choice)
            append_name(&graph.targets, name_in(choice, "nextSegmentId"));
        add_segment(&graph, name_in(segment, "id"), marks, first_target);
    }
    story_counts counts = judge(&graph);
    json_decref(story);
    return keep_counts(counts);
}

int main(int count, char **arguments) {
    static const story_checker checker = {check, print_counts, free};
    // jansson seeds its hash tables at the first use, which is not meant to happen on two threads at once.
    json_object_seed(0);
    return run_stories(&checker, count, arguments);
}
