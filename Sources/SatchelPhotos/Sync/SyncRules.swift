/// The rules that keep a sync from losing anything, each of which a test can switch off: a check that finds nothing
/// when its rule is off would be no check. All are on outside of tests.
struct SyncRules: Sendable {
  /// Writes name the version that they build on.
  var usesConditions = true
  /// The manifest never announces a shard before it is there.
  var uploadsShardFirst = true
  /// Only the changes that were in an upload are settled by it.
  var settlesOnlyWhatWasSent = true
  /// Bytes are checked before they are read.
  var verifiesBytes = true
  /// An upload that was begun is looked for before anything else is done with its shard.
  var heedsIntents = true
  /// A manifest that has moved is read again, and the shards are looked at, before it is written.
  var looksAgain = true
  /// A listing shows whether the objects are those last synced.
  var looksAtListing = true
  /// Bytes that no checksum proves are compared with those last synced.
  var comparesUnproven = true
  /// A damaged object is replaced by the bytes last synced.
  var mendsDamage = true
  /// A damaged object is replaced only after a conditional write has shown that the manifest is the one that was read.
  var confirmsBeforeMending = true
  /// An object that is an earlier version than the one last synced is damage.
  var refusesOutdated = true
  /// An upload that another object replaced counts as arrived only where that was built on it.
  var settlesOnlyWhatWasBuiltOn = true
}
