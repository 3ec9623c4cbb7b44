/* Handles that were closed, or never were any, in every call that takes one. */
#include "bad_input.h"

static int releases;

static void count_release(void *context) {
    (void)context;
    releases++;
}

static void hear(void *context, satchel_bytes change) {
    (void)context;
    (void)change;
}

/** Every call that takes a store, with invalid ones. */
static void no_store(const char *what, satchel_store *store) {
    const satchel_status wanted = store ? SATCHEL_ECLOSED : SATCHEL_EINVALID;
    satchel_bytes place = text(PARIS), section = text(FACTS), name = text("facts");
    bool yes = true;
    releases = 0;
    fill_out_with_nonsense();

    refused_out(what, wanted, NULL, satchel_store_info(store, &out));
    refused_out(what, wanted, NULL, satchel_store_check(store, &out));
    refused_out(what, wanted, NULL, satchel_store_sync_status(store, &out));
    refused(what, wanted, NULL, satchel_store_is_read_only(store, &yes));
    CHECK(!yes, "%s: satchel_store_is_read_only leaves its out-parameter", what);
    refused_out(what, wanted, NULL, satchel_catalogue_persist(store, place, section, NULL, &out));
    refused_out(
        what, wanted, NULL,
        satchel_catalogue_deliver(store, text("{\"location\":" PARIS ",\"sections\":[]}"), NULL, &out));
    refused_out(what, wanted, NULL, satchel_catalogue_sections(store, place, NULL, &out));
    refused_out(what, wanted, NULL, satchel_catalogue_load(store, place, name, NULL, &out));
    refused_out(what, wanted, NULL, satchel_catalogue_plan(store, place, NULL, &out));
    refused_out(what, wanted, NULL, satchel_catalogue_contexts(store, text(""), text(""), &out));
    refused_out(what, wanted, NULL, satchel_catalogue_variants(store, text("facts:seine"), &out));
    refused_out(what, wanted, NULL, satchel_catalogue_near_entities(store, 0, 0, 1, text(""), &out));
    refused(what, wanted, NULL, satchel_catalogue_renew(store, place, text(""), text(""), -1, NULL));
    refused_out(what, wanted, NULL, satchel_catalogue_entities(store, text("facts"), &out));
    refused_out(what, wanted, NULL, satchel_catalogue_delete_entity(store, text("facts:seine"), &out));
    refused_out(what, wanted, NULL, satchel_catalogue_delete_context(store, place, &out));
    refused_out(what, wanted, NULL, satchel_store_statistics(store, &out));
    refused_out(what, wanted, NULL, satchel_catalogue_search(store, text("word"), place, NULL, &out));
    refused_out(what, wanted, NULL, satchel_catalogue_locate(store, 1, 2, 3, &out));
    refused_out(what, wanted, NULL, satchel_catalogue_has_cached(store, place, NULL, &out));
    refused_out(what, wanted, NULL, satchel_catalogue_entity(store, text("facts:seine"), place, NULL, &out));
    refused(what, wanted, NULL, satchel_catalogue_set_active_location(store, place));
    refused_out(what, wanted, NULL, satchel_catalogue_active_location(store, &out));
    refused_out(what, wanted, NULL, satchel_catalogue_prune(store, NULL, &out));
    refused(what, wanted, NULL, satchel_regions_create(store, text("trip"), text("{\"locations\":[" PARIS "]}")));
    refused(what, wanted, NULL, satchel_regions_define(store, text("trip"), text("{\"locations\":[" PARIS "]}")));
    refused_out(what, wanted, NULL, satchel_regions_list(store, &out));
    refused_out(what, wanted, NULL, satchel_regions_get(store, text("trip"), &out));
    refused_out(what, wanted, NULL, satchel_regions_delete(store, text("trip"), &out));
    refused_out(what, wanted, NULL, satchel_regions_download(store, text("trip"), NULL, NULL, &out));
    refused_out(what, wanted, NULL, satchel_regions_export(store, text("trip"), "trip.region", &out));
    refused_out(what, wanted, NULL, satchel_regions_import(store, "trip.region", &out));

    satchel_observer *observer = (satchel_observer *)&releases;
    refused(what, wanted, NULL, satchel_store_observe(store, hear, NULL, count_release, &observer));
    CHECK(observer == NULL && releases == 1, "%s: an observer, or %d releases", what, releases);
    satchel_session *session = (satchel_session *)&releases;
    refused(what, wanted, NULL, satchel_session_new(store, NULL, NULL, NULL, count_release, &session));
    CHECK(session == NULL && releases == 2, "%s: a session, or %d releases", what, releases);
}

