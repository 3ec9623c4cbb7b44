import SatchelCore
import SatchelRemote

/// Times of the heads of a sync log, by which its horizon moves.
///
/// A pair has the number of a head and a time at which it existed: it was read before the head with the pair was made,
/// so that a write that arrives late is not older than it seems. Of two clocks the later one dates a head, and the
/// earlier one judges its age: a head is older than it seems only if both clocks are wrong.
struct SyncTimes: Sendable, Equatable {
  struct Pair: Sendable, Equatable {
    var number: Int64
    /// Unix milliseconds.
    var time: Int64
  }

  static let maximumCount = 16

  /// Ascending, in numbers and times.
  private(set) var pairs: [Pair] = []

  /// Adds the latest head that was read. Later times of earlier heads are wrong, and removed. The pair is the last one;
  /// those before it are an interval apart.
  mutating func add(_ pair: Pair, interval: Int64) {
    pairs.removeAll { $0.time > pair.time || $0.number >= pair.number }
    if pairs.count > 1, pairs[pairs.count - 1].time - pairs[pairs.count - 2].time < interval {
      pairs.removeLast()
    }
    pairs.append(pair)
    if pairs.count > Self.maximumCount { pairs.removeFirst(pairs.count - Self.maximumCount) }
  }

  /// The number of the last head that is older than the retention; 0 when there is none.
  func horizon(at now: Int64, retention: Int64) -> Int64 {
    pairs.last { now - $0.time > retention }?.number ?? 0
  }

  // MARK: Form

  /// [{"number":…,"time":…}, …]
  func write(into bytes: inout [UInt8]) {
    let texts = pairs.map { #"{"number":\#($0.number),"time":\#($0.time)}"# }
    bytes.append(contentsOf: "[\(texts.joined(separator: ","))]".utf8)
  }

  init() {}

  /// - Parameter number: of the head
  /// - Throws: `SatchelError` (`damaged`)
  init(_ members: SyncMembers, number: Int64) throws {
    guard members.raw("times") != nil else { return }
    for (index, raw) in try members.elements("times", limit: Self.maximumCount).enumerated() {
      let pair = try SyncMembers(raw, of: "head: /times/\(index)", limit: 8)
      let new = Pair(
        number: try pair.integer("number", 1...number),
        time: try pair.integer("time", 0...StoreClock.latest))
      guard pairs.last.map({ $0.number < new.number && $0.time <= new.time }) ?? true else {
        throw members.failure("times/\(index)", "is not in ascending order")
      }
      pairs.append(new)
    }
  }
}

/// The proof that a device with the former key of a log has given it another one, or has decrypted it. By it a device that
/// has the former key distinguishes a log whose key was changed from a stranger's, also where the log was decrypted and
/// then encrypted again by a device that never had the former key.
struct SyncSuccession: Sendable, Equatable {
  /// The maximum number in a head: of the latest changes of the key.
  static let maximumCount = 8
  static let digits = 32

  /// The epoch that began with the new key. A proof of an earlier epoch than the one that a device has read is a copy
  /// from another head.
  let epoch: Int64
  /// The name of the new key; nil for none.
  let key: String?
  let proof: String

  init(from old: SyncLogKey, to new: SyncLogKey?, epoch: Int64, _ user: UserID) {
    (self.epoch, key) = (epoch, new?.name)
    proof = old.proof(ofKey: new?.name, epoch: epoch, user)
  }

  init(_ members: SyncMembers) throws {
    epoch = try members.integer("epoch", 1...SyncPack.numbers.upperBound)
    key = members.raw("key") == nil ? nil : try members.digits("key", count: 16)
    proof = try members.digits("proof", count: Self.digits)
  }

  /// Whether a device with the former key wrote it.
  func isProven(by old: SyncLogKey, _ user: UserID) -> Bool {
    proof == old.proof(ofKey: key, epoch: epoch, user)
  }

  var text: String {
    #"{"epoch":\#(epoch),\#(key.map { #""key":"\#($0)","# } ?? "")"proof":"\#(proof)"}"#
  }
}

extension SyncHead {
  static func successions(_ members: SyncMembers) throws -> [SyncSuccession] {
    guard members.raw("successions") != nil else { return [] }
    let elements = try members.elements("successions", limit: SyncSuccession.maximumCount)
    return try elements.enumerated().map { index, raw in
      try SyncSuccession(SyncMembers(raw, of: "head: /successions/\(index)", limit: 8))
    }
  }

  /// Whether a device with a former key of the log has changed it, after a position.
  func succeeds(_ old: SyncLogKey, after known: Position?, _ user: UserID) -> Bool {
    successions.contains { $0.epoch > known?.epoch ?? 0 && $0.isProven(by: old, user) }
  }
}
