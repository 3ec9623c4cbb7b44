/* Two devices that synchronize their stores, through a store of the host. Usage: store_sync */
#include "memory_store.h"

static satchel_buffer out;

struct phone {
    satchel_store *store;
    satchel_records *notes;
};

static struct phone opened(void) {
    struct phone phone = {NULL, NULL};
    must(satchel_store_open(":memory:", NULL, &phone.store), "opening a store");
    must(satchel_records_open(phone.store, text("{\"name\":\"notes\",\"on_conflict\":\"merge\"}"), NULL, &phone.notes),
         "opening a collection");
    return phone;
}

static void closed(struct phone *phone) {
    satchel_records_free(phone->notes);
    must(satchel_store_close(phone->store), "closing a store");
}

static void put(struct phone *phone, const char *id, const char *document) {
    must(satchel_records_put(phone->notes, text(id), text(document), SATCHEL_ANY_REVISION, NULL), "a put");
}

static bool has(struct phone *phone, const char *id, const char *document) {
    must(satchel_records_get(phone->notes, text(id), &out), "a get");
    bool is_same = out.data != NULL && strcmp((const char *)out.data, document) == 0;
    satchel_buffer_free(&out);
    return is_same;
}

static satchel_status sync_as(struct phone *phone, satchel_remote *remote, const char *user,
                              const satchel_store_sync_options *options, json_t **report) {
    satchel_status status = satchel_store_sync(phone->store, remote, text(user), options, &out);
    if (report != NULL) *report = status == SATCHEL_OK ? take(&out) : NULL;
    satchel_buffer_free(&out);
    return status;
}

/** Returns one count of a sync's report. */
static long long count(struct phone *phone, satchel_remote *remote, const satchel_store_sync_options *options,
                       const char *pointer) {
    json_t *report = NULL;
    must(sync_as(phone, remote, "mia", options, &report), "a sync");
    long long found = number_at(report, pointer);
    json_decref(report);
    return found;
}

static void status_is(struct phone *phone, const char *user, long long pending) {
    must(satchel_store_sync_status(phone->store, &out), "the status of a sync");
    json_t *found = take(&out);
    const char *name = json_string_value(at(found, "/user"));
    CHECK(user == NULL ? name == NULL : name != NULL && strcmp(name, user) == 0, "the user that a store is bound to");
    CHECK(number_at(found, "/pending") == pending, "%lld changes wait, not %lld", number_at(found, "/pending"), pending);
    CHECK(json_is_integer(at(found, "/last_sync")) == (user != NULL), "when it was synchronized");
    json_decref(found);
}

static void documents(satchel_remote *remote) {
    struct phone one = opened(), two = opened();
    put(&one, "a", "{\"x\":1,\"y\":1}");
    status_is(&one, NULL, 0);
    satchel_store_sync_options dry = SATCHEL_STORE_SYNC_OPTIONS_INIT;
    dry.dry_run = true;
    json_t *report = NULL;
    must(sync_as(&one, remote, "mia", &dry, &report), "a dry run");
    CHECK(strcmp(json_string_value(at(report, "/planned/0/action")), "upload") == 0, "what would be sent");
    json_decref(report);
    CHECK(count(&one, remote, NULL, "/records/uploaded") == 1, "sent");
    CHECK(count(&two, remote, NULL, "/records/downloaded") == 1, "received");
    status_is(&one, "mia", 0);
    put(&one, "a", "{\"x\":2,\"y\":1}");
    status_is(&one, "mia", 1);
    put(&two, "a", "{\"x\":1,\"y\":2}");
    count(&one, remote, NULL, "/requests");
    CHECK(count(&two, remote, NULL, "/records/merged") == 1, "merged by the declared policy");
    count(&one, remote, NULL, "/requests");
    CHECK(has(&one, "a", "{\"x\":2,\"y\":2}") && has(&two, "a", "{\"x\":2,\"y\":2}"), "both changes are kept");
    CHECK(count(&one, remote, NULL, "/requests") == 1, "nothing to do is one request");

    int64_t deleted = 0;
    CHECK(satchel_records_clear(one.notes, &deleted) == SATCHEL_OK && deleted == 1, "cleared");
    CHECK(satchel_store_drop_collection(one.store, text("notes"), false) == SATCHEL_ECONFLICT, "not sent yet");
    CHECK(count(&one, remote, NULL, "/records/deleted_remotely") == 1, "deletions are sent");
    CHECK(count(&two, remote, NULL, "/records/deleted_locally") == 1, "and received");
    CHECK(satchel_store_drop_collection(one.store, text("notes"), false) == SATCHEL_OK, "dropped");
    CHECK(satchel_store_drop_collection(one.store, text("notes"), false) == SATCHEL_ENOTFOUND, "it is gone");

    CHECK(sync_as(&two, remote, "leo", NULL, NULL) == SATCHEL_EFOREIGN, "it is bound to a user");
    CHECK(satchel_store_detach(two.store, NULL, NULL) == SATCHEL_OK && sync_as(&two, remote, "leo", NULL, NULL) == SATCHEL_EFOREIGN,
          "and belongs to this user when it is detached");
    satchel_store_sync_options upload = SATCHEL_STORE_SYNC_OPTIONS_INIT;
    upload.first = SATCHEL_FIRST_UPLOAD;
    CHECK(sync_as(&two, remote, "leo", &upload, NULL) == SATCHEL_OK, "until it is given to another one");
    upload.first = (satchel_first_sync)9;
    CHECK(sync_as(&two, remote, "leo", &upload, NULL) == SATCHEL_EINVALID, "no such choice");
    closed(&one);
    closed(&two);
}

