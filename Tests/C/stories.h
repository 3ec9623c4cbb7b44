/* Stories to test with. */
#ifndef SATCHEL_TESTS_STORIES_H
#define SATCHEL_TESTS_STORIES_H

#include "values.h"

/** A story that a call is about, opened from its text; NULL where the text is not a story. */
static inline satchel_story *opened(satchel_bytes story, satchel_status *status) {
    satchel_story *handle = NULL;
    *status = satchel_story_open(story, SATCHEL_STORY_AUTOMATIC, &handle);
    return handle;
}

/* Calls on a story's text: they open it, and free it after the call. */
static inline satchel_status describe_text(satchel_bytes story, satchel_buffer *result) {
    satchel_status status;
    satchel_story *handle = opened(story, &status);
    if (handle) status = satchel_story_describe(handle, result);
    satchel_story_free(handle);
    return status;
}

static inline satchel_status segment_of_text(satchel_bytes story, satchel_bytes id, satchel_buffer *result) {
    satchel_status status;
    satchel_story *handle = opened(story, &status);
    if (handle) status = satchel_story_segment(handle, id, result);
    satchel_story_free(handle);
    return status;
}

static inline satchel_status count_paths_of_text(satchel_bytes story, int64_t *count, satchel_buffer *digits) {
    satchel_status status;
    satchel_story *handle = opened(story, &status);
    if (handle) status = satchel_story_path_count(handle, count, digits);
    satchel_story_free(handle);
    return status;
}

static inline satchel_status draw_text(satchel_bytes story, satchel_graph_format format, satchel_buffer *result) {
    satchel_status status;
    satchel_story *handle = opened(story, &status);
    if (handle) status = satchel_story_graph(handle, format, result);
    satchel_story_free(handle);
    return status;
}

static inline satchel_status compare_texts(satchel_bytes older, satchel_bytes newer, satchel_buffer *result) {
    satchel_status status;
    satchel_story *one = opened(older, &status), *other = one ? opened(newer, &status) : NULL;
    if (one && other) status = satchel_story_diff(one, other, result);
    satchel_story_free(one);
    satchel_story_free(other);
    return status;
}

/** A sound story of three segments: from the rim lead two choices, each to an ending. */
static inline json_t *tale(const char *id, const char *title) {
    json_t *story = json_loads(
        "{\"author\":\"A. Miller\",\"culturalOrigin\":\"German\",\"synopsis\":\"A girl looks for a "
        "spindle.\","
        "\"coverImageName\":\"well\",\"estimatedReadingMinutes\":1,\"ageRange\":\"5-8\",\"tags\":["
        "\"courage\"],"
        "\"isPurchased\":false,\"segments\":["
        "{\"id\":\"rim\",\"text\":\"The spindle falls into the well.\",\"isAuthenticPath\":true,\"choices\":["
        "{\"id\":\"rim-1\",\"text\":\"Climb down\",\"nextSegmentId\":\"meadow\"},"
        "{\"id\":\"rim-2\",\"text\":\"Go home\",\"nextSegmentId\":\"home\"}]},"
        "{\"id\":\"meadow\",\"text\":\"At the bottom lies a meadow.\",\"isAuthenticPath\":true,"
        "\"isEnding\":true,\"choices\":[]},"
        "{\"id\":\"home\",\"text\":\"She goes home without it.\",\"isAuthenticPath\":false,"
        "\"isEnding\":true,\"choices\":[]}]}",
        0, NULL);
    if (!story) give_up("the story to test with is not JSON");
    json_object_set_new(story, "id", json_string(id));
    json_object_set_new(story, "title", json_string(title));
    return story;
}

/** A tale whose first choice leads to a segment that is only nearly there: three errors. */
static inline json_t *broken_tale(const char *id) {
    json_t *story = tale(id, "Unsound");
    json_object_set_new(at(story, "/segments/0/choices/0"), "nextSegmentId", json_string("medow"));
    return story;
}

static inline json_t *new_segment(const char *id, bool ending) {
    return json_pack("{s:s, s:s, s:b, s:b, s:[]}", "id", id, "text", "Once.", "isAuthenticPath", true,
                     "isEnding", ending, "choices");
}

static inline void add_choice(json_t *segment, const char *id, const char *next) {
    json_array_append_new(json_object_get(segment, "choices"),
                          json_pack("{s:s, s:s, s:s}", "id", id, "text", id, "nextSegmentId", next));
}

/** A story of `count` forks in a row, each with two choices to the next one: it has 2^count ways. */
static inline json_t *forks(int count) {
    json_t *story = tale("forks", "Forks"), *segments = json_array();
    for (int index = 0; index <= count; index++) {
        char id[32], next[32], choice[64];
        snprintf(id, sizeof id, "fork%d", index);
        snprintf(next, sizeof next, "fork%d", index + 1);
        json_t *segment = new_segment(id, index == count);
        for (int way = 0; way < 2 && index < count; way++) {
            snprintf(choice, sizeof choice, "%s-%d", id, way);
            add_choice(segment, choice, next);
        }
        json_array_append_new(segments, segment);
    }
    json_object_set_new(story, "segments", segments);
    return story;
}

/** Writes a story; takes the reference. */
static inline void write_story(const char *folder, const char *name, json_t *story) {
    char *string = written(story);
    write_text(folder, name, string);
    free(string);
}

#endif
