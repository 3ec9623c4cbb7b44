/**
 * satchel.h: the contract of libsatchel, the offline content layer for apps.
 *
 * One store is one SQLite file. Everything in this header is safe to call with
 * any bytes whatever: bad input gives a status and a message, changes nothing
 * and never stops the host. Structured values cross as UTF-8 JSON with
 * snake_case keys; times are Unix milliseconds; durations are milliseconds.
 *
 * Reading this page
 *   Returns    what the status means here. A status that is not SATCHEL_OK
 *              always leaves a message: satchel_error_message().
 *   Ownership  who frees what. satchel_bytes are lent for the length of the
 *              call; a satchel_buffer belongs to the caller.
 *   Threads    a store may be used from any number of threads at once, and a
 *              file may be opened by several processes, unless said otherwise.
 *
 * Out-parameters come last and are emptied when a call fails. A NULL
 * out-parameter is SATCHEL_EINVALID unless the text says that it may be NULL,
 * and so is a handle that is NULL. A handle that was closed, or that never was
 * one, is SATCHEL_ECLOSED: handles are numbered, never followed as addresses.
 */
#ifndef SATCHEL_H
#define SATCHEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#if defined(_WIN32)
#define SATCHEL_API __declspec(dllimport)
#elif defined(__GNUC__)
#define SATCHEL_API __attribute__((visibility("default")))
#else
#define SATCHEL_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* ------------------------------------------------------------------------
 * The library
 * --------------------------------------------------------------------- */

#define SATCHEL_VERSION_MAJOR 0
#define SATCHEL_VERSION_MINOR 1
#define SATCHEL_VERSION_PATCH 0
#define SATCHEL_VERSION_STRING "0.1.0"

/** What became of a call. The numbers never change; new ones may be added. */
typedef enum satchel_status {
    SATCHEL_OK = 0,
    /** An argument is not what the call takes; the message names the place. */
    SATCHEL_EINVALID = 1,
    /** There is no such thing as the call names. */
    SATCHEL_ENOTFOUND = 2,
    /** Another thread or process held the store for longer than busy_timeout. */
    SATCHEL_EBUSY = 3,
    /** The file is a SQLite database, but damaged or cut short. */
    SATCHEL_EDAMAGED = 4,
    /** The file is no SQLite database, or one that Satchel did not make; a
     *  directory is neither. */
    SATCHEL_EFOREIGN = 5,
    /** The file was written by a newer Satchel than this one. */
    SATCHEL_ENEWER = 6,
    /** The store was opened to read only, or the file cannot be written. */
    SATCHEL_EREADONLY = 7,
    /** The disk, or the quota, is full. */
    SATCHEL_EFULL = 8,
    /** The operating system failed to read or write. */
    SATCHEL_EIO = 9,
    /** The handle was closed, or never was one. */
    SATCHEL_ECLOSED = 10,
    /** The host asked for the work to be stopped. */
    SATCHEL_ECANCELLED = 11,
    /** Not enough memory. */
    SATCHEL_ENOMEMORY = 12,
    /** A fault of the library itself; please report it. */
    SATCHEL_EINTERNAL = 13
} satchel_status;

/** Bytes that the caller lends for the length of one call. Text is UTF-8 and
 *  needs no terminator. {NULL, 0} is the empty text. */
typedef struct satchel_bytes {
    const void *data;
    size_t size;
} satchel_bytes;

/** Bytes that the library made and the caller owns: satchel_buffer_free().
 *  `data` is terminated by a NUL that `size` does not count, for convenience.
 *  {NULL, 0} says "none", which differs from an empty text (data is not NULL). */
typedef struct satchel_buffer {
    char *data;
    size_t size;
} satchel_buffer;

/** An empty buffer, to begin with. */
#define SATCHEL_BUFFER_INIT { NULL, 0 }

/**
 * The library's version, "major.minor.patch".
 *
 * Ownership  static, never freed.
 * Threads    safe anywhere, at any time.
 */
SATCHEL_API const char *satchel_version(void);

/**
 * The name of a status, such as "SATCHEL_EBUSY"; of an unknown number
 * "SATCHEL_E?".
 *
 * Ownership  static, never freed.
 */
SATCHEL_API const char *satchel_status_name(satchel_status status);

/**
 * What the last failed call of this thread said. Successful calls do not
 * change it.
 *
 * Returns    UTF-8, never NULL; "" before the first failure.
 * Ownership  the library's, valid until the next failure on this thread.
 */
