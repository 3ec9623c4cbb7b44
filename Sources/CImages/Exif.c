#include "Libraries.h"

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

static const uint8_t exif_header[6] = {'E', 'x', 'i', 'f', 0, 0};

/* EXIF data that is being read, and the libraries that read it. */
struct reading {
  const struct satchel_images *images;
  ExifData *data;
  ExifByteOrder order;
};

/* ---------------------------------------------------------------------------------------------- Finding the segment */

/* A segment of EXIF; `is_cut` when it extends beyond the given bytes. */
struct block {
  const uint8_t *start;
  size_t count;
  bool is_cut;
};

/* Searches the segments of a JPEG before the image data. libexif's own search stops at an earlier APP1 segment of
 * another kind, such as XMP. */
static struct block find_segment(const uint8_t *head, size_t count) {
  struct block none = {NULL, 0, false};
  size_t offset = 2;
  while (count - offset >= 4) {
    if (head[offset] != 0xFF) return none;
    uint8_t marker = head[offset + 1];
    if (marker == 0xFF) { /* a fill byte */
      offset += 1;
      continue;
    }
    if (marker == 0x01 || (marker >= 0xD0 && marker <= 0xD8)) { /* markers without a segment */
      offset += 2;
      continue;
    }
    if (marker == 0xD9 || marker == 0xDA) return none;
    size_t length = (size_t)head[offset + 2] << 8 | head[offset + 3];
    if (length < 2) return none;
    size_t left = count - offset - 2;
    size_t available = length < left ? length : left;
    const uint8_t *payload = head + offset + 4;
    if (marker == 0xE1 && available >= 2 + sizeof exif_header &&
        memcmp(payload, exif_header, sizeof exif_header) == 0) {
      struct block found = {payload, available - 2, length > left};
      return found;
    }
    if (length > left) return none;
    offset += 2 + length;
  }
  return none;
}

/* ---------------------------------------------------------------------------------------------- Single values */

/* Returns the entry of a tag, which has at least `components` complete values; NULL when it is missing. */
static const ExifEntry *find(
    const struct reading *reading, ExifIfd directory, int tag, unsigned long components) {
  ExifContent *content = reading->data->ifd[directory];
  if (content == NULL) return NULL;
  const ExifEntry *entry = reading->images->content_get_entry(content, (ExifTag)tag);
  if (entry == NULL || entry->data == NULL || entry->components < components) return NULL;
  size_t unit = reading->images->format_get_size(entry->format);
  return unit > 0 && entry->size / unit >= components ? entry : NULL;
}

/* Returns an entry, also from the other directory, to which some programs write it. */
static const ExifEntry *find_either(const struct reading *reading, ExifIfd directory, int tag) {
  const ExifEntry *entry = find(reading, directory, tag, 1);
  if (entry != NULL) return entry;
  return find(reading, directory == EXIF_IFD_EXIF ? EXIF_IFD_0 : EXIF_IFD_EXIF, tag, 1);
}

/* Returns a value as a number; NaN for other formats. `zero` is the result for 0/0, which some programs write for an
 * unknown value. */
static double number(const struct reading *reading, const ExifEntry *entry, unsigned long index, double zero) {
  const struct satchel_images *images = reading->images;
  const unsigned char *data = entry->data + index * images->format_get_size(entry->format);
  switch (entry->format) {
    case EXIF_FORMAT_BYTE: return data[0];
    case EXIF_FORMAT_SHORT: return images->get_short(data, reading->order);
    case EXIF_FORMAT_LONG: return images->get_long(data, reading->order);
    case EXIF_FORMAT_RATIONAL: {
      ExifRational value = images->get_rational(data, reading->order);
      if (value.denominator == 0) return value.numerator == 0 ? zero : NAN;
      return (double)value.numerator / (double)value.denominator;
    }
    case EXIF_FORMAT_SRATIONAL: {
      ExifSRational value = images->get_srational(data, reading->order);
      if (value.denominator == 0) return value.numerator == 0 ? zero : NAN;
      return (double)value.numerator / (double)value.denominator;
    }
    default: return NAN;
  }
}

/* Returns a number in the given range, otherwise 0. Comparisons with NaN are false. */
static double bounded(
    const struct reading *reading, ExifIfd directory, int tag, double lowest, double highest) {
  const ExifEntry *entry = find_either(reading, directory, tag);
  double value = entry != NULL ? number(reading, entry, 0, NAN) : NAN;
  return value >= lowest && value <= highest ? value : 0;
}

