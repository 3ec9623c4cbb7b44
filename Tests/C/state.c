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
    CHECK(score == 7, "added: %g", score);
    for (int saved = 0; saved < 2; saved++) {
        bool spooled = true;
        must(satchel_state_score_add(store, text("levels"), text("x"), 100, &wide, &score), "adding more");
        CHECK(score == 50, "added: %g", score);
        if (saved) must(satchel_state_flush(store, &spooled), "a flush");
        CHECK(spooled != saved, "spooled: %d", spooled);
        scores_are(store, &wide, "{\"x\":50.0}");
        scores_are(store, NULL, "{\"x\":1.0}");
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

int main(void) {
    satchel_store *store = NULL;
    must(satchel_store_open(":memory:", NULL, &store), "opening a store");
    scores(store);
    must(satchel_store_close(store), "closing");
    return close_checks();
}
