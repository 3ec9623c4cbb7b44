import Foundation
import Satchel
import SatchelTesting
import Testing

/// Columns of which every value of the type is sound, since nothing else in the store depends on it.
private let independent: Set<String> = [
  "photo_trash.apple_photo_id", "photo_trash.filename", "photo_trash.height", "photo_trash.modified",
  "photo_trash.photodate", "photo_trash.removed", "photo_trash.size", "photo_trash.width",
  // Whose data it is, and when entries were received.
  "photo_catalogue.owner", "photo_catalogue.owner_remote", "photo_catalogue.remote_id",
  "photo_index.remote_id",
  "sync_entry.received", "sync_owner.remote", "sync_owner.remote_id",
  "sync_owner.user",
  // Read when the asset is fetched, and repeated from the entry.
  "sync_asset.id", "sync_asset.key", "sync_asset.whole",
  // Values of the app or its backend.
  "photo_local.camera_make", "photo_local.iso",
  "record_kept.path",
  "record_kept.version", "section.display_title",
  // Times, and numbers that only grow.
  "change.time", "change.writer", "context.created_at", "context.used_at",
  "section.fetched_at", "entity.created_at",
  "context_at.revision",
  "entity.time_to_live",
  "entity.updated_at", "photo_catalogue.created", "photo_catalogue.last_sync", "photo_catalogue.modified",
  "photo_catalogue.sequence", "photo_catalogue.trash_expired", "photo_file.changed", "photo_file.modified",
  "photo_local.last_attempt",
  "photo_local.queued",
  "record.created",
  "record.modified", "record.revision", "record_collection.shape",
  "conflict.time", "record_migration.version", "section.updated_at",
  "outbox_saved.through", "outbox_saved.time", "outbox_saved.writer",
  "sync_entry.pending", "sync_entry.seq", "sync_log.next_generation", "sync_writer.sequence",
  "sync_log.synced", "sync_writer.file", "sync_writer.stamp",
  "asset.used_at", "asset_source.asset", "asset_source.error", "asset_source.etag",
  "asset_source.fetched_at", "asset_source.retry_at", "asset_sweep.swept_at",
  // Requests to sources, and when they are due.
  "refresh.asked_at", "refresh.attempts", "refresh.error", "refresh.fresh_for", "refresh.location",
  "refresh.owner",
  "refresh.section", "refresh.wait",
  // An index that is not that of the declared paths is made again.
  "record_searched.collection", "record_searched.paths",
  // The name that the app gave, and what downloads have met.
  "region.name", "region.created_at", "region.updated_at", "region.downloaded_at", "region_item.asked_at",
  "region_item.error", "region_item.section", "region_skip.max_size",
  // Files to delete: one that an asset has is not.
  "asset_garbage.name",
  // A file, and names of the app: of a variant, a section, a member of it.
  "asset_transfer.etag", "asset_transfer.file", "asset_variant.name", "asset_variant.type",
  "asset_variant.variant",
  "asset_path.path",
  "asset_path.section",
  // Names of what is outside of the store: directories, files, remotes, other devices.
  "photo_catalogue.remote_uuid", "photo_catalogue.directory", "photo_catalogue.manifest_etag",
  "photo_catalogue.user", "photo_catalogue.uuid", "photo_file.md5", "photo_file.path", "photo_file.photo",
  "photo_file.replacement", "photo_file.size", "photo_catalogue.device", "photo_index.checksum",
  "photo_index.etag",
  "photo_index.key", "photo_index.remote",
  "photo_shard.synced_checksum", "photo_shard.modified", "photo_shard.synced", "photo_shard.etag",
  "photo_shard.ancestors", "photo_shard.source",
  "photo_catalogue.remote", "sync_log.remote", "sync_log.user", "sync_log.etag", "sync_writer.writer",
  "remote_probe.passed", "remote_probe.user", "remote_probe.remote",
  "story_library.directory",
  // The discarded versions of conflicts.
  "conflict.local", "conflict.remote",
  // Where a block begins: a first hash that is lower finds the same.
  "entity_index.first", "record_key.first",
  // For people; `identity` is what is looked up.
  "place.text",
]

/// Tables that repeat what other files say, which reading these again corrects.
private let repeated = ["story_file.", "story_facet."]

