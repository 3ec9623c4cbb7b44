/* The tracer's calls that open, close, rename, link and remove files: see power_trace.c. */
#define _GNU_SOURCE
#include "power_trace.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/* ---- opening and closing ---- */

/* With the lock held, after a file below the root was opened. */
static void note_opened(int descriptor, int flags, bool existed) {
    char path[PATH_MAX];
    struct stat status;
    if (descriptor >= MAX_DESCRIPTORS) give_up("too many open files");
    path_of_descriptor(descriptor, path);
    if (fstat(descriptor, &status) != 0) give_up("an open file has no status");
    struct descriptor *entry = traced(descriptor);
    if (S_ISDIR(status.st_mode)) {
        *entry = (struct descriptor){.kind = DIRECTORY, .inode = status.st_ino};
    } else if (S_ISREG(status.st_mode) && is_recorded(path)) {
        *entry = (struct descriptor){.kind = REGULAR, .inode = status.st_ino, .is_wal = ends_with(path, "-wal")};
        if (!existed) record_event('C', status.st_ino, 0, path, strlen(path));
        else if (flags & O_TRUNC) record_event('T', status.st_ino, 0, NULL, 0);
    }
}

static int open_traced(int directory, const char *path, int flags, mode_t mode) {
    char resolved[PATH_MAX];
    int error = errno;
    resolve_path(directory, path, resolved);
    errno = error;
    if (!is_below_root(resolved)) {
        int descriptor = (int)syscall(SYS_openat, directory, path, flags, mode);
        if (descriptor >= 0) traced(descriptor)->kind = UNTRACED;
        return descriptor;
    }
    lock_trace();
    struct stat status;
    bool existed = fstatat(directory, path, &status, 0) == 0;
    errno = error;
    int descriptor = (int)syscall(SYS_openat, directory, path, flags, mode);
    if (descriptor >= 0) {
        traced(descriptor)->kind = UNTRACED;
        note_opened(descriptor, flags, existed);
    }
    unlock_trace();
    return descriptor;
}

#define MODE_ARGUMENT(flags, mode) \
    mode_t mode = 0; \
    if ((flags) & (O_CREAT | __O_TMPFILE)) { \
        va_list arguments; \
        va_start(arguments, flags); \
        mode = va_arg(arguments, mode_t); \
        va_end(arguments); \
    }

int open(const char *path, int flags, ...) {
    MODE_ARGUMENT(flags, mode)
    return open_traced(AT_FDCWD, path, flags, mode);
}

int open64(const char *path, int flags, ...) {
    MODE_ARGUMENT(flags, mode)
    return open_traced(AT_FDCWD, path, flags, mode);
}

int openat(int directory, const char *path, int flags, ...) {
    MODE_ARGUMENT(flags, mode)
    return open_traced(directory, path, flags, mode);
}

int openat64(int directory, const char *path, int flags, ...) {
    MODE_ARGUMENT(flags, mode)
    return open_traced(directory, path, flags, mode);
}

int creat(const char *path, mode_t mode) { return open_traced(AT_FDCWD, path, O_CREAT | O_WRONLY | O_TRUNC, mode); }
int creat64(const char *path, mode_t mode) { return creat(path, mode); }

int close(int descriptor) {
    traced(descriptor)->kind = UNTRACED;
    return (int)syscall(SYS_close, descriptor);
}

static int duplicated(int from, int to) {
    if (to >= 0 && from != to) *traced(to) = *traced(from);
    return to;
}

int dup(int from) { return duplicated(from, (int)syscall(SYS_dup, from)); }
int dup2(int from, int to) { return from == to ? to : duplicated(from, (int)syscall(SYS_dup3, from, to, 0)); }
int dup3(int from, int to, int flags) { return duplicated(from, (int)syscall(SYS_dup3, from, to, flags)); }

/* ---- directories ---- */

static int rename_traced(int from_directory, const char *from, int to_directory, const char *to, unsigned flags) {
    char old[PATH_MAX], new[PATH_MAX];
    resolve_path(from_directory, from, old);
    resolve_path(to_directory, to, new);
    lock_trace();
    int status = (int)syscall(SYS_renameat2, from_directory, from, to_directory, to, flags);
    if (status == 0 && (is_recorded(old) || is_recorded(new))) {
        if (flags & ~RENAME_NOREPLACE) record_event('?', 0, 0, "renameat2", 9);
        record_paths('R', old, new);
    }
    unlock_trace();
    return status;
}

int rename(const char *from, const char *to) { return rename_traced(AT_FDCWD, from, AT_FDCWD, to, 0); }

int renameat(int from_directory, const char *from, int to_directory, const char *to) {
    return rename_traced(from_directory, from, to_directory, to, 0);
}

int renameat2(int from_directory, const char *from, int to_directory, const char *to, unsigned flags) {
    return rename_traced(from_directory, from, to_directory, to, flags);
}

static int link_traced(int from_directory, const char *from, int to_directory, const char *to, int flags) {
    char old[PATH_MAX], new[PATH_MAX];
    resolve_path(from_directory, from, old);
    resolve_path(to_directory, to, new);
    lock_trace();
    int status = (int)syscall(SYS_linkat, from_directory, from, to_directory, to, flags);
    if (status == 0 && is_recorded(new)) record_paths('L', old, new);
    unlock_trace();
    return status;
}

int link(const char *from, const char *to) { return link_traced(AT_FDCWD, from, AT_FDCWD, to, 0); }

int linkat(int from_directory, const char *from, int to_directory, const char *to, int flags) {
    return link_traced(from_directory, from, to_directory, to, flags);
}

static int unlink_traced(int directory, const char *path, int flags) {
    char resolved[PATH_MAX];
    resolve_path(directory, path, resolved);
    lock_trace();
    int status = (int)syscall(SYS_unlinkat, directory, path, flags);
    if (status == 0 && is_recorded(resolved)) record_event(flags & AT_REMOVEDIR ? 'X' : 'U', 0, 0, resolved, strlen(resolved));
    unlock_trace();
    return status;
}

int unlink(const char *path) { return unlink_traced(AT_FDCWD, path, 0); }
int unlinkat(int directory, const char *path, int flags) { return unlink_traced(directory, path, flags); }
int rmdir(const char *path) { return unlink_traced(AT_FDCWD, path, AT_REMOVEDIR); }

int remove(const char *path) {
    struct stat status;
    return lstat(path, &status) == 0 && S_ISDIR(status.st_mode) ? rmdir(path) : unlink(path);
}

static int mkdir_traced(int directory, const char *path, mode_t mode) {
    char resolved[PATH_MAX];
    resolve_path(directory, path, resolved);
    lock_trace();
    int status = (int)syscall(SYS_mkdirat, directory, path, mode);
    if (status == 0 && is_below_root(resolved)) record_event('M', 0, 0, resolved, strlen(resolved));
    unlock_trace();
    return status;
}

int mkdir(const char *path, mode_t mode) { return mkdir_traced(AT_FDCWD, path, mode); }
int mkdirat(int directory, const char *path, mode_t mode) { return mkdir_traced(directory, path, mode); }
