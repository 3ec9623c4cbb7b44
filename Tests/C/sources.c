/* Sources: bad arguments are refused, functions of the host answer, and each context is released once.
 * Usage: sources FOLDER */
#include "assets.h"

static int releases;

static void count_release(void *context) {
    (void)context;
    releases++;
}

/** The next answer of the host's function. */
static struct {
    satchel_remote_result result;
    const char *body, *etag, *message;
    int64_t max_age, retry_after;
    bool complete;
    char request[400];
    satchel_source_answer *old;
} host;

static void reset(satchel_remote_result result) {
    memset(&host, 0, sizeof host);
    host.result = result;
    host.max_age = host.retry_after = -1;
}

static satchel_remote_result content(void *context, satchel_bytes request, satchel_source_answer *answer) {
    CHECK(context == &host, "another context");
    snprintf(host.request, sizeof host.request, "%.*s", (int)request.size, (const char *)request.data);
    satchel_source_answer *const others[] = {NULL, host.old, (satchel_source_answer *)&host};
    for (int index = 0; index < 3; index++) {
        satchel_source_answer_body(others[index], text("{}"));
        satchel_source_answer_max_age(others[index], 1);
    }
    host.old = answer;
    CHECK(!satchel_source_answer_cancelled(answer) && !satchel_source_answer_cancelled(NULL), "not cancelled");
    if (host.body) satchel_source_answer_body(answer, text(host.body));
    if (host.etag) satchel_source_answer_etag(answer, text(host.etag));
    if (host.message) satchel_source_answer_message(answer, text(host.message));
    satchel_source_answer_max_age(answer, host.max_age);
    satchel_source_answer_retry_after(answer, host.retry_after);
    satchel_source_answer_complete(answer, host.complete);
    return host.result;
}

static satchel_remote_result asset(void *context, satchel_bytes request, satchel_asset_writer *writer) {
    CHECK(context == &host, "another context of assets");
    CHECK(request.size > 0, "no request");
    must(satchel_asset_writer_append(writer, text("bytes")), "appending");
    CHECK(!satchel_asset_writer_cancelled(writer) && !satchel_asset_writer_cancelled(NULL), "not cancelled");
    return SATCHEL_REMOTE_OK;
}

#define NORWAY "{\"location\":{\"country_code\":\"NO\"}}"

static json_t *asked(satchel_source *source, const char *request) {
    must(satchel_source_fetch(source, text(request), &out), "asking");
    return take(&out);
}

static void answers(void) {
    satchel_source *source;
    must(satchel_source_new(content, NULL, &host, count_release, &source), "a source of functions");
    reset(SATCHEL_REMOTE_OK);
    host.body = "{\"section\":\"s\",\"content\":{}}";
    host.etag = "\"1\"";
    host.max_age = 60;
    json_t *answer = asked(source, "{\"location\":{\"country_code\":\"NO\"},\"section\":\"s\",\"entities\":[\"s:1\"],"
                                   "\"etag\":\"\\\"0\\\"\",\"attempt\":3}");
    CHECK(strcmp(text_at(answer, "/result"), "content") == 0, "content: %s", text_at(answer, "/result"));
    CHECK(strcmp(text_at(answer, "/body"), host.body) == 0 && strcmp(text_at(answer, "/etag"), host.etag) == 0, "it");
    CHECK(number_at(answer, "/max_age") == 60 && json_is_false(at(answer, "/complete")), "its age");
    const char *wanted = "{\"location\":{\"country_code\":\"NO\"},\"section\":\"s\",\"entities\":[\"s:1\"],"
                         "\"etag\":\"\\\"0\\\"\",\"attempt\":3}";
    CHECK(strcmp(host.request, wanted) == 0, "asked with %s", host.request);
    json_decref(answer);

    reset(SATCHEL_REMOTE_OK);
    host.body = "{\"sections\":[],\"complete\":true}";
    answer = asked(source, NORWAY);
    CHECK(json_is_true(at(answer, "/complete")) && json_is_null(at(answer, "/max_age")), "a complete delivery");
    json_decref(answer);

    static const struct {
        satchel_remote_result result;
        const char *request, *name, *message;
    } table[] = {
        {SATCHEL_REMOTE_NOT_FOUND, NORWAY, "not_found", NULL},
        {SATCHEL_REMOTE_NOT_MODIFIED, "{\"location\":{\"country_code\":\"NO\"},\"etag\":\"1\"}", "not_modified", NULL},
        {SATCHEL_REMOTE_NOT_MODIFIED, NORWAY, "final", "etag"},
        {SATCHEL_REMOTE_TRANSIENT, NORWAY, "transient", "temporarily"},
        {SATCHEL_REMOTE_UNKNOWN, NORWAY, "transient", "temporarily"},
        {SATCHEL_REMOTE_FAILED, NORWAY, "final", "failed"},
        {SATCHEL_REMOTE_DENIED, NORWAY, "final", "denied"},
        {SATCHEL_REMOTE_PRECONDITION_FAILED, NORWAY, "final", "failed"},
        {SATCHEL_REMOTE_OK, NORWAY, "final", "no body"},
        {(satchel_remote_result)77, NORWAY, "final", "77"},
    };
    for (size_t index = 0; index < sizeof table / sizeof *table; index++) {
        reset(table[index].result);
        host.retry_after = 7;
        answer = asked(source, table[index].request);
        CHECK(strcmp(text_at(answer, "/result"), table[index].name) == 0, "%zu: %s", index, text_at(answer, "/result"));
        if (table[index].message)
            CHECK(strstr(text_at(answer, "/message"), table[index].message) != NULL, "%zu: %s", index,
                  text_at(answer, "/message"));
        bool is_transient = strcmp(table[index].name, "transient") == 0;
        CHECK(is_transient ? number_at(answer, "/retry_after") == 7 : json_is_null(at(answer, "/retry_after")),
              "%zu: when it is asked again", index);
        json_decref(answer);
        host.message = "the server is on fire";
        if (table[index].message && table[index].result != SATCHEL_REMOTE_OK) {
            answer = asked(source, table[index].request);
            CHECK(strstr(text_at(answer, "/message"), "on fire") != NULL, "%zu: its own message", index);
            json_decref(answer);
        }
    }
    satchel_source_free(source);
    CHECK(releases == 1, "%d releases", releases);
}

