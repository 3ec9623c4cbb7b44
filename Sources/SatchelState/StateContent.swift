import SatchelCore
import SatchelJSON
import SatchelStorage

/// The content of a value, a list, a set or scores: how changes apply to it, its JSON, and how two devices' are merged.
enum StateContent: Equatable, Sendable {
  /// Nil for no value.
  case value(JSONValue?)
  /// The newest item first.
  case list([Item])
  /// By the identities of the members.
  case set([StateName: JSONValue])
  case scores([StateName: Double])

  /// An item of a list.
  struct Item: Equatable, Sendable {
    var value: JSONValue
    var identity: StateName
    /// Unix milliseconds.
    var time: Int64
  }

  /// No content.
  init(_ kind: StateID.Kind) {
    switch kind {
    case .value: self = .value(nil)
    case .list: self = .list([])
    case .set: self = .set([:])
    case .scores: self = .scores([:])
    }
  }

  var isEmpty: Bool {
    switch self {
    case .value(let value): value == nil
    case .list(let items): items.isEmpty
    case .set(let members): members.isEmpty
    case .scores(let scores): scores.isEmpty
    }
  }

  /// The items of a list; none of anything else, as for the others.
  var items: [Item] { if case .list(let items) = self { items } else { [] } }
  var members: [StateName: JSONValue] { if case .set(let members) = self { members } else { [:] } }
  var scores: [StateName: Double] { if case .scores(let scores) = self { scores } else { [:] } }

  // MARK: Changes

  /// Applies a change that is not sealed.
  mutating func apply(_ operation: StateOperation) {
    let (content, action, key) = (self, operation.action, operation.target.key)
    // Released, so that elements are changed in place.
    self = .value(nil)
    switch (consume content, key) {
    case (.value(let value), _): self = .value(action.value(after: value))
    case (.list(var items), _):
      items.apply(action, at: operation.time)
      self = .list(items)
    case (.set(var members), let key?):
      // A member that the set has already keeps its encoding.
      if action == .remove {
        members[key] = nil
      } else {
        members[key] = members[key] ?? action.value(after: nil)
      }
      self = .set(members)
    case (.scores(var scores), let key?):
      scores[key] = action.score(after: scores[key])
      self = .scores(scores)
    case (let content, nil): self = content
    }
  }

  // MARK: As JSON

  /// The member of a document that has the content.
  static func member(_ kind: StateID.Kind) -> String {
    switch kind {
    case .value: "value"
    case .list: "items"
    case .set: "members"
    case .scores: "scores"
    }
  }

  /// Reads that member; nil for an invalid one.
  init?(_ kind: StateID.Kind, _ json: JSONValue) {
    // Of each value inside.
    guard json.depth <= StateStore.maximumDepth + (kind == .value ? 0 : kind == .list ? 2 : 1) else {
      return nil
    }
    switch kind {
    case .value: self = .value(json)
    case .list:
      guard let elements = json.arrayValue else { return nil }
      var (items, latest): ([Item], Int64) = ([], StoreClock.latest)
      for element in elements {
        guard let value = element["value"], let time = element["time"]?.intValue, (0...latest).contains(time),
          let identity = try? StateName(identityOf: value)
        else { return nil }
        items.append(Item(value: value, identity: identity, time: time))
        latest = time
      }
      self = .list(items)
    case .set:
      guard let values = json.arrayValue else { return nil }
      var members: [StateName: JSONValue] = [:]
      for value in values {
        guard let identity = try? StateName(identityOf: value) else { return nil }
        members[identity] = value
      }
      self = .set(members)
    case .scores:
      guard let values = json.objectValue else { return nil }
      var scores: [StateName: Double] = [:]
      for (key, value) in values {
        guard let name = try? StateName(key, as: "key"), let score = value.doubleValue, score.isFinite else {
          return nil
        }
        scores[name] = score
      }
      self = .scores(scores)
    }
  }

  /// That member; nil for no value.
  var json: JSONValue? {
    switch self {
    case .value(let value): value
    case .list(let items): .array(items.map { ["value": $0.value, "time": .int($0.time)] })
    case .set(let members): .array(members.ordered { $0.key < $1.key }.map(\.value))
    case .scores(let scores):
      // The sum makes 0.0 of -0.0.
      .object(
        JSONObject(scores.ordered { $0.key < $1.key }.map { ($0.key.text, .double($0.value + 0)) }))
    }
  }

