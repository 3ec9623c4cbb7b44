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

/** Gives the time in Unix milliseconds. Called on any thread, in the middle of
 *  calls: what it calls on a store is SATCHEL_EBUSY. */
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
 * still have to be freed, in any order. What its catalogues of photos had claimed
 * for backups is queued again. Waits for calls under way on other threads, and
 * undoes a batch that has not ended.
 *
 * @param store  NULL is fine
 *
 * Returns    SATCHEL_OK; SATCHEL_ECLOSED when it was closed before; another
 *            status when the last write failed, and SATCHEL_EBUSY when a batch
 *            of another thread was undone: the store is closed all the same, and
 *            everything acknowledged before is in the file.
 *            SATCHEL_EBUSY, too, in a callback that work for this store calls
 *            (an observer, a session's, a migration, a progress callback, a
 *            function of a remote, a release function), which the message
 *            names, and in any clock: the store stays open then. Close it when
 *            the callback has returned.
 */
SATCHEL_API satchel_status satchel_store_close(satchel_store *store);

/**
 * Facts about a store: {"path", "read_only", "schema_version", "file_bytes",
 * "sqlite_version", "sqlite_wal_reset_bug": whether that version of SQLite may
 * lose commits of several connections (https://sqlite.org/wal.html#walresetbug;
 * Satchel prevents it on any version), "set_aside": path or null}.
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
 * about 0.2 s. A callback may call the library, and free its own observer; to
 * close the store in it is SATCHEL_EBUSY.
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
 *            described, an unknown action or operation, and a section that with
 *            what its entities hold, stored ones included, would have more than
 *            512 levels, 100,000 entities (each counted as often as it appears)
 *            or 256 MB when it is loaded; SATCHEL_EBUSY, SATCHEL_EFULL,
 *            SATCHEL_EREADONLY, SATCHEL_EIO. Nothing is
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
 * Returns    SATCHEL_EINVALID when later deliveries made entities that it shows
 *            hold more than satchel_catalogue_persist() takes.
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

/* ------------------------------------------------------------------------
 * Object stores: where the master copies are
 *
 * A remote says how an object store is reached: a directory, S3 over HTTPS, or
 * functions of the host. Making one does not touch the network. One remote may
 * serve any number of catalogues and threads.
 * --------------------------------------------------------------------- */

/** An object store, as this side sees it. */
typedef struct satchel_remote satchel_remote;

/**
 * A directory as object store: for tests, for one machine, and for disks that
 * several machines mount and that honour flock().
 *
 * @param path  made when its parent exists
 *
 * Returns    SATCHEL_EINVALID, SATCHEL_ENOTFOUND without a parent,
 *            SATCHEL_EREADONLY when it must not be used, SATCHEL_EIO.
 * Ownership  the caller frees it: satchel_remote_free().
 */
SATCHEL_API satchel_status satchel_remote_directory(satchel_bytes path, satchel_remote **out);

/**
 * A bucket of an S3-compatible store.
 *
 * @param options  {"bucket", "endpoint" ("https://s3.example.org"; AWS when left
 *                 out), "region", "access_key", "secret_key", "session_token",
 *                 "prefix", "path_style" (boolean; true unless the endpoint is
 *                 that of AWS), "ca_file", "timeouts": {"connect", "stall",
 *                 "total"} (ms)}; what is left out comes from AWS_ACCESS_KEY_ID,
 *                 AWS_SECRET_ACCESS_KEY, AWS_SESSION_TOKEN, AWS_REGION,
 *                 AWS_DEFAULT_REGION, AWS_ENDPOINT_URL_S3 and AWS_ENDPOINT_URL.
 *                 Unknown keys are SATCHEL_EINVALID.
 *
 * Certificates are verified. Over http:// secrets are not sent, but contents
 * can be read and changed on the way: for tests and closed networks only.
 * Credentials are in no message.
 *
 * Returns    SATCHEL_EINVALID, which names the option.
 * Ownership  the caller frees it: satchel_remote_free().
 */
SATCHEL_API satchel_status satchel_remote_s3(satchel_bytes options, satchel_remote **out);

/** What became of a request to an object store that the host supplies. */
typedef enum satchel_remote_result {
    SATCHEL_REMOTE_OK = 0,
    /** The object is still the one of if_none_match. */
    SATCHEL_REMOTE_NOT_MODIFIED = 1,
    SATCHEL_REMOTE_NOT_FOUND = 2,
    /** Somebody else was there first; nothing was changed. */
    SATCHEL_REMOTE_PRECONDITION_FAILED = 3,
    /** A write may have taken effect or not: it is read back. */
    SATCHEL_REMOTE_UNKNOWN = 4,
    /** Nothing was changed, and trying again may help. */
    SATCHEL_REMOTE_TRANSIENT = 5,
    /** Trying again does not help. */
    SATCHEL_REMOTE_DENIED = 6,
    SATCHEL_REMOTE_FAILED = 7
} satchel_remote_result;

/** Takes the host's answer; valid until the function that got it returns. What is
 *  set later, or through anything else, goes nowhere. */
typedef struct satchel_remote_answer satchel_remote_answer;

/** Sets the body of the object, or the JSON of a listing. Copied. */
SATCHEL_API void satchel_remote_answer_body(satchel_remote_answer *answer, satchel_bytes body);

/** Sets the tag of the object: it differs whenever the content does. Copied. */
SATCHEL_API void satchel_remote_answer_etag(satchel_remote_answer *answer, satchel_bytes etag);

/** Sets the metadata that came with put, as it was given. Copied. */
SATCHEL_API void satchel_remote_answer_metadata(satchel_remote_answer *answer, satchel_bytes metadata);

/** Sets the size of the object, for head. */
SATCHEL_API void satchel_remote_answer_size(satchel_remote_answer *answer, int64_t size);

/** Says why, when the result is no success; keep credentials out of it. Copied. */
SATCHEL_API void satchel_remote_answer_message(satchel_remote_answer *answer, satchel_bytes message);

/**
 * An object store of the host's own. Called from any thread, several at once.
 *
 * Conditional writes must be atomic: of many at once with one condition, exactly
 * one takes effect. Reads see every write that returned before.
 */