static void bad_requests(void) {
    satchel_source *source;
    must(satchel_source_new(content, NULL, &host, NULL, &source), "a source of functions");
    static const struct {
        const char *place, *request;
    } table[] = {
        {"request", ""},
        {"request", "[]"},
        {"/location", "{}"},
        {"/location/latitude", "{\"location\":{\"latitude\":99,\"longitude\":0}}"},
        {"/section", "{\"location\":{\"country_code\":\"NO\"},\"section\":1}"},
        {"/entities", "{\"location\":{\"country_code\":\"NO\"},\"entities\":{}}"},
        {"/entities/1", "{\"location\":{\"country_code\":\"NO\"},\"entities\":[\"a\",1]}"},
        {"/etag", "{\"location\":{\"country_code\":\"NO\"},\"etag\":true}"},
        {"/attempt", "{\"location\":{\"country_code\":\"NO\"},\"attempt\":0}"},
    };
    for (size_t index = 0; index < sizeof table / sizeof *table; index++) {
        out.data = (char *)&out;
        refused_out(table[index].request, SATCHEL_EINVALID, table[index].place,
                    satchel_source_fetch(source, text(table[index].request), &out));
    }
    refused("no out", SATCHEL_EINVALID, "out", satchel_source_fetch(source, text(NORWAY), NULL));
    refused_out("no source", SATCHEL_EINVALID, "source", satchel_source_fetch(NULL, text(NORWAY), &out));
    satchel_source_free(source);
    satchel_source_free(source);
    satchel_source_free(NULL);
    refused_out("a freed source", SATCHEL_ECLOSED, "source", satchel_source_fetch(source, text(NORWAY), &out));
    refused_out("a freed source", SATCHEL_ECLOSED, "source",
                satchel_assets_fetch_from(store, text("[]"), source, NULL, &out));
}

static void functions(void) {
    satchel_source *made = (satchel_source *)&out;
    releases = 0;
    refused("no function", SATCHEL_EINVALID, "content", satchel_source_new(NULL, asset, NULL, count_release, &made));
    CHECK(made == NULL && releases == 1, "%d releases", releases);
    refused("no out", SATCHEL_EINVALID, "out", satchel_source_new(content, asset, NULL, count_release, NULL));
    CHECK(releases == 2, "%d releases", releases);
}

static void servers(void) {
    static const struct {
        const char *place, *url, *options;
    } table[] = {
        {"base_url", "", ""},
        {"base_url", "ftp://a", ""},
        {"base_url", "https://user:TopSecret@a", ""},
        {"base_url", "https://\xFF", ""},
        {"options", "https://a", "[]"},
        {"options", "https://a", "{"},
        {"header", "https://a", "{\"header\":{}}"},
        {"headers", "https://a", "{\"headers\":[]}"},
        {"Authorization", "https://a", "{\"headers\":{\"Authorization\":\"TopSecret\\n\"}}"},
        {"timeouts", "https://a", "{\"timeouts\":{\"connect\":-1}}"},
        {"max_size", "https://a", "{\"max_size\":0}"},
        {"allow_private", "https://a", "{\"allow_private\":1}"},
    };
    satchel_source *made;
    for (size_t index = 0; index < sizeof table / sizeof *table; index++) {
        made = (satchel_source *)&out;
        refused("a server", SATCHEL_EINVALID, table[index].place,
                satchel_source_http(text(table[index].url), text(table[index].options), &made));
        CHECK(made == NULL, "%zu: the out-parameter is not emptied", index);
        CHECK(strstr(satchel_error_message(), "Secret") == NULL, "a secret in a message: %s", satchel_error_message());
    }
    refused("no out", SATCHEL_EINVALID, "out", satchel_source_http(text("https://a"), text(""), NULL));
    must(satchel_source_http(text("http://127.0.0.1:1/content"), text(""), &made), "a server");
    json_t *answer = asked(made, NORWAY);
    CHECK(strcmp(text_at(answer, "/result"), "transient") == 0, "nothing listens: %s", text_at(answer, "/result"));
    CHECK(strstr(text_at(answer, "/message"), "http://127.0.0.1:1/content") != NULL, "its URL: %s",
          text_at(answer, "/message"));
    json_decref(answer);
    satchel_source_free(made);
    must(satchel_source_http(text("http://127.0.0.1:1"), text("{\"allow_private\":false}"), &made), "a server");
    answer = asked(made, NORWAY);
    CHECK(strcmp(text_at(answer, "/result"), "final") == 0, "it is not public: %s", text_at(answer, "/result"));
    json_decref(answer);
    satchel_source_free(made);
}

