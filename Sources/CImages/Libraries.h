/* The functions that are used of the libraries; NULL where a library is not there. Their types are checked against
 * the libraries' own headers. */
#ifndef SATCHEL_IMAGE_LIBRARIES_H
#define SATCHEL_IMAGE_LIBRARIES_H

#include "CImages.h"

#include <libexif/exif-data.h>
#include <png.h>
#include <turbojpeg.h>

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
};

#endif
