import SatchelCore
import SatchelStorage

/// The sealing of the rows of one list, set or scores: plain; or sealed, and found by a keyed hash, which
/// reveals nothing about its input without the key.
struct StateSealing {
  let id: StateID
  private let key: EncryptionKey?
  /// The key of the hashes. It is derived, so that hashes reveal nothing about sealed content.
  private let hashing: EncryptionKey?

  /// Plain rows.
  init(plain id: StateID) { (self.id, key, hashing) = (id, nil, nil) }

  init(_ id: StateID, by key: EncryptionKey) throws {
    (self.id, self.key, hashing) = (id, key, try key.derived("satchel state index"))
  }

  var isSealed: Bool { key != nil }
  /// The name of the key that seals; nil for plain rows.
  var keyName: [UInt8]? { key?.name }

  /// Returns the key by which an item is found.
  func index(of identity: ValueIdentity) -> [UInt8] { hash(identity.bytes) ?? identity.bytes }

  /// Returns the key of the row of a member, by its identity in hexadecimal digits, or of a score.
  func row(of key: StateName) -> String { hash(Array(key.text.utf8))?.hexadecimal ?? key.text }

  private func hash(_ bytes: [UInt8]) -> [UInt8]? {
    guard let hashing else { return nil }
    var hmac = hashing.hmac()
    // Includes the name, so that equal members of two sets have different hashes.
    (Array("\(id.text)\0".utf8) + bytes).withUnsafeBytes { hmac.update($0) }
    return hmac.digest()
  }

  /// - Parameter row: the hexadecimal index of an item, or the key of a row: sealed content cannot be opened
  ///   in another row
  func seal(_ text: [UInt8], at row: String) -> [UInt8] {
    key.map { SealedValue.seal(text, by: $0, at: context(row)) } ?? text
  }

  /// - Throws: `.damaged` for bytes that were modified, or are sealed although the row must be plain
  func open(_ bytes: [UInt8], isSealed: Bool, at row: String) throws -> [UInt8] {
    guard isSealed else { return bytes }
    guard let key else {
      throw SatchelError(.damaged, "\(id.location): has sealed items, and is not marked as sensitive")
    }
    return try SealedValue.open(bytes, by: [key.name: key], at: id.location, sealedAt: context(row))
  }

  private func context(_ row: String) -> String { "\(id.location)/\(row)" }
}

/// The content of a sealed score: its 8 bytes, so that the length reveals nothing about it, and its key.
enum SealedScore {
  static func text(of score: Double, _ key: StateName) -> [UInt8] {
    stride(from: 56, through: 0, by: -8).map { UInt8(truncatingIfNeeded: score.bitPattern >> $0) }
      + Array(key.text.utf8)
  }

  /// - Throws: `.damaged`
  static func parse(_ text: [UInt8], at location: String) throws -> (key: StateName, score: Double) {
    let bits = text.prefix(8).reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
    let score = Double(bitPattern: bits)
    guard text.count > 8, score.isFinite, let key = String(validating: text.dropFirst(8), as: UTF8.self),
      let name = try? StateName(key, as: "key")
    else { throw SatchelError(.damaged, "\(location): a sealed score has an unknown format") }
    return (name, score)
  }
}

/// The lists, sets and scores that this handle knows to be sensitive: additions to them require the key, and
/// are sealed in the outbox file. Another handle may have marked others since; saving detects that.
final class SensitiveState: Sendable {
  private let ids: Locked<Set<StateID>>

  init(_ ids: Set<StateID> = []) { self.ids = Locked(ids) }

  func contains(_ id: StateID) -> Bool { ids.withLock { $0.contains(id) } }

  func note(_ id: StateID, _ isSensitive: Bool) {
    ids.withLock { ids in
      if isSensitive { ids.insert(id) } else { ids.remove(id) }
    }
  }
}
