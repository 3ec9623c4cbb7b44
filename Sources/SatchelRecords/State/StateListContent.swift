/// The items of a list, the newest first, with the same rules as in the tables.
struct StateListContent: Equatable, Sendable {
  struct Item: Equatable, Sendable {
    var value: [UInt8]
    var identity: ValueIdentity
    var time: Int64
  }

  var items: [Item]

  mutating func apply(_ operation: StateOperation) {
    switch operation.action {
    case .push(let value, let identity, let bounds):
      // Times never fall, not even when an item that was spilled comes late.
      let time = max(operation.time, items.first?.time ?? 0)
      if bounds.isUnique { items.removeAll { $0.identity == identity } }
      items.insert(Item(value: value, identity: identity, time: time), at: 0)
      items = within(bounds, at: time)
    case .drop(let identity): items.removeAll { $0.identity == identity }
    case .remove: items = []
    case .set, .add: break
    }
  }

  func within(_ bounds: StateListBounds, at now: Int64) -> [Item] {
    let young = items.prefix { bounds.admits($0.time, at: now) }
    return Array(young.prefix(bounds.limit ?? Int.max))
  }
}
