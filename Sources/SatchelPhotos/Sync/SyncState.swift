import SatchelRemote

/// What a catalogue knows of itself and of the master, at one moment.
struct SyncState: Sendable, Equatable {
  /// The catalogue's own name; becomes the master's when there is none yet. Nil while nothing was ever written.
  var uuid: String?
  /// The master's name, once there was an agreement.
  var agreedUUID: String?
  /// Whose catalogue it is in the object store, once there was an agreement.
  var user: String?
  /// The manifest of which nothing was left to take.
  var manifestETag: ETag?
  /// All sixteen, in order.
  var shards: [ShardState]

  /// What a new manifest is named.
  var masterUUID: String { agreedUUID ?? uuid ?? CatalogueTable.uuid() }
}
