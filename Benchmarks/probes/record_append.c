/* record_append: W5's floor. Each record, and then each batch, is written into a file whose blocks exist
 * already, then synced; nothing can be read back by id.
 *
 * record_append data=DIR dir=DIR [singles=1000] [batch=1000] */
#include "record_lines.h"
#include <fcntl.h>
#include <unistd.h>

static int append_file;
static off_t end_of_file;

static void append(const record *some, size_t count) {
    /* The lines of the data follow one another. */
    const record *last = &some[count - 1];
    size_t size = (size_t)(last->document.data + last->document.size + 1 - some->document.data);
    if (pwrite(append_file, some->document.data, size, end_of_file) != (ssize_t)size) fail("cannot write");
    if (fdatasync(append_file) != 0) fail("cannot sync");
    end_of_file += (off_t)size;
}

int main(int count, char **arguments) {
    records all = read_lines(option(count, arguments, "data", "."), "records.jsonl", cut_record);
    size_t singles = (size_t)atol(option(count, arguments, "singles", "1000"));
    size_t batch = (size_t)atol(option(count, arguments, "batch", "1000"));
    char path[PATH_SIZE];
    snprintf(path, sizeof path, "%s/log", option(count, arguments, "dir", "."));
    append_file = open(path, O_CREAT | O_TRUNC | O_RDWR, 0644);
    if (append_file < 0 || batch == 0 || singles > all.count) fail("cannot begin");

    static char zeros[1 << 20];
    off_t size = all.all[all.count - 1].document.data - all.all[0].document.data + (off_t)sizeof zeros;
    for (off_t offset = 0; offset < size; offset += (off_t)sizeof zeros)
        if (pwrite(append_file, zeros, sizeof zeros, offset) < 0) fail("cannot write");
    fsync(append_file);

    double *seconds = allocate((singles + 1) * sizeof *seconds);
    for (size_t index = 0; index < singles; index++) {
        double start = now();
        append(&all.all[index], 1);
        seconds[index] = now() - start;
    }
    double start = now();
    for (size_t first = singles; first < all.count; first += batch)
        append(&all.all[first], all.count - first < batch ? all.count - first : batch);
    double written = now();
    close(append_file);
    printf("{\"put_us\":%.3f,\"put_p95_us\":%.3f,\"batch_s\":%.4f,\"closed_s\":%.4f}\n",
           percentile(seconds, singles, 0.5) * 1e6, percentile(seconds, singles, 0.95) * 1e6, written - start,
           now() - start);
    free(seconds);
    return 0;
}
