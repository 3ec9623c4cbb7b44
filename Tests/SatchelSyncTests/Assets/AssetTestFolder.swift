import Foundation
import SatchelAssets
import SatchelCore
import SatchelStorage
import SatchelTesting

@testable import SatchelSync

/// The assets of a device as files in a folder, each named by its SHA-256.
// Unchecked: one thread at a time changes it.
final class AssetTestFolder: AssetStorage, @unchecked Sendable {
  private let directory: TemporaryDirectory
  /// Assets whose files cannot be read.
  var unreadable: Set<AssetDigest> = []

  init() throws {
    directory = try TemporaryDirectory()
    try FileManager.default.createDirectory(
      atPath: directory.path + "/incoming", withIntermediateDirectories: true)
  }

  func path(_ digest: AssetDigest) -> String { "\(directory.path)/\(digest)" }

  func incoming(_ digest: AssetDigest) -> String { "\(directory.path)/incoming/\(digest)" }

  var digests: Set<AssetDigest> {
    Set(
      ((try? FileManager.default.contentsOfDirectory(atPath: directory.path)) ?? []).compactMap {
        AssetDigest($0)
      })
  }

  @discardableResult
  func add(_ content: AssetContent) throws -> AssetDigest {
    try Data(content.bytes).write(to: URL(filePath: path(content.digest)))
    unreadable.remove(content.digest)
    return content.digest
  }

  /// Gives an asset other bytes of its size.
  func damage(_ content: AssetContent) throws {
    try Data(content.bytes.map { ~$0 }).write(to: URL(filePath: path(content.digest)))
  }

  /// Leaves what an interrupted download would.
  func leave(_ bytes: [UInt8], of digest: AssetDigest) throws {
    try Data(bytes).write(to: URL(filePath: incoming(digest)))
  }

  func remove(_ digest: AssetDigest) { try? FileManager.default.removeItem(atPath: path(digest)) }

  func bytes(_ digest: AssetDigest) -> [UInt8]? {
    FileManager.default.contents(atPath: path(digest)).map { Array($0) }
  }

  func size(of digest: AssetDigest, _ connection: Connection) throws -> Int64? {
    guard !unreadable.contains(digest) else { return nil }
    return (try? DiskFile(path(digest), O_RDONLY).status()).map { Int64($0.st_size) }
  }

  func noteDamage(of digest: AssetDigest) throws {
    if bytes(digest).map({ AssetDigest(SHA256.digest($0)) }) != digest { unreadable.insert(digest) }
  }

  func open(_ digest: AssetDigest) throws -> any AssetBytes { try File(path(digest)) }

  func isSensitive(_ digest: AssetDigest, _ connection: Connection) throws -> Bool { false }

  func store(
    _ digest: AssetDigest, size: Int64, isSensitive: Bool, resuming: Bool,
    _ write: (any AssetDownload) throws -> Void
  ) throws {
    let download = try Download(self, digest)
    if !resuming { try download.restart() }
    try write(download)
    try download.finish()
  }

  private final class File: AssetBytes {
    let file: DiskFile
    let size: Int64

    init(_ path: String) throws {
      file = try DiskFile(path, O_RDONLY)
      size = Int64(try file.status().st_size)
    }

    func read(_ count: Int, at offset: Int64) throws -> [UInt8] { try file.read(count, at: offset) }
  }

  private final class Download: AssetDownload {
    private let folder: AssetTestFolder
    private let digest: AssetDigest
    private let file: DiskFile
    private(set) var count: Int64

    init(_ folder: AssetTestFolder, _ digest: AssetDigest) throws {
      (self.folder, self.digest) = (folder, digest)
      file = try DiskFile(folder.incoming(digest), O_RDWR | O_CREAT, mode: 0o600)
      count = Int64(try file.status().st_size)
    }

    func append(_ bytes: [UInt8]) throws {
      try bytes.withUnsafeBytes { try file.write($0, at: count) }
      count += Int64(bytes.count)
    }

    func restart() throws {
      try file.truncate(to: 0)
      count = 0
    }

    func finish() throws {
      let bytes = try file.read(at: 0)
      guard AssetDigest(SHA256.digest(bytes))! == digest else {
        throw SatchelError(.damaged, "asset \(digest): was downloaded with other bytes")
      }
      try folder.add(AssetContent(bytes))
      try FileManager.default.removeItem(atPath: folder.incoming(digest))
    }
  }
}
