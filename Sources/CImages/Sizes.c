#include "Libraries.h"

#include <limits.h>
#include <string.h>

static bool store_size(int64_t width, int64_t height, int64_t *to_width, int64_t *to_height) {
  if (width <= 0 || height <= 0 || width > INT32_MAX || height > INT32_MAX) return false;
  *to_width = width;
  *to_height = height;
  return true;
}

bool satchel_images_jpeg_size(
    const struct satchel_images *images, const uint8_t *head, size_t count, int64_t *width, int64_t *height) {
  if (!images || !(images->available & SATCHEL_IMAGES_JPEG) || !head || count < 4 || count > LONG_MAX) {
    return false;
  }
  tjhandle handle = images->jpeg_open();
  if (handle == NULL) return false;
  int columns = 0, rows = 0, subsampling = 0, space = 0;
  /* A warning, for example of truncated data, is also returned as a failure, although the size may be correct. So the
   * status is ignored: the numbers stay 0 until a frame header was read. */
  (void)images->jpeg_header(handle, head, (unsigned long)count, &columns, &rows, &subsampling, &space);
  images->jpeg_close(handle);
  return store_size(columns, rows, width, height);
}

bool satchel_images_png_size(
    const struct satchel_images *images, const uint8_t *head, size_t count, int64_t *width, int64_t *height) {
  if (!images || !(images->available & SATCHEL_IMAGES_PNG) || !head || count == 0) return false;
  png_image image;
  memset(&image, 0, sizeof image);
  image.version = PNG_IMAGE_VERSION;
  int is_read = images->png_begin(&image, head, count);
  int64_t columns = image.width, rows = image.height;
  /* Does nothing after a failure, which frees the image itself. */
  images->png_free(&image);
  return is_read && store_size(columns, rows, width, height);
}
