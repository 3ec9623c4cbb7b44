#include "Libraries.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

size_t satchel_source_read(
    const struct satchel_image_source *source, uint64_t offset, void *buffer, size_t count) {
  uint64_t size = source->file < 0 ? source->count : source->size;
  if (count == 0 || offset >= size) return 0;
  if (count > size - offset) count = (size_t)(size - offset);
  if (offset + count <= source->count) {
    memcpy(buffer, source->head + offset, count);
    return count;
  }
  size_t done = 0;
  while (done < count) {
    ssize_t got = pread(source->file, (uint8_t *)buffer + done, count - done, (off_t)(offset + done));
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) break;
    done += (size_t)got;
  }
  return done;
}

/* ---------------------------------------------------------------------------------------------- Numbers */

struct tiff {
  const struct satchel_image_source *source;
  bool is_big_endian;
  bool is_damaged;
};

static uint32_t get(const struct tiff *tiff, const uint8_t *bytes, int count) {
  uint32_t value = 0;
  for (int index = 0; index < count; index++) {
    value = value << 8 | bytes[tiff->is_big_endian ? index : count - 1 - index];
  }
  return value;
}

static void put(const struct tiff *tiff, uint8_t *bytes, int count, uint32_t value) {
  for (int index = 0; index < count; index++) {
    int shift = 8 * (tiff->is_big_endian ? count - 1 - index : index);
    bytes[index] = (uint8_t)(value >> shift);
  }
}

/* The size of a value's unit; 0 for an unknown type. */
static size_t unit_of(uint32_t type) {
  static const uint8_t units[] = {0, 1, 1, 2, 4, 8, 1, 1, 2, 4, 8, 4, 8, 4};
  return type < sizeof units ? units[type] : 0;
}

/* ---------------------------------------------------------------------------------------------- Directories */

enum {
  ENTRY = 12,
  /* Directories of cameras have fewer than 200 entries. */
  ENTRIES_MAXIMUM = 4096,
  SUBDIRECTORIES_MAXIMUM = 8,
  /* Texts are cut at SATCHEL_EXIF_TEXT_MAXIMUM; numbers are shorter. */
  VALUE_MAXIMUM = 256
};

struct directory {
  uint8_t *entries;
  uint32_t count;
};

/* Reads the entries of a directory, to be freed by the caller; those before the end of the file. */
static struct directory read_directory(struct tiff *tiff, uint32_t offset) {
  struct directory directory = {NULL, 0};
  uint8_t number[2];
  if (offset < 8 || satchel_source_read(tiff->source, offset, number, sizeof number) < sizeof number) {
    tiff->is_damaged = true;
    return directory;
  }
  uint32_t count = get(tiff, number, 2);
  if (count > ENTRIES_MAXIMUM) {
    tiff->is_damaged = true;
    count = ENTRIES_MAXIMUM;
  }
  directory.entries = malloc(count > 0 ? count * ENTRY : 1);
  if (directory.entries == NULL) return directory;
  size_t got = satchel_source_read(
      tiff->source, (uint64_t)offset + sizeof number, directory.entries, (size_t)count * ENTRY);
  directory.count = (uint32_t)(got / ENTRY);
  if (directory.count < count) tiff->is_damaged = true;
  return directory;
}

static const uint8_t *find(const struct tiff *tiff, const struct directory *directory, uint32_t tag) {
  for (uint32_t index = 0; index < directory->count; index++) {
    const uint8_t *entry = directory->entries + index * ENTRY;
    if (get(tiff, entry, 2) == tag) return entry;
  }
  return NULL;
}

/* Returns a whole number of one value; `otherwise` when there is none. */
static uint32_t whole(
    const struct tiff *tiff, const struct directory *directory, uint32_t tag, uint32_t otherwise) {
  const uint8_t *entry = find(tiff, directory, tag);
  if (entry == NULL || get(tiff, entry + 4, 4) != 1) return otherwise;
  switch (get(tiff, entry + 2, 2)) {
    case 3: return get(tiff, entry + 8, 2);
    case 4:
    case 13: return get(tiff, entry + 8, 4);
    default: return otherwise;
  }
}

