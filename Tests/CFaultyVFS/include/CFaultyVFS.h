/*
 * A simulated disk for tests of SQLite that fails on request: a VFS above the
 * default one. Each has its own name and its own faults, so that tests may run
 * in parallel. It is never freed: connections may outlive a test.
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
    FAULTY_SHORT  /* a write stores half of its bytes, then ENOSPC; other operations: EIO */
};

/* Registers a VFS; returns NULL when that fails. The name is copied. */
faulty_vfs *faulty_vfs_make(const char *name);

/*
 * Makes the n-th operation from now on fail (1 is the next), and with `for_good`
 * all later ones of its kind. n = 0 removes the fault.
 */
void faulty_vfs_fail(faulty_vfs *disk, enum faulty_operation operation, int64_t n, enum faulty_kind kind,
                     bool for_good);

/* Limits the total size of the files opened through it; -1 is unlimited. */
void faulty_vfs_limit(faulty_vfs *disk, int64_t bytes);

/* Calls `act` once, after the next database file was opened and before SQLite locks it. */
void faulty_vfs_after_opening(faulty_vfs *disk, void (*act)(void *context), void *context);

/*
 * Calls `act` with the path of each file that is synced, instead of syncing it; NULL ends that. It must not
 * use the disk.
 */
void faulty_vfs_on_sync(faulty_vfs *disk, void (*act)(void *context, const char *path), void *context);

/* Returns the number of operations of a kind since the VFS was created. */
int64_t faulty_vfs_count(faulty_vfs *disk, enum faulty_operation operation);

/* Returns the number of failed operations. */
int64_t faulty_vfs_hits(faulty_vfs *disk);

/* Returns the total size of its files in bytes. */
int64_t faulty_vfs_used(faulty_vfs *disk);

#endif
