import SatchelCore
import SatchelSync
import SatchelStorage

/// Groups of versions that are only valid together: they refer to each other, have unique values that other
/// versions release, or delete records that other versions no longer refer to.
extension RecordApplication {
  /// Applies items that are blocked only by content that other items replace. A group is applied as a whole,
  /// or not at all.
  ///
  /// - Returns: the rest, with the reasons
  mutating func applyTogether(_ items: [Item]) throws -> [Item] {
    var search = try GroupSearch(items, self)
    var applied: Set<Int> = []
    var groups = search.graph.groups
    while let group = groups.popLast() {
      if let refused = try apply(group.map { search.items[$0] }) {
        // Rare: all rules except those of deletions were checked before.
        let rest = search.remove(refused.items.map { group[$0] }, refused.obstacle, of: group)
        if !rest.isEmpty { groups.append(rest) }
      } else {
        applied.formUnion(group)
      }
    }
    return search.items.indices.filter { !applied.contains($0) }.map { search.items[$0] }
  }

  /// The rejected items of a group, by their numbers in it.
  private struct Refused: Error {
    var items: [Int]
    var obstacle: Obstacle
  }

  /// - Returns: nil when all are applied; otherwise nothing is changed
  private mutating func apply(_ group: [Item]) throws -> Refused? {
    let before = lost
    defer { work.released = [] }
    do {
      try work.store.database.write { _ in
        work.enterScope()
        work.released = try Set(group.compactMap { try row($0) })
        for (index, item) in group.enumerated() where !item.content.isDeleted {
          if let obstacle = try apply(item) { throw Refused(items: [index], obstacle: obstacle) }
        }
        try delete(group)
      }
      return nil
    } catch let refused as Refused {
      lost = before
      for item in group { decisions[item.position] = .waiting }
      return refused
    }
  }

  private func row(_ item: Item) throws -> Int64? {
    try item.key { try work.find($0, in: item.collection).row }
  }

  /// Deletes all records of a group that are to be deleted at once: they may refer to each other.
  private mutating func delete(_ group: [Item]) throws {
    let indices = group.indices.filter { group[$0].content.isDeleted }
    guard !indices.isEmpty else { return }
    let records = try indices.compactMap { index -> Deletion.Item? in
      let item = group[index]
      return try row(item).map { row in
        Deletion.Item(row: row, key: item.key { Array($0) }, collection: item.collection)
      }
    }
    do {
      try delete(records)
    } catch let error as SatchelError where error.isRejectedDocument {
      throw Refused(items: indices, obstacle: .refused(error))
    }
    for index in indices { try noteApplied(group[index]) }
  }
}

/// Finds groups among items that cannot be applied one by one.
private struct GroupSearch {
  typealias Item = RecordApplication.Item
  typealias Obstacle = RecordApplication.Obstacle

  var items: [Item]
  var graph: BlockingGraph
  private var numbers: [SyncKey: Int] = [:]
  /// The unique values of the items.
  private var uniqueValues: [UniqueValue] = []

  private struct UniqueValue {
    var item: Int
    /// The number of the index, and the key of the value in it.
    var key: [UInt8]
    var index: CollectionIndex
    var isOwn: Bool
  }

  init(_ items: [Item], _ application: RecordApplication) throws {
    self.items = items
    graph = BlockingGraph(count: items.count)
    for (number, item) in items.enumerated() {
      numbers[item.entry.key] = number
      self.items[number].reason = nil
    }
    for (number, item) in items.enumerated() {
      do {
        if item.content.isDeleted {
          try addDeletion(number, application)
        } else {
          try addReferences(number, application)
          try addUniqueValues(number, application)
        }
      } catch let error as SatchelError where error.isRejectedDocument {
        remove(number, .refused(error))
      }
    }
    removeDuplicates()
  }

  /// Removes items of a group.
  ///
  /// - Returns: those that are left of it
  mutating func remove(_ refused: [Int], _ obstacle: Obstacle, of group: [Int]) -> [Int] {
    for item in refused { remove(item, obstacle) }
    return group.filter { graph.isLeft[$0] }
  }