  /// That member as it is sent: the same bytes for the same content, on any device.
  func sentJSON() throws -> JSONValue {
    guard case .set(let members) = self else { return json ?? .null }
    return .array(try members.values.sortedCanonically().map { try JSONValue(parsing: $0.text) })
  }

  // MARK: Merging

  /// Whether both have the same value, items, members or scores.
  func hasSameElements(as other: StateContent) -> Bool {
    switch (self, other) {
    case (.list(let one), .list(let two)):
      one.count == two.count
        && zip(one, two).allSatisfy {
          $0.time == $1.time && $0.identity == $1.identity && $0.value.hasSameText(as: $1.value)
        }
    case (.set(let one), .set(let two)):
      one.count == two.count && one.keys.allSatisfy { two[$0] != nil }
    case (.value(let one?), .value(let two?)): one.hasSameText(as: two)
    default: self == other
    }
  }

  /// Which of two contents without a known base is the newer one.
  enum Newer: Sendable { case local, remote, neither }

  /// Returns the elements that result from two contents which both differ from `base`. Commutative, if `newer` is
  /// exchanged as well.
  ///
  /// - Parameters:
  ///   - bounds: the resulting bounds
  ///   - newer: is set when the two have a base, and it is not known
  static func combined(
    base: StateContent?, local: StateContent, remote: StateContent, bounds: StateBounds?, newer: Newer?
  ) -> StateContent {
    switch (local, remote) {
    case (.list(let local), .list(let remote)):
      .list(local.merged(with: remote, since: base?.items ?? [], bounds ?? StateBounds()))
    case (.set(let local), .set(let remote)):
      // Keeps members that both have, and those that one has added.
      .set(
        local.merging(remote) { $1.precedes($0) ? $1 : $0 }.filter { key, _ in
          local[key] != nil && remote[key] != nil || base?.members[key] == nil
        })
    case (.scores(let local), .scores(let remote)):
      .scores(
        combined(
          base: base?.scores, local: local, remote: remote, bounds: bounds ?? StateBounds(), newer: newer))
    default: remote
    }
  }

  private static func combined(
    base: [StateName: Double]?, local: [StateName: Double], remote: [StateName: Double], bounds: StateBounds,
    newer: Newer?
  ) -> [StateName: Double] {
    // In an order of the operations that makes both devices round alike.
    func sum(_ one: Double, _ two: Double, since base: Double) -> Double {
      max(one, two) + (min(one, two) - base)
    }
    // The beginning of a score.
    let start = bounds.bounded(nil)
    func score(_ key: StateName) -> Double? {
      let (one, two) = (local[key], remote[key])
      if let base {
        let base = base[key]
        if one == base { return two }
        if two == base { return one }
        return sum(one ?? start, two ?? start, since: base ?? start)
      }
      // Equal ones count as the same one, because a store that was detached downloads its own scores again.
      guard let one, let two, one != two else { return one ?? two }
      switch newer {
      case .local: return one
      case .remote: return two
      case .neither: return max(one, two)
      case nil: return sum(one, two, since: start)
      }
    }
    var result: [StateName: Double] = [:]
    for key in Set(local.keys).union(remote.keys) { result[key] = score(key).map { bounds.bounded($0) } }
    return result
  }
}

// MARK: - Lists

extension [StateContent.Item] {
  mutating func apply(_ action: StateOperation.Action, at operationTime: Int64) {
    switch action {
    case .push(let value, let identity, let bounds, let given):
      // Times never decrease, not even when a spooled item is drained late.
      let time = given ?? Swift.max(operationTime, first?.time ?? 0)
      if bounds.isUnique {
        if given != nil, contains(where: { $0.identity == identity && $0.time >= time }) { return }
        removeAll { $0.identity == identity }
      }
      let position = given == nil ? 0 : firstIndex { $0.time <= time } ?? endIndex
      insert(StateContent.Item(value: value, identity: identity, time: time), at: position)
      self = within(bounds, at: first?.time ?? time)
    case .drop(let identity): removeAll { $0.identity == identity }
    case .remove: self = []
    case .set, .seal, .add, .mark, .locked: break
    }
  }

  func within(_ bounds: StateBounds, at now: Int64) -> [Element] {
    if bounds.maxAge == nil, bounds.limit.map({ count <= $0 }) ?? true { return self }
    return Array(filter { bounds.admits($0.time, at: now) }.prefix(bounds.limit ?? Int.max))
  }

