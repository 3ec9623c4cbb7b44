/* Uses an installed Satchel: the header, the library, and one section in and out. */
#include <satchel.h>
#include <stdio.h>
#include <string.h>

static satchel_bytes text(const char *string) { return (satchel_bytes){string, strlen(string)}; }

int main(void) {
    satchel_store *store;
    satchel_buffer headers = SATCHEL_BUFFER_INIT;
    const char *paris = "{\"country_code\":\"fr\",\"locality\":\"Paris\"}";
    const char *section =
        "{\"section\":\"facts\",\"display_title\":\"Facts\",\"content\":{\"river\":\"Seine\"}}";
    if (satchel_store_open(":memory:", NULL, &store) != SATCHEL_OK
        || satchel_catalogue_persist(store, text(paris), text(section), NULL, NULL) != SATCHEL_OK
        || satchel_catalogue_sections(store, text(paris), NULL, &headers) != SATCHEL_OK) {
        fprintf(stderr, "%s\n", satchel_error_message());
        return 1;
    }
    printf("satchel %s: %s\n", satchel_version(), headers.data);
    satchel_buffer_free(&headers);
    return satchel_store_close(store) == SATCHEL_OK ? 0 : 1;
}
