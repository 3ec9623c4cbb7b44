import SatchelAssets
import SatchelCore
import SatchelStorage

extension Catalogue {
  /// Records again what the stored entities and sections refer to, after rows were lost.
  package func repairAssets() throws {
    guard try database.has(AssetSchema.subject) else { return }
    try database.write { transaction in
      var recorder = try AssetRecorder(database, transaction)
      let connection = transaction.connection
      try Self.eachBody("SELECT entity, body FROM entity_content", connection) {
        try recorder.note($1, of: AssetOwner(.entity, $0))
      }
      try Self.eachBody("SELECT section, template FROM section_content", connection) {
        try recorder.note($1, of: AssetOwner(.section, $0))
      }
    }
  }

  private static func eachBody(
    _ sql: StaticString, _ connection: Connection, _ visit: (Int64, UnsafeRawBufferPointer) throws -> Void
  ) throws {
    try connection.each(sql) { try visit($0.anyInteger(0), $0.bytes(1)) }
  }
}
