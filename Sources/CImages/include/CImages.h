/*
 * JPEG and PNG pictures of 8 bits a sample: reading, reducing, turning and writing, through libjpeg-turbo and
 * libpng. Both are opened with dlopen on first use, so that hosts that scale no picture neither load nor install
 * them.
 */
#ifndef SATCHEL_CIMAGES_H
#define SATCHEL_CIMAGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The channels of a pixel, in the order of their bytes. */
typedef enum {
  CIMAGES_GRAY = 1,
  CIMAGES_GRAY_ALPHA = 2,
  CIMAGES_RGB = 3,
  CIMAGES_RGBA = 4,
} cimages_format;

/* Rows without padding. */
typedef struct {
  uint8_t *pixels; /* free with cimages_free */
  uint32_t width;
  uint32_t height;
  cimages_format format;
  bool is_not_srgb; /* of a PNG: its colours have other primaries than those of sRGB */
} cimages_picture;

typedef enum { CIMAGES_OK, CIMAGES_MISSING, CIMAGES_DAMAGED, CIMAGES_NO_MEMORY } cimages_outcome;

/* The kinds of colour of a JPEG. */
typedef enum {
  CIMAGES_JPEG_GRAY,
  CIMAGES_JPEG_COLOR,
  CIMAGES_JPEG_CMYK,
  CIMAGES_JPEG_INVERTED_CMYK, /* as Adobe's programs write it */
} cimages_jpeg_kind;

/* The size of messages, with their NUL. */
enum { CIMAGES_MESSAGE = 200 };

/* Whether libraries of these names can be loaded as libturbojpeg, or as libpng. */
bool cimages_can_load_jpeg(const char *name, char message[CIMAGES_MESSAGE]);
bool cimages_can_load_png(const char *name, char message[CIMAGES_MESSAGE]);

/*
 * Reads a JPEG, at 1/`divisor` (1, 2, 4 or 8) of its size. `width` and `height` are those of its header: others are
 * refused. The bytes must not change during the call. CMYK becomes RGB, without a profile.
 */
cimages_outcome cimages_read_jpeg(const uint8_t *bytes, size_t length, uint32_t width, uint32_t height,
                                  uint32_t divisor, cimages_jpeg_kind kind, cimages_picture *picture,
                                  char message[CIMAGES_MESSAGE]);

/* Reads a PNG; else as cimages_read_jpeg. */
cimages_outcome cimages_read_png(const uint8_t *bytes, size_t length, uint32_t width, uint32_t height,
                                 cimages_picture *picture, char message[CIMAGES_MESSAGE]);

/* Writes a picture without transparency; `*bytes` is freed with cimages_free. */
cimages_outcome cimages_write_jpeg(const cimages_picture *picture, int quality, uint8_t **bytes, size_t *length,
                                   char message[CIMAGES_MESSAGE]);
cimages_outcome cimages_write_png(const cimages_picture *picture, uint8_t **bytes, size_t *length,
                                  char message[CIMAGES_MESSAGE]);

/*
 * Replaces a picture by one of `width` × `height`, neither greater than before: each pixel is the mean of the area
 * that it covers. Colours are weighted by their opacity, so that edges get no fringes from what is transparent.
 * False: no memory, or a size that is greater.
 */
bool cimages_reduce(cimages_picture *picture, uint32_t width, uint32_t height);

/* Turns a picture as an EXIF orientation, 1 to 8, says. False: no memory, or another orientation. */
bool cimages_orient(cimages_picture *picture, int orientation);

void cimages_free(void *memory);

#endif
