import SatchelCore
import SatchelStorage

/// The schema of the catalogue's tables. The keys put rows on disk in the order of access: a context's
/// section headers are adjacent, and the content of a section's entities is stored in the order of delivery.
package enum CatalogueSchema {
  package static let rules = StoredRules(
    bounds: [
      "place.id": 1...1 << 53, "place.level": 1...5, "context.id": 1...1 << 53,
      "context.country": StoredRange.count,
      "context.adminarea": StoredRange.count, "context.locality": StoredRange.count,
      "context.sublocality": StoredRange.count, "context.coordinate": StoredRange.count,
      "context.created_at": StoredRange.time, "context.used_at": StoredRange.time,
      "context.complete": StoredRange.flag,
      "context_at.own": StoredRange.flag,
      "context_at.revision": StoredRange.count,
      "section_at.place": 0...1 << 53, "section_at.context": 1...1 << 53,
      "section.updated_at": StoredRange.time, "section.fetched_at": StoredRange.time,
      "section.time_to_live": StoredRange.time, "section.expires_at": StoredRange.time,
      "section.in_global": SectionTable.counts,
      "section.in_country": SectionTable.counts, "section.in_adminarea": SectionTable.counts,
      "section.in_locality": SectionTable.counts, "section.in_sublocality": SectionTable.counts,
      "section.in_coordinate": SectionTable.counts, "entity.id": 1...1 << 53, "entity.scope": 0...5,
      "entity.place": StoredRange.count, "entity.time_to_live": StoredRange.time,
      "entity.expires_at": StoredRange.time, "entity.updated_at": StoredRange.time,
      "entity.reference_count": StoredRange.count,
      "entity.size": StoredRange.length, "entity.created_at": StoredRange.time,
      "entity.source": 1...1 << 53, "expiry_block.block": 0...1 << 45,
      "expiry_block.earliest": StoredRange.time,
      "entity_index.first": StoredRange.any, "search_change.entity": 1...1 << 53,
    ],
    documents: [
      "context.location", "section.config", "section.extra",
      "section_content.template", "entity_content.body",
    ],
    times: [
      "context.created_at": .stamp, "context.used_at": .stamp, "section.updated_at": .stamp,
      "section.fetched_at": .stamp, "section.expires_at": .expiry(timeToLive: "time_to_live"),
      "entity.expires_at": .expiry(timeToLive: "time_to_live"), "entity.updated_at": .stamp,
      "entity.created_at": .stamp, "expiry_block.earliest": .earliestExpiry,
    ])

  package static let version1 = """
    -- `identity`, the tuple of the components, identifies a place; `text` is for display.
    CREATE TABLE place(
      id INTEGER PRIMARY KEY AUTOINCREMENT,
      level INTEGER NOT NULL,
      identity TEXT NOT NULL UNIQUE,
      text TEXT NOT NULL
    );

    -- A location that content was delivered for: its place at each level, 0 for none. Persisting another
    -- section does not update the row: context_at has the revision of the last update, and the sections have
    -- its time. `complete` is 1 when its last delivery had all of its sections.
    CREATE TABLE context(
      id INTEGER PRIMARY KEY AUTOINCREMENT,
      country INTEGER NOT NULL,
      adminarea INTEGER NOT NULL,
      locality INTEGER NOT NULL,
      sublocality INTEGER NOT NULL,
      coordinate INTEGER NOT NULL,
      created_at INTEGER NOT NULL,
      used_at INTEGER NOT NULL,
      complete INTEGER NOT NULL,
      location TEXT NOT NULL,
      UNIQUE(coordinate, sublocality, locality, adminarea, country)
    );

    -- The contexts in a place, the most recently updated last. `own` is 1 when the place is the most
    -- specific one of the context: a place has at most one such context, and a coordinate one for each
    -- combination of place names. The place 0 is the whole world: it has the contexts with global content.
    CREATE TABLE context_at(
      place INTEGER NOT NULL,
      own INTEGER NOT NULL,
      revision INTEGER NOT NULL,
      context INTEGER NOT NULL,
      PRIMARY KEY(place, own, revision, context)
    ) WITHOUT ROWID;

    -- The sections that other locations in a place inherit: those with an entity that covers all of the place,
    -- of the contexts of more specific places; in the place 0, those with a global entity. Written only when a
    -- context gets or loses a section.
    CREATE TABLE section_at(
      place INTEGER NOT NULL,
      name TEXT NOT NULL,
      context INTEGER NOT NULL,
      PRIMARY KEY(place, name, context)
    ) WITHOUT ROWID;

    -- Section headers; the order of the ids is that of first delivery. The counts give the number of entities
    -- that are visible from another place, without reading any entity. `updated_at` is the last change,
    -- `fetched_at` the last delivery or renewal; `time_to_live` and `expires_at` are those of the content without
    -- entities, NULL where it does not expire.
    CREATE TABLE section(
      context INTEGER NOT NULL,
      name TEXT NOT NULL,
      id INTEGER NOT NULL,
      display_title TEXT,
      config TEXT,
      extra TEXT,
      updated_at INTEGER NOT NULL,
      fetched_at INTEGER NOT NULL,
      etag TEXT,
      time_to_live INTEGER,
      expires_at INTEGER,
      in_global INTEGER NOT NULL,
      in_country INTEGER NOT NULL,
      in_adminarea INTEGER NOT NULL,
      in_locality INTEGER NOT NULL,
      in_sublocality INTEGER NOT NULL,
      in_coordinate INTEGER NOT NULL,
      PRIMARY KEY(context, name)
    ) WITHOUT ROWID;

    -- A section's content without its entities, and the placeholders of the entities.
    CREATE TABLE section_content(
      section INTEGER PRIMARY KEY,
      template BLOB NOT NULL,
      placeholders BLOB NOT NULL
    );

    -- Variants: one row for each (entity_id, scope, place). `size` is NULL when the content was pruned while
    -- a section still references the variant. `reference_count` is the number of sections that reference it.
    -- `created_at` is NULL when it equals `updated_at`; `source` is the context of the delivery that wrote the
    -- content.
    CREATE TABLE entity(
      id INTEGER PRIMARY KEY,
      entity_id TEXT NOT NULL,
      scope INTEGER NOT NULL,
      place INTEGER NOT NULL,
      display_name TEXT,
      time_to_live INTEGER NOT NULL,
      expires_at INTEGER NOT NULL,
      updated_at INTEGER NOT NULL,
      reference_count INTEGER NOT NULL,
      size INTEGER,
      created_at INTEGER,
      source INTEGER NOT NULL
    );
    CREATE INDEX entity_unreferenced ON entity(id) WHERE reference_count = 0;

    -- A lower bound of the expiry of the entities in each block of 256 rows, so that pruning skips blocks. An
    -- index on expires_at would make persisting write two more pages.
    CREATE TABLE expiry_block(
      block INTEGER PRIMARY KEY,
      earliest INTEGER NOT NULL
    );

    CREATE TABLE entity_content(
      entity INTEGER PRIMARY KEY,
      body BLOB NOT NULL,
      placeholders BLOB
    );

    -- Maps the hash of a variant's identity to its row, in sorted blocks (see KeyBlocks), for entities up to
    -- setting 'indexed_through'; VariantIndex finds later ones.
    CREATE TABLE entity_index(
      first INTEGER PRIMARY KEY,
      entries BLOB NOT NULL
    );

    -- Entities that the search index has, whose text changed since; see SearchIndex.
    CREATE TABLE search_change(
      entity INTEGER PRIMARY KEY
    );

    CREATE TABLE setting(
      key TEXT PRIMARY KEY,
      value NOT NULL
    ) WITHOUT ROWID;
    """
}
