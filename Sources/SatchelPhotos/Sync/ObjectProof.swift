import SatchelRemote
import SatchelStorage

/// Whether an object's bytes are the ones that its writer meant, told by the object alone.
enum ObjectProof: Sendable {
  /// They have the checksum that the writer gave, or the MD5 that the store made when it received them.
  case sound
  /// They have not.
  case broken
  /// There is nothing to hold them against.
  case unknown

  /// A tag that is the SHA-256 of the body proves nothing: a directory makes it of the bytes as they are by now.
  init(_ object: StoredObject, checksum: String) {
    let claimed = object.metadata[SyncRemote.checksumName]
    if claimed == checksum {
      self = .sound
    } else if object.etag.text.filter({ $0 != "\"" }) == ObjectProof.md5(object.body) {
      self = .sound
    } else {
      self = claimed == nil ? .unknown : .broken
    }
  }

  private static func md5(_ bytes: [UInt8]) -> String {
    var hash = MD5Hash()
    bytes.withUnsafeBytes { hash.update($0) }
    return hash.digest().description
  }
}