static void read_text(
    const struct reading *reading, struct satchel_exif *exif, enum satchel_exif_text text, ExifIfd directory,
    int tag) {
  const ExifEntry *entry = find_either(reading, directory, tag);
  /* Some programs write texts in the formats UNDEFINED or BYTE. */
  if (entry == NULL || (entry->format != EXIF_FORMAT_ASCII && entry->format != EXIF_FORMAT_UNDEFINED &&
                        entry->format != EXIF_FORMAT_BYTE)) {
    return;
  }
  size_t limit = SATCHEL_EXIF_TEXT_MAXIMUM;
  size_t length = entry->size < limit ? entry->size : limit;
  const void *end = memchr(entry->data, 0, length);
  if (end != NULL) length = (size_t)((const unsigned char *)end - entry->data);
  memcpy(exif->texts[text], entry->data, length);
  exif->lengths[text] = (uint16_t)length;
}

/* Reads degrees, minutes and seconds, and the letter of the hemisphere; false when they are out of range. */
static bool read_degrees(
    const struct reading *reading, int letter_tag, int tag, char positive, char negative, double limit,
    double *degrees) {
  const ExifEntry *letter = find(reading, EXIF_IFD_GPS, letter_tag, 1);
  const ExifEntry *entry = find(reading, EXIF_IFD_GPS, tag, 3);
  if (letter == NULL || entry == NULL) return false;
  char half = (char)(letter->data[0] & ~0x20);
  if (half != positive && half != negative) return false;
  double whole = number(reading, entry, 0, NAN);
  double minutes = number(reading, entry, 1, 0);
  double seconds = number(reading, entry, 2, 0);
  if (!(whole >= 0 && minutes >= 0 && minutes <= 60 && seconds >= 0 && seconds <= 60)) return false;
  double value = whole + minutes / 60 + seconds / 3600;
  if (!(value <= limit)) return false;
  *degrees = half == negative && value > 0 ? -value : value;
  return true;
}

/* ---------------------------------------------------------------------------------------------- All values */

static void read_all(const struct reading *reading, struct satchel_exif *exif) {
  read_text(reading, exif, SATCHEL_EXIF_DATE_ORIGINAL, EXIF_IFD_EXIF, 0x9003);
  read_text(reading, exif, SATCHEL_EXIF_OFFSET_ORIGINAL, EXIF_IFD_EXIF, 0x9011);
  read_text(reading, exif, SATCHEL_EXIF_DATE_DIGITIZED, EXIF_IFD_EXIF, 0x9004);
  read_text(reading, exif, SATCHEL_EXIF_OFFSET_DIGITIZED, EXIF_IFD_EXIF, 0x9012);
  read_text(reading, exif, SATCHEL_EXIF_DATE, EXIF_IFD_0, 0x0132);
  read_text(reading, exif, SATCHEL_EXIF_OFFSET, EXIF_IFD_EXIF, 0x9010);
  read_text(reading, exif, SATCHEL_EXIF_MAKE, EXIF_IFD_0, 0x010F);
  read_text(reading, exif, SATCHEL_EXIF_MODEL, EXIF_IFD_0, 0x0110);
  exif->orientation = (int64_t)bounded(reading, EXIF_IFD_0, 0x0112, 1, 8);
  exif->aperture = bounded(reading, EXIF_IFD_EXIF, 0x829D, 1e-3, 1e4);
  exif->shutter_speed = bounded(reading, EXIF_IFD_EXIF, 0x829A, 1e-9, 1e7);
  exif->focal_length = bounded(reading, EXIF_IFD_EXIF, 0x920A, 1e-3, 1e6);
  exif->iso = (int64_t)bounded(reading, EXIF_IFD_EXIF, 0x8827, 1, 1e8);
  /* 65535 is the maximum of its two bytes; a greater speed is in another tag. */
  if (exif->iso == 0 || exif->iso == 65535) {
    double speed = bounded(reading, EXIF_IFD_EXIF, 0x8833, 1, 1e8);
    if (speed < 1) speed = bounded(reading, EXIF_IFD_EXIF, 0x8832, 1, 1e8);
    if (speed >= 1) exif->iso = (int64_t)speed;
  }
  exif->has_position = read_degrees(reading, 1, 2, 'N', 'S', 90, &exif->latitude) &&
                       read_degrees(reading, 3, 4, 'E', 'W', 180, &exif->longitude);
  if (!exif->has_position) exif->latitude = exif->longitude = 0;
}

/* Sets `is_damaged` when libexif logs damage. libexif logs values beyond the end of the data as debug messages only,
 * and leaves them out. Messages about maker notes are ignored. */
static void note_damage(
    ExifLog *log, ExifLogCode code, const char *domain, const char *format, va_list arguments, void *context) {
  (void)log, (void)arguments;
  if (domain == NULL || strcmp(domain, "ExifData") != 0 || format == NULL) return;
  static const char *const notes[] = {"past end of buffer", "Short data", "overflow"};
  bool is_damage = code == EXIF_LOG_CODE_CORRUPT_DATA;
  for (size_t index = 0; index < sizeof notes / sizeof *notes; index++) {
    if (code == EXIF_LOG_CODE_DEBUG && strstr(format, notes[index]) != NULL) is_damage = true;
  }
  if (is_damage) ((struct satchel_exif *)context)->is_damaged = true;
}

