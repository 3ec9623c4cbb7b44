import SatchelCore
import SatchelStorage

/// A directory of shard files: 0.csv to f.csv, and manifest.json.
struct ShardDirectory {
  let path: String

  static let manifest = "manifest.json"

  /// Opens a file for reading; nil when it does not exist. Does not follow links, and does not block on
  /// pipes.
  ///
  /// - Throws: `.invalid` for anything but a regular file, `.io`, `.readOnly`
  func open(_ file: String) throws -> DiskFile? {
    var status = stat()
    if lstat("\(path)/\(file)", &status) == 0, status.st_mode & S_IFMT == S_IFLNK {
      throw SatchelError(.invalid, "\(path)/\(file): is a link, which is not followed")
    }
    do {
      let opened = try DiskFile("\(path)/\(file)", O_RDONLY | O_NONBLOCK | O_NOFOLLOW | O_NOCTTY)
      guard try opened.status().st_mode & S_IFMT == S_IFREG else {
        throw SatchelError(.invalid, "\(opened.path): is not a regular file")
      }
      return opened
    } catch let error as SatchelError where error.code == .notFound {
      return nil
    }
  }

  /// Reads the manifest; nil when it does not exist.
  ///
  /// - Throws: `.invalid` or `.newer` when it cannot be parsed, `.io`, `.readOnly`
  func manifest() throws -> Manifest? {
    guard let file = try open(Self.manifest) else { return nil }
    return try naming(path) { try Manifest(parsing: file.read(Manifest.maximumSize + 1)) }
  }

  /// Writes a file atomically: readers see either the old or the new content.
  ///
  /// - Parameter content: passes the bytes on in parts; called again when they differ from the existing file
  /// - Returns: what `content` returned, and false when the file already has these bytes, and was left alone
  func write<Result>(_ file: String, _ content: ((UnsafeRawBufferPointer) throws -> Void) throws -> Result)
    throws -> (result: Result, isNew: Bool)
  {
    // A file that cannot be read is replaced.
    if let old = try? FileComparison(open(file)), let result = try old.matches(content) {
      return (result, false)
    }
    var new = try AtomicFile(replacing: "\(path)/\(file)")
    let result = try content { try new.append($0) }
    // `sync` makes all names durable at once.
    try new.commit(syncsDirectory: false)
    return (result, true)
  }

  /// Creates the directory, but not its parents.
  func make() throws {
    guard mkdir(path, 0o755) != 0 else { return }
    let code = errno
    guard code == EEXIST else { throw SatchelError(errno: code, path) }
  }

  /// Makes new names durable.
  func sync() throws { try DiskFile.syncDirectory(of: "\(path)/\(Self.manifest)") }
}

/// Compares bytes that are given in parts with those of a file.
struct FileComparison: ~Copyable {
  private let file: DiskFile
  private let size: Int64

  init?(_ file: consuming DiskFile?) throws {
    guard let file = file.take() else { return nil }
    size = Int64(try file.status().st_size)
    self.file = file
  }

  /// The bytes differ, or the file cannot be read.
  private struct Difference: Error {}

  /// - Parameter content: passes the bytes on; errors are rethrown
  /// - Returns: what `content` returned; nil when the bytes differ
  func matches<Result>(_ content: ((UnsafeRawBufferPointer) throws -> Void) throws -> Result) throws
    -> Result?
  {
    let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 16, alignment: 16)
    defer { buffer.deallocate() }
    var position: Int64 = 0
    do {
      let result = try content { bytes in
        var done = 0
        while done < bytes.count {
          let part = bytes[within: done..<min(bytes.count, done + buffer.count)]
          let fileBytes = UnsafeMutableRawBufferPointer(rebasing: buffer[..<part.count])
          guard (try? file.read(into: fileBytes, at: position)) == part.count,
            part.elementsEqualInMemory(UnsafeRawBufferPointer(fileBytes))
          else { throw Difference() }
          done += part.count
          position += Int64(part.count)
        }
      }
      return position == size ? result : nil
    } catch is Difference {
      return nil
    }
  }
}
