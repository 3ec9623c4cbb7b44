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
  static let overhead = EncryptionKey.overhead

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
