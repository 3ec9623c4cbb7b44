/* Opening a library of stories in bad directories and under bad names.
 * Usage: bad_library_open FOLDER */
#include <sys/stat.h>
#include <unistd.h>

#include "bad_input.h"
#include "stories.h"

static char folder[2048];
static satchel_store *store;

static void cannot_open(const char *what, satchel_status wanted, satchel_bytes directory) {
    satchel_stories *opened = (satchel_stories *)&out;
    refused(what, wanted, NULL, satchel_stories_open(store, directory, text(""), &opened));
    CHECK(opened == NULL, "%s: the out-parameter is not emptied", what);
    refused(what, SATCHEL_EINVALID, "out", satchel_stories_open(store, directory, text(""), NULL));
}

static void library_names(void) {
    char too_long[130];
    memset(too_long, 'a', 129);
    too_long[129] = 0;
    const struct {
        const char *what;
        satchel_bytes name;
    } table[] = {
        {"a name with a slash", text("a/b")},        {"a name with a line", text("a\nb")},
        {"a name that is too long", text(too_long)}, {"a name with a NUL", {"a\0b", 3}},
        {"a name that is no text", text("\xff")},
    };
    for (size_t index = 0; index < sizeof table / sizeof *table; index++) {
        satchel_stories *opened = (satchel_stories *)&out;
        refused(table[index].what, SATCHEL_EINVALID, "name",
                satchel_stories_open(store, text(folder), table[index].name, &opened));
        CHECK(opened == NULL, "%s: the out-parameter is not emptied", table[index].what);
    }
}

static void directories(void) {
    static char endless[10000], name[1000];
    memset(endless, 'a', sizeof endless - 1);
    memset(name, 'a', sizeof name - 1);
    char behind_nul[2100];
    size_t size = (size_t)snprintf(behind_nul, sizeof behind_nul, "%s", folder) + 3;
    memcpy(behind_nul + size - 2, "/x", 2);
    cannot_open("a missing directory", SATCHEL_ENOTFOUND, text(path_in(folder, "missing")));
    cannot_open("a missing parent", SATCHEL_ENOTFOUND, text(path_in(folder, "missing/below")));
    cannot_open("nothing", SATCHEL_EINVALID, text(""));
    cannot_open("no address", SATCHEL_EINVALID, (satchel_bytes){NULL, 5});
    cannot_open("endless", SATCHEL_EINVALID, (satchel_bytes){"/tmp", SIZE_MAX});
    cannot_open("a file", SATCHEL_EINVALID, text(path_in(folder, "well.json")));
    cannot_open("below a file", SATCHEL_EINVALID, text(path_in(folder, "well.json/below")));
    cannot_open("a pipe", SATCHEL_EINVALID, text(path_in(folder, "pipe.json")));
    cannot_open("a link to itself", SATCHEL_EINVALID, text(path_in(folder, "loop.json")));
    cannot_open("bad UTF-8", SATCHEL_EINVALID, text("/tmp/\xFF"));
    cannot_open("a NUL at its end", SATCHEL_EINVALID, (satchel_bytes){behind_nul, size - 2});
    cannot_open("a NUL inside", SATCHEL_EINVALID, (satchel_bytes){behind_nul, size});
    cannot_open("only a NUL", SATCHEL_EINVALID, (satchel_bytes){"", 1});
    cannot_open("a long name", SATCHEL_EINVALID, text(name));
    cannot_open("a long path", SATCHEL_EINVALID, text(endless));
}

static void fill(void) {
    write_story(folder, "well.json", tale("well", "The Well"));
    if (mkfifo(path_in(folder, "pipe.json"), 0600) != 0 || symlink("loop.json", path_in(folder, "loop.json")) != 0)
        give_up("links and pipes");
}

int main(int count, char **arguments) {
    if (count != 2) return 2;
    snprintf(folder, sizeof folder, "%s/bad_library_open", arguments[1]);
    if (mkdir(folder, 0700) != 0) give_up(folder);
    fill();
    alarm(120); /* a pipe that is waited for ends here, and is counted as failed */
    must(satchel_store_open(":memory:", NULL, &store), "opening a store in memory");
    fill_out_with_nonsense();
    directories();
    library_names();
    must(satchel_store_close(store), "closing");
    return close_checks();
}