SATCHEL_API const char *satchel_error_message(void);

/**
 * Frees what a buffer holds and empties it.
 *
 * @param buffer  may be NULL, and may be empty
 */
SATCHEL_API void satchel_buffer_free(satchel_buffer *buffer);

/* ------------------------------------------------------------------------
 * The store
 * --------------------------------------------------------------------- */

/** An open store. */
typedef struct satchel_store satchel_store;

/** Gives the time in Unix milliseconds. Called on any thread. */
typedef int64_t (*satchel_clock)(void *context);

/** How to open a store; start from SATCHEL_OPEN_OPTIONS_INIT. */
typedef struct satchel_open_options {
    /** sizeof(satchel_open_options), so that the struct can grow. */
    size_t size;
    /** Opens without writing: the file must exist, and is not changed. */
    bool read_only;
    /** A damaged, foreign or unreadable file is renamed to
     *  "<path>.set-aside-<time>" (never deleted), and a new store is begun.
     *  Where: satchel_store_info(). A newer store is never set aside. */
    bool set_aside;
    /** Commits survive the end of the process at once, but only those up to
     *  the last checkpoint survive a power cut (synchronous=NORMAL). The
     *  default syncs every commit. */
    bool relaxed_durability;
    /** How long a call waits for another writer; 0 means 5,000 ms. */
    uint32_t busy_timeout_ms;
    /** The time, for tests; NULL means the system's clock. */
    satchel_clock clock;
    /** Handed to `clock`. */
    void *clock_context;
    /** Called exactly once with `clock_context`, when the clock will not be
     *  called again, also when opening fails; may be NULL. */
    void (*clock_release)(void *context);
} satchel_open_options;

#define SATCHEL_OPEN_OPTIONS_INIT \
    { sizeof(satchel_open_options), false, false, false, 0, NULL, NULL, NULL }

/**
 * Opens a store, creating the file when there is none.
 *
 * @param path     the file's path, or ":memory:" for a store that lives as
 *                 long as its handle; NUL-terminated UTF-8
 * @param options  may be NULL
 * @param[out] out the store
 *
 * Returns    SATCHEL_OK; SATCHEL_EFOREIGN, SATCHEL_EDAMAGED or SATCHEL_ENEWER
 *            when the file is not a store that can be opened (it is left as it
 *            is); SATCHEL_ENOTFOUND when it does not exist and read_only is
 *            set, or its directory does not exist; SATCHEL_EREADONLY,
 *            SATCHEL_EIO.
 * Ownership  the caller closes it: satchel_store_close().
 */
SATCHEL_API satchel_status satchel_store_open(
    const char *path, const satchel_open_options *options, satchel_store **out);

/**
 * Closes a store. Observers and sessions of it fall silent; their handles
 * still have to be freed, in any order. Waits for calls under way on other
 * threads; must not be called from a callback of the same store.
 *
 * @param store  NULL is fine
 *
 * Returns    SATCHEL_OK; SATCHEL_ECLOSED when it was closed before; another
 *            status when the last write failed. The store is closed in any
 *            case, and everything acknowledged before is in the file.
 */
SATCHEL_API satchel_status satchel_store_close(satchel_store *store);

/**
 * Facts about a store: {"path", "read_only", "schema_version", "file_bytes",
 * "sqlite_version", "set_aside": path or null}.
 *
 * Ownership  the caller owns *out.
 */
SATCHEL_API satchel_status satchel_store_info(satchel_store *store, satchel_buffer *out);

/**
 * Examines the whole file: SQLite's own integrity check, then Satchel's
 * invariants (references that lead nowhere, counts that disagree). Reads every
 * page: time grows with the file.
 *
 * @param[out] out  a JSON array of findings, [] when the store is sound:
 *                  [{"code", "message"}, …]
 *
 * Ownership  the caller owns *out.
 */
SATCHEL_API satchel_status satchel_store_check(satchel_store *store, satchel_buffer *out);

/** Whether the store was opened to read only. */
SATCHEL_API satchel_status satchel_store_is_read_only(satchel_store *store, bool *out);

/** A subscription to a store's changes. */
typedef struct satchel_observer satchel_observer;

/** Hears one change, JSON: {"subject": "catalogue", "keys": [section names and
 *  entity ids], "place": text key or null, "own": whether this handle wrote it,
 *  "revision": number}. When more was written elsewhere than the log keeps,
 *  keys is ["*"]: read anew. Valid for the length of the call. */
typedef void (*satchel_change_callback)(void *context, satchel_bytes change);

