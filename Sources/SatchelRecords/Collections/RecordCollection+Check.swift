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

  /// Makes the tables of records agree with each other again, after rows of them were lost: what is counted, indexed
  /// or referred to is worked out anew from the documents. Of synchronised collections the next sync brings back what
  /// was lost.
  ///
  /// - Returns: what could not be kept
  @discardableResult
  package static func repair(_ database: Database) throws -> [StoreFinding] {
    guard try database.has(RecordSchema.subject) else { return [] }
    return try database.write { transaction in
      var repair = RecordRepair(transaction)
      try repair.run()
      return repair.findings
    }
  }
}
