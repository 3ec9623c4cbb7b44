/* Bad options, prefixes and functions of object stores: they are refused, and each context is released once.
 * Usage: bad_remote FOLDER */
#include "bad_input.h"
#include "memory_store.h"

#define LITERAL(string) {string, sizeof(string) - 1}

static int releases;

static void count_release(void *context) {
    (void)context;
    releases++;
}

static satchel_remote_result no_credentials(void *context, satchel_remote_answer *answer) {
    (void)context;
    satchel_remote_answer_message(answer, text("no safe"));
    return SATCHEL_REMOTE_NOT_FOUND;
}

/* The result of a function of the host is a lack of credentials, whatever it says about objects. */
static void credentials(void) {
    satchel_remote *made = NULL;
    releases = 0;
    refused("two sources", SATCHEL_EINVALID, "exclude",
            satchel_remote_s3(text("{\"bucket\":\"photos\",\"access_key\":\"a\",\"secret_key\":\"b\"}"),
                              no_credentials, NULL, count_release, &made));
    CHECK(made == NULL && releases == 1, "%d releases", releases);
    must(satchel_remote_s3(text("{\"bucket\":\"photos\",\"endpoint\":\"http://127.0.0.1:1\"}"), no_credentials, NULL,
                           count_release, &made),
         "a function");
    refused("no credentials", SATCHEL_EAUTH, "no safe", satchel_remote_get(made, text("k"), text(""), NULL, &out));
    satchel_remote_free(made);
    CHECK(releases == 2, "%d releases", releases);
}

static void buckets(void) {
    static const struct {
        const char *place;
        satchel_bytes options;
    } table[] = {
        {NULL, LITERAL("")},
        {NULL, LITERAL("[]")},
        {NULL, LITERAL("null")},
        {"line ", LITERAL("{\"bucket\"")},
        {"bucket", LITERAL("{}")},
        {"bucket", LITERAL("{\"bucket\":7}")},
        {"bucket", LITERAL("{\"bucket\":\"No Such Name\",\"access_key\":\"a\",\"secret_key\":\"b\"}")},
        {"bucked", LITERAL("{\"bucked\":\"photos\"}")},
        {"address", LITERAL("{\"bucket\":\"photos\",\"endpoint\":\"ftp://a\",\"access_key\":\"a\",\"secret_key\":\"b\"}")},
        {"secret_key", LITERAL("{\"bucket\":\"photos\",\"endpoint\":\"https://s3.example.org\",\"access_key\":\"a\"}")},
        {"path_style", LITERAL("{\"bucket\":\"photos\",\"path_style\":1,\"access_key\":\"a\",\"secret_key\":\"b\"}")},
        {"timeout", LITERAL("{\"bucket\":\"photos\",\"timeouts\":{\"connect\":-1},\"access_key\":\"a\",\"secret_key\":\"b\"}")},
        {"options", {NULL, 2}},
        {"options", {"{}", SIZE_MAX}},
    };
    for (size_t index = 0; index < sizeof table / sizeof *table; index++) {
        satchel_remote *made = (satchel_remote *)&out;
        refused("bad options", SATCHEL_EINVALID, table[index].place, satchel_remote_s3(table[index].options, NULL, NULL, NULL, &made));
        CHECK(made == NULL, "%zu: the out-parameter is not emptied", index);
    }
    satchel_remote *made = (satchel_remote *)&out;
    const char *secret = "{\"bucket\":\"photos\",\"endpoint\":\"https://s3.example.org\",\"access_key\":\"AKIA\",\"secret_key\":\"TopSecret\",\"region\":\"no region\"}";
    refused("a bad region", SATCHEL_EINVALID, "region", satchel_remote_s3(text(secret), NULL, NULL, NULL, &made));
    CHECK(strstr(satchel_error_message(), "Secret") == NULL && strstr(satchel_error_message(), "AKIA") == NULL,
          "a secret in a message: %s", satchel_error_message());
}

static void prefixes(const char *folder) {
    satchel_remote *remote;
    must(satchel_remote_directory(text(path_in(folder, "bad-remote")), &remote), "a directory");
    static const satchel_bytes prefixes[] = {LITERAL("../x"), LITERAL("a//b"), LITERAL("a\nb"), LITERAL("\xFF"),
                                             {NULL, 3},       {"a", SIZE_MAX}};
    for (size_t index = 0; index < sizeof prefixes / sizeof *prefixes; index++)
        refused_out("a bad prefix", SATCHEL_EINVALID, NULL, satchel_remote_probe(remote, prefixes[index], &out));
    satchel_remote_free(remote);
}

/** Functions that are refused; the context is released all the same. */
static void cannot_make(const char *place, const satchel_remote_operations *operations) {
    satchel_remote *made = (satchel_remote *)&out;
    releases = 0;
    refused("operations", SATCHEL_EINVALID, place,
            satchel_remote_callbacks(operations, NULL, count_release, &made));
    CHECK(made == NULL && releases == 1, "%s: %d releases", place, releases);
}

static satchel_remote_result range_of_nothing(void *context, satchel_bytes key, int64_t offset, int64_t length,
                                              satchel_bytes if_match, satchel_remote_answer *answer) {
    (void)context, (void)key, (void)offset, (void)length, (void)if_match, (void)answer;
    return SATCHEL_REMOTE_FAILED;
}

static void functions(void) {
    satchel_remote_operations all = memory_operations(), some = all;
    cannot_make("NULL", NULL);
    some.get = NULL;
    cannot_make("get", &some);
    some = all;
    some.put = NULL;
    cannot_make("put", &some);
    some = all;
    some.head = NULL;
    cannot_make("head", &some);
    some = all;
    some.remove = NULL;
    cannot_make("remove", &some);
    some = all;
    some.list = NULL;
    cannot_make("list", &some);
    some = all;
    some.get_range = range_of_nothing;
    cannot_make("put_part", &some);
    some = all;
    some.size = SIZE_MAX;
    cannot_make("size", &some);
    some.size = sizeof(size_t);
    cannot_make("NULL", &some);
    releases = 0;
    refused("no out", SATCHEL_EINVALID, "out", satchel_remote_callbacks(&all, NULL, count_release, NULL));
    CHECK(releases == 1, "%d releases", releases);
    satchel_remote *made;
    must(satchel_remote_callbacks(&all, NULL, NULL, &made), "without a release");
    satchel_remote_free(made);
    must(satchel_remote_callbacks(&all, NULL, count_release, &made), "with a release");
    satchel_remote_free(made);
    satchel_remote_free(made);
    CHECK(releases == 2, "%d releases", releases);
}

int main(int count, char **arguments) {
    if (count != 2) return 2;
    fill_out_with_nonsense();
    credentials();
    buckets();
    prefixes(arguments[1]);
    functions();
    return close_checks();
}