/**
 * Hears of every change after its commit. Changes made through this handle are
 * told on the thread that made them, before the call that made them returns;
 * those of other processes and handles come on a thread of the library within
 * about 0.2 s. A callback may call the library, but not satchel_store_close()
 * or satchel_observer_free() for the same store.
 *
 * @param context  handed to `callback`
 * @param release  called exactly once with `context`, when the callback will
 *                 not be called again, also on failure; may be NULL
 * @param[out] out the subscription
 *
 * Ownership  the caller frees it: satchel_observer_free().
 */
SATCHEL_API satchel_status satchel_store_observe(
    satchel_store *store, satchel_change_callback callback, void *context,
    void (*release)(void *context), satchel_observer **out);

/** Ends a subscription; NULL and a second time are fine. */
SATCHEL_API void satchel_observer_free(satchel_observer *observer);

/* ------------------------------------------------------------------------
 * JSON values
 *
 * UTF-8 without byte-order mark, one value, nothing after it but white space.
 * Errors, all SATCHEL_EINVALID with line, column and JSON Pointer in the
 * message: more than 512 levels, a duplicate key, an invalid or lone surrogate,
 * a NUL in a key, an integer outside Int64, a number beyond the largest double.
 * Integers stay integers, doubles are written in the shortest form that reads
 * back the same, -0.0 stays -0.0.
 *
 * A path is dot-separated keys ("cards.items"), or a JSON Pointer (RFC 6901)
 * when it begins with "/"; the empty path is the whole value.
 * --------------------------------------------------------------------- */

/**
 * Whether a text is JSON by the rules above.
 *
 * Returns    SATCHEL_OK, or SATCHEL_EINVALID with the place and the cause.
 */
SATCHEL_API satchel_status satchel_json_check(satchel_bytes text);

/**
 * Applies an edit as a backend sends it.
 *
 * @param existing  the value to edit; empty means null
 * @param value     the new value; empty means null
 * @param config    {"operation", "target_path", "match"}, or null or empty.
 *                  operation: "merge" (default), "append", "remove",
 *                  "merge_patch" (RFC 7396) or "patch" (RFC 6902).
 *                  target_path: where in `existing`; absent means the whole.
 *                  match: for "remove", a non-empty object.
 * @param[out] out  the edited value
 *
 * Returns    SATCHEL_EINVALID for an unknown operation, a missing or empty
 *            match, or a path that runs through something that is no object;
 *            the message names the component.
 * Ownership  the caller owns *out.
 */
SATCHEL_API satchel_status satchel_json_edit(
    satchel_bytes existing, satchel_bytes value, satchel_bytes config, satchel_buffer *out);

/** Deep merge: objects merge, new values win, null is stored as null, anything
 *  else is replaced. Ownership: the caller owns *out. */
SATCHEL_API satchel_status satchel_json_merge(
    satchel_bytes existing, satchel_bytes value, satchel_buffer *out);

/** JSON Merge Patch, RFC 7396. Ownership: the caller owns *out. */
SATCHEL_API satchel_status satchel_json_merge_patch(
    satchel_bytes target, satchel_bytes patch, satchel_buffer *out);

/** JSON Patch, RFC 6902: all operations or none. Ownership: the caller owns
 *  *out. */
SATCHEL_API satchel_status satchel_json_patch(
    satchel_bytes target, satchel_bytes patch, satchel_buffer *out);

/**
 * The value at a path.
 *
 * Returns    SATCHEL_OK, with *out none when the path leads to nothing;
 *            SATCHEL_EINVALID when it runs through a scalar.
 * Ownership  the caller owns *out.
 */
SATCHEL_API satchel_status satchel_json_value_at(
    satchel_bytes value, satchel_bytes path, satchel_buffer *out);

/* ------------------------------------------------------------------------
 * Places
 *
 * A location is a JSON object: latitude, longitude (numbers, both or neither),
 * sublocality, locality, admin_area, country_code, country_name (texts), each
 * optional or null; other keys are ignored. It must yield at least one key.
 * Levels, the most specific first: coordinate, sublocality, locality,
 * adminarea, country. A scope is a level or "global", in any letter case.
 * The guide "Places" in Documentation/catalogue.md has the rules.
 * --------------------------------------------------------------------- */

/**
 * A text as a component of a key: "São Paulo" becomes "sao_paulo".
 *
 * @param[out] out  the component; none when nothing is left of the text
 *
 * Ownership  the caller owns *out.
 */
