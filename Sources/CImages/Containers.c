#include "Libraries.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

/* The parts of libheif and libwebpmux that are used, which are declared here: their headers would bring in those of
 * several codecs. libheif promises to keep these since 1.5, libwebpmux in its version of the interface. */

struct heif_error {
  int code, subcode;
  const char *message;
};

struct heif_functions {
  void *(*context_alloc)(void);
  void (*context_free)(void *context);
  struct heif_error (*read)(void *context, const void *bytes, size_t size, const void *options);
  struct heif_error (*primary)(void *context, void **handle);
  void (*release)(const void *handle);
  int (*width)(const void *handle);
  int (*height)(const void *handle);
  int (*blocks)(const void *handle, const char *type, uint32_t *ids, int count);
  size_t (*block_size)(const void *handle, uint32_t id);
  struct heif_error (*block)(const void *handle, uint32_t id, void *data);
};

struct webp_data {
  const uint8_t *bytes;
  size_t size;
};

struct webp_functions {
  void *(*create)(const struct webp_data *data, int copies, int version);
  void (*delete)(void *mux);
  int (*size)(const void *mux, int *width, int *height);
  int (*chunk)(const void *mux, const char name[4], struct webp_data *chunk);
};

/* The version of libwebpmux's interface; only its upper byte has to match. */
enum { WEBP_MUX_ABI = 0x0108, WEBP_MUX_OK = 1 };

/* EXIF of more than this is not read: cameras write some 10 KB, with maker notes and thumbnails. */
enum { EXIF_MAXIMUM = 4 << 20 };

/* ---------------------------------------------------------------------------------------------- Opening */

static bool find_all(void *library, void *functions, const char *const *names) {
  /* All members are pointers to functions. */
  for (size_t index = 0; names[index] != NULL; index++) {
    void *found = dlsym(library, names[index]);
    if (found == NULL) return false;
    memcpy((uint8_t *)functions + index * sizeof found, &found, sizeof found);
  }
  return true;
}

/* Opens a library, and returns its functions: `size` bytes of pointers, in the order of `names`; NULL without it. */
static void *open_functions(const char *name, size_t size, const char *const *names) {
  void *library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
  void *functions = library ? calloc(1, size) : NULL;
  if (functions == NULL || find_all(library, functions, names)) return functions;
  free(functions);
  return NULL;
}

/* The functions that are opened later are the only part that changes, with the lock held. */
static const struct heif_functions *heif_of(const struct satchel_images *images) {
  static const char *const names[] = {
      "heif_context_alloc", "heif_context_free", "heif_context_read_from_memory_without_copy",
      "heif_context_get_primary_image_handle", "heif_image_handle_release", "heif_image_handle_get_ispe_width",
      "heif_image_handle_get_ispe_height", "heif_image_handle_get_list_of_metadata_block_IDs",
      "heif_image_handle_get_metadata_size", "heif_image_handle_get_metadata", NULL};
  struct satchel_images *opened = (struct satchel_images *)(uintptr_t)images;
  pthread_mutex_lock(&opened->lock);
  if (!opened->is_heif_tried) opened->heif = open_functions(opened->heif_name, sizeof *opened->heif, names);
  opened->is_heif_tried = true;
  const struct heif_functions *functions = opened->heif;
  pthread_mutex_unlock(&opened->lock);
  return functions;
}

static const struct webp_functions *webp_of(const struct satchel_images *images) {
  static const char *const names[] = {
      "WebPMuxCreateInternal", "WebPMuxDelete", "WebPMuxGetCanvasSize", "WebPMuxGetChunk", NULL};
  struct satchel_images *opened = (struct satchel_images *)(uintptr_t)images;
  pthread_mutex_lock(&opened->lock);
  if (!opened->is_webp_tried) opened->webp = open_functions(opened->webp_name, sizeof *opened->webp, names);
  opened->is_webp_tried = true;
  const struct webp_functions *functions = opened->webp;
  pthread_mutex_unlock(&opened->lock);
  return functions;
}

/* ---------------------------------------------------------------------------------------------- HEIF */

