extension DirectoryStore {
  public func list(
    _ prefix: ObjectPrefix, from continuation: ObjectPage.Continuation?, limit: Int,
    cancellation: Cancellation
  ) throws(ObjectStoreError) -> ObjectPage {
    var walk = DirectoryWalk(
      tree, prefix: Array(prefix.text.utf8), after: continuation.map { Array($0.text.utf8) },
      limit: min(max(limit, 1), 1000), cancellation: cancellation)
    try walk.visit(tree.root, path: "")
    let next = walk.isFull ? walk.entries.last.map { ObjectPage.Continuation($0.key.text) } : nil
    return ObjectPage(entries: walk.entries, skipped: walk.skipped, next: next)
  }
}
