/* The photos of a holiday, on a phone and on a tablet: both keep a catalogue of them, and synchronize it through
 * an object store. Here both devices are in one program, and the store is a directory, or S3 when
 * SATCHEL_S3_BUCKET names a bucket (SATCHEL_S3_ENDPOINT where it is not with AWS, and AWS_ACCESS_KEY_ID and so
 * on). Usage: album folder, which is made */
#include "example.h"

#include <sys/stat.h>

/** A device has a store of its own. */
struct device {
    const char *name;
    satchel_store *store;
    satchel_photos *photos;
};

/** Opens a store in the folder, and the catalogue of a directory, which need not exist. */
static struct device open_device(const char *folder, const char *name) {
    struct device device = {name, NULL, NULL};
    char path[4096];
    snprintf(path, sizeof path, "%s/%s.satchel", folder, name);
    must(satchel_store_open(path, NULL, &device.store));
    snprintf(path, sizeof path, "%s/%s", folder, name);
    must(satchel_photos_open(device.store, satchel_text(path), SATCHEL_CONFLICT_DEFAULT, &device.photos));
    return device;
}

/** Adds a photo, or replaces its row. */
static void add(struct device device, const char *md5, const char *filename, int taken) {
    char row[512];
    snprintf(row, sizeof row,
             "{\"md5\": \"%s\", \"filename\": \"%s\", \"size\": 2400000, \"photodate\": %d, \"modified\": %d,"
             " \"width\": 4032, \"height\": 3024}",
             md5, filename, taken, taken);
    must(satchel_photos_upsert(device.photos, satchel_text(row), NULL));
}

/** Synchronizes, and prints which shards moved: a catalogue has sixteen, by the first digit of the MD5. */
static void sync_device(struct device device, satchel_remote *remote) {
    static const char *const lists[] = {"downloaded", "uploaded", "conflicts"};
    satchel_buffer buffer;
    must(satchel_photos_sync(device.photos, remote, satchel_text("lena"), NULL, &buffer));
    printf("  %s:%*s", device.name, (int)(7 - strlen(device.name)), "");
    const char *comma = "";
    for (int list = 0; list < 3; list++) {
        size_t shards = count_of(&buffer, "%s", lists[list]);
        if (shards > 0) printf("%s%s", comma, lists[list]), comma = ", ";
        for (size_t index = 0; index < shards; index++)
            printf(" %x", (unsigned)number(&buffer, "/%s/%zu", lists[list], index));
    }
    long requests = number(&buffer, "requests");
    if (!*comma) printf("nothing to do, %ld request%s", requests, requests == 1 ? "" : "s");
    puts("");
    satchel_buffer_free(&buffer);
}

/** The conflict log: changes that lost, which the device can make again. */
static satchel_buffer conflicts_of(struct device device) {
    satchel_buffer conflicts;
    must(satchel_photos_conflicts(device.photos, 0, 100, &conflicts));
    return conflicts;
}

static void show_conflicts(struct device device) {
    satchel_buffer page = conflicts_of(device);
    for (size_t index = 0; index < count_of(&page, "conflicts"); index++) {
        printf("  \"%s\" lost to \"%s\", and is kept.\n", string(&page, "/conflicts/%zu/local/filename", index),
               string(&page, "/conflicts/%zu/remote/filename", index));
    }
    satchel_buffer_free(&page);
}

static void reapply_all(struct device device) {
    satchel_buffer page = conflicts_of(device);
    for (size_t index = 0; index < count_of(&page, "conflicts"); index++)
        must(satchel_photos_resolve(device.photos, number(&page, "/conflicts/%zu/id", index), satchel_text("{\"keep\": \"local\"}")));
    satchel_buffer_free(&page);
}

/** Prints the names of the photos, the oldest first. */
static void show_photos(struct device device) {
    satchel_buffer buffer;
    must(satchel_photos_query(device.photos, satchel_text("{\"order\": \"photodate\"}"), &buffer));
    for (size_t index = 0; index < count_of(&buffer, "photos"); index++)
        printf("%s%s", index ? ", " : "", string(&buffer, "/photos/%zu/filename", index));
    satchel_buffer_free(&buffer);
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
    satchel_remote *remote = open_remote(arguments[1], "album");
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
