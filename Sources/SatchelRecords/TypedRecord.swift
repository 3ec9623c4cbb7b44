import SatchelDocuments
import SatchelJSON
import SatchelSync

/// A record whose document is a Swift value: its metadata as in `Record`, and the decoded document.
///
/// The document's members can be read and set on the record itself: `task.title` is `task.document.title`.
///
/// The record remembers the document that it was read from: members that `Document` does not have are kept when the
/// record is put back; see `RecordCollection.put(_:)`.
@dynamicMemberLookup
public struct TypedRecord<Document>: Identifiable {
  public var id: String
  /// The number of changes, from 1.
  public var revision: Int64
  /// Unix milliseconds.
  public var created: Int64
  /// Unix milliseconds.
  public var modified: Int64
  public var syncStatus: SyncStatus
  public var document: Document
  /// The stored document from which `document` was decoded.
  let stored: [UInt8]
  /// The related records that the query includes.
  public var included = IncludedRecords()

  public subscript<Member>(dynamicMember member: WritableKeyPath<Document, Member>) -> Member {
    get { document[keyPath: member] }
    set { document[keyPath: member] = newValue }
  }

  public subscript<Member>(dynamicMember member: KeyPath<Document, Member>) -> Member {
    document[keyPath: member]
  }
}

extension TypedRecord: Sendable where Document: Sendable {}
extension TypedRecord: Equatable where Document: Equatable {}
extension TypedRecord: Hashable where Document: Hashable {
  public func hash(into hasher: inout Hasher) {
    hasher.combine(id)
    hasher.combine(revision)
    hasher.combine(document)
  }
}

extension TypedRecord: CustomStringConvertible, JSONConvertible where Document: Encodable {
  /// The JSON object that the C interface returns.
  public var json: JSONValue {
    get throws {
      var object: JSONObject = [
        "id": .string(id), "revision": .int(revision), "created": .int(created), "modified": .int(modified),
        "sync_status": .string(syncStatus.rawValue), "document": try JSONValue(encoding: document),
      ]
      if !included.isEmpty { object["included"] = try included.json }
      return .object(object)
    }
  }
}
