/* Declarations that the files of the tracer share: see power_trace.c. */
#ifndef POWER_TRACE_H
#define POWER_TRACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { MAX_DESCRIPTORS = 4096 };

/* A descriptor of the process. */
struct descriptor {
    enum { UNTRACED, REGULAR, DIRECTORY } kind;
    uint64_t inode;
    bool is_wal;
};

/* Hidden: the library is preloaded, and would take the place of functions of the same names in other libraries. */
#pragma GCC visibility push(hidden)

/* Ends the process with a message. */
void give_up(const char *reason);

/* Excludes the other threads, and the other processes that write the trace. unlock_trace() keeps errno, which
   belongs to the traced call. */
void lock_trace(void);
void unlock_trace(void);

/* Appends an event; requires the lock. */
void record_event(char type, uint64_t inode, int64_t offset, const void *data, size_t length);
void record_paths(char type, const char *from, const char *to);

/* Whether a path is the traced directory or is below it. */
bool is_below_root(const char *path);
/* Whether changes of a path are recorded. */
bool is_recorded(const char *path);
bool ends_with(const char *path, const char *suffix);
void path_of_descriptor(int descriptor, char *path);
/* Returns the path with its directory resolved; the last component may be a link, or may not exist. */
void resolve_path(int directory, const char *path, char *resolved);

/* Returns the entry of a descriptor: that of an untraced file for an invalid one. */
struct descriptor *traced(int descriptor);
/* Whether a descriptor is an open file whose changes are recorded. */
bool is_regular(int descriptor);

#pragma GCC visibility pop

#endif