typedef struct satchel_remote_operations {
    size_t size;
    /** Reads an object: sets body, etag and metadata. if_none_match is empty, or
     *  a tag: SATCHEL_REMOTE_NOT_MODIFIED when the object still has it. */
    satchel_remote_result (*get)(void *context, satchel_bytes key, satchel_bytes if_none_match,
                                 satchel_remote_answer *answer);
    /** Writes an object as a whole: sets etag. if_match is empty, or the tag that
     *  the object must have; if_absent: there must be none. metadata is a JSON
     *  object of texts to keep with the object. */
    satchel_remote_result (*put)(void *context, satchel_bytes key, satchel_bytes body,
                                 satchel_bytes if_match, bool if_absent, satchel_bytes metadata,
                                 satchel_remote_answer *answer);
    /** Sets size, etag and metadata. */
    satchel_remote_result (*head)(void *context, satchel_bytes key, satchel_remote_answer *answer);
    /** Removes an object; if_match as in put. That there is none is no failure
     *  when if_match is empty. */
    satchel_remote_result (*remove)(void *context, satchel_bytes key, satchel_bytes if_match,
                                    satchel_remote_answer *answer);
    /** Lists keys that begin with prefix and come behind `after` (empty, or the last
     *  key of the page before), in the order of their bytes: sets the body to
     *  {"entries": [{"key", "size", "etag" (may be left out)}], "has_more"}. */
    satchel_remote_result (*list)(void *context, satchel_bytes prefix, satchel_bytes after, int32_t limit,
                                  satchel_remote_answer *answer);
} satchel_remote_operations;

#define SATCHEL_REMOTE_OPERATIONS_INIT \
    { sizeof(satchel_remote_operations), NULL, NULL, NULL, NULL, NULL }

/**
 * An object store that the host supplies.
 *
 * @param operations  copied; all functions must be there
 * @param context     handed to them
 * @param release     called exactly once with `context`, when nothing uses it any
 *                    more, also on failure; may be NULL
 *
 * Ownership  the caller frees it: satchel_remote_free().
 */
SATCHEL_API satchel_status satchel_remote_callbacks(
    const satchel_remote_operations *operations, void *context, void (*release)(void *context),
    satchel_remote **out);

/**
 * Finds out whether a store honours conditions on writes, with an object of its
 * own below `prefix` that is removed again.
 *
 * @param[out] out  {"honoured": boolean, "reason": text or null}
 *
 * Probing in sequence cannot find a store whose conditions are not atomic: the
 * guide lists which are known to be good.
 *
 * Ownership  the caller owns *out.
 */
SATCHEL_API satchel_status satchel_remote_probe(
    satchel_remote *remote, satchel_bytes prefix, satchel_buffer *out);

/** Frees a remote; NULL and a second time are fine. Synchronisations under way
 *  keep what they need of it. */
SATCHEL_API void satchel_remote_free(satchel_remote *remote);

/* ------------------------------------------------------------------------
 * Photos
 *
 * The catalogue of one directory: a row a photo, named by the MD5 of its bytes,
 * in sixteen shards by the first digit. The master copy is in an object store.
 * Format and rules: Documentation/photos.md.
 *
 * A photo is {"md5" (32 hexadecimal digits), "filename", "size" (bytes),
 * "photodate", "modified" (Unix seconds), "width", "height" (pixels or null),
 * "apple_photo_id" (text or null)}. What is known of it here only goes with it:
 * {"starred", "local_only", "backup_status": "not_backed_up" | "queued" |
 * "uploading" | "uploaded" | "error", "last_attempt" (Unix ms), "attempts",
 * "error", "camera_make", "camera_model", "orientation" (1-8), "latitude",
 * "longitude" (degrees), "aperture" (f-number), "shutter_speed" (seconds),
 * "iso", "focal_length" (mm), "thumbnail_cached_at", "preview_cached_at" (Unix
 * ms)}; it is never uploaded, and no import touches it.
 *
 * Observers of the store hear of changes under the subject "photos", with the
 * directory as place and MD5s as keys; when much has changed, "shard:0" to
 * "shard:f" as keys.
 * --------------------------------------------------------------------- */

/** The photo catalogue of one directory, in a store. */
typedef struct satchel_photos satchel_photos;

/**
 * Opens the catalogue of a directory, making it when there is none.
 *
 * @param directory  where the photos are; need not exist
 *
 * Returns    SATCHEL_ENOTFOUND when the store is read-only and has none.
 * Ownership  the caller frees it: satchel_photos_free(). Closing the store first
 *            is fine; calls are SATCHEL_ECLOSED then.
 * Threads    safe beside any other call.
 */
SATCHEL_API satchel_status satchel_photos_open(
    satchel_store *store, satchel_bytes directory, satchel_photos **out);

/**
 * Adds photos, or replaces their rows, in one transaction.
 *
 * @param rows     JSON array of photos, or one photo. Keys that only this side
 *                 knows ("starred", "camera_make", …) are taken as by
 *                 satchel_photos_set_local(); unknown keys are SATCHEL_EINVALID.
 * @param[out] changed  rows that differ from what was there; may be NULL
 *
 * Of several rows with one MD5 the last counts.
 */
SATCHEL_API satchel_status satchel_photos_upsert(
    satchel_photos *photos, satchel_bytes rows, int64_t *changed);

/** One photo with all that is known of it. Returns: SATCHEL_ENOTFOUND. Ownership:
 *  the caller owns *out. */
SATCHEL_API satchel_status satchel_photos_get(
    satchel_photos *photos, satchel_bytes md5, satchel_buffer *out);

/** Deletes photos from the catalogue, in one transaction; files are not touched.
 *  @param md5s  JSON array of MD5s
 *  @param[out] deleted  how many there were; may be NULL */
SATCHEL_API satchel_status satchel_photos_delete(
    satchel_photos *photos, satchel_bytes md5s, int64_t *deleted);

/**
 * The photos that fit a query, a page at a time.
 *
 * @param query     {"from", "to" (photodate, Unix seconds, both included),
 *                  "filename" (with * and ? as wildcards), "starred",
 *                  "backup_status", "shard" (0-15), "order": "md5" |
 *                  "photodate" | "filename", "descending", "limit" (1 to
 *                  100,000; 1,000 when left out), "after" (what "next" was)}; all
 *                  may be left out
 * @param[out] out  {"photos": […], "next": text or null}
 *
 * Ownership  the caller owns *out.
 */
SATCHEL_API satchel_status satchel_photos_query(
    satchel_photos *photos, satchel_bytes query, satchel_buffer *out);

/** How many photos fit a query; an empty one counts all, at once. */
SATCHEL_API satchel_status satchel_photos_count(
    satchel_photos *photos, satchel_bytes query, int64_t *count);

/** The state of the catalogue: {"directory", "uuid", "created", "modified" (Unix
 *  ms), "last_sync", "user", "master_uuid" (all null until there is one),
 *  "photos", "changes", "conflicts", "backup": {a number for each status but
 *  not_backed_up}, "shards": [{"shard", "photos", "changes", "kept" (lines that
 *  are no photos), "pending" (something is to be sent)}]}. Ownership: the caller
 *  owns *out. */
SATCHEL_API satchel_status satchel_photos_status(satchel_photos *photos, satchel_buffer *out);

