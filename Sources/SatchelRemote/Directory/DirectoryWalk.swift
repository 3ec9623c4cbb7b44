import SatchelStorage

/// Goes through a tree in the order of the keys, and only where keys of the page can be.
struct DirectoryWalk {
  let tree: DirectoryTree
  let prefix: [UInt8]
  /// The last key of the page before.
  let after: [UInt8]?
  let limit: Int
  let cancellation: Cancellation

  private(set) var entries: [ObjectPage.Entry] = []
  private(set) var skipped = 0
  /// Whether there is more than the page holds.
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
    var name: DirectoryName
    var status: stat
    /// Where it stands in the order of keys: those in a directory have a slash behind its name.
    var place: [UInt8]

    var isDirectory: Bool { status.st_mode & S_IFMT == S_IFDIR }
    var isFile: Bool { status.st_mode & S_IFMT == S_IFREG }
  }

  /// - Parameter path: what the keys in the directory begin with; empty, or with a slash at its end
  mutating func visit(_ directory: borrowing Descriptor, path: String) throws(ObjectStoreError) {
    try cancellation.check()
    let candidates = try candidates(in: directory, path: path)
    var tags = ListedTags(tree, of: path)
    // When the caller gives up, too: what was read need not be read again.
    defer { tags.keep(candidates.lazy.map { ObjectStamp($0.status) }) }
    for candidate in candidates {
      if candidate.isDirectory {
        guard leadsToKeys(candidate.place), candidate.place.count <= ObjectKey.maximumLength else { continue }
        guard candidate.name.isReadable else {
          skipped += 1
          continue
        }
        let flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC
        let number = openat(directory.number, candidate.name.text, flags)
        guard number >= 0 else {
          // Gone since it was listed, or another thing by now.
          if errno == ENOENT || errno == ENOTDIR || errno == ELOOP { continue }
          throw .system(errno, path + candidate.name.text)
        }
        try visit(Descriptor(number), path: path + candidate.name.text + "/")
      } else if candidate.place.starts(with: prefix), isBehind(candidate.place) {
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
        let entry = try tags.entry(key, candidate.name.text, in: directory, candidate.status, cancellation)
        if let entry { entries.append(entry) }
      }
      if isFull { return }
    }
  }

  private func candidates(in directory: borrowing Descriptor, path: String) throws(ObjectStoreError)
    -> [Candidate]
  {
    var candidates: [Candidate] = []
    for name in try DirectoryName.all(in: directory)
    where !path.isEmpty || name.text != DirectoryTree.reserved {
      var status = stat()
      if name.isReadable, fstatat(directory.number, name.text, &status, AT_SYMLINK_NOFOLLOW) != 0 {
        if errno == ENOENT { continue }
        throw .system(errno, path + name.text)
      }
      let isDirectory = status.st_mode & S_IFMT == S_IFDIR
      let place = Array((path + name.text + (isDirectory ? "/" : "")).utf8)
      candidates.append(Candidate(name: name, status: status, place: place))
    }
    return candidates.sorted { $0.place.lexicographicallyPrecedes($1.place) }
  }

  /// Whether keys that begin so can be on the page.
  private func leadsToKeys(_ start: [UInt8]) -> Bool {
    guard start.starts(with: prefix) || prefix.starts(with: start) else { return false }
    guard let after else { return true }
    return after.starts(with: start) || after.lexicographicallyPrecedes(start)
  }

  private func isBehind(_ place: [UInt8]) -> Bool {
    guard let after else { return true }
    return after.lexicographicallyPrecedes(place)
  }
}
