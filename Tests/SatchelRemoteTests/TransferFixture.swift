import Foundation
import SatchelCore
import SatchelTesting

@testable import SatchelRemote

/// A directory with the files of a transfer's test.
struct TransferFixture {
  let directory: TemporaryDirectory
  let key: ObjectKey
  /// Short pauses between attempts.
  static let retry = Retry(attempts: 6, base: 1)

  init() throws {
    directory = try TemporaryDirectory()
    key = try ObjectKey("photos/ana/file")
  }

  var source: String { directory.path + "/source" }
  var target: String { directory.path + "/target" }

  /// Bytes of which no two blocks are equal.
  static func bytes(_ count: Int, seed: UInt64 = 1) -> [UInt8] {
    var random = SeededRandom(seed: seed)
    var bytes = [UInt8](repeating: 0, count: count)
    bytes.withUnsafeMutableBytes { buffer in
      for offset in stride(from: 0, to: count - 7, by: 8) {
        buffer.storeBytes(of: random.next(), toByteOffset: offset, as: UInt64.self)
      }
    }
    return bytes
  }

  func write(_ bytes: [UInt8], to path: String) throws { try Data(bytes).write(to: URL(filePath: path)) }

  func read(_ path: String) throws -> [UInt8] { [UInt8](try Data(contentsOf: URL(filePath: path))) }

  func exists(_ path: String) -> Bool { FileManager.default.fileExists(atPath: path) }

  /// The file of the bytes, as a body.
  func body(_ bytes: [UInt8], checksum: ContentChecksum? = nil) throws -> FileBody {
    try write(bytes, to: source)
    return try body(checksum: checksum)
  }

  /// The source as it is, as a body.
  func body(checksum: ContentChecksum? = nil) throws -> FileBody {
    let file = try DiskFile(source, O_RDONLY)
    return try FileBody(file.descriptor, name: source, checksum: checksum)
  }

  func transfer(_ store: any ObjectStore) -> ObjectTransfer { ObjectTransfer(store, retry: Self.retry) }

  /// Downloads the object to the target.
  @discardableResult
  func download(from store: any ObjectStore, checksum: ContentChecksum? = nil) throws -> ContentDigests {
    let file = try DownloadFile(replacing: target, resuming: checksum != nil)
    let digests = try transfer(store).download(key, to: file, checksum: checksum)
    try file.commit()
    return digests
  }
}