/** Every call that takes a session, with invalid ones. */
static void no_session(const char *what, satchel_session *session) {
    const satchel_status wanted = session ? SATCHEL_ECLOSED : SATCHEL_EINVALID;
    fill_out_with_nonsense();
    refused(what, wanted, NULL, satchel_session_show(session, text(PARIS)));
    refused_out(what, wanted, NULL, satchel_session_handle(session, text(FACTS), &out));
    refused(what, wanted, NULL, satchel_session_load(session, text("facts")));
    refused(what, wanted, NULL, satchel_session_fail(session, text("facts"), text("offline")));
    refused(what, wanted, NULL, satchel_session_set_order(session, text("[]")));
    refused_out(what, wanted, NULL, satchel_session_state(session, &out));
    satchel_session_free(session);
}

/** A session whose store was closed: what needs the store is refused, and the rest stops nothing. */
static void orphaned(satchel_session *session) {
    fill_out_with_nonsense();
    refused("showing, orphaned", SATCHEL_ECLOSED, NULL, satchel_session_show(session, text(PARIS)));
    refused_out("handling, orphaned", SATCHEL_ECLOSED, NULL,
                satchel_session_handle(session, text(FACTS), &out));
    satchel_buffer state = SATCHEL_BUFFER_INIT;
    const satchel_status rest[] = {
        satchel_session_load(session, text("facts")),
        satchel_session_fail(session, text("facts"), text("offline")),
        satchel_session_set_order(session, text("[]")),
        satchel_session_state(session, &state),
    };
    satchel_buffer_free(&state);
    for (size_t index = 0; index < sizeof rest / sizeof *rest; index++) {
        CHECK(rest[index] == SATCHEL_OK || rest[index] == SATCHEL_ECLOSED, "an orphaned session: %s",
              satchel_status_name(rest[index]));
    }
}

static bool never_stop(void *context) {
    (void)context;
    return false;
}

/** Every call that takes an interrupt, with invalid ones. */
static void no_interrupt(const char *what, satchel_interrupt *interrupt) {
    if (interrupt) refused(what, SATCHEL_ECLOSED, NULL, satchel_interrupt_attach(interrupt));
    refused(what, interrupt ? SATCHEL_ECLOSED : SATCHEL_EINVALID, NULL, satchel_interrupt_cancel(interrupt));
    satchel_interrupt_free(interrupt);
}

/** An interrupt that cannot be made; its context is released nevertheless. */
static void no_such_interrupt(void) {
    satchel_interrupt_options options = SATCHEL_INTERRUPT_OPTIONS_INIT;
    options.check = never_stop;
    options.release = count_release;
    options.timeout_ms = -2;
    releases = 0;
    satchel_interrupt *interrupt = (satchel_interrupt *)&options;
    refused("a negative time", SATCHEL_EINVALID, "timeout_ms", satchel_interrupt_new(&options, &interrupt));
    CHECK(interrupt == NULL && releases == 1, "an interrupt, or %d releases", releases);
    options.timeout_ms = 0;
    refused("no out", SATCHEL_EINVALID, "out", satchel_interrupt_new(&options, NULL));
    options.size = 3;
    refused("a wrong size", SATCHEL_EINVALID, "size", satchel_interrupt_new(&options, &interrupt));

    options.size = sizeof options;
    must(satchel_interrupt_new(&options, &interrupt), "making an interrupt");
    must(satchel_interrupt_attach(interrupt), "attaching it");
    no_store("an interrupt as store", (satchel_store *)interrupt);
    releases = 0;
    satchel_interrupt_free(interrupt);
    CHECK(releases == 0, "it was released while the thread has it");
    no_interrupt("a freed interrupt", interrupt);
    must(satchel_interrupt_attach(NULL), "detaching");
    CHECK(releases == 1, "%d releases instead of 1", releases);
}

static void never_were(void) {
    static const uintptr_t numbers[] = {1000003, 0x7FFFFFFF, UINTPTR_MAX, UINTPTR_MAX / 2,
                                        UINTPTR_MAX / 2 + 1};
    no_store("NULL as store", NULL);
    no_session("NULL as session", NULL);
    no_interrupt("NULL as interrupt", NULL);
    for (size_t index = 0; index < sizeof numbers / sizeof *numbers; index++) {
        no_store("a number as store", (satchel_store *)numbers[index]);
        no_session("a number as session", (satchel_session *)numbers[index]);
        no_interrupt("a number as interrupt", (satchel_interrupt *)numbers[index]);
        satchel_observer_free((satchel_observer *)numbers[index]);
        refused("closing a number", SATCHEL_ECLOSED, NULL,
                satchel_store_close((satchel_store *)numbers[index]));
    }
    int on_the_stack = 0;
    no_store("an address as store", (satchel_store *)&on_the_stack);
    no_session("an address as session", (satchel_session *)&on_the_stack);
}

