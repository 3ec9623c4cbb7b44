import SatchelStorage

/// Finds the photos of a tree, in the order of their paths' bytes.
///
/// Without recursion, and with one directory open at a time. Nothing but directories is opened.
struct PhotoWalk: ~Copyable {
  /// Directories deeper than this are told and not entered.
  static let deepest = 4096

  private(set) var found: PhotoFindings
  private var cursor: DirectoryCursor
  private var frames: [Frame] = []

  /// A directory under way.
  private struct Frame {
    var directory: Int
    var items: [DirectoryListing.Item]
    var position = 0
    /// What paths in it begin with.
    var prefix: [UInt8]
  }

  init(_ root: PhotoRoot) {
    found = PhotoFindings(tree: PhotoTree(root: root.stamp))
    cursor = DirectoryCursor(root)
  }

  /// Goes through all of the tree.
  ///
  /// - Parameter goOn: asked now and then with what was found so far; false ends the walk
  /// - Returns: whether it came to the end
  mutating func run(_ goOn: (PhotoFindings) -> Bool) -> Bool {
    list(0, prefix: [])
    var steps = 0
    while var frame = frames.popLast() {
      guard frame.position < frame.items.count else { continue }
      let item = frame.items[frame.position]
      frame.position += 1
      let (directory, prefix) = (frame.directory, frame.prefix)
      // Directories on the way are let go once their last item is under way.
      if frame.position < frame.items.count { frames.append(consume frame) }
      visit(item, in: directory, path: prefix + item.name)
      steps += 1
      if steps % 256 == 0, !goOn(found) { return false }
    }
    return goOn(found)
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
      // Gone since it was listed: as if it had not been there.
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
    // Another thing than a moment ago.
    case .link: throw .link
    case .directory, .special: throw .special
    }
    guard stamp.size > 0 else { throw .empty }
    found.bytes += min(stamp.size, .max - found.bytes)
    found.entries.append(
      PhotoEntry(directory: directory, name: name, size: stamp.size, modified: stamp.modified))
  }

  private mutating func enter(_ name: String, in parent: Int, path: [UInt8]) throws(OpenFile.Fault) {
    guard found.tree.directories[parent].depth < Self.deepest else {
      throw OpenFile.Fault("deeper than \(Self.deepest) directories")
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