/* Reads the value of an entry, at most VALUE_MAXIMUM bytes of it; returns how many. */
static size_t read_value(struct tiff *tiff, const uint8_t *entry, uint8_t *value) {
  uint64_t size = (uint64_t)unit_of(get(tiff, entry + 2, 2)) * get(tiff, entry + 4, 4);
  if (size <= 4) {
    memcpy(value, entry + 8, 4);
    return (size_t)size;
  }
  uint32_t offset = get(tiff, entry + 8, 4);
  uint64_t end = tiff->source->file < 0 ? tiff->source->count : tiff->source->size;
  if (size > end || offset > end - size) {
    tiff->is_damaged = true;
    return 0;
  }
  return satchel_source_read(tiff->source, offset, value, size < VALUE_MAXIMUM ? (size_t)size : VALUE_MAXIMUM);
}

/* ---------------------------------------------------------------------------------------------- The size in pixels */

enum { PREVIEW = 1 };

/* Sets the size to that of a directory's image, if it is greater; `tag` is that of the width, before the height's. */
static void measure(
    const struct tiff *tiff, const struct directory *directory, uint32_t tag, struct satchel_exif *exif) {
  if (whole(tiff, directory, 0xFE, 0) & PREVIEW) return;
  int64_t width = whole(tiff, directory, tag, 0), height = whole(tiff, directory, tag + 1, 0);
  if (width <= 0 || height <= 0 || width > INT32_MAX || height > INT32_MAX) return;
  if (width * height <= exif->width * exif->height) return;
  exif->width = width;
  exif->height = height;
}

/* Measures the images of the directories below the main one: most raw files have the photo there, and a preview in the
 * main one. */
static void measure_all(
    struct tiff *tiff, const struct directory *main, const struct directory *photo, struct satchel_exif *exif) {
  uint8_t mark[4] = {0};
  (void)satchel_source_read(tiff->source, 8, mark, sizeof mark);
  /* Phase One has a picture of one pixel in the main directory, and its own numbers elsewhere. */
  if (memcmp(mark, "IIII", 4) == 0 || memcmp(mark, "MMMM", 4) == 0) return;
  /* CR2 has a preview there that is not marked as one; the photo's size is in its EXIF. */
  if (memcmp(mark, "CR", 2) == 0) {
    measure(tiff, photo, 0xA002, exif);
    return;
  }
  measure(tiff, main, 0x100, exif);
  const uint8_t *entry = find(tiff, main, 0x14A);
  if (entry == NULL || unit_of(get(tiff, entry + 2, 2)) != 4) return;
  uint8_t offsets[VALUE_MAXIMUM];
  size_t count = read_value(tiff, entry, offsets) / 4;
  bool is_damaged = tiff->is_damaged;
  for (size_t index = 0; index < count && index < SUBDIRECTORIES_MAXIMUM; index++) {
    struct directory directory = read_directory(tiff, get(tiff, offsets + 4 * index, 4));
    measure(tiff, &directory, 0x100, exif);
    free(directory.entries);
  }
  /* They have no EXIF. */
  tiff->is_damaged = is_damaged;
}

/* ---------------------------------------------------------------------------------------------- The block */

/* The tags that read_all() of Exif.c reads; of the position only in its directory. */
static bool is_wanted(uint32_t tag, bool is_position) {
  static const uint16_t tags[] = {0x010F, 0x0110, 0x0112, 0x0132, 0x829A, 0x829D, 0x8827, 0x8832, 0x8833,
                                  0x9003, 0x9004, 0x9010, 0x9011, 0x9012, 0x920A};
  if (is_position) return tag >= 1 && tag <= 4;
  for (size_t index = 0; index < sizeof tags / sizeof *tags; index++) {
    if (tags[index] == tag) return true;
  }
  return false;
}

enum { MAIN, PHOTO, POSITION, DIRECTORIES, KEPT_MAXIMUM = 20 };

/* The tags of the main directory that point to the others. */
static const uint16_t directory_tags[DIRECTORIES] = {0, 0x8769, 0x8825};

/* The entries of a directory that are kept, each tag once. */
struct kept {
  const uint8_t *entries[KEPT_MAXIMUM];
  uint32_t count;
};

static struct kept keep(const struct tiff *tiff, const struct directory *directory, bool is_position) {
  struct kept kept = {{NULL}, 0};
  for (uint32_t index = 0; index < directory->count && kept.count < KEPT_MAXIMUM; index++) {
    const uint8_t *entry = directory->entries + index * ENTRY;
    uint32_t tag = get(tiff, entry, 2);
    if (is_wanted(tag, is_position) && find(tiff, directory, tag) == entry) kept.entries[kept.count++] = entry;
  }
  return kept;
}

