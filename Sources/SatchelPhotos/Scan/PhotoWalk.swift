import SatchelCore
import SatchelStorage

/// Walks a tree, and finds its photos, and the films and sidecars, in the order of their paths' bytes.
///
/// Uses no recursion, and holds one directory open at a time. Opens nothing but directories.
struct PhotoWalk: ~Copyable {
  /// Deeper directories are reported as skipped.
  static let maxDepth = 4096

  private(set) var found: PhotoFindings
  private var cursor: DirectoryCursor
  private var frames: [Frame] = []
  /// The rules of the caller, which are relative to the root.
  private let exclude: ScanRules

  /// A directory whose items are being visited.
  private struct Frame {
    var directory: Int
    var items: [DirectoryListing.Item]
    var position = 0
    /// The prefix of paths in it.
    var prefix: [UInt8]
    /// The rules of its path's directories.
    var rules: ScanRules
  }

  /// - Parameter exclude: rules that are relative to the root
  init(_ root: PhotoRoot, exclude: ScanRules = ScanRules()) {
    found = PhotoFindings(tree: PhotoTree(root: root.stamp))
    self.exclude = exclude
    cursor = DirectoryCursor(root)
  }

  /// Walks the whole tree.
  ///
  /// - Parameter shouldContinue: called regularly with what was found so far; false ends the walk
  /// - Returns: whether the walk is complete
  mutating func run(_ shouldContinue: (PhotoFindings) -> Bool) -> Bool {
    list(0, prefix: [], rules: ScanRules())
    var steps = 0
    while var frame = frames.popLast() {
      guard frame.position < frame.items.count else { continue }
      let item = frame.items[frame.position]
      frame.position += 1
      let (directory, prefix, rules) = (frame.directory, frame.prefix, frame.rules)
      // A directory's frame is dropped before its last item is visited.
      if frame.position < frame.items.count { frames.append(consume frame) }
      if excludes(item, in: prefix, rules) {
        found.excluded += 1
      } else {
        visit(item, in: directory, path: prefix + item.name, rules: rules)
      }
      steps += 1
      if steps % 256 == 0, !shouldContinue(found) { return false }
    }
    return shouldContinue(found)
  }

  private func excludes(_ item: DirectoryListing.Item, in prefix: [UInt8], _ rules: ScanRules) -> Bool {
    let isDirectory = item.kind == .directory
    return exclude.excludes(item.name, in: prefix, isDirectory: isDirectory)
      ?? rules.excludes(item.name, in: prefix, isDirectory: isDirectory)
      ?? (isDirectory && ScanRules.isOfSystem(item.name))
  }

  private mutating func visit(
    _ item: DirectoryListing.Item, in directory: Int, path: [UInt8], rules: ScanRules
  ) {
    switch item.kind {
    case .link: return found.skip(path, OpenFile.Fault.link.reason)
    case .special: return found.skip(path, OpenFile.Fault.special.reason)
    case .file(nil): return found.addOther(item.name)
    case .directory, .file: break
    }
    guard let name = String(validating: item.name, as: UTF8.self) else {
      return found.skip(path, "its name is not UTF-8")
    }
    do throws(OpenFile.Fault) {
      if case .file(let kind?) = item.kind {
        try look(at: name, kind, in: directory)
      } else {
        try enter(name, in: directory, path: path, rules: rules)
      }
    } catch {
      // Deleted since it was listed: not reported.
      if !error.isAbsent { found.skip(path, error.reason) }
    }
  }

  private mutating func look(at name: String, _ kind: FileKind, in directory: Int) throws(OpenFile.Fault) {
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
    let entry = PhotoEntry(
      directory: directory, name: name, size: stamp.size, modified: stamp.modified, changed: stamp.changed)
    guard kind == .photo else { return found.companions.append((entry, kind)) }
    found.bytes += min(stamp.size, .max - found.bytes)
    found.entries.append(entry)
  }

  private mutating func enter(
    _ name: String, in parent: Int, path: [UInt8], rules: ScanRules
  ) throws(OpenFile.Fault) {
    guard found.tree.directories[parent].depth < Self.maxDepth else {
      throw OpenFile.Fault("deeper than \(Self.maxDepth) directories")
    }
    let file = try OpenFile.directory(name, in: cursor.enter(parent, of: found.tree))
    let stamp = try file.stamp()
    guard !found.tree.isLoop(stamp, under: parent) else {
      throw OpenFile.Fault("one of the directories that it is in: a loop")
    }
    list(found.tree.add(name, in: parent, stamp: stamp), prefix: path + [UInt8(ascii: "/")], rules: rules)
  }

  private mutating func list(_ directory: Int, prefix: [UInt8], rules: ScanRules) {
    do throws(OpenFile.Fault) {
      let listing = try DirectoryListing(of: cursor.enter(directory, of: found.tree))
      // Who names a directory wants to have it looked at.
      if listing.isMarkedEmpty, directory != 0 {
        found.excluded += 1
        return
      }
      var rules = rules
      if listing.hasRules { try addRules(to: &rules, of: directory, prefix: prefix) }
      if !listing.items.isEmpty {
        frames.append(Frame(directory: directory, items: listing.items, prefix: prefix, rules: rules))
      }
    } catch {
      found.skip(Array(prefix.dropLast()), error.reason)
    }
  }

  /// A file of rules that cannot be read leaves the whole directory out: what it would exclude is not known.
  private mutating func addRules(
    to rules: inout ScanRules, of directory: Int, prefix: [UInt8]
  ) throws(OpenFile.Fault) {
    let name = ScanRules.fileName
    do throws(OpenFile.Fault) {
      let lines = try OpenFile.file(name, in: cursor.enter(directory, of: found.tree)).bytes(
        ScanRules.maxSize)
      rules.add(lines, base: prefix.count)
    } catch {
      throw OpenFile.Fault("\(name): \(error.reason)")
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
  /// The films and sidecars, in the same order.
  var companions: [(entry: PhotoEntry, kind: FileKind)] = []
  /// The numbers of other files, by the extensions of their names.
  private(set) var others: [String: Int64] = [:]
  /// The number of items that rules have left out.
  var excluded: Int64 = 0
  /// The items that were skipped, and the reasons.
  var skipped: [(path: [UInt8], reason: String)] = []
  /// Paths that exist but were not read: the state of files at and under them is unknown.
  var unread: Set<[UInt8]> = []

  /// More extensions are counted together, as "other".
  private static let maxOthers = 100

  /// Whether there is no file at all, as in the empty directory that a disk is mounted at.
  var isEmpty: Bool {
    entries.isEmpty && companions.isEmpty && others.isEmpty && skipped.isEmpty && excluded == 0
  }

  /// Counts a file of a format that no scan reads.
  mutating func addOther(_ name: [UInt8]) {
    let suffix = FileName.suffix(name)
    let isText =
      !suffix.isEmpty && suffix.allSatisfy { (0x30...0x39).contains($0) || (0x61...0x7A).contains($0) }
    let key = isText ? String(decoding: suffix, as: UTF8.self) : "other"
    others[others[key] == nil && others.count >= Self.maxOthers ? "other" : key, default: 0] += 1
  }

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
