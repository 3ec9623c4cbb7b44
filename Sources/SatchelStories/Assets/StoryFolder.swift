import SatchelCore

/// The files of the folder that a story's file is in.
///
/// Paths are looked up in listings of directories: no name of a story reaches the file system, upper and lower case
/// count wherever the file is, and links are followed only as long as they stay in the folder.
final class StoryFolder {
  enum Status: Equatable {
    case file
    /// With the path of one that differs only in upper and lower case, if there is one.
    case absent(similar: String?)
    case directory
    /// A device, a pipe or a socket.
    case special
    /// A link leads out of the folder, or in a circle.
    case outside
    /// A directory cannot be read.
    case unknown
  }

  private struct Listing {
    var kinds: [[UInt8]: mode_t] = [:]
    /// The names by their lower case; made for the first one that is absent.
    var lowered: [String: [UInt8]]?
  }

  private static let maxLinks = 32

  private let root: Int32
  private var listings: [[UInt8]: Listing?] = [:]

  init(_ path: String) { root = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC) }

  deinit { if root >= 0 { close(root) } }

  /// Returns the status of a path.
  func status(of names: [[UInt8]]) -> Status {
    var pending = Array(names.reversed())
    // No part of it is a link.
    var path: [[UInt8]] = []
    var links = 0
    while let name = pending.popLast() {
      // Of a link.
      if name.elementsEqual(".".utf8) || name.isEmpty { continue }
      if name.elementsEqual("..".utf8) {
        if path.popLast() == nil { return .outside }
        continue
      }
      let directory = Self.joined(path)
      guard let listing = listing(of: directory) else { return .unknown }
      guard let kind = listing.kinds[name] else {
        let similar = similar(to: name, in: directory)
        return .absent(similar: similar.map { Self.text(path + [$0] + pending.reversed()) })
      }
      switch kind {
      case S_IFDIR: path.append(name)
      case S_IFREG: return pending.isEmpty ? .file : .absent(similar: nil)
      case S_IFLNK:
        links += 1
        guard links <= Self.maxLinks, let target = target(of: Self.joined(path + [name])) else {
          return .outside
        }
        pending += target.split(separator: UInt8(ascii: "/")).reversed().map { Array($0) }
      default: return .special
      }
    }
    return .directory
  }

  private static func joined(_ names: [[UInt8]]) -> [UInt8] { Array(names.joined(separator: "/".utf8)) }

  private static func text(_ names: [[UInt8]]) -> String { String(decoding: joined(names), as: UTF8.self) }

  /// Returns a name that differs only in upper and lower case.
  private func similar(to name: [UInt8], in directory: [UInt8]) -> [UInt8]? {
    guard var listing = listing(of: directory) else { return nil }
    func lowered(_ name: [UInt8]) -> String { String(decoding: name, as: UTF8.self).lowercased() }
    let names =
      listing.lowered
      ?? Dictionary(
        listing.kinds.keys.map { (lowered($0), $0) },
        uniquingKeysWith: { $0.lexicographicallyPrecedes($1) ? $0 : $1 })
    if listing.lowered == nil {
      listing.lowered = names
      listings[directory] = .some(listing)
    }
    return names[lowered(name)]
  }

  /// Returns the target of a link; nil for an absolute one.
  private func target(of path: [UInt8]) -> [UInt8]? {
    var buffer = [CChar](repeating: 0, count: Int(PATH_MAX))
    let count = Self.withCString(path) { readlinkat(root, $0, &buffer, buffer.count) }
    guard count > 0, count < buffer.count else { return nil }
    let target = buffer.prefix(count).map { UInt8(bitPattern: $0) }
    return target.first == UInt8(ascii: "/") ? nil : target
  }

  /// Returns the names in a directory; nil when it cannot be read.
  ///
  /// - Parameter path: no part of it is a link
  private func listing(of path: [UInt8]) -> Listing? {
    if let known = listings[path] { return known }
    let listing = read(path)
    listings[path] = .some(listing)
    return listing
  }

  private func read(_ path: [UInt8]) -> Listing? {
    guard root >= 0 else { return nil }
    let descriptor = Self.withCString(path.isEmpty ? Array(".".utf8) : path) {
      openat(root, $0, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
    }
    guard descriptor >= 0 else { return nil }
    guard let stream = fdopendir(descriptor) else {
      close(descriptor)
      return nil
    }
    defer { closedir(stream) }
    var listing = Listing()
    while let entry = readdir(stream) {
      let name = withUnsafeBytes(of: &entry.pointee.d_name) { Array($0.prefix { $0 != 0 }) }
      var kind = mode_t(entry.pointee.d_type) << 12
      // Some file systems do not report the type.
      if kind == 0 {
        var status = stat()
        guard Self.withCString(name, { fstatat(descriptor, $0, &status, AT_SYMLINK_NOFOLLOW) }) == 0 else {
          continue
        }
        kind = status.st_mode & S_IFMT
      }
      listing.kinds[name] = kind
    }
    return listing
  }

  private static func withCString<Result>(_ bytes: [UInt8], _ body: (UnsafePointer<CChar>) -> Result)
    -> Result
  {
    (bytes.map { CChar(bitPattern: $0) } + [0]).withUnsafeBufferPointer { buffer in
      buffer.baseAddress.map(body) ?? body("")
    }
  }
}
