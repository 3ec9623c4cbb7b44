/* The photos of a holiday, on a phone and on a tablet: both keep a catalogue of them, and agree on it through a
 * master copy in an object store. Here both devices are in one program, and the store is a directory, or S3 when
 * SATCHEL_S3_BUCKET names a bucket (SATCHEL_S3_ENDPOINT where it is not with AWS, and AWS_ACCESS_KEY_ID and so
 * on). jansson reads the JSON that comes back. Usage: album folder, which is made */
#include <jansson.h>
#include <satchel.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

/** A device has a store of its own. */
struct device {
    const char *name;
    satchel_store *store;
    satchel_photos *photos;
};

/** Ends the program when a call failed, and says why. */
static void must(satchel_status status) {
    if (status == SATCHEL_OK) return;
    fprintf(stderr, "%s: %s\n", satchel_status_name(status), satchel_error_message());
    exit(1);
}

static satchel_bytes text(const char *string) { return (satchel_bytes){string, strlen(string)}; }

/** Reads what the library answered, and gives its memory back. */
static json_t *answer(satchel_buffer *buffer) {
    json_t *value = json_loadb(buffer->data, buffer->size, JSON_DECODE_ANY, NULL);
    satchel_buffer_free(buffer);
    return value;
}

static const char *string(const json_t *object, const char *key) {
    const char *value = json_string_value(json_object_get(object, key));
    return value ? value : "";
}

/** Opens a store in the folder, and the catalogue of a directory, which need not exist. */
static struct device open_device(const char *folder, const char *name) {
    struct device device = {name, NULL, NULL};
    char path[4096];
    snprintf(path, sizeof path, "%s/%s.satchel", folder, name);
    must(satchel_store_open(path, NULL, &device.store));
    snprintf(path, sizeof path, "%s/%s", folder, name);
    must(satchel_photos_open(device.store, text(path), &device.photos));
    return device;
}

/** Where the master copy is. */
static satchel_remote *open_remote(const char *folder) {
    satchel_remote *remote;
    const char *bucket = getenv("SATCHEL_S3_BUCKET"), *endpoint = getenv("SATCHEL_S3_ENDPOINT");
    char place[4096];
    if (!bucket) {
        snprintf(place, sizeof place, "%s/master", folder);
        must(satchel_remote_directory(text(place), &remote));
        return remote;
    }
    snprintf(place, sizeof place, "album-%lld", (long long)time(NULL));
    json_t *options = json_pack("{s:s, s:s, s:s*}", "bucket", bucket, "prefix", place, "endpoint", endpoint);
    char *written = json_dumps(options, 0);
    must(satchel_remote_s3(text(written), &remote));
    free(written);
    json_decref(options);
    return remote;
}

/** Adds a photo, or replaces its row. */
static void add(struct device device, const char *md5, const char *filename, int taken) {
    json_t *row = json_pack("{s:s, s:s, s:i, s:i, s:i, s:i, s:i}", "md5", md5, "filename", filename, "size",
                            2400000, "photodate", taken, "modified", taken, "width", 4032, "height", 3024);
    char *written = json_dumps(row, 0);
    must(satchel_photos_upsert(device.photos, text(written), NULL));
    free(written);
    json_decref(row);
}

/** Synchronises, and prints which shards moved: a catalogue has sixteen, by the first digit of the MD5. */
static void sync_device(struct device device, satchel_remote *remote) {
    static const char *const lists[] = {"downloaded", "uploaded", "conflicts"};
    satchel_buffer buffer;
    must(satchel_photos_sync(device.photos, remote, text("lena"), NULL, &buffer));
    json_t *report = answer(&buffer), *shard;
    printf("  %s:%*s", device.name, (int)(7 - strlen(device.name)), "");
    const char *comma = "";
    for (int list = 0; list < 3; list++) {
        json_t *shards = json_object_get(report, lists[list]);
        size_t index;
        if (json_array_size(shards) > 0) printf("%s%s", comma, lists[list]), comma = ", ";
        json_array_foreach(shards, index, shard) printf(" %x", (unsigned)json_integer_value(shard));
    }
    int requests = (int)json_integer_value(json_object_get(report, "requests"));
    if (!*comma) printf("nothing to do, %d request%s", requests, requests == 1 ? "" : "s");
    puts("");
    json_decref(report);
}

