import SatchelCore
import SatchelSync
import SatchelStorage

/// References between records, and references to deleted records.
extension RecordApplication {
  // MARK: References to deleted records

  /// Decides about items that refer to deleted records, by `onDelete` of the relations.
  ///
  /// - Returns: whether anything has changed
  mutating func resolveDeletedTargets(_ items: inout [Item]) throws -> Bool {
    var (rest, hasChanged) = ([Item](), false)
    for var item in items where try !resolve(&item, &hasChanged) { rest.append(item) }
    items = rest
    return hasChanged
  }

  /// - Returns: whether the item is decided
  private mutating func resolve(_ item: inout Item, _ hasChanged: inout Bool) throws -> Bool {
    while case .missing(let relation, let target)? = item.obstacle,
      let key = try key(of: target, relation), try isDeleted(key)
    {
      switch relation.onDelete {
      case .cascade:
        try cascade(&item)
        hasChanged = true
        return true
      case .nullify:
        item.content.document = try item.content.document?.withUnsafeBytes {
          try Deletion.body($0, without: [target], relation)
        }
        item.decision = .merged
      case .restrict:
        guard try putBack(key, target, relation: relation) else { return false }
      }
      hasChanged = true
      item.obstacle = try obstacle(item) ?? apply(item)
      if item.obstacle == nil { return true }
    }
    return false
  }

  /// Whether a record was deleted, locally or remotely; false for one that was not received yet.
  private func isDeleted(_ key: SyncKey) throws -> Bool {
    guard let position = positions[key] else { return try tracker.isDeleted(key) }
    switch decisions[position] {
    case .match, .apply, .keep, .merged, .resend: return true
    case .conflict, .waiting: return false
    }
  }

  /// Deletes the record of an item, because a record that it refers to was deleted.
  private mutating func cascade(_ item: inout Item) throws {
    let isLocal = item.local?.document != nil && item.entry.isChanged
    try noteLost(isLocal ? .local : .remote, item)
    let deletion = SyncContent(
      document: nil, revision: max(item.local?.revision ?? 0, item.content.revision) + 1,
      created: item.content.created, modified: work.now)
    try item.key { key in
      if let row = try work.find(key, in: item.collection).row {
        try delete([Deletion.Item(row: row, key: Array(key), collection: item.collection)])
      } else {
        try tracker.noteDeletion(key, in: item.collection.name, deletion)
      }
    }
    decisions[item.position] = .merged
  }

  /// Writes the last synced version of a deleted record again, as a change to send.
  private mutating func putBack(
    _ key: SyncKey, _ target: [UInt8], relation: CollectionRelation
  ) throws -> Bool {
    let collection = try work.collection(relation.target)
    guard let base = try tracker.base(key)?.unlessLocked, base.version == collection.version,
      let document = base.content.document
    else { return false }
    do {
      try target.withUnsafeBytes { target in
        _ = try document.withUnsafeBytes { try work.put(target, $0, in: collection) }
      }
    } catch let error as SatchelError where error.isRejectedDocument {
      return false
    }
    let deletion = SyncContent(
      document: nil, revision: base.content.revision + 1, created: base.content.created, modified: work.now)
    try noteLost(
      .local, key.id, in: collection,
      versions: RecordConflicts.Versions(
        local: deletion, remote: nil, base: base.bytes, sealing: try work.sealing(collection)))
    noteChange(key)
    return true
  }

  // MARK: Records that a deletion changes as well

  /// Deletes records, and applies the relations to them.
  ///
  /// - Parameter afterVersions: whether to fail while a version of a referring record remains to be applied:
  ///   that version may no longer refer to them
  /// - Throws: `SatchelError` when one of them must not be deleted, and nothing is changed
  mutating func delete(_ records: [Deletion.Item], afterVersions: Bool = false) throws {
    var deletion = Deletion(work)
    try deletion.find(records)
    if let restriction = try deletion.restrictions().first { throw restriction.error }
    if afterVersions, let key = try versions(before: deletion).first {
      throw SatchelError(
        .constraint,
        "\(String(decoding: records.first?.key ?? [], as: UTF8.self)): can be deleted only after \(key) is changed",
        underlying: BlockingRecord(name: "\(key)"))
    }
    try deletion.carryOut { try noteCascade($0, $1, in: $2) }
    for key in deletion.changed {
      let name = try work.collection(key.collection).name
      noteChange(try SyncKey(name, String(decoding: key.key, as: UTF8.self)))
    }
  }

  /// The records that a deletion also deletes or changes, and that have a version to apply.
  func versions(before deletion: Deletion) throws -> [SyncKey] {
    try deletion.affected().compactMap { record in
      let collection = try work.collection(record.collection)
      guard try collection.isSynchronized else { return nil }
      let key = try SyncKey(collection.name, String(decoding: record.key, as: UTF8.self))
      guard let position = positions[key] else {
        return try tracker.waiting(key).flatMap { $0.content.isDeleted ? nil : key }
      }
      let isApplied = decisions[position] != .waiting || entries[position].remote?.content.isDeleted ?? true
      return isApplied ? nil : key
    }
  }

  /// Keeps a record that a remote deletion would delete by a relation, unless it was deleted remotely as
  /// well.
  private mutating func noteCascade(_ key: [UInt8], _ row: Int64, in collection: CollectionState) throws {
    let id = String(decoding: key, as: UTF8.self)
    let name = try SyncKey(collection.name, id)
    guard try collection.isSynchronized else { return }
    let isDeleted = positions[name].map { entries[$0].remote?.content.isDeleted ?? true } ?? false
    guard try !isDeleted || tracker.isPending(name) else { return }
    let versions = RecordConflicts.Versions(
      // Without the key of sensitive fields only the deletion is known.
      local: try? key.withUnsafeBytes { try work.content(row, $0, in: collection) }, remote: nil,
      base: try tracker.base(name)?.unlessLocked?.bytes, sealing: try work.sealing(collection))
    try noteLost(.local, id, in: collection, versions: versions)
  }

  /// Marks a record as changed by a relation as well: the decision about its entry is no longer its only
  /// change.
  private mutating func noteChange(_ key: SyncKey) {
    changed.append(key)
    guard let position = positions[key] else { return }
    switch decisions[position] {
    case .apply, .match: decisions[position] = .merged
    case .keep, .merged, .resend, .conflict, .waiting: break
    }
  }

  // MARK: Discarded versions

  /// Stores both versions of a record, one of which is discarded, in the conflict log.
  mutating func noteLost(_ side: ConflictSide, _ item: Item) throws {
    try noteLost(side, item.entry.key.id, in: item.collection, versions: versions(item))
  }

  private mutating func noteLost(
    _ side: ConflictSide, _ id: String, in collection: CollectionState, versions: RecordConflicts.Versions
  ) throws {
    try conflicts.noteLost(side, id, in: collection.id, versions: versions, time: work.now)
    lost += 1
  }
}

extension SyncKey {
  /// The key of a record by its name, "collection/id".
  init?(name: String) {
    guard let slash = name.firstIndex(of: "/") else { return nil }
    guard let key = try? SyncKey(String(name[..<slash]), String(name[name.index(after: slash)...])) else {
      return nil
    }
    self = key
  }
}
