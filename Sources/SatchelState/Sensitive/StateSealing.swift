import SatchelCore
import SatchelStorage

/// How the rows of one list, set or scores are stored: as they are; or sealed, and found by a keyed hash, which
/// tells nothing about what it was made of without the key.
struct StateSealing {
  let id: StateID
  private let key: EncryptionKey?
  /// Of the hashes. It is derived, so that no hash says anything about what the key seals.
  private let hashing: EncryptionKey?

  /// Rows as they are.
  init(plain id: StateID) { (self.id, key, hashing) = (id, nil, nil) }

  init(_ id: StateID, by key: EncryptionKey) throws {
    (self.id, self.key, hashing) = (id, key, try key.derived("satchel state index"))
  }

  var isSealed: Bool { key != nil }
  /// The name of the key that seals; nil for rows as they are.
  var keyName: [UInt8]? { key?.name }

  /// Returns what an item is found by.
  func index(of identity: ValueIdentity) -> [UInt8] { hash(identity.bytes) ?? identity.bytes }

  /// Returns the key of the row of a member, by its identity in hexadecimal digits, or of a score.
  func row(of key: StateName) -> String { hash(Array(key.text.utf8))?.hexadecimal ?? key.text }

  private func hash(_ bytes: [UInt8]) -> [UInt8]? {
    guard let hashing else { return nil }
    var hmac = hashing.hmac()
    // The name, so that equal members of two sets have different hashes.
    (Array("\(id.text)\0".utf8) + bytes).withUnsafeBytes { hmac.update($0) }
    return hmac.digest()
  }

  /// - Parameter row: the hexadecimal index of an item, or the key of a row: what is sealed cannot be opened in another
  ///   one
  func seal(_ text: [UInt8], at row: String) -> [UInt8] {
    key.map { SealedValue.seal(text, by: $0, at: place(row)) } ?? text
  }

  /// - Throws: `.damaged` for bytes that were modified, or are sealed where they should not be
  func open(_ bytes: [UInt8], isSealed: Bool, at row: String) throws -> [UInt8] {
    guard isSealed else { return bytes }
    guard let key else {
      throw SatchelError(.damaged, "\(id.location): has sealed items, and is not marked as sensitive")
    }
    return try SealedValue.open(bytes, by: [key.name: key], at: id.location, sealedAt: place(row))
  }

  private func place(_ row: String) -> String { "\(id.location)/\(row)" }
}

/// The content of a sealed score: its 8 bytes, so that the length tells nothing about it, and its key.
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
    else { throw SatchelError(.damaged, "\(location): a sealed score has an unknown form") }
    return (name, score)
  }
}

/// Which lists, sets and scores are sensitive, as far as this handle knows: what is added to one of them needs the key,
/// and is sealed in the outbox file. Another handle may have marked one since; saving finds that out.
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