static void accounts(satchel_remote *remote) {
    struct phone one = opened();
    put(&one, "a", "{}");
    CHECK(count(&one, remote, NULL, "/first_upload") == 1, "the first user");
    put(&one, "b", "{}");
    CHECK(satchel_store_sign_out(one.store, NULL, NULL, false, NULL) == SATCHEL_ECONFLICT, "not sent yet");
    must(satchel_store_sign_out(one.store, remote, NULL, false, &out), "signed out");
    json_t *report = json_loadb((const char *)out.data, out.size, 0, NULL);
    CHECK(json_integer_value(at(report, "/records/uploaded")) == 1, "sent first");
    json_decref(report);
    satchel_buffer_free(&out);
    int64_t left = 1;
    CHECK(satchel_records_clear(one.notes, &left) == SATCHEL_OK && left == 0, "emptied");
    put(&one, "c", "{}");
    must(satchel_store_sign_out(one.store, NULL, NULL, true, &out), "discarded");
    CHECK(out.size == 4 && memcmp(out.data, "null", 4) == 0, "nothing was synchronized");
    satchel_buffer_free(&out);
    must(satchel_store_delete_account(one.store, remote, text("mia"), NULL, NULL), "deleted");
    CHECK(sync_as(&one, remote, "mia", NULL, NULL) == SATCHEL_EFOREIGN, "closed");
    CHECK(satchel_store_sign_out(NULL, NULL, NULL, true, NULL) == SATCHEL_EINVALID, "no store");
    CHECK(satchel_store_delete_account(one.store, NULL, text("mia"), NULL, NULL) == SATCHEL_EINVALID, "no remote");
    closed(&one);
}

static void states(satchel_remote *remote) {
    struct phone one = opened(), two = opened();
    CHECK(satchel_state_set_synced(one.store, SATCHEL_STATE_VALUE, text("theme"), text(""), true) == SATCHEL_OK,
          "a value is marked");
    CHECK(satchel_state_set_synced(one.store, SATCHEL_STATE_LIST, text("seen"), text("{\"limit\":2}"), true)
              == SATCHEL_OK,
          "a list is marked");
    CHECK(satchel_state_set_synced(one.store, (satchel_state_kind)9, text("x"), text(""), true) == SATCHEL_EINVALID,
          "no such kind");
    CHECK(satchel_state_set_synced(one.store, SATCHEL_STATE_LIST, text("x"), text("{\"limits\":2}"), true)
              == SATCHEL_EINVALID,
          "no such bound");
    must(satchel_state_set(one.store, text("theme"), text("\"dark\""), false), "a value");
    must(satchel_state_list_push(one.store, text("seen"), text("1"), NULL), "an item");
    CHECK(count(&one, remote, NULL, "/state/uploaded") == 2, "a value and a list are sent");
    CHECK(count(&two, remote, NULL, "/state/downloaded") == 2, "and received");
    must(satchel_state_get(two.store, text("theme"), &out), "reading the value");
    CHECK(out.data != NULL && strcmp((const char *)out.data, "\"dark\"") == 0, "the value of the other device");
    satchel_buffer_free(&out);
    closed(&one);
    closed(&two);
}

static void keys(satchel_remote *remote) {
    struct phone one = opened(), two = opened();
    satchel_store_sync_options sealed = SATCHEL_STORE_SYNC_OPTIONS_INIT;
    sealed.key = text("0123456789abcdef0123456789abcdef");
    put(&one, "b", "{}");
    must(satchel_store_sync(one.store, remote, text("eva"), NULL, NULL), "a sync");
    CHECK(satchel_store_rekey(one.store, remote, text("eva"), NULL, sealed.key, NULL) == SATCHEL_OK, "encrypted");
    CHECK(sync_as(&two, remote, "eva", NULL, NULL) == SATCHEL_EAUTH, "refused without the key");
    CHECK(sync_as(&two, remote, "eva", &sealed, NULL) == SATCHEL_OK && has(&two, "b", "{}"), "read with it");
    sealed.key = text("short");
    CHECK(sync_as(&two, remote, "eva", &sealed, NULL) == SATCHEL_EINVALID, "a key has 32 bytes");
    closed(&one);
    closed(&two);
}

