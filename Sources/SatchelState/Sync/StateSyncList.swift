import SatchelCore
import SatchelJSON
import SatchelStorage

/// The items of a list: `{"items": [{"value": …, "time": …}, …], "limit": …, "max_age": …, "unique": …}`, the
/// newest first.
struct StateSyncList: StateSyncContent {
  typealias Item = StateListContent.Item

  var items: [Item] = []
  var bounds: StateBounds?
  var isSensitive = false
  var isEmpty: Bool { items.isEmpty }

  init() {}

  init(items: [Item], bounds: StateBounds?) {
    self.items = items
    self.bounds = bounds
  }

  init?(document: JSONValue) {
    guard let elements = document["items"]?.arrayValue, let bounds = StateListBounds(document) else {
      return nil
    }
    var latest = StoreClock.latest
    for element in elements {
      guard let value = element["value"], let time = element["time"]?.intValue, (0...latest).contains(time),
        let bytes = try? value.serialized(), bytes.count <= StateStore.maximumBytes,
        let identity = try? ValueIdentity(value)
      else { return nil }
      items.append(Item(value: bytes, identity: identity, time: time))
      latest = time
    }
    self.bounds = .list(bounds)
  }

  mutating func setReceived(_ received: Int64) {
    // As stored times are stamped: they stay in order.
    let time = max(received, items.first { !StoreClock.isAhead($0.time, of: received) }?.time ?? 0)
    for index in items.indices {
      guard StoreClock.isAhead(items[index].time, of: received) else { return }
      items[index].time = time
    }
  }

  init(_ name: StateName, bounds: StateBounds?, in tables: StateTables) throws {
    items = try tables.items(name, limit: Int.max)
    self.bounds = bounds
  }

  func document(at location: String) throws -> JSONValue {
    let elements = try items.map { item -> JSONValue in
      ["value": try StateStore.value(of: item.value, at: location), "time": .int(item.time)]
    }
    var object: JSONObject = ["items": .array(elements)]
    bounds?.write(into: &object)
    return .object(object)
  }

  func replace(_ old: Self, _ name: StateName, time: Int64, in tables: StateTables) throws {
    try tables.replaceItems(of: name, by: items)
  }

  func hasSameElements(as other: Self) -> Bool { items == other.items }

  static func newestTime(_ name: StateName, in tables: StateTables) throws -> Int64 {
    try tables.newestItemTime(name)
  }

  // MARK: Merging

  /// A push: two devices make the same one only by synchronizing it.
  private struct Push: Hashable {
    var identity: ValueIdentity
    var time: Int64
  }

  private struct Occurrences {
    var count = 0
    /// The first encoding: objects with another order of keys are equal.
    var value: [UInt8] = []

    mutating func add(_ value: [UInt8]) {
      if count == 0 || value.lexicographicallyPrecedes(self.value) { self.value = value }
      count += 1
    }
  }

  private var pushes: [Push: Occurrences] {
    var pushes: [Push: Occurrences] = [:]
    for item in items {
      pushes[Push(identity: item.identity, time: item.time), default: Occurrences()].add(item.value)
    }
    return pushes
  }

  static func combined(
    base: Self?, _ local: Self, _ remote: Self, bounds: StateBounds?, newer: StateSyncNewer?
  ) -> Self {
    let (base, local, remote) = (base?.pushes ?? [:], local.pushes, remote.pushes)
    var items: [Item] = []
    for push in Set(local.keys).union(remote.keys) {
      let found = [local[push], remote[push]].compactMap { $0 }
      let value = found.map(\.value).min { $0.lexicographicallyPrecedes($1) } ?? []
      let count = count(
        base: base[push]?.count ?? 0, local[push]?.count ?? 0, remote[push]?.count ?? 0)
      items += Array(repeating: Item(value: value, identity: push.identity, time: push.time), count: count)
    }
    items.sort { one, two in
      one.time != two.time ? one.time > two.time : one.value.lexicographicallyPrecedes(two.value)
    }
    guard case .list(let limits)? = bounds else { return StateSyncList(items: items, bounds: bounds) }
    if limits.isUnique {
      var known: Set<ValueIdentity> = []
      items.removeAll { !known.insert($0.identity).inserted }
    }
    let kept = StateListContent(items: items).within(limits, at: items.first?.time ?? 0)
    return StateSyncList(items: kept, bounds: bounds)
  }

  /// Returns the number of copies of an item that remain: an addition or removal by both counts once.
  private static func count(base: Int, _ local: Int, _ remote: Int) -> Int {
    if local >= base, remote >= base { return max(local, remote) }
    if local <= base, remote <= base { return min(local, remote) }
    return local + remote - base
  }
}
