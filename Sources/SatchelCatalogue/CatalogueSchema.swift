import SatchelStorage

/// The catalogue's tables. Keys are chosen so that the order on disk is the order of use: a context's section
/// headers lie side by side, and an entity's content lies where it was delivered, beside its section's others.
package enum CatalogueSchema {
  package static let rules = StoredRules(
    bounds: [
      "place.id": 1...1 << 53, "place.level": 1...5, "context.id": 1...1 << 53,
      "context.country": StoredRange.count,
      "context.adminarea": StoredRange.count, "context.locality": StoredRange.count,
      "context.sublocality": StoredRange.count, "context.coordinate": StoredRange.count,
      "context.used_at": StoredRange.time, "context_at.own": StoredRange.flag,
      "context_at.revision": StoredRange.count,
      "section.updated_at": StoredRange.time, "section.in_global": SectionTable.counts,
      "section.in_country": SectionTable.counts, "section.in_adminarea": SectionTable.counts,
      "section.in_locality": SectionTable.counts, "section.in_sublocality": SectionTable.counts,
      "section.in_coordinate": SectionTable.counts, "entity.id": 1...1 << 53, "entity.scope": 0...5,
      "entity.place": StoredRange.count, "entity.time_to_live": StoredRange.time,
      "entity.expires_at": StoredRange.time, "entity.updated_at": StoredRange.time,
      "entity.uses": StoredRange.count,
      "entity.size": StoredRange.length, "expiry_block.block": 0...1 << 45,
      "expiry_block.earliest": StoredRange.time,
      "entity_index.first": StoredRange.any,
    ],
    documents: ["context.location", "section.config", "section_content.skeleton", "entity_content.body"])

  package static let version1 = """
    -- Places are told apart by `identity`, the tuple of their components; `text` is for people.
    CREATE TABLE place(
      id INTEGER PRIMARY KEY AUTOINCREMENT,
      level INTEGER NOT NULL,
      identity TEXT NOT NULL UNIQUE,
      text TEXT NOT NULL
    );

    -- A location that content was delivered for: the places it lies in, 0 where it has none. Persisting another
    -- section does not touch it: when it was updated stands in context_at, and when in its sections.
    CREATE TABLE context(
      id INTEGER PRIMARY KEY AUTOINCREMENT,
      country INTEGER NOT NULL,
      adminarea INTEGER NOT NULL,
      locality INTEGER NOT NULL,
      sublocality INTEGER NOT NULL,
      coordinate INTEGER NOT NULL,
      used_at INTEGER NOT NULL,
      location TEXT NOT NULL,
      UNIQUE(coordinate, sublocality, locality, adminarea, country)
    );

    -- The contexts in a place, the most recently updated last. `own` marks the context that lies nowhere more
    -- specific: each place has at most one such, a coordinate one for each way its places were named.
    CREATE TABLE context_at(
      place INTEGER NOT NULL,
      own INTEGER NOT NULL,
      revision INTEGER NOT NULL,
      context INTEGER NOT NULL,
      PRIMARY KEY(place, own, revision, context)
    ) WITHOUT ROWID;

    -- Headers; in the order of their ids, which is that of their first delivery. The counts tell, without a look at any entity, how many of the section's entities another
    -- place would see.
    CREATE TABLE section(
      context INTEGER NOT NULL,
      name TEXT NOT NULL,
      id INTEGER NOT NULL,
      display_title TEXT,
      config TEXT,
      updated_at INTEGER NOT NULL,
      in_global INTEGER NOT NULL,
      in_country INTEGER NOT NULL,
      in_adminarea INTEGER NOT NULL,
      in_locality INTEGER NOT NULL,
      in_sublocality INTEGER NOT NULL,
      in_coordinate INTEGER NOT NULL,
      PRIMARY KEY(context, name)
    ) WITHOUT ROWID;

    -- What is left of a section without its entities, and where these belong in it.
    CREATE TABLE section_content(
      section INTEGER PRIMARY KEY,
      skeleton BLOB NOT NULL,
      holes BLOB NOT NULL
    );

    -- Variants: one a (entity_id, scope, place). `size` is NULL when the content was pruned while a section
    -- still refers to it. `uses` counts these sections.
    CREATE TABLE entity(
      id INTEGER PRIMARY KEY,
      entity_id TEXT NOT NULL,
      scope INTEGER NOT NULL,
      place INTEGER NOT NULL,
      display_name TEXT,
      time_to_live INTEGER NOT NULL,
      expires_at INTEGER NOT NULL,
      updated_at INTEGER NOT NULL,
      uses INTEGER NOT NULL,
      size INTEGER
    );
    CREATE INDEX entity_unused ON entity(id) WHERE uses = 0;

    -- No entity whose row lies in a block of 256 expires before `earliest`: pruning skips the other blocks. An
    -- index on expires_at would cost persisting two pages more.
    CREATE TABLE expiry_block(
      block INTEGER PRIMARY KEY,
      earliest INTEGER NOT NULL
    );

    CREATE TABLE entity_content(
      entity INTEGER PRIMARY KEY,
      body BLOB NOT NULL,
      holes BLOB
    );

    -- From the hash of a variant's identity to its row, in sorted blocks (see KeyBlocks), for entities up to setting
    -- 'indexed_through'; later ones are found by VariantIndex.
    CREATE TABLE entity_index(
      first INTEGER PRIMARY KEY,
      entries BLOB NOT NULL
    );

    CREATE TABLE setting(
      key TEXT PRIMARY KEY,
      value NOT NULL
    ) WITHOUT ROWID;
    """
}
