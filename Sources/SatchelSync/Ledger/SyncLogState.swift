import SatchelCore
import SatchelRemote
import SatchelStorage

/// The local state of a sync log as a whole: the row of sync_log.
struct SyncLogState: Sendable {
  /// A step of several transactions, which any process that uses the store continues.
  enum Phase: String, Sendable {
    /// Content from before the first sync becomes pending.
    case bind
    /// Entries newer than the position are being stored.
    case pull
    /// The local state is moved to a generation that was read as a whole.
    case rejoin
    /// The changes in a written head are confirmed.
    case confirm
  }

  /// A head whose conditional write was started and whose outcome is not known yet.
  struct PendingUpload: Sendable, Equatable {
    /// The serialized head.
    var head: [UInt8]
    /// The ETag of the head that it replaces; nil for the first head.
    var base: ETag?
    /// Packs that nothing names once it is written.
    var deletes: [String]
    /// Its ETag, once the write is known to have succeeded.
    var etag: ETag?
    /// The head as it was parsed, where this sync has made it.
    var parsed: SyncHead?
  }

  /// The work that is left besides the phase and the upload.
  struct Work: Sendable {
    /// Whether collections were declared, or are no longer declared, since they were last reconciled.
    var isUnreconciled = false
    var hasInFlight = false
    var hasUndecided = false
    /// Whether there are changes that may be sent, or that need a key to be sent.
    var hasPending = false
    /// Whether the log has assets,
    var hasAssets = false
    /// some to which no entry refers,
    var hasUnreferenced = false
    /// and some whose object could not be read.
    var hasDoubts = false

    var isDone: Bool { !isUnreconciled && !hasInFlight && !hasUndecided && !hasPending }
  }

  var remote: String
  var user: String
  /// Nil before the first head.
  var position: SyncHead.Position?
  var etag: ETag?
  /// The head at the position, serialized.
  private(set) var headBytes: [UInt8]?
  /// The head as it was parsed; the outer value is nil where it was not.
  private var parsed: SyncHead??
  var digest: SyncDigest
  var count: Int64
  var bytes: Int64
  var generation: Int64
  /// The generation from which the local state is being moved,
  var previous: Int64?
  /// and the number of the entries in it that the log has lost to nothing but deletion.
  var droppedThrough: Int64 = 0
  /// Whether new entries did not fit to the known ones: the log has gone back, and lacks some of them. Only reading all
  /// of it ends that, even if this device comes below the horizon before.
  var hasDiverged = false
  var phase: Phase?
  var upload: PendingUpload?
  /// As the tables were when the state was read by `SyncLogLedger.state`, or was last changed.
  var work = Work()
  /// Commits with a compaction since the last sweep.
  var compactions: Int64
  /// The name of the key that the log was last read with; nil for a log that is not encrypted. It outlives the head.
  var key: String?

  /// Whether another state has the same position in the log.
  func isSame(as other: SyncLogState) -> Bool {
    position == other.position && generation == other.generation && etag == other.etag
      && headBytes == other.headBytes
  }

  /// The head at the position; nil before the first one, and for an unreadable one.
  var head: SyncHead? { parsed ?? headBytes.flatMap { try? SyncHead(parsing: $0) } }

  /// Moves the position to a head.
  ///
  /// - Parameter bytes: the head, serialized
  mutating func move(to head: SyncHead, _ bytes: [UInt8], _ etag: ETag?) {
    (position, self.etag, headBytes, parsed, key) = (head.position, etag, bytes, .some(head), head.key)
  }

  /// Parses the head once, for all copies of the state.
  mutating func parseHead() { parsed = .some(head) }

  /// Takes over heads that were parsed before, if they are the same.
  private mutating func keepParsed(of known: SyncLogState) {
    if headBytes == known.headBytes { parsed = known.parsed }
    if upload?.head == known.upload?.head { upload?.parsed = known.upload?.parsed }
  }

