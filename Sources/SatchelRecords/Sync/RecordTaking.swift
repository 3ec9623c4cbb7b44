/// What becomes of the local side when an object of the master becomes the base.
enum RecordTaking: Sendable, Equatable {
  /// It becomes this, and is clean. The record's revision grows: at least to this one, and beyond its own.
  case replace(RecordContent)
  /// It becomes this, which is a new change and pending.
  case merge(RecordContent)
  /// It stays as it is, and what is pending is to be sent on top.
  case keep
  /// It says the same already, and is clean.
  case agree
}
