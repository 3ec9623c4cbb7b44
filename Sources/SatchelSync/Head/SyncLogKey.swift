import SatchelCore
import SatchelRemote

/// The keys of an encrypted sync log, each derived from the host's key for one purpose.
///
/// An object, because each of them has the state of a hash function, which copies of a value would repeat.
final class SyncLogKey: Sendable, CustomStringConvertible, CustomReflectable {
  /// 16 hexadecimal digits that identify the host's key and do not reveal it.
  let name: String
  /// For the digest of the entries.
  let digest: HMAC
  /// For entries with sensitive content, in the store.
  let entries: EncryptionKey
  private let salting: HMAC
  private let signing: HMAC
  private let succeeding: HMAC
  private let sealing: EncryptionKey

  init(_ key: EncryptionKey) throws {
    name = key.name.hexadecimal
    sealing = try key.derived("satchel sync log: entries")
    digest = try key.derived("satchel sync log: digest").hmac()
    entries = try key.derived("satchel sync log: stored entries")
    salting = try key.derived("satchel sync log: salts").hmac()
    signing = try key.derived("satchel sync log: head").hmac()
    succeeding = try key.derived("satchel sync log: succession").hmac()
  }

  var description: String { "key" }
  var customMirror: Mirror { Mirror(self, children: []) }

  /// The salt of a change with sensitive content: the same when it is sent again, and secret without the key.
  func salt(_ key: SyncKey, writer: String, number: Int64, _ document: [UInt8]) -> String {
    var hmac = salting
    Array("\(key)\0\(writer)\0\(number)\0".utf8).withUnsafeBytes { hmac.update($0) }
    document.withUnsafeBytes { hmac.update($0) }
    return hmac.digest().prefix(SyncEnvelope.saltDigits / 2).hexadecimal
  }

  /// The seal of one log's objects.
  ///
  /// - Parameter log: the name of the log that they were written for
  func seal(_ user: UserID, log: String) -> SyncSeal { SyncSeal(key: sealing, user: user.text, log: log) }

  /// Returns the signature of a head: 32 hexadecimal digits.
  ///
  /// - Parameters:
  ///   - line: the members before the signature
  ///   - frames: the bytes after the line
  func signature(of line: ArraySlice<UInt8>, _ frames: ArraySlice<UInt8>, _ user: UserID) -> String {
    var hmac = signing
    Array("\(user)\0".utf8).withUnsafeBytes { hmac.update($0) }
    line.withUnsafeBytes { hmac.update($0) }
    [UInt8(ascii: "\n")].withUnsafeBytes { hmac.update($0) }
    frames.withUnsafeBytes { hmac.update($0) }
    return hmac.digest().prefix(16).hexadecimal
  }

  /// Returns the proof that a device with this key has changed the key of the log: 32 hexadecimal digits.
  ///
  /// - Parameter name: of the new key; nil for none
  func proof(ofKey name: String?, epoch: Int64, _ user: UserID) -> String {
    var hmac = succeeding
    Array("\(user)\0\(name ?? "")\0\(epoch)".utf8).withUnsafeBytes { hmac.update($0) }
    return hmac.digest().prefix(SyncSuccession.digits / 2).hexadecimal
  }
}

/// Seals the objects of one log. The user, the log, and the pack or number are authenticated: objects that
/// were sealed for others cannot be opened.
struct SyncSeal: Sendable {
  /// The number of bytes that sealing adds.
  static var overhead: Int { EncryptionKey.overhead }

  let key: EncryptionKey
  let user: String
  let log: String

  private func context(_ object: String) -> [UInt8] { Array("\(user)\0\(log)\0\(object)".utf8) }

  func seal(_ body: [UInt8], pack name: String) -> [UInt8] { key.seal(body, context: context(name)) }

  /// - Throws: `SatchelError` (`damaged`)
  func open(_ body: [UInt8], pack name: String) throws -> [UInt8] {
    guard let plain = key.open(body, context: context(name)) else {
      throw SatchelError(.damaged, "pack \(name): cannot be opened with the key of the sync log")
    }
    return plain
  }

  func seal(_ entry: SyncEntry) -> SyncFrame {
    SyncFrame(
      sequence: entry.sequence,
      bytes: key.seal(entry.envelope.bytes, context: context("head\0\(entry.sequence)")))
  }

  /// - Throws: `SatchelError` (`damaged`)
  func open(_ frame: SyncFrame) throws -> SyncFrame {
    guard let plain = key.open(frame.bytes, context: context("head\0\(frame.sequence)")) else {
      throw SatchelError(
        .damaged, "head: the entry at \(frame.sequence) cannot be opened with the key of the sync log")
    }
    return SyncFrame(sequence: frame.sequence, bytes: plain)
  }
}

/// The proof that a device with the former key of a log has given it another one, or has decrypted it. By it a device that
/// has the former key distinguishes a log whose key was changed from a stranger's, also where the log was decrypted and
/// then encrypted again by a device that never had the former key.
struct SyncSuccession: Sendable, Equatable {
  /// The maximum number in a head: of the latest changes of the key. Each change writes the log again, and takes 107
  /// bytes at most in every later head, so that 64 of them take 7 KiB of a head that may have 1 MiB. A device that has
  /// missed more of them takes the log for a stranger's.
  static let maximumCount = 64
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

  /// Reads those of a head, as untrusted input.
  static func all(_ members: SyncMembers) throws -> [SyncSuccession] {
    try members.elements("successions", limit: maximumCount).enumerated().map { index, raw in
      try SyncSuccession(SyncMembers(raw, of: "head: /successions/\(index)", limit: 8))
    }
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
  /// Whether a device with a former key of the log has changed it, after a position.
  func succeeds(_ old: SyncLogKey, after known: Position?, _ user: UserID) -> Bool {
    successions.contains { $0.epoch > known?.epoch ?? 0 && $0.isProven(by: old, user) }
  }
}
