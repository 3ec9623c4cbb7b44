/*
 * A VFS in front of the default one that stops a thread at a chosen point, so that a test
 * decides what another connection does meanwhile.
 *
 * No stop is without end: after STALL_SECONDS a thread continues on its own, and stall_wait
 * reports a point that is not reached in time.
 */
#ifndef STALLING_VFS_H
#define STALLING_VFS_H

#include <pthread.h>
#include <sqlite3.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum stall_point {
    /* In a checkpoint, after it has read the header of the WAL-index and before it reads how
     * many frames were copied. It is known by xUnfetch(0, NULL), which SQLite calls there. */
    IN_CHECKPOINT,
    /* Where a connection asks whether its file has moved: SQLITE_FCNTL_HAS_MOVED. */
    AT_HAS_MOVED,
    STALL_POINTS
};

enum { STALL_SECONDS = 300 };

struct stall {
    bool is_armed, is_reached, is_released;
};

struct stalling_file {
    sqlite3_file base;
    sqlite3_file *real;
};

static sqlite3_vfs *stall_real, stall_vfs;
static pthread_mutex_t stall_mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t stall_changed = PTHREAD_COND_INITIALIZER;
static struct stall stalls[STALL_POINTS];

static struct timespec stall_deadline(int seconds) {
    struct timespec time;
    clock_gettime(CLOCK_REALTIME, &time);
    time.tv_sec += seconds;
    return time;
}

/* The next thread that comes to the point stops there. */
static void stall_arm(enum stall_point point) {
    pthread_mutex_lock(&stall_mutex);
    stalls[point] = (struct stall){.is_armed = true};
    pthread_mutex_unlock(&stall_mutex);
}

/* Waits until a thread has come to the point; false when none does. */
static bool stall_wait(enum stall_point point, int seconds) {
    struct timespec deadline = stall_deadline(seconds);
    int code = 0;
    pthread_mutex_lock(&stall_mutex);
    while (!stalls[point].is_reached && code == 0)
        code = pthread_cond_timedwait(&stall_changed, &stall_mutex, &deadline);
    bool is_reached = stalls[point].is_reached;
    pthread_mutex_unlock(&stall_mutex);
    return is_reached;
}

/* Lets the thread go on, and stops no other. */
static void stall_release(enum stall_point point) {
    pthread_mutex_lock(&stall_mutex);
    stalls[point].is_armed = false;
    stalls[point].is_released = true;
    pthread_cond_broadcast(&stall_changed);
    pthread_mutex_unlock(&stall_mutex);
}

static void stall_here(enum stall_point point) {
    struct timespec deadline = stall_deadline(STALL_SECONDS);
    int code = 0;
    pthread_mutex_lock(&stall_mutex);
    if (stalls[point].is_armed) {
        stalls[point].is_armed = false;
        stalls[point].is_reached = true;
        pthread_cond_broadcast(&stall_changed);
        while (!stalls[point].is_released && code == 0)
            code = pthread_cond_timedwait(&stall_changed, &stall_mutex, &deadline);
    }
    pthread_mutex_unlock(&stall_mutex);
}

/* ---- the file ---- */

#define STALL_REAL(file) (((struct stalling_file *)(file))->real)

