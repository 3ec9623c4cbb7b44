import SatchelCore
import SatchelRemote

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
