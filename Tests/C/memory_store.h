/* An object store in memory, as a host supplies it: sound, or mischievous in one way. */
#ifndef SATCHEL_TESTS_MEMORY_STORE_H
#define SATCHEL_TESTS_MEMORY_STORE_H

#include <pthread.h>
#include <time.h>

#include "values.h"

/** The faults of a store. */
enum mischief {
    HONEST,
    /* It answers, and says nonsense. */
    NO_ETAG,
    EMPTY_ETAG,
    UNPRINTABLE_ETAG,
    ENDLESS_ETAG,
    NO_BODY,
    BODY_WITHOUT_ADDRESS,
    ENDLESS_BODY,
    METADATA_NO_JSON,
    METADATA_NO_OBJECT,
    METADATA_NO_TEXTS,
    UNKNOWN_RESULT,
    NEGATIVE_RESULT,
    UNASKED_NOT_MODIFIED,
    FAILED_WITH_MESSAGE,
    FAILED_WITH_NONSENSE,
    DENIED,
    HALF_A_BODY,
    /* It does what it should, and more. */
    SETS_TWICE,
    SETS_THROUGH_OLD_ANSWERS,
    SETS_THROUGH_NO_ANSWERS,
    /* It does not keep what it promises. */
    LOST_ANSWERS,
    NO_CONDITIONS,
    /* It lists what is no page. */
    LISTING_NO_PAGE,
    LISTING_WITHOUT_END,
    LISTING_OF_NONSENSE
};

struct object {
    char *key, *body, *metadata;
    size_t size;
    long version;
};

struct memory {
    pthread_mutex_t lock;
    struct object objects[64];
    int count, calls, puts, inside, most_inside, releases;
    long version;
    enum mischief mischief;
    satchel_remote_answer *old_answer;
};

static inline char *copied(satchel_bytes bytes) {
    char *copy = malloc(bytes.size + 1);
    if (bytes.size) memcpy(copy, bytes.data, bytes.size);
    copy[bytes.size] = '\0';
    return copy;
}

static inline struct object *find(struct memory *memory, satchel_bytes key) {
    for (int index = 0; index < memory->count; index++) {
        struct object *object = &memory->objects[index];
        if (strlen(object->key) == key.size && memcmp(object->key, key.data, key.size) == 0) return object;
    }
    return NULL;
}

static inline bool has_tag(const struct object *object, satchel_bytes etag) {
    char own[32];
    int size = snprintf(own, sizeof own, "\"v%ld\"", object->version);
    return etag.size == (size_t)size && memcmp(own, etag.data, etag.size) == 0;
}

static inline void tell_etag(struct memory *memory, const struct object *object,
                             satchel_remote_answer *answer) {
    static char endless[5000];
    char etag[32];
    snprintf(etag, sizeof etag, "\"v%ld\"", object->version);
    memset(endless, 'x', sizeof endless);
    switch (memory->mischief) {
    case NO_ETAG: break;
    case EMPTY_ETAG: satchel_remote_answer_etag(answer, text("")); break;
    case UNPRINTABLE_ETAG: satchel_remote_answer_etag(answer, text("\xFF\r\nX-Evil: 1")); break;
    case ENDLESS_ETAG: satchel_remote_answer_etag(answer, (satchel_bytes){endless, sizeof endless}); break;
    case SETS_TWICE: satchel_remote_answer_etag(answer, text("\"other\"")); /* fall through */
    default: satchel_remote_answer_etag(answer, text(etag));
    }
}

static inline void tell_metadata(struct memory *memory, const struct object *object,
                                 satchel_remote_answer *answer) {
    switch (memory->mischief) {
    case METADATA_NO_JSON: satchel_remote_answer_metadata(answer, text("sha256=1")); break;
    case METADATA_NO_OBJECT: satchel_remote_answer_metadata(answer, text("[\"sha256\"]")); break;
    case METADATA_NO_TEXTS: satchel_remote_answer_metadata(answer, text("{\"sha256\":7}")); break;
    default: satchel_remote_answer_metadata(answer, text(object->metadata));
    }
}

static inline void tell_body(struct memory *memory, const struct object *object,
                             satchel_remote_answer *answer) {
    satchel_bytes body = {object->body, object->size};
    switch (memory->mischief) {
    case NO_BODY: break;
    case BODY_WITHOUT_ADDRESS: satchel_remote_answer_body(answer, (satchel_bytes){NULL, 5}); break;
    case ENDLESS_BODY: satchel_remote_answer_body(answer, (satchel_bytes){object->body, SIZE_MAX}); break;
    case HALF_A_BODY: body.size /= 2; /* fall through */
    default: satchel_remote_answer_body(answer, body);
    }
}

