/* The tracer's calls that write, truncate and sync files: see power_trace.c. */
#define _GNU_SOURCE
#include "power_trace.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

static int64_t wal_limit = -1;

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
    lock_trace();
    ssize_t written = syscall(SYS_pwrite64, descriptor, bytes, count, offset);
    if (written > 0) record_event('W', entry->inode, offset, bytes, (size_t)written);
    unlock_trace();
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
    lock_trace();
    bool appends = fcntl(descriptor, F_GETFL) & O_APPEND;
    off_t offset = lseek(descriptor, 0, appends ? SEEK_END : SEEK_CUR);
    ssize_t written = syscall(SYS_write, descriptor, bytes, count);
    if (written > 0) record_event('W', traced(descriptor)->inode, offset, bytes, (size_t)written);
    unlock_trace();
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
    lock_trace();
    int status = (int)syscall(SYS_ftruncate, descriptor, size);
    if (status == 0) record_event('T', traced(descriptor)->inode, size, NULL, 0);
    unlock_trace();
    return status;
}

int ftruncate64(int descriptor, off64_t size) { return ftruncate(descriptor, size); }

/* Calls that a program can do without are refused; the others are marked. */

int posix_fallocate(int descriptor, off_t offset, off_t count) {
    (void)offset, (void)count;
    if (is_regular(descriptor)) {
        lock_trace();
        record_event('?', traced(descriptor)->inode, 0, "posix_fallocate", 15);
        unlock_trace();
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
    char path[PATH_MAX];
    path_of_descriptor(descriptor, path);
    lock_trace();
    record_event(is_directory ? 'd' : 's', entry.inode, 0, path, is_directory ? strlen(path) : 0);
    unlock_trace();
    /* A sync makes durable what was written before it began, not what others write meanwhile. */
    lock_trace();
    record_event(is_directory ? 'D' : 'S', entry.inode, 0, NULL, 0);
    unlock_trace();
    return 0;
}

int fsync(int descriptor) { return sync_traced(descriptor, SYS_fsync); }
int fdatasync(int descriptor) { return sync_traced(descriptor, SYS_fdatasync); }
