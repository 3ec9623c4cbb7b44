/*
 * Records what processes do to the files of a directory. Preloaded into the
 * processes that Tests/crash/power.py starts.
 *
 * TRACE_ROOT names the directory, TRACE_FILE the trace. Several processes may
 * write one trace: each of them holds a lock on it while it makes a system call
 * and appends the event, so the order of the events is the order of effects.
 * An event is a `struct event`, followed by `length` bytes:
 *
 *   C  a file was created                         data: its path
 *   W  bytes were written at `offset`             data: the bytes
 *   T  a file was truncated or extended to `offset`
 *   s  a sync of a file began                     S  it ended
 *   d  a sync of a directory began, data: its path D  it ended
 *   M  a directory was made, X it was removed     data: its path
 *   R  a rename, L a hard link                    data: both paths, 0 between
 *   U  a file was removed                         data: its path
 *   A  a mark of the test                         data: its text
 *   ?  a call that this tracer does not know: the trace is not complete
 *
 * power_trace_files.c has the calls that open, close, rename, link and remove
 * files, power_trace_writes.c those that write, truncate and sync them.
 *
 * Nothing is synced for real. Files whose names end in -shm are left out:
 * shared memory does not survive a loss of power.
 */
#define _GNU_SOURCE
#include "power_trace.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

enum { TRACE_DESCRIPTOR = 900 };

struct event {
    char type;
    char padding[3];
    uint32_t thread;
    uint64_t inode;
    int64_t offset;
    uint64_t length;
};

static char root[PATH_MAX];
static size_t root_length;
static int trace = -1;
static struct descriptor descriptors[MAX_DESCRIPTORS];
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

/* ---- the trace ---- */

void give_up(const char *reason) {
    fprintf(stderr, "power_trace: %s\n", reason);
    abort();
}

__attribute__((constructor)) static void start(void) {
    const char *directory = getenv("TRACE_ROOT"), *file = getenv("TRACE_FILE");
    if (!directory || !file) return;
    if (!realpath(directory, root)) give_up("TRACE_ROOT is not a directory");
    root_length = strlen(root);
    int opened = (int)syscall(SYS_openat, AT_FDCWD, file, O_WRONLY | O_CREAT | O_CLOEXEC | O_APPEND, 0644);
    /* Out of the way: programs expect the lowest free number. */
    trace = opened < 0 ? -1 : fcntl(opened, F_DUPFD_CLOEXEC, TRACE_DESCRIPTOR);
    if (trace < 0) give_up("TRACE_FILE cannot be opened");
    syscall(SYS_close, opened);
}

/* A POSIX lock belongs to the process, so that forked processes exclude each other; the mutex excludes threads. */
static void set_file_lock(short type) {
    struct flock whole = {.l_type = type, .l_whence = SEEK_SET};
    while (fcntl(trace, F_SETLKW, &whole) != 0) {
        if (errno != EINTR) give_up("the trace cannot be locked");
    }
}

void lock_trace(void) {
    pthread_mutex_lock(&mutex);
    if (trace >= 0) set_file_lock(F_WRLCK);
}

void unlock_trace(void) {
    int error = errno;
    if (trace >= 0) set_file_lock(F_UNLCK);
    pthread_mutex_unlock(&mutex);
    errno = error;
}

void record_event(char type, uint64_t inode, int64_t offset, const void *data, size_t length) {
    if (trace < 0) return;
    int error = errno;
    struct event event = {.type = type, .thread = (uint32_t)syscall(SYS_gettid), .inode = inode, .offset = offset,
                          .length = length};
    struct iovec parts[2] = {{&event, sizeof event}, {(void *)data, length}};
    if (syscall(SYS_writev, trace, parts, 2) != (long)(sizeof event + length)) give_up("the trace cannot be written");
    errno = error;
}

void record_paths(char type, const char *from, const char *to) {
    char both[2 * PATH_MAX];
    size_t first = strlen(from) + 1, second = strlen(to);
    memcpy(both, from, first);
    memcpy(both + first, to, second);
    record_event(type, 0, 0, both, first + second);
}

void power_mark(const char *text) {
    lock_trace();
    record_event('A', 0, 0, text, strlen(text));
    unlock_trace();
}

/* ---- paths and descriptors ---- */

bool is_below_root(const char *path) {
    return trace >= 0 && strncmp(path, root, root_length) == 0 &&
           (path[root_length] == '/' || path[root_length] == 0);
}

bool ends_with(const char *path, const char *suffix) {
    size_t length = strlen(path), tail = strlen(suffix);
    return length >= tail && strcmp(path + length - tail, suffix) == 0;
}

bool is_recorded(const char *path) { return is_below_root(path) && !ends_with(path, "-shm"); }

void path_of_descriptor(int descriptor, char *path) {
    char link[64];
    snprintf(link, sizeof link, "/proc/self/fd/%d", descriptor);
    ssize_t length = readlink(link, path, PATH_MAX - 1);
    path[length > 0 ? length : 0] = 0;
}

void resolve_path(int directory, const char *path, char *resolved) {
    char joined[2 * PATH_MAX], parent[PATH_MAX];
    if (path[0] == '/') {
        snprintf(joined, sizeof joined, "%s", path);
    } else {
        if (directory != AT_FDCWD) path_of_descriptor(directory, parent);
        else if (!getcwd(parent, sizeof parent)) parent[0] = 0;
        snprintf(joined, sizeof joined, "%s/%s", parent, path);
    }
    char *name = strrchr(joined, '/');
    *name++ = 0;
    if (!realpath(joined[0] ? joined : "/", parent)) parent[0] = 0;
    if (snprintf(resolved, PATH_MAX, "%s/%s", parent, name) >= PATH_MAX) give_up("a path is too long");
}

struct descriptor *traced(int descriptor) {
    static struct descriptor none;
    return descriptor >= 0 && descriptor < MAX_DESCRIPTORS ? &descriptors[descriptor] : &none;
}

bool is_regular(int descriptor) { return traced(descriptor)->kind == REGULAR; }
