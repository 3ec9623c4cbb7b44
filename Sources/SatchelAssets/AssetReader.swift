import SatchelCore
import SatchelStorage

/// The open bytes of one asset.
///
/// Safe to use from several threads at once.
public final class AssetReader: Sendable {
  private enum Source: Sendable {
    case row([UInt8])
    case file(FileHandle)
  }

  private final class FileHandle: Sendable {
    let file: DiskFile
    let folder: AssetFolder
    /// Keeps the file from being deleted once its path was asked for. Reading needs no lock: the file is open.
    let lock = Locked<AssetFolder.HeldLock?>(nil)

    init(_ file: consuming DiskFile, in folder: AssetFolder) {
      self.file = file
      self.folder = folder
    }
  }

  private let source: Source
  private let digest: AssetDigest
  /// Opens what is stored; nil for bytes that are stored as they are.
  private let seal: AssetSeal?
  /// The chunk that was opened last: small reads follow each other.
  private let opened = Locked<(chunk: Int64, content: [UInt8])?>(nil)
  /// The number of bytes.
  public let size: Int64

  /// - Parameter seal: nil for what is stored
  init(_ bytes: [UInt8], _ digest: AssetDigest, _ seal: AssetSeal? = nil) throws {
    source = .row(bytes)
    (self.digest, self.seal, size) = (digest, seal, seal?.layout.size ?? Int64(bytes.count))
    if let seal, seal.layout.length != Int64(bytes.count) {
      throw SatchelError(.damaged, "asset \(digest): has \(bytes.count) bytes, not \(seal.layout.length)")
    }
  }

  /// - Parameters:
  ///   - name: of the file
  ///   - size: of the file
  /// - Throws: `.notFound` without the file; `.damaged` for one of another size
  init(
    _ folder: AssetFolder, _ name: AssetDigest, _ digest: AssetDigest, size: Int64, _ seal: AssetSeal?
  ) throws {
    let file = try folder.open(name)
    let actual = Int64(try file.status().st_size)
    guard actual == size else {
      throw SatchelError(.damaged, "\(file.path): has \(actual) bytes, not the \(size) of the asset")
    }
    source = .file(FileHandle(file, in: folder))
    (self.digest, self.seal, self.size) = (digest, seal, seal?.layout.size ?? size)
  }

  /// The path of the file, for players and other programs: from now on, the file stays while the reader is open. Nil
  /// for a small asset, which is in the store's file, and for a sensitive one, whose file is encrypted.
  ///
  /// - Throws: `SatchelError` `.notFound` when the asset was removed since the reader was opened, `.busy` while another
  ///   process deletes files for more than 10 s, `.io`
  public var path: String? {
    get throws {
      guard case .file(let handle) = source, seal == nil else { return nil }
      try handle.lock.withLock { lock in
        if lock == nil { lock = try handle.folder.held() }
      }
      guard try handle.file.isAtPath else {
        throw SatchelError(.notFound, "\(handle.file.path): was removed since it was opened")
      }
      return handle.file.path
    }
  }

  /// The SHA-256 of the bytes, 64 hexadecimal digits in lower case.
  public var sha256: String { digest.text }

  /// Returns up to `count` bytes from `offset` on; fewer at the end, none after it.
  ///
  /// - Throws: `SatchelError` `.invalid` for a negative number, `.damaged` for a file that has become shorter, `.io`
  public func read(_ count: Int, at offset: Int64) throws -> [UInt8] {
    return try [UInt8](unsafeUninitializedCapacity: available(Int64(count), at: offset)) { buffer, done in
      done = try read(into: UnsafeMutableRawBufferPointer(buffer), at: offset)
    }
  }

  /// Reads bytes from `offset` on into a buffer.
  ///
  /// - Returns: the number of bytes, less than the buffer's size only at the end
  public func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64) throws -> Int {
    let count = try available(Int64(buffer.count), at: offset)
    guard count > 0 else { return 0 }
    let target = UnsafeMutableRawBufferPointer(rebasing: buffer[..<count])
    if let seal { try open(seal, into: target, at: offset) } else { try readStored(into: target, at: offset) }
    return count
  }

  private func readStored(into target: UnsafeMutableRawBufferPointer, at offset: Int64) throws {
    switch source {
    case .row(let bytes):
      bytes.withUnsafeBytes {
        let part = $0[Int(offset)..<Int(offset) + target.count]
        target.copyMemory(from: UnsafeRawBufferPointer(rebasing: part))
      }
    case .file(let handle):
      guard try handle.file.read(into: target, at: offset) == target.count else {
        throw SatchelError(.damaged, "\(handle.file.path): has become shorter")
      }
    }
  }

  private func open(_ seal: AssetSeal, into target: UnsafeMutableRawBufferPointer, at offset: Int64) throws {
    let wanted = offset..<offset + Int64(target.count)
    for chunk in seal.layout.chunks(with: wanted) {
      let place = seal.layout.content(of: chunk..<chunk + 1)
      let part = place.clamped(to: wanted)
      let content = try content(seal, chunk)
      content.withUnsafeBytes {
        let found = $0[Int(part.lowerBound - place.lowerBound)..<Int(part.upperBound - place.lowerBound)]
        let from = Int(part.lowerBound - offset)
        target[from..<from + part.count].copyBytes(from: found)
      }
    }
  }

  private func content(_ seal: AssetSeal, _ chunk: Int64) throws -> [UInt8] {
    if let known = opened.withLock({ $0?.chunk == chunk ? $0?.content : nil }) { return known }
    let range = seal.layout.sealed(chunk..<chunk + 1)
    let sealed = try [UInt8](unsafeUninitializedCapacity: range.count) { buffer, done in
      try readStored(into: UnsafeMutableRawBufferPointer(buffer), at: range.lowerBound)
      done = range.count
    }
    let content: [UInt8]
    do { content = try seal.open(sealed, chunk: chunk) } catch {
      throw SatchelError(.damaged, "asset \(digest): its encrypted bytes were modified", underlying: error)
    }
    opened.withLock { $0 = (chunk, content) }
    return content
  }

  /// Returns how many of up to `count` bytes from `offset` on the asset has.
  ///
  /// - Throws: `SatchelError` `.invalid` for a negative number
  package func available(_ count: Int64, at offset: Int64) throws -> Int {
    guard offset >= 0 else { throw SatchelError(.invalid, "offset: \(offset) must not be negative") }
    guard count >= 0 else { throw SatchelError(.invalid, "count: \(count) must not be negative") }
    return Int(clamping: min(count, max(0, size - offset)))
  }

  /// Visits the bytes in parts of at most 256 KiB.
  package func forEachPart(_ body: (UnsafeRawBufferPointer) throws -> Void) throws {
    if case .row(let bytes) = source, seal == nil { return try bytes.withUnsafeBytes(body) }
    let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 18, alignment: 16)
    defer { buffer.deallocate() }
    var offset: Int64 = 0
    while offset < size {
      let count = try read(into: buffer, at: offset)
      try body(UnsafeRawBufferPointer(rebasing: buffer[..<count]))
      offset += Int64(count)
    }
  }

  /// Hashes all bytes.
  ///
  /// - Throws: `.damaged` when they are not those of the asset
  func verify() throws {
    var hash = SHA256()
    try forEachPart {
      try InterruptibleCall.check()
      hash.update($0)
    }
    guard hash.digest() == digest.bytes else {
      throw SatchelError(.damaged, "\(place): has other bytes than the asset")
    }
  }

  /// The name of the bytes in messages.
  private var place: String {
    if case .file(let handle) = source { handle.file.path } else { "asset \(sha256)" }
  }
}