/** Shards with photos that were added, changed or deleted here since the last
 *  synchronisation: bit n stands for shard n. A file that was imported counts as no
 *  change, though the next synchronisation sends it: see "pending" of the status. */
SATCHEL_API satchel_status satchel_photos_modified_shards(satchel_photos *photos, uint32_t *bits);

/**
 * What changed here since the last synchronisation, row by row, in the order of
 * MD5s.
 *
 * @param after     empty, or what "next" was
 * @param limit     1 or more
 * @param[out] out  {"changes": [{"md5", "kind": "upsert" | "delete", "photo",
 *                  "base" (what both sides last agreed on, or null)}], "next":
 *                  text or null}
 *
 * Ownership  the caller owns *out.
 */
SATCHEL_API satchel_status satchel_photos_changes(
    satchel_photos *photos, satchel_bytes after, int32_t limit, satchel_buffer *out);

/** Which side wins where both changed. */
typedef enum satchel_sync_policy {
    /** What came from elsewhere; each local change that loses goes to the
     *  conflicts, from where it can be applied again. */
    SATCHEL_SYNC_REMOTE_WINS = 0,
    /** What came from elsewhere, then the local changes on top. */
    SATCHEL_SYNC_MERGE_ROWS = 1
} satchel_sync_policy;

/** A shard's file, byte for byte as every platform writes it. Ownership: the
 *  caller owns *out. */
SATCHEL_API satchel_status satchel_photos_export_shard(
    satchel_photos *photos, int32_t shard, satchel_buffer *out);

/**
 * Replaces a shard by a file, in one transaction. Lines that are no photos of it
 * are reported, kept, and written back by every export.
 *
 * @param[out] out  {"photos", "rejected": [{"line", "fault", "reason", "raw"}],
 *                  "conflicts"}; may be NULL. "fault" is a code for the reason, such
 *                  as "columns"
 *
 * Ownership  the caller owns *out.
 */
SATCHEL_API satchel_status satchel_photos_import_shard(
    satchel_photos *photos, int32_t shard, satchel_bytes file, satchel_sync_policy policy,
    satchel_buffer *out);

/** Writes 0.csv to f.csv and manifest.json into a directory, which is made when
 *  its parent exists; files that are the same already are not touched. Each file is
 *  whole at any time, and synced before it takes its place; until then it is called
 *  as that, with ".part" behind it.
 *  @param[out] out  {"photos", "written", "unchanged" (names of files)}; may be
 *  NULL. Ownership: the caller owns *out. */
SATCHEL_API satchel_status satchel_photos_export_directory(
    satchel_photos *photos, satchel_bytes path, satchel_buffer *out);

/** Imports 0.csv to f.csv of a directory, each shard in one transaction. Shards
 *  without a file, and those whose file cannot be read, are left as they are; so are
 *  those whose file is not the one that a manifest.json beside them names: see
 *  "failed". All are on the disk when it returns; a loss of power before may undo the
 *  latest.
 *  @param[out] out  {"photos", "conflicts", "changed", "missing" (shard numbers),
 *  "has_manifest" (without one nothing shows whether the files are complete),
 *  "rejected": [{"shard", "line", "fault", "reason", "raw"}], "failed": [{"shard",
 *  "code" (a satchel_status), "message"}]}; may be NULL. Returns: SATCHEL_ENOTFOUND
 *  when there is no such file at all, SATCHEL_EINVALID for a manifest.json that cannot
 *  be read. Ownership: the caller owns *out. */
SATCHEL_API satchel_status satchel_photos_import_directory(
    satchel_photos *photos, satchel_bytes path, satchel_sync_policy policy, satchel_buffer *out);

/** Sets what is known of a photo here only. @param columns  JSON object; null
 *  forgets. Returns: SATCHEL_ENOTFOUND without such a photo, SATCHEL_EINVALID for
 *  other columns and for "backup_status", which has steps of its own. */
SATCHEL_API satchel_status satchel_photos_set_local(
    satchel_photos *photos, satchel_bytes md5, satchel_bytes columns);

/** Stars a photo, or takes its star. Starring one that only this side has queues
 *  its backup. */
SATCHEL_API satchel_status satchel_photos_star(
    satchel_photos *photos, satchel_bytes md5, bool starred);

/** Queues a photo's backup: from not_backed_up or error. Other steps are
 *  SATCHEL_EINVALID and name both states, here and below. */
SATCHEL_API satchel_status satchel_photos_backup_queue(satchel_photos *photos, satchel_bytes md5);

/** Claims the photo that was queued first, for this process: it is uploading
 *  then. Of many that claim at once each gets another one. What a process that
 *  died had claimed is queued again. @param[out] out  the photo; null when none is
 *  queued. Ownership: the caller owns *out. */
SATCHEL_API satchel_status satchel_photos_backup_claim(satchel_photos *photos, satchel_buffer *out);

/** A claimed photo is uploaded. */
SATCHEL_API satchel_status satchel_photos_backup_done(satchel_photos *photos, satchel_bytes md5);

/** Uploading a claimed photo failed, and why. */
SATCHEL_API satchel_status satchel_photos_backup_failed(
    satchel_photos *photos, satchel_bytes md5, satchel_bytes error);

/** Hears how far long work has come, and says whether to go on. `progress` is
 *  JSON; see the call. Called by the thread that made the call, or by one of the
 *  library; never twice at once; and again, with the same, while work waits, so
 *  that it can be ended. */
typedef bool (*satchel_progress_callback)(void *context, satchel_bytes progress);

/** How to scan a directory. */
typedef struct satchel_scan_options {
    size_t size;
    /** Deletes the rows of photos whose files are gone; the next synchronisation
     *  deletes them from the master. Never where a directory could not be read. */
    bool removes_missing;
    /** Reads files again that look unchanged. */
    bool reads_everything;
    /** Minutes east of UTC, for dates whose camera did not say. */
    int32_t time_zone_offset;
    /** Files that are read at once, 1 to 16; 0 means 2. */
    int32_t parallel;
    /** May be NULL. {"phase": "walking" | "reading", "files_found", "files_done",
     *  "files_total", "bytes_done", "bytes_total"}; totals are null while walking. */
    satchel_progress_callback progress;
    void *context;
} satchel_scan_options;

#define SATCHEL_SCAN_OPTIONS_INIT { sizeof(satchel_scan_options), false, false, 0, 0, NULL, NULL }

