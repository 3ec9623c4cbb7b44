#include "loading.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The part of libpng's simplified interface that is used; stable in 1.6, whose versions the structure names. */
enum {
  PNG_IMAGE_VERSION = 1,
  PNG_FORMAT_FLAG_ALPHA = 0x01,
  PNG_FORMAT_FLAG_COLOR = 0x02,
  PNG_IMAGE_FLAG_COLORSPACE_NOT_sRGB = 0x01,
  PNG_IMAGE_FLAG_16BIT_sRGB = 0x04,
  PNG_IMAGE_ERROR = 2,
};

typedef struct {
  void *opaque;
  uint32_t version;
  uint32_t width;
  uint32_t height;
  uint32_t format;
  uint32_t flags;
  uint32_t colormap_entries;
  uint32_t warning_or_error;
  char message[64];
} png_image;

#define PNG_FUNCTIONS(each)                                                     \
  each(int, image_begin_read_from_memory, (png_image *, const void *, size_t))  \
  each(int, image_finish_read, (png_image *, const void *, void *, int32_t, void *)) \
  each(int, image_write_to_memory, (png_image *, void *, size_t *, int, const void *, int32_t, const void *)) \
  each(void, image_free, (png_image *))

typedef struct {
#define PNG_FIELD(result, name, parameters) result(*name) parameters;
  PNG_FUNCTIONS(PNG_FIELD)
#undef PNG_FIELD
} png_functions;

static png_functions png;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static bool is_loaded;
static char failure[CIMAGES_MESSAGE];

static bool find(const char *const *names, png_functions *functions, char *message) {
#define PNG_SYMBOL(result, name, parameters) {"png_" #name, (void **)&functions->name},
  const cimages_symbol symbols[] = {PNG_FUNCTIONS(PNG_SYMBOL){NULL, NULL}};
#undef PNG_SYMBOL
  return cimages_open(names, "libpng16-16", symbols, message);
}

static void load(void) {
  const char *const names[] = {
#ifdef __APPLE__
      "libpng16.16.dylib", "/opt/homebrew/opt/libpng/lib/libpng16.16.dylib",
#else
      "libpng16.so.16",
#endif
      NULL};
  is_loaded = find(names, &png, failure);
}

static bool is_there(char *message) {
  pthread_once(&once, load);
  if (!is_loaded) snprintf(message, CIMAGES_MESSAGE, "%s", failure);
  return is_loaded;
}

bool cimages_can_load_png(const char *name, char message[CIMAGES_MESSAGE]) {
  const char *const names[] = {name, NULL};
  png_functions functions;
  return find(names, &functions, message);
}

static cimages_outcome damaged(const png_image *image, char *message) {
  snprintf(message, CIMAGES_MESSAGE, "%.63s", image->message);
  return CIMAGES_DAMAGED;
}

static cimages_outcome finish(png_image *image, cimages_picture *picture, char *message) {
  bool has_color = image->format & PNG_FORMAT_FLAG_COLOR, has_alpha = image->format & PNG_FORMAT_FLAG_ALPHA;
  cimages_format format = has_color ? (has_alpha ? CIMAGES_RGBA : CIMAGES_RGB)
                                    : (has_alpha ? CIMAGES_GRAY_ALPHA : CIMAGES_GRAY);
  /* Neither 16 bits a sample nor a palette; most files of 16 bits are not linear, though they do not say so. */
  image->format &= PNG_FORMAT_FLAG_COLOR | PNG_FORMAT_FLAG_ALPHA;
  image->flags |= PNG_IMAGE_FLAG_16BIT_sRGB;
  if (!cimages_allocate(picture, image->width, image->height, format)) return CIMAGES_NO_MEMORY;
  picture->is_not_srgb = image->flags & PNG_IMAGE_FLAG_COLORSPACE_NOT_sRGB;
  /* libpng 1.6 fills rows that it could not read with nothing at all. */
  memset(picture->pixels, 0, (size_t)picture->width * picture->height * format);
  int is_read = png.image_finish_read(image, NULL, picture->pixels, (int32_t)(picture->width * format), NULL);
  if (is_read && image->warning_or_error < PNG_IMAGE_ERROR) return CIMAGES_OK;
  return damaged(image, message);
}

cimages_outcome cimages_read_png(const uint8_t *bytes, size_t length, uint32_t width, uint32_t height,
                                 cimages_picture *picture, char message[CIMAGES_MESSAGE]) {
  *picture = (cimages_picture){0};
  if (!is_there(message)) return CIMAGES_MISSING;
  png_image image = {.version = PNG_IMAGE_VERSION};
  cimages_outcome outcome;
  if (!png.image_begin_read_from_memory(&image, bytes, length)) {
    outcome = damaged(&image, message);
  } else if (image.width != width || image.height != height) {
    snprintf(message, CIMAGES_MESSAGE, "it has several sizes");
    outcome = CIMAGES_DAMAGED;
  } else {
    outcome = finish(&image, picture, message);
  }
  png.image_free(&image);
  if (outcome != CIMAGES_OK) {
    free(picture->pixels);
    picture->pixels = NULL;
  }
  return outcome;
}

cimages_outcome cimages_write_png(const cimages_picture *picture, uint8_t **bytes, size_t *length,
                                  char message[CIMAGES_MESSAGE]) {
  *bytes = NULL;
  *length = 0;
  if (!is_there(message)) return CIMAGES_MISSING;
  png_image image = {.version = PNG_IMAGE_VERSION, .width = picture->width, .height = picture->height};
  if (picture->format >= CIMAGES_RGB) image.format |= PNG_FORMAT_FLAG_COLOR;
  if (picture->format % 2 == 0) image.format |= PNG_FORMAT_FLAG_ALPHA;
  if (picture->is_not_srgb) image.flags |= PNG_IMAGE_FLAG_COLORSPACE_NOT_sRGB;
  /* More than compressing can add, so that it compresses once. */
  size_t raw = ((size_t)picture->width * picture->format + 1) * picture->height;
  size_t size = raw + raw / 4 + 4096;
  uint8_t *memory = malloc(size);
  if (!memory) return CIMAGES_NO_MEMORY;
  int is_written = png.image_write_to_memory(&image, memory, &size, 0, picture->pixels,
                                             (int32_t)(picture->width * picture->format), NULL);
  png.image_free(&image);
  if (!is_written) {
    free(memory);
    return damaged(&image, message);
  }
  *bytes = memory;
  *length = size;
  return CIMAGES_OK;
}
