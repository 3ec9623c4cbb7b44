#include "CFaultyVFS.h"

#include <errno.h>
#include <pthread.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_FILES = 256 };

struct sized {
    char *path;
    int64_t size;
};

struct faulty_vfs {
    sqlite3_vfs vfs;
    sqlite3_vfs *real;
    pthread_mutex_t mutex;
    int64_t counts[FAULTY_OPERATIONS];
    int64_t at[FAULTY_OPERATIONS]; /* the count at which to fail, 0 never */
    enum faulty_kind kind[FAULTY_OPERATIONS];
    bool for_good[FAULTY_OPERATIONS];
    int64_t hits;
    int64_t limit;
    void (*after_opening)(void *);
    void *context;
    void (*on_sync)(void *, const char *);
    void *sync_context;
    struct sized files[MOST_FILES];
};

struct faulty_file {
    sqlite3_file base;
    faulty_vfs *disk;
    struct sized *sized; /* NULL for a temporary file */
    sqlite3_file *real;
};

static struct faulty_file *faulty(sqlite3_file *file) { return (struct faulty_file *)file; }

static sqlite3_file *real(sqlite3_file *file) { return faulty(file)->real; }

/* Counts an operation; returns whether, and how, it fails. */
static bool fails(faulty_vfs *disk, enum faulty_operation operation, enum faulty_kind *kind) {
    pthread_mutex_lock(&disk->mutex);
    int64_t count = ++disk->counts[operation];
    int64_t at = disk->at[operation];
    bool hit = at > 0 && (count == at || (disk->for_good[operation] && count > at));
    if (hit) disk->hits++;
    *kind = disk->kind[operation];
    pthread_mutex_unlock(&disk->mutex);
    if (hit) errno = *kind == FAULTY_IO ? EIO : ENOSPC;
    return hit;
}

static int64_t used(faulty_vfs *disk) {
    int64_t total = 0;
    for (int i = 0; i < MOST_FILES; i++) total += disk->files[i].path ? disk->files[i].size : 0;
    return total;
}

static struct sized *find(faulty_vfs *disk, const char *path, bool make) {
    struct sized *empty = NULL;
    for (int i = 0; i < MOST_FILES; i++) {
        struct sized *entry = &disk->files[i];
        if (entry->path && strcmp(entry->path, path) == 0) return entry;
        if (!entry->path && !empty) empty = entry;
    }
    if (!make || !empty) return NULL;
    empty->path = strdup(path);
    empty->size = 0;
    return empty->path ? empty : NULL;
}

/* ---- files ---- */

static int faulty_close(sqlite3_file *file) { return real(file)->pMethods->xClose(real(file)); }

static int faulty_read(sqlite3_file *file, void *into, int count, sqlite3_int64 offset) {
    enum faulty_kind kind;
    if (fails(faulty(file)->disk, FAULTY_READ, &kind)) return SQLITE_IOERR_READ;
    return real(file)->pMethods->xRead(real(file), into, count, offset);
}

/* Whether the limit allows a file to grow to `end`; reserves the space. */
static bool takes(struct faulty_file *file, int64_t end) {
    if (!file->sized) return true;
    faulty_vfs *disk = file->disk;
    pthread_mutex_lock(&disk->mutex);
    int64_t growth = end - file->sized->size;
    bool fits = growth <= 0 || disk->limit < 0 || used(disk) + growth <= disk->limit;
    if (fits && growth > 0) file->sized->size = end;
    if (!fits) disk->hits++;
    pthread_mutex_unlock(&disk->mutex);
    return fits;
}

static int faulty_write(sqlite3_file *file, const void *from, int count, sqlite3_int64 offset) {
    enum faulty_kind kind;
    if (fails(faulty(file)->disk, FAULTY_WRITE, &kind)) {
        if (kind == FAULTY_SHORT) real(file)->pMethods->xWrite(real(file), from, count / 2, offset);
        return kind == FAULTY_IO ? SQLITE_IOERR_WRITE : SQLITE_FULL;
    }
    if (!takes(faulty(file), offset + count)) {
        errno = ENOSPC;
        return SQLITE_FULL;
    }
    return real(file)->pMethods->xWrite(real(file), from, count, offset);
}

static int faulty_truncate(sqlite3_file *file, sqlite3_int64 size) {
    enum faulty_kind kind;
    struct faulty_file *own = faulty(file);
    if (fails(own->disk, FAULTY_TRUNCATE, &kind)) return SQLITE_IOERR_TRUNCATE;
    int code = real(file)->pMethods->xTruncate(real(file), size);
    if (code == SQLITE_OK && own->sized) {
        pthread_mutex_lock(&own->disk->mutex);
        own->sized->size = size;
        pthread_mutex_unlock(&own->disk->mutex);
    }
    return code;
}

