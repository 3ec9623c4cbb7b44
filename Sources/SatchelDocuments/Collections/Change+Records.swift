import SatchelCore
import SatchelStorage

extension Change {
  /// A changed record, or a collection of which very many records changed.
  public struct RecordKey: Hashable, Sendable {
    public var collection: String
    /// The record's id; nil for the whole collection.
    public var id: String?
  }

  /// The changed records; empty for changes of other subjects, for events, and with `concernsAll`.
  public var records: [RecordKey] {
    keys(of: .records).map { key in
      // By bytes, not characters: a combining mark may follow the slash.
      let bytes = key.utf8
      guard let slash = bytes.firstIndex(of: UInt8(ascii: "/")) else { return RecordKey(collection: key) }
      return RecordKey(collection: String(key[..<slash]), id: String(key[bytes.index(after: slash)...]))
    }
  }

  /// Whether records of a collection changed, or one record of it.
  ///
  /// - Parameter id: the record's id; nil for any record of the collection
  public func concerns(collection: String, id: String? = nil) -> Bool {
    guard subject == .records else { return false }
    return concernsAll
      || records.contains { key in
        guard key.collection == collection else { return false }
        guard let id, let changed = key.id else { return true }
        return changed.hasSameBytes(as: id)
      }
  }
}
