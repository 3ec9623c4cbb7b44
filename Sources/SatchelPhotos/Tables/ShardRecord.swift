/// What is known of a shard without a look at its rows.
struct ShardRecord {
  let shard: Shard.Index
  var base = ShardLevel.empty
  /// What was last agreed with the master, while a file of this side replaced it.
  var ancestor = ShardLevel.empty
  var isImported = false
  /// SHA-256 of the master's bytes as last agreed; nil until there was an agreement.
  var agreed: String?
  var etag: String?
  /// What the agreed bytes were built on; see `ShardState`.
  var lineage: String?
  /// SHA-256 of the file that the base came from, when all of its lines were taken.
  var source: String?
  /// Of the latest change of anything in the shard.
  var sequence: Int64 = 0
  /// Of the latest import.
  var importedSequence: Int64 = 0
  var changes: Int64 = 0
  var added: Int64 = 0
  var removed: Int64 = 0
  var intent: UploadIntent?

  init(shard: Shard.Index) { self.shard = shard }

  /// Photos, with the changes on top.
  var photos: Int64 { base.photos + added - removed }

  /// The level that the master is known to hold.
  var agreedLevel: ShardLevel { isImported ? ancestor : base }

  /// Whether there is anything to send.
  var hasChanges: Bool { changes > 0 || isImported }

  /// Room for about what the shard has when it is written. The counters are not trusted beyond 256 MB.
  var bytesToReserve: Int {
    let most: Int64 = 1 << 28
    return Int(min(min(max(0, base.bytes), most) + max(0, min(changes, 1 << 20)) * 160, most))
  }
}