/// Columns that are NULL everywhere in the sound store, or that the schema fixes.
private let absent: Set<String> = [
  "section.etag", "section.expires_at", "section.time_to_live",
  "record_dropped.name", "record_dropped.revised", "sync_log.has_diverged", "sync_log.key",
  "sync_owner.id",
  "sync_owner.key", "sync_owner.phase",
  "photo_local.aperture", "photo_local.camera_model", "photo_local.error",
  "photo_local.focal_length", "photo_local.latitude", "photo_local.longitude", "photo_local.orientation",
  "photo_local.lease_owner", "photo_local.preview_cached_at", "photo_local.shutter_speed",
  "photo_local.thumbnail_cached_at", "photo_local.scanned_date", "photo_local.date_source",
  "photo_local.utc_offset",
  "photo_shard.pending_checksum", "photo_shard.pending_sequence",
  "conflict.base", "conflict.code", "conflict.reason", "conflict.waits_for", "record_collection.sealed_by",
  "outbox_applied.file", "outbox_applied.through", "outbox_rejected.entry", "outbox_rejected.file",
  "outbox_rejected.id", "outbox_rejected.number", "outbox_rejected.reason", "outbox_rejected.time",
  "sync_entry.ancestors", "sync_entry.base_received", "sync_entry.conflict", "sync_entry.created",
  "sync_entry.deleted",
  "sync_entry.error",
  "sync_entry.error_code", "sync_entry.in_flight_envelope", "sync_entry.in_flight_number",
  "sync_entry.in_flight_sequence", "sync_entry.retry_at", "sync_entry.revision",
  "sync_entry.undecided", "sync_log.id", "sync_log.pending_upload", "sync_log.pending_upload_base",
  "sync_log.pending_upload_deletes", "sync_log.pending_upload_etag", "sync_log.phase", "sync_log.previous",
  "sync_writer.id", "sync_writer.replaced",
  // Of an asset in the sync log that nothing is wrong with.
  "sync_asset.next", "sync_asset.sensitive", "sync_asset.suspect", "sync_asset.doubt", "sync_asset.unused",
  "sync_asset.unreferenced",
]

/// Tables of which a row may be missing without a contradiction.
private let optional: Set<String> = [
  // What is only to be done, or can be made again.
  "asset_garbage", "asset_path", "asset_sweep", "asset_transfer", "asset_variant",
  // Values of the app.
  "photo_local", "record_kept", "setting",
  // Records of completed work, which is repeated without them.
  "change", "conflict", "photo_file", "photo_index", "photo_trash", "record_migration",
  "outbox_saved", "refresh", "region_item", "record_searched", "region_skip", "remote_probe",
  "sync_owner",
]

@Suite("check reports contradictions between rows")
struct NamingTests {
  /// Applies a change to a copy of the sound store.
  ///
  /// - Returns: what `check` finds; nil when nothing was changed
  private static func findings(_ fixture: HostileFixture, _ sql: String) throws -> [String]? {
    let path = fixture.folder.path + "/named.satchel"
    defer { for suffix in ["", "-wal", "-shm", ".outbox"] { unlink(path + suffix) } }
    try fixture.bytes.write(to: URL(filePath: path))
    do {
      guard try RawStore(path).change(sql) > 0 else { return nil }
    } catch is RawStore.Failure { return nil }
    do {
      let store = try HostileFixture.open(path)
      let findings = try store.check()
      try store.close()
      return findings.map(\.message)
    } catch let error as SatchelError { return [error.message] }
  }

  @Test("when one value of any column is another one")
  func columns() throws {
    let fixture = try HostileFixture()
    var (unnamed, unchanged): (Set<String>, Set<String>) = ([], [])
    let tried = Portion.of(try fixture.columns().filter { $0.table != "subject" })
    for column in tried {
      let other =
        switch column.type {
        case "INTEGER": ["\(column.name) + 1", "\(column.name) - 1"]
        case "TEXT": ["\(column.name) || 'x'"]
        default:
          ["CAST(\(column.name) || x'20' AS BLOB)", "substr(\(column.name), 1, length(\(column.name)) - 1)"]
        }
      let findings = try other.compactMap {
        try Self.findings(
          fixture,
          "UPDATE OR IGNORE \(column.table) SET \(column.name) = \($0) WHERE \(column.name) IS NOT NULL")
      }
      let name = "\(column.table).\(column.name)"
      if repeated.contains(where: name.hasPrefix) { continue }
      if findings.isEmpty {
        unchanged.insert(name)
      } else if findings.allSatisfy(\.isEmpty) {
        unnamed.insert(name)
      }
    }
    let names = Set(tried.map { "\($0.table).\($0.name)" })
    #expect(unnamed.symmetricDifference(names.intersection(independent)).sorted() == [])
    #expect(unchanged.symmetricDifference(names.intersection(absent)).sorted() == [])
    if Portion.isWhole { #expect(independent.union(absent).subtracting(names).sorted() == []) }
  }

  @Test("when a row of any table is missing")
  func rows() throws {
    let fixture = try HostileFixture()
    var unnamed: Set<String> = []
    for table in Set(try fixture.columns().map(\.table)) where table != "subject" {
      let first = try #require(try fixture.columns().first { $0.table == table })
      let findings = try Self.findings(
        fixture,
        "DELETE FROM \(table) WHERE \(first.name) = (SELECT min(\(first.name)) FROM \(table))")
      if findings == [] { unnamed.insert(table) }
    }
    #expect(unnamed.subtracting(optional).sorted() == [])
    #expect(optional.subtracting(unnamed).sorted() == [])
  }
}
