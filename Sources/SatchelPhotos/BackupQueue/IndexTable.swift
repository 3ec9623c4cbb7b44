import SatchelCore
import SatchelRemote
import SatchelStorage

/// The parts of this device's index that a remote has: the table `photo_index`, and the device's name in
/// `photo_catalogue`.
struct IndexTable {
  struct Part: Equatable {
    /// The SHA-256 of its bytes, in hexadecimal digits.
    var checksum: String
    var etag: String
    /// The id of the directory that has it; nil for other remotes.
    var remoteID: String?
  }

  let connection: Connection
  let catalogue: Int64
  /// The remote's identity.
  let remote: String

  init(connection: Connection, catalogue: Int64, of remote: any ObjectStore) {
    (self.connection, self.catalogue) = (connection, catalogue)
    self.remote = remote.identity ?? ""
  }

  /// The name by which the indexes of this device are known; nil until the first one.
  func device() throws -> String? {
    try connection.first("SELECT device FROM photo_catalogue WHERE id = ?", .integer(catalogue)) {
      $0.textIfAny(0)
    } ?? nil
  }

  /// Gives the device another name, under which no remote has anything.
  func rename(_ device: String) throws {
    try connection.run(
      "UPDATE photo_catalogue SET device = ? WHERE id = ?", .text(device), .integer(catalogue))
    try connection.run("DELETE FROM photo_index WHERE catalogue = ?", .integer(catalogue))
  }

  /// Returns the parts by their keys.
  func parts() throws -> [String: Part] {
    var parts: [String: Part] = [:]
    try connection.each(
      "SELECT key, checksum, etag, remote_id FROM photo_index WHERE catalogue = ? AND remote = ?",
      .integer(catalogue), .text(remote)
    ) { parts[$0.text(0)] = Part(checksum: $0.text(1), etag: $0.text(2), remoteID: $0.textIfAny(3)) }
    return parts
  }

  func put(_ key: String, _ part: Part) throws {
    try connection.run(
      """
      INSERT OR REPLACE INTO photo_index(catalogue, remote, key, checksum, etag, remote_id)
      VALUES(?, ?, ?, ?, ?, ?)
      """, .integer(catalogue), .text(remote), .text(key), .text(part.checksum), .text(part.etag),
      part.remoteID.map { .text($0) } ?? .null)
  }

  func remove(_ key: String) throws {
    try connection.run(
      "DELETE FROM photo_index WHERE catalogue = ? AND remote = ? AND key = ?", .integer(catalogue),
      .text(remote), .text(key))
  }
}
