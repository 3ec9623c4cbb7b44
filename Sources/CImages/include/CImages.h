/*
 * The size and EXIF of pictures: typed calls over libexif, libturbojpeg, libpng, libheif and libwebpmux.
 *
 * The libraries are opened on first use and never linked, so that hosts that scan no photos neither load nor need them;
 * libheif and libwebpmux with the first file that needs them. All calls accept arbitrary bytes, on any thread.
 */
#ifndef SATCHEL_CIMAGES_H
#define SATCHEL_CIMAGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The libraries, as bits. */
enum {
  SATCHEL_IMAGES_EXIF = 1,
  SATCHEL_IMAGES_JPEG = 2,
  SATCHEL_IMAGES_PNG = 4,
  SATCHEL_IMAGES_HEIF = 8,
  SATCHEL_IMAGES_WEBP = 16
};

/* Libraries that were opened. */
struct satchel_images;

/* Opens the libraries at the first call, once for the process. Never NULL. */
const struct satchel_images *satchel_images_shared(void);

/*
 * Opens libraries with these file names; NULL means the usual name on the system.
 * Returns NULL when memory is exhausted. The result is valid for the life of the process.
 */
const struct satchel_images *satchel_images_open(
    const char *exif, const char *jpeg, const char *png, const char *heif, const char *webp);

/* Returns which of libexif, libturbojpeg and libpng were opened: bits of SATCHEL_IMAGES_*. */
unsigned satchel_images_available(const struct satchel_images *images);

/*
 * Returns the size of a JPEG in pixels, as stored, before rotation.
 *
 * head: the first bytes of the file.
 * Returns false for a damaged file, when the bytes end before its frame header, and without libturbojpeg.
 */
bool satchel_images_jpeg_size(
    const struct satchel_images *images, const uint8_t *head, size_t count, int64_t *width, int64_t *height);

/* Returns the size of a PNG in pixels, by libpng. */
bool satchel_images_png_size(
    const struct satchel_images *images, const uint8_t *head, size_t count, int64_t *width, int64_t *height);

/* Texts of EXIF. */
enum satchel_exif_text {
  SATCHEL_EXIF_DATE_ORIGINAL,
  SATCHEL_EXIF_OFFSET_ORIGINAL,
  SATCHEL_EXIF_DATE_DIGITIZED,
  SATCHEL_EXIF_OFFSET_DIGITIZED,
  SATCHEL_EXIF_DATE,
  SATCHEL_EXIF_OFFSET,
  SATCHEL_EXIF_MAKE,
  SATCHEL_EXIF_MODEL,
  SATCHEL_EXIF_TEXTS
};

/* The maximum length of a string in bytes; a longer one is truncated. */
enum { SATCHEL_EXIF_TEXT_MAXIMUM = 255 };

/* The bytes of a file. */
struct satchel_image_source {
  /* The first bytes, and how many these are: all of a file for which satchel_images_need_all() is true. */
  const uint8_t *head;
  size_t count;
  /* A descriptor for the others; -1 when there are none. */
  int file;
  /* The size of the file. */
  uint64_t size;
};

struct satchel_exif {
  /* Whether the file has EXIF, and whether a part of it could not be read. */
  bool is_present, is_damaged;
  /* Whether the structure of a HEIF or WebP file could not be read, whether not all of its bytes were given, and the
   * library that is missing for it. */
  bool is_unreadable, is_incomplete;
  unsigned missing;
  /* The size in pixels of a TIFF, HEIF or WebP, as stored, before rotation; 0 when it is unknown. */
  int64_t width, height;
  /* Numbers are 0 when they are missing or out of range; a position has a flag instead. */
  bool has_position;
  int64_t orientation; /* 1 to 8 */
  int64_t iso;
  double latitude, longitude; /* degrees, north and east positive */
  double aperture;            /* f-number */
  double shutter_speed;       /* seconds */
  double focal_length;        /* millimetres */
  /* The bytes in the file up to the first NUL, in an unknown encoding, and their lengths. */
  uint16_t lengths[SATCHEL_EXIF_TEXTS];
  char texts[SATCHEL_EXIF_TEXTS][SATCHEL_EXIF_TEXT_MAXIMUM];
};

/*
 * Whether a file is a HEIF or a WebP by its first bytes: their libraries read all of a file, from memory that does not
 * change meanwhile.
 */
bool satchel_images_need_all(const uint8_t *head, size_t count);

/*
 * Reads the EXIF of a JPEG, of a TIFF and the raw formats that are TIFFs, of RAF, of HEIF (HEIC and AVIF) and of WebP,
 * and the sizes of TIFF, HEIF and WebP.
 *
 * A JPEG has EXIF in its first segments, which have to be in the head. The directories and values of a TIFF are read
 * wherever they are in the file.
 *
 * exif: always written; empty for a file without EXIF, and without libexif.
 */
void satchel_images_exif(
    const struct satchel_images *images, const struct satchel_image_source *source, struct satchel_exif *exif);

/* Copies a string into `buffer`; returns its length, at most SATCHEL_EXIF_TEXT_MAXIMUM and at most `count`. */
size_t satchel_exif_copy(
    const struct satchel_exif *exif, enum satchel_exif_text text, uint8_t *buffer, size_t count);

#endif
