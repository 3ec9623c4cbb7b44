import SatchelRemote
import SatchelStorage

/// The tables of the sync log.
package enum SyncLogSchema {
  package static let name = "sync"
  package static let subject = SubjectSchema(
    name: name, migrations: [Migration(version: 1, sql: log + entries + "\n\n" + SyncAssetTables.schema)],
    rules: StoredRules(
      bounds: [
        "sync_writer.sequence": StoredRange.count, "sync_writer.stamp": StoredRange.any,
        "sync_writer.file": StoredRange.any,
        "sync_log.epoch": StoredRange.count, "sync_log.number": StoredRange.count,
        "sync_log.count": StoredRange.count, "sync_log.bytes": StoredRange.count,
        "sync_log.generation": StoredRange.count, "sync_log.next_generation": StoredRange.count,
        "sync_log.previous": StoredRange.count, "sync_log.compactions": StoredRange.count,
        "sync_log.synced": StoredRange.time, "sync_log.dropped_through": StoredRange.count,
        "sync_log.has_diverged": StoredRange.count,
        "sync_entry.generation": StoredRange.count, "sync_entry.seq": StoredRange.count,
        "sync_entry.size": StoredRange.length, "sync_entry.pending": StoredRange.count,
        "sync_entry.in_flight_sequence": StoredRange.count, "sync_entry.in_flight_number": StoredRange.count,
        "sync_entry.undecided": StoredRange.flag, "sync_entry.tombstone": StoredRange.flag,
        "sync_entry.attempts": 0...1 << 31,
        "sync_entry.retry_at": StoredRange.time, "sync_entry.deleted": StoredRange.time,
        "sync_entry.revision": 0...1 << 60, "sync_entry.created": StoredRange.time,
        "sync_entry.received": StoredRange.time, "sync_entry.base_received": StoredRange.time,
        "sync_collection.is_declared": StoredRange.flag,
      ].merging(SyncAssetTables.bounds) { $1 },
      times: [
        "sync_log.synced": .stamp, "sync_entry.retry_at": .stamp, "sync_entry.deleted": .stamp,
        "sync_entry.created": .stamp, "sync_entry.received": .stamp, "sync_entry.base_received": .stamp,
      ]))

  private static let log = """
    -- The store's name among the writers that share a remote, and the number of the latest change to send, which is
    -- the same for all changes of a transaction, and never used again. `stamp` identifies that transaction. `replaced`
    -- is the name that the store had when it was found to be a copy: its numbers have two contents. `file` is the number
    -- of the file that has the name: a copy of it has another.
    CREATE TABLE sync_writer(
      id INTEGER PRIMARY KEY CHECK(id = 1),
      writer TEXT NOT NULL,
      replaced TEXT,
      file INTEGER,
      sequence INTEGER NOT NULL,
      stamp INTEGER NOT NULL
    ) STRICT;

    -- The sync log that the store is bound to. `epoch`, `log` and `number` are the position that it has read, `etag`
    -- and `head` the head there, NULL before the first. `digest`, `count` and `bytes` are of the entries of the valid
    -- `generation`. While a long step is in progress, `phase` names it; `previous` is the generation from which the
    -- local state is being moved, of which entries up to `dropped_through` that the log lacks were deleted.
    -- `has_diverged` is 1 from when the log was found to lack entries of this store until it is read as a whole. A head
    -- that is to be written, or was and is to be confirmed, is `pending_upload`; `pending_upload_base` is the ETag that it
    -- replaces, `pending_upload_deletes` are names of packs to delete afterwards, and `pending_upload_etag` is its own,
    -- once it is known to be written. `synced` is when a sync was last complete, in Unix milliseconds. `key` identifies
    -- the key that the log was last read with, NULL for none.
    CREATE TABLE sync_log(
      id INTEGER PRIMARY KEY CHECK(id = 1),
      remote TEXT NOT NULL,
      user TEXT NOT NULL,
      epoch INTEGER,
      log TEXT,
      number INTEGER,
      etag TEXT,
      head BLOB,
      digest TEXT NOT NULL,
      count INTEGER NOT NULL,
      bytes INTEGER NOT NULL,
      generation INTEGER NOT NULL,
      next_generation INTEGER NOT NULL,
      previous INTEGER,
      phase TEXT,
      pending_upload BLOB,
      pending_upload_base TEXT,
      pending_upload_deletes TEXT,
      pending_upload_etag TEXT,
      compactions INTEGER NOT NULL,
      dropped_through INTEGER,
      has_diverged INTEGER,
      synced INTEGER,
      key TEXT
    ) STRICT;

    -- The user whom the content of the store belongs to; no row for the content of a guest. It outlives the
    -- binding: `detach` keeps it, signing out removes it. `remote_id` is the random id of a directory that is the
    -- remote. `key` is the name of the key that the log had when the binding ended. `phase` is 'erase' while the
    -- bytes of a user who signed out may be left in the file: then `remote` and `user` are NULL until the next user is
    -- known.
    CREATE TABLE sync_owner(
      id INTEGER PRIMARY KEY CHECK(id = 1),
      remote TEXT,
      user TEXT,
      remote_id TEXT,
      key TEXT,
      phase TEXT
    ) STRICT;

    -- Names of collections. `is_declared` is 1 while the collection is declared here and synchronized: then its
    -- entries are decided, and its local content is sent.
    CREATE TABLE sync_collection(
      id INTEGER PRIMARY KEY,
      name TEXT NOT NULL UNIQUE,
      is_declared INTEGER NOT NULL
    ) STRICT;


    """

  private static let entries = """
    -- The entries of the sync log, and the sync metadata of what is local. `seq` is the entry's number and `size` that
    -- of its envelope in bytes; NULL and 0 when the remote has none; `tombstone` is 1 for a deletion. `remote` is the
    -- envelope, NULL when it is equal to `base`, the last synced one (for their stored forms, see SyncStoredEnvelope); without `seq`, it is a deletion that the remote
    -- has dropped and that is still to be applied. `pending` is the number of the latest local change. `in_flight_envelope` is
    -- being sent, for the change `in_flight_sequence`, and is to have the number `in_flight_number`. `ancestors` is
    -- what the local content was built on, where that is more than `base`. `undecided` is 1 while `remote` is to be
    -- applied or compared with the local content; `conflict` is the checksum of the envelope that an open conflict is
    -- about. `deleted`, `revision` and `created` are of local content whose deletion is pending: the time of the
    -- deletion, and the metadata that the content had. `received` is when the entry was received or sent, and
    -- `base_received` when `base` was, NULL for the same time: a time in an envelope that is more than 24 hours later came from a clock that was
    -- ahead, and is replaced by it where it is compared or shown.
    CREATE TABLE sync_entry(
      id INTEGER PRIMARY KEY,
      collection INTEGER NOT NULL,
      key TEXT NOT NULL,
      generation INTEGER NOT NULL,
      seq INTEGER,
      size INTEGER NOT NULL,
      remote BLOB,
      base BLOB,
      pending INTEGER,
      in_flight_sequence INTEGER,
      in_flight_number INTEGER,
      in_flight_envelope BLOB,
      ancestors BLOB,
      undecided INTEGER,
      conflict TEXT,
      attempts INTEGER NOT NULL,
      retry_at INTEGER,
      error TEXT,
      error_code INTEGER,
      deleted INTEGER,
      revision INTEGER,
      created INTEGER,
      received INTEGER,
      base_received INTEGER,
      tombstone INTEGER,
      UNIQUE(collection, key, generation)
    ) STRICT;
    CREATE INDEX sync_entry_seq ON sync_entry(generation, seq, size);
    CREATE INDEX sync_entry_pending ON sync_entry(pending) WHERE pending IS NOT NULL;
    CREATE INDEX sync_entry_in_flight ON sync_entry(in_flight_sequence) WHERE in_flight_sequence IS NOT NULL;
    CREATE INDEX sync_entry_undecided ON sync_entry(generation, collection) WHERE undecided IS NOT NULL;
    CREATE INDEX sync_entry_tombstone ON sync_entry(generation, seq, size) WHERE tombstone IS NOT NULL;
    CREATE INDEX sync_entry_retry ON sync_entry(retry_at) WHERE retry_at IS NOT NULL;
    """
}
