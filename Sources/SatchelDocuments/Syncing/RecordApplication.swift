import SatchelCore
import SatchelJSON
import SatchelSync
import SatchelStorage

/// Decides about entries of the sync log, and changes the records accordingly, in one transaction.
///
/// An entry that cannot be applied waits, and does not stop the others: every rule of a collection (schema,
/// unique indexes, relations) is checked for one record at a time, before it is changed. Records are applied
/// in an order that the rules allow, and groups that are only valid together in one step.
struct RecordApplication {
  /// An entry, and the decision about it.
  struct Item {
    let position: Int
    let entry: SyncUndecided
    let collection: CollectionState
    let local: SyncContent?
    /// The new content of the record.
    var content: SyncContent
    /// The decision, if it can be applied.
    var decision: SyncDecision
    /// The side whose content is discarded.
    var lost: ConflictSide?
    /// The reason why the last attempt to apply it failed.
    var obstacle: Obstacle?
    /// The reason why it could not be applied together with others, if known.
    var reason: Obstacle?
  }

  /// The reason why an entry cannot be applied.
  enum Obstacle {
    /// Only another version of it, or another declaration, can be applied.
    case refused(SatchelError)
    /// A record that it refers to does not exist.
    case missing(CollectionRelation, target: [UInt8])
    /// Another record has the same unique value, or refers to the record to delete.
    case blocked(by: SyncKey, SatchelError)
  }

  let work: RecordWork
  let entries: [SyncUndecided]
  var connection: Connection { work.connection }
  var tracker: SyncTracker {
    get throws {
      guard let tracker = try work.tracker() else {
        throw SatchelError(.internal, "records: the store is not bound to a sync log")
      }
      return tracker
    }
  }
  var conflicts: RecordConflicts { RecordConflicts(connection) }
  private var collections: [String: CollectionState] = [:]
  private var migrating: [Int64: MigratingContent] = [:]
  var decisions: [SyncDecision]
  /// The number of discarded versions.
  var lost = 0
  let positions: [SyncKey: Int]
  /// The records that the latest deletion has changed as well.
  var changed: [SyncKey] = []
  private let hasUndecided: Bool

  init(_ work: RecordWork, _ entries: [SyncUndecided]) throws {
    self.work = work
    self.entries = entries
    decisions = entries.map { _ in .waiting }
    positions = Dictionary(
      entries.enumerated().map { ($0.element.key, $0.offset) }, uniquingKeysWith: { first, _ in first })
    hasUndecided = try ConflictLog(work.connection).hasUndecided()
  }

  mutating func run() throws -> SyncDecisions {
    // The record that has a value decides whether another one waits for it.
    work.checksUniqueAtOnce = true
    defer { work.checksUniqueAtOnce = false }
    var open: [Item] = []
    for (position, entry) in entries.enumerated() {
      if let item = try decide(position, entry) { open.append(item) }
    }
    // Deletions are in reverse order: records that refer to a record are deleted before it.
    var rest = open.filter { !$0.content.isDeleted } + open.filter(\.content.isDeleted).reversed()
    while true {
      rest = try applyTogether(applyEach(rest))
      guard try resolveDeletedTargets(&rest) else { break }
    }
    for item in rest where !item.content.isDeleted { try wait(item) }
    try refuseDeletions(rest.filter(\.content.isDeleted))
    return SyncDecisions(decisions: decisions, lost: lost)
  }

  /// Ends items whose records must not be deleted while others refer to them. A deletion waits while a
  /// waiting version of the referring record exists; otherwise the record stays, and is sent again.
  private mutating func refuseDeletions(_ items: [Item]) throws {
    let indices = Dictionary(items.enumerated().map { ($1.entry.key, $0) }, uniquingKeysWith: { $1 })
    var waits = [Bool?](repeating: nil, count: items.count)
    var isOnPath = [Bool](repeating: false, count: items.count)
    for start in items.indices where waits[start] == nil {
      isOnPath[start] = true
      var (path, verdict) = ([start], Bool?.none)
      while verdict == nil {
        let item = items[path[path.count - 1]]
        guard case .blocked(let key, _)? = item.reason ?? item.obstacle else { break }
        if let next = indices[key] {
          // In a cycle all records are kept.
          verdict = waits[next] ?? (isOnPath[next] ? false : nil)
          isOnPath[next] = true
          path.append(next)
        } else {
          verdict = try isWaiting(key)
        }
      }
      for index in path where waits[index] == nil { waits[index] = verdict ?? false }
    }
    for (item, waits) in zip(items, waits) {
      if waits == true {
        try wait(item)
      } else {
        try noteLost(.remote, item)
        decisions[item.position] = .keep
      }
    }
  }

  private func isWaiting(_ key: SyncKey) throws -> Bool {
    guard let position = positions[key] else { return try tracker.waiting(key) != nil }
    return decisions[position] == .waiting
  }

  // MARK: Deciding

