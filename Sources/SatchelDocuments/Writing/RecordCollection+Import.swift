import SatchelCore
import SatchelJSON
import SatchelStorage

extension RecordCollection {
  /// Imports records in one transaction: all or none. Records that are not among them are kept; a record with
  /// a stamp gets its revision and times.
  ///
  /// - Parameter rejected: is called with the index and the error of each record that the collection rejects;
  ///   all are tried. An error that shows only at the end, such as a relation to a missing record, is thrown.
  /// - Throws: `SatchelError` `.invalid` when a record was rejected, `.constraint` for a missing target of a
  ///   relation, `.busy`, `.readOnly`, `.full`, `.io`
  package func importRecords(
    _ records: [ImportedRecord], rejected: (Int, SatchelError) -> Void
  ) throws -> RecordImportReport {
    try transaction { work, collection in
      var report = RecordImportReport()
      var count = 0
      let contested = work.contested.count
      for (index, record) in records.enumerated() {
        do {
          try importRecord(record, work, in: collection, report: &report)
        } catch let error as SatchelError where error.isRejectedDocument {
          rejected(index, error)
          count += 1
        }
      }
      let taken = try work.uniqueViolations(from: contested, in: collection)
      for (index, record) in records.enumerated() {
        guard !taken.isEmpty, let error = taken[Array(record.id.utf8)] else { continue }
        rejected(index, error)
        count += 1
      }
      guard count == 0 else {
        throw SatchelError(
          .invalid, "\(name): \(count) of \(records.count) records were rejected; none was imported")
      }
      return report
    }
  }

  private func importRecord(
    _ record: ImportedRecord, _ work: RecordWork, in collection: CollectionState,
    report: inout RecordImportReport
  ) throws {
    var id = record.id
    try id.withUTF8 { key in
      let key = UnsafeRawBufferPointer(key)
      try RecordID.check(key, in: name)
      let row = try work.findUnexpired(key, in: collection).row
      let record = try bare(record, row, work: work, in: collection)
      if let row, try isSame(record, row, work: work, in: collection) {
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

  /// Returns a record without the member that is its id, if the collection's document is without it too.
  private func bare(
    _ record: ImportedRecord, _ row: Int64?, work: RecordWork, in collection: CollectionState
  ) throws -> ImportedRecord {
    guard let member = record.idMember, let row else { return record }
    let hasID = try RecordFetch(work.connection, collection, store: store).one(row) { old in
      try old.plain { body in
        let tape = try JSONTape(body)
        return tape.value(of: member, in: tape.root) != nil
      }
    }
    guard hasID == false else { return record }
    var result = record
    result.document = try record.document.withUnsafeBytes { bytes in
      let tape = try JSONTape(bytes)
      guard let found = tape.value(of: member, in: tape.root) else { return record.document }
      var rest: [UInt8] = []
      tape.copy(tape.root, without: found, to: &rest)
      return rest
    }
    return result
  }

  /// Returns whether the collection has an equal record; white space and the order of keys do not matter.
  private func isSame(
    _ record: ImportedRecord, _ row: Int64, work: RecordWork, in collection: CollectionState
  ) throws -> Bool {
    let fetch = RecordFetch(work.connection, collection, store: store)
    return try fetch.one(row) { old in
      if let stamp = record.stamp {
        guard stamp.created == old.created, stamp.modified == old.modified, stamp.revision <= old.revision
        else {
          return false
        }
      }
      return try old.plain { body in
        if body.elementsEqual(record.document) { return true }
        // Invalid JSON is rejected when it is written.
        guard let one = try? JSONValue(parsing: body), let other = try? JSONValue(parsing: record.document)
        else { return false }
        return one == other
      }
    } ?? false
  }
}

/// A record read from a file.
package struct ImportedRecord: Equatable, Sendable {
  /// Revision and times of the record at its source.
  package struct Stamp: Equatable, Sendable {
    package var revision: Int64
    /// Unix milliseconds.
    package var created: Int64
    /// Unix milliseconds.
    package var modified: Int64

    package init(revision: Int64, created: Int64, modified: Int64) {
      self.revision = revision
      self.created = created
      self.modified = modified
    }
  }

  package var id: String
  /// A JSON object.
  package var document: [UInt8]
  /// Nil for a document without a known revision.
  package var stamp: Stamp?
  /// The member that is the id in the document, where the file's form needs it there: it is left out where the
  /// collection has the document without it.
  package var idMember: String?

  package init(id: String, document: [UInt8], stamp: Stamp? = nil, idMember: String? = nil) {
    self.id = id
    self.document = document
    self.stamp = stamp
    self.idMember = idMember
  }
}

/// The result of an import of records.
package struct RecordImportReport: Equatable, Sendable {
  package var added = 0
  package var changed = 0
  /// Records that the collection already had unchanged.
  package var unchanged = 0

  package init() {}

  package var json: JSONValue {
    ["added": .int(Int64(added)), "changed": .int(Int64(changed)), "unchanged": .int(Int64(unchanged))]
  }
}
