import SatchelCore
import SatchelJSON
import SatchelRemote
import SatchelStorage

/// Sets entries of the sync log against the records, and changes the records accordingly, in one transaction.
///
/// What cannot be applied waits, and never stops the rest: every rule of a collection (schema, unique indexes,
/// relations) is checked for one record at a time, before it is changed. Records that refer to each other are applied in
/// whatever order the rules allow.
struct RecordApplication {
  /// An entry, and what is to become of it.
  struct Item {
    let position: Int
    let entry: SyncUndecided
    let collection: WorkingCollection
    let local: SyncContent?
    /// The content that the record is to have.
    var content: SyncContent
    /// The decision, if it can be applied.
    var decision: SyncDecision
    /// Whether local content is discarded.
    var isLost: Bool
    /// Why it could not be applied when it was last tried.
    var obstacle: Obstacle?
  }

  /// Why an entry cannot be applied.
  enum Obstacle {
    case refused(SatchelError)
    /// A record that it refers to does not exist.
    case missing(CollectionShape.Relation, target: [UInt8])
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
  var conflicts: ConflictTable { ConflictTable(connection: connection) }
  private var collections: [String: WorkingCollection] = [:]
  private var migrating: [Int64: MigratingContent] = [:]
  var decisions: [SyncDecision]
  let positions: [SyncKey: Int]
  private let hasUndecided: Bool

  init(_ work: RecordWork, _ entries: [SyncUndecided]) throws {
    self.work = work
    self.entries = entries
    decisions = entries.map { _ in .waiting }
    positions = Dictionary(
      entries.enumerated().map { ($0.element.key, $0.offset) }, uniquingKeysWith: { first, _ in first })
    hasUndecided = try ConflictTable(connection: work.connection).hasUndecided()
  }

  mutating func run() throws -> [SyncDecision] {
    var open: [Item] = []
    for (position, entry) in entries.enumerated() {
      if let item = try decide(position, entry) { open.append(item) }
    }
    // Deletions in reverse: what refers to a record is deleted before it.
    var (puts, deletions) = (open.filter { !$0.content.isDeleted }, open.filter(\.content.isDeleted))
    deletions.reverse()
    while true {
      let count = puts.count + deletions.count
      puts = try applyEach(puts)
      deletions = try applyEach(deletions)
      if puts.count + deletions.count == count {
        puts = try applyTogether(puts)
        puts = try settleMissing(puts)
        if puts.count + deletions.count == count { break }
      }
      if puts.isEmpty, deletions.isEmpty { break }
    }
    for item in puts { try wait(item) }
    // A record that must not be deleted while another one refers to it stays, and is sent again.
    for item in deletions { decisions[item.position] = .keep }
    return decisions
  }

  // MARK: Deciding

  private mutating func collection(_ name: String) throws -> WorkingCollection? {
    if let known = collections[name] { return known }
    guard let id = try CollectionRow.id(of: name, connection) else { return nil }
    let collection = try work.collection(id)
    collections[name] = collection
    return collection
  }

