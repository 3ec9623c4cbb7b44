/* The functions that are used of the libraries; NULL where a library is not there. Their types are checked against
 * the libraries' own headers. */
#ifndef SATCHEL_IMAGE_LIBRARIES_H
#define SATCHEL_IMAGE_LIBRARIES_H

#include "CImages.h"

#include <libexif/exif-data.h>
#include <png.h>
#include <pthread.h>
#include <turbojpeg.h>

/* The functions of libheif and libwebpmux, declared in Containers.c. */
struct heif_functions;
struct webp_functions;

struct satchel_images {
  unsigned available;

  __typeof__(&exif_data_new) data_new;
  __typeof__(&exif_data_unref) data_unref;
  __typeof__(&exif_data_log) data_log;
  __typeof__(&exif_data_unset_option) data_unset_option;
  __typeof__(&exif_data_load_data) data_load_data;
  __typeof__(&exif_data_get_byte_order) data_get_byte_order;
  __typeof__(&exif_content_get_entry) content_get_entry;
  __typeof__(&exif_log_new) log_new;
  __typeof__(&exif_log_set_func) log_set_func;
  __typeof__(&exif_log_unref) log_unref;
  __typeof__(&exif_get_rational) get_rational;
  __typeof__(&exif_get_srational) get_srational;
  __typeof__(&exif_get_short) get_short;
  __typeof__(&exif_get_long) get_long;
  __typeof__(&exif_format_get_size) format_get_size;

  __typeof__(&tjInitDecompress) jpeg_open;
  __typeof__(&tjDecompressHeader3) jpeg_header;
  __typeof__(&tjDestroy) jpeg_close;

  __typeof__(&png_image_begin_read_from_memory) png_begin;
  __typeof__(&png_image_free) png_free;

  /* Libraries that are opened on first use: their names, and, guarded by the lock, their functions; NULL where opening failed. */
  const char *heif_name, *webp_name;
  pthread_mutex_t lock;
  bool is_heif_tried, is_webp_tried;
  const struct heif_functions *heif;
  const struct webp_functions *webp;
};

/* Reads into `buffer` what a source has from `offset` on; returns the number of bytes. */
size_t satchel_source_read(
    const struct satchel_image_source *source, uint64_t offset, void *buffer, size_t count);

/* The maximum size of what satchel_tiff_compact() writes: that of a JPEG segment, without its length field. */
enum { SATCHEL_TIFF_BLOCK = 65533 };

/* Copies the values of a TIFF that satchel_exif has into a block with an EXIF header, which libexif reads; libexif
 * reads no more than 64 KB, and the directories of a TIFF may be anywhere.
 *
 * block: SATCHEL_TIFF_BLOCK bytes
 * exif: gets is_damaged, and the size in pixels of the largest image that is not a
 * preview Returns the size of the block; 0 when the source is not a TIFF. */
size_t satchel_tiff_compact(
    const struct satchel_image_source *source, uint8_t *block, struct satchel_exif *exif);

/* Passes the EXIF of a file to `found`, as a TIFF, and sets the size in pixels, `is_unreadable` and `missing`.
 * Returns false for another format. */
typedef void (*satchel_found_exif)(
    const struct satchel_images *images, const uint8_t *tiff, size_t count, struct satchel_exif *exif);
bool satchel_container_read(
    const struct satchel_images *images, const struct satchel_image_source *source, struct satchel_exif *exif,
    satchel_found_exif found);

#endif