  private mutating func collection(_ name: String) throws -> CollectionState? {
    if let known = collections[name] { return known }
    guard let id = try CollectionState.id(of: name, connection) else { return nil }
    let collection = try work.collection(id)
    collections[name] = collection
    return collection
  }

  /// Decides about an entry; returns an item if records are to be changed.
  private mutating func decide(_ position: Int, _ entry: SyncUndecided) throws -> Item? {
    guard let collection = try collection(entry.key.collection) else { return nil }
    if hasUndecided { try conflicts.log.end(entry.key.id, in: collection.id) }
    if let waiting = try waiting(position, entry, in: collection) {
      try wait(waiting)
      return nil
    }
    let local = try local(entry, collection)
    // A deletion whose tombstone was compacted away counts as a deletion.
    let deletion = SyncContent(
      document: nil, revision: entry.base?.content.revision ?? 0, created: entry.base?.content.created ?? 0,
      modified: entry.base?.content.modified ?? 0)
    var item = Item(
      position: position, entry: entry, collection: collection, local: local,
      content: entry.remote?.content ?? deletion, decision: .apply)
    do {
      var migrating = self.migrating[collection.id] ?? MigratingContent(collection, work)
      defer { self.migrating[collection.id] = migrating }
      let remote = try entry.remote.map { try migrating.version($0) } ?? RecordVersion(deletion)
      let base = try (entry.base?.unlessLocked).map { try migrating.version($0) }
      item.content = remote.content
      let decision = try RecordDecision.decide(
        local: local.map { RecordVersion($0) }, isChanged: entry.isChanged, base: base, remote: remote,
        policy: try collection.rules.onConflict)
      switch decision {
      case .match: decisions[position] = .match
      case .keep(let isLost):
        if isLost { try noteLost(.remote, item) }
        decisions[position] = .keep
      case .apply(let isLost):
        item.lost = isLost ? .local : nil
        return item
      case .merge(let content, let lost):
        (item.content, item.lost, item.decision) = (content, lost, .merged)
        return item
      case .ask where entry.remote == nil:
        // The tombstone was dropped: there is nothing left to decide about.
        try noteLost(.remote, item)
        decisions[position] = .keep
      case .ask:
        try conflicts.open(entry.key.id, in: collection.id, versions(item), time: work.now)
        decisions[position] = .conflict
      }
    } catch let error as SatchelError {
      item.obstacle = .refused(error)
      try wait(item)
    } catch let error as JSONError {
      item.obstacle = .refused(SatchelError(.invalid, "\(entry.key): \(error)", underlying: error))
      try wait(item)
    }
    return nil
  }

  /// An item that waits for the key of the store; nil when it is set, or not needed.
  private func waiting(
    _ position: Int, _ entry: SyncUndecided, in collection: CollectionState
  ) throws -> Item? {
    guard let path = try collection.rules.sensitive.paths.first else { return nil }
    do {
      _ = try work.sealingKey(collection, "\(entry.key): \(path.pointer)")
      return nil
    } catch let error as SatchelError where error.code == .unauthorized {
      var item = Item(
        position: position, entry: entry, collection: collection, local: nil,
        content: entry.remote?.content ?? SyncContent(document: nil), decision: .apply)
      item.obstacle = .refused(error)
      return item
    }
  }

  /// The local content; nil when there never was a record.
  private func local(_ entry: SyncUndecided, _ collection: CollectionState) throws -> SyncContent? {
    if let content = try content(of: entry.key.id, in: collection) { return content }
    if let deletion = entry.deletion { return deletion }
    guard let base = entry.base?.content, base.isDeleted else { return nil }
    return base
  }

  /// The content of a record; nil when there is none.
  func content(of id: String, in collection: CollectionState) throws -> SyncContent? {
    var id = id
    return try id.withUTF8 { key in
      guard let row = try work.find(UnsafeRawBufferPointer(key), in: collection).row else { return nil }
      return try work.content(row, UnsafeRawBufferPointer(key), in: collection)
    }
  }

  func versions(_ item: Item) throws -> RecordConflicts.Versions {
    RecordConflicts.Versions(
      local: item.local, remote: item.entry.remote?.bytes, base: item.entry.base?.unlessLocked?.bytes,
      sealing: try work.sealing(item.collection))
  }

  private mutating func wait(_ item: Item) throws {
    let (error, other): (SatchelError, String?)
    switch item.reason ?? item.obstacle {
    case .refused(let refused)?: (error, other) = (refused, nil)
    case .blocked(let key, let refused)?: (error, other) = (refused, key.description)
    case .missing(let relation, let target)?:
      let name = try name(of: target, relation)
      error = SatchelError(
        .constraint, "\(item.entry.key): \(relation.path.pointer): there is no \(name)"
      ).at(.blocked(by: name)).at(pointer: relation.path.pointer)
      other = name
    case nil: (error, other) = (SatchelError(.internal, "\(item.entry.key): was not applied"), nil)
    }
    try conflicts.wait(
      item.entry.key.id, in: item.collection.id, try versions(item), because: error, for: other,
      time: work.now)
    work.hasWaiting = true
    decisions[item.position] = .waiting
  }