static void nameless(void) {
    struct memory memory;
    satchel_remote *remote = open_memory(&memory);
    struct phone one = opened();
    CHECK(sync_as(&one, remote, "mia", NULL, NULL) == SATCHEL_EINVALID, "a remote without an identity");
    closed(&one);
    close_memory(&memory, remote);
}

/** Bytes that a document refers to: uploaded with it, fetched when they are needed, by ranges and as a whole. */
static void assets(satchel_remote *remote) {
    struct phone phone = opened(), tablet = opened();
    static unsigned char picture[150000];
    for (size_t index = 0; index < sizeof picture; index++) picture[index] = (unsigned char)(index * 7 % 251);
    must(satchel_assets_put(phone.store, (satchel_bytes){picture, sizeof picture}, text("image/jpeg"), false, &out),
         "putting a picture");
    char *reference = strdup((const char *)out.data);
    satchel_buffer_free(&out);
    char document[512], references[512];
    snprintf(document, sizeof document, "{\"picture\":%s}", reference);
    snprintf(references, sizeof references, "[%s]", reference);
    put(&phone, "a", document);
    satchel_store_sync_options held = SATCHEL_STORE_SYNC_OPTIONS_INIT;
    held.hold_assets = true;
    CHECK(count(&phone, remote, &held, "/assets/uploaded") == 0, "held back");
    CHECK(count(&phone, remote, NULL, "/assets/uploaded") == 1, "uploaded");
    CHECK(satchel_assets_fetch_remote(tablet.store, text(references), remote, NULL, &out) == SATCHEL_EINVALID,
          "never synchronized");
    CHECK(count(&tablet, remote, NULL, "/assets/downloaded") == 0, "lazy");
    must(satchel_assets_read_remote(tablet.store, text(reference), remote, 65530, 20, &out), "a range");
    CHECK(out.size == 20 && memcmp(out.data, picture + 65530, 20) == 0, "other bytes of the range");
    satchel_buffer_free(&out);
    CHECK(satchel_assets_read_remote(tablet.store, text(reference), remote, -1, 20, &out) == SATCHEL_EINVALID,
          "a negative offset");
    must(satchel_assets_fetch_remote(tablet.store, text(references), remote, NULL, &out), "fetching");
    json_t *report = take(&out);
    CHECK(number_at(report, "/fetched") == 1 && number_at(report, "/fetched_bytes") == 150000, "fetched");
    json_decref(report);
    must(satchel_assets_read(tablet.store, text(reference), 0, INT64_MAX, &out), "reading");
    CHECK(out.size == sizeof picture && memcmp(out.data, picture, sizeof picture) == 0, "other bytes");
    satchel_buffer_free(&out);
    satchel_store_sync_options all = SATCHEL_STORE_SYNC_OPTIONS_INIT;
    all.asset_bytes = SATCHEL_ALL_ASSETS;
    struct phone third = opened();
    CHECK(count(&third, remote, NULL, "/assets/downloaded") == 0, "lazy");
    must(satchel_store_detach(third.store, NULL, &out), "detaching");
    report = take(&out);
    CHECK(number_at(report, "/remote_assets") == 1 && number_at(report, "/remote_bytes") == 150000, "left");
    json_decref(report);
    CHECK(count(&third, remote, NULL, "/assets/repaired") == 0, "bound again");
    must(satchel_store_detach(third.store, remote, &out), "fetching, and detaching");
    report = take(&out);
    CHECK(number_at(report, "/remote_assets") == 0 && number_at(report, "/assets/fetched") == 1, "fetched first");
    json_decref(report);
    CHECK(satchel_store_detach(NULL, NULL, NULL) == SATCHEL_EINVALID, "no store");
    closed(&third);
    third = opened();
    CHECK(count(&third, remote, &all, "/assets/downloaded") == 1, "all");
    all.asset_bytes = -2;
    CHECK(sync_as(&third, remote, "mia", &all, NULL) == SATCHEL_EINVALID, "a negative number of bytes");
    CHECK(satchel_assets_fetch_remote(tablet.store, text(references), NULL, NULL, &out) == SATCHEL_EINVALID,
          "no remote");
    CHECK(satchel_assets_read_remote(NULL, text(reference), remote, 0, 1, &out) == SATCHEL_EINVALID, "no store");
    free(reference);
    closed(&third);
    closed(&tablet);
    closed(&phone);
}

int main(void) {
    struct memory memory;
    satchel_remote *remote = open_named_memory(&memory, "memory");
    documents(remote);
    close_memory(&memory, remote);
    struct memory second;
    remote = open_named_memory(&second, "second");
    states(remote);
    keys(remote);
    close_memory(&second, remote);
    struct memory third;
    remote = open_named_memory(&third, "third");
    accounts(remote);
    close_memory(&third, remote);
    struct memory fourth;
    remote = open_named_memory(&fourth, "fourth");
    assets(remote);
    close_memory(&fourth, remote);
    nameless();
    return close_checks();
}
