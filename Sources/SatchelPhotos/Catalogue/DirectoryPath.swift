import SatchelCore
import SatchelStorage

/// Normalizes the paths of directories.
enum DirectoryPath {
  /// Returns an absolute path without ".", ".." and double slashes; the real path of the part that exists.
  ///
  /// - Throws: `.invalid` for a string that is not a path, is too long, or has no real path in UTF-8; `.io`
  static func normalized(_ path: String) throws -> String {
    guard !path.isEmpty, !path.utf8.contains(0) else {
      throw SatchelError(.invalid, "directory: is empty, or contains a NUL")
    }
    // Checked first: the work grows with the number of components.
    try check(path, length: path.utf8.count)
    let absolute = path.utf8.first == slash ? path : try current() + "/" + path
    try check(path, length: absolute.utf8.count)
    var existing = Array(absolute.utf8)
    var missing: [String] = []
    while true {
      if let real = try resolved(existing) {
        let tail = missing.reversed().joined(separator: "/")
        if tail.isEmpty { return real }
        return real == "/" ? "/" + tail : real + "/" + tail
      }
      // A component that does not exist is not a link: ".." removes the one before it.
      while existing.last == slash { existing.removeLast() }
      guard let start = existing.lastIndex(of: slash) else {
        throw SatchelError(.invalid, "\(path): is not a path to a directory")
      }
      let last = String(decoding: existing[(start + 1)...], as: UTF8.self)
      existing.removeSubrange((start + 1)...)
      switch last {
      case ".": break
      case "..": missing.append("..")
      default: if missing.last == ".." { missing.removeLast() } else { missing.append(last) }
      }
    }
  }

  private static let slash = UInt8(ascii: "/")
  /// The maximum length of a path in bytes: PATH_MAX without the NUL at the end.
  private static let maximumLength = 4095

  private static func check(_ path: String, length: Int) throws {
    guard length > maximumLength else { return }
    throw SatchelError(
      .invalid,
      "directory: \(path.unicodeScalars.prefix(64))…: \(length) bytes; a path has at most \(maximumLength)")
  }

  private static func current() throws -> String {
    guard let found = getcwd(nil, 0) else {
      // Also for ENOENT: the name is not one that the caller gave.
      throw SatchelError(.io, SatchelError(errno: errno, "the working directory").message)
    }
    defer { free(found) }
    return String(cString: found)
  }

  private static func resolved(_ bytes: [UInt8]) throws -> String? {
    let path = String(decoding: bytes, as: UTF8.self)
    guard let found = realpath(path, nil) else {
      let code = errno
      if code == ENOENT { return nil }
      throw SatchelError(errno: code, path, denied: .io)
    }
    defer { free(found) }
    guard let text = String(validatingCString: found) else {
      throw SatchelError(.invalid, "\(path): its real path is not UTF-8")
    }
    return text
  }
}
