/**
 * @file satchel.h
 *
 * The C interface of libsatchel, the offline content layer for apps.
 *
 * A store is one SQLite file. Every function accepts arbitrary bytes: invalid input
 * returns a status and a message, changes nothing and never terminates the host.
 * Structured values are UTF-8 JSON with snake_case keys. Times are Unix milliseconds and
 * durations are milliseconds, unless a field says otherwise.
 *
 * Each function is documented in the same order: one sentence that says what it does,
 * further facts, its parameters, and then **Returns**, **Ownership** and **Threads**.
 * Where Ownership or Threads is left out, the following defaults apply.
 *
 * **Statuses.** Functions return a satchel_status. Every status other than SATCHEL_OK
 * sets satchel_error_message() and satchel_error_details(). **Returns** lists the statuses with a specific meaning
 * for the function. In addition, every function can return these default statuses:
 *   - SATCHEL_EINVALID for a NULL handle, for a NULL out-parameter (unless it "may be
 *     NULL"), and for text that is not UTF-8;
 *   - SATCHEL_ECLOSED for a handle that was closed or freed, or that never was a handle,
 *     and for a handle whose store was closed; handles are looked up in a table and never
 *     dereferenced;
 *   - SATCHEL_EBUSY, SATCHEL_EIO, SATCHEL_EDAMAGED and SATCHEL_ENOMEMORY when it uses the
 *     store or the file system, and SATCHEL_EREADONLY and SATCHEL_EFULL when it writes;
 *   - SATCHEL_ECANCELLED and SATCHEL_ETIMEDOUT for the reads that satchel_interrupt
 *     names, when the host stops them or sets a time limit.
 *
 * Out-parameters are the last parameters. They are emptied when the call fails.
 *
 * **Default ownership.** The library borrows satchel_bytes, paths, options and other
 * arguments for the duration of the call. The caller owns what the library returns in a
 * satchel_buffer, and frees it with satchel_buffer_free(). The caller owns every handle
 * that a function opens, and frees it with the function that its documentation names.
 * Handles may be freed in any order, also after their store was closed.
 *
 * **Default threads.** A handle can be used by any number of threads at the same time,
 * and a store by several processes.
 */
#ifndef SATCHEL_H
#define SATCHEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/** Declares an exported function. */
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

/**
 * @defgroup satchel_library Library
 * The version of the header and of the library.
 * @{
 */

/** The major version of this header. */
#define SATCHEL_VERSION_MAJOR 0
/** The minor version of this header. */
#define SATCHEL_VERSION_MINOR 1
/** The patch version of this header. */
#define SATCHEL_VERSION_PATCH 0
/** The version of this header, "major.minor.patch". */
#define SATCHEL_VERSION_STRING "0.1.0"

/**
 * Returns the version of the library.
 *
 * **Returns** The version, "major.minor.patch"; never NULL.
 *
 * **Ownership** The string is static and is never freed.
 */
SATCHEL_API const char *satchel_version(void);

/** @} */

/**
 * @defgroup satchel_errors Errors
 * Statuses, and the message and the details of the last error of each thread.
 * @{
 */

/**
 * The result of a call.
 *
 * The numbers never change. Later versions may add statuses: treat an unknown status as a
 * failure.
 */
typedef enum satchel_status {
    /** The call succeeded. */
    SATCHEL_OK = 0,
    /** An argument is invalid; the message says which one and where in it. */
    SATCHEL_EINVALID = 1,
    /** The object that the call names does not exist. */
    SATCHEL_ENOTFOUND = 2,
    /** Another thread or process held the store for longer than busy_timeout_ms. */
    SATCHEL_EBUSY = 3,
    /** The file is a SQLite database, but is damaged or truncated. */
    SATCHEL_EDAMAGED = 4,
    /** The file is not a SQLite database, is a directory, or was not created by Satchel;
     *  or the remote is not the one that was synchronized with before. */
    SATCHEL_EFOREIGN = 5,
    /** The file or its records were written by a newer version. */
    SATCHEL_ENEWER = 6,
    /** The store was opened read-only, or the file cannot be written. */
    SATCHEL_EREADONLY = 7,
    /** The disk or the quota is full. */
    SATCHEL_EFULL = 8,
    /** The operating system failed to read or write. */
    SATCHEL_EIO = 9,
    /** The handle was closed, or never was a handle. */
    SATCHEL_ECLOSED = 10,
    /** The host cancelled the call. */
    SATCHEL_ECANCELLED = 11,
    /** Memory allocation failed. */
    SATCHEL_ENOMEMORY = 12,
    /** A defect of the library; please report it. */
    SATCHEL_EINTERNAL = 13,
    /** A compare-and-set failed: the stored revision is not the expected one, or the
     *  declaration that a handle was opened with was replaced. */
    SATCHEL_ECONFLICT = 14,
    /** A unique index, a relation (also one that restricts deletion) or a schema forbids
     *  the change. */
    SATCHEL_ECONSTRAINT = 15,
    /** The remote refuses the credentials, or does not permit the request; or the
     *  encryption key of the store or the sync log is missing or wrong. */
    SATCHEL_EAUTH = 16,
    /** The remote cannot be reached, or kept failing while the call retried. */
    SATCHEL_EUNAVAILABLE = 17,
    /** A read took longer than its time limit: query_timeout_ms of the store, or
     *  timeout_ms of the thread's satchel_interrupt. */
    SATCHEL_ETIMEDOUT = 18
} satchel_status;

/**
 * Returns the name of a status.
 *
 * @param status  any number
 *
 * **Returns** The name, such as "SATCHEL_EBUSY"; "SATCHEL_E?" for an unknown number.
 *
 * **Ownership** The string is static and is never freed.
 */
SATCHEL_API const char *satchel_status_name(satchel_status status);

/**
 * Returns the message of the last call that failed on the calling thread.
 *
 * A successful call does not change the message: check the status first.
 *
 * **Returns** UTF-8, never NULL; "" before the first failure.
 *
 * **Ownership** The library owns the string. It is valid until the next failure on the
 * same thread.
 *
 * **Threads** Each thread has its own message.
 */
SATCHEL_API const char *satchel_error_message(void);

/**
 * Returns where the last call that failed on the calling thread found its error.
 *
 * The members are those that apply; no host has to parse the message:
 *
 * | member | type | meaning |
 * | ------ | ---- | ------- |
 * | `subject` | string | "catalogue", "photos", "stories", "records" or "state" |
 * | `collection` | string | the collection of a record; the kind of a value of state, "value", "list", "set" or "scores"; the section of a catalogue |
 * | `id` | string | the id of a record, story or entity; the MD5 of a photo; the name of a value of state |
 * | `pointer` | string | JSON Pointer of the value, in the document or argument that the message names |
 * | `line` | integer | line in the text that the message names, counted from 1 |
 * | `column` | integer | column in bytes, counted from 1 |
 * | `other_id` | string | the id that is in the way: of the record that has the unique value or refers to this one, or that does not exist |
 * | `other_collection` | string | the collection of `other_id` |
 * | `limit` | integer | the value of the limit that was exceeded, in the unit of the message |
 *
 * A successful call does not change the details: check the status first. A call that a
 * callback makes on the same thread does not change those of the call around it, which sets
 * its own when it fails.
 *
 * **Returns** A JSON object in UTF-8, never NULL; "{}" where nothing applies, and before the
 * first failure.
 *
 * **Ownership** The library owns the string. It is valid until the next failure on the
 * same thread.
 *
 * **Threads** Each thread has its own details.
 */
SATCHEL_API const char *satchel_error_details(void);

/** @} */

/**
 * @defgroup satchel_values Values
 * Bytes, buffers and JSON values.
 *
 * JSON is UTF-8 without a byte-order mark: one value, followed by nothing but white
 * space. SATCHEL_EINVALID is returned, with line, column and JSON Pointer in the message,
 * for more than 512 levels of nesting, a duplicate key, an invalid or lone surrogate, a
 * NUL in a key, NaN, and an exponent beyond Int64. Integers stay integers, doubles are
 * written in the shortest form that reads back the same value, and -0.0 stays -0.0. An
 * integer beyond Int64 and a number beyond the largest double, such as 1e400, are kept as
 * they were written and compare by their exact value; where an Int64 or a double is
 * needed, they are SATCHEL_EINVALID.
 *
 * A path is a list of keys separated by dots ("cards.items"), or a JSON Pointer (RFC
 * 6901) when it begins with "/". The empty path is the whole value.
 * @{
 */

/**
 * Bytes that the caller lends to the library for the duration of one call.
 *
 * Text is UTF-8 and needs no terminator. {NULL, 0} is the empty string.
 */
typedef struct satchel_bytes {
    /** The first byte; may be NULL when `size` is 0. */
    const void *data;
    /** The number of bytes. */
    size_t size;
} satchel_bytes;

/**
 * Bytes that the library allocated and the caller owns.
 *
 * {NULL, 0} means that there is no value; an empty string has a `data` that is not NULL.
 * A call overwrites its buffer without freeing it: free the buffer before using it again.
 */
typedef struct satchel_buffer {
    /** The bytes, followed by a NUL that `size` does not count; NULL when there is no
     *  value. */
    char *data;
    /** The number of bytes. */
    size_t size;
} satchel_buffer;

/** The initial value of a satchel_buffer. */
#define SATCHEL_BUFFER_INIT { NULL, 0 }

/**
 * The bytes of a string literal, without its terminator, as a satchel_bytes.
 *
 * An expression of C99 and C++11; it does not compile for anything but a literal.
 *
 * @param literal  a string literal
 */
#ifdef __cplusplus
#define SATCHEL_TEXT(literal) (satchel_bytes{ "" literal, sizeof("" literal) - 1 })
#else
#define SATCHEL_TEXT(literal) ((satchel_bytes){ "" literal, sizeof("" literal) - 1 })
#endif

/**
 * Returns the bytes of a NUL-terminated string.
 *
 * Compiled into the caller: the library exports no such function.
 *
 * @param string  may be NULL
 *
 * **Returns** The bytes without the terminator; {NULL, 0} for NULL.
 *
 * **Ownership** The bytes belong to the owner of `string`.
 */
static inline satchel_bytes satchel_text(const char *string) {
    satchel_bytes bytes = { NULL, 0 };
    if (string != NULL) {
        bytes.data = string;
        bytes.size = strlen(string);
    }
    return bytes;
}

/**
 * Returns the bytes of a buffer, to pass a result to another call.
 *
 * Compiled into the caller: the library exports no such function.
 *
 * @param buffer  a buffer; may be empty
 *
 * **Returns** Its bytes; {NULL, 0} for an empty one.
 *
 * **Ownership** The bytes belong to the buffer, and are valid until it is freed.
 */
static inline satchel_bytes satchel_bytes_of(satchel_buffer buffer) {
    satchel_bytes bytes = { NULL, 0 };
    bytes.data = buffer.data;
    bytes.size = buffer.size;
    return bytes;
}

/**
 * Frees the bytes of a buffer and sets it to {NULL, 0}.
 *
 * @param buffer  may be NULL, and may be empty
 *
 * **Threads** A buffer must not be used by two threads at the same time.
 */
SATCHEL_API void satchel_buffer_free(satchel_buffer *buffer);

/**
 * Checks whether a string is valid JSON.
 *
 * @param text  the string
 *
 * **Returns** SATCHEL_OK, or SATCHEL_EINVALID with the position and the cause.
 */
SATCHEL_API satchel_status satchel_json_check(satchel_bytes text);

/**
 * Returns whether two JSON texts have the same value.
 *
 * Types are compared as well: 1 and 1.0 differ. The order of members, white space and the
 * encodings of strings and numbers are ignored: 1.50 and 15e-1 are equal.
 *
 * @param one       a JSON value
 * @param other     a JSON value
 * @param[out] out  whether they are equal; false on failure
 *
 * **Returns** SATCHEL_OK, or SATCHEL_EINVALID when an argument is not JSON.
 */
SATCHEL_API satchel_status satchel_json_equal(
    satchel_bytes one, satchel_bytes other, bool *out);

/**
 * Applies an edit in the format in which a backend sends it.
 *
 * The edit is a JSON object, null or empty:
 *
 * | field         | type   | meaning                                            |
 * | ------------- | ------ | -------------------------------------------------- |
 * | `operation`   | string | one of the operations below; "merge" when left out |
 * | `target_path` | string | where in `existing`; the whole value when left out |
 * | `match`       | object | for "remove": selects what is removed; not empty   |
 *
 * The operations are "merge", "append", "remove", "merge_patch" (RFC 7396) and "patch"
 * (RFC 6902).
 *
 * @param existing  the value to edit
 * @param value     the new value
 * @param config    the edit
 * @param[out] out  the edited value
 *
 * **Returns** SATCHEL_OK, or SATCHEL_EINVALID for an unknown operation, a missing or
 * empty match, or a path that leads through a value that is not an object; the message
 * names the component of the path.
 */
SATCHEL_API satchel_status satchel_json_edit(
    satchel_bytes existing, satchel_bytes value, satchel_bytes config,
    satchel_buffer *out);

/**
 * Merges two values recursively.
 *
 * Objects are merged, null is stored as null, and any other value of `value` replaces the
 * existing one.
 *
 * @param existing  the value to merge into
 * @param value     the new value
 * @param[out] out  the merged value
 *
 * **Returns** SATCHEL_OK, or SATCHEL_EINVALID when an argument is not JSON.
 */
SATCHEL_API satchel_status satchel_json_merge(
    satchel_bytes existing, satchel_bytes value, satchel_buffer *out);

/**
 * Applies a JSON Merge Patch (RFC 7396).
 *
 * @param target    the value to patch
 * @param patch     the patch
 * @param[out] out  the patched value
 *
 * **Returns** SATCHEL_OK, or SATCHEL_EINVALID when an argument is not JSON.
 */
SATCHEL_API satchel_status satchel_json_merge_patch(
    satchel_bytes target, satchel_bytes patch, satchel_buffer *out);

/**
 * Applies a JSON Patch (RFC 6902), all of its operations or none.
 *
 * @param target    the value to patch
 * @param patch     an array of operations
 * @param[out] out  the patched value
 *
 * **Returns** SATCHEL_OK, or SATCHEL_EINVALID when an argument is not JSON or an
 * operation cannot be applied.
 */
SATCHEL_API satchel_status satchel_json_patch(
    satchel_bytes target, satchel_bytes patch, satchel_buffer *out);

/**
 * Returns the value at a path.
 *
 * @param value     a JSON value
 * @param path      the path
 * @param[out] out  the value; {NULL, 0} when the path does not exist
 *
 * **Returns** SATCHEL_OK, or SATCHEL_EINVALID when the path leads through a value that is
 * neither an object nor an array.
 */
SATCHEL_API satchel_status satchel_json_value_at(
    satchel_bytes value, satchel_bytes path, satchel_buffer *out);

/**
 * Returns the string at a path, without quotes and escapes.
 *
 * @param value     a JSON value
 * @param path      the path
 * @param[out] out  the string; emptied on failure
 *
 * **Returns** SATCHEL_OK; SATCHEL_ENOTFOUND when the path leads to nothing or to null;
 * SATCHEL_EINVALID when the value is not a string, or an argument is not JSON.
 */
SATCHEL_API satchel_status satchel_json_get_text(
    satchel_bytes value, satchel_bytes path, satchel_buffer *out);

/**
 * Returns the integer at a path.
 *
 * @param value     a JSON value
 * @param path      the path
 * @param[out] out  the integer; 0 on failure
 *
 * **Returns** SATCHEL_OK; SATCHEL_ENOTFOUND when the path leads to nothing or to null;
 * SATCHEL_EINVALID when the value is not an integer, or an argument is not JSON.
 */
SATCHEL_API satchel_status satchel_json_get_int64(
    satchel_bytes value, satchel_bytes path, int64_t *out);

/**
 * Returns the number at a path, an integer converted to a double.
 *
 * @param value     a JSON value
 * @param path      the path
 * @param[out] out  the number; 0 on failure
 *
 * **Returns** SATCHEL_OK; SATCHEL_ENOTFOUND when the path leads to nothing or to null;
 * SATCHEL_EINVALID when the value is not a number, or an argument is not JSON.
 */
SATCHEL_API satchel_status satchel_json_get_double(
    satchel_bytes value, satchel_bytes path, double *out);

/**
 * Returns the Boolean at a path.
 *
 * @param value     a JSON value
 * @param path      the path
 * @param[out] out  the Boolean; false on failure
 *
 * **Returns** SATCHEL_OK; SATCHEL_ENOTFOUND when the path leads to nothing or to null;
 * SATCHEL_EINVALID when the value is not a Boolean, or an argument is not JSON.
 */
SATCHEL_API satchel_status satchel_json_get_bool(
    satchel_bytes value, satchel_bytes path, bool *out);

/**
 * Returns the number of elements of an array, or of members of an object.
 *
 * @param value     a JSON value
 * @param path      the path
 * @param[out] out  the count; 0 on failure
 *
 * **Returns** SATCHEL_OK; SATCHEL_ENOTFOUND when the path leads to nothing or to null;
 * SATCHEL_EINVALID when the value is neither an array nor an object, or an argument is not JSON.
 */
SATCHEL_API satchel_status satchel_json_count(
    satchel_bytes value, satchel_bytes path, size_t *out);

/**
 * Returns the keys of the object at a path, in their order.
 *
 * To use a key in a JSON Pointer, escape "~" as "~0" and "/" as "~1". satchel_json_each()
 * returns members without paths.
 *
 * @param value     a JSON value
 * @param path      the path
 * @param[out] out  a JSON array of strings; emptied on failure
 *
 * **Returns** SATCHEL_OK; SATCHEL_ENOTFOUND when the path leads to nothing or to null;
 * SATCHEL_EINVALID when the value is not an object, or an argument is not JSON.
 */
SATCHEL_API satchel_status satchel_json_keys(
    satchel_bytes value, satchel_bytes path, satchel_buffer *out);

/**
 * Receives a member of an object, or an element of an array.
 *
 * @param context  the context of the call
 * @param key      the key of the member, without quotes and escapes; {NULL, 0} for an
 *                 element
 * @param value    its JSON text; both are valid until the function returns
 *
 * **Returns** whether to go on with the next one.
 */
typedef bool (*satchel_json_callback)(void *context, satchel_bytes key, satchel_bytes value);

/**
 * Calls a function with each member of an object, or each element of an array, in order.
 *
 * Keys are passed as they are, without the escapes of a path.
 *
 * @param value     a JSON value
 * @param path      the path of the object or the array
 * @param callback  called on this thread, until it returns false; it may use the library
 * @param context   passed to the callback
 *
 * **Returns** SATCHEL_OK, also when the callback returned false; SATCHEL_ENOTFOUND when
 * the path leads to nothing or to null; SATCHEL_EINVALID when the value is neither an
 * array nor an object, or an argument is not JSON.
 */
SATCHEL_API satchel_status satchel_json_each(
    satchel_bytes value, satchel_bytes path, satchel_json_callback callback, void *context);

/**
 * Encodes a string as JSON, with quotes and escapes.
 *
 * @param text      UTF-8
 * @param[out] out  the JSON string; emptied on failure
 *
 * **Returns** SATCHEL_OK, or SATCHEL_EINVALID when the text is not UTF-8.
 */
SATCHEL_API satchel_status satchel_json_quote(satchel_bytes text, satchel_buffer *out);

/** @} */

/**
 * @defgroup satchel_stores Store
 * One SQLite file: opening, examining, transactions, backups and observation.
 * @{
 */

/** An open store. */
typedef struct satchel_store satchel_store;

/**
 * Returns the current time in Unix milliseconds.
 *
 * Called on any thread, during other calls: every call that it makes on a store returns
 * SATCHEL_EBUSY.
 *
 * When it goes back by up to 24 hours, the store's time stays at the latest one. When it
 * goes back by more, it was ahead: the next opening or write stamps the stored times that
 * are more than 24 hours ahead with the present time, once. A time before 2020 is ignored
 * while the store has a later one.
 *
 * @param context  the context that was given with the function
 */
typedef int64_t (*satchel_clock)(void *context);

/** Options for opening a store; start from SATCHEL_OPEN_OPTIONS_INIT. */
typedef struct satchel_open_options {
    /** sizeof(satchel_open_options), so that the struct can grow. */
    size_t size;
    /** Opens without writing: the file must exist, and is not changed. */
    bool read_only;
    /** Renames a damaged, foreign or unreadable file to `<path>.quarantine-<time>` (it is
     *  never deleted) and creates a new store. satchel_store_info() returns the new path.
     *  A store of a newer version is never quarantined. */
    bool quarantine;
    /** Uses synchronous=NORMAL: commits survive the end of the process, but only those up
     *  to the last checkpoint survive a power failure. By default every commit is synced
     *  to disk. */
    bool relaxed_durability;
    /** How long a call waits for another writer; 0 means 5,000 ms. */
    uint32_t busy_timeout_ms;
    /** The clock, for tests; NULL means the system's clock. */
    satchel_clock clock;
    /** Passed to `clock`. */
    void *clock_context;
    /** Called exactly once with `clock_context`, after the last call of `clock`, also
     *  when opening fails; may be NULL. */
    void (*clock_release)(void *context);
    /** The time limit, in ms, of reads that satchel_interrupt can stop, after which they
     *  return SATCHEL_ETIMEDOUT; 0 means no limit. */
    uint32_t query_timeout_ms;
} satchel_open_options;

/** The default options for opening a store. */
#define SATCHEL_OPEN_OPTIONS_INIT \
    { sizeof(satchel_open_options), false, false, false, 0, NULL, NULL, NULL, 0 }

/**
 * Opens a store, and creates the file when it does not exist.
 *
 * @param path      the path of the file, NUL-terminated UTF-8; or ":memory:" for a store
 *                  that exists until its handle is closed
 * @param options   may be NULL
 * @param[out] out  the store
 *
 * **Returns** SATCHEL_OK; SATCHEL_EFOREIGN, SATCHEL_EDAMAGED or SATCHEL_ENEWER when the
 * file is not a store that can be opened (it is not changed); SATCHEL_ENOTFOUND when it
 * does not exist and `read_only` is set, or when its directory does not exist;
 * SATCHEL_EREADONLY or SATCHEL_EIO.
 *
 * **Ownership** The caller closes the store: satchel_store_close().
 */
SATCHEL_API satchel_status satchel_store_open(
    const char *path, const satchel_open_options *options, satchel_store **out);

/**
 * Closes a store.
 *
 * Waits for calls in progress on other threads and rolls back a batch that has not ended.
 * Observers and sessions of the store are not called any more. Photos that were claimed
 * for backup by its photo catalogues are queued again.
 *
 * @param store  NULL does nothing
 *
 * **Returns** SATCHEL_OK; SATCHEL_ECLOSED when it was closed before. Another status when
 * the last write failed, or SATCHEL_EBUSY when a batch of another thread was rolled back:
 * the store is closed nevertheless, and everything that was acknowledged before is in the
 * file. SATCHEL_EBUSY also when it is called by a clock, or by a callback of this store
 * (an observer, a session's callback, a migration, a progress callback, a function of a
 * remote, a release function): the message names the callback, and the store stays open.
 * Close it after the callback has returned.
 *
 * **Ownership** Handles of observers, sessions, libraries, catalogues and collections of
 * the store still have to be freed.
 */
SATCHEL_API satchel_status satchel_store_close(satchel_store *store);

/**
 * Returns properties of a store.
 *
 * | field                  | type           | meaning                                |
 * | ---------------------- | -------------- | -------------------------------------- |
 * | `path`                 | string         | the path of the file                   |
 * | `read_only`            | boolean        | whether it was opened read-only        |
 * | `schema_version`       | integer        | the version of its schema              |
 * | `file_bytes`           | integer        | the size on disk, including the WAL    |
 * | `wal_bytes`            | integer        | the size of the WAL                    |
 * | `sqlite_version`       | string         | the version of SQLite in use           |
 * | `sqlite_wal_reset_bug` | boolean        | whether that version has the bug below |
 * | `quarantined`          | string or null | the new path of a quarantined file     |
 * | `clock_correction`     | object or null | the latest correction of a clock that  |
 * |                        |                | was ahead by more than 24 hours        |
 *
 * A clock correction has the time at which the clock was found to be right again
 * (`noticed_at`), the latest time that had been written before (`latest`), both in Unix
 * milliseconds, and the number of rows whose times became `noticed_at` (`stamped_rows`).
 *
 * SQLite versions with the bug may lose commits of several connections
 * (https://sqlite.org/wal.html#walresetbug). Satchel prevents that with every version.
 *
 * @param store     an open store
 * @param[out] out  a JSON object
 *
 * **Returns** SATCHEL_OK or a default status.
 */
SATCHEL_API satchel_status satchel_store_info(satchel_store *store, satchel_buffer *out);

/**
 * Returns the size of a store's file and of its contents.
 *
 * Reads every page. The result is
 *
 * | field            | type             | meaning                                           |
 * | ---------------- | ---------------- | ------------------------------------------------- |
 * | `path`           | string           | the path that it was opened with                  |
 * | `file_bytes`     | integer          | the size on disk, including the WAL               |
 * | `wal_bytes`      | integer          | the size of the WAL                               |
 * | `pages`          | integer          | the number of pages                               |
 * | `page_size`      | integer          | the size of a page                                |
 * | `free_pages`     | integer          | the unused pages, which are reused                |
 * | `subjects`       | array of objects | `name`, `bytes` (null when SQLite lacks dbstat) and `counts` by kind |
 * | `collections`    | array of objects | of records: `name`, `version`, `records`, `bytes`, `pending`, `conflicts` |
 * | `assets`         | object           | see below                                         |
 * | `catalogue`      | object           | see below                                         |
 * | `spooled`        | integer          | the spooled changes in the outbox file            |
 * | `outbox_damages` | array of strings | the damaged parts of the outbox file              |
 * | `rejected`       | integer          | the spooled changes that the store rejected       |
 *
 * `assets` has an object with `count` and `bytes` for each of
 *
 * | field      | meaning                                                                 |
 * | ---------- | ----------------------------------------------------------------------- |
 * | `here`     | those whose bytes are in the store's file, or in the folder next to it  |
 * | `files`    | those of them in the folder                                             |
 * | `variants` | those of them that were derived                                         |
 * | `remote`   | those that something refers to, in the remote or at a URL only          |
 * | `missing`  | those that something refers to, of which no place is known              |
 * | `waiting`  | those that the next sync uploads, with the changes that refer to them   |
 *
 * `catalogue` has
 *
 * | field                | type            | meaning                                        |
 * | -------------------- | --------------- | ---------------------------------------------- |
 * | `regions`            | integer         | the offline regions                            |
 * | `pinned_sections`    | integer         | the sections that regions keep, each once      |
 * | `pinned_entities`    | integer         | the entities that regions keep, each once      |
 * | `pinned_bytes`       | integer         | the bytes of these sections and entities       |
 * | `pinned_asset_bytes` | integer         | the bytes of assets that regions keep          |
 * | `oldest_fetched_at`  | integer or null | the earliest `fetched_at` of a section, in Unix milliseconds |
 * | `requests`           | integer         | the requests to sources that are remembered: failures, and answers that say how long they are fresh |
 * | `failed_requests`    | integer         | those of them that failed last, and wait for their next attempt |
 *
 * @param store     an open store
 * @param[out] out  a JSON object
 *
 * **Returns** SATCHEL_OK; SATCHEL_EDAMAGED; SATCHEL_EBUSY while another process holds the
 * outbox file; SATCHEL_EIO.
 */
SATCHEL_API satchel_status satchel_store_statistics(
    satchel_store *store, satchel_buffer *out);

/**
 * Checks the whole file: SQLite's integrity check, then the invariants of Satchel
 * (dangling references, wrong counts).
 *
 * Reads every page: the time grows with the file.
 *
 * @anchor json_finding
 * The result is an array of findings, empty when the store is sound:
 *
 * | field     | type   | meaning                                  |
 * | --------- | ------ | ---------------------------------------- |
 * | `code`    | string | a stable identifier, for programs        |
 * | `message` | string | the description, for people              |
 *
 * @param store     an open store
 * @param[out] out  a JSON array
 *
 * **Returns** SATCHEL_OK, also when there are findings, or a default status.
 */
SATCHEL_API satchel_status satchel_store_check(satchel_store *store, satchel_buffer *out);

/**
 * Returns whether a store was opened read-only.
 *
 * @param store     an open store
 * @param[out] out  true when it was
 *
 * **Returns** SATCHEL_OK or a default status.
 */
SATCHEL_API satchel_status satchel_store_is_read_only(satchel_store *store, bool *out);

/**
 * Begins a batch, a transaction of several calls.
 *
 * The writes of a batch become visible and durable at satchel_store_commit(), all of them
 * or none. Batches nest: rolling back an inner batch rolls back only that batch.
 *
 * A batch belongs to the calling thread, which carries it until it ends; another thread
 * joins it with satchel_store_enter(). Every call of a thread that carries the innermost
 * open batch is part of it, including reads; the calls of several such threads run one at
 * a time. No other call is part of it:
 *   - a write on the thread that began the innermost batch (after satchel_store_leave())
 *     returns SATCHEL_EBUSY immediately, because waiting would block the thread that has
 *     to end the batch;
 *   - a write on another thread waits for the batch to end, and returns SATCHEL_EBUSY
 *     after busy_timeout_ms;
 *   - a read sees the committed state and does not wait; in a store in memory, and on a
 *     thread that carries an outer batch, it waits and fails as a write does.
 *
 * @param store  an open store
 *
 * **Returns** SATCHEL_OK; SATCHEL_EBUSY, SATCHEL_EREADONLY or SATCHEL_EIO;
 * SATCHEL_EINVALID when the batch that the thread carries was rolled back.
 *
 * **Threads** A batch may end on another thread than the one that began it. A thread that
 * exits leaves its batch open: end the batch first.
 */
SATCHEL_API satchel_status satchel_store_begin(satchel_store *store);

/**
 * Returns the number of the batch that the calling thread carries.
 *
 * Numbers are unique in the process.
 *
 * @param store       an open store
 * @param[out] batch  the number; 0 when the thread carries no batch
 *
 * **Returns** SATCHEL_OK, or SATCHEL_EINVALID when that batch was rolled back.
 */
SATCHEL_API satchel_status satchel_store_batch(satchel_store *store, int64_t *batch);

/**
 * Makes the calling thread carry an open batch of another thread, instead of the batch
 * that it carries.
 *
 * For work that a batch hands to another thread. The thread carries the batch until
 * satchel_store_leave() or the next satchel_store_enter(). When the batch is committed in
 * the meantime, the thread carries the enclosing batch, if there is one. When it is
 * rolled back, each call of the thread returns SATCHEL_EINVALID until it leaves, so that
 * nothing that belongs to the batch is stored without it.
 *
 * @param store  an open store
 * @param batch  from satchel_store_batch(), on a thread that carries the batch
 *
 * **Returns** SATCHEL_OK; SATCHEL_EINVALID when no such batch is open; SATCHEL_EBUSY.
 */
SATCHEL_API satchel_status satchel_store_enter(satchel_store *store, int64_t batch);

/**
 * Makes the calling thread carry no batch, without ending any.
 *
 * @param store  an open store
 *
 * **Returns** SATCHEL_OK, or SATCHEL_ECLOSED.
 */
SATCHEL_API satchel_status satchel_store_leave(satchel_store *store);

/**
 * Commits the batch that the calling thread carries.
 *
 * The thread then carries the enclosing batch. When the commit fails, everything in the
 * batch is rolled back. Waits for calls of other threads in the batch.
 *
 * @param store  an open store
 *
 * **Returns** SATCHEL_OK; SATCHEL_EINVALID when the thread carries no batch, when the
 * batch was rolled back with its enclosing batch, or when a batch inside it is open;
 * SATCHEL_ECONSTRAINT when relations or unique indexes are violated at its end.
 */
SATCHEL_API satchel_status satchel_store_commit(satchel_store *store);

/**
 * Rolls back the batch that the calling thread carries, and the open batches inside it.
 *
 * Waits for calls of other threads in the batch.
 *
 * @param store  an open store
 *
 * **Returns** SATCHEL_OK, or SATCHEL_EINVALID when the thread carries no batch, or one
 * that was rolled back with its enclosing batch.
 */
SATCHEL_API satchel_status satchel_store_rollback(satchel_store *store);

/**
 * Writes pending changes (deferred puts of records, changes of state, and mirrors that
 * are older than the last commit), and drains the outbox file.
 *
 * When it returns SATCHEL_OK, all earlier changes survive the end of the process.
 *
 * @param store         an open store
 * @param[out] spooled  whether changes are in the outbox file, because the store cannot be
 *                      written; may be NULL
 *
 * **Returns** SATCHEL_OK; SATCHEL_EINVALID in a batch, which could still be rolled back,
 * and for a mirror that another program changed or that cannot hold a record;
 * SATCHEL_EBUSY during a batch that was begun on this thread; SATCHEL_EFULL, SATCHEL_EIO
 * and others when neither the store nor the outbox file, or a mirror, can be written. A
 * failure of one part does not stop the others. Changes that could not be written stay in
 * memory and are tried again.
 */
SATCHEL_API satchel_status satchel_store_flush(satchel_store *store, bool *spooled);

/**
 * Receives the progress of a long call, and decides whether it continues.
 *
 * Called again with the last progress while the call waits, so that it can be cancelled.
 *
 * @param context   the context that was given with the function
 * @param progress  a JSON object, documented with the call; valid during the callback
 *
 * **Returns** false to cancel: the call then returns SATCHEL_ECANCELLED, unless its
 * documentation says otherwise.
 *
 * **Threads** Called on the thread of the call or on a thread of the library, never on
 * two at the same time.
 */
typedef bool (*satchel_progress_callback)(void *context, satchel_bytes progress);

/**
 * Copies an open store to another file while it is read and written.
 *
 * The copy contains one consistent state. It is checked before it gets its name, and then
 * replaces an earlier backup of that name. The progress is {"pages_done", "pages_total"}
 * (integers).
 *
 * @anchor json_backup
 * The result of a backup:
 *
 * | field            | type             | meaning                                           |
 * | ---------------- | ---------------- | ------------------------------------------------- |
 * | `path`           | string           | the path of the backup                            |
 * | `pages`          | integer          | the number of pages                               |
 * | `bytes`          | integer          | the size of the backup's file                     |
 * | `milliseconds`   | integer          | the duration                                      |
 * | `assets`         | integer          | the number of files of assets beside the backup   |
 * | `missing_assets` | integer          | the number of files that the store should have    |
 * | `removed`        | array of strings | the paths of backups that were deleted            |
 *
 * @param store     an open store
 * @param path      the path of the copy, NUL-terminated UTF-8
 * @param assets    whether the files of assets are copied into the folder `path`.assets, as
 *                  clones or hard links where the file system has these, so that they take
 *                  no space twice; small assets are in the file in any case
 * @param progress  may be NULL
 * @param context   passed to `progress`
 * @param[out] out  a JSON object; may be NULL
 *
 * **Returns** SATCHEL_OK; SATCHEL_EINVALID for the store's own path, and inside a batch;
 * SATCHEL_EFOREIGN when `path` names a file that is not a backup; SATCHEL_ECANCELLED,
 * SATCHEL_EFULL or SATCHEL_EIO. On failure no part of a copy remains.
 */
SATCHEL_API satchel_status satchel_store_backup(
    satchel_store *store, const char *path, bool assets,
    satchel_progress_callback progress, void *context, satchel_buffer *out);

/**
 * Writes a backup into a directory, named after the store and the time, and deletes the
 * oldest of the backups that were written in this way.
 *
 * @param store      an open store
 * @param directory  an existing directory, NUL-terminated UTF-8
 * @param keep       the number of backups that remain, 1 or more
 * @param assets     as for satchel_store_backup()
 * @param[out] out   the @ref json_backup "result"; may be NULL
 *
 * **Returns** As satchel_store_backup(); SATCHEL_ENOTFOUND when the directory does not
 * exist.
 */
SATCHEL_API satchel_status satchel_store_backup_rotate(
    satchel_store *store, const char *directory, int32_t keep, bool assets,
    satchel_buffer *out);

/**
 * Returns the unused pages of a store's file to the file system.
 *
 * Deleting leaves unused pages in the file, which SQLite uses again. Works in steps of 1 MB, each in a transaction of its own, while others read and
 * write. What was released stays so after a call that was cancelled or failed; the next
 * one continues. Where another connection still reads, the file on disk becomes smaller
 * with a later checkpoint. The progress is {"pages_done", "pages_total"} (integers).
 *
 * | field        | type    | meaning                                                   |
 * | ------------ | ------- | --------------------------------------------------------- |
 * | `bytes`      | integer | the bytes by which the file became smaller                |
 * | `file_bytes` | integer | its size now                                              |
 * | `free_pages` | integer | the unused pages that are left, since others wrote        |
 *
 * @param store     an open store
 * @param progress  may be NULL
 * @param context   passed to `progress`
 * @param[out] out  a JSON object; may be NULL
 *
 * **Returns** SATCHEL_OK; SATCHEL_EINVALID inside a batch; SATCHEL_EREADONLY;
 * SATCHEL_EBUSY while another process writes; SATCHEL_ECANCELLED, SATCHEL_EFULL or
 * SATCHEL_EIO.
 */
SATCHEL_API satchel_status satchel_store_compact(
    satchel_store *store, satchel_progress_callback progress, void *context,
    satchel_buffer *out);

/**
 * Replaces the store at a path by a copy of a backup.
 *
 * The backup is checked first and remains. The store that is at the path is renamed to
 * `<path>.quarantine-<time>`, never deleted. Close the store first. The result is
 *
 * | field         | type           | meaning                                         |
 * | ------------- | -------------- | ----------------------------------------------- |
 * | `quarantined` | string or null | the path of the earlier store, if there was one |
 *
 * @param backup    the path of the backup, NUL-terminated UTF-8
 * @param path      the path of the store, NUL-terminated UTF-8
 * @param[out] out  a JSON object; may be NULL
 *
 * **Returns** SATCHEL_OK; SATCHEL_ENOTFOUND, SATCHEL_EFOREIGN, SATCHEL_EDAMAGED or
 * SATCHEL_ENEWER for the backup; SATCHEL_EBUSY when the store is open; SATCHEL_EINVALID
 * when both paths name one file or one is not the path of a file; SATCHEL_EFULL or
 * SATCHEL_EIO.
 */
SATCHEL_API satchel_status satchel_store_restore(
    const char *backup, const char *path, satchel_buffer *out);

/**
 * Copies the readable contents of a damaged store into a new store.
 *
 * The damaged file is not changed. Records that are lost may be in a mirror:
 * satchel_records_mirror(). The result is
 *
 * | field            | type             | meaning                                       |
 * | ---------------- | ---------------- | --------------------------------------------- |
 * | `path`           | string           | the path of the new store                     |
 * | `complete`       | boolean          | whether all contents were recovered           |
 * | `header_lost`    | boolean          | whether the file's header was unreadable      |
 * | `schema_lost`    | boolean          | whether sqlite_schema was unreadable          |
 * | `tables`         | array of objects | one for each table, see below                 |
 * | `unknown_tables` | array of strings | tables that this version does not know        |
 * | `findings`       | array of objects | @ref json_finding "findings" in the new store |
 *
 * and each element of `tables`
 *
 * | field        | type    | meaning                                                   |
 * | ------------ | ------- | --------------------------------------------------------- |
 * | `name`       | string  | the name of the table                                     |
 * | `rows`       | integer | the rows that were recovered                              |
 * | `lost_rows`  | integer | the rows that are unreadable or violate the table's rules |
 * | `lost_pages` | integer | the pages that are unreadable                             |
 *
 * @param damaged   the path of the damaged store, NUL-terminated UTF-8
 * @param path      the path of the new store, which must not exist
 * @param[out] out  a JSON object; may be NULL
 *
 * **Returns** SATCHEL_OK; SATCHEL_EFOREIGN when no part of a store is found in the file;
 * SATCHEL_ENOTFOUND when it does not exist; SATCHEL_EINVALID when `path` exists;
 * SATCHEL_ENEWER, SATCHEL_EFULL or SATCHEL_EIO. On failure no new store is created.
 */
SATCHEL_API satchel_status satchel_store_recover(
    const char *damaged, const char *path, satchel_buffer *out);

/** A subscription to the changes of a store. */
typedef struct satchel_observer satchel_observer;

/**
 * Receives one change.
 *
 * | field           | type             | meaning                                            |
 * | --------------- | ---------------- | -------------------------------------------------- |
 * | `subject`       | string           | what changed, see below                            |
 * | `keys`          | array of strings | the names and ids of what changed, see below       |
 * | `section_count` | integer          | the number of keys that are names of sections      |
 * | `place`         | string or null   | the place key or directory that changed            |
 * | `own`           | boolean          | whether the change was written through this handle |
 * | `revision`      | integer          | the number of the commit; 0 for some events        |
 *
 * | `subject`   | `keys`                                                                   |
 * | ----------- | ------------------------------------------------------------------------ |
 * | "catalogue" | `section_count` names of sections, then ids of entities                  |
 * | "photos"    | MD5s; after many changes "shard:0" to "shard:f"                          |
 * | "stories"   | ids of stories                                                           |
 * | "records"   | collection and id, as "courses/c1"; after many changes the collection    |
 * | "state"     | kind and name, as "value/theme", "list/history", "set/seen", "scores/x"  |
 *
 * The first "/" of a key of records or state is the separator. A key of records or state
 * that begins with "@" is an @ref json_record_events "event".
 *
 * `keys` is ["*"], and `section_count` 0, when another handle wrote more than the change
 * log keeps, or when a change is too large to list: read everything of the subject again.
 *
 * @param context  the context that was given with the function
 * @param change   a JSON object; valid during the callback
 */
typedef void (*satchel_change_callback)(void *context, satchel_bytes change);

/**
 * Subscribes to the changes of a store.
 *
 * Each change is reported after its commit.
 *
 * @param store     an open store
 * @param callback  receives the changes
 * @param context   passed to `callback`
 * @param release   called exactly once with `context`, after the last call of `callback`,
 *                  also on failure; may be NULL
 * @param[out] out  the subscription
 *
 * **Returns** SATCHEL_OK or a default status.
 *
 * **Ownership** The caller frees the subscription: satchel_observer_free().
 *
 * **Threads** Changes that are made through this handle are reported on the thread that
 * makes them, before its call returns. Changes of other handles and processes are
 * reported on a thread of the library within about 0.2 s, which live queries share. The
 * callback may call the library and free its own observer; closing the store in it returns
 * SATCHEL_EBUSY.
 */
SATCHEL_API satchel_status satchel_store_observe(
    satchel_store *store, satchel_change_callback callback, void *context,
    void (*release)(void *context), satchel_observer **out);

/**
 * Ends a subscription.
 *
 * @param observer  may be NULL, and may have been freed before
 */
SATCHEL_API void satchel_observer_free(satchel_observer *observer);

/** @} */

/**
 * @defgroup satchel_interrupts Interrupts
 * Stopping a long read from another thread, and limiting its time.
 *
 * The reads that can be stopped are the lists and counts of records, the reads and
 * searches of the catalogue, the queries, counts, changes and status of photos, the
 * selection of stories, satchel_store_statistics() and satchel_store_check(). The query
 * of satchel_records_watch() has the time limit of the store. A stopped read changes
 * nothing, and leaves a batch of its thread open. A write that has begun is completed;
 * long work with a progress callback is cancelled by that callback.
 * @{
 */

/** Stops the reads of the threads that it is attached to. */
typedef struct satchel_interrupt satchel_interrupt;

/**
 * Returns whether the read in progress has to stop.
 *
 * Called during a read, at most every 50 ms, and never by one that takes less. Every call
 * that it makes on a store returns SATCHEL_EBUSY.
 *
 * @param context  the context that was given with the function
 *
 * **Returns** true to stop: the read then returns SATCHEL_ECANCELLED. Later reads go on.
 *
 * **Threads** Called on the thread that makes the read.
 */
typedef bool (*satchel_interrupt_check)(void *context);

/** Options of an interrupt; start from SATCHEL_INTERRUPT_OPTIONS_INIT. */
typedef struct satchel_interrupt_options {
    /** sizeof(satchel_interrupt_options), so that the struct can grow. */
    size_t size;
    /** The time limit of each read in ms, after which it returns SATCHEL_ETIMEDOUT; 0
     *  means query_timeout_ms of the store, -1 means no limit. */
    int64_t timeout_ms;
    /** Called during reads to ask whether they have to stop; may be NULL. */
    satchel_interrupt_check check;
    /** Passed to `check`. */
    void *context;
    /** Called exactly once with `context`, after the last call of `check`, also on
     *  failure; may be NULL. */
    void (*release)(void *context);
} satchel_interrupt_options;

/** The default options of an interrupt. */
#define SATCHEL_INTERRUPT_OPTIONS_INIT \
    { sizeof(satchel_interrupt_options), 0, NULL, NULL, NULL }

/**
 * Creates an interrupt that is not attached to a thread yet.
 *
 * @param options   may be NULL
 * @param[out] out  the interrupt
 *
 * **Returns** SATCHEL_OK; SATCHEL_EINVALID for a timeout_ms less than -1.
 *
 * **Ownership** The caller frees the interrupt: satchel_interrupt_free().
 */
SATCHEL_API satchel_status satchel_interrupt_new(
    const satchel_interrupt_options *options, satchel_interrupt **out);

/**
 * Attaches an interrupt to the calling thread, and detaches its previous one.
 *
 * It can stop the reads that the thread begins from now on, of any store.
 *
 * @param interrupt  NULL only detaches the previous one
 *
 * **Returns** SATCHEL_OK, or SATCHEL_ECLOSED when it was freed.
 *
 * **Ownership** A thread keeps its interrupt alive, also after satchel_interrupt_free(),
 * until the next satchel_interrupt_attach() on it, or until it exits.
 *
 * **Threads** One interrupt may be attached to any number of threads.
 */
SATCHEL_API satchel_status satchel_interrupt_attach(satchel_interrupt *interrupt);

/**
 * Cancels the current and all later reads of the threads that an interrupt is attached
 * to.
 *
 * Reads in progress return SATCHEL_ECANCELLED, mostly within a millisecond. Reads that
 * begin later return it immediately, so that a cancellation between two calls is not
 * lost. To read again, attach another interrupt, or NULL.
 *
 * @param interrupt  an interrupt
 *
 * **Returns** SATCHEL_OK; does not wait for the reads.
 */
SATCHEL_API satchel_status satchel_interrupt_cancel(satchel_interrupt *interrupt);

/**
 * Frees an interrupt.
 *
 * @param interrupt  may be NULL, and may have been freed before
 */
SATCHEL_API void satchel_interrupt_free(satchel_interrupt *interrupt);

/** @} */

/**
 * @defgroup satchel_remotes Remotes
 * Object stores that hold the remote copies.
 *
 * A remote describes how to reach an object store: a directory, S3 over HTTPS, or
 * functions of the host. Creating one does not access the network. One remote can serve
 * any number of photo catalogues, collections and threads.
 * @{
 */

/** An object store, as the library accesses it. */
typedef struct satchel_remote satchel_remote;

/**
 * Opens a directory as an object store.
 *
 * For tests, for one machine, and for disks that several machines mount and that support
 * flock().
 *
 * Creates nothing: the first write creates the directory. A random id in it,
 * `.satchel/remote.json`, tells devices that were synchronized with it from another one
 * at the same path.
 *
 * @param path      the directory; its parent must exist
 * @param[out] out  the remote
 *
 * **Returns** SATCHEL_OK; SATCHEL_EINVALID for an invalid path; SATCHEL_ENOTFOUND when
 * the parent does not exist; SATCHEL_EREADONLY when its permissions forbid access;
 * SATCHEL_EIO.
 *
 * **Ownership** The caller frees the remote: satchel_remote_free().
 */
SATCHEL_API satchel_status satchel_remote_directory(
    satchel_bytes path, satchel_remote **out);

/** The result of a request to an object store that the host implements. */
typedef enum satchel_remote_result {
    /** The request succeeded. */
    SATCHEL_REMOTE_OK = 0,
    /** The object still has the etag of `if_none_match`. */
    SATCHEL_REMOTE_NOT_MODIFIED = 1,
    /** There is no such object. */
    SATCHEL_REMOTE_NOT_FOUND = 2,
    /** The condition does not hold, and nothing was changed. */
    SATCHEL_REMOTE_PRECONDITION_FAILED = 3,
    /** A write may or may not have taken effect: the library reads it back. */
    SATCHEL_REMOTE_UNKNOWN = 4,
    /** Nothing was changed, and a retry may succeed. */
    SATCHEL_REMOTE_TRANSIENT = 5,
    /** The credentials are refused or do not permit the request: SATCHEL_EAUTH. */
    SATCHEL_REMOTE_DENIED = 6,
    /** The request failed, and a retry does not help. */
    SATCHEL_REMOTE_FAILED = 7
} satchel_remote_result;

/**
 * The response of the host to one request.
 *
 * Valid until the function that received it returns. Setting something later, or through
 * another pointer, has no effect.
 */
typedef struct satchel_remote_answer satchel_remote_answer;

/**
 * Sets the body of the object, or the JSON of a listing.
 *
 * The body of an object that is larger than what is read of its kind is refused and not
 * copied: of the head of a sync log 1 MiB, of a pack the size that the head states, of
 * other objects at most 1 GiB.
 *
 * @param answer  the response
 * @param body    the body; copied
 */
SATCHEL_API void satchel_remote_answer_body(
    satchel_remote_answer *answer, satchel_bytes body);

/**
 * Sets the etag of the object, which must differ whenever the content differs.
 *
 * @param answer  the response
 * @param etag    the etag; copied
 */
SATCHEL_API void satchel_remote_answer_etag(
    satchel_remote_answer *answer, satchel_bytes etag);

/**
 * Sets the metadata of the object, as it was given to `put`.
 *
 * @param answer    the response
 * @param metadata  a JSON object of strings; copied
 */
SATCHEL_API void satchel_remote_answer_metadata(
    satchel_remote_answer *answer, satchel_bytes metadata);

/**
 * Sets the size of the object, for `head`.
 *
 * @param answer  the response
 * @param size    the number of bytes
 */
SATCHEL_API void satchel_remote_answer_size(satchel_remote_answer *answer, int64_t size);

/**
 * Sets the cause of a result that is not success.
 *
 * The message must not contain credentials.
 *
 * @param answer   the response
 * @param message  the cause; copied
 */
SATCHEL_API void satchel_remote_answer_message(
    satchel_remote_answer *answer, satchel_bytes message);

/**
 * Gives the credentials of an S3 store: the host's function of satchel_remote_s3().
 *
 * It sets the body of the answer to a JSON object, and is asked again a minute before
 * they expire, and when the store does not accept them any more:
 *
 * | field           | type            | meaning                            |
 * | --------------- | --------------- | ---------------------------------- |
 * | `access_key`    | string          | the access key id                  |
 * | `secret_key`    | string          | the secret access key              |
 * | `session_token` | string or null  | the token of temporary credentials |
 * | `expires`       | integer or null | Unix milliseconds                  |
 *
 * @param context  the context that was given with the function
 * @param answer   the answer: satchel_remote_answer_body(), and satchel_remote_answer_message()
 *                 where they are missing
 *
 * **Returns** SATCHEL_REMOTE_OK; SATCHEL_REMOTE_TRANSIENT when it may succeed later, as
 * without a network; any other result ends the call that needs them with SATCHEL_EAUTH.
 *
 * **Threads** Called from any thread, one call at a time for each remote. It must not use
 * the remote.
 */
typedef satchel_remote_result (*satchel_remote_credentials_callback)(
    void *context, satchel_remote_answer *answer);

/**
 * Opens a bucket of an S3-compatible object store.
 *
 * The options are a JSON object:
 *
 * | field            | type    | meaning                                               |
 * | ---------------- | ------- | ----------------------------------------------------- |
 * | `bucket`         | string  | the name of the bucket                                |
 * | `endpoint`       | string  | "https://s3.example.org"; AWS when left out           |
 * | `region`         | string  | the region                                            |
 * | `access_key`     | string  | the access key id                                     |
 * | `secret_key`     | string  | the secret access key                                 |
 * | `session_token`  | string  | the token of temporary credentials                    |
 * | `profile`        | string  | a profile of the shared files, see below              |
 * | `prefix`         | string  | the prefix of all keys                                |
 * | `path_style`     | boolean | path-style addresses; true unless the endpoint is AWS |
 * | `ca_file`        | string  | a file of certificates to trust                       |
 * | `timeouts`       | object  | "connect", "stall" and "total" (ms)                   |
 * | `proxy`          | string  | the URL of a proxy; "" for none                       |
 * | `storage_class`  | string  | of uploaded files, as "STANDARD_IA"                   |
 * | `encryption`     | string  | by the store: "AES256" or "aws:kms"                   |
 * | `encryption_key` | string  | the key of "aws:kms"                                  |
 *
 * The credentials are those of `access_key`, of the function, or of `profile`: at most
 * one of the three is given. Without them they are those of AWS_ACCESS_KEY_ID,
 * AWS_SECRET_ACCESS_KEY and AWS_SESSION_TOKEN, else of the profile AWS_PROFILE, or
 * "default". A profile is a section of `~/.aws/credentials` or `~/.aws/config`
 * (AWS_SHARED_CREDENTIALS_FILE, AWS_CONFIG_FILE). Its `region` and `endpoint_url` count
 * after AWS_REGION, AWS_DEFAULT_REGION, AWS_ENDPOINT_URL_S3 and AWS_ENDPOINT_URL. When the
 * store says that the credentials have expired or are not known, the function, the
 * environment or the files are asked again, and the request is repeated.
 *
 * Without `proxy` it is that of HTTPS_PROXY (or http_proxy), except for this machine and
 * for hosts of NO_PROXY. The storage class is that of files of photos only: a class from
 * which reading is slow or expensive does not suit what each synchronization reads.
 * Unknown fields are SATCHEL_EINVALID.
 *
 * A clock of this device that is off is corrected by the store's dates. Certificates are verified. Over http:// secrets are not sent, but contents can be read
 * and modified in transit: use it for tests and closed networks only. No message contains
 * credentials.
 *
 * @param options      a JSON object
 * @param credentials  gives the credentials; NULL for the other sources
 * @param context      passed to `credentials`
 * @param release      called with `context` when the remote no longer uses it, also after a
 *                     failure; may be NULL
 * @param[out] out     the remote
 *
 * **Returns** SATCHEL_OK, or SATCHEL_EINVALID; the message names the option.
 *
 * **Ownership** The caller frees the remote: satchel_remote_free().
 */
SATCHEL_API satchel_status satchel_remote_s3(
    satchel_bytes options, satchel_remote_credentials_callback credentials, void *context,
    void (*release)(void *context), satchel_remote **out);

/**
 * The functions of an object store that the host implements; start from
 * SATCHEL_REMOTE_OPERATIONS_INIT.
 *
 * They are called from any thread, several at the same time. Conditional writes must be
 * atomic: of several concurrent writes with one condition, exactly one takes effect.
 * Reads must see every write that returned before.
 */
typedef struct satchel_remote_operations {
    /** sizeof(satchel_remote_operations). */
    size_t size;
    /** Reads an object: sets body, etag and metadata. When `if_none_match` is an etag
     *  that the object still has, returns SATCHEL_REMOTE_NOT_MODIFIED; it may be
     *  empty. */
    satchel_remote_result (*get)(
        void *context, satchel_bytes key, satchel_bytes if_none_match,
        satchel_remote_answer *answer);
    /** Writes a whole object: sets etag. `if_match` is the etag that the object must
     *  have, or empty; with `if_absent` the object must not exist. `metadata` is a JSON
     *  object of strings to store with the object. */
    satchel_remote_result (*put)(
        void *context, satchel_bytes key, satchel_bytes body, satchel_bytes if_match,
        bool if_absent, satchel_bytes metadata, satchel_remote_answer *answer);
    /** Describes an object: sets size, etag and metadata. */
    satchel_remote_result (*head)(
        void *context, satchel_bytes key, satchel_remote_answer *answer);
    /** Deletes an object; `if_match` as in `put`. When `if_match` is empty, deleting an
     *  object that does not exist succeeds. */
    satchel_remote_result (*remove)(
        void *context, satchel_bytes key, satchel_bytes if_match,
        satchel_remote_answer *answer);
    /** Lists, in byte order, up to `limit` keys that begin with `prefix` and follow
     *  `after` (empty, or the last key of the previous page): sets the body to
     *  {"entries": [{"key", "size", "etag" (may be left out)}], "has_more"}. */
    satchel_remote_result (*list)(
        void *context, satchel_bytes prefix, satchel_bytes after, int32_t limit,
        satchel_remote_answer *answer);
    /** Identifies the object store: remotes with the same identity hold the same objects.
     *  satchel_store_sync() requires it, satchel_photos_sync() does not. At most 1,024
     *  bytes; copied; may be empty. */
    satchel_bytes identity;
    /** Optional, as the two below: all three, or none. With them the files of photos have
     *  no limit of 1 GiB, and 8 MiB of each is in memory.
     *
     *  Reads up to `length` bytes of an object from `offset` on: sets body, etag, and as
     *  size that of the whole object. `if_match` is the etag that the object must have,
     *  or empty. */
    satchel_remote_result (*get_range)(
        void *context, satchel_bytes key, int64_t offset, int64_t length,
        satchel_bytes if_match, satchel_remote_answer *answer);
    /** Keeps a part of an upload, which the library has named; `number` is 1 or more. A
     *  part of the same number is replaced. */
    satchel_remote_result (*put_part)(
        void *context, satchel_bytes key, satchel_bytes upload, int32_t number,
        satchel_bytes body, satchel_remote_answer *answer);
    /** Makes an object of the parts 1 to `parts`, as `put` of their bytes: sets etag.
     *  With 0 parts: discards the upload; sets nothing. */
    satchel_remote_result (*complete)(
        void *context, satchel_bytes key, satchel_bytes upload, int32_t parts,
        satchel_bytes if_match, bool if_absent, satchel_bytes metadata,
        satchel_remote_answer *answer);
} satchel_remote_operations;

/** The initial value of satchel_remote_operations. */
#define SATCHEL_REMOTE_OPERATIONS_INIT \
    { sizeof(satchel_remote_operations), NULL, NULL, NULL, NULL, NULL, { NULL, 0 }, NULL, \
      NULL, NULL }

/**
 * Creates a remote from functions of the host.
 *
 * @param operations  the functions, none of them NULL; copied
 * @param context     passed to them
 * @param release     called exactly once with `context`, after the last use of it, also
 *                    on failure; may be NULL
 * @param[out] out    the remote
 *
 * **Returns** SATCHEL_OK, or SATCHEL_EINVALID when a function is NULL, and for an identity
 * that is not UTF-8 or too long.
 *
 * **Ownership** The caller frees the remote: satchel_remote_free().
 */
SATCHEL_API satchel_status satchel_remote_callbacks(
    const satchel_remote_operations *operations, void *context,
    void (*release)(void *context), satchel_remote **out);

/**
 * Measures what an object store can do with the credentials at hand.
 *
 * Writes objects of its own below `prefix` and deletes them again: some twenty requests.
 * They are sequential, so that a store whose conditions are not atomic is not recognized:
 * the guide to photos lists the stores that are known to work. The result is
 *
 * | field               | type            | meaning                                       |
 * | ------------------- | --------------- | --------------------------------------------- |
 * | `supported`         | boolean         | whether conditional writes are supported      |
 * | `reason`            | string or null  | what failed of them                           |
 * | `list`              | boolean         | whether the credentials may list              |
 * | `delete`            | boolean         | whether they may delete                       |
 * | `metadata`          | boolean         | whether the metadata of objects is kept       |
 * | `ranges`            | boolean or null | whether a part of an object is sent alone     |
 * | `parts`             | boolean or null | whether there are uploads in parts            |
 * | `checksum_required` | boolean or null | whether writes without a checksum are refused |
 * | `clock_offset`      | integer or null | the store's clock less this one's (ms)        |
 *
 * null is what cannot be measured of a store of this kind.
 *
 * @param remote    the remote
 * @param prefix    the prefix of the test object's key
 * @param[out] out  a JSON object
 *
 * **Returns** SATCHEL_OK; SATCHEL_EINVALID for an invalid prefix; SATCHEL_EAUTH,
 * SATCHEL_EUNAVAILABLE or SATCHEL_EIO.
 */
SATCHEL_API satchel_status satchel_remote_probe(
    satchel_remote *remote, satchel_bytes prefix, satchel_buffer *out);

/**
 * Reads an object.
 *
 * This and the next four functions access objects of the host, and retry as a
 * synchronization does. Keys that begin with "catalogs/", "photos/" and "sync/" are
 * reserved for the library: they can be read, and must not be written.
 *
 * @anchor json_remote_head
 * The size, the etag and the metadata of an object are
 *
 * | field      | type    | meaning                                    |
 * | ---------- | ------- | ------------------------------------------ |
 * | `size`     | integer | the size of the body in bytes              |
 * | `etag`     | string  | changes whenever the body does             |
 * | `metadata` | object  | strings by name; `sha256`, of the body, if |
 * |            |         | the library has written the object         |
 *
 * @param remote         the remote
 * @param key            the key
 * @param if_none_match  an etag: an object that still has it is not read; may be empty
 * @param[out] head      a JSON object; without data when the object was not read; may be
 *                       NULL
 * @param[out] body      the bytes; without data when the object was not read
 *
 * **Returns** SATCHEL_OK; SATCHEL_ENOTFOUND when there is no such object;
 * SATCHEL_EINVALID for an invalid key; SATCHEL_EAUTH; SATCHEL_EUNAVAILABLE.
 */
SATCHEL_API satchel_status satchel_remote_get(
    satchel_remote *remote, satchel_bytes key, satchel_bytes if_none_match,
    satchel_buffer *head, satchel_buffer *body);

/**
 * Writes an object as a whole.
 *
 * When the response is lost, the object is read back to determine the outcome.
 *
 * @param remote     the remote
 * @param key        the key
 * @param body       the bytes
 * @param if_match   the etag that the object must have; empty for no condition
 * @param if_absent  whether there must be no such object
 * @param metadata   a JSON object of strings, to be stored with the object: names of a-z,
 *                   0-9 and "-", values of printable ASCII, 2,048 bytes together; may be
 *                   empty
 * @param[out] etag  the etag of the object; may be NULL
 *
 * **Returns** SATCHEL_OK; SATCHEL_ECONFLICT when the condition does not hold: nothing was
 * changed; SATCHEL_EINVALID for invalid arguments; SATCHEL_EAUTH; SATCHEL_EUNAVAILABLE.
 */
SATCHEL_API satchel_status satchel_remote_put(
    satchel_remote *remote, satchel_bytes key, satchel_bytes body, satchel_bytes if_match,
    bool if_absent, satchel_bytes metadata, satchel_buffer *etag);

/**
 * Returns the size, the etag and the metadata of an object.
 *
 * @param remote    the remote
 * @param key       the key
 * @param[out] out  a JSON object, as @ref json_remote_head "head" of satchel_remote_get()
 *
 * **Returns** As satchel_remote_get().
 */
SATCHEL_API satchel_status satchel_remote_head(
    satchel_remote *remote, satchel_bytes key, satchel_buffer *out);

/**
 * Deletes an object. Without a condition, deleting one that does not exist succeeds.
 *
 * @param remote    the remote
 * @param key       the key
 * @param if_match  the etag that the object must have; empty for no condition
 *
 * **Returns** As satchel_remote_put().
 */
SATCHEL_API satchel_status satchel_remote_delete(
    satchel_remote *remote, satchel_bytes key, satchel_bytes if_match);

/**
 * Returns the objects whose keys begin with a prefix, one page at a time, in the order of
 * the keys' bytes.
 *
 * | field     | type             | meaning                                             |
 * | --------- | ---------------- | --------------------------------------------------- |
 * | `entries` | array of objects | {"key", "size", "etag"}; the etag is null where the |
 * |           |                  | object store does not list it                       |
 * | `next`    | string or null   | the cursor of the next page; null for the last one  |
 * | `skipped` | integer          | names that cannot be keys                           |
 *
 * @param remote    the remote
 * @param prefix    the prefix; empty for all objects
 * @param after     `next` of the previous page; empty for the first page
 * @param limit     the size of a page, 1 to 1,000
 * @param[out] out  a JSON object
 *
 * **Returns** SATCHEL_OK; SATCHEL_EINVALID for an invalid prefix or limit; SATCHEL_EAUTH;
 * SATCHEL_EUNAVAILABLE.
 */
SATCHEL_API satchel_status satchel_remote_list(
    satchel_remote *remote, satchel_bytes prefix, satchel_bytes after, int32_t limit,
    satchel_buffer *out);

/**
 * Frees a remote.
 *
 * Calls in progress that synchronize with it continue.
 *
 * @param remote  may be NULL, and may have been freed before
 */
SATCHEL_API void satchel_remote_free(satchel_remote *remote);

/** @} */

/**
 * @defgroup satchel_sources Sources
 * Where the content of the catalogue comes from, and the bytes of assets.
 *
 * A source is a server, or functions of the host. Creating one does not access the
 * network. One source can serve any number of stores and threads.
 * @{
 */

/** A source of content and assets. */
typedef struct satchel_source satchel_source;

/**
 * Creates a source that is a server.
 *
 * Content is asked for by GET of the base URL, with the query parameters `latitude`,
 * `longitude`, `sublocality`, `locality`, `admin_area`, `country_code` and `country_name`,
 * as far as the location has them; `section`, when one section is asked for; and `entity`,
 * for each entity that is missing or expired, as many as fit into a URL of 2,000 bytes.
 * If-None-Match has the etag of what is stored.
 *
 * | answer                       | meaning                                              |
 * | ---------------------------- | ---------------------------------------------------- |
 * | 200                          | JSON of a section, or of a delivery, an object with `sections`; with `"complete": true` it is all there is |
 * | 304                          | nothing has changed                                  |
 * | 404, 410                     | there is no such content                             |
 * | 408, 425, 429, 5xx, no answer | a transient failure, with the time of Retry-After   |
 * | any other                    | a final failure                                      |
 *
 * Content is fresh for the max-age of Cache-Control, less Age; otherwise until Expires.
 * Assets are asked for by GET of their URLs, on any server.
 *
 * Redirects are followed within a site, and from http to https of the same host, at most
 * five. No proxy of the environment is used. Certificates are verified. The options are a
 * JSON object:
 *
 * | field           | type    | meaning                                                |
 * | --------------- | ------- | ------------------------------------------------------ |
 * | `headers`       | object  | strings by name, for the origin of the base URL only   |
 * | `timeouts`      | object  | "connect", "stall" and "total" (ms): 10 s, 30 s, 10 min |
 * | `max_size`      | integer | the largest content in bytes; 16 MiB                   |
 * | `ca_file`       | string  | a file of certificates to trust                        |
 * | `proxy`         | string  | the URL of a proxy                                     |
 * | `allow_private` | boolean | asks servers whose addresses are not public; by default if the base URL has such an address, or a name of a private network, as "localhost" |
 *
 * Unknown fields are SATCHEL_EINVALID. No message contains the values of headers, or a
 * query.
 *
 * @param base_url  http or https, perhaps with a path and a query; without a user
 * @param options   a JSON object; may be empty
 * @param[out] out  the source
 *
 * **Returns** SATCHEL_OK, or SATCHEL_EINVALID; the message names the option.
 *
 * **Ownership** The caller frees the source: satchel_source_free().
 */
SATCHEL_API satchel_status satchel_source_http(
    satchel_bytes base_url, satchel_bytes options, satchel_source **out);

/**
 * The answer of the host to a request for content.
 *
 * Valid until the function that received it returns. Setting something later, or through
 * another pointer, has no effect.
 */
typedef struct satchel_source_answer satchel_source_answer;

/**
 * Sets the content.
 *
 * @param answer  the answer
 * @param body    JSON of a section, or of a delivery, an object with `sections`; at most 64
 *                MiB; copied
 */
SATCHEL_API void satchel_source_answer_body(
    satchel_source_answer *answer, satchel_bytes body);

/**
 * Sets the entity tag of the content, which the next request has.
 *
 * @param answer  the answer
 * @param etag    the etag; copied
 */
SATCHEL_API void satchel_source_answer_etag(
    satchel_source_answer *answer, satchel_bytes etag);

/**
 * Sets for how long the content is fresh.
 *
 * @param answer   the answer
 * @param seconds  0 for content that is to be asked for again at once; negative to leave it
 *                 to the call that refreshes
 */
SATCHEL_API void satchel_source_answer_max_age(
    satchel_source_answer *answer, int64_t seconds);

/**
 * Sets whether a delivery has all sections of the place.
 *
 * @param answer    the answer
 * @param complete  false by default, unless the delivery has `"complete": true`
 */
SATCHEL_API void satchel_source_answer_complete(
    satchel_source_answer *answer, bool complete);

/**
 * Sets the cause of a failure.
 *
 * The message must not contain credentials.
 *
 * @param answer   the answer
 * @param message  the cause; copied
 */
SATCHEL_API void satchel_source_answer_message(
    satchel_source_answer *answer, satchel_bytes message);

/**
 * Sets the earliest time of the next request after a transient failure.
 *
 * @param answer   the answer
 * @param seconds  from now; negative for no wish
 */
SATCHEL_API void satchel_source_answer_retry_after(
    satchel_source_answer *answer, int64_t seconds);

/**
 * Returns whether the call that asks was cancelled.
 *
 * A function that takes long asks now and then, and returns any failure, which is not
 * counted.
 *
 * @param answer  the answer
 *
 * **Returns** Whether it was cancelled; false for a handle that is not valid.
 */
SATCHEL_API bool satchel_source_answer_cancelled(satchel_source_answer *answer);

/**
 * Fetches content: a function of the host.
 *
 * It may use the store, but not close it. The request is
 *
 * | field      | type             | meaning                                              |
 * | ---------- | ---------------- | ---------------------------------------------------- |
 * | `location` | object           | the @ref json_location "location"                    |
 * | `section`  | string or null   | the section; null for all of the place               |
 * | `entities` | array of strings | the entities that are missing or expired             |
 * | `etag`     | string or null   | the etag of what is stored                           |
 * | `attempt`  | integer          | 1, and one more for each failure since the last answer |
 *
 * @param context  the context that was given with the function
 * @param request  a JSON object; valid during the callback
 * @param answer   receives the content, or the cause of a failure
 *
 * **Returns** SATCHEL_REMOTE_OK; SATCHEL_REMOTE_NOT_MODIFIED when the content has the etag
 * of the request; SATCHEL_REMOTE_NOT_FOUND without content; SATCHEL_REMOTE_TRANSIENT
 * for a failure that may pass; SATCHEL_REMOTE_FAILED or SATCHEL_REMOTE_DENIED for one that
 * stays.
 *
 * **Threads** Called on the thread of the call that fetches, or on one of the library;
 * several at the same time, for different places and sections.
 */
typedef satchel_remote_result (*satchel_source_content)(
    void *context, satchel_bytes request, satchel_source_answer *answer);

/**
 * Receives the bytes of an asset from a function of the host.
 *
 * Valid until the function that received it returns. What is set through another pointer,
 * or later, has no effect.
 */
typedef struct satchel_asset_writer satchel_asset_writer;

/**
 * Fetches one URL, and appends the bytes to the writer: a function of the host.
 *
 * The URL comes from a document: the function decides on redirects, and on addresses that
 * it does not ask. It may use the store, but not close it. The request is
 *
 * | field      | type           | meaning                                                  |
 * | ---------- | -------------- | -------------------------------------------------------- |
 * | `url`      | string         | the URL                                                  |
 * | `etag`     | string or null | the ETag of the bytes that are here                      |
 * | `sha256`   | string or null | the SHA-256 that the reference states; others are refused |
 * | `max_size` | integer        | the maximum size in bytes; more are refused              |
 *
 * @param context  the context that was given with the function
 * @param request  a JSON object, see above; valid during the callback
 * @param writer   receives the bytes, the ETag, and the cause of a failure
 *
 * **Returns** SATCHEL_REMOTE_OK; SATCHEL_REMOTE_NOT_MODIFIED when the bytes are those of
 * the ETag (HTTP 304); any other result is a failure of this asset.
 *
 * **Threads** Called on the thread of the call that fetches, or on one of the library.
 */
typedef satchel_remote_result (*satchel_asset_fetch)(
    void *context, satchel_bytes request, satchel_asset_writer *writer);

/**
 * Creates a source from functions of the host.
 *
 * @param content  fetches content
 * @param asset    fetches assets; NULL for a source without them
 * @param context  passed to both
 * @param release  called exactly once with `context`, after the last use of it, also on
 *                 failure; may be NULL
 * @param[out] out the source
 *
 * **Returns** SATCHEL_OK, or SATCHEL_EINVALID when `content` is NULL.
 *
 * **Ownership** The caller frees the source: satchel_source_free().
 */
SATCHEL_API satchel_status satchel_source_new(
    satchel_source_content content, satchel_asset_fetch asset, void *context,
    void (*release)(void *context), satchel_source **out);

/**
 * Asks a source for content, and stores nothing.
 *
 * The answer is
 *
 * | field         | type            | meaning                                            |
 * | ------------- | --------------- | -------------------------------------------------- |
 * | `result`      | string          | "content", "not_modified", "not_found", "transient" or "final": the last two are failures |
 * | `body`        | string or null  | the content                                        |
 * | `etag`        | string or null  | its etag                                           |
 * | `max_age`     | integer or null | for how many seconds it is fresh                   |
 * | `complete`    | boolean         | whether a delivery has all sections of the place   |
 * | `message`     | string or null  | the cause of a failure                             |
 * | `retry_after` | integer or null | the seconds until the next request                 |
 *
 * @param source    a source
 * @param request   the JSON object of @ref satchel_source_content; all but `location` may
 *                  be left out
 * @param[out] out  a JSON object; emptied on failure
 *
 * **Returns** SATCHEL_OK, also when the source fails; SATCHEL_EINVALID for an invalid
 * request; SATCHEL_ECANCELLED by an interrupt of this thread.
 *
 * **Ownership** The caller frees *out: satchel_buffer_free().
 */
SATCHEL_API satchel_status satchel_source_fetch(
    satchel_source *source, satchel_bytes request, satchel_buffer *out);

/**
 * Frees a source. Calls that use it are finished before its context is released.
 *
 * @param source  the source; NULL and handles that are freed already are ignored
 */
SATCHEL_API void satchel_source_free(satchel_source *source);

/** @} */

/**
 * @defgroup satchel_sync Sync
 * Synchronizing a store with an object store.
 *
 * One call synchronizes a store: satchel_store_sync(). satchel_photos_sync() synchronizes
 * a photo catalogue alone. Both block, and must be called outside of a batch. While one
 * runs, every other call proceeds; a second synchronization of the same store or
 * catalogue waits for the first.
 *
 * @anchor json_sync_progress
 * **Progress.**
 *
 * | field        | type    | meaning                                               |
 * | ------------ | ------- | ----------------------------------------------------- |
 * | `phase`      | string  | of records and state: "download", "apply", "upload";  |
 * |              |         | of photos: "plan", "shards", "manifest";              |
 * |              |         | of backups of photos: "files"                         |
 * | `done`       | integer | objects, uploaded changes, shards, or files           |
 * | `total`      | integer | how many there are; 0 while that is not known         |
 * | `bytes_up`   | integer | bytes of bodies that were sent so far, with retries   |
 * | `bytes_down` | integer | bytes of bodies that were received so far             |
 * @{
 */

/**
 * Which version is kept of a photo or a record that was changed both locally and
 * remotely.
 *
 * Photos accept SATCHEL_CONFLICT_REMOTE_WINS and SATCHEL_CONFLICT_MERGE, and refuse the
 * others with SATCHEL_EINVALID. The policy of a photo catalogue is declared when it is
 * opened: satchel_photos_open(). The policy of records is a part of the declaration of
 * their collection: satchel_records_open().
 */
typedef enum satchel_conflict_policy {
    /** For satchel_photos_sync(), the policy that is declared with the catalogue; for
     *  satchel_photos_open(), the policy that was declared before; for other functions,
     *  SATCHEL_CONFLICT_REMOTE_WINS. */
    SATCHEL_CONFLICT_DEFAULT = 0,
    /** The remote version is kept; the local version goes to the conflict log. */
    SATCHEL_CONFLICT_REMOTE_WINS = 1,
    /** The local version is kept. */
    SATCHEL_CONFLICT_LOCAL_WINS = 2,
    /** The version that was modified last is kept. */
    SATCHEL_CONFLICT_NEWEST_WINS = 3,
    /** Records: the versions are merged field by field, based on the version that was
     *  synchronized last; of a field that both changed, the version that was modified
     *  last is kept. Photos: the local row is kept. */
    SATCHEL_CONFLICT_MERGE = 4,
    /** Both versions are kept until the host decides: satchel_records_resolve(). */
    SATCHEL_CONFLICT_ASK = 5
} satchel_conflict_policy;

/**
 * The choice for content that is here before the first synchronization as a user.
 *
 * Content of a guest, which was never synchronized, and content of the same user are added
 * to the user's by default; content of another user or remote is refused with
 * SATCHEL_EFOREIGN. Without effect once the store, or the catalogue, is bound.
 */
typedef enum satchel_first_sync {
    /** Refuses content of another user. */
    SATCHEL_FIRST_DEFAULT = 0,
    /** The content becomes the user's, also where it is another user's; a closed account
     *  is opened again. */
    SATCHEL_FIRST_UPLOAD = 1,
    /** The content is removed locally, as by satchel_store_sign_out(); what was never sent
     *  is lost. */
    SATCHEL_FIRST_DISCARD = 2
} satchel_first_sync;

/** Options for synchronizing; start from SATCHEL_SYNC_OPTIONS_INIT. */
typedef struct satchel_sync_options {
    /** sizeof(satchel_sync_options). */
    size_t size;
    /** The policy for conflicts; SATCHEL_CONFLICT_DEFAULT means the one that is declared
     *  with the catalogue. */
    satchel_conflict_policy on_conflict;
    /** Reports what would be transferred, and writes nothing locally or remotely. */
    bool dry_run;
    /** Accepts a remote that does not support conditional writes, where two devices that
     *  synchronize at the same time may overwrite each other. Conditions that it refuses
     *  are checked by a look before each write. */
    bool allow_unsafe_remote;
    /** The number of shards that are transferred at the same time, 1 to 16; 0 means 4. */
    int32_t parallel;
    /** Receives the @ref json_sync_progress "progress"; may be NULL. */
    satchel_progress_callback progress;
    /** Passed to `progress`. */
    void *context;
    /** The choice for rows that belong to another user or remote. */
    satchel_first_sync first;
    /** Sends everything again to a remote that was synchronized before and has no object
     *  of the user, which is SATCHEL_EUNAVAILABLE otherwise. */
    bool recreate;
} satchel_sync_options;

/** The default options for synchronizing. */
#define SATCHEL_SYNC_OPTIONS_INIT \
    { sizeof(satchel_sync_options), SATCHEL_CONFLICT_DEFAULT, false, false, 0, NULL, NULL, \
      SATCHEL_FIRST_DEFAULT, false }

/** Options for synchronizing a store; start from SATCHEL_STORE_SYNC_OPTIONS_INIT. */
typedef struct satchel_store_sync_options {
    /** sizeof(satchel_store_sync_options). */
    size_t size;
    /** Reports what would be transferred, and writes nothing locally or remotely. The
     *  store is copied to a temporary file for that. */
    bool dry_run;
    /** Continues although a part of the remote is lost that no device has. Other devices
     *  then send their entries again. Also sends records whose assets no device has: these
     *  are SATCHEL_ASSET_MISSING on all devices until one gets the bytes. With a key, also
     *  replaces a sync log that has lost its encryption. */
    bool accept_loss;
    /** Reads every object of the records and the state, and writes those again that are
     *  missing or damaged. */
    bool verify;
    /** Removes the bytes of replaced and deleted documents from the remote; otherwise
     *  they are removed when their object is next rewritten. */
    bool purge;
    /** The number of objects that are transferred at the same time, 1 to 16; 0 means
     *  4. */
    int32_t parallel;
    /** Receives the @ref json_sync_progress "progress"; may be NULL. */
    satchel_progress_callback progress;
    /** Passed to `progress`. */
    void *context;
    /** The key that encrypts records and state in the remote (AES-256-GCM), 32 bytes;
     *  empty for no encryption. Photos are not encrypted, because other programs read
     *  them. */
    satchel_bytes key;
    /** The choice for content that the store has before its first synchronization. */
    satchel_first_sync first;
    /** Sends everything again to a remote that was synchronized before and has no object
     *  of the user, which is SATCHEL_EUNAVAILABLE otherwise. */
    bool recreate;
    /** The bytes of assets to download, the newest first: 0 for none, since
     *  satchel_assets_fetch_remote() gets each when it is needed; SATCHEL_ALL_ASSETS for
     *  all. */
    int64_t asset_bytes;
    /** Uploads no assets, such as on a metered line: records that refer to new ones
     *  wait. */
    bool hold_assets;
} satchel_store_sync_options;

/** Downloads all assets. */
#define SATCHEL_ALL_ASSETS (-1)

/** The default options for synchronizing a store. */
#define SATCHEL_STORE_SYNC_OPTIONS_INIT \
    { sizeof(satchel_store_sync_options), false, false, false, false, 0, NULL, NULL, \
      { NULL, 0 }, SATCHEL_FIRST_DEFAULT, false, 0, false }

/**
 * Synchronizes a store with a user's data in an object store.
 *
 * It synchronizes the records of all declared collections, the state that is marked for
 * it, and the photo catalogue that its first satchel_photos_sync() bound to the same remote
 * and user, with the policy that satchel_photos_open() declared; a catalogue that was never
 * synchronized is only named. The first synchronization binds the store to the remote and
 * the user. Blocks until it is done. Entries that cannot be sent or applied do
 * not stop the others: `failed` lists them, and satchel_store_conflicts() the remote
 * versions that are waiting. The result is
 *
 * | field        | type             | meaning                                         |
 * | ------------ | ---------------- | ----------------------------------------------- |
 * | `records`    | object           | counts of records, see below                    |
 * | `state`      | object           | counts of state, see below                      |
 * | `assets`     | object           | {"uploaded", "downloaded", "repaired", "dropped", "failed"}: see below |
 * | `photos`     | object or null   | as of satchel_photos_sync()                     |
 * | `unsent_photos` | array of strings | the directories of other photo catalogues    |
 * |              |                  | that have changes to send                       |
 * | `failed`     | array of objects | {"collection", "id", "code", "message"}         |
 * | `repaired`   | integer          | remote objects that were written again          |
 * | `losses`     | array of objects | {"pack", "entries"}: given up by `accept_loss`  |
 * | `batch_cut`  | boolean          | whether a batch was too large to be sent whole  |
 * | `requests`   | integer          | requests to the object store, with retries      |
 * | `bytes_up`   | integer          | bytes of bodies that were sent                  |
 * | `bytes_down` | integer          | bytes of bodies that were received              |
 * | `unchanged`  | boolean          | whether nothing had to be transferred           |
 * | `dry_run`    | boolean          | whether it was a dry run                        |
 * | `first_upload` | integer        | of the first synchronization as a user, the     |
 * |              |                  | records and parts of the state that were sent   |
 * | `planned`    | array of objects | of a dry run, {"collection", "id", "action"}    |
 *
 * `records` and `state` have the same fields
 *
 * | field              | type    | meaning                                            |
 * | ------------------ | ------- | -------------------------------------------------- |
 * | `downloaded`       | integer | remote versions that were applied                  |
 * | `uploaded`         | integer | local changes that were sent                       |
 * | `deleted_locally`  | integer | deletions of other devices that were applied       |
 * | `deleted_remotely` | integer | local deletions that were sent                     |
 * | `merged`           | integer | changes of both sides that were merged             |
 * | `conflicts`        | integer | new conflicts, open and lost ones                  |
 * | `lost`             | integer | the lost ones: versions that were discarded        |
 * | `waiting`          | integer | remote versions that cannot be applied yet         |
 *
 * Of assets, `repaired` counts the uploaded ones that the remote had lost or damaged, `dropped`
 * those that were removed from the remote because nothing has referred to them for long, and
 * `failed` are those that could not be downloaded, {"sha256", "code", "message"};
 * an `action` is "upload", "download", "delete_remotely", "delete_locally", "merge",
 * "conflict" or "wait". State is in the collection "@state".
 *
 * @param store     the store
 * @param remote    the remote; one of satchel_remote_callbacks() needs an identity
 * @param user      the user: `[A-Za-z0-9._-]{1,128}`, not only dots
 * @param options   may be NULL; the progress callback must not synchronize the same store
 * @param[out] out  a JSON object; may be NULL
 *
 * **Returns** SATCHEL_OK; SATCHEL_EINVALID for an invalid user, inside a batch, and for a
 * remote that has no identity or does not support conditional writes; SATCHEL_EFOREIGN
 * when the content belongs to another user or remote, also after satchel_store_detach(),
 * and when the account was closed by satchel_store_delete_account(); SATCHEL_EDAMAGED when
 * a part of the remote is lost, which other devices may repair; SATCHEL_ENEWER when a newer
 * version of Satchel wrote to the remote; SATCHEL_EREADONLY; SATCHEL_EAUTH, also for
 * another key than that of the remote: nothing is changed then; SATCHEL_EUNAVAILABLE,
 * also for a remote that was synchronized before and is empty: nothing is written to it;
 * SATCHEL_EBUSY when other devices changed the remote at each attempt;
 * SATCHEL_ECANCELLED.
 */
SATCHEL_API satchel_status satchel_store_sync(
    satchel_store *store, satchel_remote *remote, satchel_bytes user,
    const satchel_store_sync_options *options, satchel_buffer *out);

/**
 * Synchronizes a store, and encrypts the records and the state in the remote with another
 * key.
 *
 * From then on, satchel_store_sync() fails with SATCHEL_EAUTH on devices without the new
 * key. A call that was interrupted can be repeated.
 *
 * @param store     the store
 * @param remote    the remote
 * @param user      as for satchel_store_sync()
 * @param options   `key` is the current key; may be NULL when the remote is not encrypted; a
 *                  dry run has no effect
 * @param key       the new key, 32 bytes; empty to store the data unencrypted
 * @param[out] out  as of satchel_store_sync(); may be NULL
 *
 * **Returns** As satchel_store_sync().
 */
SATCHEL_API satchel_status satchel_store_rekey(
    satchel_store *store, satchel_remote *remote, satchel_bytes user,
    const satchel_store_sync_options *options, satchel_bytes key, satchel_buffer *out);

/** The network, as the host sees it. */
typedef enum satchel_network {
    /** Everything that is due is asked for and sent. */
    SATCHEL_NETWORK_FREE = 0,
    /** Of a source, content that is missing or expired is asked for, and old content is not.
     *  A synchronization transfers no assets. */
    SATCHEL_NETWORK_METERED = 1,
    /** Nothing is asked for or sent. */
    SATCHEL_NETWORK_NONE = 2
} satchel_network;

/**
 * Returns the network, before each request to a source and each synchronization.
 *
 * @param context  `network_context` of the options
 *
 * **Returns** a satchel_network; other values count as SATCHEL_NETWORK_FREE.
 *
 * **Threads** Called on the thread that sends the request, also one of the library.
 */
typedef satchel_network (*satchel_network_callback)(void *context);

/** Keeps a store in sync; see satchel_store_run_sync(). */
typedef struct satchel_continuous_sync satchel_continuous_sync;

/**
 * Receives the state of a store that is kept in sync.
 *
 * @param context  the context that was given with the function
 * @param status   the JSON object of satchel_continuous_sync_status(); valid during the callback
 *
 * **Threads** Called on a thread of the library, in the order of the states. The callback
 * must not close the store; it may free the continuous sync.
 */
typedef void (*satchel_continuous_sync_callback)(void *context, satchel_bytes status);

/** Options for keeping a store in sync; start from SATCHEL_CONTINUOUS_SYNC_OPTIONS_INIT. */
typedef struct satchel_continuous_sync_options {
    /** sizeof(satchel_continuous_sync_options). */
    size_t size;
    /** The seconds from the end of a synchronization to the next one, 1 to 31,536,000, and
     *  up to a tenth more at random; 0 to synchronize only after commits and on request. */
    int64_t every;
    /** Asked before each synchronization; NULL for SATCHEL_NETWORK_FREE. Without a network
     *  it is asked again every 5 seconds. */
    satchel_network_callback network;
    /** Passed to `network`. */
    void *network_context;
    /** Called exactly once with `network_context`, also on failure; may be NULL. */
    void (*release_network)(void *context);
} satchel_continuous_sync_options;

/** The default options for keeping a store in sync. */
#define SATCHEL_CONTINUOUS_SYNC_OPTIONS_INIT \
    { sizeof(satchel_continuous_sync_options), 60, NULL, NULL, NULL }

/**
 * Keeps a store in sync, on a thread of the library.
 *
 * It synchronizes at once, soon after commits of any handle or process that have something
 * to send (a second after the last one, and at most five after the first), and at an
 * interval, by which the changes of other devices come. After a failure it tries again after
 * 5 seconds, then after 10, and so on up to an hour, half of it at random.
 *
 * It goes on until satchel_continuous_sync_free(), and until the store closes.
 * satchel_store_sign_out(), satchel_store_detach() and satchel_store_delete_account(), of
 * any handle or process, end it, too: it does not bind the store again.
 *
 * @param store     the store
 * @param remote    as of satchel_store_sync(); it may be freed after the call
 * @param user      as of satchel_store_sync()
 * @param options   for each synchronization, `first` for the one that binds the store;
 *                  `dry_run`, `accept_loss`, `verify`, `purge`, `recreate` and `progress` are
 *                  for single ones. May be NULL
 * @param continuous  NULL for the defaults
 * @param callback  receives each new state; may be NULL
 * @param context   passed to `callback`
 * @param release   called exactly once with `context`, also on failure; may be NULL
 * @param[out] out  the continuous sync
 *
 * **Returns** SATCHEL_OK; SATCHEL_EINVALID for such options, for another interval, and as
 * satchel_store_sync(); SATCHEL_EBUSY when the handle of the store has one already;
 * SATCHEL_EREADONLY, SATCHEL_ECLOSED, SATCHEL_ENOMEM.
 *
 * **Ownership** The caller frees it: satchel_continuous_sync_free().
 */
SATCHEL_API satchel_status satchel_store_run_sync(
    satchel_store *store, satchel_remote *remote, satchel_bytes user,
    const satchel_store_sync_options *options,
    const satchel_continuous_sync_options *continuous,
    satchel_continuous_sync_callback callback, void *context, void (*release)(void *context),
    satchel_continuous_sync **out);

/**
 * Synchronizes as soon as possible, also before the time that follows a failure; such as when
 * the network is back, or the app comes to the foreground. Does not wait for it.
 *
 * @param sync  the continuous sync
 *
 * **Returns** SATCHEL_OK, or SATCHEL_ECLOSED after its end.
 */
SATCHEL_API satchel_status satchel_continuous_sync_request(satchel_continuous_sync *sync);

/**
 * Returns the state of a continuous sync, without waiting for a synchronization.
 *
 * | field       | type            | meaning                                                |
 * | ----------- | --------------- | ------------------------------------------------------ |
 * | `state`     | string          | "idle"; "syncing"; "waiting": the last one failed, and is tried again; "held": there is no network; "ended" |
 * | `last_sync` | integer or null | when it synchronized last, Unix ms                |
 * | `next_at`   | integer or null | when the next one is due without commits, Unix ms      |
 * | `failures`  | integer         | the attempts that failed since the last success        |
 * | `error`     | object or null  | {"code", "message"}: why the last attempt failed, or why it ended |
 * | `report`    | object or null  | of the last one, as of satchel_store_sync(); null after a failure |
 *
 * @param sync       the continuous sync
 * @param[out] out  a JSON object
 *
 * **Returns** SATCHEL_OK or a default status.
 */
SATCHEL_API satchel_status satchel_continuous_sync_status(
    satchel_continuous_sync *sync, satchel_buffer *out);

/**
 * Ends a continuous sync: cancels a synchronization in progress, and waits for its end,
 * except in its own callback, which is not called afterwards.
 *
 * @param sync  the continuous sync; may be NULL
 */
SATCHEL_API void satchel_continuous_sync_free(satchel_continuous_sync *sync);

/**
 * Returns the synchronization status of a store, without using the network.
 *
 * | field       | type            | meaning                                                |
 * | ----------- | --------------- | ------------------------------------------------------ |
 * | `remote`    | string or null  | the remote that it is bound to; null when it is not    |
 * | `user`      | string or null  | the user that it is bound to                           |
 * | `pending`   | integer         | saved changes of records and state, not yet uploaded   |
 * | `last_sync` | integer or null | their last complete synchronization, Unix ms           |
 * | `owner`     | string or null  | the user whom the content belongs to, also after       |
 * |             |                 | satchel_store_detach()                                 |
 *
 * For photos see satchel_photos_status().
 *
 * @param store     an open store
 * @param[out] out  a JSON object
 *
 * **Returns** SATCHEL_OK or a default status.
 */
SATCHEL_API satchel_status satchel_store_sync_status(satchel_store *store, satchel_buffer *out);

/**
 * Ends a store's binding to a remote and a user.
 *
 * Local and remote data remain, and the local content still belongs to the user. Open and
 * waiting conflicts are deleted. The next satchel_store_sync() as the same user binds it
 * again, and compares everything. satchel_store_sign_out() ends the user's session.
 *
 * | field           | type    | meaning                                                    |
 * | --------------- | ------- | ---------------------------------------------------------- |
 * | `remote_assets` | integer | the assets that documents refer to and that are only in    |
 * |                 |         | the remote: they cannot be had before the store is         |
 * |                 |         | synchronized with it again                                 |
 * | `remote_bytes`  | integer | the bytes of these                                         |
 * | `assets`        | object  | as of satchel_assets_fetch_remote(), for `fetch_assets`    |
 *
 * @param store         the store
 * @param fetch_assets  the remote of the last synchronization, from which the assets that
 *                      are only there are fetched first; NULL leaves them there
 * @param[out] out      a JSON object; may be NULL
 *
 * **Returns** SATCHEL_OK, SATCHEL_EINVALID inside a batch, or a default status; with a
 * remote also those of satchel_assets_fetch_remote(): the store is not detached then.
 *
 * **Ownership** The caller owns *out: satchel_buffer_free().
 *
 * **Threads** Waits for a synchronization in progress.
 */
SATCHEL_API satchel_status satchel_store_detach(
    satchel_store *store, satchel_remote *fetch_assets, satchel_buffer *out);

/**
 * Returns the conflict log, the oldest conflict first: versions of records and photos that a
 * synchronization or an import has discarded, and those that wait for a decision.
 *
 * | field       | type             | meaning                                            |
 * | ----------- | ---------------- | -------------------------------------------------- |
 * | `conflicts` | array of objects | the conflicts of the page, see below               |
 * | `next`      | integer or null  | the cursor of the next page; null for the last one |
 *
 * and each element of `conflicts`
 *
 * | field        | type            | meaning                                             |
 * | ------------ | --------------- | --------------------------------------------------- |
 * | `id`         | integer         | the number of the conflict                          |
 * | `subject`    | string          | "records" or "photos"                               |
 * | `collection` | string          | of records, the collection                          |
 * | `record`     | string          | of records, the id of the record                    |
 * | `directory`  | string          | of photos, the directory of the catalogue           |
 * | `md5`        | string          | of photos, the MD5 of the photo                     |
 * | `kind`       | string          | "open", "lost" or "waiting", see below              |
 * | `side`       | string or null  | of "lost", "local" or "remote", see below           |
 * | `cause`      | string          | "sync", or of photos "import"                       |
 * | `time`       | integer         | Unix ms                                             |
 * | `local`      | object or null  | the local document or @ref json_photo "photo"; null |
 * |              |                 | when it was deleted                                 |
 * | `remote`     | object or null  | the remote one; null when it was deleted            |
 * | `base`       | object or null  | the one that was synchronized last                  |
 * | `code`       | integer or null | of "waiting", the satchel_status of the reason      |
 * | `reason`     | string or null  | of "waiting", why it cannot be applied              |
 *
 * An open conflict waits for the host's decision. In a lost one the version of `side` was
 * discarded, as a whole or where both had changed the same member: by the policy, because
 * of a relation, as when a record that it refers to was deleted, or, of photos, by a file
 * that was imported. `local` and `remote` are then those of that time. Lost ones stay until
 * they are resolved: keeping the other side only removes them. A remote version that is
 * waiting violates a rule of the collection (the schema, a unique index, a relation), or
 * was written by a newer version of the app; it is applied when it no longer does, or
 * when the host resolves it. Photos have lost ones only, and their side is "local".
 *
 * satchel_records_resolve() and satchel_photos_resolve() resolve them.
 *
 * @param store     the store
 * @param after     `next` of the previous page; 0 for the first page
 * @param limit     the size of a page, 1 or more
 * @param[out] out  a JSON object
 *
 * **Returns** SATCHEL_OK; SATCHEL_EINVALID for an invalid `limit`; SATCHEL_EAUTH for versions
 * with sensitive fields when the encryption key is not set.
 */
SATCHEL_API satchel_status satchel_store_conflicts(
    satchel_store *store, int64_t after, int32_t limit, satchel_buffer *out);

/**
 * Ends the session of the user whom a store's content belongs to.
 *
 * Synchronizes with the remote first, if there is one, unbinds the store, and removes what
 * is the user's: all records with their conflicts, the state that is marked for
 * synchronizing, sensitive state, the rows of photo catalogues that were synchronized, the
 * reader's progress, purchases, the outbox file, and the encryption keys that were set.
 * Their bytes leave the file and its WAL. What is the device's or the app's stays: the
 * catalogue, other state, photo catalogues that were never synchronized, declarations, and
 * the files of photos. The files of mirrors are written empty. Nothing is synchronized as
 * a deletion. Handles stay usable, and live queries and observers are notified.
 *
 * The content is removed in one transaction. What is left to do after a crash is completed
 * by any later call, of any process, or when the store is opened.
 *
 * @param store           the store
 * @param remote          the remote; NULL synchronizes nothing
 * @param options         of the synchronization, with the key of an encrypted remote; a dry
 *                        run and `first` have no effect; may be NULL
 * @param discard_unsent  whether changes that were never sent are lost
 * @param[out] out        as of satchel_store_sync(), null without a remote; may be NULL
 *
 * **Returns** SATCHEL_OK; SATCHEL_ECONFLICT with the number of changes that were never
 * sent, unless they are discarded: nothing is removed then; SATCHEL_EBUSY when the user is
 * signed out, and bytes are left in the WAL because another handle reads or writes: call
 * it again; otherwise as satchel_store_sync().
 */
SATCHEL_API satchel_status satchel_store_sign_out(
    satchel_store *store, satchel_remote *remote, const satchel_store_sync_options *options,
    bool discard_unsent, satchel_buffer *out);

/**
 * Deletes everything that a user has in a remote, photos included.
 *
 * Closes the account first, so that no device writes to it again, and then deletes all
 * other objects of the user. Local content stays: satchel_store_sign_out() removes it. A
 * device that meets the closed account changes nothing in the remote, and fails with
 * SATCHEL_EFOREIGN; only a synchronization with SATCHEL_FIRST_UPLOAD opens it again. Other
 * programs do not know that the photo catalogue is closed, and may write to it. A call
 * that was interrupted can be repeated. The result is
 *
 * | field      | type    | meaning                                      |
 * | ---------- | ------- | -------------------------------------------- |
 * | `objects`  | integer | objects that were deleted                    |
 * | `requests` | integer | requests to the object store, with retries   |
 *
 * @param store     the store, whose content is the user's or that of a guest
 * @param remote    the remote
 * @param user      as for satchel_store_sync()
 * @param options   `parallel`, the key, a dry run and `first` have no effect; may be NULL
 * @param[out] out  a JSON object; may be NULL
 *
 * **Returns** SATCHEL_OK; SATCHEL_EFOREIGN for another user than the owner of the store's
 * content; SATCHEL_EINVALID inside a batch, and for a remote that has no identity or does
 * not support conditional writes; SATCHEL_ENEWER; SATCHEL_EREADONLY; SATCHEL_EAUTH;
 * SATCHEL_EUNAVAILABLE; SATCHEL_EBUSY; SATCHEL_ECANCELLED.
 */
SATCHEL_API satchel_status satchel_store_delete_account(
    satchel_store *store, satchel_remote *remote, satchel_bytes user,
    const satchel_store_sync_options *options, satchel_buffer *out);

/** @} */

/**
 * @defgroup satchel_catalogues Catalogue
 * Content that belongs to places, stored once and shared between them.
 *
 * @anchor json_location
 * **Location.** A location is a JSON object that yields at least one key. Each field is
 * optional and may be null; other fields are ignored.
 *
 * | field          | type   | meaning                                 |
 * | -------------- | ------ | --------------------------------------- |
 * | `latitude`     | number | degrees; only together with `longitude` |
 * | `longitude`    | number | degrees; only together with `latitude`  |
 * | `sublocality`  | string | the part of the town                    |
 * | `locality`     | string | the town                                |
 * | `admin_area`   | string | the state or province                   |
 * | `country_code` | string | the code of the country                 |
 * | `country_name` | string | the name of the country                 |
 *
 * The levels of a location are, beginning with the most specific: coordinate,
 * sublocality, locality, adminarea, country. A scope is a level or "global", in any
 * letter case. The section "Places" of Documentation/catalogue.md contains the rules.
 *
 * @anchor json_section
 * **Section.** A section is a JSON object:
 *
 * | field           | type   | meaning                                            |
 * | --------------- | ------ | -------------------------------------------------- |
 * | `section`       | string | its name                                           |
 * | `display_title` | string | its title; also `displayTitle`                     |
 * | `config`        | object | for the app; of an "edit" also satchel_json_edit() |
 * | `action`        | string | "replace" (when left out) or "edit"                |
 * | `content`       | any    | its content                                        |
 * | `ttl_hours`     | number | the hours until its content expires, except the    |
 * |                 |        | entities; never when left out                      |
 * | others          | any    | loaded as members of `extra`                       |
 *
 * Every object in the content that has the field `_storage` is an entity, which is stored
 * once for each entity id, scope, and key of the location at that scope. Loading returns
 * the content as it was sent, without `_storage`:
 *
 * | field of `_storage` | type   | meaning                                       |
 * | ------------------- | ------ | --------------------------------------------- |
 * | `entity_id`         | string | the id of the entity                          |
 * | `scope`             | string | a level or "global"                           |
 * | `ttl_hours`         | number | the hours until it expires; 168 when left out |
 *
 * @anchor json_receipt
 * **Receipt.** Persisting a section results in a JSON object:
 *
 * | field          | type    | meaning                                              |
 * | -------------- | ------- | ---------------------------------------------------- |
 * | `section`      | string  | the name of the section                              |
 * | `saved`        | integer | entities stored for the first time, or after pruning |
 * | `updated`      | integer | entities whose content changed                       |
 * | `reused`       | integer | entities that were stored before                     |
 * | `inline`       | integer | objects that remain in the section, see below        |
 * | `detached`     | array of strings | entities that the section no longer refers to |
 * | `problems`     | array   | {"pointer", "reason"} of each invalid object, and of each string of more than 1 MiB, which should be an asset |
 * | `bytes`        | integer | the bytes of content that were written               |
 * | `shared_bytes` | integer | the bytes of content that were stored before         |
 *
 * An object remains in the section when its `_storage` is invalid, or missing in a
 * container of entities. An entity id that names no section is stored, and is a problem
 * too: another section may have the same id.
 *
 * Observers receive changes with the subject "catalogue", and the names of sections and
 * ids of entities as keys.
 * @{
 */

/**
 * @defgroup satchel_places Places
 * Keys of locations and ids of entities.
 * @{
 */

/**
 * Converts a string to a component of a key: "São Paulo" becomes "sao_paulo".
 *
 * @param text      the text
 * @param[out] out  the component; {NULL, 0} when nothing of the text remains
 *
 * **Returns** SATCHEL_OK or a default status.
 */
SATCHEL_API satchel_status satchel_place_normalize(
    satchel_bytes text, satchel_buffer *out);

/**
 * Returns the key of a location at a level: "cn_shanghai_shanghai".
 *
 * @param location  a @ref json_location "location"
 * @param level     the name of a level
 * @param[out] out  the key; {NULL, 0} when the location has no key at that level
 *
 * **Returns** SATCHEL_OK, or SATCHEL_EINVALID for an unknown level or a location that
 * yields no key.
 */
SATCHEL_API satchel_status satchel_place_key(
    satchel_bytes location, satchel_bytes level, satchel_buffer *out);

/**
 * Returns the most specific level at which a location has a key.
 *
 * @param location  a @ref json_location "location"
 * @param[out] out  the name of the level
 *
 * **Returns** SATCHEL_OK, or SATCHEL_EINVALID when the location yields no key.
 */
SATCHEL_API satchel_status satchel_place_most_specific_level(
    satchel_bytes location, satchel_buffer *out);

/**
 * Returns the levels as a list, the most specific first.
 *
 * @param location  a @ref json_location "location", of which only the levels are returned at
 *                  which it has a key; empty for all levels
 * @param[out] out  a JSON array of names
 *
 * **Returns** SATCHEL_OK, or SATCHEL_EINVALID when the location yields no key.
 */
SATCHEL_API satchel_status satchel_place_levels(satchel_bytes location, satchel_buffer *out);

/**
 * Returns the name of the scope that a string names in any letter case.
 *
 * @param scope     the text
 * @param[out] out  the name of a level, or "global"; {NULL, 0} when it is not a scope
 *
 * **Returns** SATCHEL_OK or a default status.
 */
SATCHEL_API satchel_status satchel_place_level_of_scope(
    satchel_bytes scope, satchel_buffer *out);

/**
 * Makes the id of an entity from a label: "cuisine:chinese_cuisine".
 *
 * @param section   the name of the section
 * @param label     the label
 * @param[out] out  the id; "cuisine:unknown" when nothing of the label remains
 *
 * **Returns** SATCHEL_OK or a default status.
 */
SATCHEL_API satchel_status satchel_place_entity_id(
    satchel_bytes section, satchel_bytes label, satchel_buffer *out);

/**
 * Returns the part of an entity id before its first colon.
 *
 * @param entity_id  the id
 * @param[out] out   the part; {NULL, 0} when there is no colon or nothing before it
 *
 * **Returns** SATCHEL_OK or a default status.
 */
SATCHEL_API satchel_status satchel_place_section_of(
    satchel_bytes entity_id, satchel_buffer *out);

/** @} */

/** The policy for an entity that is stored already. */
typedef enum satchel_reuse {
    /** The content is compared: the same content only renews the expiry, other content is
     *  written. */
    SATCHEL_REUSE_UNLESS_CHANGED = 0,
    /** A stored entity is not changed until it expires. */
    SATCHEL_REUSE_UNTIL_EXPIRY = 1
} satchel_reuse;

/** Options for persisting; start from SATCHEL_PERSIST_OPTIONS_INIT. */
typedef struct satchel_persist_options {
    /** sizeof(satchel_persist_options). */
    size_t size;
    /** The policy for entities that are stored already. */
    satchel_reuse reuse;
    /** Of satchel_catalogue_deliver(): the delivery has all sections of the location. Others
     *  that it has are removed, and it inherits none, until it is delivered again without
     *  this option, or one of its sections is removed. */
    bool complete;
    /** The entity tag of the answer (RFC 9110), which is stored with each section; empty for
     *  none. */
    satchel_bytes etag;
} satchel_persist_options;

/** The default options for persisting. */
#define SATCHEL_PERSIST_OPTIONS_INIT \
    { sizeof(satchel_persist_options), SATCHEL_REUSE_UNLESS_CHANGED, false, { NULL, 0 } }

/**
 * Stores a section for a location, in one transaction.
 *
 * When the call returns SATCHEL_OK the section is on disk. An invalid `_storage` is not a
 * failure: the object remains in the section and the receipt names it.
 *
 * @param store     an open store
 * @param location  the @ref json_location "location" that the content belongs to
 * @param section   the @ref json_section "section", as the backend sent it
 * @param options   may be NULL
 * @param[out] out  the @ref json_receipt "receipt"; may be NULL
 *
 * **Returns** SATCHEL_OK; SATCHEL_EINVALID for an invalid section or location, for an
 * unknown action or operation, and for a section that would, when it is loaded with the
 * content of its entities, including stored ones, have more than 512 levels, 100,000
 * entities (each counted as often as it appears) or 256 MB; SATCHEL_EBUSY, SATCHEL_EFULL,
 * SATCHEL_EREADONLY or SATCHEL_EIO. On failure nothing is changed.
 */
SATCHEL_API satchel_status satchel_catalogue_persist(
    satchel_store *store, satchel_bytes location, satchel_bytes section,
    const satchel_persist_options *options, satchel_buffer *out);

/**
 * Stores several sections for a location, in one transaction.
 *
 * A delivery is a JSON object:
 *
 * | field      | type   | meaning                           |
 * | ---------- | ------ | --------------------------------- |
 * | `location` | object | the @ref json_location "location" |
 * | `sections` | array  | the @ref json_section "sections"  |
 *
 * @param store     an open store
 * @param delivery  a JSON object
 * @param options   may be NULL
 * @param[out] out  an array of @ref json_receipt "receipts", one for each section; may be
 *                  NULL
 *
 * **Returns** As satchel_catalogue_persist().
 */
SATCHEL_API satchel_status satchel_catalogue_deliver(
    satchel_store *store, satchel_bytes delivery, const satchel_persist_options *options,
    satchel_buffer *out);

/**
 * Renews what is stored for a location, because its source answered that it is not modified
 * (RFC 9110, status 304).
 *
 * The sections and their entities expire by their time to live from now on, and `fetched_at`
 * is now. The content stays, and observers are not notified. Nothing is inherited.
 *
 * @param store         an open store
 * @param location      the @ref json_location "location" that the content was delivered for
 * @param section       the name of the section; empty for all sections of the location
 * @param etag          the entity tag of the answer; empty keeps those that are stored
 * @param max_age       the time to live of the sections from now on, in seconds; negative
 *                      keeps their own
 * @param[out] renewed  the number of sections that were renewed; 0 when none is stored for
 *                      the location; may be NULL
 *
 * **Returns** SATCHEL_OK; SATCHEL_EINVALID when the location yields no key; SATCHEL_EBUSY,
 * SATCHEL_EFULL, SATCHEL_EREADONLY or SATCHEL_EIO.
 */
SATCHEL_API satchel_status satchel_catalogue_renew(
    satchel_store *store, satchel_bytes location, satchel_bytes section, satchel_bytes etag,
    int64_t max_age, int64_t *renewed);

/** Options for reading; start from SATCHEL_READ_OPTIONS_INIT. */
typedef struct satchel_read_options {
    /** sizeof(satchel_read_options). */
    size_t size;
    /** Inherits the sections that were not delivered for the location: each from the
     *  context that has it and shares the most specific level with the location, the most
     *  recently updated of several. Only content that covers the location is returned. A
     *  location of which satchel_persist_options.complete was set inherits none. */
    bool inherit;
    /** Keeps expired entities, and the rest of a section whose time to live has passed, in
     *  the content; the entities are listed as expired in any case. */
    bool allow_expired;
    /** The distance in metres within which a location with coordinates has, besides those of
     *  its own names, the coordinate, sublocality and locality of the nearest delivered
     *  location; the admin area and the country within ten times that. A country code that
     *  the location states is never left. 0 turns this off, and also that content is found
     *  that was delivered for the same names without some of the broader ones. */
    double nearby;
    /** Of satchel_catalogue_load(): each entity keeps its `_storage`, so that persisting the
     *  content changes nothing; expired entities are kept, too. */
    bool storage;
} satchel_read_options;

/** The default options for reading. */
#define SATCHEL_READ_OPTIONS_INIT { sizeof(satchel_read_options), true, false, 5000, false }

/**
 * Returns the headers of a location's sections, without their content.
 *
 * No entity is read. The result is an array; the location's own sections are first, in the
 * order of delivery, followed by inherited ones, the most specific level first:
 *
 * | field           | type           | meaning                                   |
 * | --------------- | -------------- | ----------------------------------------- |
 * | `section`       | string         | the name                                  |
 * | `display_title` | string or null | the title                                 |
 * | `config`        | object or null | the configuration, as it was sent         |
 * | `extra`         | object         | the other members of the sent section     |
 * | `entity_count`  | integer        | the entities that the location sees       |
 * | `updated_at`    | integer        | when it changed last, Unix milliseconds   |
 * | `fetched_at`    | integer        | when it was last delivered or renewed     |
 * | `etag`          | string or null | the entity tag of the last delivery       |
 * | `stale`         | boolean        | whether its time to live has passed       |
 * | `level`         | string         | the level at which the section was found; "global" for global content of elsewhere |
 * | `resolved`      | object         | see below                                 |
 *
 * @anchor json_resolved
 * `resolved` maps each level by which the location sees the section, and which was resolved
 * by distance, to the delivered location whose place it is; it is empty where the location's
 * own names suffice:
 *
 * | field      | type   | meaning                                                         |
 * | ---------- | ------ | --------------------------------------------------------------- |
 * | `location` | object | the @ref json_location "location", as it was first delivered    |
 * | `metres`   | number | its distance                                                    |
 *
 * @param store     an open store
 * @param location  the @ref json_location "location" of the person
 * @param options   may be NULL
 * @param[out] out  a JSON array
 *
 * **Returns** SATCHEL_OK, or SATCHEL_EINVALID when the location yields no key.
 */
SATCHEL_API satchel_status satchel_catalogue_sections(
    satchel_store *store, satchel_bytes location, const satchel_read_options *options,
    satchel_buffer *out);

/**
 * Returns a section with its content.
 *
 * | field           | type             | meaning                                       |
 * | --------------- | ---------------- | --------------------------------------------- |
 * | `section`       | string           | the name                                      |
 * | `display_title` | string or null   | the title                                     |
 * | `config`        | object or null   | the configuration, as it was sent             |
 * | `extra`         | object           | the other members of the sent section         |
 * | `content`       | any              | the content                                   |
 * | `missing`       | array of strings | the ids of entities that are no longer stored |
 * | `expired`       | array of strings | the ids of entities that have expired         |
 * | `level`         | string           | as in satchel_catalogue_sections(), as the next ones |
 * | `updated_at`    | integer          | Unix milliseconds                             |
 * | `fetched_at`    | integer          | Unix milliseconds                             |
 * | `etag`          | string or null   | the entity tag of the last delivery           |
 * | `stale`         | boolean          | whether its time to live has passed           |
 * | `resolved`      | object           | the levels that were resolved by distance     |
 *
 * @param store     an open store
 * @param location  the @ref json_location "location" of the person
 * @param section   the name of the section
 * @param options   may be NULL
 * @param[out] out  a JSON object; {NULL, 0} when the location has no such section
 *
 * **Returns** SATCHEL_OK; SATCHEL_EINVALID when the location yields no key, and when
 * later deliveries made the entities of the section exceed the limits of
 * satchel_catalogue_persist().
 */
SATCHEL_API satchel_status satchel_catalogue_load(
    satchel_store *store, satchel_bytes location, satchel_bytes section,
    const satchel_read_options *options, satchel_buffer *out);

/**
 * Returns what has to be fetched for a location, without reading content.
 *
 * @anchor json_plan
 * A plan is a JSON object that maps the name of each section to the ids of its entities:
 *
 * | field     | type             | meaning                            |
 * | --------- | ---------------- | ---------------------------------- |
 * | `fresh`   | array of strings | entities that need not be fetched  |
 * | `expired` | array of strings | entities that have expired         |
 * | `missing` | array of strings | entities that are no longer stored |
 * | `fetched_at` | integer       | when the section was last delivered or renewed |
 * | `etag`    | string or null   | the entity tag of its last delivery |
 *
 * @param store     an open store
 * @param location  the @ref json_location "location" of the person
 * @param options   may be NULL
 * @param[out] out  a JSON object
 *
 * **Returns** SATCHEL_OK, or SATCHEL_EINVALID when the location yields no key.
 */
SATCHEL_API satchel_status satchel_catalogue_plan(
    satchel_store *store, satchel_bytes location, const satchel_read_options *options,
    satchel_buffer *out);

/**
 * Returns whether content is stored that covers a location.
 *
 * @param store     an open store
 * @param location  the @ref json_location "location" of the person
 * @param options   only `nearby` is used; may be NULL
 * @param[out] out  "exact" when the location has content of its own, "inherited" when the
 *                  content of another place covers it, {NULL, 0} otherwise
 *
 * **Returns** SATCHEL_OK, or SATCHEL_EINVALID when the location yields no key.
 */
SATCHEL_API satchel_status satchel_catalogue_has_cached(
    satchel_store *store, satchel_bytes location, const satchel_read_options *options,
    satchel_buffer *out);

/**
 * Returns the locations that content was delivered for within a distance of a position, the
 * nearest first.
 *
 * Distances are those on a sphere. An R*Tree finds the locations; where SQLite was built
 * without R*Trees, all delivered locations are examined.
 *
 * @param store      an open store
 * @param latitude   degrees, -90 to 90
 * @param longitude  degrees, -180 to 180
 * @param within     metres
 * @param[out] out   a JSON array of objects with `location`, as it was first delivered, and
 *                   `distance` in metres
 *
 * **Returns** SATCHEL_OK, or SATCHEL_EINVALID for a coordinate that is out of range and for
 * a negative distance.
 */
SATCHEL_API satchel_status satchel_catalogue_locate(
    satchel_store *store, double latitude, double longitude, double within,
    satchel_buffer *out);

/** Options for searching; start from SATCHEL_SEARCH_OPTIONS_INIT. */
typedef struct satchel_search_options {
    /** sizeof(satchel_search_options). */
    size_t size;
    /** The maximum number of results. */
    int32_t limit;
    /** Finds expired entities, too. */
    bool allow_expired;
    /** As in satchel_read_options. */
    double nearby;
} satchel_search_options;

/** The default options for searching. */
#define SATCHEL_SEARCH_OPTIONS_INIT { sizeof(satchel_search_options), 20, false, 5000 }

/**
 * Finds entities by the words of their texts, in any script.
 *
 * All words must occur, each at the beginning of a word of the display name or of a string
 * in the content; case and diacritics are ignored. Texts of scripts that are written
 * without spaces, such as Chinese, Japanese and Thai, are found anywhere in a run of
 * characters. The index is made by the first search, and brought up to date by each one; an
 * index of another version of FTS5 is made again. A read-only store whose index is not up
 * to date is searched with one in memory, of at most 256 MiB.
 * The best result is first; results with the same score are in the order of section and
 * entity id:
 *
 * | field          | type           | meaning                                             |
 * | -------------- | -------------- | --------------------------------------------------- |
 * | `section`      | string         | the section that shows it, or that its id names     |
 * | `entity_id`    | string         | the id                                              |
 * | `display_name` | string         | the name to display                                 |
 * | `scope`        | string         | the scope                                           |
 * | `place`        | string or null | the key of its place; null for global               |
 * | `excerpt`      | string         | a part of the text around a word that was found     |
 * | `expired`      | boolean        | whether it has expired                              |
 * | `score`        | number         | a higher score is better; comparable in one result  |
 *
 * @param store     an open store
 * @param text      the words; a string without letters and digits finds nothing
 * @param location  a @ref json_location "location", of which only what its sections show
 *                  is found; empty for all entities that a section shows somewhere
 * @param options   may be NULL
 * @param[out] out  a JSON array
 *
 * **Returns** SATCHEL_OK; SATCHEL_EINVALID for more than 64 words, a run of more than 64
 * characters, a negative limit or distance, and a location that yields no key;
 * SATCHEL_EFULL when a read-only store needs a larger index in memory.
 */
SATCHEL_API satchel_status satchel_catalogue_search(
    satchel_store *store, satchel_bytes text, satchel_bytes location,
    const satchel_search_options *options, satchel_buffer *out);

/**
 * Returns the most specific variant of an entity that covers a location; without a location,
 * the variant that was delivered last, wherever.
 *
 * @anchor json_entity
 * An entity is a JSON object:
 *
 * | field          | type    | meaning             |
 * | -------------- | ------- | ------------------- |
 * | `entity_id`    | string  | the id              |
 * | `content`      | any     | the content         |
 * | `scope`        | string  | the scope           |
 * | `display_name` | string  | the name to display |
 * | `expires_at`   | integer | Unix milliseconds   |
 * | `updated_at`   | integer | Unix milliseconds   |
 * | `created_at`   | integer | when it was first stored, Unix milliseconds |
 * | `source`       | object or null | the @ref json_location "location" whose delivery wrote the content; null when that was deleted |
 * | `location`     | object or null | a location that it was delivered for: as `source`, or the nearest one |
 * | `distance`     | number or null | its distance from the given location in metres; null without coordinates |
 *
 * Without a location, the time grows with the number of stored entities.
 *
 * @param store      an open store
 * @param entity_id  the id of the entity
 * @param location   the @ref json_location "location" of the person; empty for none
 * @param options    `nearby` counts; NULL for the defaults
 * @param[out] out   a JSON object; {NULL, 0} when no variant is stored that covers the
 *                   location
 *
 * **Returns** SATCHEL_OK, or SATCHEL_EINVALID when the location yields no key.
 */
SATCHEL_API satchel_status satchel_catalogue_entity(
    satchel_store *store, satchel_bytes entity_id, satchel_bytes location,
    const satchel_read_options *options, satchel_buffer *out);

/**
 * Returns all stored variants of an entity, with their locations; the one that was delivered
 * last is first.
 *
 * The time grows with the number of stored entities.
 *
 * @param store      an open store
 * @param entity_id  the id of the entity
 * @param[out] out   a JSON array of @ref json_entity "entities"
 *
 * **Returns** SATCHEL_OK or a default status.
 */
SATCHEL_API satchel_status satchel_catalogue_variants(
    satchel_store *store, satchel_bytes entity_id, satchel_buffer *out);

/**
 * Returns the entities of the locations that content was delivered for within a distance of a
 * position, the nearest first.
 *
 * Each variant is returned once, with the nearest of these locations as its `location`, and
 * may have expired. Those of one location are in the order of its sections.
 *
 * @param store      an open store
 * @param latitude   degrees, -90 to 90
 * @param longitude  degrees, -180 to 180
 * @param within     metres
 * @param section    only entities of sections with this name; empty for all
 * @param[out] out   a JSON array of @ref json_entity "entities"
 *
 * **Returns** SATCHEL_OK, or SATCHEL_EINVALID for a coordinate that is out of range, for a
 * negative distance, and for more than 100,000 entities or 256 MB.
 */
SATCHEL_API satchel_status satchel_catalogue_near_entities(
    satchel_store *store, double latitude, double longitude, double within,
    satchel_bytes section, satchel_buffer *out);

/**
 * Returns the locations that content was delivered for, the most recently updated first.
 *
 * | field        | type    | meaning                                                        |
 * | ------------ | ------- | -------------------------------------------------------------- |
 * | `location`   | object  | the @ref json_location "location", as it was first delivered   |
 * | `level`      | string  | its most specific level                                        |
 * | `sections`   | integer | the number of its sections                                     |
 * | `entities`   | integer | the entities of its sections, each counted for each section    |
 * | `bytes`      | integer | the bytes of their content, which other contexts may share     |
 * | `complete`   | boolean | whether it was delivered as complete, and inherits nothing     |
 * | `created_at` | integer | when something was first delivered for it, Unix milliseconds   |
 * | `fetched_at` | integer | when a section was last delivered or renewed; 0 without sections |
 * | `etag`       | string or null | the entity tag of its sections; null for different ones |
 * | `updated_at` | integer | Unix milliseconds; 0 without sections                          |
 * | `used_at`    | integer | when it was written or read, as of the last prune or closing   |
 *
 * @param store     an open store
 * @param level     only those whose most specific level this is; empty for all
 * @param location  only that of this @ref json_location "location"; empty for all
 * @param[out] out  a JSON array
 *
 * **Returns** SATCHEL_OK, or SATCHEL_EINVALID for an unknown level and for a location that
 * yields no key.
 */
SATCHEL_API satchel_status satchel_catalogue_contexts(
    satchel_store *store, satchel_bytes level, satchel_bytes location, satchel_buffer *out);

/**
 * Returns the stored entities of a section, without their content: those that sections of
 * that name refer to in any context, and those without references whose id names it. One
 * whose content was deleted or pruned is not listed.
 *
 * | field          | type            | meaning                                            |
 * | -------------- | --------------- | -------------------------------------------------- |
 * | `entity_id`    | string          | the id                                             |
 * | `scope`        | string          | the scope                                          |
 * | `place`        | string or null  | the key of its place; null for global              |
 * | `display_name` | string          | the name to display                                |
 * | `bytes`        | integer         | the bytes of its content                           |
 * | `references`   | integer         | the sections that refer to it                      |
 * | `created_at`   | integer         | Unix milliseconds                                  |
 * | `updated_at`   | integer         | Unix milliseconds                                  |
 * | `expires_at`   | integer         | Unix milliseconds                                  |
 *
 * @param store     an open store
 * @param section   the name of the section
 * @param[out] out  a JSON array, in the order of id, scope and place
 *
 * **Returns** SATCHEL_OK or a default status.
 */
SATCHEL_API satchel_status satchel_catalogue_entities(
    satchel_store *store, satchel_bytes section, satchel_buffer *out);

/**
 * Deletes the content of an entity, with all its variants.
 *
 * Sections that refer to it report it as missing, until it is delivered again.
 *
 * @param store      an open store
 * @param entity_id  the id of the entity
 * @param[out] out   a JSON object as of satchel_catalogue_prune(); may be NULL
 *
 * **Returns** SATCHEL_OK, also when it is not stored; SATCHEL_EBUSY, SATCHEL_EFULL,
 * SATCHEL_EREADONLY or SATCHEL_EIO.
 */
SATCHEL_API satchel_status satchel_catalogue_delete_entity(
    satchel_store *store, satchel_bytes entity_id, satchel_buffer *out);

/**
 * Deletes what was delivered for a location itself: its sections, and the entities that
 * only they refer to.
 *
 * @param store     an open store
 * @param location  the @ref json_location "location"
 * @param[out] out  a JSON object as of satchel_catalogue_prune(); may be NULL
 *
 * **Returns** SATCHEL_OK, also when nothing was delivered for it; SATCHEL_EINVALID when
 * the location yields no key; SATCHEL_EBUSY, SATCHEL_EFULL, SATCHEL_EREADONLY or
 * SATCHEL_EIO.
 */
SATCHEL_API satchel_status satchel_catalogue_delete_context(
    satchel_store *store, satchel_bytes location, satchel_buffer *out);

/**
 * Stores the location of the person, the active location.
 *
 * It is kept across restarts. A byte budget does not remove what the active location
 * shows.
 *
 * @param store     an open store
 * @param location  a @ref json_location "location"; empty removes the active location
 *
 * **Returns** SATCHEL_OK, or SATCHEL_EINVALID when the location yields no key.
 */
SATCHEL_API satchel_status satchel_catalogue_set_active_location(
    satchel_store *store, satchel_bytes location);

/**
 * Returns the active location.
 *
 * @param store     an open store
 * @param[out] out  the @ref json_location "location" as it was set; {NULL, 0} when it
 *                  was not set
 *
 * **Returns** SATCHEL_OK or a default status.
 */
SATCHEL_API satchel_status satchel_catalogue_active_location(
    satchel_store *store, satchel_buffer *out);

/**
 * Options for pruning; start from SATCHEL_PRUNE_OPTIONS_INIT, which removes expired
 * content.
 *
 * `section`, `scope` and `location` restrict what `expired` and `unreferenced` remove.
 * When both of these are false, everything that the restrictions name is removed:
 * sections with the entities that only they refer to, or, with a scope, the content of
 * their entities of that scope.
 */
typedef struct satchel_prune_options {
    /** sizeof(satchel_prune_options). */
    size_t size;
    /** Removes the content of entities that have expired. */
    bool expired;
    /** Removes entities that no section refers to. */
    bool unreferenced;
    /** Restricts to what this section refers to; empty for all. */
    satchel_bytes section;
    /** Restricts to entities of this scope; empty for all. */
    satchel_bytes scope;
    /** Restricts to what the own context of this location refers to; empty for all. */
    satchel_bytes location;
    /** Removes contexts that were neither written nor read for this long, with the
     *  entities that only they refer to; a negative time removes no contexts. The context
     *  of the active location remains. */
    int64_t contexts_unused_for_ms;
    /** Then removes, while the catalogue's entities and templates have more bytes than
     *  this: expired content, unreferenced entities, and whole contexts, the least
     *  recently used first; negative for no budget. What other subjects have does not
     *  count. The search index is removed before them and does not count. What the active
     *  location shows and the content of offline regions stay. */
    int64_t max_bytes;
} satchel_prune_options;

/** The default options for pruning. */
#define SATCHEL_PRUNE_OPTIONS_INIT \
    { sizeof(satchel_prune_options), true, false, { NULL, 0 }, { NULL, 0 }, { NULL, 0 }, \
      -1, -1 }

/**
 * Removes content, and returns its space to the file system. The content of offline regions
 * stays, also where it is expired.
 *
 * An entity that a section still refers to is then reported as missing, until it is
 * delivered again. The result is
 *
 * | field         | type            | meaning                                            |
 * | ------------- | --------------- | -------------------------------------------------- |
 * | `entities`    | integer         | the entities whose content was removed             |
 * | `contexts`    | integer         | the contexts that were removed                     |
 * | `bytes`       | integer         | the bytes of content that were removed             |
 * | `file_bytes`  | integer         | the bytes by which the file shrank                 |
 * | `live_bytes`  | integer or null | with a budget: the bytes of entities and templates |
 * | `over_budget` | integer         | the bytes above the budget; 0 when it was met      |
 * | `pinned_bytes` | integer        | the bytes of what was selected, and stays because offline regions have it; with a budget, of what was come upon before it was met |
 *
 * @param store     an open store
 * @param options   may be NULL
 * @param[out] out  a JSON object; may be NULL
 *
 * **Returns** SATCHEL_OK, or SATCHEL_EINVALID for an unknown scope or a location that
 * yields no key.
 */
SATCHEL_API satchel_status satchel_catalogue_prune(
    satchel_store *store, const satchel_prune_options *options, satchel_buffer *out);

/**
 * Declares members of a section whose strings are URLs of assets.
 *
 * They are fetched, counted and pruned as objects with the member `_asset` are, see
 * @ref json_asset "references"; the content stays as it is. What is stored already is
 * looked through again. A string that is not a URL is a problem in the receipt of the
 * section.
 *
 * @param store    an open store
 * @param section  the name of the section
 * @param paths    a JSON array of JSON Pointers (RFC 6901) into its content, in which
 *                 the token "*" is any member or element; they replace those that were
 *                 declared before, and an empty array ends the declaration
 *
 * **Returns** SATCHEL_OK; SATCHEL_EINVALID for a path that is not a pointer;
 * SATCHEL_EREADONLY.
 */
SATCHEL_API satchel_status satchel_catalogue_assets(
    satchel_store *store, satchel_bytes section, satchel_bytes paths);

/**
 * @defgroup satchel_regions Offline regions
 * Named parts of the catalogue that stay: no prune removes them, and they are readable
 * after they have expired.
 *
 * @anchor json_region
 * The definition of a region:
 *
 * | field             | type                     | meaning                               |
 * | ----------------- | ------------------------ | ------------------------------------- |
 * | `locations`       | array                    | 1 to 1,000 @ref json_location         |
 * |                   |                          | "locations", or objects with          |
 * |                   |                          | `location`, and `within` or `level`   |
 * | `sections`        | array of strings or null | their names; null, the default: all   |
 * | `assets`          | boolean                  | whether the bytes of the assets that  |
 * |                   |                          | the content refers to belong to it;   |
 * |                   |                          | true by default                       |
 * | `max_bytes`       | integer or null          | the most bytes of content and assets  |
 * | `max_asset_bytes` | integer                  | larger assets do not belong to it; 64 |
 * |                   |                          | MiB by default                        |
 *
 * With `within` (metres), all delivered locations within that distance belong to it; with
 * `level`, all in the location's place at that level.
 *
 * @anchor json_region_summary
 * A region with its state:
 *
 * | field           | type            | meaning                                          |
 * | --------------- | --------------- | ------------------------------------------------ |
 * | `name`          | string          | the name                                         |
 * | `definition`    | object          | the @ref json_region "definition"                |
 * | `state`         | string          | "new", "partial", "complete", or "stale": all is |
 * |                 |                 | here, and some of it is expired                  |
 * | `size`          | object          | the @ref json_region_size "sizes"                |
 * | `failed`        | array           | `location`, `section`, `asset` and `message` of  |
 * |                 |                 | what could not be downloaded                     |
 * | `created_at`    | integer         | Unix milliseconds                                |
 * | `updated_at`    | integer         | when it was last defined, Unix milliseconds      |
 * | `downloaded_at` | integer or null | when a download last had nothing left to do      |
 *
 * @anchor json_region_size
 * The sizes of a region, as far as the store knows them; before the content is here, the
 * assets that it refers to are not known:
 *
 * | field              | type    | meaning                                               |
 * | ------------------ | ------- | ----------------------------------------------------- |
 * | `requests`         | integer | the requests for content that a download makes        |
 * | `requests_left`    | integer | those that are left                                   |
 * | `sections`         | integer | the sections that are here                            |
 * | `entities`         | integer | the entities that are here                            |
 * | `missing`          | integer | the entities whose content is no longer stored        |
 * | `expired`          | integer | the entities that are expired                         |
 * | `bytes`            | integer | the bytes of the content                              |
 * | `assets`           | integer | the assets that are here                              |
 * | `asset_bytes`      | integer | their bytes                                           |
 * | `assets_left`      | integer | the assets that are to come                           |
 * | `asset_bytes_left` | integer | the bytes of those whose size is known                |
 * | `unknown_sizes`    | integer | the number of the others                              |
 * | `too_large`        | integer | the assets that are larger than the region allows     |
 *
 * @{
 */

/**
 * Creates a region. Nothing is downloaded; what is stored for its locations belongs to it
 * at once.
 *
 * @param store       an open store
 * @param name        1 to 128 bytes without control characters
 * @param definition  the @ref json_region "definition"
 *
 * **Returns** SATCHEL_OK, also when the region exists with the same definition;
 * SATCHEL_ECONSTRAINT when it exists with another one; SATCHEL_EINVALID, with the pointer
 * of what is wrong; SATCHEL_EREADONLY.
 */
SATCHEL_API satchel_status satchel_regions_create(
    satchel_store *store, satchel_bytes name, satchel_bytes definition);

/**
 * Replaces the definition of a region.
 *
 * Content that belongs to it no more is pruned like other content; a download gets new
 * content.
 *
 * @param store       an open store
 * @param name        the name of the region
 * @param definition  the @ref json_region "definition"
 *
 * **Returns** SATCHEL_OK; SATCHEL_ENOTFOUND without such a region; SATCHEL_EINVALID;
 * SATCHEL_EREADONLY.
 */
SATCHEL_API satchel_status satchel_regions_define(
    satchel_store *store, satchel_bytes name, satchel_bytes definition);

/**
 * Returns all regions. Time grows with their content.
 *
 * @param store     an open store
 * @param[out] out  a JSON array of @ref json_region_summary "regions", by name
 *
 * **Returns** SATCHEL_OK or a default status.
 */
SATCHEL_API satchel_status satchel_regions_list(satchel_store *store, satchel_buffer *out);

/**
 * Returns a region with its state and sizes.
 *
 * @param store     an open store
 * @param name      the name of the region
 * @param[out] out  the @ref json_region_summary "region"
 *
 * **Returns** SATCHEL_OK, or SATCHEL_ENOTFOUND without such a region.
 */
SATCHEL_API satchel_status satchel_regions_get(
    satchel_store *store, satchel_bytes name, satchel_buffer *out);

/** Options for downloading a region; start from SATCHEL_REGION_OPTIONS_INIT. */
typedef struct satchel_region_options {
    /** sizeof(satchel_region_options). */
    size_t size;
    /** Asks also for content that has an etag, whether it has changed. */
    bool update;
    /** The number of requests that are sent at the same time, 1 to 16; 0 means 4. */
    int32_t parallel;
    /** No asset is begun after so many bytes; 0 means no limit. */
    int64_t max_bytes;
    /** Receives {"items_done", "items", "bytes_done", "bytes"} (integers): the requests and
     *  assets, and their bytes, that are done, and all that are known so far. What fails is
     *  not done. What is done never goes back, also when a download was broken off and
     *  begins again. Called by one thread at a time. May be NULL. */
    satchel_progress_callback progress;
    /** Passed to `progress`. */
    void *context;
} satchel_region_options;

/** The default options for downloading a region. */
#define SATCHEL_REGION_OPTIONS_INIT \
    { sizeof(satchel_region_options), false, 0, 0, NULL, NULL }

/**
 * Gets what is missing or expired of a region: content, then the assets that it refers to.
 *
 * Whatever has arrived is stored, so that after a cancellation, a kill or a loss of power
 * the next call goes on with what is left. An item that fails is in the result and stops no
 * other.
 *
 * | field           | type    | meaning                                                   |
 * | --------------- | ------- | --------------------------------------------------------- |
 * | `state`         | string  | the state afterwards                                      |
 * | `requests`      | integer | the requests for content                                  |
 * | `content_bytes` | integer | the bytes of their answers                                |
 * | `refreshed`     | integer | the sections that were stored                             |
 * | `unchanged`     | integer | the sections that had not changed                         |
 * | `not_found`     | integer | the requests for which the source has no content          |
 * | `assets`        | integer | the assets that were fetched                              |
 * | `asset_bytes`   | integer | their bytes                                               |
 * | `failed`        | array   | as of a @ref json_region_summary "region"                 |
 * | `waiting`       | integer | the items that were left, because of `max_bytes` or of the network |
 * | `size`          | object  | the @ref json_region_size "sizes" afterwards              |
 *
 * @param store     an open store
 * @param name      the name of the region
 * @param source    where the content and the bytes of assets come from
 * @param options   may be NULL
 * @param[out] out  a JSON object; may be NULL
 *
 * **Returns** SATCHEL_OK, also when items failed; SATCHEL_ECANCELLED; SATCHEL_EFULL, with
 * the region's name, when the limit of its definition is reached or the disk is full;
 * SATCHEL_ENOTFOUND without such a region; SATCHEL_EINVALID in a batch; SATCHEL_EREADONLY or
 * SATCHEL_EIO.
 *
 * **Threads** The functions of the source are called on up to `parallel` threads.
 */
SATCHEL_API satchel_status satchel_regions_download(
    satchel_store *store, satchel_bytes name, satchel_source *source,
    const satchel_region_options *options, satchel_buffer *out);

/**
 * Deletes a region with its content, and returns its space to the file system.
 *
 * Content of another region, content that the active location shows, and assets to which
 * something else refers stay.
 *
 * | field           | type    | meaning                                                  |
 * | --------------- | ------- | -------------------------------------------------------- |
 * | `sections`      | integer | the sections that were removed                           |
 * | `entities`      | integer | the entities that were removed                           |
 * | `bytes`         | integer | their bytes                                              |
 * | `assets`        | integer | the assets that were removed                             |
 * | `asset_bytes`   | integer | their bytes                                              |
 * | `file_bytes`    | integer | the bytes by which the file shrank                       |
 * | `waiting_files` | integer | the files of assets that a later prune deletes, because  |
 * |                 |         | a reader or a backup uses files of the folder            |
 *
 * @param store     an open store
 * @param name      the name of the region
 * @param[out] out  a JSON object; may be NULL
 *
 * **Returns** SATCHEL_OK; SATCHEL_ENOTFOUND without such a region; SATCHEL_EINVALID in a
 * batch; SATCHEL_EREADONLY, SATCHEL_EFULL or SATCHEL_EIO.
 */
SATCHEL_API satchel_status satchel_regions_delete(
    satchel_store *store, satchel_bytes name, satchel_buffer *out);

/**
 * Writes a region into one file: a store of its own with the region, its content and its
 * assets. What is not here is not in the file.
 *
 * | field            | type    | meaning                                                 |
 * | ---------------- | ------- | ------------------------------------------------------- |
 * | `sections`       | integer | the sections in the file                                |
 * | `entities`       | integer | the entities in the file                                |
 * | `assets`         | integer | the assets in the file                                  |
 * | `missing_assets` | integer | the assets that are not here, or are encrypted here     |
 * | `bytes`          | integer | the size of the file                                    |
 *
 * @param store     an open store
 * @param name      the name of the region
 * @param path      the path of the file, NUL-terminated UTF-8; a file of a region there is
 *                  replaced
 * @param[out] out  a JSON object; may be NULL
 *
 * **Returns** SATCHEL_OK; SATCHEL_ENOTFOUND without such a region; SATCHEL_EFOREIGN when
 * `path` names another program's file; SATCHEL_EINVALID in a batch; SATCHEL_EFULL, also for
 * an asset of more than 512 MiB; SATCHEL_EIO. On failure the path has what it had.
 */
SATCHEL_API satchel_status satchel_regions_export(
    satchel_store *store, satchel_bytes name, const char *path, satchel_buffer *out);

/**
 * Adds the region of a file that satchel_regions_export() wrote.
 *
 * The file may come from anywhere: it is opened read-only and checked completely first, and
 * its content is stored like that of a delivery. What was fetched here later than there
 * stays. A region of the same name gets the definition of the file.
 *
 * @param store     an open store
 * @param path      the path of the file, NUL-terminated UTF-8
 * @param[out] out  the @ref json_region_summary "region"; may be NULL
 *
 * **Returns** SATCHEL_OK; SATCHEL_ENOTFOUND, SATCHEL_EFOREIGN, SATCHEL_EDAMAGED or
 * SATCHEL_ENEWER for the file; SATCHEL_EINVALID in a batch; SATCHEL_EREADONLY, SATCHEL_EFULL
 * or SATCHEL_EIO. On failure the store has what it had.
 */
SATCHEL_API satchel_status satchel_regions_import(
    satchel_store *store, const char *path, satchel_buffer *out);

/** @} */

/**
 * @defgroup satchel_refreshing Refreshing
 * Keeping the content of the catalogue fresh by a @ref satchel_sources "source".
 *
 * A request is sent for what is missing, expired or old, and only one at a time for a
 * location and section, by all threads and processes: other calls wait for its answer.
 * After a failure the next request is sent 5 seconds later, then 10, and so on up to an
 * hour, up to half of it earlier, at random, also after a restart; what is stored stays.
 * @{
 */

/** Options for asking a source; start from SATCHEL_REFRESH_OPTIONS_INIT. */
typedef struct satchel_refresh_options {
    /** sizeof(satchel_refresh_options). */
    size_t size;
    /** Asks also for what is fresh, and for what failed before its time; not before the
     *  time that the source demands. */
    bool force;
    /** The age in seconds from which stored content is asked for again, where its source
     *  did not say how long it is fresh. */
    int64_t stale_after;
    /** Asked before each request; NULL for SATCHEL_NETWORK_FREE. */
    satchel_network_callback network;
    /** Passed to `network`. */
    void *network_context;
    /** Called exactly once with `network_context`, also on failure, when the library does
     *  not need it any more: satchel_catalogue_load_from() and a session send requests also
     *  after the call. May be NULL. */
    void (*release_network)(void *context);
    /** Called with an empty object while the call waits, which it can cancel; may be NULL.
     *  A session does not use it. */
    satchel_progress_callback progress;
    /** Passed to `progress`. */
    void *context;
} satchel_refresh_options;

/** The default options for asking a source. */
#define SATCHEL_REFRESH_OPTIONS_INIT \
    { sizeof(satchel_refresh_options), false, 86400, NULL, NULL, NULL, NULL, NULL }

/**
 * Asks a source for what is missing, expired or old at a location, and stores its answers.
 *
 * The report is
 *
 * | field       | type             | meaning                                             |
 * | ----------- | ---------------- | --------------------------------------------------- |
 * | `refreshed` | array of strings | the sections that were stored                       |
 * | `unchanged` | array of strings | those that have not changed                         |
 * | `not_found` | array            | those that the source does not have; null for the location |
 * | `failed`    | array of objects | `section` (null for the location), `message`, `pointer` (where an answer cannot be stored; or null), `retry_at` (Unix milliseconds) |
 * | `skipped`   | array of objects | `section` (null for the location) and `reason`: "fresh", "waiting" (it failed before), "network", or "busy" (another call has asked) |
 * | `requests`  | integer          | the requests that were sent                         |
 * | `bytes`     | integer          | the size of their answers                           |
 *
 * @param store     an open store
 * @param location  the @ref json_location "location"
 * @param sections  a JSON array of the names of sections, for each of which a request of its
 *                  own is sent; {NULL, 0} for one request for all of the location
 * @param source    a source
 * @param options   NULL for the defaults
 * @param[out] out  the report; may be NULL
 *
 * **Returns** SATCHEL_OK, also when requests fail; SATCHEL_EINVALID in a batch;
 * SATCHEL_EBUSY in a function of a source; SATCHEL_ECANCELLED by `progress` and by an
 * interrupt of this thread; SATCHEL_EREADONLY, SATCHEL_EFULL, SATCHEL_EIO.
 */
SATCHEL_API satchel_status satchel_catalogue_refresh(
    satchel_store *store, satchel_bytes location, satchel_bytes sections,
    satchel_source *source, const satchel_refresh_options *options, satchel_buffer *out);

/**
 * Returns a section, and keeps it fresh.
 *
 * Stored content is returned at once, also when it is expired; the source is then asked on a
 * thread of the library, if that is due, and observers and sessions are notified of what has
 * changed. Where nothing is stored, the call waits for the source.
 *
 * @param store     an open store
 * @param location  the @ref json_location "location"
 * @param section   the name
 * @param source    a source; it may be freed after the call
 * @param options   `inherit` and `nearby` are used; NULL for the defaults
 * @param refresh   NULL for the defaults
 * @param[out] out  as satchel_catalogue_load() without `storage`; {NULL, 0} when neither the
 *                  store nor the source has the section
 *
 * **Returns** SATCHEL_OK; SATCHEL_EUNAVAILABLE when nothing is stored and the source fails,
 * or is not to be asked yet; as satchel_catalogue_refresh().
 */
SATCHEL_API satchel_status satchel_catalogue_load_from(
    satchel_store *store, satchel_bytes location, satchel_bytes section,
    satchel_source *source, const satchel_read_options *options,
    const satchel_refresh_options *refresh, satchel_buffer *out);

/** @} */

/**
 * @defgroup satchel_sessions Sessions
 * The sections that one screen shows.
 *
 * The state of a section is placeholder, then loading, then loaded or failed. A session
 * reports to its host what changed and what to fetch; it does not draw. It is live: a
 * commit of any handle or process that changes what the screen shows is an event, and the
 * new content is there when it is delivered. Content that is shown stays until there is
 * other content, or nothing is stored of its section any more. After its store was closed,
 * calls that need the store return SATCHEL_ECLOSED; satchel_session_state() still works.
 * @{
 */

/** The session of one screen with a store. */
typedef struct satchel_session satchel_session;

/**
 * Receives an event of a session.
 *
 * | field     | type           | meaning                                         |
 * | --------- | -------------- | ----------------------------------------------- |
 * | `event`   | string         | "sections": the list of sections or their order changed; "section": the state or content of one; "refresh": what to fetch |
 * | `section` | string         | of "section": the name                          |
 * | `state`   | string         | of "section": its state                         |
 * | `cached`  | string or null | of "refresh": as satchel_catalogue_has_cached() |
 * | `plan`    | object         | of "refresh": the @ref json_plan "plan"         |
 *
 * @param context  the context that was given with the function
 * @param event    a JSON object; valid during the callback
 *
 * **Threads** Called on the thread that caused the event, or on one that is about to
 * report a later event; on a thread of the library when content was loaded or a commit
 * changed it. For one session never on two at the same time, and in the order of what is
 * reported.
 */
typedef void (*satchel_session_callback)(void *context, satchel_bytes event);

/** Options of a session; start from SATCHEL_SESSION_OPTIONS_INIT. */
typedef struct satchel_session_options {
    /** sizeof(satchel_session_options). */
    size_t size;
    /** As in satchel_read_options. */
    double nearby;
    /** Keeps what is shown fresh: it is asked for what is missing, expired or old, also
     *  again after a failure, and for what becomes so while it is shown. NULL for a host that fetches content itself. It may be freed
     *  after the call. */
    satchel_source *source;
    /** For asking the source; NULL for the defaults. */
    const satchel_refresh_options *refresh;
} satchel_session_options;

/** The default options of a session. */
#define SATCHEL_SESSION_OPTIONS_INIT { sizeof(satchel_session_options), 5000, NULL, NULL }

/**
 * Begins a session.
 *
 * @param store     an open store
 * @param options   NULL for the defaults
 * @param callback  receives the events; may be NULL
 * @param context   passed to `callback`
 * @param release   called exactly once with `context`, also on failure; may be NULL
 * @param[out] out  the session
 *
 * **Returns** SATCHEL_OK, or SATCHEL_EINVALID for a negative distance.
 *
 * **Ownership** The caller frees the session: satchel_session_free().
 */
SATCHEL_API satchel_status satchel_session_new(
    satchel_store *store, const satchel_session_options *options,
    satchel_session_callback callback, void *context, void (*release)(void *context),
    satchel_session **out);

/**
 * Shows a location.
 *
 * Its stored headers appear immediately, as placeholders; then the event "refresh"
 * reports what to fetch. The location becomes the active one, unless the store is
 * read-only. A location that is shown already keeps what is loaded; what time has changed
 * since, such as an expiry, follows.
 *
 * @param session   the session
 * @param location  a @ref json_location "location"
 *
 * **Returns** SATCHEL_OK, or SATCHEL_EINVALID when the location yields no key. When the
 * active location cannot be stored, for example on a full disk, the location is shown.
 */
SATCHEL_API satchel_status satchel_session_show(
    satchel_session *session, satchel_bytes location);

/**
 * Stores a section for the location of the session and shows it; inside a batch, after the
 * commit.
 *
 * @param session   the session
 * @param section   the @ref json_section "section", as the backend sent it
 * @param[out] out  the @ref json_receipt "receipt"; may be NULL
 *
 * **Returns** As satchel_catalogue_persist(); SATCHEL_EINVALID also when the session
 * shows no location.
 */
SATCHEL_API satchel_status satchel_session_handle(
    satchel_session *session, satchel_bytes section, satchel_buffer *out);

/**
 * Requests the content of a section.
 *
 * Returns immediately; the event "section" follows on a thread of the library. Content that
 * is loaded stays meanwhile, and the section is `refreshing`.
 *
 * @param session  the session
 * @param section  the name of the section
 *
 * **Returns** SATCHEL_OK, or SATCHEL_EINVALID when the session shows no location.
 */
SATCHEL_API satchel_status satchel_session_load(
    satchel_session *session, satchel_bytes section);

/**
 * Asks the source again for what the session shows, also for what is fresh, as when
 * somebody pulls the list down. Without a source it does nothing.
 *
 * Returns immediately. The session is `refreshing` from then on, until the answer or the
 * `error` is shown; the event "sections" reports the end.
 *
 * @param session  a session that shows a location
 *
 * **Returns** SATCHEL_OK; SATCHEL_EINVALID before satchel_session_show();
 * SATCHEL_ECLOSED.
 */
SATCHEL_API satchel_status satchel_session_refresh(satchel_session *session);

/**
 * Reports that the host failed to fetch a section.
 *
 * A section whose content is loaded remains loaded, with the cause as its `error`.
 *
 * @param session  the session
 * @param section  the name of the section
 * @param reason   the cause
 *
 * **Returns** SATCHEL_OK, or SATCHEL_EINVALID when the session shows no location.
 */
SATCHEL_API satchel_status satchel_session_fail(
    satchel_session *session, satchel_bytes section, satchel_bytes reason);

/**
 * Sets the order of the sections.
 *
 * Sections that are not named follow in the order of their delivery. The store keeps the
 * order for later sessions, unless it is read-only.
 *
 * @param session  the session
 * @param names    a JSON array of names; an empty one for the order of delivery
 *
 * **Returns** SATCHEL_OK, or SATCHEL_EINVALID when it is not an array of strings.
 */
SATCHEL_API satchel_status satchel_session_set_order(
    satchel_session *session, satchel_bytes names);

/**
 * Returns the location and the sections that the screen shows.
 *
 * | field      | type             | meaning                                        |
 * | ---------- | ---------------- | ---------------------------------------------- |
 * | `location` | object or null   | the @ref json_location "location"              |
 * | `level`    | string or null   | the most specific level of the sections        |
 * | `refreshing` | boolean        | whether the source is asked for all of the location |
 * | `error`    | string or null   | why the source did not answer that last        |
 * | `sections` | array of objects | the sections, see below                        |
 *
 * and each element of `sections`
 *
 * | field           | type             | meaning                                        |
 * | --------------- | ---------------- | ---------------------------------------------- |
 * | `section`       | string           | the name                                       |
 * | `state`         | string           | "placeholder", "loading", "loaded" or "failed" |
 * | `display_title` | string or null   | the title                                      |
 * | `config`        | object or null   | the configuration, as it was sent              |
 * | `entity_count`  | integer or null  | the entities that the location sees            |
 * | `level`         | string or null   | the level at which the section was found       |
 * | `resolved`      | object           | as in satchel_catalogue_sections()             |
 * | `content`       | any              | when loaded: the content                       |
 * | `expired`       | array of strings | when loaded: the ids of expired entities       |
 * | `missing`       | array of strings | when loaded: the ids of missing entities       |
 * | `fetched_at`    | integer or null  | when it was last delivered or renewed, Unix milliseconds; a renewal that the session did not cause is seen when it is read next |
 * | `refreshing`    | boolean          | whether content that is shown is read again, or the source is asked for the section |
 * | `error`         | string or null   | why it could not be fetched or read last; a section with content stays loaded |
 *
 * @param session   the session
 * @param[out] out  a JSON object
 *
 * **Returns** SATCHEL_OK or a default status; also after the store was closed.
 */
SATCHEL_API satchel_status satchel_session_state(
    satchel_session *session, satchel_buffer *out);

/**
 * Ends and frees a session.
 *
 * Waits for a callback in progress on another thread.
 *
 * @param session  may be NULL, and may have been freed before
 */
SATCHEL_API void satchel_session_free(satchel_session *session);

/** @} */

/** @} */

/**
 * @defgroup satchel_photo_catalogues Photos
 * The photos of one directory, in sixteen shards, with a copy in an object store.
 *
 * A catalogue has one row for each photo, identified by the MD5 of its bytes; the first
 * digit of the MD5 selects the shard. Format and rules: Documentation/photos.md.
 *
 * @anchor json_photo
 * **Photo.** The row of a photo is a JSON object:
 *
 * | field            | type            | meaning                |
 * | ---------------- | --------------- | ---------------------- |
 * | `md5`            | string          | 32 hexadecimal digits  |
 * | `filename`       | string          | the name of the file   |
 * | `size`           | integer         | bytes                  |
 * | `photodate`      | integer         | Unix seconds           |
 * | `modified`       | integer         | Unix seconds           |
 * | `width`          | integer or null | pixels                 |
 * | `height`         | integer or null | pixels                 |
 * | `apple_photo_id` | string or null  | the id in Apple Photos |
 *
 * @anchor json_photo_local
 * **Local columns.** These exist only locally: they are never uploaded, and no import
 * changes them.
 *
 * | field                 | type            | meaning                              |
 * | --------------------- | --------------- | ------------------------------------ |
 * | `starred`             | boolean         | whether its file is, or is to be,    |
 * |                       |                 | in the remote                        |
 * | `local_only`          | boolean         | whether the remote lacks it          |
 * | `backup_status`       | string          | see below                            |
 * | `last_attempt`        | integer or null | the last attempt to back up, Unix ms |
 * | `attempts`            | integer         | the number of attempts               |
 * | `error`               | string or null  | why the last attempt failed          |
 * | `photodate_source`    | string or null  | where the photodate is from, see     |
 * |                       |                 | below                                |
 * | `camera_make`         | string or null  | the maker of the camera              |
 * | `camera_model`        | string or null  | the model of the camera              |
 * | `orientation`         | integer or null | 1 to 8, as in Exif                   |
 * | `latitude`            | number or null  | degrees                              |
 * | `longitude`           | number or null  | degrees                              |
 * | `aperture`            | number or null  | the f-number                         |
 * | `shutter_speed`       | string or null  | seconds, such as "1/200" or "2.5";   |
 * |                       |                 | a number is accepted, too            |
 * | `iso`                 | integer or null | the ISO speed                        |
 * | `focal_length`        | number or null  | millimetres                          |
 * | `utc_offset`          | integer or null | the offset of the local time where   |
 * |                       |                 | the photo was taken: seconds east of |
 * |                       |                 | UTC                                  |
 * | `thumbnail_cached_at` | integer or null | Unix ms                              |
 * | `preview_cached_at`   | integer or null | Unix ms                              |
 *
 * `backup_status` is "not_backed_up", "queued", "uploading", "uploaded" or "error". The
 * functions for backups determine it, `last_attempt`, `attempts` and `error`; the
 * contents of the remote determine `local_only`, and a scan `photodate_source`. These
 * cannot be set.
 *
 * `photodate_source` is where a scan has found the photodate: "date_time_original" and
 * "date_time_digitized", tags of EXIF; "xmp", XMP in the file; "xmp_sidecar", XMP in a
 * file of its own; "iptc"; "date_time", the tag of EXIF; "gps", the time of the position;
 * "takeout", the JSON file of Google Takeout; "name", the file's name; "file", the time of
 * the file. The first one of these that has a date counts. It is null for a photodate that
 * a program or another device has set.
 *
 * @anchor json_rejected
 * **Rejected line.** A line of a shard's file that is not a photo of the shard:
 *
 * | field    | type    | meaning                                         |
 * | -------- | ------- | ----------------------------------------------- |
 * | `shard`  | integer | the shard, 0 to 15, when there are several      |
 * | `line`   | integer | the number of the line                          |
 * | `fault`  | string  | a code of the reason, such as "columns"         |
 * | `reason` | string  | the reason                                      |
 * | `raw`    | string  | the line; bytes that are not UTF-8 are replaced |
 *
 * @anchor json_shard_failure
 * **Failed shard.**
 *
 * | field     | type    | meaning            |
 * | --------- | ------- | ------------------ |
 * | `shard`   | integer | the shard, 0 to 15 |
 * | `code`    | integer | a satchel_status   |
 * | `message` | string  | the message        |
 *
 * Observers receive changes with the subject "photos", the directory as place, and MD5s
 * as keys; after many changes, with "shard:0" to "shard:f" as keys.
 * @{
 */

/** The photo catalogue of one directory, in a store. */
typedef struct satchel_photos satchel_photos;

/**
 * Opens the photo catalogue of a directory, and creates it when it does not exist.
 *
 * `on_conflict` declares what a synchronization does with the local change of a photo
 * that was changed remotely as well. It is stored with the catalogue, and stays until another
 * policy is declared; at first it is SATCHEL_CONFLICT_REMOTE_WINS.
 *
 * @param store        an open store
 * @param directory    the directory of the photos; need not exist
 * @param on_conflict  the policy; SATCHEL_CONFLICT_DEFAULT to keep the declared one
 * @param[out] out     the catalogue
 *
 * **Returns** SATCHEL_OK; SATCHEL_EINVALID for an invalid path, and for a policy that
 * photos refuse; SATCHEL_ENOTFOUND when the store is read-only and has no such catalogue;
 * SATCHEL_EREADONLY for another policy than the declared one in a read-only store.
 *
 * **Ownership** The caller frees the catalogue: satchel_photos_free().
 */
SATCHEL_API satchel_status satchel_photos_open(
    satchel_store *store, satchel_bytes directory, satchel_conflict_policy on_conflict,
    satchel_photos **out);

/**
 * Inserts or replaces photos, in one transaction.
 *
 * Of several rows with one MD5 the last is used. @ref json_photo_local "Local columns" in
 * a row are set as by satchel_photos_set_local().
 *
 * @param photos        the catalogue
 * @param rows          a @ref json_photo "photo", or a JSON array of photos
 * @param[out] changed  the number of rows that differ from before; may be NULL
 *
 * **Returns** SATCHEL_OK, or SATCHEL_EINVALID for an invalid row and for unknown fields.
 */
SATCHEL_API satchel_status satchel_photos_upsert(
    satchel_photos *photos, satchel_bytes rows, int64_t *changed);

/**
 * Returns a photo with its local columns.
 *
 * @param photos    the catalogue
 * @param md5       the MD5 of the photo
 * @param[out] out  a JSON object with the fields of a @ref json_photo "photo" and its
 *                  @ref json_photo_local "local columns"
 *
 * **Returns** SATCHEL_OK, or SATCHEL_ENOTFOUND.
 */
SATCHEL_API satchel_status satchel_photos_get(
    satchel_photos *photos, satchel_bytes md5, satchel_buffer *out);

/**
 * Returns the files of a photo that scans of this device have found: first its own, in the
 * order of their paths, then its films, then its sidecars.
 *
 * A film or a sidecar belongs to the first photo of its directory that has its name up to
 * the extension. The result is an array of
 *
 * | field      | type    | meaning                                                      |
 * | ---------- | ------- | ------------------------------------------------------------ |
 * | `path`     | string  | relative to the catalogue's directory                        |
 * | `kind`     | string  | "photo", "film" or "sidecar"                                 |
 * | `size`     | integer | bytes                                                        |
 * | `modified` | integer | Unix seconds                                                 |
 * | `present`  | boolean | whether the last scan found it with these bytes              |
 *
 * @param photos    the catalogue
 * @param md5       the MD5 of the photo
 * @param[out] out  a JSON array; empty for a photo whose file is on another device only
 *
 * **Returns** SATCHEL_OK.
 */
SATCHEL_API satchel_status satchel_photos_files(
    satchel_photos *photos, satchel_bytes md5, satchel_buffer *out);

/**
 * Gives a catalogue another directory, because its folder was renamed, or is mounted
 * elsewhere.
 *
 * Nothing is read there; the next scan finds the files at their relative paths. The handle
 * then is that of the new directory. Other handles of the old one see an empty catalogue.
 *
 * @param photos     the catalogue
 * @param directory  need not exist
 *
 * **Returns** SATCHEL_OK; SATCHEL_EINVALID for an invalid path; SATCHEL_ECONFLICT when the
 * directory has a catalogue already; SATCHEL_ENOTFOUND when this one has nothing yet.
 */
SATCHEL_API satchel_status satchel_photos_move(
    satchel_photos *photos, satchel_bytes directory);

/**
 * Deletes photos from the catalogue, in one transaction, without deleting their files.
 *
 * @param photos        the catalogue
 * @param md5s          a JSON array of MD5s
 * @param[out] deleted  the number of photos that existed; may be NULL
 *
 * **Returns** SATCHEL_OK, or SATCHEL_EINVALID when it is not an array of MD5s.
 */
SATCHEL_API satchel_status satchel_photos_delete(
    satchel_photos *photos, satchel_bytes md5s, int64_t *deleted);

/**
 * Returns photos of the trash.
 *
 * A row that is removed, by a call, by a scan, by an import or by a synchronization, stays in
 * the trash for 30 days, and what is local to it beyond that. It is deleted only after the
 * clock has said for a day that they are over: a clock that is ahead for less deletes none.
 *
 * @param photos    the catalogue
 * @param after     only photos after this MD5, the last one of the page before; empty for
 *                  the first page
 * @param limit     the size of a page, 1 to 100,000
 * @param[out] out  a JSON object: `photos`, an array in the order of the MD5s, each with the
 *                  columns of its row and `removed`, Unix ms; and `next`, which is `after` of
 *                  the next page, null for the last one
 *
 * **Returns** SATCHEL_OK, or SATCHEL_EINVALID for another limit, or an `after` that is no MD5.
 */
SATCHEL_API satchel_status satchel_photos_trash(
    satchel_photos *photos, satchel_bytes after, int32_t limit, satchel_buffer *out);

/**
 * Restores rows from the trash, with what was local to them.
 *
 * The next synchronization sends them. Scans add photos again that were deleted on this
 * device; satchel_photos_delete() keeps them from that.
 *
 * @param photos         the catalogue
 * @param md5s           a JSON array of MD5s; those that are not in the trash are ignored.
 *                       Empty for the whole trash
 * @param[out] restored  how many rows were restored; may be NULL
 *
 * **Returns** SATCHEL_OK, or SATCHEL_EINVALID.
 */
SATCHEL_API satchel_status satchel_photos_restore_rows(
    satchel_photos *photos, satchel_bytes md5s, int64_t *restored);

/**
 * Empties the trash.
 *
 * @param photos        the catalogue
 * @param[out] deleted  how many photos it had; may be NULL
 *
 * **Returns** SATCHEL_OK or a default status.
 */
SATCHEL_API satchel_status satchel_photos_empty_trash(satchel_photos *photos, int64_t *deleted);

/**
 * Returns the photos that match a query, one page at a time.
 *
 * @anchor json_photo_query
 * A query is a JSON object; every field may be left out:
 *
 * | field           | type    | meaning                                               |
 * | --------------- | ------- | ----------------------------------------------------- |
 * | `from`          | integer | the first photodate, in seconds since 1970 on `clock` |
 * | `to`            | integer | the last photodate, in seconds since 1970 on `clock`  |
 * | `clock`         | string  | "utc", the default: these are Unix seconds; "local":  |
 * |                 |         | on the wall where each photo was taken; or a zone,    |
 * |                 |         | such as "Europe/Berlin" or "+02:00"                   |
 * | `filename`      | string  | a pattern with * and ?, in any Unicode normal form    |
 * | `starred`       | boolean | whether the photo has a star                          |
 * | `backup_status` | string  | the status of its backup                              |
 * | `shard`         | integer | 0 to 15                                               |
 * | `camera`        | string  | the `camera_model`                                    |
 * | `folder`        | string  | a folder that has a file of the photo, here, or a     |
 * |                 |         | folder above it; relative to the directory            |
 * | `place`         | object  | where it was taken, see below                         |
 * | `present`       | boolean | whether the last scan here found a file of it         |
 * | `order`         | string  | "md5", "photodate" or "filename"                      |
 * | `descending`    | boolean | reverses the order                                    |
 * | `limit`         | integer | the size of a page, 1 to 100,000; 1,000 when left out |
 * | `after`         | string  | `next` of the previous page                           |
 *
 * A place is {"south", "west", "north", "east"} in degrees, across the antimeridian if west
 * is larger than east; or {"latitude", "longitude", "metres"}, which is all within that
 * distance on a sphere. The result is
 *
 * | field    | type             | meaning                                            |
 * | -------- | ---------------- | -------------------------------------------------- |
 * | `photos` | array of objects | the photos of the page                             |
 * | `next`   | string or null   | the cursor of the next page; null for the last one |
 *
 * @param photos    the catalogue
 * @param query     a query; empty for all photos
 * @param[out] out  a JSON object
 *
 * **Returns** SATCHEL_OK, or SATCHEL_EINVALID for an invalid query.
 */
SATCHEL_API satchel_status satchel_photos_query(
    satchel_photos *photos, satchel_bytes query, satchel_buffer *out);

/**
 * Returns the number of photos that match a query.
 *
 * Counting all photos takes constant time.
 *
 * @param photos      the catalogue
 * @param query       a @ref json_photo_query "query"; empty for all photos
 * @param[out] count  the number
 *
 * **Returns** SATCHEL_OK, or SATCHEL_EINVALID for an invalid query.
 */
SATCHEL_API satchel_status satchel_photos_count(
    satchel_photos *photos, satchel_bytes query, int64_t *count);

/**
 * Returns the numbers of photos by month, day, camera or folder.
 *
 * Reads the photos that match; for all photos by month or day of UTC, an index.
 *
 * @param photos    the catalogue
 * @param group     "month" or "day", on the clock of the query, "camera", or "folder": that
 *                  of the photo's files here; a photo counts once in each of its folders
 * @param query     a @ref json_photo_query "query"; empty for all photos
 * @param[out] out  a JSON array of {"key", "photos"} in the order of the keys: "2024-02",
 *                  "2024-02-29", the `camera_model`, or the folder relative to the
 *                  directory; null, the last one, for photos of no known camera
 *
 * **Returns** SATCHEL_OK, or SATCHEL_EINVALID for another group or an invalid query.
 */
SATCHEL_API satchel_status satchel_photos_counts(
    satchel_photos *photos, satchel_bytes group, satchel_bytes query, satchel_buffer *out);

/**
 * Returns the status of a catalogue.
 *
 * | field         | type             | meaning                                        |
 * | ------------- | ---------------- | ---------------------------------------------- |
 * | `directory`   | string           | the directory                                  |
 * | `uuid`        | string or null   | the id of the catalogue                        |
 * | `created`     | integer or null  | Unix ms                                        |
 * | `modified`    | integer or null  | Unix ms                                        |
 * | `last_sync`   | integer or null  | the last complete synchronization, Unix ms     |
 * | `on_conflict` | string           | "remote_wins" or "merge", as it is declared    |
 * | `user`        | string or null   | the user that it is synchronized as            |
 * | `remote_uuid` | string or null   | the id of the remote catalogue                 |
 * | `photos`      | integer          | the number of photos                           |
 * | `changes`     | integer          | local changes since the last synchronization   |
 * | `conflicts`   | integer          | entries of the conflict log                    |
 * | `backup`      | object           | photos by backup status, without not_backed_up |
 * | `shards`      | array of objects | the sixteen shards, see below                  |
 *
 * and each element of `shards`
 *
 * | field       | type            | meaning                                            |
 * | ----------- | --------------- | -------------------------------------------------- |
 * | `shard`     | integer         | 0 to 15                                            |
 * | `photos`    | integer         | the number of photos                               |
 * | `changes`   | integer         | local changes since the last synchronization       |
 * | `kept`      | integer         | lines that are not photos                          |
 * | `pending`   | boolean         | whether the next synchronization uploads the shard |
 * | `modified`  | integer or null | when its content last changed here, Unix ms        |
 * | `last_sync` | integer or null | when it was last synchronized, Unix ms             |
 * | `checksum`  | string or null  | SHA-256 of the remote's bytes at that time         |
 *
 * @param photos    the catalogue
 * @param[out] out  a JSON object
 *
 * **Returns** SATCHEL_OK or a default status.
 */
SATCHEL_API satchel_status satchel_photos_status(
    satchel_photos *photos, satchel_buffer *out);

/**
 * Returns where the files of the photos are, and which are backed up.
 *
 * | field       | type    | meaning                                                     |
 * | ----------- | ------- | ----------------------------------------------------------- |
 * | `present`   | object  | photos with a file here, as of the last scan                |
 * | `missing`   | object  | photos whose file was here, and is not any more             |
 * | `elsewhere` | object  | photos whose file was never here                            |
 * | `damaged`   | integer | photos whose file is missing or damaged in the remote, as   |
 * |             |         | of the last satchel_photos_backup_refresh()                 |
 * | `trash`     | integer | photos in the trash                                         |
 * | `hidden`    | integer | photos that were deleted here while their files stayed      |
 * | `safe`      | boolean | whether every photo is backed up                            |
 *
 * The objects are {"photos", "backed_up"}. Uses no network: a backup counts as this device
 * knows it, by its own runs and by satchel_photos_backup_refresh(). Reads every row.
 *
 * @param photos    the catalogue
 * @param[out] out  a JSON object
 *
 * **Returns** SATCHEL_OK or a default status.
 */
SATCHEL_API satchel_status satchel_photos_safety(
    satchel_photos *photos, satchel_buffer *out);

/**
 * Returns the shards with photos that were inserted, changed or deleted locally since the
 * last synchronization.
 *
 * Importing a file is not a change, although the next synchronization uploads its photos:
 * see `pending` of satchel_photos_status().
 *
 * @param photos     the catalogue
 * @param[out] bits  bit n is set for shard n
 *
 * **Returns** SATCHEL_OK or a default status.
 */
SATCHEL_API satchel_status satchel_photos_modified_shards(
    satchel_photos *photos, uint32_t *bits);

/**
 * Returns the local changes since the last synchronization, in the order of their MD5s.
 *
 * | field     | type             | meaning                                            |
 * | --------- | ---------------- | -------------------------------------------------- |
 * | `changes` | array of objects | the changes of the page, see below                 |
 * | `next`    | string or null   | the cursor of the next page; null for the last one |
 *
 * and each element of `changes`
 *
 * | field   | type           | meaning                               |
 * | ------- | -------------- | ------------------------------------- |
 * | `md5`   | string         | the MD5 of the photo                  |
 * | `kind`  | string         | "upsert" or "delete"                  |
 * | `photo` | object or null | the local @ref json_photo "photo"     |
 * | `base`  | object or null | the photo as it was synchronized last |
 *
 * @param photos    the catalogue
 * @param after     `next` of the previous page; empty for the first page
 * @param limit     the size of a page, 1 or more
 * @param[out] out  a JSON object
 *
 * **Returns** SATCHEL_OK, or SATCHEL_EINVALID for an invalid `after` or `limit`.
 */
SATCHEL_API satchel_status satchel_photos_changes(
    satchel_photos *photos, satchel_bytes after, int32_t limit, satchel_buffer *out);

/**
 * Returns the file of a shard, with the same bytes as on every other platform.
 *
 * @param photos    the catalogue
 * @param shard     0 to 15
 * @param[out] out  the bytes of the file
 *
 * **Returns** SATCHEL_OK, or SATCHEL_EINVALID when there is no such shard.
 */
SATCHEL_API satchel_status satchel_photos_export_shard(
    satchel_photos *photos, int32_t shard, satchel_buffer *out);

/**
 * Replaces a shard by the contents of a file, in one transaction.
 *
 * Lines that are not photos of the shard are reported, kept, and written back by every
 * export. The result is
 *
 * | field       | type             | meaning                                     |
 * | ----------- | ---------------- | ------------------------------------------- |
 * | `photos`    | integer          | the photos in the file                      |
 * | `rejected`  | array of objects | the @ref json_rejected "rejected lines"     |
 * | `conflicts` | integer          | local changes that went to the conflict log |
 *
 * @param photos       the catalogue
 * @param shard        0 to 15
 * @param file         the bytes of the file
 * @param on_conflict  what happens to local changes
 * @param[out] out     a JSON object; may be NULL
 *
 * **Returns** SATCHEL_OK, or SATCHEL_EINVALID when there is no such shard and for a
 * policy that photos refuse.
 */
SATCHEL_API satchel_status satchel_photos_import_shard(
    satchel_photos *photos, int32_t shard, satchel_bytes file,
    satchel_conflict_policy on_conflict, satchel_buffer *out);

/**
 * Writes the files 0.csv to f.csv and manifest.json into a directory.
 *
 * Files that have the right content already are not written. Each file is complete at any
 * time: it is written and synced under its name with the suffix ".part", and then
 * renamed. The result is
 *
 * | field       | type             | meaning                              |
 * | ----------- | ---------------- | ------------------------------------ |
 * | `photos`    | integer          | the photos in the files              |
 * | `written`   | array of strings | the names of files that were written |
 * | `unchanged` | array of strings | the names of files that were not     |
 *
 * @param photos    the catalogue
 * @param path      the directory; created when its parent exists
 * @param[out] out  a JSON object; may be NULL
 *
 * **Returns** SATCHEL_OK or a default status.
 */
SATCHEL_API satchel_status satchel_photos_export_directory(
    satchel_photos *photos, satchel_bytes path, satchel_buffer *out);

/**
 * Imports the files 0.csv to f.csv of a directory, each shard in one transaction; into an
 * empty catalogue, all in one.
 *
 * A shard remains as it is when it has no file, when its file cannot be read, and when
 * its file is not the one that manifest.json in the directory names. Without a
 * manifest.json nothing shows whether the files are complete. When the call returns, all
 * shards are on disk; a power failure during the call may undo the last ones. The result
 * is
 *
 * | field          | type              | meaning                                     |
 * | -------------- | ----------------- | ------------------------------------------- |
 * | `photos`       | integer           | the photos in the files                     |
 * | `conflicts`    | integer           | local changes that went to the conflict log |
 * | `changed`      | array of integers | the shards whose content changed            |
 * | `missing`      | array of integers | the shards without a file                   |
 * | `has_manifest` | boolean           | whether there is a manifest.json            |
 * | `rejected`     | array of objects  | the @ref json_rejected "rejected lines"     |
 * | `failed`       | array of objects  | the @ref json_shard_failure "failed shards" |
 *
 * @param photos       the catalogue
 * @param path         the directory
 * @param on_conflict  what happens to local changes
 * @param[out] out     a JSON object; may be NULL
 *
 * **Returns** SATCHEL_OK; SATCHEL_ENOTFOUND when none of the files exists;
 * SATCHEL_EINVALID for a manifest.json that cannot be read, and for a policy that photos
 * refuse.
 */
SATCHEL_API satchel_status satchel_photos_import_directory(
    satchel_photos *photos, satchel_bytes path, satchel_conflict_policy on_conflict,
    satchel_buffer *out);

/**
 * Sets local columns of a photo.
 *
 * @param photos   the catalogue
 * @param md5      the MD5 of the photo
 * @param columns  a JSON object of @ref json_photo_local "local columns"; null removes a
 *                 value
 *
 * **Returns** SATCHEL_OK; SATCHEL_ENOTFOUND when there is no such photo; SATCHEL_EINVALID
 * for other columns, for columns that cannot be set, and for values out of range.
 */
SATCHEL_API satchel_status satchel_photos_set_local(
    satchel_photos *photos, satchel_bytes md5, satchel_bytes columns);

/**
 * Sets or removes the star of a photo.
 *
 * A star marks a photo whose file is, or is to be, in the remote. Starring a photo that
 * is not backed up queues its backup, whether its row is in the remote or not. Removing
 * the star removes a queued photo from the queue, and deletes nothing in the remote.
 * Synchronizing rows sets no star.
 *
 * @param photos   the catalogue
 * @param md5      the MD5 of the photo
 * @param starred  whether the photo has a star
 *
 * **Returns** SATCHEL_OK, or SATCHEL_ENOTFOUND when there is no such photo.
 */
SATCHEL_API satchel_status satchel_photos_star(
    satchel_photos *photos, satchel_bytes md5, bool starred);

/**
 * Queues the backup of a photo whose backup status is not_backed_up or error, and stars
 * it.
 *
 * @param photos  the catalogue
 * @param md5     the MD5 of the photo
 *
 * **Returns** SATCHEL_OK; SATCHEL_EINVALID for any other status; the message names both
 * statuses; SATCHEL_ENOTFOUND when there is no such photo.
 */
SATCHEL_API satchel_status satchel_photos_backup_queue(
    satchel_photos *photos, satchel_bytes md5);

/**
 * Claims the photo that was queued first, for this process, and sets its backup status to
 * uploading.
 *
 * Of several concurrent calls each gets a different photo. Photos that a process had
 * claimed before it died are queued again.
 *
 * @param photos    the catalogue
 * @param[out] out  the photo as by satchel_photos_get(); the JSON value null when no
 *                  photo is queued
 *
 * **Returns** SATCHEL_OK or a default status.
 */
SATCHEL_API satchel_status satchel_photos_backup_claim(
    satchel_photos *photos, satchel_buffer *out);

/**
 * Sets the backup status of a claimed photo to uploaded.
 *
 * @param photos  the catalogue
 * @param md5     the MD5 of the photo
 *
 * **Returns** As satchel_photos_backup_queue().
 */
SATCHEL_API satchel_status satchel_photos_backup_done(
    satchel_photos *photos, satchel_bytes md5);

/**
 * Sets the backup status of a claimed photo to error.
 *
 * @param photos  the catalogue
 * @param md5     the MD5 of the photo
 * @param error   why uploading it failed
 *
 * **Returns** As satchel_photos_backup_queue().
 */
SATCHEL_API satchel_status satchel_photos_backup_failed(
    satchel_photos *photos, satchel_bytes md5, satchel_bytes error);

/** Options for work with backed up files; start from SATCHEL_PHOTO_BACKUP_OPTIONS_INIT. */
typedef struct satchel_photo_backup_options {
    /** sizeof(satchel_photo_backup_options). */
    size_t size;
    /** Only of satchel_photos_backup_refresh(): queues photos again that were uploaded,
     *  and that the remote does not have, or has damaged. */
    bool queue_missing;
    /** Only of satchel_photos_backup_refresh(): downloads every file, and compares it with
     *  its MD5. */
    bool read;
    /** Only of satchel_photos_backup_refresh(): aborts uploads in parts that were begun more
     *  than a week ago. */
    bool abort_uploads;
    /** Only of satchel_photos_backup_run(): stars the photos first that have a file here and
     *  are not backed up, and uploads all films and sidecars. */
    bool all;
    /** Only of satchel_photos_backup_run(): writes to a directory that is absent, empty
     *  or another one, although this device has backed up to it before. */
    bool recreate;
    /** Only of satchel_photos_backup_restore_all(): also downloads photos that have a file
     *  on this device. */
    bool existing_too;
    /** Only of satchel_photos_backup_restore_all(): writes all files to one folder. */
    bool without_folders;
    /** The number of files that are transferred at the same time, 1 to 16; 0 means 4. */
    int32_t parallel;
    /** Receives the @ref json_sync_progress "progress"; may be NULL. */
    satchel_progress_callback progress;
    /** Passed to `progress`. */
    void *context;
} satchel_photo_backup_options;

/** The default options for work with backed up files. */
#define SATCHEL_PHOTO_BACKUP_OPTIONS_INIT \
    { sizeof(satchel_photo_backup_options), false, false, false, false, false, false, \
      false, 0, NULL, NULL }

/**
 * Lists the files of a user in a remote, below "photos/{user}/", and stars the photos that
 * another device has backed up.
 *
 * A photo is backed up when the remote has an object named by its MD5, of the size of its
 * row, and, with `read`, of its bytes. Without `read` it takes one request for 1,000 files,
 * and one for each device's index. It is never a part of a synchronization. A star that was
 * removed after the upload stays removed. The result is
 *
 * | field           | type             | meaning                                        |
 * | --------------- | ---------------- | ---------------------------------------------- |
 * | `photos`        | integer          | photos whose file is in the remote             |
 * | `starred`       | integer          | photos that this call starred                  |
 * | `unknown`       | array of strings | names of objects that are no files of these    |
 * |                 |                  | photos, and that no device's index names       |
 * | `unknown_count` | integer          | the number of all of these                     |
 * | `uploads`       | array of strings | names of objects whose upload in parts was     |
 * |                 |                  | begun more than a week ago, and not completed  |
 * | `aborted`       | integer          | those of them that this call has aborted       |
 * | `damaged`       | array of strings | MD5s of photos whose object has another size,  |
 * |                 |                  | or other bytes where these were read           |
 * | `damaged_count` | integer          | the number of all of these                     |
 * | `missing`       | array of strings | MD5s of uploaded photos that the remote lacks  |
 * | `missing_count` | integer          | the number of all of these                     |
 * | `queued`        | integer          | photos that were queued again                  |
 * | `requests`      | integer          | requests to the object store, with retries     |
 * | `bytes_down`    | integer          | bytes of bodies that were received             |
 *
 * Each list has at most 1,000 elements.
 *
 * @param photos    the catalogue
 * @param remote    the remote
 * @param user      the user that the files belong to
 * @param options   may be NULL
 * @param[out] out  a JSON object; may be NULL
 *
 * **Returns** SATCHEL_OK; SATCHEL_EFOREIGN when the catalogue is synchronized as another
 * user; SATCHEL_EINVALID for an invalid user, and inside a batch; SATCHEL_EAUTH;
 * SATCHEL_EUNAVAILABLE; SATCHEL_ECANCELLED; SATCHEL_EREADONLY.
 */
SATCHEL_API satchel_status satchel_photos_backup_refresh(
    satchel_photos *photos, satchel_remote *remote, satchel_bytes user,
    const satchel_photo_backup_options *options, satchel_buffer *out);

/**
 * Uploads the files of the queued photos, several at once, and records the results.
 *
 * The object of a file is "photos/{user}/{md5}". A file is found by the paths of the last
 * scan, else by its name in the directory, and uploaded only with the size and the MD5 of
 * its photo; the object is written under a condition and checked afterwards. A file that
 * the remote has already is not sent again. Photos that a killed run was uploading are
 * queued again, and the next run continues with them. A photo whose file cannot be
 * uploaded gets the backup status error, and runs try it again: after a minute, and then
 * after twice as long each time, up to a day. A photo whose file no scan of this device has
 * found stays queued, and is counted as elsewhere. What concerns the remote or the whole
 * directory ends the run, and its photos stay queued. A cancelled run returns SATCHEL_OK.
 *
 * Films and sidecars go with their photos, as objects by their own MD5. At its end the run
 * writes this device's index of files, "photo-index/{user}/{device}.csv", from which
 * satchel_photos_backup_restore_all() takes names and folders. The result is
 *
 * | field          | type             | meaning                                    |
 * | -------------- | ---------------- | ------------------------------------------ |
 * | `uploaded`     | integer          | files that were sent                       |
 * | `found`        | integer          | files that the remote had already          |
 * | `failed`       | array of objects | {"md5", "filename", "message"}, at most    |
 * |                |                  | 1,000; for a film or a sidecar md5 is null |
 * |                |                  | and filename its path                      |
 * | `failed_count` | integer          | the number of all of these                 |
 * | `queued`       | integer          | photos that are still queued               |
 * | `elsewhere`    | integer          | those of them whose files are on other     |
 * |                |                  | devices                                    |
 * | `requests`     | integer          | requests to the object store, with retries |
 * | `bytes_up`     | integer          | bytes of bodies that were sent             |
 * | `bytes_down`   | integer          | bytes of bodies that were received         |
 * | `cancelled`    | boolean          | whether the run was cancelled              |
 *
 * @param photos    the catalogue
 * @param remote    the remote
 * @param user      the user that the files belong to
 * @param options   may be NULL
 * @param[out] out  a JSON object; may be NULL
 *
 * **Returns** SATCHEL_OK; SATCHEL_ENOTFOUND when the directory does not exist;
 * SATCHEL_EFOREIGN when the catalogue is synchronized as another user; SATCHEL_EINVALID
 * for an invalid user, and inside a batch; SATCHEL_EAUTH; SATCHEL_EUNAVAILABLE;
 * SATCHEL_EFULL; SATCHEL_EREADONLY.
 */
SATCHEL_API satchel_status satchel_photos_backup_run(
    satchel_photos *photos, satchel_remote *remote, satchel_bytes user,
    const satchel_photo_backup_options *options, satchel_buffer *out);

/**
 * Downloads the file of a photo, checks its MD5, and writes it with the photo's time.
 *
 * A file at `path` that has these bytes stays as it is. The photo need not be in the
 * catalogue. The result is
 *
 * | field        | type    | meaning                                    |
 * | ------------ | ------- | ------------------------------------------ |
 * | `size`       | integer | the size of the file in bytes              |
 * | `unchanged`  | boolean | whether the file was there already         |
 * | `requests`   | integer | requests to the object store, with retries |
 * | `bytes_down` | integer | bytes of bodies that were received         |
 *
 * @param photos    the catalogue
 * @param md5       the MD5 of the photo
 * @param path      the file to write, in a directory that exists
 * @param remote    the remote
 * @param user      the user that the files belong to
 * @param options   may be NULL
 * @param[out] out  a JSON object; may be NULL
 *
 * **Returns** SATCHEL_OK; SATCHEL_ENOTFOUND when the remote does not have the file, and
 * when the directory does not exist; SATCHEL_EDAMAGED when the remote has other bytes;
 * SATCHEL_ECONSTRAINT when another file is at `path`; SATCHEL_EFOREIGN when the remote is
 * another directory than the one that was written to before; SATCHEL_EINVALID for an invalid
 * user or path, and inside a batch; SATCHEL_EAUTH; SATCHEL_EUNAVAILABLE, also for a directory
 * that is not mounted; SATCHEL_ECANCELLED; SATCHEL_EFULL.
 */
SATCHEL_API satchel_status satchel_photos_backup_restore(
    satchel_photos *photos, satchel_bytes md5, satchel_bytes path, satchel_remote *remote,
    satchel_bytes user, const satchel_photo_backup_options *options, satchel_buffer *out);

/**
 * Downloads all files of a user that are not here: photos, films and sidecars, with the
 * folders, names and times that the indexes of all devices give them.
 *
 * A file that no index names gets the name of its row, else its MD5. Where a file with other
 * bytes has a path, the file gets a number behind its name; no existing file is replaced.
 * Every file is verified by its MD5. After a call that was cancelled or killed, the next one
 * continues with the rest; a cancelled one returns SATCHEL_OK. The next scan finds the
 * files. The result is
 *
 * | field          | type             | meaning                                         |
 * | -------------- | ---------------- | ----------------------------------------------- |
 * | `restored`     | integer          | files that were written                         |
 * | `unchanged`    | integer          | files that were there already                   |
 * | `renamed`      | integer          | written files that got another name             |
 * | `failed`       | array of objects | {"path", "message"}, at most 1,000              |
 * | `failed_count` | integer          | the number of all of these                      |
 * | `absent`       | integer          | files that an index names, and that were never  |
 * |                |                  | backed up                                       |
 * | `requests`     | integer          | requests to the object store, with retries      |
 * | `bytes_down`   | integer          | bytes of bodies that were received              |
 * | `cancelled`    | boolean          | whether the work was cancelled                  |
 *
 * @param photos     the catalogue
 * @param directory  the directory to write to, which is created if its parent exists;
 *                   empty for the catalogue's
 * @param remote     the remote
 * @param user       the user that the files belong to
 * @param options    may be NULL
 * @param[out] out   a JSON object; may be NULL
 *
 * **Returns** SATCHEL_OK; SATCHEL_ENOTFOUND when the parent of the directory does not exist;
 * SATCHEL_EFOREIGN when the catalogue is synchronized as another user; SATCHEL_EINVALID for
 * an invalid user, and inside a batch; SATCHEL_EAUTH; SATCHEL_EUNAVAILABLE; SATCHEL_EFULL.
 */
SATCHEL_API satchel_status satchel_photos_backup_restore_all(
    satchel_photos *photos, satchel_bytes directory, satchel_remote *remote,
    satchel_bytes user, const satchel_photo_backup_options *options, satchel_buffer *out);

/**
 * Deletes a file from the remote, for good.
 *
 * The photo's row and its files here stay as they are. A photo that counts as backed up
 * loses its star. The result is {"deleted": whether the remote had the file}.
 *
 * @param photos    the catalogue
 * @param md5       the MD5 of a file; need not be one of the catalogue's photos
 * @param remote    the remote
 * @param user      the user that the files belong to
 * @param options   may be NULL
 * @param[out] out  a JSON object; may be NULL
 *
 * **Returns** SATCHEL_OK; SATCHEL_EFOREIGN when the catalogue is synchronized as another
 * user; SATCHEL_EINVALID for an invalid user, and inside a batch; SATCHEL_EAUTH;
 * SATCHEL_EUNAVAILABLE; SATCHEL_ECANCELLED; SATCHEL_EREADONLY.
 */
SATCHEL_API satchel_status satchel_photos_backup_delete(
    satchel_photos *photos, satchel_bytes md5, satchel_remote *remote, satchel_bytes user,
    const satchel_photo_backup_options *options, satchel_buffer *out);

/** Options for scanning; start from SATCHEL_SCAN_OPTIONS_INIT. */
typedef struct satchel_scan_options {
    /** sizeof(satchel_scan_options). */
    size_t size;
    /** Deletes the rows of photos whose files no longer exist; the next synchronization
     *  deletes them from the remote. Nothing is deleted where a directory could not be
     *  read. */
    bool delete_missing;
    /** Reads files whose size and times are unchanged, too. */
    bool force_rehash;
    /** Lets `delete_missing` delete more than a half of the photos, if these are more than
     *  100, and lets an empty directory be scanned where an earlier scan has found files. */
    bool allow_mass_deletion;
    /** Uses only dates in the photo's file, and the file's time; not those of sidecars, of
     *  the JSON files of Google Takeout, and of names. */
    bool embedded_dates_only;
    /** The zone of dates without one: "+02:00", "Z", or a name of the system's time zone
     *  database, such as "Europe/Berlin". Empty means UTC. */
    satchel_bytes time_zone;
    /** The number of files that are read at the same time, 1 to 16; 0 means 2. */
    int32_t parallel;
    /** Rules for what is left out, as in a file .satchelignore, one a line. May be empty. */
    satchel_bytes exclude;
    /** Receives {"phase": "walking" or "reading", "files_found", "files_done",
     *  "files_total", "bytes_done", "bytes_total"}; the totals are null while walking.
     *  May be NULL. */
    satchel_progress_callback progress;
    /** Passed to `progress`. */
    void *context;
} satchel_scan_options;

/** The default options for scanning. */
#define SATCHEL_SCAN_OPTIONS_INIT \
    { sizeof(satchel_scan_options), false, false, false, false, { NULL, 0 }, 0, { NULL, 0 }, NULL, NULL }

/**
 * Finds the photos in the catalogue's directory and in the directories below it.
 *
 * Files with the size and times of the last scan are not read. Links are not followed;
 * they, and files that cannot be read, or that a program is writing, are reported. A
 * cancelled scan returns SATCHEL_OK: the photos found so far are kept, and the next scan
 * continues from there.
 *
 * Left out are hidden files, folders that systems keep for themselves (`@eaDir`,
 * `#recycle`, `$RECYCLE.BIN`, `*.photoslibrary` and others), folders below the directory
 * that hold a file `.nomedia`, and what `exclude` and files named `.satchelignore` say. Their
 * rules are those of Git: `*`, `?`, `[...]` and `**`, a slash at the end for directories, a
 * slash elsewhere for paths relative to the file's directory, and `!` to revoke an
 * earlier rule.
 *
 * When a file was edited, its photo's star and its place in the backup pass to the new
 * content, and the row of the old content is deleted where no other file has it. A row that
 * went away while its file is here, as another device had deleted it, returns; one that
 * satchel_photos_delete() deleted on this device does not, until its file is edited.
 *
 * The result is
 *
 * | field               | type             | meaning                                   |
 * | ------------------- | ---------------- | ----------------------------------------- |
 * | `added`             | integer          | photos that no scan had found             |
 * | `changed`           | integer          | photos with another name, time or content |
 * | `unchanged`         | integer          | photos as at the last scan                |
 * | `returned`          | integer          | photos whose rows had gone, though their  |
 * |                     |                  | files are here                            |
 * | `hidden`            | integer          | files of photos that were deleted on this |
 * |                     |                  | device                                    |
 * | `films`             | integer          | films, also those of live photos          |
 * | `sidecars`          | integer          | what programs keep beside photos          |
 * | `others`            | object           | other files, by their extensions          |
 * | `excluded`          | integer          | files and directories that were left out  |
 * | `duplicates`        | array of objects | {"path", "first", "md5"} of files with    |
 * |                     |                  | the bytes of another file                 |
 * | `duplicates_count`  | integer          | the number of all of these                |
 * | `missing`           | array of strings | the paths of files that no longer exist   |
 * | `missing_count`     | integer          | photos that have no file any more         |
 * | `removed`           | integer          | rows that were deleted                    |
 * | `bytes_read`        | integer          | bytes of files                            |
 * | `skipped`           | array of objects | {"path", "reason"} of files that were not |
 * |                     |                  | included                                  |
 * | `skipped_count`     | integer          | the number of all of these                |
 * | `skipped_links_count` | integer        | how many of these are links               |
 * | `remarks`           | array of objects | {"path", "reason"} of photos that could   |
 * |                     |                  | be read only in part                      |
 * | `remarks_count`     | integer          | the number of all of these                |
 * | `date_sources`      | object           | files that were read, by the source of    |
 * |                     |                  | their dates                               |
 * | `formats`           | object           | {"files", "dated", "sized"} of the files  |
 * |                     |                  | that were read, by format                 |
 * | `missing_libraries` | array of strings | libraries that are not installed          |
 * | `cancelled`         | boolean          | whether the scan was cancelled            |
 *
 * `first` of a duplicate is the path of the first file with the same bytes. Each list has
 * at most 1,000 elements. Without expat, which `missing_libraries` then names, dates in XMP
 * are not read. The keys of `date_sources` are the values of `photodate_source` of a
 * @ref json_photo_local "photo". The keys of `formats` are "jpeg", "png", "gif", "bmp",
 * "tiff" (with the raw formats that are TIFFs), "heic", "avif", "webp", "jxl", "jp2",
 * "cr3", "raf", "mrw" and "film", and for formats of which nothing is read the suffixes of names,
 * such as "x3f"; `dated` counts files with a date in them, `sized` those whose size in
 * pixels is known.
 *
 * @param photos    the catalogue
 * @param options   may be NULL
 * @param[out] out  a JSON object; may be NULL
 *
 * **Returns** SATCHEL_OK; SATCHEL_ENOTFOUND when the directory does not exist;
 * SATCHEL_EINVALID for invalid options; SATCHEL_EUNAVAILABLE for what only
 * `allow_mass_deletion` allows: nothing was deleted then.
 */
SATCHEL_API satchel_status satchel_photos_scan(
    satchel_photos *photos, const satchel_scan_options *options, satchel_buffer *out);

/**
 * Synchronizes a catalogue with its remote copy.
 *
 * The first synchronization binds it to the remote and the user, also when there is
 * nothing to transfer: satchel_store_sync() with both then includes it. Blocks until it
 * is done. A shard that fails remains pending and does not stop the others: see `failed`.
 * The result is
 *
 * | field           | type              | meaning                                     |
 * | --------------- | ----------------- | ------------------------------------------- |
 * | `downloaded`    | array of integers | the shards whose rows were downloaded       |
 * | `uploaded`      | array of integers | the shards whose rows were uploaded         |
 * | `conflicts`     | array of integers | the shards that both sides had changed      |
 * | `repaired`      | array of integers | the remote shards that were repaired        |
 * | `conflict_rows` | integer           | local changes that went to the conflict log |
 * | `removed`       | integer           | photos removed locally, see below           |
 * | `requests`      | integer           | requests to the object store, with retries  |
 * | `bytes_up`      | integer           | bytes of bodies that were sent              |
 * | `bytes_down`    | integer           | bytes of bodies that were received          |
 * | `failed`        | array of objects  | the @ref json_shard_failure "failed shards" |
 * | `rejected`      | array of objects  | the @ref json_rejected "rejected lines"     |
 * | `unchanged`     | boolean           | whether nothing had to be transferred       |
 * | `dry_run`       | boolean           | whether it was a dry run                    |
 *
 * Photos are removed locally when the remote shards do not have them. A shard in
 * `conflicts` is also listed under its outcome. A shard is repaired when its
 * object was damaged, or when the manifest did not describe it.
 *
 * Rejected lines of the remote are kept. Two kinds of rejected lines are only in this
 * report: lines with quotes of a file that was imported locally, and that the remote shard
 * replaced before they were uploaded, have the fault "replaced"; photos that only a damaged object
 * had, and that were lost when it was replaced, have the fault "discarded".
 *
 * @param photos    the catalogue
 * @param remote    the remote
 * @param user      the user: `[A-Za-z0-9._-]{1,128}`, not only dots
 * @param options   may be NULL; the progress callback must not synchronize the same
 *                  catalogue
 * @param[out] out  a JSON object; may be NULL
 *
 * **Returns** SATCHEL_OK; SATCHEL_EINVALID for an invalid user, for a policy that photos
 * refuse, inside a batch, and for a remote that does not support conditional writes;
 * SATCHEL_EFOREIGN when the remote is not the catalogue that was synchronized last, or
 * the user is another one; SATCHEL_EAUTH; SATCHEL_EUNAVAILABLE; SATCHEL_ECANCELLED.
 */
SATCHEL_API satchel_status satchel_photos_sync(
    satchel_photos *photos, satchel_remote *remote, satchel_bytes user,
    const satchel_sync_options *options, satchel_buffer *out);

/** Options for verifying; start from SATCHEL_VERIFY_OPTIONS_INIT. */
typedef struct satchel_verify_options {
    /** sizeof(satchel_verify_options). */
    size_t size;
    /** Replaces damaged objects by the bytes that were synchronized last, applies objects
     *  that are newer than the manifest, and corrects the manifest. */
    bool repair;
    /** Only with `repair`: accepts a remote that does not support conditional writes. */
    bool allow_unsafe_remote;
    /** The number of shards that are read at the same time, 1 to 16; 0 means 4. */
    int32_t parallel;
    /** Receives the @ref json_sync_progress "progress"; may be NULL. */
    satchel_progress_callback progress;
    /** Passed to `progress`. */
    void *context;
} satchel_verify_options;

/** The default options for verifying. */
#define SATCHEL_VERIFY_OPTIONS_INIT \
    { sizeof(satchel_verify_options), false, false, 0, NULL, NULL }

/**
 * Reads every shard of the remote and compares it with the manifest.
 *
 * Without `repair` nothing is written locally or remotely. A device repairs the objects
 * whose bytes it has; the others remain for another device. Waits for synchronizations of
 * the same catalogue, and they wait for it. The result is
 *
 * | field               | type             | meaning                                    |
 * | ------------------- | ---------------- | ------------------------------------------ |
 * | `ok`                | boolean          | whether the remote is sound, after repairs |
 * | `manifest`          | string           | "ok", "missing" or "unreadable"            |
 * | `manifest_repaired` | boolean          | whether the manifest was corrected         |
 * | `shards`            | array of objects | the sixteen shards, see below              |
 * | `foreign`           | array of strings | keys of other objects below the user       |
 * | `removed`           | integer          | local photos that the repair removed       |
 * | `requests`          | integer          | requests to the object store, with retries |
 * | `bytes_up`          | integer          | bytes of bodies that were sent             |
 * | `bytes_down`        | integer          | bytes of bodies that were received         |
 *
 * and each element of `shards`
 *
 * | field      | type           | meaning                              |
 * | ---------- | -------------- | ------------------------------------ |
 * | `shard`    | integer        | 0 to 15                              |
 * | `state`    | string         | the state before repairs, see below  |
 * | `repaired` | boolean        | whether the shard was repaired       |
 * | `message`  | string or null | why it could not be read or repaired |
 *
 * | state        | meaning                                                    |
 * | ------------ | ---------------------------------------------------------- |
 * | "ok"         | as in the manifest                                         |
 * | "missing"    | there is no object                                         |
 * | "empty"      | the object is empty                                        |
 * | "cut"        | the object is truncated                                    |
 * | "corrupt"    | the object is damaged                                      |
 * | "outdated"   | an earlier version than the one that was synchronized last |
 * | "newer"      | complete, but not yet in the manifest                      |
 * | "unproven"   | not in the manifest, and not known to be complete          |
 * | "unreadable" | the object could not be read                               |
 *
 * @param photos    the catalogue
 * @param remote    the remote
 * @param user      as for satchel_photos_sync()
 * @param options   may be NULL; the progress callback must neither synchronize nor verify
 *                  the same catalogue
 * @param[out] out  a JSON object; may be NULL
 *
 * **Returns** SATCHEL_OK, also when the remote is damaged: see `ok`. Otherwise as
 * satchel_photos_sync().
 */
SATCHEL_API satchel_status satchel_photos_verify(
    satchel_photos *photos, satchel_remote *remote, satchel_bytes user,
    const satchel_verify_options *options, satchel_buffer *out);

/**
 * Detaches a catalogue from its remote copy.
 *
 * The base of each shard is deleted: the next synchronization, with this or another
 * remote, treats every photo as added locally.
 *
 * @param photos  the catalogue
 *
 * **Returns** SATCHEL_OK or a default status.
 */
SATCHEL_API satchel_status satchel_photos_detach(satchel_photos *photos);

/**
 * Returns conflicts of a catalogue as satchel_store_conflicts() does: local changes that the
 * remote or a file has overridden.
 *
 * @param photos    the catalogue
 * @param after     `next` of the previous page; 0 for the first page
 * @param limit     the size of a page, 1 or more
 * @param[out] out  a JSON object
 *
 * **Returns** SATCHEL_OK, or SATCHEL_EINVALID for an invalid `limit`.
 */
SATCHEL_API satchel_status satchel_photos_conflicts(
    satchel_photos *photos, int64_t after, int32_t limit, satchel_buffer *out);

/**
 * Resolves a conflict, and removes it from the conflict log.
 *
 * @param photos      the catalogue
 * @param conflict    the number of the conflict
 * @param resolution  a JSON object, as of satchel_records_resolve(): keeping "local" applies
 *                    the overridden change again, as any other change; keeping "remote" changes
 *                    nothing else; `document` is a @ref json_photo "photo" with the same MD5
 *
 * **Returns** SATCHEL_OK; SATCHEL_ENOTFOUND when there is no such conflict;
 * SATCHEL_EINVALID for an invalid resolution.
 */
SATCHEL_API satchel_status satchel_photos_resolve(
    satchel_photos *photos, int64_t conflict, satchel_bytes resolution);

/**
 * Frees a catalogue, and queues the photos again that it claimed for backup.
 *
 * @param photos  may be NULL, and may have been freed before
 */
SATCHEL_API void satchel_photos_free(satchel_photos *photos);

/** @} */

/**
 * @defgroup satchel_story_texts Story texts
 * Reading, checking, drawing and comparing one story.
 *
 * These functions need no store. A story is JSON in the format of
 * Documentation/stories.md, or Twee 3; a byte-order mark before it is accepted. A story
 * is opened once, and its segments are then found without reading its text again. Time
 * and memory of opening grow with the text.
 *
 * @anchor json_story_header
 * **Header.** The fields of a story that describe it; null for a missing field:
 *
 * | field                       | type             | meaning                        |
 * | --------------------------- | ---------------- | ------------------------------ |
 * | `id`                        | string or null   | the id                         |
 * | `language`                  | string or null   | the language, such as "de"     |
 * | `title`                     | string or null   | the title                      |
 * | `author`                    | string or null   | the author                     |
 * | `original_source`           | string or null   | where the story comes from     |
 * | `cultural_origin`           | string or null   | the culture that it comes from |
 * | `synopsis`                  | string or null   | the synopsis                   |
 * | `cover_image_name`          | string or null   | the name of its cover          |
 * | `estimated_reading_minutes` | integer or null  | as the story says              |
 * | `age_range`                 | string or null   | as written, such as "5-8"      |
 * | `tags`                      | array of strings | the tags                       |
 * | `is_purchased`              | boolean or null  | as the file says               |
 * | `extra`                     | object           | the app's own members          |
 *
 * @anchor json_story_statistics
 * **Statistics.**
 *
 * | field              | type            | meaning                                      |
 * | ------------------ | --------------- | -------------------------------------------- |
 * | `segments`         | integer         | the number of segments                       |
 * | `choices`          | integer         | the number of choices                        |
 * | `endings`          | integer         | the endings that can be reached              |
 * | `words`            | integer         | the words of all segments                    |
 * | `shortest_path`    | integer or null | the segments of a shortest path to an ending |
 * | `longest_path`     | integer or null | of a longest path; null if it is unbounded   |
 * | `shortest_minutes` | number          | for a shortest reading, see below            |
 * | `longest_minutes`  | number          | for all that can be reached, see below       |
 * | `path_count`       | integer         | as `count` of satchel_story_path_count()     |
 *
 * Minutes are calculated at 200 words a minute.
 *
 * @anchor json_story_finding
 * **Finding of a check.** The codes are listed in Documentation/stories.md:
 *
 * | field        | type           | meaning                                      |
 * | ------------ | -------------- | -------------------------------------------- |
 * | `code`       | string         | the code of the finding, which never changes |
 * | `severity`   | string         | "error" or "warning"                         |
 * | `pointer`    | string         | the JSON Pointer of its subject              |
 * | `file`       | string or null | for a story in several files, its name       |
 * | `line`       | integer        | the line in the text, or in the file         |
 * | `column`     | integer        | the column                                   |
 * | `passage`    | object or null | of a game, {"name", "line", "column"} of the |
 * |              |                | place in the text of its passage             |
 * | `message`    | string         | the description                              |
 * | `suggestion` | string or null | the id that was probably intended            |
 *
 * @anchor json_story_segment
 * **Segment.**
 *
 * | field               | type             | meaning                             |
 * | ------------------- | ---------------- | ----------------------------------- |
 * | `id`                | string           | the id                              |
 * | `text`              | string           | the text; of Twee with its markup   |
 * | `is_authentic_path` | boolean          | whether it is on the authentic path |
 * | `is_ending`         | boolean          | whether it is an ending             |
 * | `choices`           | array of objects | {"id", "text", "next_segment_id",   |
 * |                     |                  | "is_dynamic", "extra"}; a dynamic   |
 * |                     |                  | one leads where only the game knows |
 * | `extra`             | object           | the app's own members               |
 *
 * The app's own members are all that have no field here or in the header, `image` and
 * `sound` among them, but not `segments`.
 * @{
 */

/** The language of a story's text. */
typedef enum satchel_story_source {
    /** JSON when the text begins with a brace or bracket, or when no line begins with the
     *  "::" of a passage; otherwise Twee or a page. */
    SATCHEL_STORY_AUTOMATIC = 0,
    /** JSON. */
    SATCHEL_STORY_JSON = 1,
    /** A game of Twine: Twee 3, or a published page with one story. */
    SATCHEL_STORY_TWEE = 2
} satchel_story_source;

/** A story that was read. It does not change, and outlives the library that it is from. */
typedef struct satchel_story satchel_story;

/**
 * Opens a story.
 *
 * @param text      the text of the story; it is copied
 * @param source    the language of the text
 * @param[out] out  the story; NULL on failure
 *
 * **Returns** SATCHEL_OK, also for a story with findings; SATCHEL_EINVALID, with line,
 * column and cause, for a text that is neither JSON nor Twee nor a page of Twine, for JSON
 * that is not an object, for an archive, and for a text larger than 2 GiB.
 *
 * **Ownership** The caller frees the story: satchel_story_free().
 */
SATCHEL_API satchel_status satchel_story_open(
    satchel_bytes text, satchel_story_source source, satchel_story **out);

/**
 * Opens the story of a file, or of a directory of Twee files that are one story.
 *
 * The files are those with the extensions .twee, .tw, .twee2 and .tw2 in the directory and
 * below it, with .js files as scripts, joined in the order of their names. Hidden names,
 * node_modules and what the file .satchelignore names are left out. A Twee file is read with
 * those that its passage StoryIncludes names. Findings then name the file, see
 * satchel_story_report().
 *
 * @param path      of the file or directory
 * @param[out] out  the story; NULL on failure
 *
 * **Returns** SATCHEL_OK; SATCHEL_ENOTFOUND; SATCHEL_EIO for a file that cannot be read;
 * SATCHEL_EINVALID as satchel_story_open(), and for a directory without Twee files, or with
 * several passages StoryData.
 *
 * **Ownership** The caller frees the story: satchel_story_free().
 */
SATCHEL_API satchel_status satchel_story_open_path(const char *path, satchel_story **out);

/**
 * Returns the text of a story; of one in several files, the joined text.
 *
 * @param story     a story
 * @param[out] out  the text
 *
 * **Returns** SATCHEL_OK or a default status.
 */
SATCHEL_API satchel_status satchel_story_text(satchel_story *story, satchel_buffer *out);

/**
 * Frees a story.
 *
 * @param story  may be NULL, and may have been freed before
 */
SATCHEL_API void satchel_story_free(satchel_story *story);

/** The format of a report. */
typedef enum satchel_report_format {
    /** A JSON object, see satchel_story_check(). */
    SATCHEL_REPORT_JSON = 0,
    /** SARIF 2.1.0, for code hosts and editors. */
    SATCHEL_REPORT_SARIF = 1,
    /** One line for each finding: "name:line:column: severity: message [code]". */
    SATCHEL_REPORT_TEXT = 2
} satchel_report_format;

/** Options for checking a story; start from SATCHEL_STORY_CHECK_OPTIONS_INIT. */
typedef struct satchel_story_check_options {
    /** sizeof(satchel_story_check_options). */
    size_t size;
    /** The language of the text. */
    satchel_story_source source;
    /** The format of the report. */
    satchel_report_format format;
    /** The name or URI of the file, for SARIF and text; may be empty. */
    satchel_bytes name;
    /** The path of the directory in which the pictures and sounds are that the story names
     *  by paths; those that are not there are findings, `missing-asset`. Empty: that of
     *  the story's file, for a story of a file or a library; else they are not looked for. */
    satchel_bytes folder;
} satchel_story_check_options;

/** The default options for checking a story. */
#define SATCHEL_STORY_CHECK_OPTIONS_INIT \
    { sizeof(satchel_story_check_options), SATCHEL_STORY_AUTOMATIC, SATCHEL_REPORT_JSON, \
      { NULL, 0 }, { NULL, 0 } }

/**
 * Checks a story, and reports the findings in the order of the text.
 *
 * The report in the format SATCHEL_REPORT_JSON is
 *
 * | field        | type             | meaning                                     |
 * | ------------ | ---------------- | ------------------------------------------- |
 * | `ok`         | boolean          | whether there are no errors                 |
 * | `findings`   | array of objects | the @ref json_story_finding "findings"      |
 * | `errors`     | integer          | the number of errors                        |
 * | `warnings`   | integer          | the number of warnings                      |
 * | `omitted`    | integer          | the findings beyond the first million       |
 * | `statistics` | object           | the @ref json_story_statistics "statistics" |
 *
 * @param text      the text of the story
 * @param options   may be NULL
 * @param[out] out  the report
 *
 * **Returns** SATCHEL_OK, also when there are findings; SATCHEL_EINVALID, with line,
 * column and cause, for a text that is neither JSON nor Twee nor a page of Twine, for JSON
 * that is not an object, for an archive, and for a text larger than 2 GiB.
 */
SATCHEL_API satchel_status satchel_story_check(
    satchel_bytes text, const satchel_story_check_options *options, satchel_buffer *out);

/**
 * Checks an open story, as satchel_story_check() does.
 *
 * @param story     a story
 * @param options   may be NULL; the source is ignored
 * @param[out] out  the report
 *
 * **Returns** SATCHEL_OK, also when there are findings.
 */
SATCHEL_API satchel_status satchel_story_report(
    satchel_story *story, const satchel_story_check_options *options, satchel_buffer *out);

/**
 * Returns the header and the statistics of a story.
 *
 * @param story     a story
 * @param[out] out  a JSON object with the fields of the @ref json_story_header "header",
 *                  and `statistics`: the @ref json_story_statistics "statistics"
 *
 * **Returns** SATCHEL_OK or a default status.
 */
SATCHEL_API satchel_status satchel_story_describe(
    satchel_story *story, satchel_buffer *out);

/**
 * Returns a segment of a story, by one look-up.
 *
 * @param story     a story
 * @param id        the id of the segment; empty for the first one
 * @param[out] out  a @ref json_story_segment "segment"
 *
 * **Returns** SATCHEL_OK, or SATCHEL_ENOTFOUND when the story has no such segment.
 */
SATCHEL_API satchel_status satchel_story_segment(
    satchel_story *story, satchel_bytes id, satchel_buffer *out);

/**
 * Counts the different paths from the start of a story to an ending.
 *
 * @param story        a story
 * @param[out] count   the number; -1 when a path to an ending contains a cycle, INT64_MAX
 *                     when the number does not fit; may be NULL
 * @param[out] digits  the exact number in decimal digits, or "unbounded"; the time grows
 *                     with the number of digits; may be NULL
 *
 * **Returns** SATCHEL_OK or a default status.
 */
SATCHEL_API satchel_status satchel_story_path_count(
    satchel_story *story, int64_t *count, satchel_buffer *digits);

/** A language for drawing graphs. */
typedef enum satchel_graph_format {
    /** The DOT language of Graphviz. */
    SATCHEL_GRAPH_DOT = 0,
    /** Mermaid. */
    SATCHEL_GRAPH_MERMAID = 1
} satchel_graph_format;

/**
 * Draws the graph of a story, and marks its start, endings, authentic path and findings.
 *
 * @param story     a story
 * @param format    the language of the drawing
 * @param[out] out  the drawing
 *
 * **Returns** SATCHEL_OK, or SATCHEL_EINVALID for an unknown format.
 */
SATCHEL_API satchel_status satchel_story_graph(
    satchel_story *story, satchel_graph_format format, satchel_buffer *out);

/**
 * Compares two versions of a story, and the effect on saved reading positions.
 *
 * | field              | type             | meaning                                |
 * | ------------------ | ---------------- | -------------------------------------- |
 * | `same`             | boolean          | whether readers see no difference      |
 * | `broken`           | array of objects | saved positions that break, see below  |
 * | `start`            | object or null   | the first segments, see below          |
 * | `moved`            | array of objects | choices that lead elsewhere, see below |
 * | `added_segments`   | array of strings | ids of segments                        |
 * | `removed_segments` | array of strings | ids of segments                        |
 * | `added_choices`    | array of objects | {"segment", "choice"}                  |
 * | `removed_choices`  | array of objects | {"segment", "choice"}                  |
 * | `changed_texts`    | array of strings | ids of segments whose texts differ     |
 * | `changed_fields`   | array of strings | fields of the header that differ       |
 *
 * `start` is {"from", "to"} when the first segments differ. An element of `broken` is
 * {"segment", "reason", "suggestion"}: the reason is "removed", "unreachable" or "trap"
 * (no ending can be reached from it), and the suggestion is a similar new segment or
 * null. An element of `moved` is {"segment", "choice", "from", "to"}.
 *
 * @param older     the old version
 * @param newer     the new version
 * @param[out] out  a JSON object
 *
 * **Returns** SATCHEL_OK or a default status.
 */
SATCHEL_API satchel_status satchel_story_diff(
    satchel_story *older, satchel_story *newer, satchel_buffer *out);

/**
 * Converts Twee 3 to the JSON of a story.
 *
 * @param text      the Twee text
 * @param id        the id of the story; empty to derive it from the title
 * @param[out] out  the JSON of the story
 *
 * **Returns** SATCHEL_OK, or SATCHEL_EINVALID when the text cannot be converted.
 */
SATCHEL_API satchel_status satchel_story_from_twee(
    satchel_bytes text, satchel_bytes id, satchel_buffer *out);

/** @} */

/**
 * @defgroup satchel_story_libraries Story libraries
 * The stories of a directory.
 *
 * Every file of the directory, and of the folders below it, whose name ends in .json,
 * .twee or .tw is a story; hidden ones and "node_modules" are left out. The files of one
 * story in several languages have the same id; of those in one language, the first by
 * name is the story. An index in the store makes opening a library again cheap: files whose size and time
 * are unchanged are not read. Ids are names, not paths: an id with "/", a backslash, a
 * control character, a leading "." or more than 200 bytes is SATCHEL_EINVALID. Links that
 * lead out of the directory are not followed.
 *
 * @anchor json_story_summary
 * **Summary.** An entry of the index has the fields of the @ref json_story_header
 * "header" and of the @ref json_story_statistics "statistics", and
 *
 * | field          | type    | meaning                                     |
 * | -------------- | ------- | ------------------------------------------- |
 * | `file`         | string  | the path of the file in the directory       |
 * | `errors`       | integer | the number of errors that a check finds     |
 * | `warnings`     | integer | the number of warnings that a check finds   |
 * | `is_purchased` | boolean | as the store says, or else as the file says |
 *
 * @anchor json_story_problem
 * **Problem.** Why a file is not among the stories:
 *
 * | field      | type             | meaning                                         |
 * | ---------- | ---------------- | ----------------------------------------------- |
 * | `file`     | string           | the path of the file in the directory           |
 * | `code`     | string           | the code of a @ref json_story_finding "finding" |
 * | `message`  | string           | the description                                 |
 * | `line`     | integer or null  | the line in the file                            |
 * | `column`   | integer or null  | the column in the file                          |
 * | `story`    | string or null   | the id of the story, if it is known             |
 * | `findings` | array of objects | of a story that is not sound, all findings      |
 *
 * Observers receive changes with the subject "stories", and ids of stories as keys.
 * @{
 */

/** The stories of one directory, with an index in a store. */
typedef struct satchel_stories satchel_stories;

/**
 * Opens the story library of a directory, without reading a story.
 *
 * The reader's progress and purchases are synchronized state (see @ref satchel_app_state),
 * kept by the name of the library and the id of the story: the library must have the same
 * name on all devices of a user. Libraries of a store with the same name share them.
 *
 * @param store      an open store
 * @param directory  the directory
 * @param name       the name of the library, 1 to 128 bytes without a slash and control
 *                   characters; empty for the last component of the directory's real path
 * @param[out] out   the library
 *
 * **Returns** SATCHEL_OK; SATCHEL_ENOTFOUND when the directory does not exist;
 * SATCHEL_EINVALID for an invalid name, also of the directory.
 *
 * **Ownership** The caller frees the library: satchel_stories_free().
 */
SATCHEL_API satchel_status satchel_stories_open(
    satchel_store *store, satchel_bytes directory, satchel_bytes name,
    satchel_stories **out);

/**
 * Updates the index: finds files that were added, changed or removed, by size and time,
 * and then by their hash.
 *
 * | field       | type             | meaning                                |
 * | ----------- | ---------------- | -------------------------------------- |
 * | `added`     | integer          | files that were added                  |
 * | `changed`   | integer          | files with other content               |
 * | `removed`   | integer          | files that were removed                |
 * | `unchanged` | integer          | files with the same content            |
 * | `read`      | integer          | files that were opened and hashed      |
 * | `parsed`    | integer          | files that were parsed and checked     |
 * | `problems`  | array of objects | the @ref json_story_problem "problems" |
 * | `moved`     | array of objects | broken reading positions, see below    |
 *
 * When the file of a story has changed, the reader's position in it may no longer exist,
 * lead to an ending or be reachable. It is moved to the nearest segment: an element of
 * `moved` is {"story", "reader", "slot", "from", "to", "reason"}, with a reason as of satchel_story_diff().
 * The position in the state stays, until the reader moves on: other devices may have
 * another version of the file.
 *
 * @param stories   the library
 * @param[out] out  a JSON object; may be NULL
 *
 * **Returns** SATCHEL_OK or a default status.
 */
SATCHEL_API satchel_status satchel_stories_refresh(
    satchel_stories *stories, satchel_buffer *out);

/**
 * Updates the index and lists all stories.
 *
 * | field      | type             | meaning                                 |
 * | ---------- | ---------------- | --------------------------------------- |
 * | `stories`  | array of objects | the @ref json_story_summary "summaries" |
 * | `problems` | array of objects | the @ref json_story_problem "problems"  |
 *
 * @param stories   the library
 * @param checked   lists stories with errors under `problems`, not under `stories`
 * @param[out] out  a JSON object
 *
 * **Returns** SATCHEL_OK or a default status.
 */
SATCHEL_API satchel_status satchel_stories_load_all(
    satchel_stories *stories, bool checked, satchel_buffer *out);

/**
 * Returns the stories that match a query, from the index.
 *
 * Updates the index first if this handle never did. A query is a JSON object; every field
 * may be left out:
 *
 * | field        | type             | meaning                                 |
 * | ------------ | ---------------- | --------------------------------------- |
 * | `search`     | string           | words, see below                        |
 * | `tag`        | string           | a tag of the story                      |
 * | `tags`       | array of strings | tags of the story, all of them          |
 * | `age_range`  | string           | the age range, as written               |
 * | `age`        | integer          | an age in the age range, in years       |
 * | `culture`    | string           | the cultural origin                     |
 * | `language`   | string           | the language; without it, all           |
 * | `purchased`  | boolean          | whether it is purchased                 |
 * | `sort`       | string           | "title", "reading_time" or "path_count" |
 * | `descending` | boolean          | reverses the order                      |
 * | `limit`      | integer          | the maximum number of stories           |
 * | `offset`     | integer          | the number of stories to skip           |
 *
 * Each word of `search` (at most 64) must be the beginning of a word of the title or the
 * synopsis; case and diacritics are ignored. Chinese, Japanese, Thai and other texts
 * without spaces are found anywhere in a run of characters.
 *
 * @param stories   the library
 * @param query     a query; empty for all stories
 * @param[out] out  a JSON array of @ref json_story_summary "summaries"
 *
 * **Returns** SATCHEL_OK, or SATCHEL_EINVALID for an invalid query.
 */
SATCHEL_API satchel_status satchel_stories_select(
    satchel_stories *stories, satchel_bytes query, satchel_buffer *out);

/**
 * Returns the values that stories can be filtered by, sorted.
 *
 * | field        | type             | meaning              |
 * | ------------ | ---------------- | -------------------- |
 * | `tags`       | array of strings | the tags             |
 * | `cultures`   | array of strings | the cultural origins |
 * | `age_ranges` | array of strings | the age ranges       |
 * | `languages`  | array of strings | the languages        |
 *
 * @param stories   the library
 * @param[out] out  a JSON object
 *
 * **Returns** SATCHEL_OK or a default status.
 */
SATCHEL_API satchel_status satchel_stories_facets(
    satchel_stories *stories, satchel_buffer *out);

/**
 * Returns the text of a story, from memory or from disk.
 *
 * @param stories   the library
 * @param id        the id of the story
 * @param language  the language of the file; empty for the first file with the story
 * @param checked   fails with all findings when the story has errors
 * @param[out] out  the bytes of its file
 *
 * **Returns** SATCHEL_OK; SATCHEL_EINVALID for an invalid id, for a text that cannot be
 * read (with line and column), and for a story that is not sound; SATCHEL_ENOTFOUND;
 * SATCHEL_EIO.
 */
SATCHEL_API satchel_status satchel_stories_story(
    satchel_stories *stories, satchel_bytes id, satchel_bytes language, bool checked,
    satchel_buffer *out);

/**
 * Opens a story of the library, from memory or from disk.
 *
 * @param stories   the library
 * @param id        the id of the story
 * @param language  the language of the file; empty for the first file with the story
 * @param checked   fails with all findings when the story has errors
 * @param[out] out  the story; NULL on failure
 *
 * **Returns** As satchel_stories_story().
 *
 * **Ownership** The caller frees the story: satchel_story_free(). It does not change when
 * its file changes, and stays valid when the library is freed.
 */
SATCHEL_API satchel_status satchel_stories_open_story(
    satchel_stories *stories, satchel_bytes id, satchel_bytes language, bool checked,
    satchel_story **out);

/**
 * Returns a segment of a story of the library.
 *
 * Reads the story at most once.
 *
 * @param stories   the library
 * @param id        the id of the story
 * @param language  as for satchel_stories_story()
 * @param segment   the id of the segment; empty for the first one
 * @param[out] out  a @ref json_story_segment "segment"
 *
 * **Returns** As satchel_stories_story(); SATCHEL_ENOTFOUND also when the story has no
 * such segment.
 */
SATCHEL_API satchel_status satchel_stories_segment(
    satchel_stories *stories, satchel_bytes id, satchel_bytes language,
    satchel_bytes segment, satchel_buffer *out);

/**
 * Stores whether the reader has purchased a story, by the name of the library and the id
 * of the story.
 *
 * Of several devices, the latest call counts. It is saved before this function returns,
 * except in a batch, of which it is not a part: then it is saved like other state.
 *
 * @param stories    the library
 * @param id         the id of the story
 * @param purchased  false when the purchase was returned
 *
 * **Returns** SATCHEL_OK; SATCHEL_EINVALID for an invalid id; SATCHEL_EREADONLY; as
 * satchel_state_flush() when neither the store nor the outbox file can be written.
 */
SATCHEL_API satchel_status satchel_stories_mark_purchased(
    satchel_stories *stories, satchel_bytes id, bool purchased);

/**
 * Returns a reader's progress in a story.
 *
 * The options are a JSON object, of which every field may be left out. Each reader, and
 * each slot of a reader, has a progress of its own:
 *
 * | field      | type   | meaning                                                     |
 * | ---------- | ------ | ----------------------------------------------------------- |
 * | `reader`   | string | the name of the reader; "" by default                       |
 * | `slot`     | string | the name of one of the reader's slots; "" by default        |
 * | `language` | string | the language of the file, for satchel_stories_move_to()     |
 * | `data`     | any    | the app's data of a position, for satchel_stories_move_to() |
 *
 * The names have at most 64 bytes, and no control characters.
 *
 * @anchor json_story_progress
 * **Progress.**
 *
 * | field          | type             | meaning                                        |
 * | -------------- | ---------------- | ---------------------------------------------- |
 * | `story`        | string           | the id of the story                            |
 * | `reader`       | string           | the name of the reader                         |
 * | `slot`         | string           | the name of the slot                           |
 * | `language`     | string or null   | the language of the file that was read last    |
 * | `position`     | string or null   | the segment that the reader is at              |
 * | `visited`      | array of strings | the visited segments, in order of first visits |
 * | `endings`      | array of strings | those of them that are endings                 |
 * | `read_at`      | integer or null  | the time of the last move, Unix ms             |
 * | `moved_from`   | string or null   | the position that a new version broke          |
 * | `moved_reason` | string or null   | why: "removed", "unreachable" or "trap"        |
 * | `data`         | any              | the app's data; null when there are none       |
 *
 * A position that the file's version breaks is given as moved to the nearest segment, as
 * by satchel_stories_refresh(); `moved_from` then has it until the next move.
 *
 * @param stories   the library
 * @param id        the id of the story
 * @param options   a JSON object; empty for the defaults
 * @param[out] out  a JSON object
 *
 * **Returns** SATCHEL_OK, also for a story that was not begun; SATCHEL_EINVALID for an
 * invalid id, and for invalid options.
 */
SATCHEL_API satchel_status satchel_stories_progress(
    satchel_stories *stories, satchel_bytes id, satchel_bytes options,
    satchel_buffer *out);

/**
 * Returns the stories of the library that can be continued: the progress in each slot
 * that has a position which is not an ending. The one that was read last comes first.
 *
 * @param stories   the library
 * @param options   as for satchel_stories_progress(): with `reader`, only those of this
 *                  reader; empty for all readers
 * @param[out] out  a JSON array of @ref json_story_progress "progress"
 *
 * **Returns** SATCHEL_OK, or SATCHEL_EINVALID for invalid options.
 */
SATCHEL_API satchel_status satchel_stories_begun(
    satchel_stories *stories, satchel_bytes options, satchel_buffer *out);

/**
 * Moves a reader of a story to a segment, which counts as visited.
 *
 * The state keeps the progress by the name of the library, the id of the story, the
 * reader and the slot. It is saved like other state, see satchel_state_configure(), and
 * not a part of a batch; then observers receive the id. Where two devices read at the
 * same time, the latest position counts, with its data, and the visited segments of both.
 *
 * @param stories   the library
 * @param id        the id of the story
 * @param segment   the id of the segment; empty to store only the data
 * @param options   as for satchel_stories_progress(): `language` is that of the file which
 *                  is read, by default of the first file with the story; `data` replaces
 *                  the data, and null removes them; empty for the defaults
 * @param[out] out  the @ref json_story_progress "progress" after the move; may be NULL
 *
 * **Returns** As satchel_stories_segment(); SATCHEL_EINVALID also for invalid options, and
 * for data of more than 16 MiB; SATCHEL_EREADONLY.
 */
SATCHEL_API satchel_status satchel_stories_move_to(
    satchel_stories *stories, satchel_bytes id, satchel_bytes segment,
    satchel_bytes options, satchel_buffer *out);

/**
 * Deletes a reader's progress in a story, with its data.
 *
 * @param stories  the library
 * @param id       the id of the story
 * @param options  as for satchel_stories_progress()
 *
 * **Returns** SATCHEL_OK, or SATCHEL_EINVALID for an invalid id, and for invalid options.
 */
SATCHEL_API satchel_status satchel_stories_clear_progress(
    satchel_stories *stories, satchel_bytes id, satchel_bytes options);

/**
 * Reads a story, or all stories of the library, into memory on a thread of the library.
 *
 * Returns immediately. For all stories it updates the index first; observers of the store
 * receive the ids of those that changed.
 *
 * @param stories  the library
 * @param id       the id of a story; empty for all
 *
 * **Returns** SATCHEL_OK, or SATCHEL_EINVALID for an invalid id.
 */
SATCHEL_API satchel_status satchel_stories_preload(
    satchel_stories *stories, satchel_bytes id);

/**
 * Returns the stories that the library is loading in the background.
 *
 * | field     | type             | meaning                                             |
 * | --------- | ---------------- | --------------------------------------------------- |
 * | `all`     | boolean          | whether a preload of all stories is under way       |
 * | `stories` | array of strings | ids of preloaded stories that are not in memory yet |
 *
 * @param stories   the library
 * @param[out] out  a JSON object
 *
 * **Returns** SATCHEL_OK or a default status.
 */
SATCHEL_API satchel_status satchel_stories_loading(
    satchel_stories *stories, satchel_buffer *out);

/**
 * Releases the stories that are held in memory; the index remains.
 *
 * @param stories  the library
 *
 * **Returns** SATCHEL_OK or a default status.
 */
SATCHEL_API satchel_status satchel_stories_clear_cache(satchel_stories *stories);

/**
 * Frees a library.
 *
 * Waits for its preload.
 *
 * @param stories  may be NULL, and may have been freed before
 */
SATCHEL_API void satchel_stories_free(satchel_stories *stories);

/** @} */

/**
 * @defgroup satchel_record_collections Records
 * The JSON documents of the app, in collections.
 *
 * A collection stores JSON objects under ids (1 to 255 bytes of UTF-8 without control
 * characters). Every write is durable when its call returns. A write that the store
 * cannot accept (the disk is full, the file is read-only or damaged) is spooled: it is
 * appended to the outbox file `<path>.outbox`, and drained into the store, once and in
 * order, at the next opening, flush or write. Guide: Documentation/records.md.
 *
 * @anchor json_record
 * **Record.**
 *
 * | field         | type    | meaning                                    |
 * | ------------- | ------- | ------------------------------------------ |
 * | `id`          | string  | the id                                     |
 * | `revision`    | integer | the revision, from 1                       |
 * | `created`     | integer | Unix ms                                    |
 * | `modified`    | integer | Unix ms                                    |
 * | `sync_status` | string  | see below                                  |
 * | `document`    | object  | the document                               |
 * | `included`    | object  | the related records that a query includes  |
 *
 * A sync status is "local" while the store is not bound to a remote, "pending" for a change
 * that is not sent, "synced", "waiting" for a remote version that cannot be applied yet,
 * and "conflict" for one about which the host has to decide.
 *
 * @anchor json_record_query
 * **Query.** A JSON object; every field may be left out:
 *
 * | field       | type            | meaning                                          |
 * | ----------- | --------------- | ------------------------------------------------ |
 * | `where`     | object          | a condition, see below                           |
 * | `order_by`  | string or array | a path, "-path" for descending order, or several |
 * | `nulls`     | string          | "first" or "last": where missing and null values sort |
 * | `limit`     | integer         | the maximum number of records                    |
 * | `offset`    | integer         | the number of records to skip                    |
 * | `after`     | string          | the cursor of a page, see satchel_records_page() |
 * | `select`    | array           | the paths of the values that documents have      |
 * | `include`   | array           | the paths of relations whose records are returned as well |
 * | `documents` | boolean         | false leaves out `document`                      |
 *
 * `included` of a record of the result maps the paths of `include` to the related @ref
 * json_record "record" or null, or to an array of records for a relation to many, in the
 * order of the ids in the document; ids without a record are left out. Each related record is read
 * once, in the same snapshot. A path that is not a declared relation is SATCHEL_EINVALID,
 * and so is `include` of satchel_records_watch().
 *
 * A condition maps paths to values ({path: value}) or to operators ({path: {"eq", "ne",
 * "lt", "lte", "gt", "gte", "in": [...], "prefix": string, "contains": value, "exists":
 * boolean}}); all of them must hold. {"any": [where, ...]}, {"all": [where, ...]} and
 * {"not": where} combine conditions. A path is "a.b" or a JSON Pointer; "@id",
 * "@created", "@modified", "@revision" and "@sync_status" are the fields of the record
 * itself. A path that ends like the syntax of another library ("due desc", "due__gt"), or
 * begins with "$.", is SATCHEL_EINVALID; a JSON Pointer names such a member.
 * Numbers are compared with numbers by their exact value, strings by their UTF-8
 * bytes, and 1 equals 1.0. A range with a time such as "2027-03-05T09:30:00.000000Z" is
 * SATCHEL_EINVALID where a record has a text within a day of it that is not of this form,
 * in UTC with six digits of the second, since their order would not be that of the times.
 *
 * The order of values is: missing, null, false, true, numbers, strings, arrays, objects.
 * Equal values are in the order of insertion. With `nulls`, missing and null values sort
 * there, whatever the direction of `order_by` is.
 *
 * Indexes find the records of equality, "in", ranges, "prefix", "exists", of their
 * negations, of "any" where each of its conditions has one, and of `order_by` with `limit`.
 * The first query that orders 1,000 or more records by "@id", "@created" or "@modified" and
 * has a `limit` makes an index of that field; `indexes` of a declaration may name it, too.
 * satchel_records_explain() tells how a query runs.
 *
 * @anchor json_record_events
 * **Events.** Observers receive changes with the subject "records", see
 * satchel_change_callback. These keys are events. The subject is "records" or "state",
 * that of the writes; "@outbox_damaged" is reported for both.
 *
 * | key               | meaning                                                    |
 * | ----------------- | ---------------------------------------------------------- |
 * | "@spooled"        | a write went to the outbox file                            |
 * | "@drained"        | writes of the outbox file are in the store                 |
 * | "@rejected"       | the store refused writes of the outbox file, see below     |
 * | "@outbox_damaged" | a part of the outbox file cannot be read, see below        |
 * | "@mirror_failed"  | a mirror could not be written after a commit               |
 * | "@mirror_edited"  | another program changed a mirror                           |
 * | "@unsaved"        | state or deferred puts could be neither saved nor spooled  |
 *
 * Rejected writes are kept in the table outbox_rejected with the reason. Of a damaged
 * outbox file, the readable writes are drained; the file is renamed and
 * satchel_store_check() reports it.
 * @{
 */

/** A collection of a store. */
typedef struct satchel_records satchel_records;

/**
 * The response of the host to one migration.
 *
 * Valid until the function that received it returns.
 */
typedef struct satchel_record_answer satchel_record_answer;

/**
 * Sets the migrated document.
 *
 * @param answer    the response
 * @param document  a JSON object; copied
 */
SATCHEL_API void satchel_record_answer_document(
    satchel_record_answer *answer, satchel_bytes document);

/**
 * Sets the reason why a record cannot be migrated.
 *
 * @param answer   the response
 * @param message  the reason; copied
 */
SATCHEL_API void satchel_record_answer_message(
    satchel_record_answer *answer, satchel_bytes message);

/**
 * Migrates one record from a version to the next, or to the previous one.
 *
 * The previous version is requested only for a step that declares an inverse. The
 * callback must not call the same store.
 *
 * @param context  the context that was given with the function
 * @param from     the version of the record
 * @param to       the version to migrate to
 * @param record   {"id", "document"}; valid during the callback
 * @param answer   receives the document or the reason
 *
 * **Returns** Whether the record was migrated.
 */
typedef bool (*satchel_record_migration)(
    void *context, int32_t from, int32_t to, satchel_bytes record,
    satchel_record_answer *answer);

/** Options for opening a collection; start from SATCHEL_RECORDS_OPTIONS_INIT. */
typedef struct satchel_records_options {
    /** sizeof(satchel_records_options). */
    size_t size;
    /** Performs the steps of the declaration that are "callback"; called only during
     *  satchel_records_open(); may be NULL. */
    satchel_record_migration migrate;
    /** Passed to `migrate`. */
    void *context;
    /** Replaces the stored declaration: indexes, relations, a schema and the paths of
     *  searches that the declaration does not name are dropped, and those that differ are
     *  replaced. When an index, a relation or the schema is, open handles of the collection
     *  fail with SATCHEL_ECONFLICT at their next write, until the collection is opened
     *  again; their reads continue to work. */
    bool redeclare;
} satchel_records_options;

/** The default options for opening a collection. */
#define SATCHEL_RECORDS_OPTIONS_INIT \
    { sizeof(satchel_records_options), NULL, NULL, false }

/**
 * Opens a collection, creates it when it does not exist, and migrates its records to the
 * declared version.
 *
 * All pending migrations run in one transaction, after a backup in the store's directory.
 * A declaration adds indexes, types, relations and a schema to the stored ones, and removes
 * them only with the option `redeclare`. The additions apply to every handle of the
 * collection from its next write on, in every process. A declaration of another version replaces
 * what it names; going back to an older version also drops the schema of the newer one. A
 * declaration is a JSON object; all fields but `name` may be left out:
 *
 * | field         | type            | meaning                                     |
 * | ------------- | --------------- | ------------------------------------------- |
 * | `name`        | string          | `[a-z][a-z0-9_]{0,63}`                      |
 * | `indexes`     | array           | paths, or objects, see below                |
 * | `types`       | object          | maps paths to types, see below              |
 * | `relations`   | object          | maps paths to relations, see below          |
 * | `sensitive`   | array or null   | paths of fields that are encrypted, see below |
 * | `search`      | array or null   | paths of texts, see satchel_records_search() |
 * | `positions`   | array or null   | paths of positions, see satchel_records_near() |
 * | `schema`      | object or null  | a JSON Schema (2020-12); see satchel_records_warnings() |
 * | `version`     | integer         | the version of the records; 1 when left out |
 * | `migrations`  | array           | the steps from version 1 to 2, 2 to 3, ...  |
 * | `on_conflict` | string or null  | see below; "newest_wins" at first           |
 * | `synced`      | boolean or null | whether it is synchronized; true at first   |
 * | `ttl`         | string, integer or null | when records expire, see below      |
 *
 * An index is {"path", "unique": boolean, "where": a condition as of satchel_records_list(),
 * "type": as in `types`}, or has "paths", up to 8 of them, instead of "path" and "type". A
 * path of an index or of a query is "a.b" or a JSON Pointer; "lines[*].sku" is the value in
 * every element of an array, "first(a)" the first element, "length(a)" the number of
 * elements, members or code points, "lower(a)" a text in lower case, and "year(a)",
 * "month(a)" and "day(a)" are the parts of a time in UTC: "2027", "2027-03", "2027-03-05".
 * "-" before one of several paths is its descending order. With `where`, only records that match are in the
 * index; queries use it where they have the same conditions.
 *
 * A type says how values are compared, put in order and grouped, and which are equal for
 * conditions and unique indexes:
 *
 * | type      | values                                                              |
 * | --------- | ------------------------------------------------------------------- |
 * | "time"    | strings in any form of ISO 8601 are instants                        |
 * | "decimal" | numbers, and strings that are numbers, by their decimal value       |
 * | "number"  | numbers                                                             |
 * | "text"    | strings                                                             |
 *
 * {"type": "text", "fold": ["case", "accent"], "order": "unicode"} compares texts without
 * case and accents, and in the root order of Unicode; `fold` and `order` may be left out. A
 * query for a value that none of the type equals is SATCHEL_EINVALID. A declaration with
 * only a name and types is of no version, and migrates nothing.
 *
 * `on_conflict` decides about a record that was changed both locally and remotely:
 * "remote_wins", "local_wins", "newest_wins", "merge" or "ask", as in
 * #satchel_conflict_policy. It and `synced` are those of the latest declaration that has
 * them.
 *
 * With `ttl`, records expire: at the time that the document has at this path, or that number
 * of seconds after the latest write of the record (1 to 3155760000). A document whose value
 * at the path is null or missing never expires; another value that is no time of ISO 8601 is
 * SATCHEL_EINVALID when it is written. No call finds an expired record; a write with its id or its
 * unique value makes a new one. It is deleted a minute later while a handle of the collection
 * is open, or by a write a day later, with the `on_delete` actions of the relations that
 * refer to it. An index of the path, or of "@modified", is declared with it. The collection
 * is not synchronized, and no relation that restricts deletions can refer to it. The time is
 * that of the store's clock.
 *
 * Fields at the paths of `sensitive` are stored encrypted (AES-256-GCM), with the key of
 * satchel_state_set_key(), in the store, the outbox file and backups. Declaring them
 * encrypts the existing records, and `redeclare` without them decrypts them, in the same
 * transaction. Reading or writing a record without the key is SATCHEL_EAUTH, which
 * names it; ids, counts, queries without documents and deletions need no key. No index,
 * relation, search, position, condition or order may lead to, into or through such a field,
 * and the collection has no mirror. A synchronization sends the records only with a `key`.
 *
 * A relation is {"collection", "on_delete": "restrict" (when left out), "cascade" or
 * "nullify", "many": boolean}. The steps to a version are "callback", which has no
 * inverse, {"callback": {"inverse": true}}, or an array of
 *
 * | step                                | meaning                       |
 * | ----------------------------------- | ----------------------------- |
 * | {"rename": {"from", "to"}}          | renames a field               |
 * | {"move": {"from", "to"}}            | moves a value to another path |
 * | {"default": {"path", "value"}}      | sets a value that is missing  |
 * | {"remove": {"path"}}                | removes a value               |
 * | {"convert": {"path", "to", "from"}} | converts a value, see below   |
 *
 * `to` of a conversion is "string", "integer", "number", "boolean" or "array"; `from` is
 * the type that newer records are converted back to. Indexes, relations, encrypted fields,
 * searches and positions go with a field that is renamed or moved. While a migration callback runs, calls
 * on its thread that write to the store are SATCHEL_EINVALID; the message names the
 * migration. Observers are notified of a migration under the name of the collection.
 *
 * @param store        an open store
 * @param declaration  a JSON object
 * @param options      may be NULL
 * @param[out] out     the collection
 *
 * **Returns** SATCHEL_OK; SATCHEL_EINVALID for an invalid declaration, for an index, a type,
 * a relation or a schema that differs from the stored one, for a migration that fails, and
 * for pending migrations inside a batch; SATCHEL_ECONSTRAINT when records violate a
 * unique index, a relation or the schema; SATCHEL_ENEWER when the records have a newer
 * version that cannot be migrated back; SATCHEL_ENOTFOUND when the store is read-only and
 * has no such collection. The message names the record. On failure nothing is changed.
 *
 * **Ownership** The caller frees the collection: satchel_records_free().
 */
SATCHEL_API satchel_status satchel_records_open(
    satchel_store *store, satchel_bytes declaration,
    const satchel_records_options *options, satchel_records **out);

/**
 * Returns what is probably wrong with the declaration of a collection: the keywords of its
 * schema that have no effect, and the steps of the migration that opening it has run which
 * found no value in any record.
 *
 * The keywords are no keywords of draft 2020-12, probably misspelled. Assertions of earlier drafts,
 * such as "dependencies" and "additionalItems", are refused when the schema is declared.
 * Names that begin with "x-" are annotations of the app, and not reported. At most 20 paths
 * follow, of queries of this collection object that have looked at all records, and that none of
 * them had: "query: no record has \"titel\": did you mean \"title\"?".
 *
 * @param records   the collection
 * @param[out] out  a JSON array of strings, such as "/properties/n/minimun: unknown
 *                  keyword, without effect: did you mean \"minimum\"?"; empty without a schema
 *
 * **Returns** SATCHEL_OK or a default status.
 */
SATCHEL_API satchel_status satchel_records_warnings(
    satchel_records *records, satchel_buffer *out);

/**
 * Returns the collections of a store.
 *
 * | field         | type    | meaning                    |
 * | ------------- | ------- | -------------------------- |
 * | `name`        | string  | the name                   |
 * | `version`     | integer | the version of the records |
 * | `count`       | integer | the number of records      |
 * | `indexes`     | array   | the indexes                |
 * | `types`       | object  | the types of paths         |
 * | `relations`   | object  | the relations              |
 * | `sensitive`   | array   | the encrypted fields       |
 * | `search`      | array   | the paths of texts         |
 * | `positions`   | array   | the paths of positions     |
 * | `on_conflict` | string  | the conflict policy        |
 * | `synced`      | boolean | whether it is synchronized |
 * | `ttl`         | string, integer or null | when records expire |
 * | `warnings`    | array   | see satchel_records_warnings() |
 *
 * @param store     an open store
 * @param[out] out  a JSON array
 *
 * **Returns** SATCHEL_OK or a default status.
 */
SATCHEL_API satchel_status satchel_store_collections(
    satchel_store *store, satchel_buffer *out);

/** Matches any revision, and also no record, where a revision is expected. */
#define SATCHEL_ANY_REVISION (-1)

/**
 * Writes a record durably.
 *
 * The revision of a new record is above those that a deleted record of the id had. A unique
 * value that another record has is a violation at the end of the transaction: in a batch,
 * records can exchange their values.
 *
 * @param records        the collection
 * @param id             the id of the record
 * @param document       a JSON object; stored byte for byte
 * @param if_revision    the revision that the record must have, 0 when it must not exist,
 *                       or SATCHEL_ANY_REVISION
 * @param[out] revision  the new revision, from 1; 0 when the document was spooled; may be
 *                       NULL
 *
 * **Returns** SATCHEL_OK; SATCHEL_EINVALID for an invalid id or document;
 * SATCHEL_ECONSTRAINT when the document violates the schema, a unique index or a
 * relation; SATCHEL_ECONFLICT when the record has another revision, and when the
 * declaration of the handle was replaced; the message names collection, id and JSON
 * Pointer. SATCHEL_EFULL and other statuses of an unwritable store only when the outbox
 * file cannot be written either.
 */
SATCHEL_API satchel_status satchel_records_put(
    satchel_records *records, satchel_bytes id, satchel_bytes document,
    int64_t if_revision, int64_t *revision);

/**
 * Returns the warnings of the calling thread's last write of documents: of
 * satchel_records_put(), satchel_records_update(), satchel_records_put_many(),
 * satchel_records_put_valid() or satchel_state_set().
 *
 * There is one for each string of more than 1 MiB. The document was written as it is, but
 * such content makes every query, sync and backup slow: as an asset, satchel_assets_put(),
 * it is stored and sent once. The pointers are in the document, of many in the argument
 * `documents`; a write that failed has no warnings. In a catalogue these are problems of
 * the @ref json_receipt "receipt".
 *
 * @param[out] out  a JSON array of {"pointer", "reason"}, mostly empty
 *
 * **Returns** SATCHEL_OK or a default status.
 *
 * **Ownership** The caller frees the buffer: satchel_buffer_free().
 *
 * **Threads** Each thread has its own warnings.
 */
SATCHEL_API satchel_status satchel_put_warnings(satchel_buffer *out);

/**
 * Returns another handle of a collection, by which documents are written as an app's type:
 * the members of the stored document that the type does not have are kept.
 *
 * An older version of an app, which writes a record of a newer one, so does not remove what
 * it does not know, whether it has read the record or not. The type's members that the
 * document lacks are removed. Elements of arrays are matched with equal stored ones first,
 * then with those whose first member has the same value. This applies to
 * satchel_records_put(), satchel_records_put_deferred(), satchel_records_put_many() and
 * satchel_records_put_valid(); the members are those of the time of the write.
 *
 * The type is an array of objects: the first has a member for each member of the documents,
 * the others those of nested types. A member's value is null for a value that the type has
 * as a whole, the position in the array for an object of another type, or an array with one
 * of these, for the elements of an array and for the values of an object whose names are
 * data: `[{"name": null, "rooms": [1]}, {"number": null}]`. Each of many documents that
 * are given as an array may name another type of its own by its position, or null for a
 * document that is written as a whole: `{"id", "document", "type": 1}`.
 *
 * @param records   the collection
 * @param known     the type, a JSON array
 * @param[out] out  the handle; NULL on failure
 *
 * **Returns** SATCHEL_OK; SATCHEL_EINVALID for an invalid type, with the JSON Pointer.
 *
 * **Ownership** The caller frees the handle: satchel_records_free().
 */
SATCHEL_API satchel_status satchel_records_typed(
    satchel_records *records, satchel_bytes known, satchel_records **out);

/**
 * Writes a record later: with the tenth deferred put of the store, within five seconds, by
 * satchel_store_flush(), or by satchel_store_close().
 *
 * When this returns, nothing is durable: a kill of the process loses the record. Deferred
 * puts are written in order, in one transaction. Every other call on records of the same
 * store, including reads, first writes the deferred puts, and may wait for a batch of
 * another thread for that. In a batch this is an ordinary put.
 *
 * A deferred put that the store cannot accept is spooled. One that violates a unique
 * index or a relation is kept among the rejected writes, and observers receive
 * "@rejected"; when the outbox file cannot be written either, they receive "@unsaved",
 * and it is tried again.
 *
 * @param records   the collection
 * @param id        the id of the record
 * @param document  a JSON object; stored byte for byte
 *
 * **Returns** SATCHEL_OK; SATCHEL_EINVALID for an invalid id or document;
 * SATCHEL_ECONSTRAINT when the document violates the schema; SATCHEL_ECONFLICT when the
 * declaration of the handle was replaced; SATCHEL_EREADONLY. The tenth also SATCHEL_EBUSY,
 * SATCHEL_EFULL and others when neither the store nor the outbox file can be written; the
 * puts stay deferred.
 */
SATCHEL_API satchel_status satchel_records_put_deferred(
    satchel_records *records, satchel_bytes id, satchel_bytes document);

/**
 * Writes several records in one transaction, all or none.
 *
 * @param records     the collection
 * @param documents   {id: document, ...} or [{"id", "document"}, ...]
 * @param[out] count  the number of records; 0 when they were spooled; may be NULL
 *
 * **Returns** As satchel_records_put().
 */
SATCHEL_API satchel_status satchel_records_put_many(
    satchel_records *records, satchel_bytes documents, int64_t *count);

/**
 * Writes those of several records that are valid, in one transaction, and reports the
 * others.
 *
 * A record that refers to a missing one is not written, and neither is one that refers to
 * such a record; in a batch, references are checked at its end.
 *
 * | field      | type    | meaning                                              |
 * | ---------- | ------- | ---------------------------------------------------- |
 * | `written`  | integer | the number of records written                        |
 * | `rejected` | array   | the others: {"position", "id", "code", "message"}    |
 *
 * `position` counts the documents from 0; `id` is null for an element without one. `code`
 * is SATCHEL_EINVALID or SATCHEL_ECONSTRAINT, and `message` names the record, the JSON
 * Pointer in its document and the reason.
 *
 * @param records    the collection
 * @param documents  {id: document, ...} or [{"id", "document"}, ...]
 * @param[out] out   a JSON object
 *
 * **Returns** As satchel_records_put(), but SATCHEL_OK where records are reported. The
 * write is never spooled: the status says why the store cannot be written.
 */
SATCHEL_API satchel_status satchel_records_put_valid(
    satchel_records *records, satchel_bytes documents, satchel_buffer *out);

/**
 * Returns the document of a record, byte for byte as it was written.
 *
 * @param records   the collection
 * @param id        the id of the record
 * @param[out] out  the document; {NULL, 0} when there is no such record
 *
 * **Returns** SATCHEL_OK, or SATCHEL_EINVALID for an invalid id.
 */
SATCHEL_API satchel_status satchel_records_get(
    satchel_records *records, satchel_bytes id, satchel_buffer *out);

/**
 * Returns a record with its metadata.
 *
 * @param records   the collection
 * @param id        the id of the record
 * @param[out] out  a @ref json_record "record"; {NULL, 0} when there is no such record
 *
 * **Returns** SATCHEL_OK, or SATCHEL_EINVALID for an invalid id.
 */
SATCHEL_API satchel_status satchel_records_record(
    satchel_records *records, satchel_bytes id, satchel_buffer *out);

/**
 * Deletes a record, and applies the relations that refer to it, in one transaction.
 *
 * @param records       the collection
 * @param id            the id of the record
 * @param if_revision   the revision that the record must have, or SATCHEL_ANY_REVISION
 * @param[out] existed  whether the record existed; may be NULL
 *
 * **Returns** SATCHEL_OK; SATCHEL_ECONSTRAINT when a relation restricts the deletion; the
 * message names the record that refers to it; SATCHEL_ECONFLICT when the record has
 * another revision, and when the declaration of the handle was replaced.
 */
SATCHEL_API satchel_status satchel_records_delete(
    satchel_records *records, satchel_bytes id, int64_t if_revision, bool *existed);

/**
 * Deletes several records, and applies the relations that refer to them, in one
 * transaction.
 *
 * @param records     the collection
 * @param ids         a JSON array of strings; missing records are ignored, and the records
 *                    may refer to each other
 * @param[out] count  the number of records that existed; 0 when the deletion was spooled;
 *                    may be NULL
 *
 * **Returns** As satchel_records_delete().
 */
SATCHEL_API satchel_status satchel_records_delete_many(
    satchel_records *records, satchel_bytes ids, int64_t *count);

/**
 * Changes members of a record's document by a JSON Merge Patch (RFC 7396), in one
 * transaction.
 *
 * @param records        the collection
 * @param id             the id of the record
 * @param patch          a JSON object; null removes a member
 * @param if_revision    the revision that the record must have, or SATCHEL_ANY_REVISION
 * @param[out] revision  the new revision; 0 when the change was spooled; may be NULL
 *
 * **Returns** SATCHEL_ENOTFOUND when the record does not exist; otherwise as
 * satchel_records_put().
 */
SATCHEL_API satchel_status satchel_records_update(
    satchel_records *records, satchel_bytes id, satchel_bytes patch,
    int64_t if_revision, int64_t *revision);

/**
 * Returns the records that match a query.
 *
 * @param records   the collection
 * @param query     a @ref json_record_query "query"; empty for all records
 * @param[out] out  a JSON array of @ref json_record "records"
 *
 * **Returns** SATCHEL_OK, or SATCHEL_EINVALID for an invalid query.
 */
SATCHEL_API satchel_status satchel_records_list(
    satchel_records *records, satchel_bytes query, satchel_buffer *out);

/**
 * Returns the number of records that match a query.
 *
 * Counting all records takes constant time.
 *
 * @param records     the collection
 * @param query       a @ref json_record_query "query"; empty for all records
 * @param[out] count  the number
 *
 * **Returns** SATCHEL_OK, or SATCHEL_EINVALID for an invalid query.
 */
SATCHEL_API satchel_status satchel_records_count(
    satchel_records *records, satchel_bytes query, int64_t *count);

/**
 * Returns the first records that match a query, and where the next page begins.
 *
 * A cursor names a place in the order: records that are written or deleted between two
 * pages make none appear twice, and none that keeps its place missing. It costs the same
 * for each page, where an index has the order.
 *
 * @param records   the collection
 * @param query     a @ref json_record_query "query" with `limit`, the size of the page
 * @param[out] out  {"records": array of @ref json_record "records", "cursor": string or
 *                  null}; `cursor` is for `after` of the next query, which has the same
 *                  `where`, `order_by` and `nulls`; null on the last page
 *
 * **Returns** SATCHEL_OK, or SATCHEL_EINVALID for an invalid query, and for a cursor of a
 * query with another order.
 */
SATCHEL_API satchel_status satchel_records_page(
    satchel_records *records, satchel_bytes query, satchel_buffer *out);

/**
 * Tells how a query runs.
 *
 * | Member   | Type    | Meaning                                                            |
 * | -------- | ------- | ------------------------------------------------------------------ |
 * | `access` | string  | how records are found: "scan", "ids", "index", "relation", "union" |
 * | `paths`  | array   | the paths of the indexes and relations that find them              |
 * | `tests`  | array   | the paths that are tested of each record that is found             |
 * | `order`  | string  | "insertion", "index" (the index has it), "sorted"                  |
 * | `found`  | integer | the number of records that are found, up to 1,000                  |
 * | `text`   | string  | the same as a sentence                                             |
 *
 * @param records   the collection
 * @param query     a @ref json_record_query "query"; empty for all records
 * @param[out] out  a JSON object
 *
 * **Returns** SATCHEL_OK, or SATCHEL_EINVALID for an invalid query.
 */
SATCHEL_API satchel_status satchel_records_explain(
    satchel_records *records, satchel_bytes query, satchel_buffer *out);

/**
 * Counts the records that match, by groups, and computes sums, averages and extremes.
 *
 * `{"group_by": "kind", "aggregates": [{"sum": "price"}]}` gives
 * `[{"key": ["book"], "count": 2, "values": [30]}, ...]`. Sums of integers are exact; "sum"
 * and "average" leave out what is not a number, "min" and "max" missing and null values.
 * Missing and null values are one group. Where an index has the grouping path, counting
 * reads one record of each group.
 *
 * | Field        | Type            | Meaning                                                  |
 * | ------------ | --------------- | -------------------------------------------------------- |
 * | `where`      | object          | as of a @ref json_record_query "query"                   |
 * | `group_by`   | string or array | paths; without them, all records are one group           |
 * | `aggregates` | array           | {"sum": path}, {"average": path}, {"min": path}, {"max": path} |
 *
 * @param records   the collection
 * @param query     a JSON object of these fields, which may be left out; empty to count all
 *                  records
 * @param[out] out  a JSON array of {"key": array, "count": integer, "values": array}, in the
 *                  order of the keys
 *
 * **Returns** SATCHEL_OK, or SATCHEL_EINVALID for an invalid query, and where a value of a
 * group is an array or an object.
 */
SATCHEL_API satchel_status satchel_records_aggregate(
    satchel_records *records, satchel_bytes query, satchel_buffer *out);

/**
 * Finds records by the words of the texts that the collection declares, in any script.
 *
 * A declaration names 1 to 8 paths of strings, or of arrays and objects of strings:
 * {"name": "notes", "search": ["title", "body"]}. All words must occur, each at the
 * beginning of a word of one of the texts; case and diacritics are ignored. Texts of scripts
 * that are written without spaces, such as Chinese, Japanese and Thai, are found anywhere in
 * a run of characters. The index is made by the first search; from then on it is changed
 * with the records, in the same transaction, and each search adds the new ones. An index that
 * is damaged, or of another version of FTS5, is made again. A read-only store whose index is
 * not up to date is searched with one in memory, of at most 256 MiB.
 *
 * | field    | type    | meaning                                                  |
 * | -------- | ------- | -------------------------------------------------------- |
 * | `text`   | string  | the words; without letters and digits it finds nothing   |
 * | `paths`  | array   | the declared paths to search; all when left out          |
 * | `where`  | object  | as of a @ref json_record_query "query"                   |
 * | `limit`  | integer | the maximum number of results; 20 when left out          |
 * | `offset` | integer | the number of results to skip                            |
 *
 * The best result is first; of several with the same score the older record:
 *
 * | field        | type   | meaning                                                       |
 * | ------------ | ------ | ------------------------------------------------------------- |
 * | `record`     | object | the @ref json_record "record"                                 |
 * | `score`      | number | a higher score is better; comparable in one result            |
 * | `path`       | string | the declared path of the text that the excerpt is of          |
 * | `excerpt`    | string | a part of the text around a word that was found               |
 * | `highlights` | array  | [start, end] of each part of the excerpt that matches, in bytes of UTF-8 |
 *
 * @param records   the collection
 * @param query     a JSON object with the fields of the first table, `text` among them
 * @param[out] out  a JSON array
 *
 * **Returns** SATCHEL_OK; SATCHEL_EINVALID for an invalid query, for a collection that
 * declares no texts, for a path that it does not declare, for more than 64 words, and for a
 * run of more than 64 characters; SATCHEL_EBUSY while another transaction keeps new records
 * from being added to the index; SATCHEL_EFULL when a read-only store needs a larger index
 * in memory.
 */
SATCHEL_API satchel_status satchel_records_search(
    satchel_records *records, satchel_bytes query, satchel_buffer *out);

/**
 * Returns the records within a distance of a position, the nearest first.
 *
 * A declaration names 1 to 4 paths of positions: {"name": "cafes", "positions": ["place"]}. A
 * position is an object with `latitude` and `longitude`, `lat` and `lon` or `lat` and `lng`,
 * or a Point of GeoJSON. Uses an R*Tree, which is made by the first search of more than a few
 * records; where SQLite was built without, all records are examined. Distances are along the
 * surface of the earth as a sphere.
 *
 * | field       | type    | meaning                                                  |
 * | ----------- | ------- | -------------------------------------------------------- |
 * | `latitude`  | number  | degrees, -90 to 90                                       |
 * | `longitude` | number  | degrees, -180 to 180                                     |
 * | `within`    | number  | the maximum distance in metres                           |
 * | `path`      | string  | a declared path; may be left out where one is declared   |
 * | `where`     | object  | as of a @ref json_record_query "query"                   |
 * | `limit`     | integer | the maximum number of records; all when left out         |
 *
 * @param records   the collection
 * @param query     a JSON object with these fields, of which the first three are required
 * @param[out] out  a JSON array of {"record": @ref json_record "record", "distance": number},
 *                  the distance in metres; of several at the same one the older record is
 *                  first
 *
 * **Returns** SATCHEL_OK, or SATCHEL_EINVALID for an invalid query, for a collection that
 * declares no positions, for a path that it does not declare, for a position that is not on
 * the earth, and for a negative distance.
 */
SATCHEL_API satchel_status satchel_records_near(
    satchel_records *records, satchel_bytes query, satchel_buffer *out);

/**
 * Changes members of all documents that match, by a JSON Merge Patch, in one transaction.
 * The write is never spooled.
 *
 * @param records     the collection
 * @param where       the condition, as of a @ref json_record_query "query"; empty for all
 *                    records
 * @param patch       a JSON object; null removes a member
 * @param[out] count  the number of records that match; may be NULL
 *
 * **Returns** As satchel_records_update(); nothing is changed on failure.
 */
SATCHEL_API satchel_status satchel_records_update_where(
    satchel_records *records, satchel_bytes where, satchel_bytes patch, int64_t *count);

/**
 * Deletes all records that match, and applies the relations that refer to them, in one
 * transaction. The deletion is never spooled.
 *
 * @param records     the collection
 * @param where       the condition, as of a @ref json_record_query "query"; empty for all
 *                    records, which satchel_records_clear() deletes faster
 * @param[out] count  the number of records that match; may be NULL
 *
 * **Returns** As satchel_records_delete(); nothing is changed on failure.
 */
SATCHEL_API satchel_status satchel_records_delete_where(
    satchel_records *records, satchel_bytes where, int64_t *count);

/**
 * Writes the record that has the same value at a unique path as a document, or a new one,
 * in one transaction. The write is never spooled.
 *
 * @param records        the collection
 * @param path           the path of a unique index
 * @param document       a JSON object in UTF-8 with a number, a string or a Boolean at the
 *                       path; it replaces the stored document
 * @param new_id         the id of a new record; empty for a random UUID
 * @param[out] revision  the new revision; may be NULL
 * @param[out] id        the id of the record; may be NULL
 *
 * **Returns** SATCHEL_EINVALID for a path without a unique index, and for a document without
 * a value there; SATCHEL_ECONFLICT when another record has `new_id`; otherwise as
 * satchel_records_put().
 *
 * **Ownership** The caller frees `id`: satchel_buffer_free().
 */
SATCHEL_API satchel_status satchel_records_upsert(
    satchel_records *records, satchel_bytes path, satchel_bytes document, satchel_bytes new_id,
    int64_t *revision, satchel_buffer *id);

/**
 * Receives the notification that a live query has a new result.
 *
 * @param context  the context that was given with the function
 * @param status   SATCHEL_OK: satchel_records_watch_result() returns the result; any other
 *                 status when the query could not be run: the next result is reported when
 *                 it can be run again, and satchel_error_details() are those of the error
 * @param message  the error message in UTF-8 when `status` is not SATCHEL_OK; valid during
 *                 the callback
 */
typedef void (*satchel_records_watch_callback)(
    void *context, satchel_status status, satchel_bytes message);

/**
 * Starts a live query: notifies of the records that match now, and again whenever a commit
 * changes them.
 *
 * The result is that of the last commit, of this process or of another. It is reported at
 * most once in 100 ms, so that commits in quick succession may share one notification, and
 * not when it is the same as before. The query is run again after each commit that changes
 * the collection, once for all equal live queries of the store; of the last result, ids and
 * digests are kept for comparison, and no documents. The live query goes on with a
 * collection that is dropped and declared again. A migration to another version than that
 * of `records` is reported as the error of satchel_records_list().
 *
 * {"groups": query} follows what satchel_records_aggregate() returns for the query,
 * {"search": query} the hits of satchel_records_search(), and {"near": query} those of
 * satchel_records_near().
 *
 * @param records   the collection
 * @param query     a @ref json_record_query "query", or an object with the only member
 *                  `groups`, `search` or `near`; empty for all records
 * @param callback  is notified of the results
 * @param context   passed to `callback`
 * @param release   called exactly once with `context`, after the last call of `callback`,
 *                  also on failure; may be NULL
 * @param[out] out  the live query
 *
 * **Returns** SATCHEL_OK, or SATCHEL_EINVALID for an invalid query.
 *
 * **Ownership** The caller frees the live query: satchel_observer_free(). It also ends
 * when the store is closed, and goes on when `records` is freed.
 *
 * **Threads** `callback` is called on one thread of the library, also for the first result.
 * All live queries of the store share it with the observers of changes by other handles: a
 * slow callback delays the others. It may call the library and free its own live query;
 * closing the store in it returns SATCHEL_EBUSY.
 */
SATCHEL_API satchel_status satchel_records_watch(
    satchel_records *records, satchel_bytes query, satchel_records_watch_callback callback,
    void *context, void (*release)(void *context), satchel_observer **out);

/**
 * Takes the result of a live query, as the last commit has left it.
 *
 * | Member     | Type  | Meaning                                                          |
 * | ---------- | ----- | ---------------------------------------------------------------- |
 * | `records`  | array | the records that match, as satchel_records_list() returns them   |
 * | `inserted` | array | the ids of records that the result taken before did not have     |
 * | `removed`  | array | the ids of its records that match no more                        |
 * | `moved`    | array | the ids of records that changed their place among the others     |
 * | `changed`  | array | the ids of records with another document or other metadata       |
 *
 * Of a search, `hits` has what satchel_records_search() or satchel_records_near() returns,
 * instead of `records`. Of groups, the only member is `groups`.
 *
 * @param live      a live query, made by satchel_records_watch()
 * @param[out] out  a JSON object; empty when the result is the same as the last one that
 *                  was taken, or when its error was reported before
 *
 * **Returns** SATCHEL_OK, SATCHEL_EINVALID in a batch of the thread, or the errors of
 * satchel_records_list(). After SATCHEL_EBUSY, SATCHEL_ECANCELLED and SATCHEL_ETIMEDOUT it
 * may be called again.
 *
 * **Ownership** The caller owns *out: satchel_buffer_free().
 *
 * **Threads** Safe beside any other call, also in the callback.
 */
SATCHEL_API satchel_status satchel_records_watch_result(satchel_observer *live, satchel_buffer *out);

/** The format of a mirror's file. */
typedef enum satchel_mirror_format {
    /** JSON as other programs write it: an object with the documents by id, or an array
     *  of objects that have their ids in a member. An existing file keeps its structure.
     *  The file has no revisions, times and version. */
    SATCHEL_FORMAT_PLAIN = 0,
    /** One record a line with its revision and times, and a checksum of them all. */
    SATCHEL_FORMAT_CHECKSUMMED = 1
} satchel_mirror_format;

/** Whether a write changes the store or the mirror first. */
typedef enum satchel_mirror_mode {
    /** The store first; a thread of the store writes the mirror once for the commits of
     *  about half a second. */
    SATCHEL_MIRROR_STORE_FIRST = 0,
    /** The mirror before each commit; the write fails when the mirror cannot be
     *  written. */
    SATCHEL_MIRROR_FILE_FIRST = 1
} satchel_mirror_mode;

/** Which side is kept when a mirror that is attached differs from the collection. */
typedef enum satchel_mirror_prefer {
    /** Neither: attaching fails. */
    SATCHEL_PREFER_NONE = 0,
    /** The records of the file are imported; records that only the store has remain. */
    SATCHEL_PREFER_FILE = 1,
    /** The file is renamed to `<path>.quarantine-<Unix milliseconds>` and then written
     *  from the store. */
    SATCHEL_PREFER_STORE = 2
} satchel_mirror_prefer;

/** Options for attaching a mirror; start from SATCHEL_MIRROR_OPTIONS_INIT. */
typedef struct satchel_mirror_options {
    /** sizeof(satchel_mirror_options). */
    size_t size;
    /** Which side is kept when both differ. */
    satchel_mirror_prefer prefer;
    /** Which side a write changes first. */
    satchel_mirror_mode mode;
    /** The format of the file. */
    satchel_mirror_format format;
    /** The member of the objects of a plain array that is the id; empty for "id", "_id" or
     *  "uuid", the first of them that the file's first object has. A new file is an array
     *  when it is given, otherwise an object. */
    satchel_bytes id_member;
} satchel_mirror_options;

/** The default options for attaching a mirror. */
#define SATCHEL_MIRROR_OPTIONS_INIT \
    { sizeof(satchel_mirror_options), SATCHEL_PREFER_NONE, SATCHEL_MIRROR_STORE_FIRST, \
      SATCHEL_FORMAT_PLAIN, { NULL, 0 } }

/**
 * Attaches a mirror: one JSON file with the whole collection, replaced as a whole.
 *
 * For collections that people or other programs read, of at most 256 MiB. The mirror is
 * attached until this handle is freed.
 *
 * With SATCHEL_MIRROR_STORE_FIRST, a thread of the store writes the file once for commits
 * in quick succession: when none came for half a second, and within about five seconds.
 * satchel_store_flush(), satchel_store_close(), satchel_records_verify_mirror() and
 * freeing this handle complete it. With SATCHEL_MIRROR_FILE_FIRST, each commit writes the
 * file before, and its cost grows with the collection.
 *
 * A file that exists is compared with the collection first. It is replaced when this
 * store wrote it last, or when it contains nothing that the store lacks; it is imported
 * when the store has nothing that the file lacks, as an empty collection. Otherwise
 * neither side is changed, unless `prefer` selects one.
 *
 * When the file cannot be written after a commit, or a document has another value where a
 * plain array has the ids, observers receive "@mirror_failed". When another program
 * changed the file, they receive "@mirror_edited", and the file is not written until a
 * mirror is attached or rebuilt. With SATCHEL_MIRROR_FILE_FIRST, the write fails instead.
 * The result is
 *
 * | field         | type           | meaning                                           |
 * | ------------- | -------------- | ------------------------------------------------- |
 * | `imported`    | integer        | the records that the store imported from the file |
 * | `quarantined` | string or null | the new path of the file that was moved aside     |
 *
 * @param records   the collection
 * @param path      the file; its directory must exist
 * @param options   may be NULL
 * @param[out] out  a JSON object; may be NULL
 *
 * **Returns** SATCHEL_OK, or SATCHEL_EINVALID for a file that differs (the message counts
 * and names the differences), for a file that cannot be parsed (with line and column),
 * for a document that cannot hold the record's id, and inside a batch;
 * SATCHEL_ECONSTRAINT when a record of the file violates the schema, a unique index or a
 * relation. On failure nothing is changed.
 */
SATCHEL_API satchel_status satchel_records_mirror(
    satchel_records *records, satchel_bytes path, const satchel_mirror_options *options,
    satchel_buffer *out);

/**
 * Compares the collection with its mirror, after writing later commits to the mirror,
 * unless another program changed it.
 *
 * The result is an array of differences:
 *
 * | field     | type           | meaning                                            |
 * | --------- | -------------- | -------------------------------------------------- |
 * | `id`      | string         | the id of the record                               |
 * | `kind`    | string         | "missing_in_file", "missing_in_store" or "differs" |
 * | `pointer` | string or null | the JSON Pointer of the first difference           |
 *
 * @param records   the collection
 * @param[out] out  a JSON array
 *
 * **Returns** SATCHEL_OK, or SATCHEL_EINVALID when the collection has no mirror, or when
 * the mirror cannot be parsed (with line and column).
 */
SATCHEL_API satchel_status satchel_records_verify_mirror(
    satchel_records *records, satchel_buffer *out);

/** The target of satchel_records_rebuild(). */
typedef enum satchel_rebuild {
    /** The mirror, from the collection. */
    SATCHEL_REBUILD_MIRROR = 0,
    /** The collection, from the mirror. */
    SATCHEL_REBUILD_STORE = 1
} satchel_rebuild;

/**
 * Rebuilds the mirror from the collection, or the collection from the mirror, completely
 * or not at all.
 *
 * @param records       the collection
 * @param which         what is rebuilt
 * @param[out] changed  the number of records that differed; may be NULL
 *
 * **Returns** SATCHEL_OK; SATCHEL_EINVALID when the collection has no mirror; and for the
 * collection, SATCHEL_ENOTFOUND when there is no file, SATCHEL_EINVALID or SATCHEL_ENEWER
 * when it holds records of another version, and SATCHEL_ECONSTRAINT when a record
 * violates the schema, a unique index or a relation.
 */
SATCHEL_API satchel_status satchel_records_rebuild(
    satchel_records *records, satchel_rebuild which, int64_t *changed);

/**
 * Deletes all records of a collection, in one transaction.
 *
 * The deletions are synchronized. The declaration remains.
 *
 * @param records     the collection
 * @param[out] count  the number of records that were deleted; may be NULL
 *
 * **Returns** SATCHEL_OK; SATCHEL_ECONSTRAINT when a record of another collection refers
 * to one of them and restricts its deletion: nothing is changed then.
 */
SATCHEL_API satchel_status satchel_records_clear(satchel_records *records, int64_t *count);

/**
 * Removes a collection from a store: its records, indexes and declaration.
 *
 * That is local: what was synchronized stays in the remote, and returns when the
 * collection is declared again. To delete the records for all devices, use
 * satchel_records_clear() and synchronize. Handles of the collection then fail with
 * SATCHEL_ENOTFOUND.
 *
 * @param store           the store
 * @param name            the name of the collection
 * @param discard_unsent  drops the collection although it has changes that were never
 *                        sent; they are lost
 *
 * **Returns** SATCHEL_OK; SATCHEL_ENOTFOUND; SATCHEL_ECONSTRAINT while a relation of
 * another collection refers to it; SATCHEL_ECONFLICT for changes that were never sent.
 */
SATCHEL_API satchel_status satchel_store_drop_collection(
    satchel_store *store, satchel_bytes name, bool discard_unsent);

/**
 * Returns conflicts of a collection as satchel_store_conflicts() does.
 *
 * @param records   the collection
 * @param after     `next` of the previous page; 0 for the first page
 * @param limit     the size of a page, 1 or more
 * @param[out] out  a JSON object
 *
 * **Returns** SATCHEL_OK, or SATCHEL_EINVALID for an invalid `limit`.
 */
SATCHEL_API satchel_status satchel_records_conflicts(
    satchel_records *records, int64_t after, int32_t limit, satchel_buffer *out);

/**
 * Resolves a conflict.
 *
 * A resolution is a JSON object with one field:
 *
 * | field      | type           | meaning                                        |
 * | ---------- | -------------- | ---------------------------------------------- |
 * | `keep`     | string         | "local" or "remote"                            |
 * | `document` | object or null | the document to store; null deletes the record |
 *
 * @param records     the collection
 * @param conflict    the number of the conflict
 * @param resolution  a JSON object
 *
 * **Returns** SATCHEL_OK; SATCHEL_ENOTFOUND when there is no such conflict;
 * SATCHEL_EINVALID for an invalid resolution; otherwise as satchel_records_put() and
 * satchel_records_delete().
 */
SATCHEL_API satchel_status satchel_records_resolve(
    satchel_records *records, int64_t conflict, satchel_bytes resolution);

/**
 * Frees a collection.
 *
 * @param records  may be NULL, and may have been freed before
 */
SATCHEL_API void satchel_records_free(satchel_records *records);

/** @} */

/**
 * @defgroup satchel_app_state State
 * Small values that an app changes often: values, lists, sets and scores.
 *
 * Reads see a change immediately. Changes are written to the file 2 s after the last
 * change, with the tenth change, 5 s after the first change, by satchel_state_flush(),
 * and when the store is closed. Names and keys are 1 to 255 bytes of UTF-8; those that
 * begin with "@stories/" are reserved for libraries of stories, and SATCHEL_EINVALID.
 * Observers receive changes with the subject "state" after they were written, see
 * satchel_change_callback, and @ref json_record_events "events". Guide:
 * Documentation/state.md.
 * @{
 */

/** When changes of state are saved; start from SATCHEL_STATE_OPTIONS_INIT. */
typedef struct satchel_state_options {
    /** sizeof(satchel_state_options). */
    size_t size;
    /** The time from the last change to the save, in ms; 0 means 2,000. */
    uint32_t save_delay_ms;
    /** The number of pending changes that are saved immediately; 0 means 10. */
    uint32_t max_pending;
    /** The maximum time from the first pending change to the save, in ms; 0 means 5,000. */
    uint32_t max_delay_ms;
} satchel_state_options;

/** The default options for saving state. */
#define SATCHEL_STATE_OPTIONS_INIT { sizeof(satchel_state_options), 0, 0, 0 }

/**
 * Sets when changes of state are saved, that is, written to the file.
 *
 * @param store    an open store
 * @param options  NULL for the defaults
 *
 * **Returns** SATCHEL_OK or a default status.
 */
SATCHEL_API satchel_status satchel_state_configure(
    satchel_store *store, const satchel_state_options *options);

/**
 * Declares defaults of values, and migrates the values to the declared version.
 *
 * A declaration is a JSON object; all fields may be left out:
 *
 * | field        | type    | meaning                                                   |
 * | ------------ | ------- | --------------------------------------------------------- |
 * | `defaults`   | object  | the defaults of keys without a value, by key              |
 * | `version`    | integer | the version that the app expects; migrates nothing when left out |
 * | `migrations` | array   | the steps from version 1 to 2, 2 to 3, ..., as in satchel_records_open() |
 *
 * Defaults are valid for this store until it is closed; they are neither stored nor listed
 * by satchel_state_keys(). Several parts of an app may declare theirs.
 *
 * The document that migrations change is the object of all values by their keys, without
 * the sensitive ones: `/theme` is the path of the value "theme", and `/reader/size` that of
 * a member of the value "reader". `migrate` receives it with the id "state". All pending
 * migrations run in one transaction, after a backup in the store's directory; pending
 * changes are saved first. A value that is renamed stays synchronized. An older app
 * migrates newer values back if the migrations have inverses.
 *
 * @param store        an open store
 * @param declaration  a JSON object
 * @param migrate      performs the steps that are "callback"; called only during this call;
 *                     may be NULL
 * @param context      passed to `migrate`
 *
 * **Returns** SATCHEL_OK; SATCHEL_EINVALID for another default than the declared one, for a
 * migration that is missing or fails, and for pending migrations inside a batch;
 * SATCHEL_ENEWER for values of a newer version that cannot be migrated back;
 * SATCHEL_EREADONLY when a read-only store has another version; SATCHEL_EBUSY while changes
 * are spooled. Nothing is changed then.
 */
SATCHEL_API satchel_status satchel_state_declare(
    satchel_store *store, satchel_bytes declaration, satchel_record_migration migrate,
    void *context);

/**
 * Sets the encryption key for sensitive values, lists, sets and scores, and for sensitive
 * fields of records.
 *
 * Remote versions that waited for the key are applied, and writes that were spooled because
 * the key was missing are written.
 *
 * @param store  an open store
 * @param key    32 bytes, from the keychain of the host; copied, never stored
 *
 * **Returns** SATCHEL_OK; SATCHEL_EINVALID for another length; SATCHEL_EAUTH when
 * something in the store is encrypted with another key; nothing is changed then.
 */
SATCHEL_API satchel_status satchel_state_set_key(satchel_store *store, satchel_bytes key);

/**
 * Encrypts everything that is sensitive with another key, in one transaction.
 *
 * @param store  an open store
 * @param key    the new key, 32 bytes
 *
 * **Returns** SATCHEL_OK; SATCHEL_EAUTH when the current key was not set, and when a value
 * cannot be decrypted with it; SATCHEL_EINVALID inside a batch. On failure the current key
 * remains in use.
 */
SATCHEL_API satchel_status satchel_state_rotate_key(
    satchel_store *store, satchel_bytes key);

/**
 * Sets a value.
 *
 * @param store      an open store
 * @param key        the key of the value
 * @param value      any JSON value
 * @param sensitive  stores the value encrypted (AES-256-GCM), also in the outbox file;
 *                   requires satchel_state_set_key() first
 *
 * **Returns** SATCHEL_OK; SATCHEL_EINVALID for an invalid key or value; SATCHEL_EAUTH for a
 * sensitive value without an encryption key.
 */
SATCHEL_API satchel_status satchel_state_set(
    satchel_store *store, satchel_bytes key, satchel_bytes value, bool sensitive);

/**
 * Returns a value, or its declared default.
 *
 * @param store     an open store
 * @param key       the key of the value
 * @param[out] out  the JSON value; {NULL, 0} when the key has neither
 *
 * **Returns** SATCHEL_OK; SATCHEL_EAUTH for a sensitive value whose encryption key was not
 * set; SATCHEL_EDAMAGED for one that was modified outside of the library.
 */
SATCHEL_API satchel_status satchel_state_get(
    satchel_store *store, satchel_bytes key, satchel_buffer *out);

/**
 * Removes a value.
 *
 * A sensitive value can be removed without its encryption key.
 *
 * @param store  an open store
 * @param key    the key of the value
 *
 * **Returns** SATCHEL_OK, or SATCHEL_EINVALID for an invalid key.
 */
SATCHEL_API satchel_status satchel_state_remove(satchel_store *store, satchel_bytes key);

/**
 * Returns the keys that begin with a prefix, sorted by their bytes.
 *
 * @param store     an open store
 * @param prefix    the prefix; empty for all keys
 * @param[out] out  a JSON array of strings
 *
 * **Returns** SATCHEL_OK or a default status.
 */
SATCHEL_API satchel_status satchel_state_keys(
    satchel_store *store, satchel_bytes prefix, satchel_buffer *out);

/**
 * Writes pending changes, and drains the outbox file.
 *
 * When it returns SATCHEL_OK, all changes that were made before survive the end of the
 * process.
 *
 * @param store         an open store
 * @param[out] spooled  whether the changes went to the outbox file because the store
 *                      cannot be written; may be NULL
 *
 * **Returns** SATCHEL_OK; SATCHEL_EINVALID inside a batch, which could still be rolled
 * back; SATCHEL_EBUSY on a thread that began a batch and left it; SATCHEL_EFULL,
 * SATCHEL_EIO and others when the outbox file cannot be written either: the changes
 * remain in memory.
 */
SATCHEL_API satchel_status satchel_state_flush(satchel_store *store, bool *spooled);

/** A kind of state. */
typedef enum satchel_state_kind {
    /** A value, by its key. */
    SATCHEL_STATE_VALUE = 0,
    /** A list. */
    SATCHEL_STATE_LIST = 1,
    /** A set. */
    SATCHEL_STATE_SET = 2,
    /** A table of scores. */
    SATCHEL_STATE_SCORES = 3
} satchel_state_kind;

/**
 * Sets whether satchel_store_sync() synchronizes a value, a list, a set or scores.
 *
 * The setting is saved like a change, and stays until it is changed. Of a value the
 * newest version wins; scores, sets and lists of several devices are merged. `bounds` are
 * those of a list, {"limit", "max_age", "unique"}, or of scores, {"minimum", "maximum"},
 * which a merged list or scores keep; every field may be left out.
 *
 * @param store   the store
 * @param kind    the kind
 * @param name    the key of the value, or the name of the list, the set or the scores
 * @param bounds  a JSON object; may be empty
 * @param synced  whether it is synchronized
 *
 * **Returns** SATCHEL_OK; SATCHEL_EINVALID for an invalid kind, name or bounds, and for a
 * name that is too long to be synchronized (with its kind and a slash, 255 bytes);
 * SATCHEL_EREADONLY.
 */
SATCHEL_API satchel_status satchel_state_set_synced(
    satchel_store *store, satchel_state_kind kind, satchel_bytes name,
    satchel_bytes bounds, bool synced);

/**
 * Sets whether a list, a set or scores are stored encrypted (AES-256-GCM), also in the
 * outbox file.
 *
 * Existing contents are encrypted or decrypted in one transaction before the call
 * returns; pending changes are saved first. The setting stays until it is changed. Set it
 * before anything is added, because a plain version that was saved may remain in the WAL,
 * in free pages of the file, and in backups. Names are not encrypted, nor are numbers and
 * times of items. Later calls that read or change the contents require
 * satchel_state_set_key(); only clearing does not.
 *
 * @param store      the store
 * @param kind       the kind; not SATCHEL_STATE_VALUE, see satchel_state_set()
 * @param name       the name of the list, the set or the scores
 * @param sensitive  whether they are stored encrypted
 *
 * **Returns** SATCHEL_OK, also when nothing changes; SATCHEL_EINVALID for an invalid kind
 * or name, and inside a batch; SATCHEL_EAUTH for contents whose encryption key is missing
 * or wrong; SATCHEL_EBUSY, SATCHEL_EFULL and others when the store cannot be written, or
 * has changes in its outbox file. Nothing is changed then.
 */
SATCHEL_API satchel_status satchel_state_set_sensitive(
    satchel_store *store, satchel_state_kind kind, satchel_bytes name, bool sensitive);

/**
 * Removes everything from a list, a set or scores, in one transaction, before the call
 * returns.
 *
 * Pending changes are saved first. It needs no encryption key, so that contents can be
 * removed when their key is lost, and another key can be set.
 *
 * @param store  the store
 * @param kind   the kind; not SATCHEL_STATE_VALUE, see satchel_state_remove()
 * @param name   the name of the list, the set or the scores
 *
 * **Returns** SATCHEL_OK; SATCHEL_EINVALID for an invalid kind or name, and inside a batch;
 * SATCHEL_EBUSY, SATCHEL_EFULL, SATCHEL_EREADONLY and others when the store cannot be
 * written, or has changes in its outbox file. Nothing is removed then.
 */
SATCHEL_API satchel_status satchel_state_clear(
    satchel_store *store, satchel_state_kind kind, satchel_bytes name);

/** The limits of a list; start from SATCHEL_STATE_LIST_OPTIONS_INIT. */
typedef struct satchel_state_list_options {
    /** sizeof(satchel_state_list_options). */
    size_t size;
    /** The maximum number of items; 0 means no limit. */
    uint32_t limit;
    /** The maximum age of an item, in ms; 0 means no limit. */
    uint64_t max_age_ms;
    /** Moves an item that is in the list already to the front. */
    bool unique;
} satchel_state_list_options;

/** The default options of a list: no limits. */
#define SATCHEL_STATE_LIST_OPTIONS_INIT \
    { sizeof(satchel_state_list_options), 0, 0, false }

/**
 * Inserts an item at the front of a list, and removes the items beyond its limits.
 *
 * @param store    an open store
 * @param name     the name of the list
 * @param value    any JSON value
 * @param options  may be NULL
 *
 * **Returns** SATCHEL_OK, or SATCHEL_EINVALID for an invalid name, value or options.
 */
SATCHEL_API satchel_status satchel_state_list_push(
    satchel_store *store, satchel_bytes name, satchel_bytes value,
    const satchel_state_list_options *options);

/**
 * Inserts an item with a given time after the newer items of a list, and removes the
 * items beyond its limits.
 *
 * With `unique`, an equal item that is as new or newer remains instead. An item that is
 * not the newest costs time in proportion to the length of the list.
 *
 * @param store    an open store
 * @param name     the name of the list
 * @param value    any JSON value
 * @param time     Unix milliseconds, 0 or more
 * @param options  may be NULL
 *
 * **Returns** SATCHEL_OK, or SATCHEL_EINVALID for an invalid name, value, time or options.
 */
SATCHEL_API satchel_status satchel_state_list_insert(
    satchel_store *store, satchel_bytes name, satchel_bytes value, int64_t time,
    const satchel_state_list_options *options);

/**
 * Returns the items of a list within its limits, the newest first.
 *
 * | field   | type    | meaning                     |
 * | ------- | ------- | --------------------------- |
 * | `value` | any     | the item                    |
 * | `time`  | integer | when it was pushed, Unix ms |
 *
 * @param store     an open store
 * @param name      the name of the list
 * @param options   may be NULL
 * @param[out] out  a JSON array
 *
 * **Returns** SATCHEL_OK, or SATCHEL_EINVALID for an invalid name or options.
 */
SATCHEL_API satchel_status satchel_state_list_items(
    satchel_store *store, satchel_bytes name, const satchel_state_list_options *options,
    satchel_buffer *out);

/**
 * Removes the items of a list that equal a value.
 *
 * @param store  an open store
 * @param name   the name of the list
 * @param value  any JSON value
 *
 * **Returns** SATCHEL_OK, or SATCHEL_EINVALID for an invalid name or value.
 */
SATCHEL_API satchel_status satchel_state_list_remove(
    satchel_store *store, satchel_bytes name, satchel_bytes value);

/**
 * Removes all items of a list.
 *
 * @param store  an open store
 * @param name   the name of the list
 *
 * **Returns** SATCHEL_OK, or SATCHEL_EINVALID for an invalid name.
 */
SATCHEL_API satchel_status satchel_state_list_clear(
    satchel_store *store, satchel_bytes name);

/**
 * Adds a value to a set.
 *
 * @param store       an open store
 * @param name        the name of the set
 * @param value       any JSON value
 * @param[out] added  false when the set contained it; may be NULL
 *
 * **Returns** SATCHEL_OK, or SATCHEL_EINVALID for an invalid name or value.
 */
SATCHEL_API satchel_status satchel_state_member_add(
    satchel_store *store, satchel_bytes name, satchel_bytes value, bool *added);

/**
 * Removes a value from a set.
 *
 * @param store         an open store
 * @param name          the name of the set
 * @param value         any JSON value
 * @param[out] removed  false when the set did not contain it; may be NULL
 *
 * **Returns** SATCHEL_OK, or SATCHEL_EINVALID for an invalid name or value.
 */
SATCHEL_API satchel_status satchel_state_member_remove(
    satchel_store *store, satchel_bytes name, satchel_bytes value, bool *removed);

/**
 * Returns whether a set contains a value, by one look-up.
 *
 * @param store     an open store
 * @param name      the name of the set
 * @param value     any JSON value
 * @param[out] has  whether the set contains it
 *
 * **Returns** SATCHEL_OK, or SATCHEL_EINVALID for an invalid name or value.
 */
SATCHEL_API satchel_status satchel_state_member_has(
    satchel_store *store, satchel_bytes name, satchel_bytes value, bool *has);

/**
 * Returns the values of a set, in a stable order.
 *
 * @param store     an open store
 * @param name      the name of the set
 * @param[out] out  a JSON array
 *
 * **Returns** SATCHEL_OK, or SATCHEL_EINVALID for an invalid name.
 */
SATCHEL_API satchel_status satchel_state_members(
    satchel_store *store, satchel_bytes name, satchel_buffer *out);

/** The limits of scores; start from SATCHEL_STATE_SCORE_OPTIONS_INIT. */
typedef struct satchel_state_score_options {
    /** sizeof(satchel_state_score_options). */
    size_t size;
    /** The smallest score. */
    double minimum;
    /** The largest score. */
    double maximum;
} satchel_state_score_options;

/** The default limits of scores: -1 to 1. */
#define SATCHEL_STATE_SCORE_OPTIONS_INIT \
    { sizeof(satchel_state_score_options), -1.0, 1.0 }

/**
 * Adds a number to a score, which starts at 0, or at the limit next to 0, and remains
 * within its limits: to what satchel_state_score() returns with the same limits.
 *
 * @param store       an open store
 * @param name        the name of the scores
 * @param key         the key of the score
 * @param delta       the number to add
 * @param options     may be NULL
 * @param[out] value  the new score; may be NULL
 *
 * **Returns** SATCHEL_OK, or SATCHEL_EINVALID for a delta or limits that are not finite,
 * and when the minimum is greater than the maximum.
 */
SATCHEL_API satchel_status satchel_state_score_add(
    satchel_store *store, satchel_bytes name, satchel_bytes key, double delta,
    const satchel_state_score_options *options, double *value);

/**
 * Returns a score, within the limits.
 *
 * @param store       an open store
 * @param name        the name of the scores
 * @param key         the key of the score
 * @param options     may be NULL, as for satchel_state_score_add()
 * @param[out] value  the score; 0, or the nearest limit, when nothing was added to it
 *
 * **Returns** As satchel_state_scores().
 */
SATCHEL_API satchel_status satchel_state_score(
    satchel_store *store, satchel_bytes name, satchel_bytes key,
    const satchel_state_score_options *options, double *value);

/**
 * Returns all scores of a name, within the limits.
 *
 * A score that nothing was added to is not among them: it is 0, or the nearest limit.
 *
 * @param store     an open store
 * @param name      the name of the scores
 * @param options   may be NULL, as for satchel_state_score_add()
 * @param[out] out  a JSON object that maps keys to scores
 *
 * **Returns** SATCHEL_OK, or SATCHEL_EINVALID for an invalid name, and for limits as of
 * satchel_state_score_add().
 */
SATCHEL_API satchel_status satchel_state_scores(
    satchel_store *store, satchel_bytes name, const satchel_state_score_options *options,
    satchel_buffer *out);

/**
 * Removes a score; reading it then returns 0, or the nearest limit.
 *
 * @param store  an open store
 * @param name   the name of the scores
 * @param key    the key of the score; need not exist
 *
 * **Returns** SATCHEL_OK, or SATCHEL_EINVALID for an invalid name or key.
 */
SATCHEL_API satchel_status satchel_state_score_remove(
    satchel_store *store, satchel_bytes name, satchel_bytes key);

/** @} */

/**
 * @defgroup satchel_assets Assets
 * Immutable bytes that documents refer to: pictures, sounds, files.
 *
 * An asset is named by the SHA-256 of its bytes, and a store keeps it once, however many
 * documents refer to it: those up to 64 KiB in its file, larger ones as files in the folder
 * "{store}.assets" next to it. A document of records, state and the catalogue refers to one
 * with an object that has the member `_asset`; references are counted in the transaction
 * that writes the document, and the bytes of an asset to which nothing refers are removed
 * by satchel_assets_prune(), or by the library an hour later. Guide:
 * Documentation/assets.md.
 *
 * On the device the bytes are not encrypted, not even those that a sensitive field refers to.
 *
 * @anchor json_asset
 * A reference is {"_asset": {...}} with these members, each of which may be left out, but
 * not both `sha256` and `url`; other members are the app's:
 *
 * | field    | type    | meaning                                                       |
 * | -------- | ------- | ------------------------------------------------------------- |
 * | `sha256` | string  | the SHA-256 of the bytes, 64 hexadecimal digits in lower case |
 * | `size`   | integer | the number of bytes                                           |
 * | `type`   | string  | the media type, such as "image/jpeg"; it belongs to the reference |
 * | `url`    | string  | where the bytes are fetched, http or https                    |
 *
 * Where a function takes a reference, it takes the value of `_asset`, and a JSON string
 * with the SHA-256 or the URL as well.
 *
 * @anchor json_asset_info
 * The information about an asset:
 *
 * | field        | type             | meaning                                           |
 * | ------------ | ---------------- | ------------------------------------------------- |
 * | `sha256`     | string or null   | null for a URL that was not fetched yet           |
 * | `size`       | integer or null  | the number of bytes; null when it is not known    |
 * | `state`      | string           | "here": the bytes are in the store; "remote": at a URL, or in the remote; "missing" |
 * | `references` | integer          | the documents, entities and sections that refer to it |
 * | `urls`       | array of strings | the URLs that led to it                           |
 * | `variant`    | boolean          | whether it was derived from another asset         |
 * | `used_at`    | integer or null  | when it was last put, dropped or read, in Unix ms |
 * @{
 */

/** The open bytes of an asset. */
typedef struct satchel_asset_reader satchel_asset_reader;

/** Where the bytes of an asset are. */
typedef enum satchel_asset_state {
    /** In any state. */
    SATCHEL_ASSET_ANY = 0,
    /** In the store: they are read at once, and offline. */
    SATCHEL_ASSET_HERE = 1,
    /** At a URL, or in the remote: satchel_assets_fetch() or satchel_assets_fetch_remote()
     *  gets them. */
    SATCHEL_ASSET_REMOTE = 2,
    /** Nowhere that is known. */
    SATCHEL_ASSET_MISSING = 3
} satchel_asset_state;

/** Whether something refers to an asset. */
typedef enum satchel_asset_usage {
    /** Whether or not. */
    SATCHEL_ASSET_USED_OR_NOT = 0,
    /** Something refers to it, or to the asset that it was derived from. */
    SATCHEL_ASSET_USED = 1,
    /** Nothing refers to it. */
    SATCHEL_ASSET_UNUSED = 2
} satchel_asset_usage;

/**
 * Puts bytes into a store. Bytes that it has already are not stored again.
 *
 * Put the document that refers to the asset next: one to which nothing refers is kept for
 * an hour at least.
 *
 * @param store     an open store
 * @param bytes     the bytes; may be empty
 * @param type      the media type of the reference, at most 255 bytes; empty for none
 * @param sensitive  stores the bytes encrypted (AES-256-GCM), under a key of their own that is
 *                  encrypted with the key of satchel_state_set_key(). An asset that is
 *                  sensitive stays so, however it is put later. It is sent only to an
 *                  encrypted remote. Its SHA-256 and its size are not encrypted.
 * @param[out] out  the @ref json_asset "reference", to be put into a document
 *
 * **Returns** SATCHEL_OK; SATCHEL_EINVALID for an invalid type; SATCHEL_EFULL also for a
 * store in memory with more than 256 MiB of assets; SATCHEL_EREADONLY; SATCHEL_EAUTH for a
 * sensitive asset when the encryption key is not set.
 */
SATCHEL_API satchel_status satchel_assets_put(
    satchel_store *store, satchel_bytes bytes, satchel_bytes type, bool sensitive,
    satchel_buffer *out);

/**
 * Puts the content of a file into a store, as satchel_assets_put() does. The file stays as
 * it is.
 *
 * @param store     an open store
 * @param path      the path of the file, NUL-terminated UTF-8
 * @param type      the media type of the reference; empty for none
 * @param sensitive  as for satchel_assets_put()
 * @param[out] out  the @ref json_asset "reference"
 *
 * **Returns** As satchel_assets_put(); SATCHEL_ENOTFOUND when there is no such file;
 * SATCHEL_EINVALID for a directory, and for what is no file.
 */
SATCHEL_API satchel_status satchel_assets_put_file(
    satchel_store *store, const char *path, satchel_bytes type, bool sensitive,
    satchel_buffer *out);

/**
 * Gives the next bytes of a stream of the host.
 *
 * @param context   the context that was given with the function
 * @param buffer    receives the bytes
 * @param capacity  the size of the buffer, 1 or more
 *
 * **Returns** The number of bytes, at most `capacity`; 0 at the end; a negative number to
 * cancel.
 */
typedef int64_t (*satchel_asset_source)(void *context, void *buffer, size_t capacity);

/**
 * Puts what a stream of the host delivers into a store, as satchel_assets_put() does.
 * Memory stays bounded.
 *
 * @param store     an open store
 * @param read      called until it returns 0, outside of transactions; it may use the
 *                  store, but not close it
 * @param context   passed to `read`
 * @param type      the media type of the reference; empty for none
 * @param sensitive  as for satchel_assets_put()
 * @param[out] out  the @ref json_asset "reference"
 *
 * **Returns** As satchel_assets_put(); SATCHEL_ECANCELLED when `read` returned a negative
 * number, SATCHEL_EINVALID when it returned more than `capacity`. Nothing is put then.
 *
 * **Threads** `read` is called on the thread of the call.
 */
SATCHEL_API satchel_status satchel_assets_put_stream(
    satchel_store *store, satchel_asset_source read, void *context, satchel_bytes type,
    bool sensitive, satchel_buffer *out);

/**
 * Returns what a store knows of an asset, also of one of which it has nothing.
 *
 * @param store     an open store
 * @param asset     a @ref json_asset "reference"
 * @param[out] out  an @ref json_asset_info "object"
 *
 * **Returns** SATCHEL_OK, or SATCHEL_EINVALID for an invalid reference.
 */
SATCHEL_API satchel_status satchel_assets_info(
    satchel_store *store, satchel_bytes asset, satchel_buffer *out);

/**
 * Returns bytes of an asset.
 *
 * @param store     an open store
 * @param asset     a @ref json_asset "reference"
 * @param offset    the offset of the first byte
 * @param count     the maximum number of bytes; INT64_MAX for all to the end
 * @param[out] out  the bytes: fewer at the end, none after it
 *
 * **Returns** SATCHEL_OK; SATCHEL_ENOTFOUND when the bytes are not here;
 * SATCHEL_EDAMAGED for a file that is lost or has another size; SATCHEL_EINVALID for an
 * invalid reference and a negative number.
 */
SATCHEL_API satchel_status satchel_assets_read(
    satchel_store *store, satchel_bytes asset, int64_t offset, int64_t count,
    satchel_buffer *out);

/**
 * Opens the bytes of an asset.
 *
 * They stay readable while the reader is open, even when the asset is removed or the store
 * is closed meanwhile.
 *
 * @param store     an open store
 * @param asset     a @ref json_asset "reference"
 * @param verify    hashes all bytes first: a file may have been damaged
 * @param[out] out  the reader
 *
 * **Returns** As satchel_assets_read(); SATCHEL_EDAMAGED with `verify` also for a file that
 * has other bytes.
 *
 * **Ownership** The caller frees the reader: satchel_asset_reader_free().
 */
SATCHEL_API satchel_status satchel_assets_open(
    satchel_store *store, satchel_bytes asset, bool verify, satchel_asset_reader **out);

/**
 * Reads bytes of an open asset into a buffer of the host.
 *
 * @param reader      an open asset
 * @param offset      the offset of the first byte
 * @param buffer      receives the bytes; may be NULL when `capacity` is 0
 * @param capacity    the size of the buffer
 * @param[out] count  the number of bytes that were read: fewer than `capacity` only at the
 *                    end, 0 after it
 *
 * **Returns** SATCHEL_OK; SATCHEL_EINVALID for a negative offset; SATCHEL_EDAMAGED for a
 * file that has become shorter.
 */
SATCHEL_API satchel_status satchel_asset_reader_read(
    satchel_asset_reader *reader, int64_t offset, void *buffer, size_t capacity,
    size_t *count);

/**
 * Returns the size of an open asset.
 *
 * @param reader     an open asset
 * @param[out] size  the number of bytes
 *
 * **Returns** SATCHEL_OK or a default status.
 */
SATCHEL_API satchel_status satchel_asset_reader_size(
    satchel_asset_reader *reader, int64_t *size);

/**
 * Returns the path of the file of an open asset, for players and other programs.
 *
 * From now on the file stays while the reader is open: no files are deleted in the folder
 * next to the store, of all assets and in all processes. It must not be changed: other
 * documents may refer to the same bytes.
 *
 * @param reader    an open asset
 * @param[out] out  the path; empty for an asset that is in the store's file
 *
 * **Returns** SATCHEL_OK; SATCHEL_ENOTFOUND when the asset was removed since it was opened;
 * SATCHEL_EBUSY while another process deletes files for more than 10 s.
 */
SATCHEL_API satchel_status satchel_asset_reader_path(
    satchel_asset_reader *reader, satchel_buffer *out);

/**
 * Frees a reader.
 *
 * @param reader  may be NULL, and may be freed already
 */
SATCHEL_API void satchel_asset_reader_free(satchel_asset_reader *reader);

/** Options for listing assets; start from SATCHEL_ASSET_LIST_OPTIONS_INIT. */
typedef struct satchel_asset_list_options {
    /** sizeof(satchel_asset_list_options). */
    size_t size;
    /** Only assets in this state. */
    satchel_asset_state state;
    /** Only assets to which something, or nothing, refers. */
    satchel_asset_usage usage;
    /** `next` of the page before; empty for the first page. */
    satchel_bytes after;
    /** The maximum number of assets in the page, 1 to 10,000; 0 means 100. */
    int32_t limit;
} satchel_asset_list_options;

/** The default options for listing assets. */
#define SATCHEL_ASSET_LIST_OPTIONS_INIT \
    { sizeof(satchel_asset_list_options), SATCHEL_ASSET_ANY, SATCHEL_ASSET_USED_OR_NOT, \
      { NULL, 0 }, 0 }

/**
 * Lists the assets that a store has or refers to, in the order in which it learned of
 * them.
 *
 * | field    | type             | meaning                                             |
 * | -------- | ---------------- | --------------------------------------------------- |
 * | `assets` | array of objects | what the store @ref json_asset_info "knows of each" |
 * | `next`   | string or null   | the cursor of the next page; null after the last    |
 *
 * @param store     an open store
 * @param options   may be NULL
 * @param[out] out  a JSON object
 *
 * **Returns** SATCHEL_OK, or SATCHEL_EINVALID for invalid options.
 */
SATCHEL_API satchel_status satchel_assets_list(
    satchel_store *store, const satchel_asset_list_options *options, satchel_buffer *out);

/**
 * Removes the bytes of assets to which nothing refers, and of others that can be had again.
 *
 * With a limit, assets that can be had again are removed until all together have at most so
 * many bytes: variants first, then what only the catalogue refers to and was fetched from
 * URLs, then what is in the remote and no unsent change refers to, of each the least
 * recently used first. Never removed are the only known copies of what is
 * referred to, what belongs to an offline region, and what was put, dropped or read within
 * the last hour. The result is
 *
 * | field           | type    | meaning                                                |
 * | --------------- | ------- | ------------------------------------------------------ |
 * | `removed`       | integer | the assets whose bytes were removed                    |
 * | `removed_bytes` | integer | their bytes                                            |
 * | `bytes`         | integer | the bytes of all assets that are still here            |
 * | `only_copies`   | integer | of these, the only known copies of what is referred to |
 * | `recent`        | integer | the bytes that only the last hour has kept             |
 * | `over_budget`   | integer | the bytes above the limit                              |
 * | `pinned_bytes`  | integer | the bytes that would have been removed for the limit, and that offline regions keep |
 * | `waiting_files` | integer | the files that a later call deletes, because a reader or a backup uses the folder |
 *
 * @param store      an open store
 * @param max_bytes  the limit; INT64_MAX for none
 * @param[out] out   a JSON object; may be NULL
 *
 * **Returns** SATCHEL_OK; SATCHEL_EINVALID for a negative limit, and inside a batch;
 * SATCHEL_EREADONLY.
 */
SATCHEL_API satchel_status satchel_assets_prune(
    satchel_store *store, int64_t max_bytes, satchel_buffer *out);

/**
 * Checks that the bytes of all assets are there, and marks those that are not, so that they
 * can be fetched again. Deletes files without an asset.
 *
 * A read-only store is only checked. The progress is {"assets_done", "assets_total"}
 * (integers). The result is
 *
 * | field     | type             | meaning                                             |
 * | --------- | ---------------- | --------------------------------------------------- |
 * | `checked` | integer          | the assets that were looked at                      |
 * | `lost`    | array of strings | the SHA-256 of those whose file is lost             |
 * | `damaged` | array of strings | the SHA-256 of those that have other bytes          |
 * | `orphans` | integer          | the files without an asset                          |
 *
 * @param store     an open store
 * @param deep      reads and hashes all bytes; otherwise only sizes are compared
 * @param progress  may be NULL
 * @param context   passed to `progress`
 * @param[out] out  a JSON object; may be NULL
 *
 * **Returns** SATCHEL_OK, also when something is lost or damaged; SATCHEL_EINVALID inside a
 * batch; SATCHEL_ECANCELLED.
 */
SATCHEL_API satchel_status satchel_assets_verify(
    satchel_store *store, bool deep, satchel_progress_callback progress, void *context,
    satchel_buffer *out);

/**
 * Appends bytes to an asset.
 *
 * @param writer  the writer that the function of the host received
 * @param bytes   the bytes; copied
 *
 * **Returns** SATCHEL_OK; SATCHEL_EFULL for more bytes than are allowed. The asset is not
 * put then, whatever the function returns.
 *
 * **Threads** A function of the host may append on any thread, on one at a time, until it
 * returns.
 */
SATCHEL_API satchel_status satchel_asset_writer_append(
    satchel_asset_writer *writer, satchel_bytes bytes);

/**
 * Sets the media type of a variant, or of a thumbnail.
 *
 * @param writer  the writer
 * @param type    the media type; copied
 */
SATCHEL_API void satchel_asset_writer_type(
    satchel_asset_writer *writer, satchel_bytes type);

/**
 * Sets the ETag of what was fetched, which the next request has.
 *
 * @param writer  the writer
 * @param etag    the ETag, at most 1,024 bytes; copied
 */
SATCHEL_API void satchel_asset_writer_etag(
    satchel_asset_writer *writer, satchel_bytes etag);

/**
 * Sets the cause of a failure.
 *
 * The message must not contain credentials: the store keeps it.
 *
 * @param writer   the writer
 * @param message  the cause; copied
 */
SATCHEL_API void satchel_asset_writer_message(
    satchel_asset_writer *writer, satchel_bytes message);

/**
 * Returns whether the call that asks was cancelled.
 *
 * A function that takes long asks now and then, and returns any failure, which is not
 * counted.
 *
 * @param writer  the writer
 *
 * **Returns** Whether it was cancelled; false for a handle that is not valid.
 */
SATCHEL_API bool satchel_asset_writer_cancelled(satchel_asset_writer *writer);

/** Options for fetching assets; start from SATCHEL_ASSET_FETCH_OPTIONS_INIT. */
typedef struct satchel_asset_fetch_options {
    /** sizeof(satchel_asset_fetch_options). */
    size_t size;
    /** The maximum size of one asset in bytes, counted while it is received; 0 means 64
     *  MiB. */
    int64_t max_size;
    /** No asset is begun after so many bytes; 0 means no limit. */
    int64_t max_bytes;
    /** Asks URLs again that were fetched, with their ETag. */
    bool refresh;
    /** Asks URLs that have failed before their time. */
    bool ignore_backoff;
    /** Receives {"assets_done", "assets_total"} (integers). May be NULL. While a source
     *  that is a server sends an asset it is called again, so that false ends the transfer. */
    satchel_progress_callback progress;
    /** Passed to `progress`, and to the function that fetches. */
    void *context;
} satchel_asset_fetch_options;

/** The default options for fetching assets. */
#define SATCHEL_ASSET_FETCH_OPTIONS_INIT \
    { sizeof(satchel_asset_fetch_options), 0, 0, false, false, NULL, NULL }

/**
 * Gets the bytes of assets that are not here from their URLs.
 *
 * One asset that fails does not stop the others. Its URL is asked again after a minute at
 * the earliest, then after two, and so on up to a day. The result is
 *
 * | field           | type             | meaning                                          |
 * | --------------- | ---------------- | ------------------------------------------------ |
 * | `fetched`       | integer          | the assets whose bytes came                      |
 * | `fetched_bytes` | integer          | their bytes                                      |
 * | `present`       | integer          | those that were here, or had not changed         |
 * | `waiting`       | integer          | those whose turn comes later                     |
 * | `failed`        | array of objects | {"asset", "message", "retry_at"}: the reference, the cause, and the time of the next attempt in Unix ms, or null |
 *
 * @param store       an open store
 * @param references  a JSON array of @ref json_asset "references"
 * @param fetch       fetches a URL
 * @param options     may be NULL
 * @param[out] out    a JSON object; may be NULL
 *
 * **Returns** SATCHEL_OK, also when assets have failed; SATCHEL_EINVALID for an invalid
 * reference or option, and inside a batch; SATCHEL_ECANCELLED; SATCHEL_EREADONLY.
 */
SATCHEL_API satchel_status satchel_assets_fetch(
    satchel_store *store, satchel_bytes references, satchel_asset_fetch fetch,
    const satchel_asset_fetch_options *options, satchel_buffer *out);

/**
 * Gets the bytes of assets that are not here from their URLs, by a source.
 *
 * As satchel_assets_fetch().
 *
 * @param store       an open store
 * @param references  a JSON array of @ref json_asset "references"
 * @param source      fetches the URLs
 * @param options     may be NULL
 * @param[out] out    a JSON object; may be NULL
 *
 * **Returns** As satchel_assets_fetch().
 */
SATCHEL_API satchel_status satchel_assets_fetch_from(
    satchel_store *store, satchel_bytes references, satchel_source *source,
    const satchel_asset_fetch_options *options, satchel_buffer *out);

/**
 * Makes a variant of an asset, such as a thumbnail: a function of the host.
 *
 * It may use the store, but not close it.
 *
 * @param context  the context that was given with the function
 * @param reader   the open bytes of the asset; valid during the callback
 * @param writer   receives the bytes and the media type of the variant, or the cause of a
 *                 failure
 *
 * **Returns** Whether the variant was made.
 *
 * **Threads** Called on the thread of the call.
 */
typedef bool (*satchel_asset_variant)(
    void *context, satchel_asset_reader *reader, satchel_asset_writer *writer);

/**
 * Returns a variant of an asset, such as a thumbnail, which is made once.
 *
 * A variant is an asset of its own, which stays while the asset that it was derived from is
 * referred to, and is the first to be removed by satchel_assets_prune(): it can be made
 * again.
 *
 * @param store     an open store
 * @param asset     a @ref json_asset "reference" to an asset that is here, unless the
 *                  variant is
 * @param name      what the variant is, 1 to 128 bytes, such as "thumb@2"; another name
 *                  makes another variant
 * @param make      makes the variant when it is not here; two threads may make it at once
 * @param context   passed to `make`
 * @param[out] out  the @ref json_asset "reference" to the variant
 *
 * **Returns** As satchel_assets_read() and satchel_assets_put(); SATCHEL_EINVALID when
 * `make` returned false: the message is the cause that it has set.
 */
SATCHEL_API satchel_status satchel_assets_variant(
    satchel_store *store, satchel_bytes asset, satchel_bytes name,
    satchel_asset_variant make, void *context, satchel_buffer *out);

/**
 * Returns a JPEG or PNG scaled down, as a variant that the library makes: upright, never
 * larger than the picture, without its metadata.
 *
 * @param store         an open store
 * @param asset         a @ref json_asset "reference" to a picture that is here, unless the
 *                      variant is
 * @param longest_edge  the longer one of width and height, in pixels
 * @param[out] out      the @ref json_asset "reference" to the variant
 *
 * **Returns** As satchel_assets_read() and satchel_assets_put(); SATCHEL_EINVALID for a size
 * below 1, and for a picture that is damaged, too large, or neither JPEG nor PNG;
 * SATCHEL_EIO where libturbojpeg or libpng is not installed.
 */
SATCHEL_API satchel_status satchel_assets_scaled(
    satchel_store *store, satchel_bytes asset, int32_t longest_edge, satchel_buffer *out);

/**
 * Makes the thumbnail of a photo that the library does not scale: a function of the host.
 *
 * It may use the store, but not close it.
 *
 * @param context       the context that was given with the function
 * @param path          the photo's file; valid during the callback
 * @param longest_edge  the longer one of width and height that was asked for, in pixels
 * @param writer        receives the bytes and the media type of the thumbnail, or the cause
 *                      of a failure
 *
 * **Returns** Whether the thumbnail was made.
 *
 * **Threads** Called on the thread of the call.
 */
typedef bool (*satchel_photo_thumbnail)(
    void *context, const char *path, int32_t longest_edge, satchel_asset_writer *writer);

/**
 * Returns a thumbnail of a photo, made once from the photo's file.
 *
 * It is a variant among the assets of the store, and is returned although the photo's file
 * is elsewhere by now. JPEG and PNG are scaled as by satchel_assets_scaled(). What the
 * library does not scale is left to `make`: other formats, such as HEIC, files that are too
 * large or damaged, and all where libturbojpeg or libpng is not installed.
 *
 * @param photos        the catalogue
 * @param md5           the MD5 of the photo
 * @param longest_edge  the longer one of width and height, in pixels; 0 means 400
 * @param make          makes the thumbnail of a file that the library does not scale; two
 *                      threads may make it at once; may be NULL
 * @param context       passed to `make`
 * @param[out] out      the @ref json_asset "reference" to the thumbnail
 *
 * **Returns** SATCHEL_OK; SATCHEL_ENOTFOUND when there is no such photo, or no file of it on
 * this device; SATCHEL_EINVALID for a negative size, and when `make` returned false, with
 * the cause that it has set; without `make`, SATCHEL_EINVALID for a file that the library
 * does not scale, and SATCHEL_EIO where libturbojpeg or libpng is not installed;
 * SATCHEL_EREADONLY; SATCHEL_EFULL.
 */
SATCHEL_API satchel_status satchel_photos_thumbnail(
    satchel_photos *photos, satchel_bytes md5, int32_t longest_edge,
    satchel_photo_thumbnail make, void *context, satchel_buffer *out);

/**
 * Gets the bytes of assets that are not here from the remote that the store is synchronized
 * with. Every part is verified before it is stored.
 *
 * One asset that is not in the remote, or is damaged there, does not stop the others. The
 * result is that of satchel_assets_fetch().
 *
 * @param store       an open store
 * @param references  a JSON array of @ref json_asset "references"
 * @param remote      the remote of the last satchel_store_sync()
 * @param options     `max_bytes`, `progress` and `context` have an effect; may be NULL
 * @param[out] out    a JSON object; may be NULL
 *
 * **Returns** SATCHEL_OK; SATCHEL_EINVALID for a store that was never synchronized, and in a
 * batch; SATCHEL_EFOREIGN for another remote; SATCHEL_EUNAVAILABLE, SATCHEL_EAUTH,
 * SATCHEL_ECANCELLED, SATCHEL_EREADONLY.
 *
 * **Threads** Blocks; other calls do not wait for it.
 */
SATCHEL_API satchel_status satchel_assets_fetch_remote(
    satchel_store *store, satchel_bytes references, satchel_remote *remote,
    const satchel_asset_fetch_options *options, satchel_buffer *out);

/**
 * Reads bytes of an asset from the store or, where it does not have them, from the remote
 * that it is synchronized with, without storing them: a player seeks in a film before it is
 * here.
 *
 * @param store     an open store
 * @param asset     a @ref json_asset "reference"
 * @param remote    the remote of the last satchel_store_sync()
 * @param offset    of the first byte
 * @param count     the maximum number of bytes; fewer are returned at the end
 * @param[out] out  the bytes; emptied on failure
 *
 * **Returns** As satchel_assets_fetch_remote(); SATCHEL_ENOTFOUND for an asset that is not in
 * the remote; SATCHEL_EDAMAGED for one that is damaged there.
 *
 * **Ownership** The caller owns `*out`: satchel_buffer_free().
 *
 * **Threads** Blocks; other calls do not wait for it.
 */
SATCHEL_API satchel_status satchel_assets_read_remote(
    satchel_store *store, satchel_bytes asset, satchel_remote *remote, int64_t offset,
    int32_t count, satchel_buffer *out);

/** @} */

#ifdef __cplusplus
}
#endif

#endif /* SATCHEL_H */
