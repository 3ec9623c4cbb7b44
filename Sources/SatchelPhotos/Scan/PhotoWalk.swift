import SatchelCore
import SatchelStorage

/// Walks a tree, and finds its photos in the order of their paths' bytes.
///
/// Uses no recursion, and holds one directory open at a time. Opens nothing but directories.
struct PhotoWalk: ~Copyable {
  /// Deeper directories are reported as skipped.
  static let maxDepth = 4096

  private(set) var found: PhotoFindings
  private var cursor: DirectoryCursor
  private var frames: [Frame] = []

  /// A directory whose items are being visited.
  private struct Frame {
    var directory: Int
    var items: [DirectoryListing.Item]
    var position = 0
    /// The prefix of paths in it.
    var prefix: [UInt8]
  }

  init(_ root: PhotoRoot) {
    found = PhotoFindings(tree: PhotoTree(root: root.stamp))
    cursor = DirectoryCursor(root)
  }

  /// Walks the whole tree.
  ///
  /// - Parameter shouldContinue: called regularly with what was found so far; false ends the walk
  /// - Returns: whether the walk is complete
  mutating func run(_ shouldContinue: (PhotoFindings) -> Bool) -> Bool {
    list(0, prefix: [])
    var steps = 0
    while var frame = frames.popLast() {
      guard frame.position < frame.items.count else { continue }
      let item = frame.items[frame.position]
      frame.position += 1
      let (directory, prefix) = (frame.directory, frame.prefix)
      // A directory's frame is dropped before its last item is visited.
      if frame.position < frame.items.count { frames.append(consume frame) }
      visit(item, in: directory, path: prefix + item.name)
      steps += 1
      if steps % 256 == 0, !shouldContinue(found) { return false }
    }
    return shouldContinue(found)
  }

  private mutating func visit(_ item: DirectoryListing.Item, in directory: Int, path: [UInt8]) {
    switch item.kind {
    case .link: return found.skip(path, OpenFile.Fault.link.reason)
    case .special: return found.skip(path, OpenFile.Fault.special.reason)
    case .directory, .photo: break
    }
    guard let name = String(validating: item.name, as: UTF8.self) else {
      return found.skip(path, "its name is not UTF-8")
    }
    do throws(OpenFile.Fault) {
      if item.kind == .directory {
        try enter(name, in: directory, path: path)
      } else {
        try look(at: name, in: directory, path: path)
      }
    } catch {
      // Deleted since it was listed: not reported.
      if !error.isAbsent { found.skip(path, error.reason) }
    }
  }

  private mutating func look(at name: String, in directory: Int, path: [UInt8]) throws(OpenFile.Fault) {
    let parent = try cursor.enter(directory, of: found.tree)
    var status = stat()
    guard fstatat(parent, name, &status, AT_SYMLINK_NOFOLLOW) == 0 else { throw OpenFile.Fault(errno: errno) }
    let stamp = FileStamp(status)
    switch stamp.kind {
    case .file: break
    // Replaced since it was listed.
    case .link: throw .link
    case .directory, .special: throw .special
    }
    guard stamp.size > 0 else { throw .empty }
    found.bytes += min(stamp.size, .max - found.bytes)
    found.entries.append(
      PhotoEntry(directory: directory, name: name, size: stamp.size, modified: stamp.modified))
  }

  private mutating func enter(_ name: String, in parent: Int, path: [UInt8]) throws(OpenFile.Fault) {
    guard found.tree.directories[parent].depth < Self.maxDepth else {
      throw OpenFile.Fault("deeper than \(Self.maxDepth) directories")
    }
    let file = try OpenFile.directory(name, in: cursor.enter(parent, of: found.tree))
    let stamp = try file.stamp()
    guard !found.tree.isLoop(stamp, under: parent) else {
      throw OpenFile.Fault("one of the directories that it is in: a loop")
    }
    list(found.tree.add(name, in: parent, stamp), prefix: path + [UInt8(ascii: "/")])
  }

  private mutating func list(_ directory: Int, prefix: [UInt8]) {
    do throws(OpenFile.Fault) {
      let items = try DirectoryListing.items(of: cursor.enter(directory, of: found.tree))
      if !items.isEmpty { frames.append(Frame(directory: directory, items: items, prefix: prefix)) }
    } catch {
      found.skip(Array(prefix.dropLast()), error.reason)
    }
  }
}

/// The result of a walk.
struct PhotoFindings: Sendable {
  var tree: PhotoTree
  /// The photos in the order of their paths' bytes.
  var entries: [PhotoEntry] = []
  /// The size of all entries.
  var bytes: Int64 = 0
  /// The items that were skipped, and the reasons.
  var skipped: [(path: [UInt8], reason: String)] = []
  /// Paths that exist but were not read: the state of files at and under them is unknown.
  var unread: Set<[UInt8]> = []

  mutating func skip(_ path: [UInt8], _ reason: String) {
    unread.insert(path)
    skipped.append((path, reason))
  }

  /// Whether the state of a path is unknown, because it, or a parent directory, could not be read.
  func isUnread(_ path: [UInt8]) -> Bool {
    guard !unread.isEmpty else { return false }
    if unread.contains([]) || unread.contains(path) { return true }
    return path.indices.contains { path[$0] == UInt8(ascii: "/") && unread.contains(Array(path[..<$0])) }
  }
}
