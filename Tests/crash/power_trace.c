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
 *   d  a sync of a directory began                D  it ended
 *   R  a rename, L a hard link                    data: both paths, 0 between
 *   U  a file was removed                         data: its path
 *   A  a mark of the test                         data: its text
 *   ?  a call that this tracer does not know: the trace is not complete
 *
 * Nothing is synced for real. Files whose names end in -shm are left out:
 * shared memory does not survive a loss of power.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

enum { MAX_DESCRIPTORS = 4096, TRACE_DESCRIPTOR = 900 };

struct event {
    char type;
    char padding[3];
    uint32_t thread;
    uint64_t inode;
    int64_t offset;
    uint64_t length;
};

struct descriptor {
    enum { UNTRACED, REGULAR, DIRECTORY } kind;
    uint64_t inode;
    bool is_wal;
};

static char root[PATH_MAX];
static size_t root_length;
static int trace = -1;
static struct descriptor descriptors[MAX_DESCRIPTORS];
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int64_t wal_limit = -1;

/* ---- the trace ---- */

static void give_up(const char *reason) {
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
static void lock(int type) {
    struct flock whole = {.l_type = (short)type, .l_whence = SEEK_SET};
    while (fcntl(trace, F_SETLKW, &whole) != 0) {
        if (errno != EINTR) give_up("the trace cannot be locked");
    }
}

static void begin(void) {
    pthread_mutex_lock(&mutex);
    if (trace >= 0) lock(F_WRLCK);
}

/* Keeps errno: it is the answer of the traced call. */
static void end(void) {
    int error = errno;
    if (trace >= 0) lock(F_UNLCK);
    pthread_mutex_unlock(&mutex);
    errno = error;
}

static void emit(char type, uint64_t inode, int64_t offset, const void *data, size_t length) {
    if (trace < 0) return;
    int error = errno;
    struct event event = {.type = type, .thread = (uint32_t)syscall(SYS_gettid), .inode = inode, .offset = offset,
                          .length = length};
    struct iovec parts[2] = {{&event, sizeof event}, {(void *)data, length}};
    if (syscall(SYS_writev, trace, parts, 2) != (long)(sizeof event + length)) give_up("the trace cannot be written");
    errno = error;
}

static void emit_paths(char type, const char *from, const char *to) {
    char both[2 * PATH_MAX];
    size_t first = strlen(from) + 1, second = strlen(to);
    memcpy(both, from, first);
    memcpy(both + first, to, second);
    emit(type, 0, 0, both, first + second);
}

/* ---- paths and descriptors ---- */

static bool is_below_root(const char *path) {
    return trace >= 0 && strncmp(path, root, root_length) == 0 &&
           (path[root_length] == '/' || path[root_length] == 0);
}

static bool ends_with(const char *path, const char *suffix) {
    size_t length = strlen(path), tail = strlen(suffix);
    return length >= tail && strcmp(path + length - tail, suffix) == 0;
}

static bool is_recorded(const char *path) { return is_below_root(path) && !ends_with(path, "-shm"); }

static void path_of(int descriptor, char *path) {
    char link[64];
    snprintf(link, sizeof link, "/proc/self/fd/%d", descriptor);
    ssize_t length = readlink(link, path, PATH_MAX - 1);
    path[length > 0 ? length : 0] = 0;
}

/* The path with its directory resolved; the last component may be a link, or may not exist. */
static void resolve(int directory, const char *path, char *resolved) {
    char joined[2 * PATH_MAX], parent[PATH_MAX];
    if (path[0] == '/') {
        snprintf(joined, sizeof joined, "%s", path);
    } else {
        if (directory != AT_FDCWD) path_of(directory, parent);
        else if (!getcwd(parent, sizeof parent)) parent[0] = 0;
        snprintf(joined, sizeof joined, "%s/%s", parent, path);
    }
    char *name = strrchr(joined, '/');
    *name++ = 0;
    if (!realpath(joined[0] ? joined : "/", parent)) parent[0] = 0;
    if (snprintf(resolved, PATH_MAX, "%s/%s", parent, name) >= PATH_MAX) give_up("a path is too long");
}

static struct descriptor *traced(int descriptor) {
    static struct descriptor none;
    return descriptor >= 0 && descriptor < MAX_DESCRIPTORS ? &descriptors[descriptor] : &none;
}

static bool is_regular(int descriptor) { return traced(descriptor)->kind == REGULAR; }

/* ---- opening and closing ---- */

/* With the lock held, after a file below the root was opened. */
static void note_opened(int descriptor, int flags, bool existed) {
    char path[PATH_MAX];
    struct stat status;
    if (descriptor >= MAX_DESCRIPTORS) give_up("too many open files");
    path_of(descriptor, path);
    if (fstat(descriptor, &status) != 0) give_up("an open file has no status");
    struct descriptor *entry = &descriptors[descriptor];
    if (S_ISDIR(status.st_mode)) {
        *entry = (struct descriptor){.kind = DIRECTORY, .inode = status.st_ino};
    } else if (S_ISREG(status.st_mode) && is_recorded(path)) {
        *entry = (struct descriptor){.kind = REGULAR, .inode = status.st_ino, .is_wal = ends_with(path, "-wal")};
        if (!existed) emit('C', status.st_ino, 0, path, strlen(path));
        else if (flags & O_TRUNC) emit('T', status.st_ino, 0, NULL, 0);
    }
}

static int open_traced(int directory, const char *path, int flags, mode_t mode) {
    char resolved[PATH_MAX];
    int error = errno;
    resolve(directory, path, resolved);
    errno = error;
    if (!is_below_root(resolved)) {
        int descriptor = (int)syscall(SYS_openat, directory, path, flags, mode);
        if (descriptor >= 0) traced(descriptor)->kind = UNTRACED;
        return descriptor;
    }
    begin();
    struct stat status;
    bool existed = fstatat(directory, path, &status, 0) == 0;
    errno = error;
    int descriptor = (int)syscall(SYS_openat, directory, path, flags, mode);
    if (descriptor >= 0) {
        traced(descriptor)->kind = UNTRACED;
        note_opened(descriptor, flags, existed);
    }
    end();
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

/* ---- writing ---- */

/* Lets no write-ahead log of this process grow beyond so many bytes; -1: without a limit. */
void power_limit_wal(int64_t bytes) { wal_limit = bytes; }

static ssize_t write_at(int descriptor, const void *bytes, size_t count, off_t offset) {
    struct descriptor *entry = traced(descriptor);
    if (entry->kind != REGULAR) return syscall(SYS_pwrite64, descriptor, bytes, count, offset);
    if (entry->is_wal && wal_limit >= 0 && offset + (int64_t)count > wal_limit) {
        errno = ENOSPC;
        return -1;
    }
    begin();
    ssize_t written = syscall(SYS_pwrite64, descriptor, bytes, count, offset);
    if (written > 0) emit('W', entry->inode, offset, bytes, (size_t)written);
    end();
    return written;
}

ssize_t pwrite(int descriptor, const void *bytes, size_t count, off_t offset) {
    return write_at(descriptor, bytes, count, offset);
}

ssize_t pwrite64(int descriptor, const void *bytes, size_t count, off64_t offset) {
    return write_at(descriptor, bytes, count, offset);
}

ssize_t write(int descriptor, const void *bytes, size_t count) {
    if (!is_regular(descriptor)) return syscall(SYS_write, descriptor, bytes, count);
    begin();
    bool appends = fcntl(descriptor, F_GETFL) & O_APPEND;
    off_t offset = lseek(descriptor, 0, appends ? SEEK_END : SEEK_CUR);
    ssize_t written = syscall(SYS_write, descriptor, bytes, count);
    if (written > 0) emit('W', traced(descriptor)->inode, offset, bytes, (size_t)written);
    end();
    return written;
}

ssize_t writev(int descriptor, const struct iovec *parts, int count) {
    if (!is_regular(descriptor)) return syscall(SYS_writev, descriptor, parts, count);
    ssize_t total = 0;
    for (int i = 0; i < count; i++) {
        ssize_t written = write(descriptor, parts[i].iov_base, parts[i].iov_len);
        if (written < 0) return total ? total : written;
        total += written;
        if ((size_t)written < parts[i].iov_len) break;
    }
    return total;
}

ssize_t pwritev(int descriptor, const struct iovec *parts, int count, off_t offset) {
    if (!is_regular(descriptor)) return syscall(SYS_pwritev, descriptor, parts, count, offset, 0);
    ssize_t total = 0;
    for (int i = 0; i < count; i++) {
        ssize_t written = write_at(descriptor, parts[i].iov_base, parts[i].iov_len, offset + total);
        if (written < 0) return total ? total : written;
        total += written;
        if ((size_t)written < parts[i].iov_len) break;
    }
    return total;
}

ssize_t pwritev64(int descriptor, const struct iovec *parts, int count, off64_t offset) {
    return pwritev(descriptor, parts, count, offset);
}

int ftruncate(int descriptor, off_t size) {
    if (!is_regular(descriptor)) return (int)syscall(SYS_ftruncate, descriptor, size);
    begin();
    int status = (int)syscall(SYS_ftruncate, descriptor, size);
    if (status == 0) emit('T', traced(descriptor)->inode, size, NULL, 0);
    end();
    return status;
}

int ftruncate64(int descriptor, off64_t size) { return ftruncate(descriptor, size); }

/* What a program can do without is refused; what it cannot do without is marked. */

int posix_fallocate(int descriptor, off_t offset, off_t count) {
    (void)offset, (void)count;
    if (is_regular(descriptor)) {
        begin();
        emit('?', traced(descriptor)->inode, 0, "posix_fallocate", 15);
        end();
    }
    return EOPNOTSUPP;
}

int posix_fallocate64(int descriptor, off64_t offset, off64_t count) {
    return posix_fallocate(descriptor, offset, count);
}

int fallocate(int descriptor, int mode, off_t offset, off_t count) {
    if (!is_regular(descriptor)) return (int)syscall(SYS_fallocate, descriptor, mode, offset, count);
    errno = EOPNOTSUPP;
    return -1;
}

int fallocate64(int descriptor, int mode, off64_t offset, off64_t count) {
    return fallocate(descriptor, mode, offset, count);
}

ssize_t copy_file_range(int from, off64_t *read_at, int to, off64_t *put_at, size_t count, unsigned flags) {
    if (!is_regular(to)) return syscall(SYS_copy_file_range, from, read_at, to, put_at, count, flags);
    errno = ENOSYS;
    return -1;
}

ssize_t sendfile(int to, int from, off_t *offset, size_t count) {
    if (!is_regular(to)) return syscall(SYS_sendfile, to, from, offset, count);
    errno = EINVAL;
    return -1;
}

ssize_t sendfile64(int to, int from, off64_t *offset, size_t count) { return sendfile(to, from, offset, count); }

/* ---- syncing ---- */

static int sync_traced(int descriptor, long call) {
    struct descriptor entry = *traced(descriptor);
    if (entry.kind == UNTRACED) return (int)syscall(call, descriptor);
    bool is_directory = entry.kind == DIRECTORY;
    begin();
    emit(is_directory ? 'd' : 's', entry.inode, 0, NULL, 0);
    end();
    /* What others do now is not part of the sync: only what was done before it began is durable when it ends. */
    begin();
    emit(is_directory ? 'D' : 'S', entry.inode, 0, NULL, 0);
    end();
    return 0;
}

int fsync(int descriptor) { return sync_traced(descriptor, SYS_fsync); }
int fdatasync(int descriptor) { return sync_traced(descriptor, SYS_fdatasync); }

/* ---- directories ---- */

static int rename_traced(int from_directory, const char *from, int to_directory, const char *to, unsigned flags) {
    char old[PATH_MAX], new[PATH_MAX];
    resolve(from_directory, from, old);
    resolve(to_directory, to, new);
    begin();
    int status = (int)syscall(SYS_renameat2, from_directory, from, to_directory, to, flags);
    if (status == 0 && (is_recorded(old) || is_recorded(new))) {
        if (flags & ~RENAME_NOREPLACE) emit('?', 0, 0, "renameat2", 9);
        emit_paths('R', old, new);
    }
    end();
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
    resolve(from_directory, from, old);
    resolve(to_directory, to, new);
    begin();
    int status = (int)syscall(SYS_linkat, from_directory, from, to_directory, to, flags);
    if (status == 0 && is_recorded(new)) emit_paths('L', old, new);
    end();
    return status;
}

int link(const char *from, const char *to) { return link_traced(AT_FDCWD, from, AT_FDCWD, to, 0); }

int linkat(int from_directory, const char *from, int to_directory, const char *to, int flags) {
    return link_traced(from_directory, from, to_directory, to, flags);
}

static int unlink_traced(int directory, const char *path, int flags) {
    char resolved[PATH_MAX];
    resolve(directory, path, resolved);
    begin();
    int status = (int)syscall(SYS_unlinkat, directory, path, flags);
    if (status == 0 && is_recorded(resolved)) emit(flags & AT_REMOVEDIR ? '?' : 'U', 0, 0, resolved, strlen(resolved));
    end();
    return status;
}

int unlink(const char *path) { return unlink_traced(AT_FDCWD, path, 0); }
int unlinkat(int directory, const char *path, int flags) { return unlink_traced(directory, path, flags); }
int rmdir(const char *path) { return unlink_traced(AT_FDCWD, path, AT_REMOVEDIR); }

int remove(const char *path) {
    struct stat status;
    return lstat(path, &status) == 0 && S_ISDIR(status.st_mode) ? rmdir(path) : unlink(path);
}

int mkdir(const char *path, mode_t mode) {
    char resolved[PATH_MAX];
    resolve(AT_FDCWD, path, resolved);
    begin();
    int status = (int)syscall(SYS_mkdirat, AT_FDCWD, path, mode);
    if (status == 0 && is_below_root(resolved)) emit('?', 0, 0, "mkdir", 5);
    end();
    return status;
}

/* ---- for the test ---- */

void power_mark(const char *text) {
    begin();
    emit('A', 0, 0, text, strlen(text));
    end();
}
