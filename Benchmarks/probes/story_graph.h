/* story_graph.h: the least that checks a story: slices of ids, a table with open addressing, a graph of
 * 32-bit numbers, waves instead of recursion. No string is copied.
 *
 * Ids are compared as they are written: the generator's have no escapes. */
#ifndef STORY_GRAPH_H
#define STORY_GRAPH_H

#include "story_run.h"
#include <stdbool.h>

enum { AUTHENTIC = 1, ENDING = 2, DUPLICATE = 4, REACHED = 8, REACHED_AUTHENTIC = 16 };
enum { NOWHERE = -1 };
/** How far ahead the table and then the id that a slot names are fetched. */
enum { AHEAD_OF_SLOT = 24, AHEAD_OF_ID = 12 };

typedef struct story_name {
    const char *data;
    uint32_t size, hash;
} story_name;

typedef struct names {
    story_name *items;
    size_t count, capacity;
} names;

/** Segments in order, and the targets of all their choices in order. */
typedef struct story_graph {
    names ids, targets;
    /** By segment: its marks, and where its targets begin; one more at the end. */
    uint8_t *marks;
    int32_t *first_target;
    size_t capacity;
} story_graph;

typedef struct story_counts {
    long segments, duplicates, broken, unreachable, authentic;
} story_counts;

typedef struct slot {
    uint32_t hash;
    int32_t place;
} slot;

typedef struct id_table {
    slot *slots;
    size_t mask;
    const story_name *ids;
} id_table;

static inline uint32_t hash_of(const char *data, size_t size) {
    uint64_t hash = size * 0x9E3779B97F4A7C15u, word;
    for (; size >= 8; data += 8, size -= 8) {
        memcpy(&word, data, 8);
        hash = (hash ^ word) * 0x9E3779B97F4A7C15u;
        hash ^= hash >> 29;
    }
    word = 0;
    for (size_t index = 0; index < size; index++) word = word << 8 | (uint8_t)data[index];
    return (uint32_t)(((hash ^ word) * 0xD6E8FEB86659FD93u) >> 32);
}

static inline story_name name_of(const char *data, size_t size) {
    return (story_name){data, (uint32_t)size, hash_of(data, size)};
}

static inline void append_name(names *list, story_name name) {
    if (list->count == list->capacity) {
        list->capacity = list->capacity == 0 ? 64 : list->capacity * 2;
        list->items = realloc(list->items, list->capacity * sizeof *list->items);
        if (list->items == NULL) fail("out of memory");
    }
    list->items[list->count++] = name;
}

/** Adds a segment whose targets were added since the segment before. */
static inline void add_segment(story_graph *graph, story_name id, uint8_t marks, size_t first_target) {
    if (graph->ids.count + 1 >= graph->capacity) {
        graph->capacity = graph->capacity == 0 ? 64 : graph->capacity * 2;
        graph->marks = realloc(graph->marks, graph->capacity);
        graph->first_target = realloc(graph->first_target, graph->capacity * sizeof *graph->first_target);
        if (graph->marks == NULL || graph->first_target == NULL) fail("out of memory");
    }
    bool ends = first_target == graph->targets.count;
    graph->marks[graph->ids.count] = marks | (ends ? ENDING : 0);
    graph->first_target[graph->ids.count] = (int32_t)first_target;
    append_name(&graph->ids, id);
    graph->first_target[graph->ids.count] = (int32_t)graph->targets.count;
}

/** The slot of a name, or the empty one where it belongs. */
static inline slot *find_slot(const id_table *table, story_name name) {
    for (size_t index = name.hash;; index++) {
        slot *found = &table->slots[index & table->mask];
        if (found->place == NOWHERE) return found;
        if (found->hash != name.hash) continue;
        story_name id = table->ids[found->place];
        if (id.size == name.size && memcmp(id.data, name.data, name.size) == 0) return found;
    }
}

/** Begins to fetch what find_slot() will need for the names that come soon. */
static inline void fetch_ahead(const id_table *table, const names *list, size_t index) {
    if (index + AHEAD_OF_SLOT < list->count)
        __builtin_prefetch(&table->slots[list->items[index + AHEAD_OF_SLOT].hash & table->mask]);
    if (index + AHEAD_OF_ID < list->count) {
        slot soon = table->slots[list->items[index + AHEAD_OF_ID].hash & table->mask];
        if (soon.place != NOWHERE) __builtin_prefetch(&table->ids[soon.place]);
        if (soon.place != NOWHERE) __builtin_prefetch(table->ids[soon.place].data);
    }
}