/**
 * Finds the photos below the catalogue's directory. Files that have the size and
 * time that were seen before are not read.
 *
 * @param options   may be NULL
 * @param[out] out  {"added", "changed", "unchanged", "duplicates", "missing",
 *                  "removed", "bytes_read", "skipped_count", "remarks_count"
 *                  (numbers), "duplicate_files": [{"path", "first", "md5"}],
 *                  "missing_files": [path], "skipped" (not taken) and "remarks"
 *                  (taken, but not all is known of them): [{"path", "reason"}],
 *                  "missing_libraries": [text], "cancelled"}; lists end at 1,000;
 *                  may be NULL
 *
 * Links are not followed; they and what cannot be read are reported. When
 * cancelled, what was found stays, and the next scan goes on from there.
 *
 * Returns    SATCHEL_ENOTFOUND when there is no such directory.
 * Ownership  the caller owns *out.
 */
SATCHEL_API satchel_status satchel_photos_scan(
    satchel_photos *photos, const satchel_scan_options *options, satchel_buffer *out);

/** How to synchronise. */
typedef struct satchel_sync_options {
    size_t size;
    satchel_sync_policy policy;
    /** Tells what would move, and writes nothing on either side. */
    bool dry_run;
    /** Takes the risk of a store that ignores conditions: two devices at once may
     *  overwrite each other there. */
    bool accepts_unconditional;
    /** Shards that move at once, 1 to 16; 0 means 4. */
    int32_t parallel;
    /** May be NULL. {"phase": "plan" | "shards" | "manifest", "shards_done",
     *  "shards_total", "bytes_up", "bytes_down"} */
    satchel_progress_callback progress;
    void *context;
} satchel_sync_options;

#define SATCHEL_SYNC_OPTIONS_INIT \
    { sizeof(satchel_sync_options), SATCHEL_SYNC_REMOTE_WINS, false, false, 0, NULL, NULL }

/**
 * Brings the catalogue and its master copy into agreement. Blocks; one at a time
 * for each catalogue, while everything else goes on.
 *
 * @param user      whose catalogue: [A-Za-z0-9._-]{1,128}, not only dots
 * @param options   may be NULL
 * @param[out] out  {"downloaded", "uploaded", "conflicts" (changed on both sides;
 *                  also under what then happened to them), "repaired" (the manifest
 *                  did not tell what they are, or the object was damaged; shard
 *                  numbers), "conflict_rows", "removed" (photos that were here, and
 *                  that the master's shards do not have), "requests", "bytes_up",
 *                  "bytes_down" (numbers), "failed": [{"shard", "code" (a
 *                  satchel_status), "message"}], "rejected": [{"shard", "line",
 *                  "fault", "reason", "raw"}], "unchanged", "dry_run"}; may be NULL
 *
 * A shard that fails stays pending and does not stop the others: see "failed".
 * Rejected lines are no photos. The master's are kept; those of a file that was
 * imported here, and that the master's shard replaced before they were sent, have
 * the fault "replaced", and photos that only a damaged object had, which was
 * replaced, the fault "discarded": these are only in this report.
 * The progress function must not synchronise the same catalogue.
 *
 * Returns    SATCHEL_EINVALID for a user that is none, and for a store that
 *            ignores conditions; SATCHEL_EFOREIGN when the master is another
 *            catalogue than the one agreed with; SATCHEL_ECANCELLED;
 *            SATCHEL_EBUSY when the store does not answer.
 * Ownership  the caller owns *out.
 */
SATCHEL_API satchel_status satchel_photos_sync(
    satchel_photos *photos, satchel_remote *remote, satchel_bytes user,
    const satchel_sync_options *options, satchel_buffer *out);

/** How to verify. */
typedef struct satchel_verify_options {
    size_t size;
    /** Replaces damaged objects by the bytes last synced, applies objects that are
     *  newer than the manifest, and puts the manifest right. */
    bool repair;
    /** Only with repair: takes the risk of a store that ignores conditions. */
    bool accepts_unconditional;
    /** Shards that are read at once, 1 to 16; 0 means 4. */
    int32_t parallel;
    /** May be NULL; as that of satchel_sync_options. */
    satchel_progress_callback progress;
    void *context;
} satchel_verify_options;

#define SATCHEL_VERIFY_OPTIONS_INIT { sizeof(satchel_verify_options), false, false, 0, NULL, NULL }

/**
 * Reads every shard in the remote and compares it with the manifest.
 *
 * @param user      whose catalogue, as for satchel_photos_sync()
 * @param options   may be NULL
 * @param[out] out  {"ok" (sound by now), "manifest": "ok" | "missing" |
 *                  "unreadable", "manifest_repaired", "shards": [{"shard", "state":
 *                  "ok" | "missing" | "empty" | "cut" | "corrupt" | "outdated" (an
 *                  earlier version than the one last synced) | "newer" (whole, and
 *                  not yet in the manifest) | "unproven" (neither in the manifest,
 *                  nor known to be whole) | "unreadable", "repaired", "message" (why
 *                  it was not read or repaired, or null)}], "removed" (photos that the
 *                  repair removed here), "requests", "bytes_up", "bytes_down"}; may
 *                  be NULL
 *
 * Without repair nothing is written on either side. A device repairs what it has the
 * bytes for; the rest is for another device. Waits for synchronisations of the same
 * catalogue, and they for it; the progress function must begin neither.
 *
 * Returns    as satchel_photos_sync(). A damaged remote is no failure: see "ok".
 * Ownership  the caller owns *out.
 */
SATCHEL_API satchel_status satchel_photos_verify(
    satchel_photos *photos, satchel_remote *remote, satchel_bytes user,
    const satchel_verify_options *options, satchel_buffer *out);

/** Forgets the agreement with a master: the next synchronisation, with this or
 *  another one, counts every photo as added here. */
SATCHEL_API satchel_status satchel_photos_unlink(satchel_photos *photos);

/** Local changes that lost, oldest first: {"conflicts": [{"id", "md5", "shard",
 *  "time" (Unix ms), "cause": "sync" | "import", "kind": "upsert" | "delete",
 *  "local", "remote", "base" (photos or null)}], "next": number or null}.
 *  @param after  0, or what "next" was  @param limit  1 or more. Ownership: the
 *  caller owns *out. */
SATCHEL_API satchel_status satchel_photos_conflicts(
    satchel_photos *photos, int64_t after, int32_t limit, satchel_buffer *out);

/** Makes a local change that lost again, and takes it from the conflicts. Returns:
 *  SATCHEL_ENOTFOUND. */
SATCHEL_API satchel_status satchel_photos_reapply(satchel_photos *photos, int64_t conflict);

/** Takes a change that lost from the conflicts, and forgets it. Returns:
 *  SATCHEL_ENOTFOUND. */
SATCHEL_API satchel_status satchel_photos_dismiss(satchel_photos *photos, int64_t conflict);

/** Frees a catalogue; NULL and a second time are fine. Its claims are queued
 *  again. */
SATCHEL_API void satchel_photos_free(satchel_photos *photos);