  /// Brings times that are later than `latest` to it: those of a clock that was ahead.
  mutating func limitTimes(to latest: Int64, where isAhead: (Int64) -> Bool) {
    for index in indices {
      guard isAhead(self[index].time) else { return }
      self[index].time = latest
    }
  }

  /// A push: two devices make the same one only by synchronizing it.
  private struct Push: Hashable {
    var identity: StateName
    var time: Int64
  }

  private struct Occurrences {
    var count = 0
    /// The first encoding: objects with another order of keys are equal.
    var value: JSONValue
    /// The position of the last one among the items of its time.
    var rank = 0
  }

  private var pushes: [Push: Occurrences] {
    var (pushes, ranks): ([Push: Occurrences], [Int64: Int]) = ([:], [:])
    for item in self {
      let (push, rank) = (Push(identity: item.identity, time: item.time), ranks[item.time, default: 0])
      ranks[item.time] = rank + 1
      var known = pushes[push] ?? Occurrences(value: item.value)
      if item.value.precedes(known.value) { known.value = item.value }
      (known.count, known.rank) = (known.count + 1, rank)
      pushes[push] = known
    }
    return pushes
  }

  /// Returns the items that result from the changes of two devices to the items `base`.
  fileprivate func merged(with remote: Self, since base: Self, _ bounds: StateBounds) -> Self {
    let (base, local, remote) = (base.pushes, pushes, remote.pushes)
    // Items of one time keep their order. Of those that one side has added to, the others come later.
    var ranked: [(item: Element, rank: Int)] = []
    for push in Set(local.keys).union(remote.keys) {
      let found = [local[push], remote[push]].compactMap { $0 }
      guard let value = found.map(\.value).min(by: { $0.precedes($1) }) else { continue }
      let (before, one, two) = (base[push]?.count ?? 0, local[push]?.count ?? 0, remote[push]?.count ?? 0)
      // An addition or removal by both counts once.
      let count =
        one >= before && two >= before
        ? Swift.max(one, two) : one <= before && two <= before ? Swift.min(one, two) : one + two - before
      let item = StateContent.Item(value: value, identity: push.identity, time: push.time)
      ranked += Array<(item: Element, rank: Int)>(
        repeating: (item, found.map(\.rank).max() ?? 0), count: count)
    }
    ranked = ranked.ordered { one, two in
      if one.item.time != two.item.time { return one.item.time > two.item.time }
      return one.rank != two.rank ? one.rank < two.rank : one.item.value.precedes(two.item.value)
    }
    var items = ranked.map(\.item)
    if bounds.isUnique {
      var known: Set<StateName> = []
      items.removeAll { !known.insert($0.identity).inserted }
    }
    return items.within(bounds, at: items.first?.time ?? 0)
  }
}

// MARK: - Values

extension JSONValue {
  /// The text of a value that was given, or read: it can be represented in JSON.
  private var bytes: [UInt8] { (try? serialized()) ?? [] }

  func precedes(_ other: JSONValue) -> Bool { bytes.lexicographicallyPrecedes(other.bytes) }

  func hasSameText(as other: JSONValue) -> Bool { bytes == other.bytes }

  /// Returns the canonical form of a value, by which sets are sorted.
  ///
  /// - Throws: `JSONError` for a value that cannot be represented in JSON
  func canonicalText() throws -> [UInt8] {
    // A value that is too deep to be sorted is too deep to be serialized, which throws here.
    try depth <= Self.maximumDepth ? canonical.serialized() : serialized()
  }

  /// The value with the keys of every object in byte order, with -0.0 as 0.0, and with equal big numbers written alike.
  private var canonical: JSONValue {
    switch self {
    case .double(let number) where number == 0: .double(0)
    case .bigNumber(let number): .bigNumber(number.canonical)
    case .array(let elements): .array(elements.map(\.canonical))
    case .object(let object):
      .object(
        JSONObject(
          object.map { ($0.key, $0.value.canonical) }
            .ordered { $0.0.utf8.lexicographicallyPrecedes($1.0.utf8) }))
    default: self
    }
  }
}

extension Sequence<JSONValue> {
  /// Returns the values in the order of their canonical texts, with these.
  func sortedCanonically() throws -> [(text: [UInt8], value: JSONValue)] {
    try map { (text: try $0.canonicalText(), value: $0) }
      .ordered { $0.text.lexicographicallyPrecedes($1.text) }
  }
}
