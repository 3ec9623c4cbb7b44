import SatchelStorage

extension RecordCollection {
  /// What holds in every sound store's tables of records, and does not here. Reads every row.
  package static func check(_ database: Database) throws -> [StoreFinding] {
    guard try database.has(RecordSchema.subject) else { return [] }
    return try database.read { connection in
      var findings: [StoreFinding] = []
      try RecordCheck(connection) { findings.append(StoreFinding(code: $0, message: $1)) }.run()
      return findings
    }
  }
}
