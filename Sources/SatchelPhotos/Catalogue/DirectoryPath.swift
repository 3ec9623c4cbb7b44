import SatchelStorage

/// Names of directories.
enum DirectoryPath {
  /// An absolute path without ".", ".." and double slashes; the real one as far as it exists.
  ///
  /// - Throws: `.invalid` for what is no path, or has no real path in UTF-8; `.io`
  static func normalized(_ path: String) throws -> String {
    guard !path.isEmpty, !path.utf8.contains(0) else {
      throw SatchelError(.invalid, "directory: empty, or holds a NUL")
    }
    var existing = path.utf8.first == UInt8(ascii: "/") ? path : try current() + "/" + path
    var missing: [Substring] = []
    while true {
      if let real = try resolved(existing) {
        let tail = missing.reversed().joined(separator: "/")
        if tail.isEmpty { return real }
        return real == "/" ? "/" + tail : real + "/" + tail
      }
      // What does not exist is no link: ".." means what stands before it.
      var parts = existing.split(separator: "/")
      guard let last = parts.popLast() else {
        throw SatchelError(.invalid, "\(path): no path to a directory")
      }
      switch last {
      case ".": break
      case "..": missing.append("..")
      default: if missing.last == ".." { missing.removeLast() } else { missing.append(last) }
      }
      existing = "/" + parts.joined(separator: "/")
    }
  }

  private static func current() throws -> String {
    guard let found = getcwd(nil, 0) else {
      // Also one that was removed: it is none of the caller's names.
      throw SatchelError(.io, SatchelError(errno: errno, "the working directory").message)
    }
    defer { free(found) }
    return String(cString: found)
  }

  private static func resolved(_ path: String) throws -> String? {
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
