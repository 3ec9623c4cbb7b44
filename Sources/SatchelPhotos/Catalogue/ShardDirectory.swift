import SatchelStorage

/// A directory of shards' files: 0.csv to f.csv, and manifest.json.
struct ShardDirectory {
  let path: String

  static let manifest = "manifest.json"

  /// Opens a file to be read; nil when there is none.
  ///
  /// A link is not followed, and a pipe is not waited for.
  ///
  /// - Throws: `.invalid` for what is no regular file, `.io`, `.readOnly`
  func open(_ file: String) throws -> DiskFile? {
    var status = stat()
    if lstat("\(path)/\(file)", &status) == 0, status.st_mode & S_IFMT == S_IFLNK {
      throw SatchelError(.invalid, "\(path)/\(file): a link, which is not followed")
    }
    do {
      let opened = try DiskFile("\(path)/\(file)", O_RDONLY | O_NONBLOCK | O_NOFOLLOW | O_NOCTTY)
      guard try opened.status().st_mode & S_IFMT == S_IFREG else {
        throw SatchelError(.invalid, "\(opened.path): not a regular file")
      }
      return opened
    } catch let error as SatchelError where error.code == .notFound {
      return nil
    }
  }

  /// The manifest; nil when there is none.
  ///
  /// - Throws: `.invalid` or `.newer` when it cannot be read as one, `.io`, `.readOnly`
  func manifest() throws -> Manifest? {
    guard let file = try open(Self.manifest) else { return nil }
    return try naming(path) { try Manifest(parsing: file.read(Manifest.maximumSize + 1)) }
  }

  /// Writes a file, in place of the one that is there; whoever reads sees one or the other.
  ///
  /// - Parameter content: hands out the bytes, a part after the other; called again when they are not those of the
  ///   file that is there
  /// - Returns: what `content` gave, and false when the file has these bytes already, and is left alone
  func write<Result>(_ file: String, _ content: ((UnsafeRawBufferPointer) throws -> Void) throws -> Result)
    throws -> (result: Result, isNew: Bool)
  {
    // What cannot be read is replaced.
    if let old = try? FileComparison(open(file)), let result = try old.matches(content) {
      return (result, false)
    }
    var part = try PartFile(replacing: "\(path)/\(file)")
    let result = try content { try part.append($0) }
    try part.finish()
    return (result, true)
  }

  /// Makes the directory, but not those above it.
  func make() throws {
    guard mkdir(path, 0o755) != 0 else { return }
    let code = errno
    guard code == EEXIST else { throw SatchelError(errno: code, path) }
  }

  /// Makes new names survive a power cut.
  func sync() throws { try DiskFile.syncDirectory(of: "\(path)/\(Self.manifest)") }
}