/** Changes that lost are kept: the device can make them again. */
static json_t *conflicts_of(struct device device) {
    satchel_buffer buffer;
    must(satchel_photos_conflicts(device.photos, 0, 100, &buffer));
    return answer(&buffer);
}

static void show_conflicts(struct device device) {
    json_t *page = conflicts_of(device), *conflict;
    size_t index;
    json_array_foreach(json_object_get(page, "conflicts"), index, conflict) {
        printf("  \"%s\" lost to \"%s\", and is kept.\n", string(json_object_get(conflict, "local"), "filename"),
               string(json_object_get(conflict, "remote"), "filename"));
    }
    json_decref(page);
}

static void reapply_all(struct device device) {
    json_t *page = conflicts_of(device), *conflict;
    size_t index;
    json_array_foreach(json_object_get(page, "conflicts"), index, conflict)
        must(satchel_photos_reapply(device.photos, json_integer_value(json_object_get(conflict, "id"))));
    json_decref(page);
}

/** Prints the names of the photos, the oldest first. */
static void show_photos(struct device device) {
    satchel_buffer buffer;
    must(satchel_photos_query(device.photos, text("{\"order\": \"photodate\"}"), &buffer));
    json_t *page = answer(&buffer), *photo;
    size_t index;
    json_array_foreach(json_object_get(page, "photos"), index, photo)
        printf("%s%s", index ? ", " : "", string(photo, "filename"));
    json_decref(page);
}

/** Whether two devices would write the same files, byte for byte. */
static int agree(struct device one, struct device other) {
    int same = 0;
    for (int shard = 0; shard < 16; shard++) {
        satchel_buffer first, second;
        must(satchel_photos_export_shard(one.photos, shard, &first));
        must(satchel_photos_export_shard(other.photos, shard, &second));
        same += first.size == second.size && memcmp(first.data, second.data, first.size) == 0;
        satchel_buffer_free(&first);
        satchel_buffer_free(&second);
    }
    return same;
}

int main(int count, char **arguments) {
    if (count != 2 || mkdir(arguments[1], 0777) != 0) {
        fprintf(stderr, "Usage: album folder, which must not exist\n");
        return 2;
    }
    struct device phone = open_device(arguments[1], "phone"), tablet = open_device(arguments[1], "tablet");
    satchel_remote *remote = open_remote(arguments[1]);
    const char *evening = "3c90d1f2e3a4b5c63c90d1f2e3a4b5c6";

    puts("The phone took 4 photos of the holiday.");
    add(phone, "3a1e5c0d9b7f48263a1e5c0d9b7f4826", "Tram 28.jpg", 1719822000);
    add(phone, evening, "IMG_0042.jpg", 1719954840);
    add(phone, "a4d27e8f10293b4ca4d27e8f10293b4c", "Belem.jpg", 1720010700);
    add(phone, "f0178a6b5c4d3e2ff0178a6b5c4d3e2f", "Cake.jpg", 1720013400);
    sync_device(phone, remote);
    sync_device(tablet, remote);

    puts("\nWithout a network, each names the same photo, and the tablet adds one.");
    add(phone, evening, "Sunset.jpg", 1719954840);
    add(tablet, evening, "Bridge at night.jpg", 1719954840);
    add(tablet, "f8b63c2d1e0f9a8bf8b63c2d1e0f9a8b", "Fado.jpg", 1720040400);
    sync_device(phone, remote);
    sync_device(tablet, remote);
    show_conflicts(tablet);

    puts("\nThe tablet applies it again.");
    reapply_all(tablet);
    sync_device(tablet, remote);
    sync_device(phone, remote);
    sync_device(phone, remote);

    printf("\nBoth have ");
    show_photos(phone);
    printf(".\nTheir files are the same, byte for byte: %d of 16.\n", agree(phone, tablet));

    struct device devices[] = {phone, tablet};
    for (int index = 0; index < 2; index++) {
        satchel_photos_free(devices[index].photos);
        must(satchel_store_close(devices[index].store));
    }
    satchel_remote_free(remote);
    return 0;
}
