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
      try recordDeclaredAssets(in: transaction)
    }
  }

  /// Reports entities and sections whose assets are not recorded as they refer to them.
  func checkAssets(_ connection: Connection) throws -> [StoreFinding] {
    let table = try AssetTable.exists(in: connection) ? AssetTable(connection) : nil
    var count = 0
    func check(_ body: UnsafeRawBufferPointer, of owner: AssetOwner) throws {
      // Damaged content is a finding of its own.
      guard AssetReferences.mayContain(body), let references = try? AssetReferences(in: body) else { return }
      if !references.found.isEmpty, try table?.has(references, of: owner) != true { count += 1 }
    }
    try Self.eachBody("SELECT entity, body FROM entity_content", connection) {
      try check($1, of: AssetOwner(.entity, $0))
    }
    try Self.eachBody("SELECT section, template FROM section_content", connection) {
      try check($1, of: AssetOwner(.section, $0))
    }
    if count == 0 { return [] }
    return [
      StoreFinding(
        code: "asset_reference",
        message:
          "\(count) entities or sections of the catalogue refer to assets that are not recorded for them")
    ]
  }

  private static func eachBody(
    _ sql: StaticString, _ connection: Connection, _ visit: (Int64, UnsafeRawBufferPointer) throws -> Void
  ) throws {
    try connection.each(sql) { try visit($0.anyInteger(0), $0.bytes(1)) }
  }
}
