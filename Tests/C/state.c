/* Scores of the state, and whether a flush has spooled. Usage: state */
#include "memory_store.h"

static satchel_buffer out;

/** The scores are just these. */
static void scores_are(satchel_store *store, const satchel_state_score_options *options, const char *expected) {
    must(satchel_state_scores(store, text("levels"), options, &out), "reading scores");
    CHECK(strcmp((const char *)out.data, expected) == 0, "%s instead of %s", (const char *)out.data, expected);
    satchel_buffer_free(&out);
}

static void scores(satchel_store *store) {
    satchel_state_score_options wide = SATCHEL_STATE_SCORE_OPTIONS_INIT;
    wide.minimum = 2;
    wide.maximum = 50;
    double score = 0;
    must(satchel_state_score_add(store, text("levels"), text("x"), 7, &wide, &score), "adding");
    CHECK(score == 9, "added: %g", score);
    for (int saved = 0; saved < 2; saved++) {
        bool spooled = true;
        must(satchel_state_score_add(store, text("levels"), text("x"), 100, &wide, &score), "adding more");
        CHECK(score == 50, "added: %g", score);
        if (saved) must(satchel_state_flush(store, &spooled), "a flush");
        CHECK(spooled != saved, "spooled: %d", spooled);
        scores_are(store, &wide, "{\"x\":50.0}");
        scores_are(store, NULL, "{\"x\":1.0}");
        must(satchel_state_score(store, text("levels"), text("x"), &wide, &score), "reading a score");
        CHECK(score == 50, "one score: %g", score);
        must(satchel_state_score(store, text("levels"), text("never added"), &wide, &score), "reading no score");
        CHECK(score == 2, "one that nothing was added to: %g", score);
        must(satchel_state_score_remove(store, text("levels"), text("x")), "removing");
        must(satchel_state_score_remove(store, text("levels"), text("never added")), "removing what is not there");
        scores_are(store, &wide, "{}");
        must(satchel_state_score_add(store, text("levels"), text("x"), 0, &wide, &score), "adding nothing");
        CHECK(score == 2, "the nearest limit: %g", score);
    }
    wide.minimum = 51;
    CHECK(satchel_state_scores(store, text("levels"), &wide, &out) == SATCHEL_EINVALID && out.data == NULL, "limits");
    CHECK(satchel_state_score_remove(store, text("levels"), text("")) == SATCHEL_EINVALID, "an empty key");
    CHECK(satchel_state_score_remove(store, text(""), text("x")) == SATCHEL_EINVALID, "an empty name");
}

static void membership(satchel_store *store) {
    bool has = true, spooled;
    CHECK(satchel_state_member_has(store, text("seen"), text("{\"a\":1,\"b\":2}"), &has) == SATCHEL_OK && !has, "none");
    must(satchel_state_member_add(store, text("seen"), text("{\"a\":1,\"b\":2}"), NULL), "adding");
    for (int saved = 0; saved < 2; saved++) {
        must(satchel_state_member_has(store, text("seen"), text("{\"b\":2,\"a\":1}"), &has), "asking");
        CHECK(has, "another order of keys is the same value");
        must(satchel_state_member_has(store, text("seen"), text("{\"b\":2}"), &has), "asking");
        CHECK(!has, "another value is in the set");
        must(satchel_state_flush(store, &spooled), "a flush");
    }
    CHECK(satchel_state_member_has(store, text("seen"), text("{"), &has) == SATCHEL_EINVALID && !has, "no JSON");
    CHECK(satchel_state_member_has(store, text("seen"), text("1"), NULL) == SATCHEL_EINVALID, "no out");
}

static satchel_bytes key_of(char byte) {
    static char key[32];
    memset(key, byte, sizeof key);
    return (satchel_bytes){key, sizeof key};
}

