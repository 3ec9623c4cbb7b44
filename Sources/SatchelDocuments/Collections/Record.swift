import SatchelCore
import SatchelJSON
import SatchelStorage

/// The state of a record with respect to its remote copy.
public enum RecordSyncStatus: String, Sendable, CaseIterable {
  /// The store is not synchronized, or the collection is declared not to be.
  case local
  /// The record has changes to upload.
  case pending
  case synced
  /// A newer remote version is known, and cannot be applied yet; see `ConflictEntry`.
  case waiting
  /// Both sides changed the record, and the host has to decide.
  case conflict
}

/// A document and its metadata.
public struct Record: Equatable, Sendable, Identifiable, JSONConvertible {
  public var id: String
  /// The number of changes, from 1.
  public var revision: Int64
  /// Unix milliseconds.
  public var created: Int64
  /// Unix milliseconds.
  public var modified: Int64
  public var syncStatus: RecordSyncStatus
  /// The document, byte for byte as it was written; empty when a query excludes documents.
  public var body: [UInt8]

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
      return .object(object)
    }
  }

  /// Appends the JSON form of the public interfaces: id, revision, created, modified, sync_status, document.
  func write(into bytes: inout [UInt8], withDocument: Bool) {
    body.withUnsafeBytes { body in
      var id = id
      id.withUTF8 { id in
        Record.write(
          UnsafeRawBufferPointer(id), revision, created, modified, syncStatus, withDocument ? body : nil,
          into: &bytes)
      }
    }
  }

  static func write(
    _ key: UnsafeRawBufferPointer, _ revision: Int64, _ created: Int64, _ modified: Int64,
    _ status: RecordSyncStatus, _ body: UnsafeRawBufferPointer?, into bytes: inout [UInt8]
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
}
