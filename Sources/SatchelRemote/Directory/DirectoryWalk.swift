import SatchelCore

/// Traverses a directory tree in key order for one page of a listing, skipping directories without keys of
/// the page.
struct DirectoryWalk {
  let tree: DirectoryTree
  let prefix: [UInt8]
  /// The last key of the previous page.
  let after: [UInt8]?
  let limit: Int
  let cancellation: Cancellation

  private(set) var entries: [ObjectPage.Entry] = []
  private(set) var skipped = 0
  /// Whether more keys follow the page.
  private(set) var isFull = false

  init(
    _ tree: DirectoryTree, prefix: [UInt8], after: [UInt8]?, limit: Int, cancellation: Cancellation
  ) {
    self.tree = tree
    self.prefix = prefix
    self.after = after
    self.limit = limit
    self.cancellation = cancellation
  }

  private struct Candidate {
    var name: DirectoryEntryName
    var status: stat
    /// The bytes that determine the position in key order: a directory's name ends with a slash.
    var sortKey: [UInt8]

    var isDirectory: Bool { status.st_mode & S_IFMT == S_IFDIR }
    var isFile: Bool { status.st_mode & S_IFMT == S_IFREG }
  }

  /// Adds the objects in a directory and its subdirectories to the page.
  ///
  /// - Parameter path: the prefix of the keys in the directory; empty, or with a slash at its end
  mutating func visit(_ directory: borrowing Descriptor, path: String) throws(ObjectStoreError) {
    try cancellation.check()
    let candidates = try candidates(in: directory, path: path)
    var etags = ETagCache(tree, of: path)
    // Also after cancellation, so that the files that were read are not read again.
    defer { etags.save(candidates.lazy.map { FileVersion($0.status) }) }
    for candidate in candidates {
      if candidate.isDirectory {
        guard mayContainKeys(candidate.sortKey), candidate.sortKey.count <= ObjectKey.maximumLength else {
          continue
        }
        guard candidate.name.isReadable else {
          skipped += 1
          continue
        }
        let flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC
        let number = openat(directory.number, candidate.name.text, flags)
        guard number >= 0 else {
          // Removed or replaced since it was listed.
          if errno == ENOENT || errno == ENOTDIR || errno == ELOOP { continue }
          throw .system(errno, path + candidate.name.text)
        }
        try visit(Descriptor(number), path: path + candidate.name.text + "/")
      } else if candidate.sortKey.starts(with: prefix), isPastContinuation(candidate.sortKey) {
        guard candidate.isFile, candidate.name.isReadable,
          let key = try? ObjectKey(path + candidate.name.text)
        else {
          skipped += 1
          continue
        }
        guard entries.count < limit else {
          isFull = true
          return
        }
        let entry = try etags.entry(
          key, name: candidate.name.text, in: directory, status: candidate.status, cancellation)
        if let entry { entries.append(entry) }
      }
      if isFull { return }
    }
  }

  private func candidates(in directory: borrowing Descriptor, path: String) throws(ObjectStoreError)
    -> [Candidate]
  {
    var candidates: [Candidate] = []
    for name in try DirectoryEntryName.all(in: directory)
    where !path.isEmpty || name.text != DirectoryTree.reserved {
      var status = stat()
      if name.isReadable, fstatat(directory.number, name.text, &status, AT_SYMLINK_NOFOLLOW) != 0 {
        if errno == ENOENT { continue }
        throw .system(errno, path + name.text)
      }
      let isDirectory = status.st_mode & S_IFMT == S_IFDIR
      let sortKey = Array((path + name.text + (isDirectory ? "/" : "")).utf8)
      candidates.append(Candidate(name: name, status: status, sortKey: sortKey))
    }
    return candidates.ordered { $0.sortKey.lexicographicallyPrecedes($1.sortKey) }
  }

  /// Whether keys that begin with `start` can be on the page.
  private func mayContainKeys(_ start: [UInt8]) -> Bool {
    guard start.starts(with: prefix) || prefix.starts(with: start) else { return false }
    guard let after else { return true }
    return after.starts(with: start) || after.lexicographicallyPrecedes(start)
  }

  private func isPastContinuation(_ key: [UInt8]) -> Bool {
    guard let after else { return true }
    return after.lexicographicallyPrecedes(key)
  }
}
