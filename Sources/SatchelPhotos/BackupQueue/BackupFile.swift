import SatchelCore
import SatchelRemote
import SatchelStorage

/// Reads the files of photos, for their backups.
struct BackupFiles: Sendable {
  /// The greatest file that an object store accepts in one request: 5 GiB, as S3.
  static let maxSize: Int64 = 5 << 30

  let root: PhotoRoot

  /// - Throws: `SatchelError` `.notFound` when the directory does not exist, `.invalid`, `.io`
  init(_ directory: String) throws { root = try PhotoRoot(directory) }

  /// Reads a photo's file: of several with its bytes the first that still has them.
  ///
  /// - Parameter paths: relative to the directory
  /// - Returns: bytes of the photo's size and MD5
  /// - Throws: `SatchelError` `.notFound` or `.invalid` for the last path, `.cancelled`
  func read(_ photo: Photo, at paths: [[UInt8]], _ cancellation: Cancellation) throws -> [UInt8] {
    var failure = SatchelError(
      .notFound, "no scan has found a file of the photo, and \"\(photo.filename)\" is not a file name")
    for path in paths {
      let text = String(decoding: path, as: UTF8.self)
      do {
        return try Self.read(photo, from: Self.open(text, in: root), cancellation)
      } catch let fault as OpenFile.Fault {
        failure = SatchelError(fault.isAbsent ? .notFound : .invalid, "\(text): \(fault.reason)")
      }
    }
    throw failure
  }

  /// Opens a file below the directory, without following links.
  private static func open(_ path: String, in root: PhotoRoot) throws -> OpenFile {
    let names = path.split(separator: "/", omittingEmptySubsequences: false)
    guard names.allSatisfy({ !$0.isEmpty && $0 != "." && $0 != ".." && !$0.utf8.contains(0) }) else {
      throw OpenFile.Fault("not a path below the directory")
    }
    var directory = try OpenFile.directory(".", in: root.file.number)
    for name in names.dropLast() {
      let next = try OpenFile.directory(String(name), in: directory.number)
      directory = next
    }
    return try OpenFile.file(String(names[names.count - 1]), in: directory.number)
  }

  private static func read(
    _ photo: Photo, from file: borrowing OpenFile, _ cancellation: Cancellation
  ) throws -> [UInt8] {
    let stamp = try file.stamp()
    guard stamp.kind == .file else { throw OpenFile.Fault.special }
    guard stamp.size <= maxSize else {
      throw OpenFile.Fault("has \(stamp.size) bytes, more than an object can have (\(maxSize))")
    }
    let changed = OpenFile.Fault("does not have the bytes of the photo: it was changed since the last scan")
    guard stamp.size == photo.size else { throw changed }
    var bytes = [UInt8](repeating: 0, count: Int(stamp.size))
    var hash = MD5Hash()
    var done = 0
    while done < bytes.count {
      try cancellation.check()
      let end = min(bytes.count, done + 1 << 22)
      let got = bytes.withUnsafeMutableBytes { buffer -> Int in
        let got = pread(file.number, buffer.baseAddress?.advanced(by: done), end - done, off_t(done))
        if got > 0 { hash.update(UnsafeRawBufferPointer(rebasing: buffer[done..<done + got])) }
        return got
      }
      if got < 0, errno == EINTR { continue }
      guard got >= 0 else { throw OpenFile.Fault(errno: errno) }
      guard got > 0 else { throw changed }
      done += got
    }
    guard hash.digest() == photo.md5 else { throw changed }
    return bytes
  }
}

/// Bounds the memory of files that are transferred at the same time: a file over the bound is transferred alone.
final class TransferMemory: Sendable {
  static let limit: Int64 = 256 << 20

  private let used = Locked<Int64>(0)

  /// Waits until `size` bytes may be used, then calls `body`.
  ///
  /// - Throws: `.cancelled`, and the errors of `body`
  func with<Result>(bytes size: Int64, _ cancellation: Cancellation, _ body: () throws -> Result) throws
    -> Result
  {
    let size = max(0, min(size, BackupFiles.maxSize))
    while !used.withLock({ used in
      guard used == 0 || used + size <= Self.limit else { return false }
      used += size
      return true
    }) {
      try cancellation.wait(milliseconds: 20)
    }
    defer { used.withLock { $0 -= size } }
    return try body()
  }
}