static int stalling_close(sqlite3_file *file) {
    return STALL_REAL(file)->pMethods ? STALL_REAL(file)->pMethods->xClose(STALL_REAL(file)) : SQLITE_OK;
}
static int stalling_read(sqlite3_file *file, void *into, int count, sqlite3_int64 offset) {
    return STALL_REAL(file)->pMethods->xRead(STALL_REAL(file), into, count, offset);
}
static int stalling_write(sqlite3_file *file, const void *from, int count, sqlite3_int64 offset) {
    return STALL_REAL(file)->pMethods->xWrite(STALL_REAL(file), from, count, offset);
}
static int stalling_truncate(sqlite3_file *file, sqlite3_int64 size) {
    return STALL_REAL(file)->pMethods->xTruncate(STALL_REAL(file), size);
}
static int stalling_sync(sqlite3_file *file, int flags) {
    return STALL_REAL(file)->pMethods->xSync(STALL_REAL(file), flags);
}
static int stalling_size(sqlite3_file *file, sqlite3_int64 *size) {
    return STALL_REAL(file)->pMethods->xFileSize(STALL_REAL(file), size);
}
static int stalling_lock(sqlite3_file *file, int level) {
    return STALL_REAL(file)->pMethods->xLock(STALL_REAL(file), level);
}
static int stalling_unlock(sqlite3_file *file, int level) {
    return STALL_REAL(file)->pMethods->xUnlock(STALL_REAL(file), level);
}
static int stalling_is_reserved(sqlite3_file *file, int *out) {
    return STALL_REAL(file)->pMethods->xCheckReservedLock(STALL_REAL(file), out);
}
static int stalling_control(sqlite3_file *file, int operation, void *argument) {
    int code = STALL_REAL(file)->pMethods->xFileControl(STALL_REAL(file), operation, argument);
    if (operation == SQLITE_FCNTL_HAS_MOVED) stall_here(AT_HAS_MOVED);
    return code;
}
static int stalling_sector(sqlite3_file *file) { return STALL_REAL(file)->pMethods->xSectorSize(STALL_REAL(file)); }
static int stalling_traits(sqlite3_file *file) {
    return STALL_REAL(file)->pMethods->xDeviceCharacteristics(STALL_REAL(file));
}
static int stalling_shm_map(sqlite3_file *file, int page, int size, int extend, void volatile **out) {
    return STALL_REAL(file)->pMethods->xShmMap(STALL_REAL(file), page, size, extend, out);
}
static int stalling_shm_lock(sqlite3_file *file, int offset, int count, int flags) {
    return STALL_REAL(file)->pMethods->xShmLock(STALL_REAL(file), offset, count, flags);
}
static void stalling_shm_barrier(sqlite3_file *file) { STALL_REAL(file)->pMethods->xShmBarrier(STALL_REAL(file)); }
static int stalling_shm_unmap(sqlite3_file *file, int deletes) {
    return STALL_REAL(file)->pMethods->xShmUnmap(STALL_REAL(file), deletes);
}
static int stalling_fetch(sqlite3_file *file, sqlite3_int64 offset, int count, void **out) {
    return STALL_REAL(file)->pMethods->xFetch(STALL_REAL(file), offset, count, out);
}
static int stalling_unfetch(sqlite3_file *file, sqlite3_int64 offset, void *page) {
    if (offset == 0 && !page) stall_here(IN_CHECKPOINT);
    return STALL_REAL(file)->pMethods->xUnfetch(STALL_REAL(file), offset, page);
}

static const sqlite3_io_methods stalling_methods = {
    .iVersion = 3,
    .xClose = stalling_close,
    .xRead = stalling_read,
    .xWrite = stalling_write,
    .xTruncate = stalling_truncate,
    .xSync = stalling_sync,
    .xFileSize = stalling_size,
    .xLock = stalling_lock,
    .xUnlock = stalling_unlock,
    .xCheckReservedLock = stalling_is_reserved,
    .xFileControl = stalling_control,
    .xSectorSize = stalling_sector,
    .xDeviceCharacteristics = stalling_traits,
    .xShmMap = stalling_shm_map,
    .xShmLock = stalling_shm_lock,
    .xShmBarrier = stalling_shm_barrier,
    .xShmUnmap = stalling_shm_unmap,
    .xFetch = stalling_fetch,
    .xUnfetch = stalling_unfetch,
};

/* ---- the VFS ---- */

enum { STALLING_SIZE = (sizeof(struct stalling_file) + 15) & ~15u };

/* Files other than the database, its log among them, belong to the real VFS alone. */
static int stalling_open(sqlite3_vfs *vfs, sqlite3_filename name, sqlite3_file *file, int flags, int *out) {
    (void)vfs;
    if (!(flags & SQLITE_OPEN_MAIN_DB)) return stall_real->xOpen(stall_real, name, file, flags, out);
    struct stalling_file *own = (struct stalling_file *)file;
    own->real = (sqlite3_file *)((char *)file + STALLING_SIZE);
    own->real->pMethods = NULL;
    int code = stall_real->xOpen(stall_real, name, own->real, flags, out);
    own->base.pMethods = own->real->pMethods ? &stalling_methods : NULL;
    return code;
}
static int stalling_delete(sqlite3_vfs *vfs, const char *name, int syncs) {
    (void)vfs;
    return stall_real->xDelete(stall_real, name, syncs);
}
static int stalling_access(sqlite3_vfs *vfs, const char *name, int flags, int *out) {
    (void)vfs;
    return stall_real->xAccess(stall_real, name, flags, out);
}
static int stalling_path(sqlite3_vfs *vfs, const char *name, int count, char *out) {
    (void)vfs;
    return stall_real->xFullPathname(stall_real, name, count, out);
}

/* Makes it the default VFS: a library that puts its own in front of the default one is stopped as well. */
static void stall_install(void) {
    sqlite3_initialize();
    stall_real = sqlite3_vfs_find(NULL);
    stall_vfs = *stall_real;
    stall_vfs.zName = "stalling";
    stall_vfs.pNext = NULL;
    stall_vfs.szOsFile = stall_real->szOsFile + (int)STALLING_SIZE;
    stall_vfs.xOpen = stalling_open;
    stall_vfs.xDelete = stalling_delete;
    stall_vfs.xAccess = stalling_access;
    stall_vfs.xFullPathname = stalling_path;
    sqlite3_vfs_register(&stall_vfs, 1);
}

#endif
