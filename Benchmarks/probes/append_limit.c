/* append_limit: W1's floor. Each payload is written into a file whose blocks exist already, then synced:
 * what the disk asks for durability, without any structure that could be read back by key.
 *
 * append_limit data=FILE dir=DIR */
#include "measure.h"
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

int main(int count, char **arguments) {
    const char *data = option(count, arguments, "data", "");
    char path[4096];
    snprintf(path, sizeof path, "%s/log", option(count, arguments, "dir", "."));
    FILE *input = fopen(data, "rb");
    int log = open(path, O_CREAT | O_TRUNC | O_RDWR, 0644);
    struct stat facts;
    if (input == NULL || log < 0 || fstat(fileno(input), &facts) != 0) fail("cannot open the files");

    static char zeros[1 << 20];
    for (off_t offset = 0; offset < facts.st_size; offset += (off_t)sizeof zeros)
        if (pwrite(log, zeros, sizeof zeros, offset) < 0) fail("cannot write");
    fsync(log);

    char *line = NULL;
    size_t capacity = 0;
    ssize_t length;
    off_t offset = 0;
    int payloads = 0;
    double start = now();
    while ((length = getline(&line, &capacity, input)) > 0) {
        if (pwrite(log, line, (size_t)length, offset) != length) fail("cannot write");
        if (fdatasync(log) != 0) fail("cannot sync");
        offset += length;
        payloads++;
    }
    close(log);
    printf("{\"seconds\":%.4f,\"payloads\":%d}\n", now() - start, payloads);
    return 0;
}