  func name(of target: [UInt8], _ relation: CollectionRelation) throws -> String {
    "\(try work.collection(relation.target).name)/\(String(decoding: target, as: UTF8.self))"
  }

  /// The key of a target; nil for a value that is not an id.
  func key(of target: [UInt8], _ relation: CollectionRelation) throws -> SyncKey? {
    try? SyncKey(try work.collection(relation.target).name, String(decoding: target, as: UTF8.self))
  }

  // MARK: Applying

  /// Applies the items that can be applied individually. An item that is blocked by another one is tried
  /// again after that, so that chains take time in proportion to their length, whatever the order.
  ///
  /// - Returns: the rest, with the obstacles
  private mutating func applyEach(_ items: [Item]) throws -> [Item] {
    var (rest, blocked) = ([Int: Item](), [SyncKey: [Int]]())
    var (queue, next) = (items, 0)
    while next < queue.count {
      var item = queue[next]
      next += 1
      changed = []
      item.obstacle = try obstacle(item) ?? apply(item)
      guard let obstacle = item.obstacle else {
        for key in changed + [item.entry.key] {
          let woken = blocked.removeValue(forKey: key) ?? []
          queue += woken.compactMap { rest.removeValue(forKey: $0) }
        }
        continue
      }
      rest[item.position] = item
      if let key = try key(of: obstacle) { blocked[key, default: []].append(item.position) }
    }
    return items.compactMap { rest[$0.position] }
  }

  private func key(of obstacle: Obstacle) throws -> SyncKey? {
    switch obstacle {
    case .refused: nil
    case .missing(let relation, let target): try key(of: target, relation)
    case .blocked(let key, _): key
    }
  }

  /// The first record that an item refers to and that does not exist.
  func obstacle(_ item: Item) throws -> Obstacle? {
    for reference in try references(item) where try !exists(reference.target, reference.relation) {
      return .missing(reference.relation, target: reference.target)
    }
    return nil
  }

  func references(
    _ item: Item
  ) throws -> [(relation: CollectionRelation, target: [UInt8])] {
    guard let document = item.content.document, try !item.collection.rules.relations.isEmpty else {
      return []
    }
    return try document.withUnsafeBytes { document in
      try item.collection.rules.relations.flatMap { relation in
        // A value that is not a reference is rejected when the record is written.
        let targets = try? item.key {
          try RecordWork.targets(of: document, relation, $0, in: item.collection)
        }
        return (targets ?? []).map { (relation, $0) }
      }
    }
  }

  func exists(_ target: [UInt8], _ relation: CollectionRelation) throws -> Bool {
    let collection = try work.collection(relation.target)
    return try target.withUnsafeBytes { try work.find($0, in: collection).row } != nil
  }

  /// Applies an item whose references exist.
  ///
  /// - Returns: nil when it is applied
  mutating func apply(_ item: Item) throws -> Obstacle? {
    do {
      if let document = item.content.document {
        _ = try item.key { key in
          try document.withUnsafeBytes { document in
            try naming("\(item.entry.key)") { try JSONScanner.check(document) }
            return try work.put(
              key, document, in: item.collection, from: item.content, isChange: item.decision == .merged)
          }
        }
      } else if let row = try item.key({ try work.find($0, in: item.collection).row }) {
        try delete(
          [Deletion.Item(row: row, key: item.key { Array($0) }, collection: item.collection)],
          afterVersions: true)
      }
    } catch let error as SatchelError where error.isRejectedDocument {
      if let key = (error.underlying as? BlockingRecord).flatMap({ SyncKey(name: $0.name) }) {
        return .blocked(by: key, error)
      }
      return .refused(error)
    }
    try noteApplied(item)
    return nil
  }

  mutating func noteApplied(_ item: Item) throws {
    if let side = item.lost { try noteLost(side, item) }
    decisions[item.position] = item.decision
  }
}

extension RecordApplication.Item {
  /// Calls `body` with the record's id in UTF-8.
  func key<Result>(_ body: (UnsafeRawBufferPointer) throws -> Result) rethrows -> Result {
    var id = entry.key.id
    return try id.withUTF8 { try body(UnsafeRawBufferPointer($0)) }
  }
}

extension RecordTable {
  /// The content of a record as it is stored; nil when it does not exist.
  func content(_ row: Int64) throws -> (content: SyncContent, isSealed: Bool)? {
    try connection.first(
      "SELECT body, revision, created, modified, is_sealed FROM record WHERE id = ?", .integer(row)
    ) {
      let content = SyncContent(
        document: Array($0.bytes(0)), revision: try $0.integer(1, in: RecordRow.revisions),
        created: try $0.integer(2), modified: try $0.integer(3))
      return (content, $0.flag(4))
    }
  }
}
