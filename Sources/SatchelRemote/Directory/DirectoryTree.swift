import SatchelStorage

/// The files below a directory that is held open. No link is ever followed, so that nothing outside can be reached.
final class DirectoryTree: Sendable {
  /// What the store keeps for itself stands in a directory of this name; no key may begin with it.
  static let reserved = ".satchel"

  let root: Descriptor

  /// - Parameter path: a directory, which is made when its parent exists
  init(_ path: String) throws(ObjectStoreError) {
    guard !path.isEmpty, !path.utf8.contains(0) else {
      throw ObjectStoreError(.failed(.invalid), "the directory of an object store has no name")
    }
    if mkdir(path, 0o777) != 0, errno != EEXIST { throw Self.unusable(errno, path) }
    let number = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard number >= 0 else { throw Self.unusable(errno, path) }
    root = Descriptor(number)
  }

  // A directory that is missing is not an object that is missing.
  private static func unusable(_ code: Int32, _ path: String) -> ObjectStoreError {
    let error = ObjectStoreError.system(code, path)
    return switch error.reason {
    case .notFound: ObjectStoreError(.failed(.notFound), error.message)
    case .invalidKey: ObjectStoreError(.failed(.invalid), error.message)
    default: error
    }
  }

  /// The names that lead to an object.
  func way(to key: ObjectKey) throws(ObjectStoreError) -> [String] {
    let way = key.components
    guard way.first != Self.reserved else {
      throw ObjectStoreError(.invalidKey, "\(key): \"\(Self.reserved)\" is kept for the store itself")
    }
    guard way.allSatisfy({ $0.utf8.count <= Int(NAME_MAX) }) else {
      throw ObjectStoreError(.invalidKey, "\(key): a component is longer than \(NAME_MAX) bytes")
    }
    return way
  }

  /// Opens a directory below the root, making what is missing if so wanted.
  ///
  /// - Returns: nil when it does not exist, or an object stands in its place
  func directory(_ way: ArraySlice<String>, making: Bool = false) throws(ObjectStoreError) -> Descriptor? {
    guard var current = try step(root.number, ".", making: false) else { return nil }
    for name in way {
      guard let next = try step(current.number, name, making: making) else { return nil }
      current = next
    }
    return current
  }

  private func step(_ parent: Int32, _ name: String, making: Bool) throws(ObjectStoreError) -> Descriptor? {
    let flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC
    var number = openat(parent, name, flags)
    if number < 0, errno == ENOENT, making {
      guard mkdirat(parent, name, 0o777) == 0 || errno == EEXIST else { throw .system(errno, name) }
      // The new name is durable only with the directory that it stands in.
      if fsync(parent) != 0 { throw .system(errno, name) }
      number = openat(parent, name, flags)
    }
    if number >= 0 { return Descriptor(number) }
    let code = errno
    guard code != ENOENT else { return nil }
    guard code == ENOTDIR || code == ELOOP else { throw .system(code, name) }
    var status = stat()
    if fstatat(parent, name, &status, AT_SYMLINK_NOFOLLOW) == 0, status.st_mode & S_IFMT == S_IFLNK {
      throw ObjectStoreError(.denied, "\(name): a link, which is not followed")
    }
    if making { throw ObjectStoreError(.invalidKey, "\(name): an object of this name stands in the way") }
    return nil
  }

  /// Opens an object for reading.
  ///
  /// - Returns: nil when there is none
  func object(_ key: ObjectKey, way: [String]) throws(ObjectStoreError) -> ObjectFile? {
    guard let name = way.last, let parent = try directory(way.dropLast()) else { return nil }
    return try object(key, named: name, in: parent)
  }

  /// Opens an object of which the directory is open already.
  func object(
    _ key: ObjectKey, named name: String, in parent: borrowing Descriptor
  ) throws(ObjectStoreError) -> ObjectFile? {
    // Without waiting for the other end, should it be a pipe.
    let number = openat(parent.number, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC)
    guard number >= 0 else {
      if errno == ENOENT { return nil }
      throw .system(errno, key.text)
    }
    let file = Descriptor(number)
    guard let status = file.status else { throw .system(errno, key.text) }
    switch status.st_mode & S_IFMT {
    case S_IFREG: return ObjectFile(file: file, status: status, key: key)
    case S_IFDIR: return nil
    default: throw ObjectStoreError(.denied, "\(key): not a regular file")
    }
  }
}
