/* The frames in a host's crash report: a callback traps inside a call, below frames of the host and the library. */
#include <execinfo.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"

enum { FRAMES_MAXIMUM = 200 };

/** Writes the frames of the thread that trapped, as a crash reporter does. */
static void report(int signal) {
    void *frames[FRAMES_MAXIMUM];
    backtrace_symbols_fd(frames, backtrace(frames, FRAMES_MAXIMUM), STDOUT_FILENO);
    _exit(signal);
}

/** Not static, so that the report names it. */
void trapping_callback(void *context, satchel_bytes change);
void trapping_callback(void *context, satchel_bytes change) {
    (void)change;
    raise(*(int *)context);
    fprintf(stderr, "the signal was ignored\n");
}

/** The host: every frame up to main() belongs in its report. */
int crash(int signal_number);
int crash(int signal_number) {
    /* Loads the library that walks over the frames, which a handler must not. */
    void *frame;
    backtrace(&frame, 1);
    struct sigaction action = {.sa_handler = report};
    sigaction(signal_number, &action, NULL);
    satchel_store *store;
    satchel_observer *observer;
    must(satchel_store_open(":memory:", NULL, &store), "opening");
    must(satchel_store_observe(store, trapping_callback, &signal_number, NULL, &observer), "observing");
    must(satchel_catalogue_persist(store, text("{\"country_code\":\"fr\"}"),
                                   text("{\"section\":\"s\",\"content\":{\"x\":{\"_storage\":"
                                        "{\"entity_id\":\"s\",\"scope\":\"global\"}}}}"),
                                   NULL, NULL),
         "persisting");
    return 0;
}

/** The offset of the first line that has the text; -1 for none. */
static long line_with(const char *lines, const char *wanted) {
    const char *found = strstr(lines, wanted);
    return found ? found - lines : -1;
}

static void check_signal(int signal_number) {
    int ends[2];
    if (pipe(ends) != 0) give_up("no pipe");
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        dup2(ends[1], STDOUT_FILENO);
        _exit(crash(signal_number));
    }
    close(ends[1]);
    char lines[1 << 16];
    size_t size = 0;
    ssize_t count;
    while (size < sizeof lines - 1 && (count = read(ends[0], lines + size, sizeof lines - 1 - size)) > 0)
        size += (size_t)count;
    lines[size] = '\0';
    close(ends[0]);
    int status = 0;
    waitpid(child, &status, 0);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == signal_number, "%d: ended with %d", signal_number, status);

    const char *const frames[] = {"(trapping_callback+", "libsatchel.so", "(crash+", "(main+"};
    long before = -1;
    for (size_t index = 0; index < sizeof frames / sizeof *frames; index++) {
        long found = line_with(lines, frames[index]);
        CHECK(found > before, "%d: %s is missing after %ld:\n%s", signal_number, frames[index], before, lines);
        before = found;
    }
}

int main(void) {
    const int signals[] = {SIGABRT, SIGSEGV, SIGTRAP};
    for (size_t index = 0; index < sizeof signals / sizeof *signals; index++) check_signal(signals[index]);
    return close_checks();
}
