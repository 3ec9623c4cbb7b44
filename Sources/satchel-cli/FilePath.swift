import Satchel

/// A file's path as bytes, which need not be UTF-8.
struct FilePath: Hashable, Sendable {
  let bytes: [UInt8]

  init(bytes: [UInt8]) { self.bytes = bytes }

  /// Creates a path from a command line argument.
  init(argument: String) { self.init(bytes: CommandLine.bytes(of: argument)) }

  /// The path as a string, for messages and JSON; invalid UTF-8 is replaced.
  var text: String { String(decoding: bytes, as: UTF8.self) }

  func appending(_ name: [UInt8]) -> FilePath {
    if bytes == Array(".".utf8) { return FilePath(bytes: name) }
    return FilePath(
      bytes: bytes.last == UInt8(ascii: "/") ? bytes + name : bytes + [UInt8(ascii: "/")] + name)
  }

  func hasExtension(_ name: String) -> Bool {
    let ending = Array(".\(name)".utf8)
    return bytes.count > ending.count && bytes.suffix(ending.count).elementsEqual(ending)
  }

  /// The path without "./" and repeated slashes; relative when it is below the working directory.
  var tidy: FilePath {
    let slash = UInt8(ascii: "/")
    let isAbsolute = bytes.first == slash
    let parts = bytes.split(separator: slash).filter { !$0.elementsEqual(".".utf8) }
    let joined = Array(parts.joined(separator: [slash]))
    guard isAbsolute else { return FilePath(bytes: joined.isEmpty ? Array(".".utf8) : joined) }
    let full = [slash] + joined
    let base = Self.workingDirectory + [slash]
    guard full.count > base.count, full.starts(with: base) else { return FilePath(bytes: full) }
    return FilePath(bytes: Array(full.dropFirst(base.count)))
  }

  /// The parent directory.
  var directory: FilePath {
    let tidy = tidy.bytes
    guard let slash = tidy.lastIndex(of: UInt8(ascii: "/")) else { return FilePath(bytes: Array(".".utf8)) }
    return FilePath(bytes: Array(tidy[..<max(slash, 1)]))
  }

  func withCString<Result>(_ body: (UnsafePointer<CChar>) throws -> Result) rethrows -> Result {
    try (bytes.map { CChar(bitPattern: $0) } + [0]).withUnsafeBufferPointer { buffer in
      // Never nil: the array holds at least the NUL.
      try buffer.baseAddress.map(body) ?? body("")
    }
  }

  private static let workingDirectory: [UInt8] = {
    guard let path = getcwd(nil, 0) else { return [] }
    defer { free(path) }
    let bytes = UnsafeRawBufferPointer(start: path, count: strlen(path)).map { $0 }
    return bytes == [UInt8(ascii: "/")] ? [] : bytes
  }()
}

extension CommandLine {
  /// Returns the bytes of an argument. Swift replaces invalid UTF-8 in arguments; the original bytes are read
  /// from `argv`.
  static func bytes(of argument: String) -> [UInt8] {
    guard argument.unicodeScalars.contains("\u{FFFD}") else { return Array(argument.utf8) }
    for index in 0..<Int(argc) {
      guard let raw = unsafeArgv[index], String(cString: raw) == argument else { continue }
      return UnsafeRawBufferPointer(start: raw, count: strlen(raw)).map { $0 }
    }
    return Array(argument.utf8)
  }

  /// Returns whether an argument is the text that Swift read, without replaced bytes.
  static func isUTF8(_ argument: String) -> Bool { bytes(of: argument).elementsEqual(argument.utf8) }
}

/// Reads whole files.
enum FileBytes {
  /// The maximum size of a file, in bytes.
  private static let maxSize = 2 << 30

  /// Returns the contents of a file or pipe.
  ///
  /// - Throws: `SatchelError` `.io` with the system's reason, without the file's name
  static func contents(of path: FilePath) throws -> [UInt8] {
    let descriptor = path.withCString { open($0, O_RDONLY | O_CLOEXEC) }
    guard descriptor >= 0 else { throw SatchelError(.io, reason(errno)) }
    defer { close(descriptor) }
    return try contents(of: descriptor)
  }

  static func contents(of descriptor: CInt) throws -> [UInt8] {
    var status = stat()
    let expected = fstat(descriptor, &status) == 0 ? Int(status.st_size) : 0
    guard expected <= maxSize else { throw SatchelError(.io, "larger than 2 GiB") }
    var bytes: [UInt8] = []
    bytes.reserveCapacity(expected + 1)
    // One byte more than expected, so that the second call detects the end.
    var chunk = [UInt8](repeating: 0, count: min(max(expected + 1, 1 << 16), 1 << 22))
    while true {
      let count = chunk.withUnsafeMutableBytes { read(descriptor, $0.baseAddress, $0.count) }
      if count < 0, errno == EINTR { continue }
      guard count >= 0 else { throw SatchelError(.io, reason(errno)) }
      if count == 0 { return bytes }
      bytes.append(contentsOf: chunk[..<count])
      guard bytes.count <= maxSize else { throw SatchelError(.io, "larger than 2 GiB") }
    }
  }

  /// Returns the system's message for an error number in lower case: "permission denied".
  static func reason(_ number: CInt) -> String {
    guard let text = strerror(number) else { return "error \(number)" }
    let message = String(cString: text)
    return message.prefix(1).lowercased() + message.dropFirst()
  }
}