SATCHEL_API satchel_status satchel_place_normalize(satchel_bytes text, satchel_buffer *out);

/**
 * The key of a location at a level, as text: "cn_shanghai_shanghai".
 *
 * @param level     a level's name
 * @param[out] out  the key; none when the location has no key at that level
 *
 * Returns    SATCHEL_EINVALID for an unknown level or a location that yields
 *            no key at all.
 * Ownership  the caller owns *out.
 */
SATCHEL_API satchel_status satchel_place_key(
    satchel_bytes location, satchel_bytes level, satchel_buffer *out);

/** The most specific level of a location that yields a key. Ownership: the
 *  caller owns *out. */
SATCHEL_API satchel_status satchel_place_most_specific_level(
    satchel_bytes location, satchel_buffer *out);

/** The level (or "global") that a scope names in any letter case; none when it
 *  is no scope. Ownership: the caller owns *out. */
SATCHEL_API satchel_status satchel_place_level_of_scope(satchel_bytes scope, satchel_buffer *out);

/** The entity id of a label in a section: "cuisine:chinese_cuisine"; a label
 *  of which nothing is left gives "cuisine:unknown". Ownership: the caller owns
 *  *out. */
SATCHEL_API satchel_status satchel_place_entity_id(
    satchel_bytes section, satchel_bytes label, satchel_buffer *out);

/** What stands before the first colon of an entity id; none when there is no
 *  colon or nothing before it. Ownership: the caller owns *out. */
SATCHEL_API satchel_status satchel_place_section_of(satchel_bytes entity_id, satchel_buffer *out);

/* ------------------------------------------------------------------------
 * Catalogue: content scoped to places, stored once, reused between them
 *
 * A section is a JSON object: section (its name), display_title, config,
 * action ("replace", the default, or "edit") and content. Inside the content
 * every object that carries "_storage": {"entity_id", "scope", "ttl_hours"
 * (default 168)} is an entity, stored once per (entity id, scope, key of the
 * location at that scope). Loading gives back exactly what was sent, less
 * "_storage".
 * --------------------------------------------------------------------- */

/** What to do with an entity that is stored already. */
typedef enum satchel_reuse {
    /** Same content: only its expiry is renewed. Changed content: updated. */
    SATCHEL_REUSE_UNLESS_CHANGED = 0,
    /** A fresh stored copy is kept untouched until it expires. */
    SATCHEL_REUSE_UNTIL_EXPIRY = 1
} satchel_reuse;

/** How to persist; start from SATCHEL_PERSIST_OPTIONS_INIT. */
typedef struct satchel_persist_options {
    size_t size;
    satchel_reuse reuse;
} satchel_persist_options;

#define SATCHEL_PERSIST_OPTIONS_INIT \
    { sizeof(satchel_persist_options), SATCHEL_REUSE_UNLESS_CHANGED }

/**
 * Takes a section in, in one transaction. When the call returns SATCHEL_OK the
 * section is on the disk.
 *
 * @param location  where the content belongs
 * @param section   what the backend sent
 * @param options   may be NULL
 * @param[out] out  the receipt: {"section", "saved", "updated", "reused",
 *                  "inline" (objects that were taken for no entity because
 *                  their "_storage" is bad, or, in a container of entities,
 *                  carry none), "problems": [{"pointer", "reason"}], "bytes"
 *                  (of content written), "shared_bytes" (that were stored
 *                  already)}; may be NULL
 *
 * Returns    SATCHEL_EINVALID for a section or a location that is not as
 *            described, an unknown action or operation; SATCHEL_EBUSY,
 *            SATCHEL_EFULL, SATCHEL_EREADONLY, SATCHEL_EIO. Nothing is
 *            changed on failure. A bad "_storage" is no failure: the object
 *            stays inline and the receipt names it.
 * Ownership  the caller owns *out.
 */
SATCHEL_API satchel_status satchel_catalogue_persist(
    satchel_store *store, satchel_bytes location, satchel_bytes section,
    const satchel_persist_options *options, satchel_buffer *out);

/**
 * Takes in a delivery: {"location": …, "sections": [section, …]}, all of it in
 * one transaction.
 *
 * @param[out] out  an array of receipts, one a section; may be NULL
 *
 * Otherwise as satchel_catalogue_persist().
 */
SATCHEL_API satchel_status satchel_catalogue_deliver(
    satchel_store *store, satchel_bytes delivery, const satchel_persist_options *options,
    satchel_buffer *out);

