/// The rules that keep a sync from losing anything, each of which a test can switch off: a check that finds nothing
/// when its rule is off would be no check. All are on outside of tests.
struct RecordSyncRules: Sendable {
  /// Writes name the version that they build on.
  var usesConditions = true
  /// Only the change that was sent is settled by its arrival.
  var settlesOnlyWhatWasSent = true
  /// A deletion is an object of its own, and not the same as no object.
  var knowsTombstones = true
  /// What was taken is what the next change is measured against.
  var updatesBase = true
  /// An envelope that was on its way is looked for before anything else is done with its record.
  var heedsSending = true
  /// What a listing does not show is asked for before it counts as gone.
  var asksForUnlisted = true
  /// Bytes are checked before they are read.
  var verifiesBytes = true
}
