import SatchelCore
import SatchelJSON
import SatchelStorage
import SatchelSync

/// A document and its metadata.
public struct Record: Equatable, Sendable, Identifiable, JSONConvertible {
  public var id: String
  /// The number of changes, from 1.
  public var revision: Int64
  /// Unix milliseconds.
  public var created: Int64
  /// Unix milliseconds.
  public var modified: Int64
  public var syncStatus: SyncStatus
  /// The document, byte for byte as it was written; empty when a query excludes documents.
  public var body: [UInt8]
  /// The related records that the query includes.
  public var included = IncludedRecords()

  /// The document as a JSON value.
  ///
  /// - Throws: `SatchelError` `.damaged` when the stored document is not JSON
  public var document: JSONValue {
    get throws {
      do {
        return try JSONValue(parsing: body)
      } catch {
        throw SatchelError(.damaged, "\(id): the document is damaged: \(error)", underlying: error)
      }
    }
  }
}

extension Record {
  /// The JSON object that the C interface returns; without `document` when a query excluded documents.
  public var json: JSONValue {
    get throws {
      var object: JSONObject = [
        "id": .string(id), "revision": .int(revision), "created": .int(created), "modified": .int(modified),
        "sync_status": .string(syncStatus.rawValue),
      ]
      if !body.isEmpty { object["document"] = try document }
      if !included.isEmpty { object["included"] = try included.json }
      return .object(object)
    }
  }

  /// Appends the JSON form of the public interfaces: id, revision, created, modified, sync_status, document.
  func write(into bytes: inout [UInt8], withDocument: Bool) {
    body.withUnsafeBytes { body in
      var id = id
      id.withUTF8 { id in
        Record.write(
          UnsafeRawBufferPointer(id), revision, created: created, modified: modified, status: syncStatus,
          body: withDocument ? body : nil,
          into: &bytes)
      }
    }
  }

  static func write(
    _ key: UnsafeRawBufferPointer, _ revision: Int64, created: Int64, modified: Int64,
    status: SyncStatus, body: UnsafeRawBufferPointer?, into bytes: inout [UInt8]
  ) {
    bytes.append(contentsOf: #"{"id":"#.utf8)
    JSONValue.write(String(decoding: key, as: UTF8.self), into: &bytes)
    bytes.append(contentsOf: #","revision":\#(revision),"created":\#(created),"modified":\#(modified)"#.utf8)
    bytes.append(contentsOf: #","sync_status":"\#(status.rawValue)""#.utf8)
    if let body {
      bytes.append(contentsOf: #","document":"#.utf8)
      bytes.append(contentsOf: body)
    }
    bytes.append(UInt8(ascii: "}"))
  }
}

/// The result of a write.
public struct RecordReceipt: Equatable, Sendable {
  /// The record's new revision; 0 when it was spooled.
  public var revision: Int64
  /// Whether the record is new; false when the write was spooled, because that is unknown.
  public var isNew: Bool
  /// Whether the store could not be written, so that the write was spooled to the outbox file.
  public var isSpooled = false
  /// The strings of the document of more than 1 MiB, which should be assets. It was written as it is.
  public var warnings: [DocumentWarning] = []

  static let spooled = RecordReceipt(revision: 0, isNew: false, isSpooled: true)
}

/// The rules for record ids and collection names.
enum RecordID {
  /// The maximum number of bytes of an id.
  static let maxLength = 255

  /// - Throws: `.invalid` for an invalid id
  static func check(_ id: UnsafeRawBufferPointer, in collection: String) throws {
    guard (1...maxLength).contains(id.count) else {
      throw SatchelError(.invalid, "\(collection): an id has 1 to \(maxLength) bytes, not \(id.count)")
        .at(.collection(collection)).at(limit: maxLength)
    }
    // All of C0 and DEL; C1 begins with 0xC2 in UTF-8.
    var isASCII = true
    for byte in id {
      guard byte >= 0x20, byte != 0x7F else {
        throw SatchelError(.invalid, "\(collection): an id has no control characters")
          .at(.collection(collection))
      }
      if byte >= 0x80 { isASCII = false }
    }
    if isASCII { return }
    guard let text = String(validating: id, as: UTF8.self) else {
      throw SatchelError(.invalid, "\(collection): an id is UTF-8")
        .at(.collection(collection))
    }
    guard !text.unicodeScalars.contains(where: { (0x80...0x9F).contains($0.value) }) else {
      throw SatchelError(.invalid, "\(collection): an id has no control characters")
        .at(.collection(collection))
    }
  }

  /// - Throws: `.invalid` for an invalid collection name
  static func checkCollection(_ name: String) throws {
    let bytes = Array(name.utf8)
    let letters = UInt8(ascii: "a")...UInt8(ascii: "z")
    let isName =
      (1...64).contains(bytes.count) && letters.contains(bytes[0])
      && bytes.allSatisfy {
        letters.contains($0) || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0)
          || $0 == UInt8(ascii: "_")
      }
    guard isName else {
      throw SatchelError(
        .invalid, "\"\(name)\" is not a collection name: use a to z, 0 to 9 and _, at most 64, a letter first"
      )
    }
  }
}

extension SatchelError.Details {
  static func collection(_ name: String) -> SatchelError.Details {
    SatchelError.Details(subject: Change.Subject.records.rawValue, collection: name)
  }

  static func record(_ collection: String, _ key: some Collection<UInt8>, pointer: String? = nil)
    -> SatchelError.Details
  {
    SatchelError.Details(
      subject: Change.Subject.records.rawValue, collection: collection,
      id: String(decoding: key, as: UTF8.self),
      pointer: pointer)
  }

  /// - Parameter name: "collection/id"; a collection's name has no slash
  static func record(named name: String, pointer: String? = nil) -> SatchelError.Details {
    let (collection, id) = parts(of: name)
    return record(collection, id.utf8, pointer: pointer)
  }

  /// A record, "collection/id", that is in the way.
  static func blocked(by name: String) -> SatchelError.Details {
    let (collection, id) = parts(of: name)
    return SatchelError.Details(otherCollection: collection, otherID: id)
  }

  private static func parts(of name: String) -> (collection: String, id: String) {
    guard let slash = name.utf8.firstIndex(of: UInt8(ascii: "/")) else { return (name, "") }
    return (String(name[..<slash]), String(name[name.utf8.index(after: slash)...]))
  }
}

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
