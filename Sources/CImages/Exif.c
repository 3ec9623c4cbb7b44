#include "Libraries.h"

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

static const uint8_t exif_header[6] = {'E', 'x', 'i', 'f', 0, 0};

/* The payload of a JPEG segment, less its length field, is never longer. */
enum { SEGMENT_MAXIMUM = 65533 };

/* What is being read, and by what. */
struct reading {
  const struct satchel_images *images;
  ExifData *data;
  ExifByteOrder order;
};

/* ---------------------------------------------------------------------------------------------- Where it lies */

/* A segment of EXIF; `is_cut` when it goes on behind the bytes that there are. */
struct block {
  const uint8_t *start;
  size_t count;
  bool is_cut;
};

/* Goes from segment to segment of a JPEG up to the picture itself. libexif's own search stops at other APP1
 * segments, such as XMP, that stand before. */
static struct block find_segment(const uint8_t *head, size_t count) {
  struct block none = {NULL, 0, false};
  size_t place = 2;
  while (count - place >= 4) {
    if (head[place] != 0xFF) return none;
    uint8_t marker = head[place + 1];
    if (marker == 0xFF) { /* a byte that fills */
      place += 1;
      continue;
    }
    if (marker == 0x01 || (marker >= 0xD0 && marker <= 0xD8)) { /* these stand alone */
      place += 2;
      continue;
    }
    if (marker == 0xD9 || marker == 0xDA) return none;
    size_t length = (size_t)head[place + 2] << 8 | head[place + 3];
    if (length < 2) return none;
    size_t left = count - place - 2;
    size_t taken = length < left ? length : left;
    const uint8_t *payload = head + place + 4;
    if (marker == 0xE1 && taken >= 2 + sizeof exif_header &&
        memcmp(payload, exif_header, sizeof exif_header) == 0) {
      struct block found = {payload, taken - 2, length > left};
      return found;
    }
    if (length > left) return none;
    place += 2 + length;
  }
  return none;
}

/* ---------------------------------------------------------------------------------------------- One value */

/* The entry of a tag, with at least `components` values of a size that was checked; NULL when there is none. */
static const ExifEntry *find(
    const struct reading *reading, ExifIfd directory, int tag, unsigned long components) {
  ExifContent *content = reading->data->ifd[directory];
  if (content == NULL) return NULL;
  const ExifEntry *entry = reading->images->content_get_entry(content, (ExifTag)tag);
  if (entry == NULL || entry->data == NULL || entry->components < components) return NULL;
  size_t unit = reading->images->format_get_size(entry->format);
  return unit > 0 && entry->size / unit >= components ? entry : NULL;
}

/* The same where writers disagree about the directory. */
static const ExifEntry *find_either(const struct reading *reading, ExifIfd directory, int tag) {
  const ExifEntry *entry = find(reading, directory, tag, 1);
  if (entry != NULL) return entry;
  return find(reading, directory == EXIF_IFD_EXIF ? EXIF_IFD_0 : EXIF_IFD_EXIF, tag, 1);
}

/* A value as a number; NaN when it is not a number. `zero` stands for 0/0, which some write for what they do not know. */
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

/* A number of the given range, else 0. Comparisons with NaN are false. */
static double bounded(
    const struct reading *reading, ExifIfd directory, int tag, double lowest, double highest) {
  const ExifEntry *entry = find_either(reading, directory, tag);
  double value = entry != NULL ? number(reading, entry, 0, NAN) : NAN;
  return value >= lowest && value <= highest ? value : 0;
}

static void take_text(
    const struct reading *reading, struct satchel_exif *exif, enum satchel_exif_text text, ExifIfd directory,
    int tag) {
  const ExifEntry *entry = find_either(reading, directory, tag);
  /* Some write their texts as bytes of no format. */
  if (entry == NULL || (entry->format != EXIF_FORMAT_ASCII && entry->format != EXIF_FORMAT_UNDEFINED &&
                        entry->format != EXIF_FORMAT_BYTE)) {
    return;
  }
  size_t room = SATCHEL_EXIF_TEXT_MAXIMUM;
  size_t length = entry->size < room ? entry->size : room;
  const void *end = memchr(entry->data, 0, length);
  if (end != NULL) length = (size_t)((const unsigned char *)end - entry->data);
  memcpy(exif->texts[text], entry->data, length);
  exif->lengths[text] = (uint16_t)length;
}