  /// Reads the row; nil when the store is not bound to a log.
  ///
  /// - Parameters:
  ///   - key: the key of the digest, required to change the entries of an encrypted log
  ///   - known: the state as it was read before: a head that is the same is not parsed again
  static func read(
    _ connection: Connection, digestKey key: HMAC? = nil, known: SyncLogState? = nil
  ) throws -> SyncLogState? {
    try connection.first(
      """
      SELECT remote, user, epoch, log, number, etag, head, digest, count, bytes, generation, previous, phase,
      pending_upload, pending_upload_base, pending_upload_deletes, pending_upload_etag, compactions, key,
      dropped_through, has_diverged FROM sync_log
      """
    ) { row in
      guard let digest = SyncDigest(row.text(7), key: key) else { throw row.damage(7, "is not a digest") }
      var state = SyncLogState(
        remote: row.text(0), user: row.text(1), digest: digest,
        count: try row.integer(8, in: StoredRange.count), bytes: try row.integer(9, in: StoredRange.count),
        generation: try row.integer(10, in: StoredRange.count),
        compactions: try row.integer(17, in: StoredRange.count))
      if !row.isNull(2) {
        state.position = SyncHead.Position(
          epoch: try row.integer(2, in: StoredRange.count), log: row.text(3),
          number: try row.integer(4, in: StoredRange.count))
      }
      state.etag = row.textIfAny(5).flatMap { ETag($0) }
      if row.isNull(6) { state.etag = nil } else { state.headBytes = Array(row.bytes(6)) }
      state.key = row.textIfAny(18)
      state.previous = try row.integerIfAny(11, in: StoredRange.count)
      state.droppedThrough = try row.integerIfAny(19, in: StoredRange.count) ?? 0
      state.hasDiverged = row.flag(20)
      if let phase = row.textIfAny(12) {
        guard let phase = Phase(rawValue: phase) else { throw row.damage(12, "is not a phase") }
        state.phase = phase
      }
      if !row.isNull(13) {
        state.upload = PendingUpload(
          head: Array(row.bytes(13)), base: row.textIfAny(14).flatMap { ETag($0) },
          deletes: (row.textIfAny(15) ?? "").split(separator: " ").map(String.init),
          etag: row.textIfAny(16).flatMap { ETag($0) })
      }
      if let known {
        state.keepParsed(of: known)
        state.work = known.work
      }
      return state
    }
  }

  /// Writes everything but the binding.
  func write(_ connection: Connection) throws {
    try (headBytes ?? []).withUnsafeBytes { headBytes in
      try (upload?.head ?? []).withUnsafeBytes { uploadBytes in
        try connection.run(
          """
          UPDATE sync_log SET epoch = ?, log = ?, number = ?, etag = ?, head = ?, digest = ?, count = ?, bytes = ?,
          generation = ?, previous = ?, phase = ?, pending_upload = ?, pending_upload_base = ?,
          pending_upload_deletes = ?, pending_upload_etag = ?, compactions = ?, key = ?,
          dropped_through = ?, has_diverged = ?
          """, Binding(position?.epoch), Binding(position?.log), Binding(position?.number),
          Binding(etag?.text),
          self.headBytes == nil ? .null : .blob(headBytes), .text(digest.text), .integer(count),
          .integer(bytes),
          .integer(generation), Binding(previous), Binding(phase?.rawValue),
          upload == nil ? .null : .blob(uploadBytes), Binding(upload?.base?.text),
          Binding(upload?.deletes.joined(separator: " ")), Binding(upload?.etag?.text), .integer(compactions),
          Binding(key), .integer(droppedThrough), hasDiverged ? .integer(1) : .null)
      }
    }
  }

  /// Writes the columns that change with every entry.
  func writeSums(_ connection: Connection) throws {
    try connection.run(
      "UPDATE sync_log SET digest = ?, count = ?, bytes = ?, phase = ?", .text(digest.text), .integer(count),
      .integer(bytes), Binding(phase?.rawValue))
  }

  /// Updates the totals: an entry is dropped.
  mutating func remove(_ key: SyncKey, _ old: [UInt8]) {
    digest.remove(key, old)
    bytes = max(bytes - Int64(old.count), 0)
    count = max(count - 1, 0)
  }

  /// Updates the totals: an envelope replaces another one, or is new.
  mutating func replace(_ old: [UInt8]?, by new: [UInt8], of key: SyncKey) {
    if let old {
      digest.remove(key, old)
      bytes = max(bytes - Int64(old.count), 0)
    } else {
      count += 1
    }
    digest.add(key, new)
    bytes += Int64(new.count)
  }
}