/** How to read; start from SATCHEL_READ_OPTIONS_INIT. */
typedef struct satchel_read_options {
    size_t size;
    /** Takes the sections of all contexts that share a level with the location,
     *  the most specific winning section by section. Cost grows with the number
     *  of contexts that share the country. */
    bool union_contexts;
    /** Keeps expired entities in the content (they are named in any case). */
    bool allow_expired;
} satchel_read_options;

#define SATCHEL_READ_OPTIONS_INIT { sizeof(satchel_read_options), false, false }

/**
 * Headers of a location's sections, without their content: no entity is read.
 *
 * @param location  where the person is
 * @param options   may be NULL
 * @param[out] out  JSON array, most important section (the first delivered)
 *                  first: [{"section", "display_title", "config",
 *                  "entity_count", "updated_at", "level"}, …]; "level" is the
 *                  level that the sections were found at
 *
 * Ownership  the caller owns *out.
 */
SATCHEL_API satchel_status satchel_catalogue_sections(
    satchel_store *store, satchel_bytes location, const satchel_read_options *options,
    satchel_buffer *out);

/**
 * A section with its content.
 *
 * @param section   the section's name
 * @param options   may be NULL
 * @param[out] out  {"section", "display_title", "config", "content",
 *                  "missing": [entity ids], "expired": [entity ids], "level",
 *                  "updated_at"}; none when the location has no such section
 *
 * Ownership  the caller owns *out.
 */
SATCHEL_API satchel_status satchel_catalogue_load(
    satchel_store *store, satchel_bytes location, satchel_bytes section,
    const satchel_read_options *options, satchel_buffer *out);

/**
 * What has to be fetched for a location: {section: {"fresh", "expired",
 * "missing": [entity ids]}, …}. Reads no content.
 *
 * Ownership  the caller owns *out.
 */
SATCHEL_API satchel_status satchel_catalogue_plan(
    satchel_store *store, satchel_bytes location, satchel_buffer *out);

/** "exact" when the location has content of its own, "inherited" when another
 *  place's content covers it, none otherwise. Ownership: the caller owns *out. */
SATCHEL_API satchel_status satchel_catalogue_has_cached(
    satchel_store *store, satchel_bytes location, satchel_buffer *out);

/**
 * The variant of an entity that covers a location, the most specific first.
 *
 * @param[out] out  {"entity_id", "content", "scope", "display_name",
 *                  "expires_at", "updated_at"}; none when there is none
 *
 * Ownership  the caller owns *out.
 */
SATCHEL_API satchel_status satchel_catalogue_entity(
    satchel_store *store, satchel_bytes entity_id, satchel_bytes location, satchel_buffer *out);

/** Remembers where the person is, across restarts; an empty location forgets
 *  it. The active location's content is the last that a byte budget takes. */
SATCHEL_API satchel_status satchel_catalogue_set_active_location(
    satchel_store *store, satchel_bytes location);

/** The active location as it was set; none when there is none. Ownership: the
 *  caller owns *out. */
SATCHEL_API satchel_status satchel_catalogue_active_location(
    satchel_store *store, satchel_buffer *out);

/** What to remove; start from SATCHEL_PRUNE_OPTIONS_INIT, which removes what
 *  has expired. section, scope and location narrow what `expired` and
 *  `unreferenced` take. When both of these are false, everything that the
 *  narrowing names goes: sections with what only they refer to, or, with a
 *  scope, the content of their entities of that scope. */
typedef struct satchel_prune_options {
    size_t size;
    /** Content of entities that have expired. */
    bool expired;
    /** Entities that no section refers to any more. */
    bool unreferenced;
    /** Only what this section refers to; empty for any. */
    satchel_bytes section;
    /** Only entities of this scope; empty for any. */
    satchel_bytes scope;
    /** Only what this location's own context refers to; empty for any. */
    satchel_bytes location;
    /** Contexts that were neither written nor read for this long, with the
     *  entities that only they refer to; negative for none. The active
     *  location's context stays. */
    int64_t contexts_unused_for_ms;
    /** Then, while the whole store holds more bytes than this: what expired,
     *  what nothing refers to, then whole contexts, the least recently used
     *  first; negative for no budget. */
    int64_t max_bytes;
} satchel_prune_options;

#define SATCHEL_PRUNE_OPTIONS_INIT \
    { sizeof(satchel_prune_options), true, false, { NULL, 0 }, { NULL, 0 }, { NULL, 0 }, -1, -1 }