static int faulty_sync(sqlite3_file *file, int flags) {
    enum faulty_kind kind;
    struct faulty_file *own = faulty(file);
    if (fails(own->disk, FAULTY_SYNC, &kind)) return SQLITE_IOERR_FSYNC;
    if (own->disk->on_sync && own->sized && own->sized->path) {
        own->disk->on_sync(own->disk->sync_context, own->sized->path);
        return SQLITE_OK;
    }
    return real(file)->pMethods->xSync(real(file), flags);
}

static int faulty_size(sqlite3_file *file, sqlite3_int64 *size) {
    return real(file)->pMethods->xFileSize(real(file), size);
}

static int faulty_lock(sqlite3_file *file, int level) { return real(file)->pMethods->xLock(real(file), level); }

static int faulty_unlock(sqlite3_file *file, int level) {
    return real(file)->pMethods->xUnlock(real(file), level);
}

static int faulty_is_reserved(sqlite3_file *file, int *out) {
    return real(file)->pMethods->xCheckReservedLock(real(file), out);
}

static int faulty_control(sqlite3_file *file, int operation, void *argument) {
    return real(file)->pMethods->xFileControl(real(file), operation, argument);
}

static int faulty_sector(sqlite3_file *file) { return real(file)->pMethods->xSectorSize(real(file)); }

static int faulty_traits(sqlite3_file *file) {
    return real(file)->pMethods->xDeviceCharacteristics(real(file));
}

static int faulty_shm_map(sqlite3_file *file, int page, int size, int extend, void volatile **out) {
    enum faulty_kind kind;
    if (fails(faulty(file)->disk, FAULTY_SHARED_MEMORY, &kind)) {
        *out = NULL;
        return kind == FAULTY_IO ? SQLITE_IOERR_SHMMAP : SQLITE_IOERR_SHMSIZE;
    }
    return real(file)->pMethods->xShmMap(real(file), page, size, extend, out);
}

static int faulty_shm_lock(sqlite3_file *file, int offset, int count, int flags) {
    return real(file)->pMethods->xShmLock(real(file), offset, count, flags);
}

static void faulty_shm_barrier(sqlite3_file *file) { real(file)->pMethods->xShmBarrier(real(file)); }

static int faulty_shm_unmap(sqlite3_file *file, int deletes) {
    return real(file)->pMethods->xShmUnmap(real(file), deletes);
}

/* Version 2: without memory maps of the file, which would hide reads. */
static const sqlite3_io_methods methods = {
    .iVersion = 2,
    .xClose = faulty_close,
    .xRead = faulty_read,
    .xWrite = faulty_write,
    .xTruncate = faulty_truncate,
    .xSync = faulty_sync,
    .xFileSize = faulty_size,
    .xLock = faulty_lock,
    .xUnlock = faulty_unlock,
    .xCheckReservedLock = faulty_is_reserved,
    .xFileControl = faulty_control,
    .xSectorSize = faulty_sector,
    .xDeviceCharacteristics = faulty_traits,
    .xShmMap = faulty_shm_map,
    .xShmLock = faulty_shm_lock,
    .xShmBarrier = faulty_shm_barrier,
    .xShmUnmap = faulty_shm_unmap,
};

/* ---- the VFS ---- */

static int faulty_open(sqlite3_vfs *vfs, sqlite3_filename name, sqlite3_file *file, int flags, int *got) {
    faulty_vfs *disk = (faulty_vfs *)vfs;
    struct faulty_file *own = faulty(file);
    enum faulty_kind kind;
    own->base.pMethods = NULL;
    if (fails(disk, FAULTY_OPEN, &kind)) return SQLITE_CANTOPEN;
    own->disk = disk;
    own->sized = NULL;
    own->real = (sqlite3_file *)(own + 1);
    int code = disk->real->xOpen(disk->real, name, own->real, flags, got);
    if (!own->real->pMethods) return code;
    own->base.pMethods = &methods;
    if (code == SQLITE_OK && name) {
        sqlite3_int64 size = 0;
        own->real->pMethods->xFileSize(own->real, &size);
        pthread_mutex_lock(&disk->mutex);
        own->sized = find(disk, name, true);
        if (own->sized) own->sized->size = size;
        pthread_mutex_unlock(&disk->mutex);
    }
    if (code == SQLITE_OK && flags & SQLITE_OPEN_MAIN_DB) {
        pthread_mutex_lock(&disk->mutex);
        void (*act)(void *) = disk->after_opening;
        disk->after_opening = NULL;
        pthread_mutex_unlock(&disk->mutex);
        if (act) act(disk->context);
    }
    return code;
}

static int faulty_delete(sqlite3_vfs *vfs, const char *name, int sync_directory) {
    faulty_vfs *disk = (faulty_vfs *)vfs;
    enum faulty_kind kind;
    if (fails(disk, FAULTY_DELETE, &kind)) return SQLITE_IOERR_DELETE;
    int code = disk->real->xDelete(disk->real, name, sync_directory);
    pthread_mutex_lock(&disk->mutex);
    struct sized *entry = find(disk, name, false);
    if (entry && code == SQLITE_OK) entry->size = 0; /* kept: open files point to it */
    pthread_mutex_unlock(&disk->mutex);
    return code;
}