static id_table make_table(story_graph *graph, story_counts *counts) {
    size_t size = 16;
    while (size < graph->ids.count * 2) size *= 2;
    id_table table = {allocate(size * sizeof *table.slots), size - 1, graph->ids.items};
    memset(table.slots, 0xFF, size * sizeof *table.slots);
    for (size_t index = 0; index < graph->ids.count; index++) {
        if (index + AHEAD_OF_SLOT < graph->ids.count)
            __builtin_prefetch(&table.slots[graph->ids.items[index + AHEAD_OF_SLOT].hash & table.mask], 1);
        slot *found = find_slot(&table, graph->ids.items[index]);
        if (found->place == NOWHERE) {
            *found = (slot){graph->ids.items[index].hash, (int32_t)index};
        } else {
            graph->marks[index] |= DUPLICATE;
            counts->duplicates++;
        }
    }
    return table;
}

/** Marks what can be reached from the start, only over segments that have all marks of `needed`.
 *  Returns whether that led to an ending. */
static bool walk(story_graph *graph, const int32_t *edges, int32_t *queue, uint8_t needed, uint8_t mark) {
    size_t head = 0, tail = 0;
    bool ended = false;
    if ((graph->marks[0] & needed) == needed) {
        graph->marks[0] |= mark;
        queue[tail++] = 0;
    }
    while (head < tail) {
        int32_t place = queue[head++];
        ended |= (graph->marks[place] & ENDING) != 0;
        for (int32_t edge = graph->first_target[place]; edge < graph->first_target[place + 1]; edge++) {
            int32_t target = edges[edge];
            if (target == NOWHERE) continue;
            uint8_t marks = graph->marks[target];
            if ((marks & mark) != 0 || (marks & needed) != needed) continue;
            graph->marks[target] = marks | mark;
            queue[tail++] = target;
        }
    }
    return ended;
}

/** Counts what is wrong, and frees the graph. */
static story_counts judge(story_graph *graph) {
    story_counts counts = {.segments = (long)graph->ids.count};
    if (counts.segments == 0) fail("a story without segments");
    id_table table = make_table(graph, &counts);
    int32_t *edges = allocate((graph->targets.count + 1) * sizeof *edges);
    for (size_t index = 0; index < graph->targets.count; index++) {
        fetch_ahead(&table, &graph->targets, index);
        edges[index] = find_slot(&table, graph->targets.items[index])->place;
        counts.broken += edges[index] == NOWHERE;
    }
    free(table.slots);
    int32_t *queue = allocate(graph->ids.count * sizeof *queue);
    walk(graph, edges, queue, 0, REACHED);
    counts.authentic = walk(graph, edges, queue, AUTHENTIC, REACHED_AUTHENTIC);
    for (size_t index = 0; index < graph->ids.count; index++)
        counts.unreachable += (graph->marks[index] & (REACHED | DUPLICATE)) == 0;
    free(edges);
    free(queue);
    free(graph->ids.items);
    free(graph->targets.items);
    free(graph->marks);
    free(graph->first_target);
    return counts;
}

static void *keep_counts(story_counts counts) {
    story_counts *kept = allocate(sizeof *kept);
    *kept = counts;
    return kept;
}

/** The sums over all files. */
static void print_counts(char **names, void **findings, size_t count) {
    (void)names;
    story_counts sum = {0};
    for (size_t index = 0; index < count; index++) {
        const story_counts *each = findings[index];
        sum.segments += each->segments;
        sum.duplicates += each->duplicates;
        sum.broken += each->broken;
        sum.unreachable += each->unreachable;
        sum.authentic += each->authentic;
    }
    printf(",\"segments\":%ld,\"duplicates\":%ld,\"broken\":%ld,\"unreachable\":%ld,\"authentic\":%ld",
           sum.segments, sum.duplicates, sum.broken, sum.unreachable, sum.authentic);
}

#endif