/**
 * Removes content, and gives its space back to the file system. An entity that
 * a section still refers to is named as missing afterwards, and is whole again
 * when it is delivered again.
 *
 * @param options   may be NULL
 * @param[out] out  {"entities", "contexts", "bytes" (of content),
 *                  "file_bytes" (by which the file shrank)}; may be NULL
 *
 * Ownership  the caller owns *out.
 */
SATCHEL_API satchel_status satchel_catalogue_prune(
    satchel_store *store, const satchel_prune_options *options, satchel_buffer *out);

/* ------------------------------------------------------------------------
 * A session: what one screen shows
 *
 * Section states go placeholder → loading → loaded | failed. A session tells
 * its host what changed and what to fetch; it draws nothing. Once its store is
 * closed, calls that need the store are SATCHEL_ECLOSED; what is on the screen
 * can still be asked for.
 * --------------------------------------------------------------------- */

/** A screen's session over a store. */
typedef struct satchel_session satchel_session;

/** Hears an event of a session, JSON: {"event": "sections" | "section" |
 *  "refresh", …}, see Documentation/catalogue.md. Called on the thread that
 *  caused it, or on a thread of the library when content was loaded lazily;
 *  never twice at once for one session. */
typedef void (*satchel_session_callback)(void *context, satchel_bytes event);

/**
 * Begins a session.
 *
 * @param callback  may be NULL
 * @param context   handed to `callback`
 * @param release   called exactly once with `context`, also on failure; may be
 *                  NULL
 *
 * Ownership  the caller frees it: satchel_session_free().
 */
SATCHEL_API satchel_status satchel_session_new(
    satchel_store *store, satchel_session_callback callback, void *context,
    void (*release)(void *context), satchel_session **out);

/** Shows a location: its headers at once from the store, as placeholders; then
 *  the event "refresh" tells the host what to fetch. Remembers the location as
 *  the active one. */
SATCHEL_API satchel_status satchel_session_show(satchel_session *session, satchel_bytes location);

/** Persists a section for the session's location and shows it. Ownership: the
 *  caller owns *out, the receipt, which may be NULL. */
SATCHEL_API satchel_status satchel_session_handle(
    satchel_session *session, satchel_bytes section, satchel_buffer *out);

/** Asks for a section's content. Returns at once; the event "section" follows
 *  on a thread of the library. */
SATCHEL_API satchel_status satchel_session_load(satchel_session *session, satchel_bytes section);

/** Says that fetching a section failed, and why. */
SATCHEL_API satchel_status satchel_session_fail(
    satchel_session *session, satchel_bytes section, satchel_bytes reason);

/** Puts sections into an order: a JSON array of names; those not named follow
 *  in the order they were delivered. */
SATCHEL_API satchel_status satchel_session_set_order(satchel_session *session, satchel_bytes names);

/** What the screen shows: {"location", "level", "sections": [{"section",
 *  "state", "display_title", "config", "entity_count", "content", "expired",
 *  "missing", "reason"}]}. Ownership: the caller owns *out. */
SATCHEL_API satchel_status satchel_session_state(satchel_session *session, satchel_buffer *out);

/** Ends a session; NULL and a second time are fine. Waits for a callback under
 *  way on another thread. */
SATCHEL_API void satchel_session_free(satchel_session *session);

/* ------------------------------------------------------------------------
 * Stories: reading, checking, drawing
 *
 * These take the text of one story and need no store. A story is JSON as
 * Documentation/stories.md describes it, or Twee 3. They read the text once;
 * time and memory grow with its segments and choices. Threads: safe anywhere.
 * --------------------------------------------------------------------- */

/** What a story is written in. */
typedef enum satchel_story_source {
    /** JSON when the text begins with a brace or bracket, or no line of it
     *  begins with the "::" of a passage; else Twee. */
    SATCHEL_STORY_AUTOMATIC = 0,
    SATCHEL_STORY_JSON = 1,
    SATCHEL_STORY_TWEE = 2
} satchel_story_source;

/** The form of a report. */
typedef enum satchel_report_form {
    /** {"ok", "findings": [{"code", "severity": "error" | "warning",
     *  "pointer", "line", "column", "message", "suggestion"}], "errors",
     *  "warnings", "omitted", "statistics"}. Beyond a million findings the rest
     *  is counted, and omitted. */
    SATCHEL_REPORT_JSON = 0,
    /** SARIF 2.1.0, for code hosts and editors. */
    SATCHEL_REPORT_SARIF = 1,
    /** A line a finding, "name:line:column: severity: message [code]". */
    SATCHEL_REPORT_TEXT = 2
} satchel_report_form;