#define URL "[{\"_asset\":{\"url\":\"https://example.org/a.jpg\"}}]"

static void assets(void) {
    satchel_source *source;
    must(satchel_source_new(content, NULL, &host, NULL, &source), "without assets");
    must(satchel_assets_fetch_from(store, text(URL), source, NULL, &out), "fetching");
    json_t *report = take(&out);
    CHECK(strstr(text_at(report, "/failed/0/message"), "no assets") != NULL, "a failure: %s",
          text_at(report, "/failed/0/message"));
    json_decref(report);
    satchel_source_free(source);
    must(satchel_source_new(content, asset, &host, NULL, &source), "with assets");
    satchel_asset_fetch_options options = SATCHEL_ASSET_FETCH_OPTIONS_INIT;
    options.ignore_backoff = true;
    must(satchel_assets_fetch_from(store, text(URL), source, &options, &out), "fetching");
    report = take(&out);
    CHECK(number_at(report, "/fetched") == 1 && number_at(report, "/fetched_bytes") == 5, "fetched");
    json_decref(report);
    refused_out("no reference", SATCHEL_EINVALID, "references",
                satchel_assets_fetch_from(store, text("{}"), source, NULL, &out));
    refused_out("no source", SATCHEL_EINVALID, "source",
                satchel_assets_fetch_from(store, text("[]"), NULL, NULL, &out));
    satchel_source_free(source);
}

/** Of content from a source, of which an offline region has all, and of a request that fails. */
static void statistics(void) {
    satchel_source *source;
    must(satchel_source_new(content, asset, &host, NULL, &source), "a source");
    reset(SATCHEL_REMOTE_OK);
    host.body = "{\"section\":\"s\",\"content\":{\"image\":{\"_asset\":{\"url\":\"https://example.org/b.jpg\"}},"
                "\"x\":{\"_storage\":{\"entity_id\":\"s:x\",\"scope\":\"country\"}}}}";
    host.max_age = 60;
    must(satchel_regions_create(store, text("trip"), text("{\"locations\":[{\"country_code\":\"NO\"}]}")), "a region");
    must(satchel_regions_download(store, text("trip"), source, NULL, &out), "downloading");
    satchel_buffer_free(&out);
    reset(SATCHEL_REMOTE_TRANSIENT);
    const satchel_bytes sweden = text("{\"country_code\":\"SE\"}"), all = {NULL, 0};
    must(satchel_catalogue_refresh(store, sweden, all, source, NULL, &out), "refreshing");
    satchel_buffer_free(&out);
    must(satchel_store_statistics(store, &out), "statistics");
    json_t *found = take(&out);
    CHECK(number_at(found, "/catalogue/regions") == 1 && number_at(found, "/catalogue/pinned_sections") == 1
              && number_at(found, "/catalogue/pinned_entities") == 1,
          "what the region has");
    const json_int_t bytes = number_at(found, "/catalogue/pinned_bytes");
    CHECK(bytes > 0 && number_at(found, "/catalogue/pinned_asset_bytes") == 5, "its bytes");
    CHECK(number_at(found, "/catalogue/oldest_fetched_at") > 0, "its age");
    CHECK(number_at(found, "/catalogue/requests") == 2 && number_at(found, "/catalogue/failed_requests") == 1,
          "requests");
    json_decref(found);

    satchel_prune_options options = SATCHEL_PRUNE_OPTIONS_INIT;
    options.max_bytes = 0;
    must(satchel_catalogue_prune(store, &options, &out), "pruning");
    found = take(&out);
    CHECK(number_at(found, "/pinned_bytes") == bytes && number_at(found, "/over_budget") == bytes, "what it keeps");
    json_decref(found);
    must(satchel_assets_prune(store, 0, &out), "pruning assets");
    found = take(&out);
    CHECK(number_at(found, "/pinned_bytes") == 5, "what it keeps of assets");
    json_decref(found);
    satchel_source_free(source);
}

int main(int count, char **arguments) {
    if (count != 2) return 2;
    char path[4096];
    snprintf(path, sizeof path, "%s/sources.satchel", arguments[1]);
    must(satchel_store_open(path, NULL, &store), "opening");
    answers();
    bad_requests();
    functions();
    servers();
    assets();
    statistics();
    must(satchel_store_close(store), "closing");
    return close_checks();
}