/* ------------------------------------------------------------------------
 * Several changes as one, backups
 * --------------------------------------------------------------------- */

/**
 * Begins a batch: what is written in it becomes visible, and durable, all at once
 * at satchel_store_commit(), or not at all. May be nested: an inner batch that is
 * rolled back undoes only itself.
 *
 * A batch belongs to the calling thread, which carries it until it ends; another
 * thread takes part by satchel_store_enter(). Each call of a thread that carries
 * the innermost open batch is part of it, reads included; calls of several such
 * threads run one at a time. Any other call is not part of it:
 *   - a write on the thread that began the innermost batch (after
 *     satchel_store_leave()) is SATCHEL_EBUSY at once, since waiting would stop
 *     the thread that has to end the batch;
 *   - a write on another thread waits for the batch to end, and is SATCHEL_EBUSY
 *     after busy_timeout;
 *   - a read sees what is committed and waits for nothing; but on a store in
 *     memory, and on a thread that carries an outer batch, it waits and fails as
 *     a write does.
 *
 * Returns    SATCHEL_EBUSY, SATCHEL_EREADONLY, SATCHEL_EIO; SATCHEL_EINVALID when
 *            the batch that the thread carries was undone.
 * Threads    a batch may end on another thread than it began on. A thread that
 *            exits leaves its batch open: end it first.
 */
SATCHEL_API satchel_status satchel_store_begin(satchel_store *store);

/** Ends the batch that the calling thread carries; the thread then carries the one
 *  around it. When it fails, everything in it is undone. Waits for another
 *  thread's call in it.
 *
 *  Returns    SATCHEL_EINVALID when the thread carries no batch, when the batch
 *             was undone with the one around it, when one inside of it is open,
 *             or when relations or unique indexes are violated at its end.
 */
SATCHEL_API satchel_status satchel_store_commit(satchel_store *store);

/** Ends the batch that the calling thread carries and undoes it, with those that
 *  are open inside of it. Waits for another thread's call in it.
 *
 *  Returns    SATCHEL_EINVALID when the thread carries no batch, or one that was
 *             undone with the one around it.
 */
SATCHEL_API satchel_status satchel_store_rollback(satchel_store *store);

/** The number of the batch that the calling thread carries; 0 when it carries
 *  none. Numbers are unique in the process.
 *
 *  Returns    SATCHEL_EINVALID when that batch was undone.
 */
SATCHEL_API satchel_status satchel_store_batch(satchel_store *store, int64_t *batch);

/**
 * Makes the calling thread carry an open batch of another thread, in place of the
 * one that it carries: for work that a batch hands to another thread.
 *
 * The thread carries it until satchel_store_leave(), or the next enter. When the
 * batch is committed meanwhile, the thread carries the one around it, if any; when
 * it is undone, each call of the thread is SATCHEL_EINVALID until it leaves, so
 * that nothing which belonged to the batch is stored without it.
 *
 * @param batch  from satchel_store_batch(), on a thread that carries it
 *
 * Returns    SATCHEL_EINVALID when no such batch is open; SATCHEL_EBUSY.
 */
SATCHEL_API satchel_status satchel_store_enter(satchel_store *store, int64_t batch);

/** The calling thread carries no batch any more. Ends none. Returns: SATCHEL_ECLOSED. */
SATCHEL_API satchel_status satchel_store_leave(satchel_store *store);

/**
 * Copies an open store into a file of its own, while others go on reading and
 * writing. The copy holds one state, is examined before it gets its name, and
 * replaces what has that name.
 *
 * @param path      the new file; NUL-terminated UTF-8
 * @param progress  may be NULL; {"pages_done", "pages_total"}
 * @param[out] out  {"path", "pages", "bytes", "milliseconds", "removed"}; may be
 *                  NULL
 *
 * Returns    SATCHEL_EINVALID for the store's own path, SATCHEL_ECANCELLED,
 *            SATCHEL_EFULL, SATCHEL_EIO; no part of a copy is left.
 * Ownership  the caller owns *out.
 */
SATCHEL_API satchel_status satchel_store_backup(
    satchel_store *store, const char *path, satchel_progress_callback progress, void *context,
    satchel_buffer *out);

/**
 * Makes a backup in a directory, named by store and time, and removes the oldest
 * of those that were made so.
 *
 * @param keep      how many stay, 1 or more
 * @param[out] out  {"path", "pages", "bytes", "milliseconds", "removed": [path]};
 *                  may be NULL
 *
 * Returns    as satchel_store_backup(); SATCHEL_ENOTFOUND without the directory.
 * Ownership  the caller owns *out.
 */
SATCHEL_API satchel_status satchel_store_backup_rotate(
    satchel_store *store, const char *directory, int32_t keep, satchel_buffer *out);

/**
 * Puts a backup in the place of a store. The backup is examined first, and stays;
 * a store that is there is renamed, never deleted. Close the store before.
 *
 * @param[out] out  {"set_aside": path or null}; may be NULL
 *
 * Returns    SATCHEL_ENOTFOUND, SATCHEL_EFOREIGN, SATCHEL_EDAMAGED for the backup;
 *            SATCHEL_EBUSY when the store is open.
 * Ownership  the caller owns *out.
 */
SATCHEL_API satchel_status satchel_restore(const char *backup, const char *path, satchel_buffer *out);

/**
 * Reads what can be read of a damaged store into a new one. The damaged file is
 * not changed. What else is missing may be in a mirror: satchel_records_mirror().
 *
 * @param path      the new store; must not exist
 * @param[out] out  {"path", "complete": boolean, "header_lost", "schema_lost"
 *                  (booleans), "tables": [{"name", "rows", "lost_rows",
 *                  "lost_pages"}], "unknown_tables": [text],
 *                  "findings": [{"code", "message"}]: what is still not as it
 *                  should be in the new store}; may be NULL
 *
 * Returns    SATCHEL_EFOREIGN when nothing of a store can be found in it.
 * Ownership  the caller owns *out.
 */
SATCHEL_API satchel_status satchel_recover(const char *damaged, const char *path, satchel_buffer *out);

/* ------------------------------------------------------------------------
 * Records: the app's own documents
 *
 * A collection holds JSON objects under ids (1 to 255 bytes of UTF-8 without
 * control characters). Each write is durable when its call returns. What an
 * unwritable file cannot take (disk full, read-only, damaged) goes to a spill
 * file beside it, "<path>.spill", and is taken in, once and in order, at the
 * next opening, flush or write; observers hear "@spilled" and "@replayed".
 *
 * A query is a JSON object; all may be left out:
 *   "where"     {path: value} and {path: {"eq", "ne", "lt", "lte", "gt", "gte",
 *               "in": […], "prefix": text, "contains": value, "exists":
 *               boolean}}: all must hold. {"any": [where, …]}, {"all": […]} and
 *               {"not": where} combine. A path is "a.b", or a JSON Pointer;
 *               "@id", "@created", "@modified", "@revision" and "@sync_status"
 *               are the record's own. Numbers compare with numbers, texts by
 *               their UTF-8 bytes; 1 equals 1.0.
 *   "order_by"  a path, "-path" for descending, or an array of them; missing
 *               first, then null, false, true, numbers, texts, arrays, objects;
 *               equal ones in the order of their arrival
 *   "limit", "offset"
 *
 * Observers hear of changes under the subject "records", with keys such as
 * "courses/c1"; when much has changed, the collection's name alone.
 * --------------------------------------------------------------------- */

