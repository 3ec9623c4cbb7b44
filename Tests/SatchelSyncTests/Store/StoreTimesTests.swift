import SatchelTesting
import Testing

@testable import Satchel
@testable import SatchelStorage

/// The declared time columns, by which the times of a clock that was ahead are stamped.
struct StoreTimesTests {
  /// The columns that are large enough for a time, and contain none.
  static let others: Set<String> = [
    "asset.id", "asset_bytes.asset", "asset_garbage.number", "asset_reference.asset",
    "asset_reference.owner", "asset_reference.source", "asset_source.asset", "asset_source.attempts",
    "asset_source.id", "asset_seal.asset", "asset_transfer.asset", "asset_variant.variant",
    "change.revision", "change.writer", "clock_correction.id", "clock_correction.stamped_rows",
    "conflict.code", "conflict.id", "conflict.owner", "sync_asset.entry", "sync_asset.generation",
    "sync_asset.id", "sync_asset.unused", "sync_asset_reference.entry", "sync_asset_reference.generation",
    "context.adminarea", "context.coordinate", "context.country", "context.id", "context.locality",
    "context.sublocality", "context_at.context", "context_at.place", "context_at.revision", "entity.id",
    "entity.place", "entity.reference_count", "entity.source", "entity.time_to_live",
    "entity_content.entity", "entity_index.first", "expiry_block.block", "outbox_applied.through",
    "outbox_rejected.id", "outbox_rejected.number", "outbox_saved.through", "outbox_saved.writer",
    "photo.catalogue", "photo.height", "photo.size", "photo.width", "photo_base.catalogue",
    "photo_base.sequence",
    "photo_catalogue.id", "photo_catalogue.sequence", "photo_kept.catalogue",
    "photo_file.catalogue", "photo_index.catalogue", "photo_file.size", "photo_local.attempts",
    "photo_local.catalogue",
    "photo_local.iso", "photo_local.orientation", "photo_local.queued", "photo_shard.catalogue",
    "photo_shard.pending_sequence", "photo_shard.sequence", "photo_trash.catalogue", "photo_trash.height",
    "photo_trash.size", "photo_trash.width", "place.id", "record.id",
    "record.revision", "record_collection.revised", "record_collection.shape", "record_dropped.revised",
    "record_index.id",
    "record_kept.record", "record_kept.version", "record_key.first", "record_migration.collection",
    "record_mirror.collection", "record_reference.relation", "record_reference.source",
    "record_relation.id", "record_searched.through", "record_value.index_id", "record_value.record",
    "search_change.entity",
    "refresh.attempts", "refresh.fresh_for", "refresh.wait", "region.id", "region_item.region",
    "region_skip.max_size", "region_skip.region", "region_skip.source",
    "section.context", "section.id", "section.time_to_live", "section_at.context", "section_at.place",
    "section_content.section",
    "story_file.checker", "story_file.choices",
    "story_file.endings", "story_file.errors", "story_file.id", "story_file.library",
    "story_file.longest_path", "story_file.longest_time", "story_file.minutes", "story_file.named_files",
    "story_file.path_count",
    "story_file.problem_column", "story_file.problem_line", "story_file.segments",
    "story_file.shortest_path", "story_file.shortest_time", "story_file.size", "story_file.warnings",
    "story_file.words", "story_library.id", "story_facet.file", "story_facet.library",
    "subject.version", "sync_collection.id", "sync_entry.collection", "sync_entry.error_code",
    "sync_entry.generation", "sync_entry.id", "sync_entry.in_flight_number",
    "sync_entry.in_flight_sequence", "sync_entry.pending", "sync_entry.revision", "sync_entry.seq",
    "sync_log.bytes", "sync_log.compactions", "sync_log.count", "sync_log.dropped_through", "sync_log.epoch",
    "sync_log.generation", "sync_log.has_diverged",
    "sync_log.id", "sync_log.next_generation", "sync_log.number", "sync_log.previous", "sync_owner.id",
    "sync_writer.id", "sync_writer.file", "sync_writer.sequence", "sync_writer.stamp",
  ]

  @Test("each column that can contain a time is declared as one, or known not to")
  func declared() throws {
    let database = try Database.open(
      path: ":memory:", options: StoreOptions(), migrations: Store.migrations, subjects: Store.subjects,
      rules: Store.rules)
    for subject in Store.subjects { try database.prepare(subject) }
    let rules = Store.subjects.reduce(Store.rules) { $0.merging($1.rules) }
    var columns: Set<String> = []
    try database.read { connection in
      for (table, _) in try ValueCheck.tables(connection) {
        try connection.visit("PRAGMA main.table_info(\"\(table)\")") { row in
          if row.text(2) == "INTEGER" { columns.insert("\(table).\(row.text(1))") }
        }
      }
    }
    let large = columns.filter { (rules.bounds[$0] ?? StoredRange.usual).upperBound > 1 << 41 }
    let undeclared = large.filter { rules.times[$0] == nil && !isShadow($0) }
    #expect(Set(undeclared).symmetricDifference(Self.others).sorted() == [])
    #expect(Set(rules.times.keys).subtracting(columns).isEmpty)
    for (name, time) in rules.times {
      let table = name.prefix { $0 != "." }
      switch time {
      case .stamp, .kept, .earliestExpiry: break
      case .expiry(let timeToLive): #expect(columns.contains("\(table).\(timeToLive)"))
      case .ordered(let group, let number):
        #expect(columns.contains("\(table).\(number)"))
        #expect(!group.isEmpty)
      }
    }
    #expect(database.times().reduce(0) { $0 + $1.columns.count } == rules.times.count)
  }

  /// Whether a column is of a table of SQLite's indexes.
  private func isShadow(_ column: String) -> Bool {
    ["_data.", "_idx.", "_docsize.", "_config.", "_content.", "_rowid.", "_node.", "_parent."].contains {
      column.contains($0) && !column.hasPrefix("entity_content") && !column.hasPrefix("section_content")
    }
  }
}