/** Begins a call. The lock is not held meanwhile, so that calls overlap. */
static inline void enter(struct memory *memory, satchel_remote_answer *answer) {
    pthread_mutex_lock(&memory->lock);
    memory->calls++;
    if (++memory->inside > memory->most_inside) memory->most_inside = memory->inside;
    if (memory->mischief == SETS_THROUGH_OLD_ANSWERS) {
        satchel_remote_answer_body(memory->old_answer, text("old"));
        satchel_remote_answer_etag(memory->old_answer, text("old"));
        satchel_remote_answer_metadata(memory->old_answer, text("old"));
        satchel_remote_answer_size(memory->old_answer, -1);
        satchel_remote_answer_message(memory->old_answer, text("old"));
        memory->old_answer = memory->inside == 1 ? answer : NULL;
    }
    if (memory->mischief == SETS_THROUGH_NO_ANSWERS) {
        satchel_remote_answer *const none[] = {NULL, (satchel_remote_answer *)memory,
                                               (satchel_remote_answer *)UINTPTR_MAX};
        for (int index = 0; index < 3; index++) {
            satchel_remote_answer_body(none[index], text("none"));
            satchel_remote_answer_etag(none[index], text("none"));
            satchel_remote_answer_metadata(none[index], text("none"));
            satchel_remote_answer_size(none[index], 7);
            satchel_remote_answer_message(none[index], text("none"));
        }
    }
    if (memory->mischief == FAILED_WITH_MESSAGE)
        satchel_remote_answer_message(answer, text("the disk of the host is on fire"));
    if (memory->mischief == FAILED_WITH_NONSENSE) {
        satchel_remote_answer_message(answer, (satchel_bytes){"\xFF\0\xC3", 3});
        satchel_remote_answer_size(answer, INT64_MIN);
    }
    enum mischief mischief = memory->mischief;
    pthread_mutex_unlock(&memory->lock);
    const struct timespec pause = {0, 2000000};
    if (mischief == LOST_ANSWERS) nanosleep(&pause, NULL); /* as a network would, so that calls overlap */
}

/** Ends a call with its status, or with the one that a fault makes of it. */
static inline satchel_remote_result leave(struct memory *memory, satchel_remote_result result) {
    memory->inside--;
    enum mischief mischief = memory->mischief;
    pthread_mutex_unlock(&memory->lock);
    switch (mischief) {
    case UNKNOWN_RESULT: return (satchel_remote_result)99;
    case NEGATIVE_RESULT: return (satchel_remote_result)-1;
    case UNASKED_NOT_MODIFIED: return SATCHEL_REMOTE_NOT_MODIFIED;
    case FAILED_WITH_MESSAGE:
    case FAILED_WITH_NONSENSE: return SATCHEL_REMOTE_FAILED;
    case DENIED: return SATCHEL_REMOTE_DENIED;
    default: return result;
    }
}

static inline satchel_remote_result memory_get(void *context, satchel_bytes key, satchel_bytes if_none_match,
                                               satchel_remote_answer *answer) {
    struct memory *memory = context;
    enter(memory, answer);
    pthread_mutex_lock(&memory->lock);
    struct object *object = find(memory, key);
    if (!object) return leave(memory, SATCHEL_REMOTE_NOT_FOUND);
    if (if_none_match.size && has_tag(object, if_none_match))
        return leave(memory, SATCHEL_REMOTE_NOT_MODIFIED);
    tell_body(memory, object, answer);
    tell_etag(memory, object, answer);
    tell_metadata(memory, object, answer);
    return leave(memory, SATCHEL_REMOTE_OK);
}

static inline satchel_remote_result memory_put(void *context, satchel_bytes key, satchel_bytes body,
                                               satchel_bytes if_match, bool if_absent, satchel_bytes metadata,
                                               satchel_remote_answer *answer) {
    struct memory *memory = context;
    enter(memory, answer);
    pthread_mutex_lock(&memory->lock);
    struct object *object = find(memory, key);
    if (memory->mischief != NO_CONDITIONS) {
        if (if_absent && object) return leave(memory, SATCHEL_REMOTE_PRECONDITION_FAILED);
        if (if_match.size && !object) return leave(memory, SATCHEL_REMOTE_NOT_FOUND);
        if (if_match.size && !has_tag(object, if_match))
            return leave(memory, SATCHEL_REMOTE_PRECONDITION_FAILED);
    }
    switch (memory->mischief) { /* nothing is written where nothing was answered for good */
    case UNKNOWN_RESULT:
    case NEGATIVE_RESULT:
    case UNASKED_NOT_MODIFIED:
    case FAILED_WITH_MESSAGE:
    case FAILED_WITH_NONSENSE:
    case DENIED: return leave(memory, SATCHEL_REMOTE_OK);
    default: break;
    }
    if (!object) {
        if (memory->count == 64) give_up("the store in memory is full");
        object = &memory->objects[memory->count++];
        *object = (struct object){copied(key), NULL, NULL, 0, 0};
    }
    free(object->body);
    free(object->metadata);
    object->body = copied(body);
    object->metadata = copied(metadata);
    object->size = body.size;
    object->version = ++memory->version;
    /* Every third answer to a write does not arrive. */
    if (++memory->puts % 3 == 0 && memory->mischief == LOST_ANSWERS)
        return leave(memory, SATCHEL_REMOTE_UNKNOWN);
    tell_etag(memory, object, answer);
    return leave(memory, SATCHEL_REMOTE_OK);
}