/** One collection of a store. */
typedef struct satchel_records satchel_records;

/** Takes the host's answer; valid until the function that got it returns. */
typedef struct satchel_record_answer satchel_record_answer;

/** Sets the new document. Copied. */
SATCHEL_API void satchel_record_answer_document(satchel_record_answer *answer, satchel_bytes document);

/** Says why a record could not be migrated. Copied. */
SATCHEL_API void satchel_record_answer_message(satchel_record_answer *answer, satchel_bytes message);

/** Migrates one record from a version to the next, or back when `to` is smaller,
 *  which is asked for only where the step declares an inverse. `record` is {"id",
 *  "document"}. Returns whether it could. Must not call the same store. */
typedef bool (*satchel_record_migration)(void *context, int32_t from, int32_t to, satchel_bytes record,
                                         satchel_record_answer *answer);

/** How to open a collection; start from SATCHEL_RECORDS_OPTIONS_INIT. */
typedef struct satchel_records_options {
    size_t size;
    /** For steps of the declaration that are "callback"; may be NULL. Only called
     *  during satchel_records_open(). */
    satchel_record_migration migrate;
    void *context;
    /** The declaration is the whole one: indexes, relations and a schema that it
     *  does not name are dropped, those that it declares otherwise are replaced.
     *  When something was, handles that are open then fail with SATCHEL_EINVALID at
     *  their next write, until the collection is opened again; their reads go on. */
    bool redeclare;
} satchel_records_options;

#define SATCHEL_RECORDS_OPTIONS_INIT { sizeof(satchel_records_options), NULL, NULL, false }

/**
 * Opens a collection, making it when there is none, and brings its records to the
 * version that is declared: all pending steps in one transaction, after a backup
 * beside the store.
 *
 * A declaration adds indexes, relations and a schema to those that the store has,
 * and removes none, except with the option redeclare. What is added holds for every
 * handle of the collection from its next write on, in every process. A declaration
 * of another version replaces what it names; going back to an older version also
 * drops the schema of the newer one.
 *
 * @param declaration  {"name": [a-z][a-z0-9_]{0,63}, "indexes": [path | {"path",
 *                     "unique"}], "relations": {path: {"collection",
 *                     "on_delete": "restrict" (when left out) | "cascade" |
 *                     "nullify", "many": boolean}}, "schema": JSON Schema (2020-12)
 *                     or null, "version": 1 when left out, "migrations": [steps
 *                     from 1 to 2, steps from 2 to 3, …]}; all but name may be left
 *                     out. Steps: [{"rename": {"from", "to"}}, {"move": {"from",
 *                     "to"}}, {"default": {"path", "value"}}, {"remove": {"path"}},
 *                     {"convert": {"path", "to": "string" | "integer" | "number" |
 *                     "boolean" | "array", "from": the kind that newer records go
 *                     back to}}], or "callback", which has no way back, or
 *                     {"callback": {"inverse": true}}
 * @param options      may be NULL
 *
 * Returns    SATCHEL_EINVALID for a declaration that is none, for an index, a
 *            relation or a schema that the store has otherwise, for a unique index
 *            that the records violate, and for a migration that fails: the message
 *            names the record, and nothing is changed. SATCHEL_ENEWER when the
 *            records are of a newer version, and there is no way back.
 * Ownership  the caller frees it: satchel_records_free(). Closing the store first
 *            is fine; calls are SATCHEL_ECLOSED then.
 */
SATCHEL_API satchel_status satchel_records_open(
    satchel_store *store, satchel_bytes declaration, const satchel_records_options *options,
    satchel_records **out);

/** The collections of a store: [{"name", "version", "count", "indexes",
 *  "relations", "user" (synchronised as, or null)}]. Ownership: the caller owns
 *  *out. */
SATCHEL_API satchel_status satchel_store_collections(satchel_store *store, satchel_buffer *out);

/** For if_revision: whatever is there. */
#define SATCHEL_ANY_REVISION (-1)

/**
 * Writes a record, durably.
 *
 * @param document      a JSON object; kept byte for byte
 * @param if_revision   the revision that the record must have, 0 when there must
 *                      be none, or SATCHEL_ANY_REVISION
 * @param[out] revision the new revision, from 1; 0 when the document went to the
 *                      spill file; may be NULL
 *
 * Returns    SATCHEL_EINVALID for a document that violates the schema, a unique
 *            index or a relation (the message names collection, id and JSON
 *            Pointer), and for another revision; SATCHEL_EFULL and others only
 *            when the spill file could not take it either.
 */
SATCHEL_API satchel_status satchel_records_put(
    satchel_records *records, satchel_bytes id, satchel_bytes document, int64_t if_revision,
    int64_t *revision);

/** Writes many records in one transaction, all or none.
 *  @param documents  {id: document, …} or [{"id", "document"}, …]
 *  @param[out] count  how many, 0 when they went to the spill file; may be NULL.
 *  Returns: as satchel_records_put(). */
SATCHEL_API satchel_status satchel_records_put_many(
    satchel_records *records, satchel_bytes documents, int64_t *count);

/** A record's document, as it was given; none when there is no such record.
 *  Ownership: the caller owns *out. */
SATCHEL_API satchel_status satchel_records_get(
    satchel_records *records, satchel_bytes id, satchel_buffer *out);

/** A record with what is known of it: {"id", "revision", "created", "modified"
 *  (Unix ms), "sync_status": "local" | "pending" | "synced" | "conflict",
 *  "document"}; none when there is no such record. Ownership: the caller owns
 *  *out. */
SATCHEL_API satchel_status satchel_records_record(
    satchel_records *records, satchel_bytes id, satchel_buffer *out);

/** Deletes a record, and what its relations say, in one transaction.
 *  @param[out] existed  may be NULL. Returns: SATCHEL_EINVALID when a relation
 *  restricts it, naming the record that refers to it; or for another revision. */
SATCHEL_API satchel_status satchel_records_delete(
    satchel_records *records, satchel_bytes id, int64_t if_revision, bool *existed);

