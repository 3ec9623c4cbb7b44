import SatchelStorage

extension PhotoCatalogue {
  /// What holds in every sound store's tables of photos, and does not here. Reads every row.
  package static func check(_ database: Database) throws -> [StoreFinding] {
    guard try database.has(PhotoSchema.subject) else { return [] }
    return try database.read { connection in
      var findings: [StoreFinding] = []
      try PhotoCheck(connection: connection) { findings.append(StoreFinding(code: $0, message: $1)) }.run()
      return findings
    }
  }
}