static void read_primary(
    const struct satchel_images *images, const struct heif_functions *heif, const void *handle,
    struct satchel_exif *exif, satchel_found_exif found) {
  int width = heif->width(handle), height = heif->height(handle);
  if (width > 0 && height > 0) {
    exif->width = width;
    exif->height = height;
  }
  uint32_t id = 0;
  if (heif->blocks(handle, "Exif", &id, 1) < 1) return;
  size_t size = heif->block_size(handle, id);
  if (size <= 4 || size > EXIF_MAXIMUM) return;
  uint8_t *block = malloc(size);
  if (block == NULL) return;
  if (heif->block(handle, id, block).code == 0) {
    /* The first four bytes are the offset of the TIFF, after them. */
    size_t offset = (size_t)block[0] << 24 | (size_t)block[1] << 16 | (size_t)block[2] << 8 | block[3];
    if (offset > size - 4) offset = 0;
    found(images, block + 4 + offset, size - 4 - offset, exif);
  }
  free(block);
}

static void read_heif(
    const struct satchel_images *images, const struct satchel_image_source *source, struct satchel_exif *exif,
    satchel_found_exif found) {
  const struct heif_functions *heif = heif_of(images);
  if (heif == NULL) {
    exif->missing = SATCHEL_IMAGES_HEIF;
    return;
  }
  void *context = heif->context_alloc(), *handle = NULL;
  exif->is_unreadable = true;
  if (context == NULL) return;
  if (heif->read(context, source->head, source->count, NULL).code == 0 && heif->primary(context, &handle).code == 0) {
    exif->is_unreadable = false;
    read_primary(images, heif, handle, exif, found);
    heif->release(handle);
  }
  heif->context_free(context);
}

/* Whether the brands of a file are those of HEIC or AVIF images; those of films and of Canon's raw files are not. */
static bool is_heif(const uint8_t *head, size_t count) {
  static const char brands[][5] = {"heic", "heix", "heim", "heis", "hevc", "hevx",
                                   "mif1", "mif2", "msf1", "avif", "avis"};
  if (memcmp(head + 4, "ftyp", 4) != 0) return false;
  size_t size = (size_t)head[0] << 24 | (size_t)head[1] << 16 | (size_t)head[2] << 8 | head[3];
  if (size > 256) size = 256;
  if (size > count) size = count;
  for (size_t offset = 8; offset + 4 <= size; offset += 4) {
    /* After the major brand follows its version. */
    for (size_t index = 0; offset != 12 && index < sizeof brands / sizeof *brands; index++) {
      if (memcmp(head + offset, brands[index], 4) == 0) return true;
    }
  }
  return false;
}

/* ---------------------------------------------------------------------------------------------- WebP */

static void read_webp(
    const struct satchel_images *images, const struct satchel_image_source *source, struct satchel_exif *exif,
    satchel_found_exif found) {
  const struct webp_functions *webp = webp_of(images);
  if (webp == NULL) {
    exif->missing = SATCHEL_IMAGES_WEBP;
    return;
  }
  exif->is_unreadable = true;
  struct webp_data data = {source->head, source->count}, chunk = {NULL, 0};
  void *mux = webp->create(&data, 0, WEBP_MUX_ABI);
  if (mux != NULL) {
    int width = 0, height = 0;
    if (webp->size(mux, &width, &height) == WEBP_MUX_OK && width > 0 && height > 0) {
      exif->is_unreadable = false;
      exif->width = width;
      exif->height = height;
    }
    if (webp->chunk(mux, "EXIF", &chunk) == WEBP_MUX_OK && chunk.size > 0 && chunk.size <= EXIF_MAXIMUM) {
      found(images, chunk.bytes, chunk.size, exif);
    }
    webp->delete(mux);
  }
}

static bool is_webp(const uint8_t *head) { return memcmp(head, "RIFF", 4) == 0 && memcmp(head + 8, "WEBP", 4) == 0; }

/* The shortest start of a file that shows its format. */
enum { START = 12 };

bool satchel_images_need_all(const uint8_t *head, size_t count) {
  return head != NULL && count >= START && (is_webp(head) || is_heif(head, count));
}

bool satchel_container_read(
    const struct satchel_images *images, const struct satchel_image_source *source, struct satchel_exif *exif,
    satchel_found_exif found) {
  if (!satchel_images_need_all(source->head, source->count)) return false;
  /* The libraries get memory that cannot change, and no reader that can fail: libheif ends the process by an assertion
   * when it cannot read what it was promised. */
  if (source->file >= 0 && source->size > source->count) {
    exif->is_incomplete = true;
  } else if (is_webp(source->head)) {
    read_webp(images, source, exif, found);
  } else {
    read_heif(images, source, exif, found);
  }
  return true;
}
