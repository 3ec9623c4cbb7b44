/// The directories of a scan, by number. 0 is the catalogue's own; a parent stands before its children.
struct PhotoTree: Sendable {
  struct Directory: Sendable {
    var name: String
    /// Its own number for the first one.
    var parent: Int
    var depth: Int
    /// Of the directory that was listed under this name.
    var stamp: FileStamp
  }

  private(set) var directories: [Directory]

  init(root: FileStamp) { directories = [Directory(name: "", parent: 0, depth: 0, stamp: root)] }

  /// - Returns: the new directory's number
  mutating func add(_ name: String, in parent: Int, _ stamp: FileStamp) -> Int {
    let depth = directories[parent].depth + 1
    directories.append(Directory(name: name, parent: parent, depth: depth, stamp: stamp))
    return directories.count - 1
  }

  /// The names that lead to a directory.
  ///
  /// - Parameter ancestor: where the way begins, when it leads through there
  /// - Returns: the numbers on the way, without its beginning; and whether it begins at `ancestor`
  func way(to directory: Int, from ancestor: Int) -> (way: [Int], isFromAncestor: Bool) {
    var way: [Int] = []
    var place = directory
    while place != 0, place != ancestor {
      way.append(place)
      place = directories[place].parent
    }
    return (way.reversed(), place == ancestor)
  }

  /// Whether the directory is one of those that it would lie in: a loop of mounts.
  func isLoop(_ stamp: FileStamp, under parent: Int) -> Bool {
    var place = parent
    while true {
      if directories[place].stamp.isSame(as: stamp) { return true }
      if place == 0 { return false }
      place = directories[place].parent
    }
  }

  /// What paths in the directory begin with: empty, or with a slash at its end.
  func prefix(_ directory: Int) -> [UInt8] {
    var prefix: [UInt8] = []
    for place in way(to: directory, from: 0).way {
      prefix += directories[place].name.utf8
      prefix.append(UInt8(ascii: "/"))
    }
    return prefix
  }
}

/// Paths of a tree's files; quick while they come directory by directory.
struct PhotoPaths {
  let tree: PhotoTree
  private var directory = 0
  private var prefix: [UInt8] = []

  init(_ tree: PhotoTree) { self.tree = tree }

  mutating func bytes(_ entry: PhotoEntry) -> [UInt8] {
    if entry.directory != directory {
      directory = entry.directory
      prefix = tree.prefix(directory)
    }
    return prefix + entry.name.utf8
  }

  mutating func text(_ entry: PhotoEntry) -> String { String(decoding: bytes(entry), as: UTF8.self) }
}
