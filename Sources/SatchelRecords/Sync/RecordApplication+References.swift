import SatchelCore
import SatchelRemote
import SatchelStorage

/// Records that refer to each other, or to what was deleted.
extension RecordApplication {
  // MARK: Records that refer to each other

  /// Applies items that lack nothing but each other, all or none.
  ///
  /// - Returns: the rest
  mutating func applyTogether(_ items: [Item]) throws -> [Item] {
    var group = items.filter { if case .missing? = $0.obstacle { true } else { false } }
    while true {
      let count = group.count
      let offered = Set(group.map(\.entry.key.description))
      group = try group.filter { item in
        try references(item).allSatisfy { reference in
          try exists(reference.target, reference.relation)
            || offered.contains(name(of: reference.target, reference.relation))
        }
      }
      if group.isEmpty { return items }
      if group.count < count { continue }
      guard let refused = try applyAll(group) else { break }
      group.remove(at: refused)
    }
    let applied = Set(group.map(\.position))
    return items.filter { !applied.contains($0.position) }
  }

  /// - Returns: nil when all are applied; else the one that was refused, and nothing is changed
  private mutating func applyAll(_ group: [Item]) throws -> Int? {
    struct Refused: Error { var index: Int }
    let before = decisions
    do {
      try work.store.database.write { _ in
        work.enterScope()
        for (index, item) in group.enumerated() {
          if try apply(item) != nil { throw Refused(index: index) }
        }
      }
      return nil
    } catch let refused as Refused {
      decisions = before
      return refused.index
    }
  }

  // MARK: References to what was deleted

  /// Decides about items that refer to deleted records, as the relations say.
  ///
  /// - Returns: the rest
  mutating func settleMissing(_ items: [Item]) throws -> [Item] {
    var rest: [Item] = []
    for var item in items where try !settle(&item) { rest.append(item) }
    return rest
  }

  /// - Returns: whether the item is decided
  private mutating func settle(_ item: inout Item) throws -> Bool {
    while case .missing(let relation, let target)? = item.obstacle,
      let key = SyncKey(name: try name(of: target, relation)), try isDeleted(key)
    {
      switch relation.onDelete {
      case .cascade:
        try cascade(&item)
        return true
      case .nullify:
        item.content.document = try item.content.document?.withUnsafeBytes {
          try Deletion.body($0, without: [target], relation)
        }
        item.decision = .merged
      case .restrict:
        guard try putBack(target, relation) else { return false }
      }
      item.obstacle = try obstacle(item) ?? apply(item)
      if item.obstacle == nil { return true }
    }
    return false
  }

  /// Whether a record was deleted, here or in the remote, and did not merely not arrive yet.
  private func isDeleted(_ key: SyncKey) throws -> Bool {
    guard let position = positions[key] else { return try tracker.isDeleted(key) }
    switch decisions[position] {
    case .match, .apply, .keep, .merged, .resend: return true
    case .conflict, .waiting: return false
    }
  }

  /// Deletes the record that an item is about: what it refers to was deleted.
  private mutating func cascade(_ item: inout Item) throws {
    if item.local?.document != nil, item.entry.isChanged {
      try conflicts.noteLost(item.entry.key.id, in: item.collection.id, versions(item), time: work.now)
    }
    let deletion = SyncContent(
      document: nil, revision: max(item.local?.revision ?? 0, item.content.revision) + 1,
      created: item.content.created, modified: work.now)
    try item.key { key in
      if try !work.delete(key, from: item.collection, willCascade: { try noteCascade($0, $1, $2) }) {
        try tracker.noteDeletion(key, in: item.collection.name, deletion)
      }
    }
    decisions[item.position] = .merged
  }

  /// Writes the last synced version of a deleted record again, as a change to send.
  private mutating func putBack(_ target: [UInt8], _ relation: CollectionShape.Relation) throws -> Bool {
    let collection = try work.collection(relation.target)
    guard let key = SyncKey(name: try name(of: target, relation)), let base = try tracker.base(key),
      base.version == collection.row.version, let document = base.content.document
    else { return false }
    do {
      try target.withUnsafeBytes { target in
        _ = try document.withUnsafeBytes { try work.put(target, $0, in: collection) }
      }
      return true
    } catch let error as SatchelError where error.isRejectedDocument {
      return false
    }
  }
}

extension SyncKey {
  /// The key of a record by its name, "collection/id".
  fileprivate init?(name: String) {
    guard let slash = name.firstIndex(of: "/") else { return nil }
    guard let key = try? SyncKey(String(name[..<slash]), String(name[name.index(after: slash)...])) else {
      return nil
    }
    self = key
  }
}