static void sensitive(satchel_store *store) {
    bool has = false;
    double score = 0;
    const satchel_state_kind kinds[] = {SATCHEL_STATE_LIST, SATCHEL_STATE_SET, SATCHEL_STATE_SCORES};
    for (int each = 0; each < 3; each++)
        must(satchel_state_set_sensitive(store, kinds[each], text("hidden"), true), "making it sensitive");
    CHECK(satchel_state_list_push(store, text("hidden"), text("1"), NULL) == SATCHEL_EAUTH, "no key");
    CHECK(strstr(satchel_error_message(), "set the encryption key first") != NULL, "%s", satchel_error_message());
    CHECK(satchel_state_member_has(store, text("hidden"), text("1"), &has) == SATCHEL_EAUTH, "no key");
    must(satchel_state_set_key(store, key_of('k')), "setting the key");
    must(satchel_state_list_push(store, text("hidden"), text("\"a\""), NULL), "pushing");
    must(satchel_state_member_add(store, text("hidden"), text("{\"a\":1}"), &has), "adding");
    must(satchel_state_score_add(store, text("hidden"), text("x"), 0.5, NULL, &score), "adding");
    for (int rotated = 0; rotated < 2; rotated++) {
        must(satchel_state_list_items(store, text("hidden"), NULL, &out), "reading");
        CHECK(strstr((const char *)out.data, "\"a\"") != NULL, "%s", (const char *)out.data);
        satchel_buffer_free(&out);
        must(satchel_state_member_has(store, text("hidden"), text("{\"a\":1}"), &has), "asking");
        CHECK(has, "the member");
        must(satchel_state_score(store, text("hidden"), text("x"), NULL, &score), "reading a score");
        CHECK(score == 0.5, "%g", score);
        must(satchel_state_rotate_key(store, key_of('r')), "another key");
    }
    CHECK(satchel_state_set_key(store, key_of('k')) == SATCHEL_EAUTH, "the old key");
    must(satchel_state_set_sensitive(store, SATCHEL_STATE_SET, text("hidden"), false), "making it plain");
    must(satchel_state_set_sensitive(store, SATCHEL_STATE_SET, text("hidden"), false), "again");
    must(satchel_state_member_has(store, text("hidden"), text("{\"a\":1}"), &has), "asking");
    CHECK(has, "the plain member");
    must(satchel_state_clear(store, SATCHEL_STATE_SCORES, text("hidden")), "clearing");
    must(satchel_state_score(store, text("hidden"), text("x"), NULL, &score), "reading a score");
    CHECK(score == 0, "%g", score);
    CHECK(satchel_state_clear(store, SATCHEL_STATE_VALUE, text("x")) == SATCHEL_EINVALID, "a value");
    CHECK(satchel_state_clear(store, SATCHEL_STATE_SET, text("")) == SATCHEL_EINVALID, "no name");
    CHECK(satchel_state_set_sensitive(store, SATCHEL_STATE_VALUE, text("x"), true) == SATCHEL_EINVALID, "a value");
    CHECK(satchel_state_set_sensitive(store, (satchel_state_kind)9, text("x"), true) == SATCHEL_EINVALID, "no kind");
    CHECK(satchel_state_set_sensitive(store, SATCHEL_STATE_SET, text(""), true) == SATCHEL_EINVALID, "no name");
}

static bool doubling(
    void *context, int32_t from, int32_t to, satchel_bytes record, satchel_record_answer *answer) {
    (void)record;
    ++*(int *)context;
    if (from != 2 || to != 3) {
        satchel_record_answer_message(answer, text("no such step"));
        return false;
    }
    satchel_record_answer_document(answer, text("{\"theme\":\"dark\",\"size\":24}"));
    return true;
}

static void value_is(satchel_store *store, const char *key, const char *expected) {
    must(satchel_state_get(store, text(key), &out), key);
    if (expected == NULL) CHECK(out.data == NULL, "%s", out.data);
    else CHECK(out.data && strcmp(out.data, expected) == 0, "%s", out.data);
    satchel_buffer_free(&out);
}

static void declared(satchel_store *store) {
    int calls = 0;
    must(satchel_state_set(store, text("colours"), text("\"dark\""), false), "setting");
    value_is(store, "size", NULL);
    satchel_bytes declaration = text(
        "{\"defaults\":{\"size\":12,\"font\":\"serif\"},\"version\":3,"
        "\"migrations\":[[{\"rename\":{\"from\":\"/colours\",\"to\":\"/theme\"}}],\"callback\"]}");
    must(satchel_state_declare(store, declaration, doubling, &calls), "declaring");
    CHECK(calls == 1, "%d calls", calls);
    value_is(store, "colours", NULL);
    value_is(store, "theme", "\"dark\"");
    value_is(store, "size", "24");
    value_is(store, "font", "\"serif\"");
    must(satchel_state_declare(store, declaration, NULL, NULL), "declaring again");
    CHECK(calls == 1, "%d calls", calls);
    CHECK(satchel_state_declare(store, text("{\"defaults\":{\"font\":\"sans\"}}"), NULL, NULL) == SATCHEL_EINVALID,
          "another default");
    CHECK(satchel_state_declare(store, text("{\"version\":2}"), NULL, NULL) == SATCHEL_ENEWER, "an older app");
    CHECK(satchel_state_declare(store, text("{\"version\":4}"), NULL, NULL) == SATCHEL_EINVALID, "a missing step");
    CHECK(satchel_state_declare(store, text("[]"), NULL, NULL) == SATCHEL_EINVALID, "no object");
}

static void inserted(satchel_store *store) {
    const char *items[] = {"\"c\"", "\"a\"", "\"b\""};
    const int64_t times[] = {3000, 1000, 2000};
    for (int each = 0; each < 3; each++)
        must(satchel_state_list_insert(store, text("days"), text(items[each]), times[each], NULL), "inserting");
    must(satchel_state_list_items(store, text("days"), NULL, &out), "reading");
    CHECK(out.data && !strcmp(out.data, "[{\"value\":\"c\",\"time\":3000},{\"value\":\"b\",\"time\":2000},"
                                        "{\"value\":\"a\",\"time\":1000}]"),
          "%s", out.data);
    satchel_buffer_free(&out);
    CHECK(satchel_state_list_insert(store, text("days"), text("1"), -1, NULL) == SATCHEL_EINVALID, "a negative time");
}

int main(void) {
    satchel_store *store = NULL;
    must(satchel_store_open(":memory:", NULL, &store), "opening a store");
    scores(store);
    membership(store);
    inserted(store);
    sensitive(store);
    declared(store);
    must(satchel_store_close(store), "closing");
    return close_checks();
}
