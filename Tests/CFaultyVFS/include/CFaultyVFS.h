/*
 * A disk for tests of SQLite that fails when it is told to: a VFS over the
 * default one. Each has its own name and its own faults, so that tests may run
 * side by side. One is never given back: connections may outlive a test.
 */
#ifndef CFAULTYVFS_H
#define CFAULTYVFS_H

#include <stdbool.h>
#include <stdint.h>

typedef struct faulty_vfs faulty_vfs;

enum faulty_operation {
    FAULTY_READ,
    FAULTY_WRITE,
    FAULTY_SYNC,
    FAULTY_TRUNCATE,
    FAULTY_OPEN,
    FAULTY_DELETE,
    FAULTY_SHARED_MEMORY,
    FAULTY_OPERATIONS
};

enum faulty_kind {
    FAULTY_IO,    /* EIO */
    FAULTY_FULL,  /* ENOSPC */
    FAULTY_SHORT  /* half is written, then there is no room; else as EIO */
};

/* Registers a VFS; NULL when that fails. The name is copied. */
faulty_vfs *faulty_vfs_make(const char *name);

/*
 * Lets the n-th operation from now on fail (1 is the next), and with `for_good`
 * all of that sort behind it. n = 0 takes the fault back.
 */
void faulty_vfs_fail(faulty_vfs *disk, enum faulty_operation operation, int64_t n, enum faulty_kind kind,
                     bool for_good);

/* The files opened through it may take so many bytes together; -1 any. */
void faulty_vfs_limit(faulty_vfs *disk, int64_t bytes);

/* Operations of a sort since the disk was made. */
int64_t faulty_vfs_count(faulty_vfs *disk, enum faulty_operation operation);

/* How many operations were made to fail. */
int64_t faulty_vfs_hits(faulty_vfs *disk);

/* Bytes that its files take. */
int64_t faulty_vfs_used(faulty_vfs *disk);

#endif
