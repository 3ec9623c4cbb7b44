import SatchelCore
import SatchelJSON
import SatchelRemote
import SatchelStorage

extension SyncTable {
  /// Stores local content that is discarded.
  func noteLost(_ key: String, _ state: RecordState, _ envelope: [UInt8], _ etag: ETag, time: Int64) throws {
    try insert("lost", key, state, envelope, etag, time)
  }

  /// Stores both versions until the host decides; replaces an older open conflict of the record.
  func open(_ key: String, _ state: RecordState, _ envelope: [UInt8], _ etag: ETag, time: Int64) throws {
    try dropOpenConflict(key)
    try insert("open", key, state, envelope, etag, time)
    try connection.run(
      """
      UPDATE record_sync SET conflict_etag = ?, sending = NULL, sent = NULL, attempts = 0, retry_at = NULL,
      error = NULL, error_code = NULL WHERE collection = ? AND key = ?
      """, .text(etag.text), .integer(collection), .text(key))
  }

  private func insert(
    _ kind: String, _ key: String, _ state: RecordState, _ envelope: [UInt8], _ etag: ETag, _ time: Int64
  ) throws {
    let local = try state.local.map { try $0.bytes() }
    try (local ?? []).withUnsafeBytes { localBytes in
      try envelope.withUnsafeBytes { remote in
        try (state.base ?? []).withUnsafeBytes { base in
          try connection.run(
            """
            INSERT INTO record_conflict(collection, key, kind, time, local, remote, base, etag)
            VALUES(?, ?, ?, ?, ?, ?, ?, ?)
            """, .integer(collection), .text(key), .text(kind), .integer(time),
            local == nil ? .null : .blob(localBytes), .blob(remote), state.base == nil ? .null : .blob(base),
            .text(etag.text))
        }
      }
    }
  }

  func dropOpenConflict(_ key: String) throws {
    try connection.run(
      "DELETE FROM record_conflict WHERE collection = ? AND key = ? AND kind = 'open'", .integer(collection),
      .text(key))
    try connection.run(
      "UPDATE record_sync SET conflict_etag = NULL WHERE collection = ? AND key = ?", .integer(collection),
      .text(key))
  }
}

extension RecordContent {
  /// The JSON form in which a conflict stores it: {"document" (null when deleted), "revision", "created",
  /// "modified"}.
  fileprivate func bytes() throws -> [UInt8] {
    var bytes = Array(
      #"{"revision":\#(revision),"created":\#(created),"modified":\#(modified),"document":"#.utf8)
    bytes += document ?? Array("null".utf8)
    bytes.append(UInt8(ascii: "}"))
    return bytes
  }
}
