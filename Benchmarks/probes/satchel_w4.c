/* satchel_w4: W4 through satchel.h, timed as the probes are: the reports are in hand when the clock stops.
 *
 * Prints the reports by name of the file, for the harness to hold against what was planted.
 * Options: story_run.h */
#include "story_run.h"
#include "satchel.h"

static void *check(const char *text, size_t size) {
    satchel_buffer *report = allocate(sizeof *report);
    *report = (satchel_buffer)SATCHEL_BUFFER_INIT;
    satchel_status status = satchel_story_check((satchel_bytes){text, size}, NULL, report);
    if (status != SATCHEL_OK) {
        fprintf(stderr, "%s: ", satchel_status_name(status));
        fail(satchel_error_message());
    }
    return report;
}

static void print(char **names, void **findings, size_t count) {
    printf(",\"reports\":{");
    for (size_t index = 0; index < count; index++) {
        const satchel_buffer *report = findings[index];
        printf("%s\"%s\":", index == 0 ? "" : ",", names[index]);
        fwrite(report->data, 1, report->size, stdout);
    }
    printf("}");
}

static void release(void *findings) {
    satchel_buffer_free(findings);
    free(findings);
}

int main(int count, char **arguments) {
    static const story_checker checker = {check, print, release};
    return run_stories(&checker, count, arguments);
}