static void read_block(
    const struct satchel_images *images, const uint8_t *start, size_t count, struct satchel_exif *exif) {
  ExifData *data = images->data_new();
  ExifLog *log = images->log_new();
  if (data != NULL && log != NULL) {
    images->log_set_func(log, note_damage, exif);
    images->data_log(data, log);
    /* Values are read unchanged: corrected ones would hide the content of the file. */
    images->data_unset_option(data, EXIF_DATA_OPTION_FOLLOW_SPECIFICATION);
    images->data_unset_option(data, EXIF_DATA_OPTION_IGNORE_UNKNOWN_TAGS);
    images->data_load_data(data, start, (unsigned int)count);
    struct reading reading = {images, data, images->data_get_byte_order(data)};
    read_all(&reading, exif);
  }
  if (data != NULL) images->data_unref(data);
  if (log != NULL) images->log_unref(log);
}

/* Reads a TIFF: a file, or the EXIF of a container. */
static void read_tiff(
    const struct satchel_images *images, const struct satchel_image_source *source, struct satchel_exif *exif) {
  /* On the heap: the stacks of threads are small on some systems. */
  uint8_t *block = malloc(SATCHEL_TIFF_BLOCK);
  if (block == NULL) return;
  size_t count = satchel_tiff_compact(source, block, exif);
  if (count > 0) {
    bool is_damaged = exif->is_damaged;
    exif->is_present = true;
    if (images->available & SATCHEL_IMAGES_EXIF) read_block(images, block, count, exif);
    /* Of the block nothing is missing. */
    exif->is_damaged = is_damaged;
  }
  free(block);
}

/* Reads the EXIF of a container, of which some programs keep the header of a JPEG's segment. */
static void found_tiff(
    const struct satchel_images *images, const uint8_t *bytes, size_t count, struct satchel_exif *exif) {
  if (count >= sizeof exif_header && memcmp(bytes, exif_header, sizeof exif_header) == 0) {
    bytes += sizeof exif_header;
    count -= sizeof exif_header;
  }
  int64_t width = exif->width, height = exif->height;
  struct satchel_image_source source = {bytes, count, -1, count};
  read_tiff(images, &source, exif);
  if (!exif->is_present) exif->is_present = exif->is_damaged = true;
  /* A thumbnail's, if any. */
  exif->width = width;
  exif->height = height;
}

static void read_jpeg(
    const struct satchel_images *images, const uint8_t *head, size_t count, struct satchel_exif *exif) {
  if (count < 2 || head[0] != 0xFF || head[1] != 0xD8) return;
  struct block block = find_segment(head, count);
  if (block.start == NULL || !(images->available & SATCHEL_IMAGES_EXIF)) return;
  exif->is_present = true;
  read_block(images, block.start, block.count, exif);
  /* libexif does not log a segment that is shorter than its header. */
  if (block.is_cut || block.count < sizeof exif_header + 8) exif->is_damaged = true;
}

/* Fujifilm's raw files: a header with the offset of a JPEG, which has the EXIF. */
static void read_raf(
    const struct satchel_images *images, const struct satchel_image_source *source, struct satchel_exif *exif) {
  enum { OFFSET = 84, HEAD = 128 << 10 };
  uint8_t number[4];
  if (satchel_source_read(source, OFFSET, number, sizeof number) < sizeof number) return;
  uint32_t offset = (uint32_t)number[0] << 24 | (uint32_t)number[1] << 16 | (uint32_t)number[2] << 8 | number[3];
  uint8_t *head = malloc(HEAD);
  if (head == NULL) return;
  read_jpeg(images, head, satchel_source_read(source, offset, head, HEAD), exif);
  free(head);
}

void satchel_images_exif(
    const struct satchel_images *images, const struct satchel_image_source *source, struct satchel_exif *exif) {
  static const char raf[] = "FUJIFILMCCD-RAW ";
  if (exif == NULL) return;
  memset(exif, 0, sizeof *exif);
  if (!images || !source || !source->head || source->count < 8) return;
  const uint8_t *head = source->head;
  if (head[0] == 0xFF && head[1] == 0xD8) {
    read_jpeg(images, head, source->count, exif);
  } else if (source->count >= sizeof raf && memcmp(head, raf, sizeof raf - 1) == 0) {
    read_raf(images, source, exif);
  } else if (!satchel_container_read(images, source, exif, found_tiff)) {
    read_tiff(images, source, exif);
  }
}

size_t satchel_exif_copy(
    const struct satchel_exif *exif, enum satchel_exif_text text, uint8_t *buffer, size_t count) {
  if (exif == NULL || buffer == NULL || (unsigned)text >= SATCHEL_EXIF_TEXTS) return 0;
  size_t length = exif->lengths[text] < count ? exif->lengths[text] : count;
  memcpy(buffer, exif->texts[text], length);
  return length;
}