  private mutating func remove(_ item: Int, _ obstacle: Obstacle) {
    guard graph.isLeft[item] else { return }
    items[item].reason = obstacle
    for (dependent, blocker) in graph.remove(item) {
      let (key, other) = (items[dependent].entry.key, items[blocker].entry.key)
      items[dependent].reason = .blocked(
        by: other, SatchelError(.constraint, "\(key): can be applied only together with \(other)"))
    }
  }

  /// Notes that an item is blocked by a record, which must be among the items and fulfil a condition.
  private mutating func block(
    _ item: Int, by key: SyncKey?, _ obstacle: @autoclosure () -> Obstacle, where isReleased: (Item) -> Bool
  ) {
    if let number = key.flatMap({ numbers[$0] }), graph.isLeft[number], isReleased(items[number]) {
      graph.block(item, by: number)
    } else {
      remove(item, obstacle())
    }
  }

  private mutating func addReferences(_ number: Int, _ application: RecordApplication) throws {
    for (relation, target) in try application.references(items[number])
    where try !application.exists(target, relation) {
      let key = try application.key(of: target, relation)
      block(number, by: key, .missing(relation, target: target)) { !$0.content.isDeleted }
    }
  }

  private mutating func addUniqueValues(_ number: Int, _ application: RecordApplication) throws {
    let item = items[number]
    guard let document = item.content.document else { return }
    let values = try item.key { key in
      try document.withUnsafeBytes {
        try application.work.uniqueValues(of: $0, key, in: item.collection)
      }
    }
    for value in values {
      for (owner, error) in value.owners {
        let key = try? SyncKey(item.collection.name, owner)
        block(number, by: key, key.map { .blocked(by: $0, error) } ?? .refused(error)) { _ in true }
      }
      guard let key = value.key else { continue }
      let prefix = withUnsafeBytes(of: value.index.id) { Array($0) }
      uniqueValues.append(
        UniqueValue(item: number, key: prefix + key, index: value.index, isOwn: value.isOwn))
    }
  }

  private mutating func addDeletion(_ number: Int, _ application: RecordApplication) throws {
    let item = items[number]
    guard let row = try item.key({ try application.work.find($0, in: item.collection).row }) else { return }
    let record = Deletion.Item(row: row, key: item.key { Array($0) }, collection: item.collection)
    var deletion = Deletion(application.work)
    try deletion.find([record])
    for key in try application.versions(before: deletion) {
      let error = SatchelError(.constraint, "\(item.entry.key): can be deleted only after \(key) is changed")
      block(number, by: key, .blocked(by: key, error)) { _ in true }
    }
    for restriction in try deletion.restrictions() {
      let source = try application.work.collection(restriction.relation.source).name
      let key = try? SyncKey(source, String(decoding: restriction.source, as: UTF8.self))
      let references = try key.flatMap { numbers[$0] }.map { try application.references(items[$0]) } ?? []
      let isReleased = !references.contains {
        $0.relation.id == restriction.relation.id && $0.target == restriction.target
      }
      let obstacle = key.map { Obstacle.blocked(by: $0, restriction.error) } ?? .refused(restriction.error)
      block(number, by: key, obstacle) { _ in isReleased }
    }
  }

  /// Of several items with the same unique value, only one can be applied: the record that has the value, or
  /// the first.
  private mutating func removeDuplicates() {
    var winners: [[UInt8]: Int] = [:]
    for value in uniqueValues where value.isOwn && graph.isLeft[value.item] {
      winners[value.key] = value.item
    }
    for value in uniqueValues where graph.isLeft[value.item] {
      guard let winner = winners[value.key], graph.isLeft[winner], winner != value.item else {
        winners[value.key] = value.item
        continue
      }
      let (item, key) = (items[value.item], items[winner].entry.key)
      let error = item.key { RecordWork.uniqueViolation(value.index, by: key.id, $0, in: item.collection) }
      remove(value.item, .blocked(by: key, error))
    }
  }
}
