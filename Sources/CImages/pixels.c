#include "loading.h"

#include <stdlib.h>
#include <string.h>

/* Weights of one direction add up to 2^12: with the 8 bits of a sample, those of both directions fill 32 bits. */
enum { WEIGHT_BITS = 12, ONE = 1 << WEIGHT_BITS };

/* The sum of the weights of all input before `position` in an output's pixel, which covers `length` from `start` on.
 * A weight is the difference of two sums, so that weights add up to one in spite of rounding. */
static uint32_t weight_before(uint64_t position, uint64_t start, uint64_t length) {
  if (position <= start) return 0;
  if (position - start >= length) return ONE;
  return (uint32_t)(((position - start) * ONE + length / 2) / length);
}

/* Of premultiplied colours and of opacity: 16 bits. */
static void premultiply(const uint8_t *row, uint32_t width, int channels, uint32_t *into) {
  for (size_t pixel = 0; pixel < width; pixel++, row += channels, into += channels) {
    uint32_t opacity = row[channels - 1];
    for (int channel = 0; channel < channels - 1; channel++) into[channel] = row[channel] * opacity;
    into[channels - 1] = opacity * 255;
  }
}

static void add_samples(uint32_t *restrict sums, const uint8_t *restrict row, size_t count, uint32_t weight) {
  for (size_t index = 0; index < count; index++) sums[index] += row[index] * weight;
}

static void add_products(uint32_t *restrict sums, const uint32_t *restrict row, size_t count, uint32_t weight) {
  for (size_t index = 0; index < count; index++) sums[index] += row[index] * weight;
}

/* One row of the output, of the sums of its rows. `channels` is a constant where it is inlined. */
static inline __attribute__((always_inline)) void narrow(const uint32_t *sums, uint32_t from, uint8_t *row,
                                                         uint32_t to, int channels, bool has_alpha) {
  for (uint64_t output = 0; output < to; output++, row += channels) {
    uint64_t start = output * from;
    uint32_t total[4] = {0}, before = 0;
    for (uint64_t column = start / to; column * to < start + from; column++) {
      uint32_t after = weight_before((column + 1) * to, start, from), weight = after - before;
      before = after;
      for (int channel = 0; channel < channels; channel++)
        total[channel] += sums[column * channels + channel] * weight;
    }
    uint32_t opacity = has_alpha ? (total[channels - 1] + ONE / 2) >> WEIGHT_BITS : 0;
    int colors = has_alpha ? channels - 1 : channels;
    for (int channel = 0; channel < colors; channel++) {
      if (!has_alpha) {
        row[channel] = (uint8_t)((total[channel] + (1u << (2 * WEIGHT_BITS - 1))) >> (2 * WEIGHT_BITS));
        continue;
      }
      uint32_t color = (total[channel] + ONE / 2) >> WEIGHT_BITS;
      uint32_t value = opacity ? (color * 255 + opacity / 2) / opacity : 0;
      row[channel] = (uint8_t)(value < 255 ? value : 255);
    }
    if (has_alpha) row[channels - 1] = (uint8_t)((opacity + 127) / 255);
  }
}

static void narrow_row(const uint32_t *sums, uint32_t from, uint8_t *row, uint32_t to, cimages_format format) {
  switch (format) {
    case CIMAGES_GRAY: narrow(sums, from, row, to, 1, false); break;
    case CIMAGES_GRAY_ALPHA: narrow(sums, from, row, to, 2, true); break;
    case CIMAGES_RGB: narrow(sums, from, row, to, 3, false); break;
    case CIMAGES_RGBA: narrow(sums, from, row, to, 4, true); break;
  }
}

bool cimages_reduce(cimages_picture *picture, uint32_t width, uint32_t height) {
  if (!width || !height || width > picture->width || height > picture->height) return false;
  cimages_format format = picture->format;
  bool has_alpha = format % 2 == 0;
  size_t count = (size_t)picture->width * format;
  cimages_picture result;
  if (!cimages_allocate(&result, width, height, format)) return false;
  result.is_not_srgb = picture->is_not_srgb;
  uint32_t *sums = malloc(count * sizeof *sums), *products = has_alpha ? malloc(count * sizeof *products) : NULL;
  if (!sums || (has_alpha && !products)) {
    free(sums);
    free(products);
    free(result.pixels);
    return false;
  }
  for (uint64_t output = 0; output < height; output++) {
    uint64_t start = output * picture->height;
    uint32_t before = 0;
    memset(sums, 0, count * sizeof *sums);
    for (uint64_t line = start / height; line * height < start + picture->height; line++) {
      uint32_t after = weight_before((line + 1) * height, start, picture->height), weight = after - before;
      before = after;
      const uint8_t *row = picture->pixels + line * count;
      if (has_alpha) {
        premultiply(row, picture->width, format, products);
        add_products(sums, products, count, weight);
      } else {
        add_samples(sums, row, count, weight);
      }
    }
    /* Back to 16 bits, which leaves room for the other direction. */
    if (has_alpha)
      for (size_t index = 0; index < count; index++) sums[index] = (sums[index] + ONE / 2) >> WEIGHT_BITS;
    narrow_row(sums, picture->width, result.pixels + output * width * format, width, format);
  }
  free(sums);
  free(products);
  free(picture->pixels);
  *picture = result;
  return true;
}

bool cimages_orient(cimages_picture *picture, int orientation) {
  if (orientation == 1) return true;
  if (orientation < 1 || orientation > 8) return false;
  /* From 5 on rows become columns. */
  bool is_transposed = orientation >= 5;
  /* Whether the input is read from the right, and from below. */
  bool from_right = orientation == 2 || orientation == 3 || orientation == 7 || orientation == 8;
  bool from_below = orientation == 3 || orientation == 4 || orientation == 6 || orientation == 7;
  cimages_picture result;
  if (!cimages_allocate(&result, is_transposed ? picture->height : picture->width,
                        is_transposed ? picture->width : picture->height, picture->format))
    return false;
  result.is_not_srgb = picture->is_not_srgb;
  uint8_t *into = result.pixels;
  for (uint32_t row = 0; row < result.height; row++) {
    for (uint32_t column = 0; column < result.width; column++, into += picture->format) {
      uint32_t x = is_transposed ? row : column, y = is_transposed ? column : row;
      if (from_right) x = picture->width - 1 - x;
      if (from_below) y = picture->height - 1 - y;
      memcpy(into, picture->pixels + ((size_t)y * picture->width + x) * picture->format, picture->format);
    }
  }
  free(picture->pixels);
  *picture = result;
  return true;
}