/** The records that fit a query: an array of what satchel_records_record() gives;
 *  with "documents": false in the query, without the documents. Ownership: the
 *  caller owns *out. */
SATCHEL_API satchel_status satchel_records_list(
    satchel_records *records, satchel_bytes query, satchel_buffer *out);

/** How many records fit a query; an empty one counts all, at once. */
SATCHEL_API satchel_status satchel_records_count(
    satchel_records *records, satchel_bytes query, int64_t *count);

/** Which of the two is written first. */
typedef enum satchel_mirror_mode {
    /** The store; the file follows each commit. */
    SATCHEL_MIRROR_STORE_FIRST = 0,
    /** The file, before each commit; the write fails when it cannot. */
    SATCHEL_MIRROR_FILE_FIRST = 1
} satchel_mirror_mode;

/** Which of the two wins where both differ when a mirror is attached. */
typedef enum satchel_mirror_prefer {
    /** Neither: attaching is refused. */
    SATCHEL_PREFER_NONE = 0,
    /** The store takes what the file has; records that only the store has stay. */
    SATCHEL_PREFER_FILE = 1,
    /** The file is written from the store; as it was, it is kept beside it, as
     *  "<path>.set-aside-<Unix milliseconds>". */
    SATCHEL_PREFER_STORE = 2
} satchel_mirror_prefer;

/** How to attach a mirror; start from SATCHEL_MIRROR_OPTIONS_INIT. */
typedef struct satchel_mirror_options {
    size_t size;
    satchel_mirror_prefer prefer;
    satchel_mirror_mode mode;
} satchel_mirror_options;

#define SATCHEL_MIRROR_OPTIONS_INIT \
    { sizeof(satchel_mirror_options), SATCHEL_PREFER_NONE, SATCHEL_MIRROR_STORE_FIRST }

/**
 * Keeps a collection also as one JSON file, which is replaced as a whole at each
 * commit: for collections that a person may want to read. Costs grow with the
 * collection. Kept until this handle is freed.
 *
 * A file that is there is compared with the collection first. It is written when it
 * is the one that this store wrote last, or has nothing that the store lacks; with
 * the file first, the store takes what it lacks when the file lacks nothing.
 * Otherwise neither side is changed, unless `prefer` says which one wins.
 *
 * Later, observers hear "@mirror_failed" when the file cannot follow a commit, and
 * "@mirror_edited" when somebody else changed the file: it is left alone until a
 * mirror is attached or rebuilt. With the file first, the write fails instead.
 *
 * @param path      the file; its directory must exist
 * @param options   may be NULL
 * @param[out] out  {"imported": records that the store took from the file,
 *                  "set_aside": path of the file that the store was preferred to, or
 *                  null}; may be NULL
 *
 * Returns    SATCHEL_EINVALID for a file that differs, with a message that counts
 *            and names the differences, for one that cannot be understood (line and
 *            column), and inside a transaction of the caller: nothing is changed.
 * Ownership  the caller owns *out.
 */
SATCHEL_API satchel_status satchel_records_mirror(
    satchel_records *records, satchel_bytes path, const satchel_mirror_options *options,
    satchel_buffer *out);

/** Compares the collection with its mirror. @param[out] out  [{"id", "kind":
 *  "missing_in_file" | "missing_in_store" | "differs", "pointer" (where they first
 *  differ, or null)}]. Returns: SATCHEL_EINVALID without a mirror, or when it
 *  cannot be understood (line and column). Ownership: the caller owns *out. */
SATCHEL_API satchel_status satchel_records_verify_mirror(satchel_records *records, satchel_buffer *out);

/** What satchel_records_rebuild() makes anew. */
typedef enum satchel_rebuild {
    SATCHEL_REBUILD_MIRROR = 0,
    SATCHEL_REBUILD_STORE = 1
} satchel_rebuild;

/** Makes the mirror from the collection, or the collection from the mirror, as a
 *  whole or not at all. @param[out] changed  records that differed; may be NULL */
SATCHEL_API satchel_status satchel_records_rebuild(
    satchel_records *records, satchel_rebuild which, int64_t *changed);

/** What happens where both sides changed a record. */
typedef enum satchel_sync_strategy {
    SATCHEL_STRATEGY_NEWEST_WINS = 0,
    SATCHEL_STRATEGY_REMOTE_WINS = 1,
    SATCHEL_STRATEGY_LOCAL_WINS = 2,
    /** Field by field against what both last agreed on; where both changed the same
     *  field, the newest; an edit outlives a deletion. */
    SATCHEL_STRATEGY_MERGE = 3,
    /** Kept as a conflict, with both versions, until satchel_records_resolve(). */
    SATCHEL_STRATEGY_ASK = 4
} satchel_sync_strategy;

/** How to synchronise records. */
typedef struct satchel_record_sync_options {
    size_t size;
    satchel_sync_strategy strategy;
    /** Tells what would move, and moves nothing. */
    bool dry_run;
    /** As in satchel_sync_options. */
    bool accepts_unconditional;
    /** Records that move at once, 1 to 16; 0 means 4. */
    int32_t parallel;
    /** May be NULL. {"phase": "list" | "records", "records_done", "records_total",
     *  "bytes_up", "bytes_down"} */
    satchel_progress_callback progress;
    void *context;
} satchel_record_sync_options;

#define SATCHEL_RECORD_SYNC_OPTIONS_INIT \
    { sizeof(satchel_record_sync_options), SATCHEL_STRATEGY_NEWEST_WINS, false, false, 0, NULL, NULL }

/**
 * Brings a collection and its master copy into agreement: an object a record,
 * records/{user}/{collection}/{id}.json. Deletions travel. Blocks.
 *
 * @param user      [A-Za-z0-9._-]{1,128}, not only dots
 * @param options   may be NULL
 * @param[out] out  {"downloaded", "uploaded", "deleted_here", "deleted_there",
 *                  "merged", "conflicts", "unchanged", "requests", "bytes_up",
 *                  "bytes_down" (numbers), "failed": [{"id", "code" (a
 *                  satchel_status), "message"}], "dry_run"}; may be NULL
 *
 * A record that fails stays pending, is tried again later and later, and does not
 * stop the others.
 *
 * Returns    as satchel_photos_sync().
 * Ownership  the caller owns *out.
 */
SATCHEL_API satchel_status satchel_records_sync(
    satchel_records *records, satchel_remote *remote, satchel_bytes user,
    const satchel_record_sync_options *options, satchel_buffer *out);

/** Forgets the agreement with a master. */
SATCHEL_API satchel_status satchel_records_unlink(satchel_records *records);

/** Conflicts, oldest first: {"conflicts": [{"id", "record", "kind": "open" | "lost"
 *  (the strategy gave this local version up), "time", "local", "remote", "base"
 *  (documents, null where deleted)}], "next": number or null}. @param after  0, or
 *  what "next" was. Ownership: the caller owns *out. */