static int faulty_access(sqlite3_vfs *vfs, const char *name, int flags, int *out) {
    sqlite3_vfs *real = ((faulty_vfs *)vfs)->real;
    return real->xAccess(real, name, flags, out);
}

static int faulty_path(sqlite3_vfs *vfs, const char *name, int count, char *out) {
    sqlite3_vfs *real = ((faulty_vfs *)vfs)->real;
    return real->xFullPathname(real, name, count, out);
}

static int faulty_randomness(sqlite3_vfs *vfs, int count, char *out) {
    sqlite3_vfs *real = ((faulty_vfs *)vfs)->real;
    return real->xRandomness(real, count, out);
}

static int faulty_sleep(sqlite3_vfs *vfs, int microseconds) {
    sqlite3_vfs *real = ((faulty_vfs *)vfs)->real;
    return real->xSleep(real, microseconds);
}

static int faulty_time(sqlite3_vfs *vfs, double *out) {
    sqlite3_vfs *real = ((faulty_vfs *)vfs)->real;
    return real->xCurrentTime(real, out);
}

static int faulty_milliseconds(sqlite3_vfs *vfs, sqlite3_int64 *out) {
    sqlite3_vfs *real = ((faulty_vfs *)vfs)->real;
    return real->xCurrentTimeInt64(real, out);
}

static int faulty_last_error(sqlite3_vfs *vfs, int count, char *out) {
    sqlite3_vfs *real = ((faulty_vfs *)vfs)->real;
    return real->xGetLastError(real, count, out);
}

/* ---- for tests ---- */

faulty_vfs *faulty_vfs_make(const char *name) {
    sqlite3_initialize();
    sqlite3_vfs *real = sqlite3_vfs_find(NULL);
    faulty_vfs *disk = calloc(1, sizeof *disk);
    if (!real || !disk) {
        free(disk);
        return NULL;
    }
    disk->real = real;
    disk->limit = -1;
    pthread_mutex_init(&disk->mutex, NULL);
    disk->vfs = (sqlite3_vfs){
        .iVersion = 2,
        .szOsFile = (int)sizeof(struct faulty_file) + real->szOsFile,
        .mxPathname = real->mxPathname,
        .zName = strdup(name),
        .xOpen = faulty_open,
        .xDelete = faulty_delete,
        .xAccess = faulty_access,
        .xFullPathname = faulty_path,
        .xRandomness = faulty_randomness,
        .xSleep = faulty_sleep,
        .xCurrentTime = faulty_time,
        .xGetLastError = faulty_last_error,
        .xCurrentTimeInt64 = faulty_milliseconds,
    };
    if (disk->vfs.zName && sqlite3_vfs_register(&disk->vfs, 0) == SQLITE_OK) return disk;
    free(disk);
    return NULL;
}

void faulty_vfs_fail(faulty_vfs *disk, enum faulty_operation operation, int64_t n, enum faulty_kind kind,
                     bool for_good) {
    pthread_mutex_lock(&disk->mutex);
    disk->at[operation] = n > 0 ? disk->counts[operation] + n : 0;
    disk->kind[operation] = kind;
    disk->for_good[operation] = for_good;
    pthread_mutex_unlock(&disk->mutex);
}

void faulty_vfs_after_opening(faulty_vfs *disk, void (*act)(void *context), void *context) {
    pthread_mutex_lock(&disk->mutex);
    disk->after_opening = act;
    disk->context = context;
    pthread_mutex_unlock(&disk->mutex);
}

void faulty_vfs_on_sync(faulty_vfs *disk, void (*act)(void *context, const char *path), void *context) {
    pthread_mutex_lock(&disk->mutex);
    disk->on_sync = act;
    disk->sync_context = context;
    /* The entries of files that were opened before belong to another test. */
    for (int i = 0; i < MOST_FILES; i++) {
        free(disk->files[i].path);
        disk->files[i].path = NULL;
    }
    pthread_mutex_unlock(&disk->mutex);
}

void faulty_vfs_limit(faulty_vfs *disk, int64_t bytes) {
    pthread_mutex_lock(&disk->mutex);
    disk->limit = bytes;
    pthread_mutex_unlock(&disk->mutex);
}

int64_t faulty_vfs_count(faulty_vfs *disk, enum faulty_operation operation) {
    pthread_mutex_lock(&disk->mutex);
    int64_t count = disk->counts[operation];
    pthread_mutex_unlock(&disk->mutex);
    return count;
}

int64_t faulty_vfs_hits(faulty_vfs *disk) {
    pthread_mutex_lock(&disk->mutex);
    int64_t hits = disk->hits;
    pthread_mutex_unlock(&disk->mutex);
    return hits;
}

int64_t faulty_vfs_used(faulty_vfs *disk) {
    pthread_mutex_lock(&disk->mutex);
    int64_t total = used(disk);
    pthread_mutex_unlock(&disk->mutex);
    return total;
}
