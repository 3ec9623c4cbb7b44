#include "Libraries.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>

#ifdef __APPLE__
static const char exif_name[] = "libexif.12.dylib";
static const char jpeg_name[] = "libturbojpeg.0.dylib";
static const char png_name[] = "libpng16.16.dylib";
static const char heif_name[] = "libheif.1.dylib";
static const char webp_name[] = "libwebpmux.3.dylib";
#else
static const char exif_name[] = "libexif.so.12";
static const char jpeg_name[] = "libturbojpeg.so.0";
static const char png_name[] = "libpng16.so.16";
static const char heif_name[] = "libheif.so.1";
static const char webp_name[] = "libwebpmux.so.3";
#endif

/* Finds a function; a library without a function of that name counts as missing. */
#define FIND(place, symbol)                                    \
  do {                                                         \
    *(void **)(&(place)) = dlsym(library, (symbol));           \
    if ((place) == NULL) return false;                         \
  } while (0)

static bool open_exif(struct satchel_images *images, const char *name) {
  void *library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
  if (library == NULL) return false;
  FIND(images->data_new, "exif_data_new");
  FIND(images->data_unref, "exif_data_unref");
  FIND(images->data_log, "exif_data_log");
  FIND(images->data_unset_option, "exif_data_unset_option");
  FIND(images->data_load_data, "exif_data_load_data");
  FIND(images->data_get_byte_order, "exif_data_get_byte_order");
  FIND(images->content_get_entry, "exif_content_get_entry");
  FIND(images->log_new, "exif_log_new");
  FIND(images->log_set_func, "exif_log_set_func");
  FIND(images->log_unref, "exif_log_unref");
  FIND(images->get_rational, "exif_get_rational");
  FIND(images->get_srational, "exif_get_srational");
  FIND(images->get_short, "exif_get_short");
  FIND(images->get_long, "exif_get_long");
  FIND(images->format_get_size, "exif_format_get_size");
  return true;
}

static bool open_jpeg(struct satchel_images *images, const char *name) {
  void *library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
  if (library == NULL) return false;
  FIND(images->jpeg_open, "tjInitDecompress");
  FIND(images->jpeg_header, "tjDecompressHeader3");
  FIND(images->jpeg_close, "tjDestroy");
  return true;
}

static bool open_png(struct satchel_images *images, const char *name) {
  void *library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
  if (library == NULL) return false;
  FIND(images->png_begin, "png_image_begin_read_from_memory");
  FIND(images->png_free, "png_image_free");
  return true;
}

/* The libraries are never closed: they may keep data of the thread or the process. */
static void open_all(
    struct satchel_images *images, const char *exif, const char *jpeg, const char *png, const char *heif,
    const char *webp) {
  pthread_mutex_init(&images->lock, NULL);
  images->heif_name = heif ? heif : heif_name;
  images->webp_name = webp ? webp : webp_name;
  if (open_exif(images, exif ? exif : exif_name)) images->available |= SATCHEL_IMAGES_EXIF;
  if (open_jpeg(images, jpeg ? jpeg : jpeg_name)) images->available |= SATCHEL_IMAGES_JPEG;
  if (open_png(images, png ? png : png_name)) images->available |= SATCHEL_IMAGES_PNG;
}

static struct satchel_images shared;

static void open_shared(void) { open_all(&shared, NULL, NULL, NULL, NULL, NULL); }

const struct satchel_images *satchel_images_shared(void) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, open_shared);
  return &shared;
}

const struct satchel_images *satchel_images_open(
    const char *exif, const char *jpeg, const char *png, const char *heif, const char *webp) {
  struct satchel_images *images = calloc(1, sizeof *images);
  if (images != NULL) open_all(images, exif, jpeg, png, heif, webp);
  return images;
}

unsigned satchel_images_available(const struct satchel_images *images) {
  return images ? images->available : 0;
}