static inline satchel_remote_result memory_head(void *context, satchel_bytes key,
                                                satchel_remote_answer *answer) {
    struct memory *memory = context;
    enter(memory, answer);
    pthread_mutex_lock(&memory->lock);
    struct object *object = find(memory, key);
    if (!object) return leave(memory, SATCHEL_REMOTE_NOT_FOUND);
    satchel_remote_answer_size(answer, (int64_t)object->size);
    tell_etag(memory, object, answer);
    tell_metadata(memory, object, answer);
    return leave(memory, SATCHEL_REMOTE_OK);
}

static inline void forget(struct memory *memory, struct object *object) {
    free(object->key);
    free(object->body);
    free(object->metadata);
    *object = memory->objects[--memory->count];
}

static inline satchel_remote_result memory_remove(void *context, satchel_bytes key, satchel_bytes if_match,
                                                  satchel_remote_answer *answer) {
    struct memory *memory = context;
    enter(memory, answer);
    pthread_mutex_lock(&memory->lock);
    struct object *object = find(memory, key);
    if (!object) return leave(memory, if_match.size ? SATCHEL_REMOTE_NOT_FOUND : SATCHEL_REMOTE_OK);
    if (if_match.size && !has_tag(object, if_match)) return leave(memory, SATCHEL_REMOTE_PRECONDITION_FAILED);
    forget(memory, object);
    return leave(memory, SATCHEL_REMOTE_OK);
}

/** The object with the first key that has the prefix and is greater than another one; NULL at the end. */
static inline struct object *next_object(struct memory *memory, const char *prefix, const char *after) {
    struct object *next = NULL;
    for (int index = 0; index < memory->count; index++) {
        struct object *object = &memory->objects[index];
        if (strncmp(object->key, prefix, strlen(prefix)) != 0 || strcmp(object->key, after) <= 0) continue;
        if (!next || strcmp(object->key, next->key) < 0) next = object;
    }
    return next;
}

static inline satchel_remote_result memory_list(void *context, satchel_bytes prefix, satchel_bytes after,
                                                int32_t limit, satchel_remote_answer *answer) {
    struct memory *memory = context;
    enter(memory, answer);
    pthread_mutex_lock(&memory->lock);
    char *begin = copied(prefix), *last = copied(after);
    json_t *entries = json_array();
    struct object *object = next_object(memory, begin, last);
    for (; object && limit > 0; limit--) {
        char etag[32];
        snprintf(etag, sizeof etag, "\"v%ld\"", object->version);
        json_array_append_new(entries, json_pack("{s:s, s:I, s:s}", "key", object->key, "size",
                                                 (json_int_t)object->size, "etag", etag));
        object = next_object(memory, begin, object->key);
    }
    json_t *page = json_pack("{s:o, s:b}", "entries", entries, "has_more", object != NULL);
    if (memory->mischief == LISTING_NO_PAGE) json_object_del(page, "has_more");
    if (memory->mischief == LISTING_WITHOUT_END) json_object_set_new(page, "has_more", json_true());
    if (memory->mischief == LISTING_OF_NONSENSE)
        json_array_insert_new(entries, 0, json_pack("{s:s, s:i}", "key", "../../etc/passwd", "size", -1));
    char *listing = written(page);
    satchel_remote_answer_body(answer, text(listing));
    free(listing);
    free(begin);
    free(last);
    return leave(memory, SATCHEL_REMOTE_OK);
}

static inline void memory_release(void *context) {
    struct memory *memory = context;
    pthread_mutex_lock(&memory->lock);
    memory->releases++;
    pthread_mutex_unlock(&memory->lock);
}

static inline satchel_remote_operations memory_operations(void) {
    satchel_remote_operations operations = SATCHEL_REMOTE_OPERATIONS_INIT;
    operations.get = memory_get;
    operations.put = memory_put;
    operations.head = memory_head;
    operations.remove = memory_remove;
    operations.list = memory_list;
    return operations;
}

/** Opens a store that a satchel recognises by its name; NULL for none. */
static inline satchel_remote *open_named_memory(struct memory *memory, const char *name) {
    satchel_remote_operations operations = memory_operations();
    operations.identity = text(name);
    satchel_remote *remote;
    memset(memory, 0, sizeof *memory);
    pthread_mutex_init(&memory->lock, NULL);
    must(satchel_remote_callbacks(&operations, memory, memory_release, &remote), "making a remote");
    return remote;
}

static inline satchel_remote *open_memory(struct memory *memory) { return open_named_memory(memory, NULL); }

/** Frees a remote; its context was released just once then. */
static inline void close_memory(struct memory *memory, satchel_remote *remote) {
    satchel_remote_free(remote);
    CHECK(memory->releases == 1, "the context was released %d times", memory->releases);
    while (memory->count) forget(memory, memory->objects);
    pthread_mutex_destroy(&memory->lock);
}

/** The object whose key ends so. */
static inline struct object *object_at(struct memory *memory, const char *end) {
    for (int index = 0; index < memory->count; index++) {
        const char *key = memory->objects[index].key;
        if (strlen(key) >= strlen(end) && strcmp(key + strlen(key) - strlen(end), end) == 0)
            return &memory->objects[index];
    }
    return NULL;
}

#endif
