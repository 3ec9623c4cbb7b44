import SatchelRemote

/// All that is known of one record on both sides, at one moment.
struct RecordState: Sendable, Equatable {
  var id: String
  /// The local content; nil when there never was any.
  var local: RecordContent?
  /// Sequence of the last change that was not agreed.
  var pending: Int64?
  /// The envelope that was agreed last, as bytes.
  var base: [UInt8]?
  /// The tag of the object that holds it; nil when that is not known, or when the object has vanished.
  var etag: ETag?
  /// An envelope on its way.
  var sending: RecordSending?
  /// The object that an open conflict is about.
  var conflict: ETag?
  /// How often in a row it failed.
  var attempts = 0

  /// What must not have changed when a decision is carried out.
  var stamp: RecordStamp {
    RecordStamp(pending: pending, etag: etag, base: base, sending: sending?.sequence)
  }
}

/// An envelope that was about to be sent.
struct RecordSending: Sendable, Equatable {
  /// The change that it holds.
  var sequence: Int64
  var envelope: [UInt8]
}

/// What of a state must not have changed. As sequences are never used twice, it says that nothing else has either.
struct RecordStamp: Sendable, Equatable {
  var pending: Int64?
  var etag: ETag?
  var base: [UInt8]?
  var sending: Int64?
}