/* Degrees, minutes and seconds with a letter for the half of the earth; false when they are not to be believed. */
static bool take_degrees(
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

/* ---------------------------------------------------------------------------------------------- All of it */

static void take_all(const struct reading *reading, struct satchel_exif *exif) {
  take_text(reading, exif, SATCHEL_EXIF_DATE_ORIGINAL, EXIF_IFD_EXIF, 0x9003);
  take_text(reading, exif, SATCHEL_EXIF_OFFSET_ORIGINAL, EXIF_IFD_EXIF, 0x9011);
  take_text(reading, exif, SATCHEL_EXIF_DATE_DIGITIZED, EXIF_IFD_EXIF, 0x9004);
  take_text(reading, exif, SATCHEL_EXIF_OFFSET_DIGITIZED, EXIF_IFD_EXIF, 0x9012);
  take_text(reading, exif, SATCHEL_EXIF_DATE, EXIF_IFD_0, 0x0132);
  take_text(reading, exif, SATCHEL_EXIF_OFFSET, EXIF_IFD_EXIF, 0x9010);
  take_text(reading, exif, SATCHEL_EXIF_MAKE, EXIF_IFD_0, 0x010F);
  take_text(reading, exif, SATCHEL_EXIF_MODEL, EXIF_IFD_0, 0x0110);
  exif->orientation = (int64_t)bounded(reading, EXIF_IFD_0, 0x0112, 1, 8);
  exif->aperture = bounded(reading, EXIF_IFD_EXIF, 0x829D, 1e-3, 1e4);
  exif->shutter_speed = bounded(reading, EXIF_IFD_EXIF, 0x829A, 1e-9, 1e7);
  exif->focal_length = bounded(reading, EXIF_IFD_EXIF, 0x920A, 1e-3, 1e6);
  exif->iso = (int64_t)bounded(reading, EXIF_IFD_EXIF, 0x8827, 1, 1e8);
  /* 65535 is all that its two bytes can say; what is more stands in another tag. */
  if (exif->iso == 0 || exif->iso == 65535) {
    double speed = bounded(reading, EXIF_IFD_EXIF, 0x8833, 1, 1e8);
    if (speed < 1) speed = bounded(reading, EXIF_IFD_EXIF, 0x8832, 1, 1e8);
    if (speed >= 1) exif->iso = (int64_t)speed;
  }
  exif->has_position = take_degrees(reading, 1, 2, 'N', 'S', 90, &exif->latitude) &&
                       take_degrees(reading, 3, 4, 'E', 'W', 180, &exif->longitude);
  if (!exif->has_position) exif->latitude = exif->longitude = 0;
}

/* Notes that libexif met damage. What does not fit into the bytes that there are it tells only as a note for
 * developers, and leaves out. What makers write in formats of their own is not looked at, and may be as it is. */
static void hear(
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
    images->log_set_func(log, hear, exif);
    images->data_log(data, log);
    /* Values are wanted as they are: corrected ones would hide what the file says. */
    images->data_unset_option(data, EXIF_DATA_OPTION_FOLLOW_SPECIFICATION);
    images->data_unset_option(data, EXIF_DATA_OPTION_IGNORE_UNKNOWN_TAGS);
    images->data_load_data(data, start, (unsigned int)count);
    struct reading reading = {images, data, images->data_get_byte_order(data)};
    take_all(&reading, exif);
  }
  if (data != NULL) images->data_unref(data);
  if (log != NULL) images->log_unref(log);
}

void satchel_images_exif(
    const struct satchel_images *images, const uint8_t *head, size_t count, struct satchel_exif *exif) {
  if (exif == NULL) return;
  memset(exif, 0, sizeof *exif);
  if (!images || !(images->available & SATCHEL_IMAGES_EXIF) || !head || count < 8) return;
  if (head[0] == 0xFF && head[1] == 0xD8) {
    struct block block = find_segment(head, count);
    if (block.start == NULL) return;
    exif->is_present = true;
    read_block(images, block.start, block.count, exif);
    /* Of what is shorter than its own header, libexif says nothing. */
    if (block.is_cut || block.count < sizeof exif_header + 8) exif->is_damaged = true;
  } else if (memcmp(head, "II*\0", 4) == 0 || memcmp(head, "MM\0*", 4) == 0) {
    /* A TIFF is what an EXIF segment holds, less the header. Values behind the first 64 KB are not reached, which is
     * no damage. */
    size_t room = SEGMENT_MAXIMUM - sizeof exif_header;
    size_t taken = count < room ? count : room;
    /* Not on the stack, which is small in threads of some systems. */
    uint8_t *start = malloc(sizeof exif_header + taken);
    if (start == NULL) return;
    memcpy(start, exif_header, sizeof exif_header);
    memcpy(start + sizeof exif_header, head, taken);
    exif->is_present = true;
    read_block(images, start, sizeof exif_header + taken, exif);
    exif->is_damaged = false;
    free(start);
  }
}

size_t satchel_exif_copy(
    const struct satchel_exif *exif, enum satchel_exif_text text, uint8_t *room, size_t count) {
  if (exif == NULL || room == NULL || (unsigned)text >= SATCHEL_EXIF_TEXTS) return 0;
  size_t length = exif->lengths[text] < count ? exif->lengths[text] : count;
  memcpy(room, exif->texts[text], length);
  return length;
}