  /// Decides about an entry; returns an item if records are to be changed.
  private mutating func decide(_ position: Int, _ entry: SyncUndecided) throws -> Item? {
    guard let collection = try collection(entry.key.collection) else { return nil }
    if hasUndecided { try conflicts.end(entry.key.id, in: collection.id) }
    let local = try local(entry, collection)
    // What was deleted so long ago that the deletion is gone is a deletion.
    let deletion = SyncContent(
      document: nil, revision: entry.base?.content.revision ?? 0, created: entry.base?.content.created ?? 0,
      modified: entry.base?.content.modified ?? 0)
    var item = Item(
      position: position, entry: entry, collection: collection, local: local,
      content: entry.remote?.content ?? deletion, decision: .apply, isLost: false)
    do {
      var migrating = self.migrating[collection.id] ?? MigratingContent(collection, work)
      defer { self.migrating[collection.id] = migrating }
      let remote = try entry.remote.map { try migrating.version($0) } ?? RecordVersion(deletion)
      let base = try entry.base.map { try migrating.version($0) }
      item.content = remote.content
      let decision = try RecordDecision.decide(
        local: local.map { RecordVersion($0) }, isChanged: entry.isChanged, base: base, remote: remote,
        policy: collection.shape.onConflict)
      switch decision {
      case .match: decisions[position] = .match
      case .keep: decisions[position] = .keep
      case .apply(let isLost):
        item.isLost = isLost
        return item
      case .merge(let content, let isLost):
        (item.content, item.isLost, item.decision) = (content, isLost, .merged)
        return item
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

  /// The local content; nil when there never was a record.
  private func local(_ entry: SyncUndecided, _ collection: WorkingCollection) throws -> SyncContent? {
    if let content = try content(of: entry.key.id, in: collection) { return content }
    if let deletion = entry.deletion { return deletion }
    guard let base = entry.base?.content, base.isDeleted else { return nil }
    return base
  }

  /// The content of a record; nil when there is none.
  func content(of id: String, in collection: WorkingCollection) throws -> SyncContent? {
    var id = id
    return try id.withUTF8 { key in
      guard let row = try work.find(UnsafeRawBufferPointer(key), in: collection).row else { return nil }
      return try RecordTable(connection: connection).content(row)
    }
  }

  func versions(_ item: Item) -> ConflictTable.Versions {
    ConflictTable.Versions(
      local: item.local, remote: item.entry.remote?.bytes, base: item.entry.base?.bytes)
  }

  private mutating func wait(_ item: Item) throws {
    let (error, other): (SatchelError, String?)
    switch item.obstacle {
    case .refused(let refused)?: (error, other) = (refused, try blocker(item))
    case .missing(let relation, let target)?:
      let name = try name(of: target, relation)
      error = SatchelError(
        .constraint, "\(item.entry.key): \(relation.path.pointer): there is no \(name)")
      other = name
    case nil: (error, other) = (SatchelError(.internal, "\(item.entry.key): was not applied"), nil)
    }
    try conflicts.wait(
      item.entry.key.id, in: item.collection.id, versions(item), error, for: other, time: work.now)
    work.hasWaiting = true
    decisions[item.position] = .waiting
  }

  /// The record that has the value of a unique index which the item wants; nil when that is not the obstacle.
  private func blocker(_ item: Item) throws -> String? {
    guard let document = item.content.document else { return nil }
    let owner = try work.owner(ofUniqueValuesOf: document, except: item.entry.key.id, in: item.collection)
    return owner.map { "\(item.collection.name)/\($0)" }
  }

  func name(of target: [UInt8], _ relation: CollectionShape.Relation) throws -> String {
    "\(try work.collection(relation.target).name)/\(String(decoding: target, as: UTF8.self))"
  }

  // MARK: Applying

  /// Applies what can be applied.
  ///
  /// - Returns: the rest, with the obstacles
  private mutating func applyEach(_ items: [Item]) throws -> [Item] {
    var rest: [Item] = []
    for var item in items {
      if let obstacle = try obstacle(item) ?? apply(item) {
        item.obstacle = obstacle
        rest.append(item)
      }
    }
    return rest
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
  ) throws -> [(relation: CollectionShape.Relation, target: [UInt8])] {
    guard let document = item.content.document, !item.collection.shape.relations.isEmpty else { return [] }
    return document.withUnsafeBytes { document in
      item.collection.shape.relations.flatMap { relation in
        // A value that is no reference is refused when the record is written.
        let targets = try? item.key { try RecordWork.targets(of: document, relation, $0, item.collection) }
        return (targets ?? []).map { (relation, $0) }
      }
    }
  }

  func exists(_ target: [UInt8], _ relation: CollectionShape.Relation) throws -> Bool {
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
      } else {
        _ = try item.key { key in
          try work.delete(key, from: item.collection) { try noteCascade($0, $1, $2) }
        }
      }
    } catch let error as SatchelError where error.isRejectedDocument {
      return .refused(error)
    }
    if item.isLost {
      try conflicts.noteLost(item.entry.key.id, in: item.collection.id, versions(item), time: work.now)
    }
    decisions[item.position] = item.decision
    return nil
  }

  /// Keeps a pending record that a deletion elsewhere takes with it.
  func noteCascade(_ key: [UInt8], _ row: Int64, _ collection: WorkingCollection) throws {
    let id = String(decoding: key, as: UTF8.self)
    let name = try SyncKey(collection.name, id)
    guard collection.isSynchronized, try tracker.isPending(name) else { return }
    let versions = ConflictTable.Versions(
      local: try RecordTable(connection: connection).content(row), remote: nil,
      base: try tracker.base(name)?.bytes)
    try conflicts.noteLost(id, in: collection.id, versions, time: work.now)
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
  /// The content of a record; nil when it does not exist.
  func content(_ row: Int64) throws -> SyncContent? {
    try connection.first("SELECT body, revision, created, modified FROM record WHERE id = ?", .integer(row)) {
      SyncContent(
        document: Array($0.bytes(0)), revision: try $0.integer(1, in: RecordRow.revisions),
        created: try $0.integer(2), modified: try $0.integer(3))
    }
  }
}
