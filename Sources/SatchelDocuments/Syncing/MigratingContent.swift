import SatchelCore
import SatchelJSON
import SatchelSync
import SatchelStorage

/// Brings content of older versions of a collection to the declared one, in memory.
struct MigratingContent {
  private let collection: CollectionState
  private let work: RecordWork
  private var steps: [Int64: RecordMigration] = [:]

  init(_ collection: CollectionState, _ work: RecordWork) {
    self.collection = collection
    self.work = work
  }

  /// - Throws: `SatchelError`: `newer` for a version above the declared one; `invalid` for a document that a
  ///   step cannot migrate, and for a step that the store does not have
  mutating func version(_ envelope: SyncEnvelope) throws -> RecordVersion {
    let declared = collection.version
    guard envelope.version <= declared else {
      throw SatchelError(
        .newer,
        "\(envelope.key): its document has version \(envelope.version), and the collection is declared with "
          + "version \(declared)")
    }
    return try naming("\(envelope.key)") {
      var content = envelope.content
      if let document = content.document, envelope.version < declared {
        content.document = try migrated(document, envelope)
      }
      return RecordVersion(content)
    }
  }

  private mutating func migrated(_ document: [UInt8], _ envelope: SyncEnvelope) throws -> [UInt8] {
    guard case .object(var object) = try JSONValue(parsing: document) else {
      throw JSONError("the document is not an object")
    }
    var kept: [KeptValue] = []
    for version in envelope.version..<collection.version {
      let step = try step(from: version)
      try work.store.database.migrating("the migration of \(collection.name) to version \(version + 1)") {
        try step.apply(to: &object, id: envelope.key.id, version: Int(version), kept: &kept)
      }
    }
    return try JSONValue.object(object).serialized()
  }

  private mutating func step(from version: Int64) throws -> RecordMigration {
    if let known = steps[version] { return known }
    let declared = work.store.migrations(of: collection.id)
    let found =
      declared.indices.contains(Int(version) - 1)
      ? declared[Int(version) - 1]
      : try MigrationRun.step(to: version + 1, of: collection.id, work.connection, callback: nil)
    guard let found else {
      throw SatchelError(
        .invalid, "\(collection.name): there are no steps from version \(version) to \(version + 1)")
    }
    steps[version] = found
    return found
  }
}
