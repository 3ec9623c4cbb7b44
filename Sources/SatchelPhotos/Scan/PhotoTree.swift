/// The directories of a scan, by index. 0 is the catalogue's own; a parent precedes its children.
struct PhotoTree: Sendable {
  struct Directory: Sendable {
    var name: String
    /// The index of the parent; its own for the root.
    var parent: Int
    var depth: Int
    /// The metadata of the directory that was listed.
    var stamp: FileStamp
  }

  private(set) var directories: [Directory]

  init(root: FileStamp) { directories = [Directory(name: "", parent: 0, depth: 0, stamp: root)] }

  /// - Returns: the new directory's index
  mutating func add(_ name: String, in parent: Int, stamp: FileStamp) -> Int {
    let depth = directories[parent].depth + 1
    directories.append(Directory(name: name, parent: parent, depth: depth, stamp: stamp))
    return directories.count - 1
  }

  /// Returns the path to a directory.
  ///
  /// - Parameter ancestor: where the path starts, if it leads through there
  /// - Returns: the indexes on the path, without its start; and whether it starts at `ancestor`
  func path(to directory: Int, from ancestor: Int) -> (path: [Int], isFromAncestor: Bool) {
    var path: [Int] = []
    var index = directory
    while index != 0, index != ancestor {
      path.append(index)
      index = directories[index].parent
    }
    return (path.reversed(), index == ancestor)
  }

  /// Whether the directory is one of its own ancestors: a loop of mounts.
  func isLoop(_ stamp: FileStamp, under parent: Int) -> Bool {
    var index = parent
    while true {
      if directories[index].stamp.isSame(as: stamp) { return true }
      if index == 0 { return false }
      index = directories[index].parent
    }
  }

  /// Returns the prefix of paths in the directory: empty, or with a slash at its end.
  func prefix(_ directory: Int) -> [UInt8] {
    var prefix: [UInt8] = []
    for index in path(to: directory, from: 0).path {
      prefix += directories[index].name.utf8
      prefix.append(UInt8(ascii: "/"))
    }
    return prefix
  }
}

/// Builds the paths of a tree's files; fast while consecutive files are in the same directory.
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

/// A file found by the walk.
struct PhotoEntry: Sendable, Equatable {
  /// The index in the `PhotoTree`.
  var directory: Int
  /// The name on disk: names in other Unicode normal forms are other names.
  var name: String
  var size: Int64
  /// Unix nanoseconds.
  var modified: Int64
  /// When content or metadata were last changed, which programs cannot set: Unix nanoseconds.
  var changed: Int64
}