SATCHEL_API satchel_status satchel_records_conflicts(
    satchel_records *records, int64_t after, int32_t limit, satchel_buffer *out);

/** Ends a conflict. @param resolution  {"keep": "local" | "remote"} or {"document":
 *  {…}} (null deletes). Returns: SATCHEL_ENOTFOUND. */
SATCHEL_API satchel_status satchel_records_resolve(
    satchel_records *records, int64_t conflict, satchel_bytes resolution);

/** Frees a collection; NULL and a second time are fine. */
SATCHEL_API void satchel_records_free(satchel_records *records);

/* ------------------------------------------------------------------------
 * State: small values that an app changes often
 *
 * A change is seen by every read at once, and is in the file after 2 s of quiet,
 * with the tenth change, 5 s after the first, by satchel_state_flush(), or when
 * the store is closed. Names and keys are 1 to 255 bytes of UTF-8. Observers hear
 * of it under the subject "records", with keys such as "state/theme", once it is
 * in the file.
 * --------------------------------------------------------------------- */

/** When changes are saved; start from SATCHEL_STATE_OPTIONS_INIT. */
typedef struct satchel_state_options {
    size_t size;
    /** Quiet before a save, in ms; 0 means 2,000. */
    uint32_t quiet_ms;
    /** Changes that are saved at once; 0 means 10. */
    uint32_t batch;
    /** The longest that a change waits, in ms; 0 means 5,000. */
    uint32_t age_ms;
} satchel_state_options;

#define SATCHEL_STATE_OPTIONS_INIT { sizeof(satchel_state_options), 0, 0, 0 }

/** Says when changes are saved. */
SATCHEL_API satchel_status satchel_state_configure(
    satchel_store *store, const satchel_state_options *options);

/** Gives the key for sensitive values. @param key  32 bytes, from the host's
 *  keychain; copied, never stored. Returns: SATCHEL_EINVALID when stored values
 *  were sealed with another key; nothing is changed. */
SATCHEL_API satchel_status satchel_state_set_key(satchel_store *store, satchel_bytes key);

/** Seals all sensitive values anew, in one transaction. Returns: SATCHEL_EINVALID
 *  when the present key was not given. */
SATCHEL_API satchel_status satchel_state_rotate_key(satchel_store *store, satchel_bytes key);

/** Sets a value. @param value  any JSON  @param sensitive  stored encrypted
 *  (AES-256-GCM); needs satchel_state_set_key() before. */
SATCHEL_API satchel_status satchel_state_set(
    satchel_store *store, satchel_bytes key, satchel_bytes value, bool sensitive);

/** A value; none when there is none. Returns: SATCHEL_EINVALID for a sealed value
 *  without its key. Ownership: the caller owns *out. */
SATCHEL_API satchel_status satchel_state_get(
    satchel_store *store, satchel_bytes key, satchel_buffer *out);

/** Removes a value. */
SATCHEL_API satchel_status satchel_state_remove(satchel_store *store, satchel_bytes key);

/** The keys that begin with a prefix, sorted: a JSON array. Ownership: the caller
 *  owns *out. */
SATCHEL_API satchel_status satchel_state_keys(
    satchel_store *store, satchel_bytes prefix, satchel_buffer *out);

/** Saves what is pending; what was spilled is taken in. @param[out] spilled
 *  whether it went to the spill file, since the store cannot be written; may be
 *  NULL. When it returns SATCHEL_OK, all changes made before survive a kill. */
SATCHEL_API satchel_status satchel_state_flush(satchel_store *store, bool *spilled);

/** The bounds of a list; start from SATCHEL_STATE_LIST_OPTIONS_INIT. */
typedef struct satchel_state_list_options {
    size_t size;
    /** The most items; 0 means any number. */
    uint32_t limit;
    /** The greatest age of an item, in ms; 0 means any. */
    uint64_t maximum_age_ms;
    /** An item that is there already moves to the front. */
    bool unique;
} satchel_state_list_options;

#define SATCHEL_STATE_LIST_OPTIONS_INIT { sizeof(satchel_state_list_options), 0, 0, false }

/** Puts an item in front of a list, and drops what is beyond its bounds.
 *  @param options  may be NULL */
SATCHEL_API satchel_status satchel_state_list_push(
    satchel_store *store, satchel_bytes name, satchel_bytes value,
    const satchel_state_list_options *options);

/** The items within the bounds, newest first: [{"value", "time"}]. Ownership: the
 *  caller owns *out. */
SATCHEL_API satchel_status satchel_state_list_items(
    satchel_store *store, satchel_bytes name, const satchel_state_list_options *options,
    satchel_buffer *out);

/** Removes the items that equal a value. */
SATCHEL_API satchel_status satchel_state_list_remove(
    satchel_store *store, satchel_bytes name, satchel_bytes value);

/** Empties a list. */
SATCHEL_API satchel_status satchel_state_list_clear(satchel_store *store, satchel_bytes name);

/** Adds a value to a set. @param[out] added  false when it was there; may be NULL */
SATCHEL_API satchel_status satchel_state_member_add(
    satchel_store *store, satchel_bytes name, satchel_bytes value, bool *added);

/** Takes a value from a set. @param[out] removed  may be NULL */
SATCHEL_API satchel_status satchel_state_member_remove(
    satchel_store *store, satchel_bytes name, satchel_bytes value, bool *removed);

/** The values of a set, in a stable order: a JSON array. Ownership: the caller
 *  owns *out. */
SATCHEL_API satchel_status satchel_state_members(
    satchel_store *store, satchel_bytes name, satchel_buffer *out);

/** The bounds of scores; start from SATCHEL_STATE_SCORE_OPTIONS_INIT. */
typedef struct satchel_state_score_options {
    size_t size;
    double minimum;
    double maximum;
} satchel_state_score_options;

#define SATCHEL_STATE_SCORE_OPTIONS_INIT { sizeof(satchel_state_score_options), -1.0, 1.0 }

/** Adds to a score, which begins at 0 and stays within its bounds.
 *  @param options  may be NULL: -1 to 1  @param[out] value  the new score; may be
 *  NULL. Returns: SATCHEL_EINVALID for a delta that is not finite. */
SATCHEL_API satchel_status satchel_state_score_add(
    satchel_store *store, satchel_bytes name, satchel_bytes key, double delta,
    const satchel_state_score_options *options, double *value);

/** All scores of a name: {key: score}. Ownership: the caller owns *out. */
SATCHEL_API satchel_status satchel_state_scores(
    satchel_store *store, satchel_bytes name, satchel_buffer *out);

#ifdef __cplusplus
}
#endif

#endif /* SATCHEL_H */