/** How to check a story. */
typedef struct satchel_story_check_options {
    size_t size;
    satchel_story_source source;
    satchel_report_form form;
    /** The file's name or URI, for SARIF and text; may be empty. */
    satchel_bytes name;
} satchel_story_check_options;

#define SATCHEL_STORY_CHECK_OPTIONS_INIT \
    { sizeof(satchel_story_check_options), SATCHEL_STORY_AUTOMATIC, SATCHEL_REPORT_JSON, { NULL, 0 } }

/**
 * Finds all that is wrong with a story, by the codes of
 * Documentation/stories.md, in the order of the text.
 *
 * @param options   may be NULL
 * @param[out] out  the report; also of a story that is not sound
 *
 * Returns    SATCHEL_EINVALID with line, column and cause for a text that is
 *            neither JSON, nor an object, nor Twee, or larger than 2 GiB.
 * Ownership  the caller owns *out.
 */
SATCHEL_API satchel_status satchel_story_check(
    satchel_bytes text, const satchel_story_check_options *options, satchel_buffer *out);

/**
 * What a story says of itself, and its statistics.
 *
 * @param[out] out  {"id", "title", "author", "original_source",
 *                  "cultural_origin", "synopsis", "cover_image_name",
 *                  "estimated_reading_minutes", "age_range", "tags",
 *                  "is_purchased", "statistics": {"segments", "choices",
 *                  "endings", "words", "shortest_path", "longest_path",
 *                  "shortest_minutes", "longest_minutes", "path_count"}}; null
 *                  for what the story does not say
 *
 * Ownership  the caller owns *out.
 */
SATCHEL_API satchel_status satchel_story_describe(satchel_bytes text, satchel_buffer *out);

/**
 * One segment of a story.
 *
 * @param id        empty for the first one
 * @param[out] out  {"id", "text", "is_authentic_path", "is_ending", "choices":
 *                  [{"id", "text", "next_segment_id"}]}
 *
 * Returns    SATCHEL_ENOTFOUND when the story has no such segment.
 * Ownership  the caller owns *out.
 */
SATCHEL_API satchel_status satchel_story_segment(
    satchel_bytes text, satchel_bytes id, satchel_buffer *out);

/**
 * How many different ways lead from a story's start to an ending.
 *
 * @param[out] count   -1 when a cycle can be walked on the way to an ending;
 *                     INT64_MAX for more than fit; may be NULL
 * @param[out] digits  the exact number in decimal digits, or "unbounded"; its
 *                     time grows with the digits; may be NULL
 *
 * Ownership  the caller owns *digits.
 */
SATCHEL_API satchel_status satchel_story_path_count(
    satchel_bytes text, int64_t *count, satchel_buffer *digits);

/** A language that draws graphs. */
typedef enum satchel_graph_form {
    /** Graphviz. */
    SATCHEL_GRAPH_DOT = 0,
    SATCHEL_GRAPH_MERMAID = 1
} satchel_graph_form;

/** Draws a story's graph, with start, endings, authentic path and findings
 *  marked. Ownership: the caller owns *out. */
SATCHEL_API satchel_status satchel_story_graph(
    satchel_bytes text, satchel_graph_form form, satchel_buffer *out);

/**
 * Compares two versions of a story, for the sake of those who are reading it.
 *
 * @param[out] out  {"same", "broken": [{"segment", "reason": "removed" |
 *                  "unreachable" | "trap", "suggestion"}], "start": null |
 *                  {"from", "to"}, "moved": [{"segment", "choice", "from",
 *                  "to"}], "added_segments", "removed_segments",
 *                  "added_choices", "removed_choices", "changed_texts",
 *                  "changed_fields"}
 *
 * Ownership  the caller owns *out.
 */
SATCHEL_API satchel_status satchel_story_diff(
    satchel_bytes old_text, satchel_bytes new_text, satchel_buffer *out);

/**
 * Turns Twee 3 into a story.
 *
 * @param id        of the new story; empty to make one from its title
 * @param[out] out  the story's JSON
 *
 * Ownership  the caller owns *out.
 */
SATCHEL_API satchel_status satchel_story_from_twee(
    satchel_bytes text, satchel_bytes id, satchel_buffer *out);

