import SatchelCore
import SatchelStorage

/// The name of an entry of the sync log: a collection and an id in it. Compared by bytes.
package struct SyncKey: Sendable, Hashable, Comparable, CustomStringConvertible {
  /// The collection of state.
  package static let state = "@state"

  package let collection: String
  package let id: String

  /// - Throws: `SatchelError` (`invalid`) for a collection that is neither `@state` nor a name of a-z, 0-9 and "_" with
  ///   at most 64 characters, and for an id that does not have 1 to 255 bytes or has a control character
  package init(_ collection: String, _ id: String) throws {
    guard Self.isCollection(collection) else {
      throw SatchelError(.invalid, "\"\(collection.prefix(64))\" is not the name of a collection")
    }
    guard Self.isID(id) else {
      throw SatchelError(.invalid, "an id has 1 to 255 bytes and no control characters")
    }
    self.init(validated: collection, id)
  }

  init(validated collection: String, _ id: String) {
    self.collection = collection
    self.id = id
  }

  /// The entry's id in the digest: unique, because the name of a collection has no slash.
  package var description: String { "\(collection)/\(id)" }

  /// Where it is, for errors.
  package var details: SatchelError.Details {
    guard collection == Self.state else {
      return SatchelError.Details(
        subject: Change.Subject.records.rawValue, collection: collection, id: id)
    }
    // Its id is "kind/name".
    let parts = id.utf8.split(separator: UInt8(ascii: "/"), maxSplits: 1)
    return SatchelError.Details(
      subject: Change.Subject.state.rawValue, collection: parts.first.map { String($0) ?? "" },
      id: parts.last.map { String($0) ?? "" })
  }

  package static func isCollection(_ name: String) -> Bool {
    if name == state { return true }
    let bytes = name.utf8
    guard let first = bytes.first, first &- UInt8(ascii: "a") < 26, bytes.count <= 64 else { return false }
    return bytes.allSatisfy {
      $0 &- UInt8(ascii: "a") < 26 || $0 &- UInt8(ascii: "0") < 10 || $0 == UInt8(ascii: "_")
    }
  }

  package static func isID(_ id: String) -> Bool {
    (1...255).contains(id.utf8.count)
      && !id.unicodeScalars.contains { $0.value < 0x20 || (0x7F...0x9F).contains($0.value) }
  }

  package static func == (one: Self, other: Self) -> Bool {
    one.id.utf8.elementsEqual(other.id.utf8) && one.collection.utf8.elementsEqual(other.collection.utf8)
  }

  package static func < (one: Self, other: Self) -> Bool {
    if one.collection.utf8.elementsEqual(other.collection.utf8) {
      return one.id.utf8.lexicographicallyPrecedes(other.id.utf8)
    }
    return one.collection.utf8.lexicographicallyPrecedes(other.collection.utf8)
  }

  package func hash(into hasher: inout Hasher) {
    for byte in collection.utf8 { hasher.combine(byte) }
    hasher.combine(UInt8(ascii: "/"))
    for byte in id.utf8 { hasher.combine(byte) }
  }
}
