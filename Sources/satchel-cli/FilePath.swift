import Satchel

/// A file's name as the system has it: bytes, which need not be UTF-8.
struct FilePath: Hashable, Sendable {
  let bytes: [UInt8]

  init(bytes: [UInt8]) { self.bytes = bytes }

  /// A name from the command line. Swift has repaired what is not UTF-8 in it; the system still has the bytes.
  init(argument: String) {
    var bytes = Array(argument.utf8)
    if argument.unicodeScalars.contains("\u{FFFD}") {
      for index in 0..<Int(CommandLine.argc) {
        guard let raw = CommandLine.unsafeArgv[index], String(cString: raw) == argument else { continue }
        bytes = UnsafeRawBufferPointer(start: raw, count: strlen(raw)).map { $0 }
        break
      }
    }
    self.bytes = bytes
  }

  /// The name for people and for JSON.
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

  /// The same file's name without "./" and doubled slashes, and below the working directory relative to it.
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

  /// The directory that it stands in.
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
