/* Object stores that the host supplies, and that answer nonsense, misuse what they are given, or break their word. */
#include "memory_store.h"
#include "photos.h"

static satchel_buffer out;

/** An object store that answers nonsense: nothing is lost or made up, and with a sound store all is well again. */
static void mischievous(enum mischief mischief) {
    struct memory memory;
    satchel_remote *remote = open_memory(&memory);
    struct device phone = new_device(), tablet = new_device();
    for (int shard = 0; shard < 3; shard++) put_photo(phone.photos, "07f"[shard], 1, "a.jpg");
    json_decref(sync_device(&phone, remote, NULL));
    put_photo(phone.photos, '7', 2, "b.jpg");
    char *before = files_of(phone.photos);
    memory.mischief = mischief;
    struct device *devices[] = {&phone, &tablet};
    for (int index = 0; index < 2; index++) {
        satchel_status status =
            satchel_photos_sync(devices[index]->photos, remote, text("lena"), NULL, &out);
        json_t *report = status == SATCHEL_OK ? take(&out) : NULL;
        /* A device that has all already may not come to what is wrong. */
        CHECK(status != SATCHEL_OK || json_array_size(at(report, "/failed")) > 0 || mischief >= SETS_TWICE
                  || count_photos(devices[index]->photos) == (index ? 0 : 4),
              "mischief %d: nothing is said", mischief);
        CHECK(status == SATCHEL_OK || satchel_error_message()[0], "mischief %d: no message", mischief);
        if (mischief == FAILED_WITH_MESSAGE)
            CHECK(status != SATCHEL_OK && strstr(satchel_error_message(), "on fire"), "the host said: %s",
                  satchel_error_message());
        if (mischief == DENIED) CHECK(status == SATCHEL_EAUTH, "denied: %s", satchel_status_name(status));
        sound("after mischief", devices[index]->store);
        json_decref(report);
    }
    char *after = files_of(phone.photos);
    CHECK(strcmp(before, after) == 0, "mischief %d: the rows changed:\n%s\n%s", mischief, before, after);
    free(before);
    free(after);

    memory.mischief = HONEST;
    for (int round = 0; round < 2; round++) {
        json_decref(sync_device(&phone, remote, NULL));
        json_decref(sync_device(&tablet, remote, NULL));
    }
    CHECK(agree(phone.photos, tablet.photos) && count_photos(tablet.photos) == 4 && modified_shards(phone.photos) == 0,
          "mischief %d: not mended", mischief);
    give_away(&phone);
    give_away(&tablet);
    close_memory(&memory, remote);
}

/** Answers that get lost are asked for again: what was written is known. */
static void lost_answers(void) {
    struct memory memory;
    satchel_remote *remote = open_memory(&memory);
    struct device phone = new_device(), tablet = new_device();
    memory.mischief = LOST_ANSWERS;
    for (int shard = 0; shard < 16; shard++) put_photo(phone.photos, "0123456789abcdef"[shard], 1, "a.jpg");
    json_t *report = sync_device(&phone, remote, NULL);
    CHECK(json_array_size(at(report, "/uploaded")) == 16 && json_array_size(at(report, "/failed")) == 0,
          "%zu of 16", json_array_size(at(report, "/uploaded")));
    json_decref(report);
    memory.mischief = HONEST;
    json_decref(sync_device(&tablet, remote, NULL));
    CHECK(agree(phone.photos, tablet.photos), "the devices differ");
    CHECK(memory.most_inside > 1, "calls never overlapped");
    give_away(&phone);
    give_away(&tablet);
    close_memory(&memory, remote);
}

/** A store that ignores conditions is refused, unless the host takes the risk. */
static void no_conditions(void) {
    struct memory memory;
    satchel_remote *remote = open_memory(&memory);
    struct device device = new_device();
    put_photo(device.photos, '4', 1, "a.jpg");
    memory.mischief = NO_CONDITIONS;
    satchel_status status = satchel_photos_sync(device.photos, remote, text("lena"), NULL, &out);
    CHECK(status == SATCHEL_EINVALID && strstr(satchel_error_message(), "conditional writes"),
          "conditions are ignored: %s: %s", satchel_status_name(status), satchel_error_message());
    satchel_buffer_free(&out);
    CHECK(object_at(&memory, ".csv") == NULL, "something was written");
    must(satchel_remote_probe(remote, text("catalogs/"), &out), "probing");
    json_t *verdict = take(&out);
    CHECK(json_is_false(at(verdict, "/supported")) && json_string_length(at(verdict, "/reason")) > 0, "the verdict");
    json_decref(verdict);
    satchel_sync_options options = SATCHEL_SYNC_OPTIONS_INIT;
    options.allow_unsafe_remote = true;
    json_decref(sync_device(&device, remote, &options));
    CHECK(object_at(&memory, "shards/4.csv") != NULL, "nothing was written");
    give_away(&device);
    close_memory(&memory, remote);
}

