import SatchelRemote

/// As much of a record as it takes to see whether there is anything to do.
struct RecordMark: Sendable, Equatable {
  var id: String
  /// The tag of the object that was agreed; nil when there is none, or when its tag is not known.
  var etag: ETag?
  /// Sequence of the last change that was not agreed.
  var pending: Int64?
  /// Whether an envelope is on its way.
  var isSending = false
  /// The object that an open conflict is about.
  var conflict: ETag?
  /// The last failure, if it was not mended since.
  var failure: RecordFailureMark?
}

/// A failure as the ledger remembers it.
struct RecordFailureMark: Sendable, Equatable {
  /// How often in a row.
  var attempts: Int
  /// Unix milliseconds; not before.
  var retryAt: Int64
  var message: String
}

/// Some marks, and where to go on.
struct RecordMarks: Sendable, Equatable {
  var marks: [RecordMark]
  /// Nil when these were the last.
  var next: RecordCursor?
}

/// Where a listing of marks goes on; means something only to the ledger that gave it.
struct RecordCursor: Sendable, Equatable {
  var text: String
}
