/// A record as it comes from a file.
package struct ImportedRecord: Equatable, Sendable {
  /// What the record was where it comes from.
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
  /// Nil for a document that is not known to have been a record before.
  package var stamp: Stamp?

  package init(id: String, document: [UInt8], stamp: Stamp? = nil) {
    self.id = id
    self.document = document
    self.stamp = stamp
  }
}
