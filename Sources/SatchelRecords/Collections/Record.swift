import SatchelJSON
import SatchelStorage

/// How a record stands to its master copy.
public enum RecordSyncStatus: String, Sendable, CaseIterable {
  /// Its collection was never synchronised.
  case local
  /// It has changes that have to travel.
  case pending
  case synced
  /// Both sides changed it, and the host has to decide.
  case conflict
}

/// A document and what is known of it.
public struct Record: Equatable, Sendable {
  public var id: String
  /// Counts its changes, from 1.
  public var revision: Int64
  /// Unix milliseconds.
  public var created: Int64
  /// Unix milliseconds.
  public var modified: Int64
  public var syncStatus: RecordSyncStatus
  /// The document as the bytes that were written; empty when a query did not want it.
  public var body: [UInt8]

  /// The document as a value.
  ///
  /// - Throws: `SatchelError` `.damaged` when the store has what is no JSON
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
  /// Appends the form that crosses the boundaries: id, revision, created, modified, sync_status, document.
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

/// What became of a write.
public struct RecordReceipt: Equatable, Sendable {
  /// The record's new revision; 0 when it was spilled.
  public var revision: Int64
  /// Whether there was no such record before; unknown, and false, when it was spilled.
  public var isNew: Bool
  /// Whether the store could not take it, and the spill file did.
  public var isSpilled = false
}