/* Writes a directory at `offset` of the TIFF, and its values at `*values`. */
static void write_directory(
    struct tiff *tiff, uint8_t *base, size_t offset, const struct kept *kept, const uint32_t *pointers,
    size_t *values) {
  uint8_t *entry = base + offset + 2;
  uint32_t written = 0;
  for (uint32_t index = 0; index < kept->count; index++) {
    uint8_t value[VALUE_MAXIMUM];
    size_t count = read_value(tiff, kept->entries[index], value);
    size_t unit = unit_of(get(tiff, kept->entries[index] + 2, 2));
    if (count == 0 || unit == 0) continue;
    memcpy(entry, kept->entries[index], 4);
    put(tiff, entry + 4, 4, (uint32_t)(count / unit));
    if (count <= 4) {
      memcpy(entry + 8, value, 4);
    } else {
      put(tiff, entry + 8, 4, (uint32_t)*values);
      memcpy(base + *values, value, count);
      *values += count + count % 2;
    }
    entry += ENTRY;
    written++;
  }
  for (int index = PHOTO; pointers != NULL && index < DIRECTORIES; index++) {
    if (pointers[index] == 0) continue;
    put(tiff, entry, 2, directory_tags[index]);
    put(tiff, entry + 2, 2, 4);
    put(tiff, entry + 4, 4, 1);
    put(tiff, entry + 8, 4, pointers[index]);
    entry += ENTRY;
    written++;
  }
  put(tiff, base + offset, 2, written);
  put(tiff, entry, 4, 0);
}

size_t satchel_tiff_compact(
    const struct satchel_image_source *source, uint8_t *block, struct satchel_exif *exif) {
  static const uint8_t header[6] = {'E', 'x', 'i', 'f', 0, 0};
  /* TIFF, and the raw formats of Olympus and Panasonic, which have numbers of their own. */
  static const char starts[][5] = {"II*\0", "MM\0*", "IIRO", "IIRS", "MMOR", "IIU\0"};
  uint8_t head[8];
  if (satchel_source_read(source, 0, head, sizeof head) < sizeof head) return 0;
  bool is_tiff = false;
  for (size_t index = 0; index < sizeof starts / sizeof *starts; index++) {
    if (memcmp(head, starts[index], 4) == 0) is_tiff = true;
  }
  if (!is_tiff) return 0;
  struct tiff tiff = {source, head[0] == 'M', false};

  struct directory directories[DIRECTORIES] = {{NULL, 0}};
  directories[MAIN] = read_directory(&tiff, get(&tiff, head + 4, 4));
  uint32_t pointers[DIRECTORIES] = {0};
  struct kept kept[DIRECTORIES];
  size_t end = 8;
  for (int index = MAIN; index < DIRECTORIES; index++) {
    if (index != MAIN) {
      uint32_t offset = whole(&tiff, &directories[MAIN], directory_tags[index], 0);
      if (offset != 0) directories[index] = read_directory(&tiff, offset);
    }
    kept[index] = keep(&tiff, &directories[index], index == POSITION);
    if (index != MAIN && kept[index].count == 0) continue;
    pointers[index] = (uint32_t)end;
    end += 2 + (kept[index].count + DIRECTORIES) * ENTRY + 4;
  }

  /* All of it: 60 entries and their values have at most 17 KB. */
  memset(block, 0, SATCHEL_TIFF_BLOCK);
  memcpy(block, header, sizeof header);
  uint8_t *base = block + sizeof header;
  memcpy(base, tiff.is_big_endian ? "MM\0*" : "II*\0", 4);
  put(&tiff, base + 4, 4, pointers[MAIN]);
  for (int index = MAIN; index < DIRECTORIES; index++) {
    if (pointers[index] == 0) continue;
    write_directory(&tiff, base, pointers[index], &kept[index], index == MAIN ? pointers : NULL, &end);
  }
  measure_all(&tiff, &directories[MAIN], &directories[PHOTO], exif);
  for (int index = MAIN; index < DIRECTORIES; index++) free(directories[index].entries);
  exif->is_damaged = tiff.is_damaged;
  return sizeof header + end;
}
