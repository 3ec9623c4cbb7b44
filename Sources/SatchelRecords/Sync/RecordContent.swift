/// A record as it is at one moment, on either side.
struct RecordContent: Sendable, Equatable {
  /// A JSON object as it was written, in the present version of its collection; nil when the record was deleted.
  var document: [UInt8]?
  var revision: Int64
  /// Unix milliseconds.
  var created: Int64
  /// Unix milliseconds; of a deletion, when that was.
  var modified: Int64

  var isDeleted: Bool { document == nil }
}
