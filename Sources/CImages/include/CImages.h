/*
 * What pictures say of themselves: typed calls over libexif, libturbojpeg and libpng.
 *
 * The libraries are opened on first use and never linked, so that nobody pays for them, or needs them, who scans no
 * photos. All calls take bytes, trust none of them, and may be made from any thread.
 */
#ifndef SATCHEL_CIMAGES_H
#define SATCHEL_CIMAGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The libraries, as bits. */
enum { SATCHEL_IMAGES_EXIF = 1, SATCHEL_IMAGES_JPEG = 2, SATCHEL_IMAGES_PNG = 4 };

/* Libraries that were opened. */
struct satchel_images;

/* Opens the libraries with the first call, once for the process. Never NULL. */
const struct satchel_images *satchel_images_shared(void);

/*
 * Opens libraries with these file names; NULL stands for the usual one of the system.
 * Returns NULL when there is no memory. The result is valid for the life of the process.
 */
const struct satchel_images *satchel_images_open(const char *exif, const char *jpeg, const char *png);

/* Which of the libraries are there: bits of SATCHEL_IMAGES_*. */
unsigned satchel_images_available(const struct satchel_images *images);

/*
 * Pixels of a JPEG as it is stored, before any turning.
 *
 * head: its first bytes, as many as there are.
 * Returns false when they cannot be told: damaged, cut before its frame header, or without libturbojpeg.
 */
bool satchel_images_jpeg_size(
    const struct satchel_images *images, const uint8_t *head, size_t count, int64_t *width, int64_t *height);

/* The same for a PNG, by libpng. */
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

/* The longest text that is taken, in bytes; what is longer is cut. */
enum { SATCHEL_EXIF_TEXT_MAXIMUM = 255 };

struct satchel_exif {
  /* Whether there is any EXIF, and whether some of it could not be read. */
  bool is_present, is_damaged;
  /* Numbers are 0 when they are absent or not to be believed; a position has a flag instead. */
  bool has_position;
  int64_t orientation; /* 1 to 8 */
  int64_t iso;
  double latitude, longitude; /* degrees, north and east positive */
  double aperture;            /* f-number */
  double shutter_speed;       /* seconds */
  double focal_length;        /* millimetres */
  /* As they stand in the file up to the first NUL, of no known encoding, with their lengths. */
  uint16_t lengths[SATCHEL_EXIF_TEXTS];
  char texts[SATCHEL_EXIF_TEXTS][SATCHEL_EXIF_TEXT_MAXIMUM];
};

/*
 * Reads the EXIF of a JPEG, or of a TIFF and the raw formats that are TIFFs, by libexif.
 *
 * head: the file's first bytes; EXIF lies in the first segments of a JPEG. Of a TIFF the first 64 KB are looked at.
 * exif: always written; all empty where there is none, or without libexif.
 */
void satchel_images_exif(
    const struct satchel_images *images, const uint8_t *head, size_t count, struct satchel_exif *exif);

/* Copies a text into `room`; returns its length, at most SATCHEL_EXIF_TEXT_MAXIMUM and never more than `count`. */
size_t satchel_exif_copy(
    const struct satchel_exif *exif, enum satchel_exif_text text, uint8_t *room, size_t count);

#endif
