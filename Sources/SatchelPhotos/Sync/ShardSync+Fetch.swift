import SatchelRemote
import SatchelStorage

extension ShardSync {
  enum Fetched {
    /// The object is the one that was agreed.
    case known
    /// Its bytes are proven, or sound and newer than the manifest.
    case object(StoredObject, checksum: String)
    /// There is none, and the manifest says so.
    case absent
    /// There is none, although the manifest names what was agreed, or there is no manifest.
    case vanished
  }

  /// Reads the shard until its bytes are proven. Nobody looks into them before.
  func fetch(unlessKnown: Bool) throws -> Fetched {
    let start = Clock.monotonic.now()
    var (failures, suspect) = (0, nil as ETag?)
    while true {
      let reading = try run.remote.get(key, ifNoneMatch: unlessKnown ? known.etag : nil)
      let failure: ObjectStoreError
      switch reading {
      case .notModified?: return .known
      case .object(let object)?:
        let checksum = Shard.checksum(object.body)
        if try judge(object, checksum, suspect) { return .object(object, checksum: checksum) }
        suspect = object.etag
        failure = ObjectStoreError(.truncated, "\(key): its bytes are not those that were written")
      case nil:
        if failures > 0, let absence = try absence() { return absence }
        failure = ObjectStoreError(.notFound, "\(key): the manifest names it, and it is not there")
      }
      failures += 1
      try run.remote.pause(afterFailures: failures, since: start, failure)
    }
  }

  /// Whether the bytes may be read: the manifest names them, or their writer vouches for them and has only not come
  /// to telling the manifest.
  private func judge(_ object: StoredObject, _ checksum: String, _ suspect: ETag?) throws -> Bool {
    guard run.rules.verifiesBytes else { return true }
    if run.master.withLock({ $0.checksum(of: shard) }) == checksum { return true }
    // The manifest may have moved.
    try run.readMaster()
    if run.master.withLock({ $0.checksum(of: shard) }) == checksum { return true }
    guard case .sound = ObjectProof(object, checksum: checksum) else { return false }
    return try run.remote.head(key)?.etag == object.etag
  }
  /// What it means that there is no object; nil when the manifest names one that nobody here knows.
  private func absence() throws -> Fetched? {
    try run.readMaster()
    guard let announced = run.master.withLock({ $0.checksum(of: shard) }) else { return .vanished }
    if announced == Shard.emptyChecksum { return .absent }
    return announced == known.agreedChecksum ? .vanished : nil
  }
}