/* ------------------------------------------------------------------------
 * Stories: a library of a directory
 *
 * Every *.json, *.twee and *.tw file directly in a directory is a story. An
 * index in the store makes opening again cheap: files whose size and time are
 * the same are not read. Ids are names, never paths: one with "/", "\\", a
 * control character, a leading "." or more than 200 bytes is SATCHEL_EINVALID,
 * and links that lead out of the directory are not followed.
 * --------------------------------------------------------------------- */

/** The stories of one directory, over a store. */
typedef struct satchel_stories satchel_stories;

/**
 * Opens the library of a directory. Reads no story yet.
 *
 * Returns    SATCHEL_ENOTFOUND when there is no such directory.
 * Ownership  the caller frees it: satchel_stories_free(). Closing the store
 *            first is fine; calls are SATCHEL_ECLOSED then.
 * Threads    safe beside any other call.
 */
SATCHEL_API satchel_status satchel_stories_open(
    satchel_store *store, satchel_bytes directory, satchel_stories **out);

/**
 * Notices files that came, changed or went, by size and time, then by their
 * hash.
 *
 * @param[out] out  {"added", "changed", "removed", "unchanged", "read"
 *                  (opened and hashed), "parsed" (numbers), "problems"}; may be
 *                  NULL
 *
 * Ownership  the caller owns *out.
 */
SATCHEL_API satchel_status satchel_stories_refresh(satchel_stories *stories, satchel_buffer *out);

/**
 * Refreshes, and lists all stories.
 *
 * @param checked   leaves out stories that have errors, and names those among
 *                  the problems
 * @param[out] out  {"stories": [{"id", "file", the header and the
 *                  statistics as of satchel_story_describe(), "errors",
 *                  "warnings", "is_purchased" (by the store, else by the
 *                  file)}], "problems": [{"file", "code", "message",
 *                  "line", "column", "story", "findings"}]}
 *
 * Ownership  the caller owns *out.
 */
SATCHEL_API satchel_status satchel_stories_load_all(
    satchel_stories *stories, bool checked, satchel_buffer *out);

/**
 * The stories that fit a query, from the index; refreshes first when this handle
 * never did.
 *
 * @param query     {"search", "tag" or "tags", "age_range", "age", "culture",
 *                  "purchased", "sort": "title" | "reading_time" |
 *                  "path_count", "descending", "limit", "offset"}; all may be
 *                  left out. Each word of "search" must begin a word of title
 *                  or synopsis; case and diacritics do not count.
 * @param[out] out  an array as "stories" of satchel_stories_load_all()
 *
 * Ownership  the caller owns *out.
 */
SATCHEL_API satchel_status satchel_stories_select(
    satchel_stories *stories, satchel_bytes query, satchel_buffer *out);

/** {"tags", "cultures", "age_ranges"}: what there is to filter by, sorted.
 *  Ownership: the caller owns *out. */
SATCHEL_API satchel_status satchel_stories_facets(satchel_stories *stories, satchel_buffer *out);

/**
 * A story's text: from memory, else from disk.
 *
 * @param checked   fails with all findings when the story has errors
 * @param[out] out  the bytes of its file
 *
 * Returns    SATCHEL_EINVALID for an id that is no name, a text that cannot be
 *            read (line and column), or a story that is not sound;
 *            SATCHEL_ENOTFOUND; SATCHEL_EIO.
 * Ownership  the caller owns *out.
 */
SATCHEL_API satchel_status satchel_stories_story(
    satchel_stories *stories, satchel_bytes id, bool checked, satchel_buffer *out);

/** One segment of a story of the library, as satchel_story_segment(); reads the
 *  story at most once. Ownership: the caller owns *out. */
SATCHEL_API satchel_status satchel_stories_segment(
    satchel_stories *stories, satchel_bytes id, satchel_bytes segment, satchel_buffer *out);

/** Notes in the store that the reader bought a story, or gave it back. */
SATCHEL_API satchel_status satchel_stories_mark_purchased(
    satchel_stories *stories, satchel_bytes id, bool purchased);

/** Refreshes on a thread of the library and returns at once. Observers of the
 *  store hear of what changed, by ids, under the subject "stories". */
SATCHEL_API satchel_status satchel_stories_preload(satchel_stories *stories);

/** Forgets the stories held in memory; the index stays. */
SATCHEL_API satchel_status satchel_stories_clear_cache(satchel_stories *stories);

/** Frees a library; NULL and a second time are fine. Waits for its preload. */
SATCHEL_API void satchel_stories_free(satchel_stories *stories);

#ifdef __cplusplus
}
#endif

#endif /* SATCHEL_H */
