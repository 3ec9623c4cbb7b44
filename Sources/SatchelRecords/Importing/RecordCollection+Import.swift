import SatchelJSON
import SatchelStorage

extension RecordCollection {
  /// Takes records from a file, in one transaction: all or none. Records that are not among them stay; one that has a
  /// stamp gets its revision and times.
  ///
  /// - Parameter refused: hears which of the records the collection does not allow, and why; all are tried. What only
  ///   shows at the end, such as a relation to a record that is not there, is thrown.
  /// - Throws: `SatchelError` `.invalid` when one was refused, `.busy`, `.readOnly`, `.full`, `.io`
  package func take(
    _ records: [ImportedRecord], refused: (Int, SatchelError) -> Void
  ) throws -> RecordImportReport {
    try store.transaction { _ in
      try write { work, collection in
        var report = RecordImportReport()
        var count = 0
        for (index, record) in records.enumerated() {
          do {
            try take(record, work, collection, &report)
          } catch let error as SatchelError where error.code == .invalid {
            refused(index, error)
            count += 1
          }
        }
        guard count == 0 else {
          throw SatchelError(.invalid, "\(name): \(count) of \(records.count) records are not allowed")
        }
        return report
      }
    }
  }

  private func take(
    _ record: ImportedRecord, _ work: RecordWork, _ collection: WorkingCollection,
    _ report: inout RecordImportReport
  ) throws {
    var id = record.id
    try id.withUTF8 { key in
      let key = UnsafeRawBufferPointer(key)
      try RecordID.check(key, in: name)
      let row = try work.find(key, in: collection).row
      if let row, try isSame(record, row, work, collection) {
        report.unchanged += 1
        return
      }
      try record.document.withUnsafeBytes { document in
        try checkDocument(document, key)
        _ = try work.put(key, document, in: collection)
      }
      if let stamp = record.stamp {
        try work.setTimes(
          key, revision: stamp.revision, created: stamp.created, modified: stamp.modified, in: collection)
      }
      if row == nil { report.added += 1 } else { report.changed += 1 }
    }
  }

  /// Whether the collection has the record just so; white space and the order of keys do not matter.
  private func isSame(
    _ record: ImportedRecord, _ row: Int64, _ work: RecordWork, _ collection: WorkingCollection
  ) throws -> Bool {
    let fetch = RecordFetch(work.connection, collection.row)
    return try fetch.one(row) { old in
      if let stamp = record.stamp {
        let known = ImportedRecord.Stamp(
          revision: old.revision, created: old.created, modified: old.modified)
        guard stamp == known else { return false }
      }
      if old.body.elementsEqual(record.document) { return true }
      // What is no JSON is refused when it is written.
      guard let one = try? JSONValue(parsing: old.body), let other = try? JSONValue(parsing: record.document)
      else { return false }
      return one == other
    } ?? false
  }
}
