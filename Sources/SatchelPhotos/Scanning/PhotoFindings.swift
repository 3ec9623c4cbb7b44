/// What a walk through a directory found.
struct PhotoFindings: Sendable {
  var tree: PhotoTree
  /// In the order of their paths' bytes.
  var entries: [PhotoEntry] = []
  /// Of all entries.
  var bytes: Int64 = 0
  /// What was not taken, with its reason.
  var skipped: [(path: [UInt8], reason: String)] = []
  /// What is there but was not looked at: nothing can be said of files at and under these paths.
  var unread: Set<[UInt8]> = []

  mutating func skip(_ path: [UInt8], _ reason: String) {
    unread.insert(path)
    skipped.append((path, reason))
  }

  /// Whether nothing is known of a path, because it, or a directory on the way to it, could not be looked at.
  func isUnread(_ path: [UInt8]) -> Bool {
    guard !unread.isEmpty else { return false }
    if unread.contains([]) || unread.contains(path) { return true }
    return path.indices.contains { path[$0] == UInt8(ascii: "/") && unread.contains(Array(path[..<$0])) }
  }
}