static void closed(void) {
    satchel_store *store;
    satchel_session *session;
    satchel_observer *observer;
    must(satchel_store_open(":memory:", NULL, &store), "opening");
    must(satchel_session_new(store, NULL, NULL, NULL, count_release, &session), "beginning a session");
    must(satchel_session_show(session, text(PARIS)), "showing a location");
    must(satchel_store_observe(store, hear, NULL, count_release, &observer), "observing");
    no_store("a session as store", (satchel_store *)session);
    no_session("a store as session", (satchel_session *)store);
    releases = 0;

    must(satchel_store_close(store), "closing");
    refused("closing twice", SATCHEL_ECLOSED, NULL, satchel_store_close(store));
    no_store("a closed store", store);
    orphaned(session);
    satchel_session_free(session);
    no_session("a freed session", session);
    satchel_observer_free(observer);
    satchel_observer_free(observer);
}

/** Parents and children may go in any order, and each context is released exactly once. */
static void any_order(void) {
    for (int order = 0; order < 2; order++) {
        satchel_store *store;
        satchel_session *session;
        satchel_observer *observer;
        releases = 0;
        must(satchel_store_open(":memory:", NULL, &store), "opening");
        must(satchel_session_new(store, NULL, NULL, NULL, count_release, &session), "beginning a session");
        must(satchel_store_observe(store, hear, NULL, count_release, &observer), "observing");
        if (order == 0) must(satchel_store_close(store), "closing");
        satchel_session_free(session);
        satchel_observer_free(observer);
        if (order == 1) must(satchel_store_close(store), "closing");
        CHECK(releases == 2, "order %d: %d releases instead of 2", order, releases);
    }
}

static void no_out(void) {
    satchel_store *store = open_watched();
    satchel_session *session;
    must(satchel_session_new(store, NULL, NULL, NULL, NULL, &session), "beginning a session");
    satchel_bytes place = text(PARIS), name = text("facts");
    refused("info", SATCHEL_EINVALID, NULL, satchel_store_info(store, NULL));
    refused("check", SATCHEL_EINVALID, NULL, satchel_store_check(store, NULL));
    refused("sync_status", SATCHEL_EINVALID, NULL, satchel_store_sync_status(store, NULL));
    refused("is_read_only", SATCHEL_EINVALID, NULL, satchel_store_is_read_only(store, NULL));
    refused("sections", SATCHEL_EINVALID, NULL, satchel_catalogue_sections(store, place, NULL, NULL));
    refused("load", SATCHEL_EINVALID, NULL, satchel_catalogue_load(store, place, name, NULL, NULL));
    refused("plan", SATCHEL_EINVALID, NULL, satchel_catalogue_plan(store, place, NULL, NULL));
    refused("has_cached", SATCHEL_EINVALID, NULL, satchel_catalogue_has_cached(store, place, NULL, NULL));
    refused("entity", SATCHEL_EINVALID, NULL,
            satchel_catalogue_entity(store, text("facts:seine"), place, NULL, NULL));
    refused("active_location", SATCHEL_EINVALID, NULL, satchel_catalogue_active_location(store, NULL));
    refused("state", SATCHEL_EINVALID, NULL, satchel_session_state(session, NULL));

    releases = 0;
    refused("observe", SATCHEL_EINVALID, NULL, satchel_store_observe(store, hear, NULL, count_release, NULL));
    satchel_observer *observer = (satchel_observer *)&releases;
    refused("no callback", SATCHEL_EINVALID, NULL,
            satchel_store_observe(store, NULL, NULL, count_release, &observer));
    refused("session", SATCHEL_EINVALID, NULL, satchel_session_new(store, NULL, NULL, NULL, count_release, NULL));
    CHECK(observer == NULL && releases == 3, "%d releases instead of 3", releases);
    satchel_session_free(session);
    close_watched();
}

int main(void) {
    CHECK(satchel_store_close(NULL) == SATCHEL_OK, "closing NULL");
    satchel_observer_free(NULL);
    satchel_session_free(NULL);
    satchel_interrupt_free(NULL);
    never_were();
    no_such_interrupt();
    closed();
    any_order();
    no_out();
    return close_checks();
}