/** Without a manifest the store is asked what there is. */
static void listings(void) {
    for (int mischief = LISTING_NO_PAGE; mischief <= LISTING_OF_NONSENSE; mischief++) {
        struct memory memory;
        satchel_remote *remote = open_memory(&memory);
        struct device phone = new_device(), tablet = new_device();
        put_photo(phone.photos, '4', 1, "a.jpg");
        json_decref(sync_device(&phone, remote, NULL));
        forget(&memory, object_at(&memory, "manifest.json"));
        memory.mischief = (enum mischief)mischief;
        satchel_status status = satchel_photos_sync(tablet.photos, remote, text("lena"), NULL, NULL);
        CHECK(status == SATCHEL_EFOREIGN, "listing %d: %s: %s", mischief, satchel_status_name(status),
              satchel_error_message());
        memory.mischief = HONEST;
        json_decref(sync_device(&tablet, remote, NULL));
        CHECK(is_named(tablet.photos, md5_of('4', 1), "a.jpg"), "what a manifest does not tell is not found");
        give_away(&phone);
        give_away(&tablet);
        close_memory(&memory, remote);
    }
}

/** The context of a remote outlives its handle for as long as a sync uses it. */
struct freeing {
    satchel_remote *remote;
    struct memory *memory;
    int released;
};

static bool free_remote(void *context, satchel_bytes progress) {
    struct freeing *freeing = context;
    (void)progress;
    satchel_remote_free(freeing->remote);
    freeing->released += freeing->memory->releases;
    return true;
}

static void freed_meanwhile(void) {
    struct memory memory;
    satchel_remote *remote = open_memory(&memory);
    struct device device = new_device();
    put_photo(device.photos, '4', 1, "a.jpg");
    struct freeing freeing = {remote, &memory, 0};
    satchel_sync_options options = SATCHEL_SYNC_OPTIONS_INIT;
    options.progress = free_remote;
    options.context = &freeing;
    must(satchel_photos_sync(device.photos, remote, text("lena"), &options, NULL), "synchronizing");
    CHECK(freeing.released == 0, "the context was released too early");
    CHECK(satchel_photos_sync(device.photos, remote, text("lena"), NULL, NULL) == SATCHEL_ECLOSED, "a freed remote");
    give_away(&device);
    close_memory(&memory, remote);
}

/** Objects that others put there, in the place of shards and manifest. */
static void strange_objects(void) {
    static const char *const manifests[] = {
        "", "\xFF\xFE", "{\"version\":99,\"directory-uuid\":\"a\"}",
        "{\"version\":\"6.0\",\"directory-uuid\":7,\"shard-checksums\":{\"0\":\"../../etc\"}}"};
    for (size_t index = 0; index < sizeof manifests / sizeof *manifests; index++) {
        struct memory memory;
        satchel_remote *remote = open_memory(&memory);
        struct device phone = new_device();
        put_photo(phone.photos, '4', 1, "a.jpg");
        json_decref(sync_device(&phone, remote, NULL));
        struct object *manifest = object_at(&memory, "manifest.json");
        free(manifest->body);
        manifest->body = copied(text(manifests[index]));
        manifest->size = strlen(manifests[index]);
        manifest->version = ++memory.version;
        put_photo(phone.photos, '4', 2, "b.jpg");
        satchel_status status = satchel_photos_sync(phone.photos, remote, text("lena"), NULL, &out);
        CHECK(status != SATCHEL_OK, "\"%s\" is accepted as a manifest: %s", manifests[index], out.data);
        satchel_buffer_free(&out);
        CHECK(count_photos(phone.photos) == 2 && modified_shards(phone.photos) == 1u << 4, "rows were lost");
        CHECK(strcmp(object_at(&memory, "manifest.json")->body, manifests[index]) == 0, "it was overwritten");
        give_away(&phone);
        close_memory(&memory, remote);
    }
}

int main(void) {
    for (int mischief = NO_ETAG; mischief < LOST_ANSWERS; mischief++) mischievous((enum mischief)mischief);
    lost_answers();
    no_conditions();
    listings();
    freed_meanwhile();
    strange_objects();
    return close_checks();
}
