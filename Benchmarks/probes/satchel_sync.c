/* satchel_sync: synchronizes a catalogue through satchel.h, and tells its time and report.
 *
 * satchel_sync store=FILE [source=DIR] [row=JSON] [remote=JSON user=NAME] [target=DIR]
 *   source  files that are imported first, not timed
 *   row     a photo that is changed before, timed
 *   remote  the S3 store; without one nothing is synchronized
 *   target  where the catalogue is exported to in the end, not timed */
#include "satchel_photos.h"

int main(int count, char **arguments) {
    const char *path = option(count, arguments, "store", "");
    const char *source = option(count, arguments, "source", NULL);
    const char *row = option(count, arguments, "row", NULL);
    const char *access = option(count, arguments, "remote", NULL);
    const char *target = option(count, arguments, "target", NULL);
    satchel_buffer report = SATCHEL_BUFFER_INIT;
    if (source != NULL) {
        catalogue filled = open_catalogue(path);
        import_directory(filled, source, "\"missing\":[]");
        close_catalogue(filled);
    }

    double start = now();
    catalogue opened = open_catalogue(path);
    if (row != NULL) {
        int64_t changed = 0;
        expect(satchel_photos_upsert(opened.photos, lend(row), &changed));
        if (changed != 1) fail("the photo has not changed");
    }
    if (access != NULL) {
        satchel_remote *remote = NULL;
        expect(satchel_remote_s3(lend(access), NULL, NULL, NULL, &remote));
        expect(satchel_photos_sync(opened.photos, remote, lend(option(count, arguments, "user", "ana")), NULL,
                                   &report));
        satchel_remote_free(remote);
    }
    close_catalogue(opened);
    double seconds = now() - start;

    printf("{\"seconds\":%.4f,\"resident\":%ld,\"report\":%s}\n", seconds, memory_status("VmHWM:"),
           report.data != NULL ? report.data : "null");
    satchel_buffer_free(&report);
    if (target != NULL) {
        opened = open_catalogue(path);
        export_directory(opened, target);
        close_catalogue(opened);
    }
    return 0;
}
